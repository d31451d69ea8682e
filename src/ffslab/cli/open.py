"""`ffslab open`: a run's report, or the index of all runs, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, Output
from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory

_INDEX = "index"


def register(app: typer.Typer) -> None:
    """Adds the verb `open`."""

    @app.command("open")
    def open_(
        run: Annotated[
            str,
            typer.Argument(
                metavar="RUN", help="A run: path, name or its beginning, or latest; or index."
            ),
        ] = "latest",
        print_path: Annotated[
            bool, typer.Option("--print", help="Print the path and open nothing.")
        ] = False,
        output: Output = RESULTS,
    ) -> None:
        """Open a run's report in the browser; `open index` the index of all runs.

        Writes the report if it is not there, and the index anew.
        """
        from ffslab.results.rundir import find_run

        path = _index(output) if run == _INDEX else _report(find_run(run, output), output)
        if print_path:
            typer.echo(str(path))
        else:
            _browse(path)


def _index(root: Path) -> Path:
    from ffslab.report.index import write_index
    from ffslab.results.rundir import all_runs

    if not all_runs(root):
        raise UsageError(
            f"no runs in {root}",
            cause="nothing has been run there",
            remedy=f"{program()} run quick",
        )
    return write_index(root)


def _report(run: RunDirectory, output: Path) -> Path:
    from ffslab.cli.report import refresh_index
    from ffslab.report import build
    from ffslab.report.index import REPORT

    page = run.path / REPORT
    if not page.is_file():
        build(run.path)
        refresh_index(run.path.parent, output)
    return page


def _browse(path: Path) -> None:
    """Shows a page in the user's browser; InfrastructureError without one."""
    if not webbrowser.open(path.resolve().as_uri()):
        raise InfrastructureError(
            f"{path} was not opened: there is no browser",
            cause="this computer has no screen, or no browser",
            remedy="export BROWSER=PROGRAM, or open that file on another computer",
        )
