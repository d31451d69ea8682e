"""The tables of a run: every column, where its value is from, and what it is without one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pyarrow.parquet
from result_support import listed_metrics

from ffslab.results.result import LatencyResult, PhaseResult
from ffslab.results.store import COLUMNS, _ColumnStage, _quoted, case_rows
from ffslab.workloads.micro.requests import FlashRow, RequestSeries
from ffslab.workloads.micro.tables import request_columns, task_columns

ROOT = Path(__file__).resolve().parents[2]


def test_result_format_documents_every_column() -> None:
    text = (ROOT / "docs" / "result-format.md").read_text().split("## Tables")[1]
    for table, columns in COLUMNS.items():
        body = text.split(f"### {table}\n", 1)[1].split("\n#", 1)[0]
        linked = re.findall(r"\(metrics\.md#([a-z-]+)\)", body)
        metrics = [name for anchor in linked for name in listed_metrics(anchor)]
        assert re.findall(r"`([a-z0-9_]+)`", body) + metrics == list(columns), table


def real_keys(shape: type) -> set[str]:
    """The keys of a result's rows that are no integers, by their type there."""
    hints = get_type_hints(shape)
    return {key for key, hint in hints.items() if float in (hint, *get_args(hint))}


# What is no integer; everything else is one.
REALS = {"cpu_scale", "virtual_per_wall", *real_keys(PhaseResult), *real_keys(LatencyResult)}
FLAGS = {"short_accepted", "prepared", "running", "confirmed"}


def test_every_column_has_the_type_of_its_values() -> None:
    """A name that ends in a unit or counts something is an integer."""
    for table, columns in COLUMNS.items():
        for column, kind in columns.items():
            number = re.search(
                r"_(ns|bytes|percent|asked|measured|max|spread|read|programmed|erased|pages|reads"
                r"|programs|created|deleted|appended|written)$|^(seed|block|erases|programs|reads"
                r"|count|index|number|stream|request|offset|directories|files|links|others|bytes"
                r"|depth|found|pages_.*|oob_.*|corrected_bitflips|read_errors)$",
                column,
            )
            # Of a finding the state is the one that it is called after.
            is_count = number or column == "states"
            expected = "BIGINT" if is_count else "VARCHAR"
            expected = "DOUBLE" if column in REALS else expected
            expected = "BOOLEAN" if column in FLAGS else expected
            assert kind == expected, (table, column)


SPEC = {
    "board": {"name": "acme", "chip": {"name": "acme-512m"}},
    "filesystem": {"name": "ubifs", "options": {"compression": "lzo", "write_mode": "sync"}},
    "state": {
        "name": "aged",
        "kind": "fill",
        "valid_percent": 50,
        "invalid_percent": 25,
        "rate_percent": 75,
    },
    "partition_bytes": 4096,
    "workload": {
        "kind": "micro",
        "pattern": "random-write",
        "request_bytes": 512,
        "steps": "mount unmount",
    },
    "cpu_scale": 0.5,
    "seed": 9,
}
RESULT: dict[str, Any] = {
    "id": "c-s9",
    "study": "s",
    "spec_hash": "h",
    "outcome": "short",
    "reason": "why",
    "short": {"what": "bytes", "measured": 3, "asked": 4, "accepted": True},
    "axes": {"part": "locality", "größe": 1},
    "spec": SPEC,
    "virtual_ns": 10,
    "flash_sha256": "f",
    "steps": ["insmod"],
    "image": {"tree_bytes": 21, "image_bytes": 22, "flash_bytes": 23, "write_ns": 24},
    "phases": [{"phase": "measure", "status": "ok", "duration_ns": 5, "files": 7}],
    "latencies": [{"phase": "creation", "op": "create", "count": 1, "p99_ns": 4, "buckets": []}],
    "flash": [
        {"label": "a", "erases": [1, 2], "programs": [3, 4], "reads": [5, 6]},
        {"label": "b", "erases": [7], "programs": [8], "reads": [9]},
    ],
    "tree": {
        "steps": [{"index": 0, "step": "mount", "tasks": [], "found": 3}],
        "memory": [
            {
                "label": "mount",
                "prepared": False,
                "total_bytes": 10,
                "slab_bytes": {"filesystem": 1, "kmalloc": 2, "inodes": 3, "other": 4},
            }
        ],
    },
}
KEY = {"run": "r", "case_id": "c-s9"}


def rows_of(result: dict[str, Any], wall: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows without what they have no value for."""
    return {
        name: [{key: value for key, value in row.items() if value is not None} for row in rows]
        for name, rows in case_rows("r", result, wall).items()
    }


def test_the_rows_of_a_case() -> None:
    tables = rows_of(RESULT, {"wall_ns": 2, "virtual_per_wall": 5.0, "host_cpu": 1})
    (case,) = tables["cases"]
    assert case == {
        **KEY,
        **{key: RESULT[key] for key in ("study", "spec_hash", "outcome", "reason")},
        "short_what": "bytes",
        "short_measured": 3,
        "short_asked": 4,
        "short_accepted": True,
        "kernel": case["kernel"],
        "board": "acme",
        "chip": "acme-512m",
        "filesystem": "ubifs",
        "compression": "lzo",
        "write_mode": "sync",
        "state": "aged",
        "state_kind": "fill",
        "valid_percent": 50,
        "invalid_percent": 25,
        "rate_percent": 75,
        "partition_bytes": 4096,
        "workload": "micro",
        "pattern": "random-write",
        "request_bytes": 512,
        "part": "locality",
        "steps": "mount unmount",
        "tree_bytes": 21,
        "image_bytes": 22,
        "image_flash_bytes": 23,
        "image_write_ns": 24,
        "cpu_scale": 0.5,
        "seed": 9,
        "virtual_ns": 10,
        "wall_ns": 2,
        "virtual_per_wall": 5.0,
        "flash_sha256": "f",
        "axes": '{"part": "locality", "größe": 1}',
    }
    assert case["kernel"]
    assert tables["phases"] == [{**KEY, "phase": "measure", "status": "ok", "duration_ns": 5}]
    latency = {"phase": "creation", "op": "create", "count": 1, "p99_ns": 4}
    assert tables["latencies"] == [{**KEY, **latency}]
    assert tables["blocks"] == [
        {**KEY, "label": label, "block": block, "erases": e, "programs": p, "reads": r}
        for label, block, e, p, r in (("a", 0, 1, 3, 5), ("a", 1, 2, 4, 6), ("b", 0, 7, 8, 9))
    ]
    assert tables["tree_steps"] == [{**KEY, "index": 0, "step": "mount", "found": 3}]
    slabs = {"filesystem": 1, "kmalloc": 2, "inodes": 3, "other": 4}
    assert tables["memory"] == [
        {
            **KEY,
            "label": "mount",
            "prepared": False,
            "total_bytes": 10,
            **{f"slab_{group}_bytes": size for group, size in slabs.items()},
        }
    ]
    for name, rows in case_rows("r", RESULT, {}).items():
        assert [list(row) for row in rows] == [list(COLUMNS[name])] * len(tables[name])


def test_a_case_of_an_older_version_has_fewer_values() -> None:
    spec = {key: value for key, value in SPEC.items() if key != "workload"}
    spec["state"] = {"name": "free", "valid_percent": 0, "invalid_percent": 0}
    spec["filesystem"] = {"name": "jffs2", "options": {}}
    old = {"id": "c-s9", "axes": {}, "spec": spec, "phases": [], "latencies": [], "flash": []}
    for result in (old, {**old, "tree": None, "image": None, "short": None}):
        tables = rows_of(result, {})
        (case,) = tables["cases"]
        assert case.pop("kernel")
        assert case == {
            **KEY,
            "board": "acme",
            "chip": "acme-512m",
            "filesystem": "jffs2",
            "state": "free",
            "valid_percent": 0,
            "invalid_percent": 0,
            "partition_bytes": 4096,
            "workload": "ffsmark",
            "cpu_scale": 0.5,
            "seed": 9,
            "axes": "{}",
        }
        assert all(not tables[name] for name in ("phases", "blocks", "tree_steps", "memory"))


COUNTS = ("pages_read", "pages_programmed", "blocks_erased", "oob_pages")


def flash_row(request: int, task: str, n: int) -> FlashRow:
    return FlashRow(request, task, task == "own", n, n + 1, n + 2, n + 3, n + 4)


# Four dear requests behind four cheap ones: these are the start-up.
SERIES = RequestSeries(
    stream=2,
    op="write",
    offset=tuple(range(0, 80, 10)),
    t_start_ns=tuple(range(0, 800, 100)),
    latency_ns=(4, 4, 4, 4, 50, 50, 50, 50),
    during=(flash_row(1, "own", 10), flash_row(1, "gc", 20), flash_row(3, "own", 30)),
    after=(flash_row(0, "gc", 40), flash_row(1, "gc", 50)),
)


def test_the_columns_of_requests() -> None:
    found = {name: list(values) for name, values in request_columns(("r", "c"), SERIES).items()}
    nothing = [0] * 8
    assert found == {
        "run": ["r"] * 8,
        "case_id": ["c"] * 8,
        "stream": [2] * 8,
        "request": list(range(8)),
        "op": ["write"] * 8,
        "offset": list(SERIES.offset),
        "t_start_ns": list(SERIES.t_start_ns),
        "latency_ns": list(SERIES.latency_ns),
        "running": [False] * 4 + [True] * 4,
        "pages_read": [0, 10 + 20, 0, 30, 0, 0, 0, 0],
        "pages_programmed": [0, 11 + 21, 0, 31, 0, 0, 0, 0],
        "blocks_erased": [0, 12 + 22, 0, 32, 0, 0, 0, 0],
        "oob_pages": [0, 14 + 24, 0, 34, 0, 0, 0, 0],
        "after_pages_read": [40, 50, *nothing[2:]],
        "after_pages_programmed": [41, 51, *nothing[2:]],
        "after_blocks_erased": [42, 52, *nothing[2:]],
        "after_oob_pages": [44, 54, *nothing[2:]],
    }


def test_the_columns_of_tasks_are_in_order_of_the_requests() -> None:
    assert task_columns(("r", "c"), SERIES) == {
        "run": ["r"] * 5,
        "case_id": ["c"] * 5,
        "stream": [2] * 5,
        "when": ["after", "request", "request", "after", "request"],
        "request": [0, 1, 1, 1, 3],
        "task": ["gc", "own", "gc", "gc", "own"],
        "pages_read": [40, 10, 20, 50, 30],
        "pages_programmed": [41, 11, 21, 51, 31],
        "blocks_erased": [42, 12, 22, 52, 32],
        "oob_pages": [44, 14, 24, 54, 34],
        "busy_ns": [43, 13, 23, 53, 33],
    }


def test_requests_are_staged_case_by_case(tmp_path: Path) -> None:
    """Both tables have their columns though no case has a request; files are in order."""

    def rows(file: str) -> int:
        return int(pyarrow.parquet.read_table(tmp_path / file).num_rows)

    stage = _ColumnStage(tmp_path)
    first = {f"{name}-{n:09}.parquet": name for n, name in enumerate(("requests", "request_tasks"))}
    assert {path.name for path in tmp_path.iterdir()} == set(first)
    assert [rows(file) for file in first] == [0, 0]
    for file, name in first.items():
        found = pyarrow.parquet.read_table(tmp_path / file).column_names
        assert found == list(COLUMNS[name])
    key, columns = ("r", "c"), {"requests": request_columns, "request_tasks": task_columns}
    for name, of_series in columns.items():
        stage._write(name, of_series(key, SERIES))
    written = ("requests-000000002.parquet", "request_tasks-000000003.parquet")
    assert [rows(file) for file in written] == [8, 5]


def test_a_name_with_a_quote_is_a_name_in_sql() -> None:
    assert _quoted(Path("it's")) == "'it''s'"
