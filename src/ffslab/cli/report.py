"""`ffslab report`: a run's results as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, Run, RunsIn
from ffslab.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console


def register(app: typer.Typer) -> None:
    """Adds the verb `report`."""

    @app.command("report")
    def report(
        run: Run = "latest",
        destination: Annotated[
            Path | None, typer.Option("--to", help="The file [report.html in the run].")
        ] = None,
        open_it: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
        output: RunsIn = RESULTS,
    ) -> None:
        """Write a run's report: one HTML file with findings and charts."""
        from ffslab.report import build
        from ffslab.results.rundir import find_run

        show(build(find_run(run, output).path, destination), open_it=open_it)


def show(path: Path, *, open_it: bool) -> None:
    """Says where a report is, and opens it if that is asked for."""
    typer.echo(str(path))
    if open_it:
        typer.launch(str(path.resolve()))


def report_at_the_end(console: Console, write: Callable[[], Path], again: str) -> None:
    """Writes a report if its parts are installed; without them the results stand alone, and
    `again` is the command that writes it later.
    """
    try:
        told = f"report: {write()}"
    except MissingExtraError as error:
        told = f"no report: {error.message}; next: {error.remedy}, then: {again}"
    console.print(told, soft_wrap=True)
