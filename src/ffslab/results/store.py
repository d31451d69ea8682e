"""Run directories as tables: Parquet files, CSV, or SQL through DuckDB.

Tables: `cases`, `phases`, `latencies`, `blocks` and those of the workloads (their modules
`tables`); docs/result-format.md lists the columns. Rows go to temporary files case by case
(`case_rows` is pure), what is too large for a result as columns, and DuckDB reads them from there:
an export of a large run needs no more memory than its largest case.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ffslab.model.kernels import kernel_words
from ffslab.protocol.records import Snapshot
from ffslab.results.columns import FLAG, INT, KEY, REAL, TEXT, Columns, columns_of
from ffslab.results.result import CaseResult, WallResult
from ffslab.results.rundir import RunDirectory
from ffslab.results.schema import LATENCY_METRICS, PHASE_METRICS
from ffslab.visible_text import without_surrogates
from ffslab.workloads.modules import TablesModule, tables_module
from ffslab.workloads.registry import kind_of, workloads
from ffslab.workloads.results import results_of

if TYPE_CHECKING:
    import duckdb

Row = dict[str, object]


# Columns in order with their DuckDB types: of the tables of every run,
_GENERAL: Mapping[str, Mapping[str, str]] = {
    "cases": {
        **KEY,
        "study": TEXT,
        "spec_hash": TEXT,
        "outcome": TEXT,
        "reason": TEXT,
        "short_what": TEXT,
        "short_measured": INT,
        "short_asked": INT,
        "short_accepted": FLAG,
        "kernel": TEXT,
        "board": TEXT,
        "chip": TEXT,
        "filesystem": TEXT,
        "compression": TEXT,
        "write_mode": TEXT,
        "state": TEXT,
        "state_kind": TEXT,
        "valid_percent": INT,
        "invalid_percent": INT,
        "rate_percent": INT,
        "partition_bytes": INT,
        "workload": TEXT,
        "pattern": TEXT,
        "request_bytes": INT,
        "part": TEXT,
        "steps": TEXT,
        "tree_bytes": INT,
        "image_bytes": INT,
        "image_flash_bytes": INT,
        "image_write_ns": INT,
        "cpu_scale": REAL,
        "seed": INT,
        "virtual_ns": INT,
        "wall_ns": INT,
        "virtual_per_wall": REAL,
        "flash_sha256": TEXT,
        "axes": TEXT,
    },
    "phases": {
        **KEY,
        "phase": TEXT,
        "status": TEXT,
        "errno_name": TEXT,
        "t_start_ns": INT,
        "t_end_ns": INT,
        **columns_of(PHASE_METRICS),
    },
    "latencies": {
        **KEY,
        "phase": TEXT,
        "op": TEXT,
        **columns_of(LATENCY_METRICS),
    },
    "blocks": {
        **KEY,
        "label": TEXT,
        "block": INT,
        "erases": INT,
        "programs": INT,
        "reads": INT,
    },
}


_PARTS: tuple[TablesModule, ...] = tuple(
    part for kind in workloads() if (part := tables_module(kind)) is not None
)
# of those too large for a result, which are staged as Parquet,
_OF_RECORDS = {name: table for part in _PARTS for name, table in part.RECORD_TABLES.items()}
# and of all.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    **_GENERAL,
    **{name: table for part in _PARTS for name, table in part.TABLES.items()},
    **_OF_RECORDS,
}


def case_rows(
    run_name: str, result: CaseResult, wall: WallResult | None
) -> dict[str, Iterable[Row]]:
    """A case's rows in every table that comes from results, with all their columns."""
    key = {"run": run_name, "case_id": result["id"]}
    rows: dict[str, Iterable[Mapping[str, object]]] = {
        "cases": [_case_row(result, wall)],
        "phases": result["phases"],
        "latencies": result["latencies"],
        "blocks": _block_rows(result["flash"]),
    }
    for part in _PARTS:
        rows.update(part.rows(result))
    return {name: _filled(name, key, table) for name, table in rows.items()}


def _filled(
    name: str, key: Mapping[str, object], rows: Iterable[Mapping[str, object]]
) -> Iterator[Row]:
    for row in rows:
        full = {**key, **row}
        yield {column: _storable(full.get(column)) for column in COLUMNS[name]}


def _storable(value: object) -> object:
    """Tables hold UTF-8 only, names of files may be none."""
    return without_surrogates(value) if isinstance(value, str) else value


def _case_row(result: CaseResult, wall: WallResult | None) -> Row:
    spec = result["spec"]
    options = spec["filesystem"]["options"]
    # Runs of older versions have fewer keys.
    state, workload = spec["state"], spec.get("workload", {})
    short = result.get("short")
    return {
        **result,
        **({f"short_{key}": value for key, value in short.items()} if short else {}),
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
        "workload": kind_of(spec),
        "pattern": workload.get("pattern"),
        "request_bytes": workload.get("request_bytes"),
        "part": result["axes"].get("part"),
        # In a result, "steps" are the plan's.
        "steps": workload.get("steps"),
        "cpu_scale": spec["cpu_scale"],
        "seed": spec["seed"],
        "wall_ns": wall["wall_ns"] if wall else None,
        "virtual_per_wall": wall["virtual_per_wall"] if wall else None,
        "axes": json.dumps(result["axes"], ensure_ascii=False),
        **{key: value for part in _PARTS for key, value in part.case_columns(result).items()},
    }


def _block_rows(snapshots: Sequence[Snapshot]) -> Iterator[Row]:
    for snapshot in snapshots:
        counts = zip(snapshot["erases"], snapshot["programs"], snapshot["reads"], strict=True)
        for block, (erases, programs, reads) in enumerate(counts):
            row = {"block": block, "erases": erases, "programs": programs, "reads": reads}
            yield {"label": snapshot["label"], **row}


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
    columns = _ColumnStage(directory)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((directory / f"{name}.jsonl").open("w", encoding="utf-8"))
            for name in COLUMNS
            if name not in _OF_RECORDS
        }
        for run in runs:
            walls = run.walls()
            for result in results_of(run):
                rows = case_rows(run.path.name, result, walls.get(result["id"]))
                for name, table in rows.items():
                    files[name].writelines(json.dumps(row) + "\n" for row in table)
                columns.add(run, result)


class _ColumnStage:
    """Writes NAME-NNNNNN.parquet for tables of columns into a directory, in the order given."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files = 0
        # An empty one gives every table its columns even if no case has a row.
        for name, table in _OF_RECORDS.items():
            self._write(name, dict.fromkeys(table, ()))

    def add(self, run: RunDirectory, result: CaseResult) -> None:
        """What a case has in these tables; DamagedResultError if its records are gone."""
        for part in _PARTS:
            for name, columns in part.record_columns(run, result):
                self._write(name, columns)

    def _write(self, name: str, columns: Columns) -> None:
        import pyarrow
        import pyarrow.parquet

        types = {INT: pyarrow.int64(), TEXT: pyarrow.string(), FLAG: pyarrow.bool_()}
        arrays = {
            column: pyarrow.array(columns[column], type=types[kind])
            for column, kind in _OF_RECORDS[name].items()
        }
        path = self._directory / f"{name}-{self._files:09}.parquet"
        self._files += 1
        pyarrow.parquet.write_table(pyarrow.table(arrays), path)


def _source(name: str, directory: Path) -> str:
    """What to select a staged table from."""
    if name in _OF_RECORDS:
        return f"read_parquet({_quoted(directory / f'{name}-*.parquet')})"
    kinds = ", ".join(f"'{column}': '{kind}'" for column, kind in COLUMNS[name].items())
    path = _quoted(directory / f"{name}.jsonl")
    return f"read_json({path}, format='newline_delimited', columns={{{kinds}}})"


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
