"""The tables `tree_steps` and `memory`: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ffslab.results.columns import FLAG, INT, KEY, TEXT, Columns, columns_of
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.tree.memory import flat_memory
from ffslab.workloads.tree.metrics import MEMORY_METRICS, STEP_METRICS
from ffslab.workloads.tree.stored import image_of, tree_of

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


def case_columns(result: CaseResult) -> Mapping[str, object]:
    """The image that was on the flash, if there was one."""
    image = image_of(result)
    if image is None:
        return {}
    return {
        "tree_bytes": image["tree_bytes"],
        "image_bytes": image["image_bytes"],
        "image_flash_bytes": image["flash_bytes"],
        "image_write_ns": image["write_ns"],
    }


def rows(result: CaseResult) -> Mapping[str, Iterable[Mapping[str, object]]]:
    """One row per step, and one per label of the memory; older versions' results have none."""
    tree = tree_of(result)
    if tree is None:
        return {"tree_steps": (), "memory": ()}
    return {"tree_steps": tree["steps"], "memory": map(flat_memory, tree["memory"])}


def record_columns(_run: RunDirectory, _result: CaseResult) -> Iterable[tuple[str, Columns]]:
    """None: all of it is in the result."""
    return ()
