"""Run directories as tables: Parquet files, CSV, or SQL through DuckDB.

Tables: `cases`, `phases`, `latencies`, `blocks`; docs/result-format.md lists
the columns. The result of a case is flattened by `tables`, which is pure;
DuckDB does the rest.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab.results.rundir import RunDirectory

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]

_INT, _REAL, _TEXT = "BIGINT", "DOUBLE", "VARCHAR"
_KEY = {"run": _TEXT, "case_id": _TEXT}
_RATE = ("read_bytes_per_s", "write_bytes_per_s", "erases_mean", "erases_std")
_PHASE_INTEGERS = (
    "t_start_ns",
    "t_end_ns",
    "duration_ns",
    "files_created",
    "files_deleted",
    "files_read",
    "files_appended",
    "bytes_read",
    "bytes_written",
    "pages_read",
    "pages_programmed",
    "blocks_erased",
    "flash_time_ns",
    "erases_spread",
    "erases_max",
)
_LATENCY_INTEGERS = ("count", "sum_ns", "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns")

# The columns of every table in order, with their DuckDB types.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "cases": {
        **_KEY,
        "study": _TEXT,
        "spec_hash": _TEXT,
        "outcome": _TEXT,
        "reason": _TEXT,
        "board": _TEXT,
        "chip": _TEXT,
        "filesystem": _TEXT,
        "compression": _TEXT,
        "write_mode": _TEXT,
        "state": _TEXT,
        "valid_percent": _INT,
        "invalid_percent": _INT,
        "partition_bytes": _INT,
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
        **dict.fromkeys(_PHASE_INTEGERS, _INT),
        **dict.fromkeys(_RATE, _REAL),
        "write_amplification": _REAL,
    },
    "latencies": {
        **_KEY,
        "phase": _TEXT,
        "op": _TEXT,
        **dict.fromkeys(_LATENCY_INTEGERS, _INT),
        "mean_ns": _REAL,
    },
    "blocks": {
        **_KEY,
        "label": _TEXT,
        "block": _INT,
        "erases": _INT,
        "programs": _INT,
        "reads": _INT,
    },
}


def tables(
    run_name: str, results: Iterable[Mapping[str, Any]], walls: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[Row]]:
    """The rows of every table, with exactly the columns of `COLUMNS`."""
    rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
    for result in results:
        key = {"run": run_name, "case_id": result["id"]}
        rows["cases"].append(key | _case_row(result, walls.get(result["id"], {})))
        rows["phases"] += [key | phase for phase in result["phases"]]
        rows["latencies"] += [key | latency for latency in result["latencies"]]
        rows["blocks"] += [key | row for row in _block_rows(result["flash"])]
    return {
        name: [{column: row.get(column) for column in COLUMNS[name]} for row in table]
        for name, table in rows.items()
    }


def _case_row(result: Mapping[str, Any], wall: Mapping[str, Any]) -> Row:
    spec = result["spec"]
    options = spec["filesystem"]["options"]
    return {
        **result,
        "board": spec["board"]["name"],
        "chip": spec["board"]["chip"]["name"],
        "filesystem": spec["filesystem"]["name"],
        "compression": options.get("compression"),
        "write_mode": options.get("write_mode"),
        "state": spec["state"]["name"],
        "valid_percent": spec["state"]["valid_percent"],
        "invalid_percent": spec["state"]["invalid_percent"],
        "partition_bytes": spec["partition_bytes"],
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
        rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        for run in runs:
            for name, table in tables(run.path.name, run.results(), run.walls()).items():
                rows[name] += table
        for name, columns in COLUMNS.items():
            declared = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
            connection.execute(f"CREATE TABLE {name} ({declared})")
            if not rows[name]:
                continue
            path = Path(directory) / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows[name]), "utf-8")
            kinds = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
            connection.execute(
                f"INSERT INTO {name} SELECT * FROM read_json(?, format='newline_delimited', "
                f"columns={{{kinds}}})",
                [str(path)],
            )
    return connection


def export_tables(run: RunDirectory, directory: Path, kind: str) -> list[Path]:
    """Writes every table into `directory` as `csv` or `parquet`; returns the files."""
    connection = open_store([run])
    directory.mkdir(parents=True, exist_ok=True)
    options = "FORMAT parquet, COMPRESSION zstd" if kind == "parquet" else "FORMAT csv, HEADER"
    written = []
    for name in COLUMNS:
        path = directory / f"{name}.{kind}"
        quoted = str(path).replace("'", "''")
        connection.execute(f"COPY {name} TO '{quoted}' ({options})")
        written.append(path)
    return written
