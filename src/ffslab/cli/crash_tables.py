"""What `ffslab crash` prints of a finding that was repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from ffslab.targets.several import Replayed


def print_replayed(console: Console, again: Replayed) -> None:
    """All that is known of a finding."""
    for title, lines in again.parts:
        console.print(f"\n{title}", style="bold")
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
