"""The tables `tree_steps` and `memory`: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ffslab.results.columns import FLAG, INT, KEY, TEXT, Columns, columns_of
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.tree.memory import flat_memory
from ffslab.workloads.tree.metrics import MEMORY_METRICS, STEP_METRICS

TREE_STEP_COLUMNS: Mapping[str, str] = {
    **KEY,
    "index": INT,
    "step": TEXT,
    "number": INT,
    "phase": TEXT,
    "prepared": FLAG,
    "status": TEXT,
    "errno_name": TEXT,
    "t_start_ns": INT,
    **columns_of(STEP_METRICS),
    "digest": TEXT,
}
MEMORY_COLUMNS: Mapping[str, str] = {
    **KEY,
    "label": TEXT,
    "prepared": FLAG,
    **columns_of(MEMORY_METRICS),
}


TABLES = {"tree_steps": TREE_STEP_COLUMNS, "memory": MEMORY_COLUMNS}
RECORD_TABLES: Mapping[str, Mapping[str, str]] = {}


def rows(result: Mapping[str, Any]) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """One row per step, and one per label of the memory; older versions' results have none."""
    tree = result.get("tree") or {}
    return {
        "tree_steps": tree.get("steps", ()),
        "memory": map(flat_memory, tree.get("memory", ())),
    }


def record_columns(_run: RunDirectory, _result: Mapping[str, Any]) -> Iterable[tuple[str, Columns]]:
    """None: all of it is in the result."""
    return ()
