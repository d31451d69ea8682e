"""`ffslab report`: a run's results as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
        """Write a run's report: one HTML file with findings and charts."""
        from ffslab.report import build
        from ffslab.results.rundir import find_run

        path = build(find_run(run, output).path, destination)
        typer.echo(str(path))
        if open_it:
            typer.launch(str(path.resolve()))
