"""random in a terminal of 80 columns: how far it came, and what differed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ffslab.program import command
from ffslab.results.result import CaseResult
from ffslab.workloads.random.result import findings, harm_of
from ffslab.workloads.random.stored import stored_of
from ffslab.workloads.results import finding_line

HEADINGS = ("rounds", "operations", "it")


def cells(result: CaseResult) -> Sequence[str]:
    """Rounds that were right, operations, and what the file system does."""
    stored = stored_of(result)
    if stored is None:
        return ("",) * len(HEADINGS)
    harm = harm_of(result["outcome"], stored["difference"])
    return f"{stored['rounds_done']:,}", f"{stored['operations_done']:,}", harm


def print_case(console: Console, result: CaseResult) -> None:
    """How far it came, the first names with what differs, and how it is made small."""
    stored = stored_of(result)
    if stored is None:
        return
    console.print(
        f"{stored['rounds_done']:,} of {stored['rounds']:,} rounds are right, "
        f"{stored['operations_done']:,} of {stored['operations']:,} operations were made",
        markup=False,
    )
    for text in stored["told"]:
        console.print(f"  {text}", markup=False, soft_wrap=True)
    for finding in findings(result).values():
        console.print(finding_line(finding), markup=False, soft_wrap=not console.is_terminal)
        console.print(
            f"the shortest list of calls: {command('crash', 'minimize', finding['id'])}",
            markup=False,
            soft_wrap=True,
        )


def shows_phases(_result: CaseResult) -> bool:
    """What was read and written is no answer to anything."""
    return False
