"""`ffslab report`: a run's results as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, Output, Run
from ffslab.errors import FfslabError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console


def register(app: typer.Typer) -> None:
    """Adds the verb `report`."""

    @app.command("report")
    def report(
        run: Run = "latest",
        destination: Annotated[
            Path | None,
            typer.Option(
                "--to", metavar="PATH", help="Where to write it [report.html in the run]."
            ),
        ] = None,
        chart: Annotated[
            str,
            typer.Option(
                "--chart", metavar="NAME", help="Only this chart, as --to NAME.svg or .png."
            ),
        ] = "",
        output: Output = RESULTS,
    ) -> None:
        """Write a run's report: one HTML file with findings and charts."""
        from ffslab.report import build
        from ffslab.results.rundir import find_run

        directory = find_run(run, output).path
        if chart:
            from ffslab.report.pictures import write_chart

            typer.echo(str(write_chart(directory, chart, destination or Path(f"{chart}.svg"))))
            return
        typer.echo(str(build(directory, destination)))
        refresh_index(directory.parent, output)


def report_at_the_end(console: Console, write: Callable[[], Path], again: str) -> None:
    """Writes a report if its parts are installed; without them the results stand alone, and
    `again` is the command that writes it later.
    """
    try:
        told = f"report: {write()}"
    except MissingExtraError as error:
        told = f"no report: {error.message}; next: {error.remedy}, then: {again}"
    console.print(told, soft_wrap=True)


def refresh_index(root: Path, output: Path) -> None:
    """Makes the index of the runs in `root` anew: in `output`, where the user's runs are, and
    elsewhere where there is one. Without the parts of a report, or under a name that another page
    has, there is none.
    """
    from ffslab.report.index import INDEX, is_ours, write_index

    if root.resolve() == output.resolve():
        root = output
    index = root / INDEX
    if not is_ours(index) and (root is not output or index.exists()):
        return
    try:
        write_index(root)
    except MissingExtraError:
        return
    except FfslabError as error:
        typer.echo(f"no index: {error}", err=True)
