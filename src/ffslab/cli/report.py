"""`ffslab report`: a run's results as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ffslab.workloads.cuts.explore.case import Directory


def register(app: typer.Typer) -> None:
    """Adds the verb `report`."""

    @app.command("report")
    def report(
        run: Annotated[
            str, typer.Argument(help="A run: path, name or its beginning, or latest.")
        ] = "latest",
        destination: Annotated[
            Path | None, typer.Option("--to", help="The file [report.html in the run].")
        ] = None,
        open_it: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where run directories are.")
        ] = Path("results"),
    ) -> None:
        """Write a run's report: one HTML file with findings and charts.

        A directory of `ffslab crash run` will do, too.
        """
        from ffslab.report import build
        from ffslab.results.rundir import find_run

        explored = _exploration(run, output)
        if explored is not None:
            show(write_exploration(explored, destination), open_it=open_it)
        else:
            show(build(find_run(run, output).path, destination), open_it=open_it)


def write_exploration(directory: Directory, destination: Path | None = None) -> Path:
    """Writes the report of an exploration, and returns its path."""
    from ffslab.workloads.cuts.report import page

    return page.write_exploration(directory, destination)


def show(path: Path, *, open_it: bool) -> None:
    """Says where a report is, and opens it if that is asked for."""
    typer.echo(str(path))
    if open_it:
        typer.launch(str(path.resolve()))


def report_at_the_end(console: Console, write: Callable[[], Path], again: str) -> None:
    """Writes a report if its parts are installed; without them the results stand alone, and
    `again` is the command that writes it later.
    """
    from ffslab.errors import MissingExtraError

    try:
        told = f"report: {write()}"
    except MissingExtraError as error:
        told = f"no report: {error.message}; next: {error.remedy}, then: {again}"
    console.print(told, soft_wrap=True, markup=False)


def _exploration(run: str, output: Path) -> Directory | None:
    """The exploration that a path or a name means; None if it means none."""
    from ffslab.workloads.cuts.explore.case import MANIFEST, Directory

    places = (Path(run), output / run)
    return next((Directory(one) for one in places if (one / MANIFEST).is_file()), None)
