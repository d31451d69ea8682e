"""The tables `tree_steps` and `memory`: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ffslab.results.columns import FLAG, INT, KEY, TEXT, Columns
from ffslab.results.metrics import FLASH_TIMES
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.tree.memory import GROUPS
from ffslab.workloads.tree.records import TREE_COUNTS
from ffslab.workloads.tree.result import COUNTERS

_MEMORY_SIZES = (
    "vmalloc_bytes",
    "kernel_stack_bytes",
    "percpu_bytes",
    "total_bytes",
    "page_cache_bytes",
    "other_bytes",
)

TREE_STEP_COLUMNS: Mapping[str, str] = {
    **KEY,
    "index": INT,
    "step": TEXT,
    "number": INT,
    "phase": TEXT,
    "prepared": FLAG,
    "status": TEXT,
    "errno_name": TEXT,
    **dict.fromkeys(("t_start_ns", "duration_ns", *FLASH_TIMES, "in_driver_ns", *COUNTERS), INT),
    **dict.fromkeys(("bytes_read", "bytes_written", *TREE_COUNTS), INT),
    "digest": TEXT,
}
MEMORY_COLUMNS: Mapping[str, str] = {
    **KEY,
    "label": TEXT,
    "prepared": FLAG,
    **{f"slab_{group}_bytes": INT for group in GROUPS},
    **dict.fromkeys(_MEMORY_SIZES, INT),
}


TABLES = {"tree_steps": TREE_STEP_COLUMNS, "memory": MEMORY_COLUMNS}
RECORD_TABLES: Mapping[str, Mapping[str, str]] = {}


def rows(result: Mapping[str, Any]) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """One row per step, and one per label of the memory; older versions' results have none."""
    tree = result.get("tree") or {}
    return {
        "tree_steps": tree.get("steps", ()),
        "memory": (_memory_row(label) for label in tree.get("memory", ())),
    }


def record_columns(_run: RunDirectory, _result: Mapping[str, Any]) -> Iterable[tuple[str, Columns]]:
    """None: all of it is in the result."""
    return ()


def _memory_row(label: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**label, **{f"slab_{group}_bytes": label["slab_bytes"][group] for group in GROUPS}}
