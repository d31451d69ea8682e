"""Run directories as tables: Parquet files, CSV, or SQL through DuckDB.

Tables: `cases`, `phases`, `latencies`, `blocks`, `tree_steps`, `memory`, `requests`,
`request_tasks`; docs/result-format.md lists the columns. Rows go to temporary files case by case
(`case_rows` is pure), and DuckDB reads them from there: an export of a large run
needs no more memory than its results.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab.model.kernels import kernel_words
from ffslab.results.rundir import RunDirectory
from ffslab.results.schema import LATENCY_METRICS, PHASE_METRICS, Metric
from ffslab.streams import without_surrogates
from ffslab.workloads.micro.request_tables import (
    REQUEST_COLUMNS,
    REQUEST_TASK_COLUMNS,
    RequestStage,
)
from ffslab.workloads.tree.tables import (
    MEMORY_COLUMNS,
    TREE_STEP_COLUMNS,
    memory_rows,
    tree_step_rows,
)

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]

_INT, _REAL, _TEXT, _FLAG = "BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"
_KEY = {"run": _TEXT, "case_id": _TEXT}


def _columns(metrics: Iterable[Metric]) -> dict[str, str]:
    return {metric.name: _INT if metric.exact else _REAL for metric in metrics}


# The columns of every table in order, with their DuckDB types.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "cases": {
        **_KEY,
        "study": _TEXT,
        "spec_hash": _TEXT,
        "outcome": _TEXT,
        "reason": _TEXT,
        "short_what": _TEXT,
        "short_measured": _INT,
        "short_asked": _INT,
        "short_accepted": _FLAG,
        "kernel": _TEXT,
        "board": _TEXT,
        "chip": _TEXT,
        "filesystem": _TEXT,
        "compression": _TEXT,
        "write_mode": _TEXT,
        "state": _TEXT,
        "state_kind": _TEXT,
        "valid_percent": _INT,
        "invalid_percent": _INT,
        "rate_percent": _INT,
        "partition_bytes": _INT,
        "workload": _TEXT,
        "pattern": _TEXT,
        "request_bytes": _INT,
        "part": _TEXT,
        "steps": _TEXT,
        "tree_bytes": _INT,
        "image_bytes": _INT,
        "image_flash_bytes": _INT,
        "image_write_ns": _INT,
        "cpu_scale": _REAL,
        "seed": _INT,
        "virtual_ns": _INT,
        "wall_ns": _INT,
        "virtual_per_wall": _REAL,
        "flash_sha256": _TEXT,
        "axes": _TEXT,
    },
    "phases": {
        **_KEY,
        "phase": _TEXT,
        "status": _TEXT,
        "errno_name": _TEXT,
        "t_start_ns": _INT,
        "t_end_ns": _INT,
        **_columns(PHASE_METRICS),
    },
    "latencies": {
        **_KEY,
        "phase": _TEXT,
        "op": _TEXT,
        **_columns(LATENCY_METRICS),
    },
    "blocks": {
        **_KEY,
        "label": _TEXT,
        "block": _INT,
        "erases": _INT,
        "programs": _INT,
        "reads": _INT,
    },
    "tree_steps": TREE_STEP_COLUMNS,
    "memory": MEMORY_COLUMNS,
    "requests": REQUEST_COLUMNS,
    "request_tasks": REQUEST_TASK_COLUMNS,
}
_STAGED_AS_PARQUET = ("requests", "request_tasks")


def case_rows(
    run_name: str, result: Mapping[str, Any], wall: Mapping[str, Any]
) -> dict[str, Iterable[Row]]:
    """A case's rows in every table but those of single requests, with all their columns."""
    key = {"run": run_name, "case_id": result["id"]}
    rows: dict[str, Iterable[Mapping[str, Any]]] = {
        "cases": [_case_row(result, wall)],
        "phases": result["phases"],
        "latencies": result["latencies"],
        "blocks": _block_rows(result["flash"]),
        "tree_steps": tree_step_rows(result),
        "memory": memory_rows(result),
    }
    return {name: _filled(name, key, table) for name, table in rows.items()}


def _filled(name: str, key: Row, rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for row in rows:
        full = {**key, **row}
        yield {column: _storable(full.get(column)) for column in COLUMNS[name]}


def _storable(value: Any) -> Any:
    """Tables hold UTF-8 only, names of files may be none."""
    return without_surrogates(value) if isinstance(value, str) else value


def _case_row(result: Mapping[str, Any], wall: Mapping[str, Any]) -> Row:
    spec = result["spec"]
    options = spec["filesystem"]["options"]
    # Runs of older versions have fewer keys.
    state, workload = spec["state"], spec.get("workload", {})
    image = result.get("image") or {}
    short = result.get("short") or {}
    return {
        **result,
        **{f"short_{key}": short.get(key) for key in ("what", "measured", "asked", "accepted")},
        "kernel": kernel_words(spec),
        "board": spec["board"]["name"],
        "chip": spec["board"]["chip"]["name"],
        "filesystem": spec["filesystem"]["name"],
        "compression": options.get("compression"),
        "write_mode": options.get("write_mode"),
        "state": state["name"],
        "state_kind": state.get("kind"),
        "valid_percent": state["valid_percent"],
        "invalid_percent": state["invalid_percent"],
        "rate_percent": state.get("rate_percent"),
        "partition_bytes": spec["partition_bytes"],
        "workload": workload.get("kind", "ffsmark"),
        "pattern": workload.get("pattern"),
        "request_bytes": workload.get("request_bytes"),
        "part": result["axes"].get("part"),
        # In a result, "steps" are the plan's.
        "steps": workload.get("steps"),
        "tree_bytes": image.get("tree_bytes"),
        "image_bytes": image.get("image_bytes"),
        "image_flash_bytes": image.get("flash_bytes"),
        "image_write_ns": image.get("write_ns"),
        "cpu_scale": spec["cpu_scale"],
        "seed": spec["seed"],
        "wall_ns": wall.get("wall_ns"),
        "virtual_per_wall": wall.get("virtual_per_wall"),
        "axes": json.dumps(result["axes"], ensure_ascii=False),
    }


def _block_rows(snapshots: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for snapshot in snapshots:
        counts = zip(snapshot["erases"], snapshot["programs"], snapshot["reads"], strict=True)
        for block, (erases, programs, reads) in enumerate(counts):
            yield {
                "label": snapshot["label"],
                "block": block,
                "erases": erases,
                "programs": programs,
                "reads": reads,
            }


def open_store(runs: Sequence[RunDirectory]) -> duckdb.DuckDBPyConnection:
    """An in-memory database with the tables of `runs`, ready for SQL."""
    import duckdb

    connection = duckdb.connect()
    with tempfile.TemporaryDirectory(prefix="ffslab-store-") as directory:
        _stage(runs, Path(directory))
        for name in COLUMNS:
            source = _source(name, Path(directory))
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {source}")
    return connection


def export_tables(run: RunDirectory, directory: Path, kind: str) -> list[Path]:
    """Writes every table into `directory` as `csv` or `parquet`; returns the files."""
    import duckdb

    directory.mkdir(parents=True, exist_ok=True)
    options = "FORMAT parquet, COMPRESSION zstd" if kind == "parquet" else "FORMAT csv, HEADER"
    written = []
    with (
        duckdb.connect() as connection,
        tempfile.TemporaryDirectory(prefix="ffslab-store-") as staged,
    ):
        _stage([run], Path(staged))
        for name in COLUMNS:
            # DuckDB opens only what has a name in UTF-8.
            table = Path(staged) / f"{name}.{kind}"
            source = _source(name, Path(staged))
            connection.execute(f"COPY (SELECT * FROM {source}) TO {_quoted(table)} ({options})")
            written.append(Path(shutil.move(table, directory / table.name)))
    return written


def _stage(runs: Sequence[RunDirectory], directory: Path) -> None:
    """Writes the rows of all tables to files in `directory`, one case after the other."""
    requests = RequestStage(directory)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((directory / f"{name}.jsonl").open("w", encoding="utf-8"))
            for name in COLUMNS
            if name not in _STAGED_AS_PARQUET
        }
        for run in runs:
            walls = run.walls()
            for result in run.results():
                rows = case_rows(run.path.name, result, walls.get(result["id"], {}))
                for name, table in rows.items():
                    files[name].writelines(json.dumps(row) + "\n" for row in table)
                requests.add(run, result)


def _source(name: str, directory: Path) -> str:
    """What to select a staged table from."""
    if name in _STAGED_AS_PARQUET:
        return f"read_parquet({_quoted(directory / f'{name}-*.parquet')})"
    kinds = ", ".join(f"'{column}': '{kind}'" for column, kind in COLUMNS[name].items())
    path = _quoted(directory / f"{name}.jsonl")
    return f"read_json({path}, format='newline_delimited', columns={{{kinds}}})"


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
