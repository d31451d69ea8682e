"""`ffslab export`: a run's results for other programs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, Output, Run

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory


class Format(StrEnum):
    """The formats of an export."""

    json = "json"
    junit = "junit"
    csv = "csv"
    parquet = "parquet"


def register(app: typer.Typer) -> None:
    """Adds the verb `export`."""

    @app.command("export")
    def export(
        run: Run,
        kind: Annotated[
            Format,
            typer.Option(
                "--format", "-f", help="The format: json, junit give a file; else one a table."
            ),
        ] = Format.json,
        destination: Annotated[
            Path | None,
            typer.Option("--to", metavar="PATH", help="Where to write it [export/ in the run]."),
        ] = None,
        output: Output = RESULTS,
    ) -> None:
        """Export a run as JSON, CSV, Parquet or JUnit XML.

        The tables are cases, phases, latencies, blocks, tree_steps, memory,
        requests and request_tasks.

        tree_steps and memory belong to the workload tree; the last two hold every
        single request of the micro-benchmarks.
        """
        from ffslab.results.files import disk_error
        from ffslab.results.rundir import find_run

        directory = find_run(run, output)
        try:
            if kind is Format.json:
                written = [_written(directory, destination, "results.json", _as_json(directory))]
            elif kind is Format.junit:
                written = [_written(directory, destination, "junit.xml", _as_junit(directory))]
            else:
                from ffslab.results.store import export_tables

                written = export_tables(directory, destination or directory.path / "export", kind)
        except OSError as error:
            raise disk_error(error, destination or directory.path) from error
        for path in written:
            typer.echo(str(path))


def _as_json(run: RunDirectory) -> str:
    from ffslab.workloads.results import results_of

    document = {
        "manifest": run.manifest(),
        "results": list(results_of(run)),
        "wall": list(run.walls().values()),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _as_junit(run: RunDirectory) -> str:
    from ffslab.report.first.brief import brief_of
    from ffslab.report.junit import run_as_junit

    study = str(run.manifest().get("study", ""))
    return run_as_junit(run.path.resolve().name, study, brief_of(run), run.walls())


def _written(run: RunDirectory, destination: Path | None, name: str, text: str) -> Path:
    """The file that was written: the destination, or `name` in it or in the run."""
    from ffslab.results.files import write_atomic

    path = destination or run.path / "export" / name
    if path.is_dir():
        path = path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)
    return path
