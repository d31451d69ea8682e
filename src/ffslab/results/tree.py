"""The figures of a case of workload `tree`: its steps, its memory, the image on its flash.

Pure functions from records to the keys `tree` and `image` of a result (docs/result-format.md).
A case's steps are words; the n-th occurrence of a word is phase `WORD-n` of the records, the
first is `WORD`. How a word becomes lines of a plan is of no concern here but for `mount` and
`unmount`, which are several phases where UBI is below the file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.specs import Case, Tree
from ffslab.model.trees import SPLITS, Step, split_steps
from ffslab.results.memory import memory_results
from ffslab.results.metrics import FLASH_TIMES, flash_times, in_driver_ns
from ffslab.results.records import RecordStream
from ffslab.results.tree_records import (
    TASK_COUNTS,
    TREE_COUNTS,
    TreePhase,
    TreeRecords,
    load_tree_records,
)

OK, ERROR, MISSING = "ok", "error", "missing"
# The phases of a word, in order, where they are not just itself.
PARTS: Mapping[str, tuple[str, ...]] = {
    "mount": ("attach", "volume", "mount"),
    "unmount": ("unmount", "detach"),
}
# Those which are there only with UBI; "volume" only when a new one is made.
_UBI_PARTS = ("attach", "detach")
_OPTIONAL_PARTS = ("volume",)
COUNTERS = ("pages_read", "pages_programmed", "blocks_erased", "oob_reads", "oob_programs")
# What puts an image on the flash: a verb of the plan, and how its phase's name begins.
_WRITE_VERB, _WRITE_PHASE = "write-image", "write"
_IMAGE_FACTS = (
    "tree",
    "tree_sha256",
    "tool",
    "command",
    "image_bytes",
    "flash_bytes",
    "tree_bytes",
    "sha256",
)


def tree_results(
    case: Case, stream: RecordStream, preparation_stream: RecordStream | None
) -> dict[str, Any] | None:
    """The key `tree` of a result; None for other workloads.

    None too if records contradict each other, which makes the case a crash (`judge`).
    `preparation_stream`: what the guest reported that prepared the flash, if one did.
    """
    if not isinstance(case.workload, Tree):
        return None
    try:
        own = load_tree_records(stream)
        before = load_tree_records(preparation_stream) if preparation_stream else TreeRecords()
    except DamagedResultError:
        return None
    ubi = case.filesystem.ubi is not None
    ended = preparation_stream is not None and preparation_stream.end is not None
    first, second = split_steps(case.workload)
    return {
        "steps": [
            *(_prepared_step(step, before, ubi, ended) for step in first),
            *(step_results(step, own, ubi) for step in second),
        ],
        "memory": [
            *memory_results(before.memory, prepared=True),
            *memory_results(own.memory, prepared=False),
        ],
    }


def _prepared_step(step: Step, records: TreeRecords, ubi: bool, ended: bool) -> dict[str, Any]:
    """A step of the preparing guest; the last, `crash` or `restart`, is its end and no phase."""
    row = step_results(step, records, ubi) | {"prepared": True}
    return row | {"status": OK if ended else MISSING} if step.word in SPLITS else row


def step_results(step: Step, records: TreeRecords, ubi: bool) -> dict[str, Any]:
    """One row of `steps`; `ubi`: UBI is below the file system."""
    parts = PARTS.get(step.word, (step.word,))
    names = [step.phase_of(part) for part in parts]
    phases = [records.phases[name] for name in names if name in records.phases]
    bad = next((phase for phase in phases if phase.status != OK), None)
    left_out = {*_OPTIONAL_PARTS, *(() if ubi else _UBI_PARTS)}
    complete = all(step.phase_of(p) in records.phases for p in parts if p not in left_out)
    tree = records.trees.get(step.phase)
    return {
        "index": step.index,
        "step": step.word,
        "number": step.number,
        "phase": step.phase,
        "prepared": False,
        "status": ERROR if bad else OK if complete else MISSING,
        "errno_name": bad.errno_name if bad else "",
        "t_start_ns": phases[0].t_start_ns if phases else None,
        "duration_ns": sum(phase.duration_ns for phase in phases) if complete or bad else None,
        "parts": [{"phase": phase.name, "duration_ns": phase.duration_ns} for phase in phases],
        **_flash(phases),
        "bytes_read": sum(phase.bytes_read for phase in phases),
        "bytes_written": sum(phase.bytes_written for phase in phases),
        **{key: tree[key] if tree else None for key in (*TREE_COUNTS, "digest")},
        "tasks": _by_task(task for phase in phases for task in phase.tasks),
    }


def image_results(
    facts: Mapping[str, Any] | None, stream: RecordStream | None
) -> dict[str, Any] | None:
    """The key `image` of a result; None without an image (`facts` of the built one).

    `stream`: of the guest that wrote it to the flash. What it did not report is null. `ratio`
    is tree_bytes ÷ image_bytes, `write_ns` the virtual time of writing.
    """
    if facts is None:
        return None
    image, tree = facts["image_bytes"], facts["tree_bytes"]
    written = stream.first("written") if stream else None
    return {
        **{name: facts[name] for name in _IMAGE_FACTS},
        "ratio": tree / image if image else None,
        "write_ns": _write_ns(stream) if stream else None,
        "pages": written["pages"] if written else None,
        "blocks": written["blocks"] if written else None,
    }


def _flash(phases: Sequence[TreePhase]) -> dict[str, int | None]:
    """Flash operations of a step's phases, and how long they took (`flash_times`).

    Null where no phase had a monitor; the chip's times also where the chip does not count.
    """
    counted = [phase.counters for phase in phases if phase.counters is not None]
    if not counted:
        return dict.fromkeys((*FLASH_TIMES, "in_driver_ns", *COUNTERS))
    times = [flash_times(one) for one in counted]
    known = all(times)
    return {
        **{name: sum(one[name] for one in times) if known else None for name in FLASH_TIMES},
        "in_driver_ns": sum(in_driver_ns(one) for one in counted),
        **{name: sum(one.get(name, 0) for one in counted) for name in COUNTERS},
    }


def _by_task(tasks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sums by name, the longest in the driver first."""
    found: dict[str, dict[str, Any]] = {}
    for task in tasks:
        sums = found.setdefault(
            task["name"], {"name": task["name"], **dict.fromkeys(TASK_COUNTS, 0)}
        )
        for name in TASK_COUNTS:
            sums[name] += task[name]
    return sorted(found.values(), key=lambda task: (-task["busy_ns"], task["name"]))


def _write_ns(stream: RecordStream) -> int | None:
    """How long writing the image took: its phase, or else its step."""
    try:
        phases = load_tree_records(stream).phases
    except DamagedResultError:
        return None
    phase = next((phase for name, phase in phases.items() if name.startswith(_WRITE_PHASE)), None)
    if phase is not None:
        return phase.duration_ns if phase.status == OK else None
    step = next((r for r in stream.of_type("step") if r["verb"] == _WRITE_VERB), None)
    if step is None or step["status"] != OK:
        return None
    return int(step["t_end_ns"] - step["t_start_ns"])
