"""`ffslab rm`: removes runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import A_RUN, RESULTS, Output, Yes
from ffslab.errors import UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory


def register(app: typer.Typer) -> None:
    """Adds the verb `rm`."""

    @app.command("rm")
    def rm(
        runs: Annotated[list[str], typer.Argument(metavar="RUN", help=A_RUN)],
        yes: Yes = False,
        output: Output = RESULTS,
    ) -> None:
        """Remove runs with all their files.

        Asks first; without a terminal it needs --yes. Keeps a run that a process works on.
        """
        from ffslab.cli.report import refresh_index
        from ffslab.results.rundir import find_run

        found = {run.path.resolve(): run for run in (find_run(name, output) for name in runs)}
        for run in found.values():
            typer.echo(_described(run))
        if not yes:
            _ask(len(found))
        for run in found.values():
            run.remove()
            typer.echo(f"removed {run.path}")
        for root in dict.fromkeys(run.path.parent for run in found.values()):
            refresh_index(root, output)


def _described(run: RunDirectory) -> str:
    from ffslab.model.units import format_size
    from ffslab.results.summary import summary_of

    summary = summary_of(run)
    return f"{run.path}: {summary.words}, {format_size(summary.size_bytes)}"


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "nothing was removed: there is no terminal to ask at",
            cause="the command runs in a script",
            remedy=f"{program()} rm --yes RUN",
        )
    what = "this run" if count == 1 else f"these {count} runs"
    if not typer.confirm(f"Remove {what}?"):
        raise typer.Exit(0)
