"""`ffslab export`: a run's results for other programs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ffslab.cli.parse import RESULTS, Run, RunsIn


class Format(StrEnum):
    """The formats of an export."""

    json = "json"
    csv = "csv"
    parquet = "parquet"


def register(app: typer.Typer) -> None:
    """Adds the verb `export`."""

    @app.command("export")
    def export(
        run: Run,
        kind: Annotated[
            Format, typer.Option("--format", "-f", help="json: one file; others: one per table.")
        ] = Format.json,
        destination: Annotated[
            Path | None,
            typer.Option("--to", help="Directory, or file for json [export/ in the run]."),
        ] = None,
        output: RunsIn = RESULTS,
    ) -> None:
        """Export a run as JSON, CSV or Parquet.

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
                written = [_export_json(directory.path, destination)]
            else:
                from ffslab.results.store import export_tables

                written = export_tables(directory, destination or directory.path / "export", kind)
        except OSError as error:
            raise disk_error(error, destination or directory.path) from error
        for path in written:
            typer.echo(str(path))


def _export_json(run_path: Path, destination: Path | None) -> Path:
    from ffslab.results.files import write_atomic
    from ffslab.results.rundir import RunDirectory
    from ffslab.workloads.results import results_of

    run = RunDirectory(run_path)
    path = destination or run_path / "export" / "results.json"
    if path.is_dir():
        path = path / "results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "manifest": run.manifest(),
        "results": list(results_of(run)),
        "wall": list(run.walls().values()),
    }
    write_atomic(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return path
