"""The tables `tree_steps` and `memory`: columns and rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ffslab.results.metrics import FLASH_TIMES
from ffslab.workloads.tree.memory import GROUPS
from ffslab.workloads.tree.records import TREE_COUNTS
from ffslab.workloads.tree.result import COUNTERS

_INT, _TEXT, _BOOL = "BIGINT", "VARCHAR", "BOOLEAN"
_KEY = {"run": _TEXT, "case_id": _TEXT}
_MEMORY_SIZES = (
    "vmalloc_bytes",
    "kernel_stack_bytes",
    "percpu_bytes",
    "total_bytes",
    "page_cache_bytes",
    "other_bytes",
)

TREE_STEP_COLUMNS: Mapping[str, str] = {
    **_KEY,
    "index": _INT,
    "step": _TEXT,
    "number": _INT,
    "phase": _TEXT,
    "prepared": _BOOL,
    "status": _TEXT,
    "errno_name": _TEXT,
    **dict.fromkeys(("t_start_ns", "duration_ns", *FLASH_TIMES, "in_driver_ns", *COUNTERS), _INT),
    **dict.fromkeys(("bytes_read", "bytes_written", *TREE_COUNTS), _INT),
    "digest": _TEXT,
}
MEMORY_COLUMNS: Mapping[str, str] = {
    **_KEY,
    "label": _TEXT,
    "prepared": _BOOL,
    **{f"slab_{group}_bytes": _INT for group in GROUPS},
    **dict.fromkeys(_MEMORY_SIZES, _INT),
}


def tree_step_rows(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One row per step of a case; none for other workloads, or an older version's result."""
    yield from (result.get("tree") or {}).get("steps", ())


def memory_rows(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One row per label of a case."""
    for row in (result.get("tree") or {}).get("memory", ()):
        yield {**row, **{f"slab_{group}_bytes": row["slab_bytes"][group] for group in GROUPS}}
