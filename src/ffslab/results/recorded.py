"""What the agent recorded, as it stands in a result: key by key, so that the types are checked."""

from __future__ import annotations

from ffslab.protocol.records import Mtd, Prepared, Snapshot, Space, Step
from ffslab.results.result import (
    MtdResult,
    PreparedResult,
    SnapshotResult,
    SpaceResult,
    StepResult,
)


def mtd_result(mtd: Mtd) -> MtdResult:
    """The key `mtd`."""
    return {
        "name": mtd.name,
        "size_bytes": mtd.size_bytes,
        "erase_block_bytes": mtd.erase_block_bytes,
        "page_bytes": mtd.page_bytes,
        "subpage_bytes": mtd.subpage_bytes,
        "oob_bytes": mtd.oob_bytes,
        "blocks": mtd.blocks,
        "bad_blocks": mtd.bad_blocks,
    }


def step_result(step: Step) -> StepResult:
    """One object of `steps`."""
    return {
        "index": step.index,
        "verb": step.verb,
        "label": step.label,
        "t_start_ns": step.t_start_ns,
        "duration_ns": step.duration_ns,
        "status": step.status,
        "errno_name": step.errno_name,
    }


def space_result(space: Space) -> SpaceResult:
    """One object of `space`."""
    return {
        "label": space.label,
        "total_bytes": space.total_bytes,
        "free_bytes": space.free_bytes,
        "available_bytes": space.available_bytes,
        "files": space.files,
        "files_free": space.files_free,
        "page_cache_bytes": space.page_cache_bytes,
        "mem_free_bytes": space.mem_free_bytes,
    }


def snapshot_result(snapshot: Snapshot) -> SnapshotResult:
    """One object of `flash`."""
    return {
        "label": snapshot.label,
        "t_ns": snapshot.t_ns,
        "counters": dict(snapshot.counters),
        "erases": list(snapshot.erases),
        "programs": list(snapshot.programs),
        "reads": list(snapshot.reads),
    }


def prepared_result(prepared: Prepared) -> PreparedResult:
    """The key `prepared` of a preparation."""
    return {
        "state": prepared.state,
        "valid_bytes": prepared.valid_bytes,
        "invalid_bytes": prepared.invalid_bytes,
        "invalid_present": prepared.invalid_present,
        "file_bytes": prepared.file_bytes,
        "capacity_bytes": prepared.capacity_bytes,
    }
