"""`ffslab setup`: builds the lab and says what was done and how long it took."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("setup")(setup)


def setup(
    variant: Annotated[
        str,
        typer.Option(help="default, or debug: KASAN, lockdep, kmemleak and UBSAN."),
    ] = "default",
    force: Annotated[
        bool, typer.Option("--force", help="Fetch the source and build everything anew.")
    ] = False,
    kernel_source: Annotated[
        Path | None,
        typer.Option(envvar="FFSLAB_KERNEL_SOURCE", help="A Linux 6.1 tree of your own."),
    ] = None,
) -> None:
    """Fetch and build what the laboratory needs.

    Every verb that needs the lab does the same.
    """
    from ffslab.kernel import ensure_lab
    from ffslab.kernel.cache import cache_root
    from ffslab.kernel.progress import ConsoleProgress

    progress = ConsoleProgress()
    lab = ensure_lab(variant, progress, kernel_source=kernel_source, force=force)
    durations_s = [*_bootstrap_durations_s(), *progress.durations_s]
    if durations_s:
        total_s = sum(duration_s for _, duration_s in durations_s)
        typer.echo(f"Done in {total_s:.1f} s:")
        for name, duration_s in durations_s:
            typer.echo(f"  {duration_s:7.1f} s  {name}")
    else:
        typer.echo("Nothing to do.")
    typer.echo(f"Lab {lab.build_id} ({variant}) in {cache_root()}:")
    typer.echo(f"  kernel   {lab.kernel}")
    for name, path in sorted(lab.modules.items()):
        typer.echo(f"  module   {name}: {path}")
    typer.echo(f"  agent    {lab.agent}")


def _bootstrap_durations_s() -> list[tuple[str, float]]:
    """What the launcher did before Python's packages were there, if it did anything."""
    from ffslab.kernel.bootstrap import DURATIONS_VARIABLE

    phases = json.loads(os.environ.get(DURATIONS_VARIABLE, "[]"))
    return [(str(name), float(duration_s)) for name, duration_s in phases]
