"""The figures of a case of workload `tree`: its steps, its memory, the image on its flash.

Pure functions from records to the keys `tree` and `image` of a result (docs/result-format.md).
A case's steps are words; the n-th occurrence of a word is phase `WORD-n` of the records, the
first is `WORD`. How a word becomes lines of a plan is of no concern here but for `mount` and
`unmount`, which are several phases where UBI is below the file system.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import MEASURED_STEP, Phase, RecordStream, TaskRecord
from ffslab.results.metrics import FlashTimes, flash_times, in_driver_ns, mtd_calls
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import FULL, Shortfall
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.memory import memory_results
from ffslab.workloads.tree.records import TreePhase, TreeRecords, load_tree_records
from ffslab.workloads.tree.steps import SPLITS, Step, guests_of
from ffslab.workloads.tree.stored import (
    ImageResult,
    MemoryResult,
    StepFlash,
    StepTimes,
    TreeKeys,
    TreeResult,
    TreeStep,
    WalkCounts,
    tree_of,
)

# No phases of it are summed up.
PHASES: tuple[str, ...] = ()
KEYS = TreeKeys
ELSEWHERE: Mapping[str, object] = {"tree": None, "image": None}
NOT_TIMED = ("settle", "drop", "warm", "check", *SPLITS)
OK, ERROR, MISSING = "ok", "error", "missing"
# The phases of a word, in order, where they are not just itself.
PARTS: Mapping[str, tuple[str, ...]] = {
    "mount": ("attach", "lower-volume", "volume", "lower", "upper", "mount"),
    "unmount": ("unmount", "upper-unmount", "lower-unmount", "detach"),
}
# Those which are there only with UBI; volumes only when new ones are made.
_UBI_PARTS = ("attach", "detach")
_OVERLAY_PARTS = ("lower", "upper", "upper-unmount", "lower-unmount")
_OPTIONAL_PARTS = ("lower-volume", "volume")
# What puts an image on the flash: a verb of the plan, and how its phase's name begins.
_WRITE_VERB, _WRITE_PHASE = "write-image", "write"
_NO_WALK: WalkCounts = {
    "directories": None,
    "files": None,
    "links": None,
    "others": None,
    "bytes": None,
    "depth": None,
    "found": None,
    "digest": None,
}
_OF_FILES = re.compile(r"after \d+ of (\d+) files")


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """Each step that was measured and does something, by the name of its phase."""
    tree = tree_of(result)
    return {
        step["phase"]: float(step["duration_ns"])
        for step in (tree["steps"] if tree else ())
        if step["duration_ns"] and step["phase"].partition("-")[0] not in NOT_TIMED
    }


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the records of steps, trees and memory contradict each other."""
    load_tree_records(stream)


def result_keys(case: Case, stream: RecordStream, prepared: Sequence[Preparation]) -> TreeKeys:
    """The keys `tree` and `image`; `tree` is null if records contradict each other."""
    tree: TreeResult | None
    try:
        tree = tree_results(case, stream, [preparation.stream for preparation in prepared])
    except DamagedResultError:
        tree = None
    first = prepared[0] if prepared else None
    image = image_results(first.image, first.stream) if first else None
    return {"tree": tree, "image": image}


def tree_results(case: Case, stream: RecordStream, prepared: Sequence[RecordStream]) -> TreeResult:
    """The key `tree` of a result; DamagedResultError.

    `prepared`: what the guests reported that ran before the case's own.
    """
    workload = case.workload
    assert isinstance(workload, Tree)
    *before, own_steps = guests_of(workload, case.state)
    left_out = _left_out(case)
    own = load_tree_records(stream)
    steps: list[TreeStep] = []
    memory: list[MemoryResult] = []
    for number, words in enumerate(before):
        told = prepared[number] if number < len(prepared) else RecordStream((), (), False)
        records, ended = load_tree_records(told), told.end is not None
        steps += [_prepared_step(step, records, left_out, ended) for step in words]
        memory += memory_results(records.memory, prepared=True)
    steps += [step_results(step, own, left_out) for step in own_steps]
    return {"steps": steps, "memory": [*memory, *memory_results(own.memory, prepared=False)]}


def _prepared_step(
    step: Step, records: TreeRecords, left_out: Collection[str], ended: bool
) -> TreeStep:
    """A step of the preparing guest; the last, `crash` or `restart`, is its end and no phase."""
    row: TreeStep = {**step_results(step, records, left_out), "prepared": True}
    if step.word in SPLITS:
        row["status"] = OK if ended else MISSING
    return row


def _left_out(case: Case) -> frozenset[str]:
    """The parts of words that the case's file system need not have."""
    setup = case.filesystem
    return frozenset({
        *_OPTIONAL_PARTS,
        *(() if setup.ubi else _UBI_PARTS),
        *(() if setup.overlay else _OVERLAY_PARTS),
    })  # fmt: skip


def step_results(step: Step, records: TreeRecords, left_out: Collection[str]) -> TreeStep:
    """One row of `steps`; `left_out`: phases of it that may be missing."""
    parts = PARTS.get(step.word, (step.word,))
    names = [step.phase_of(part) for part in parts]
    phases = [records.phases[name] for name in names if name in records.phases]
    bad = next((phase for phase in phases if phase.status != OK), None)
    complete = all(step.phase_of(p) in records.phases for p in parts if p not in left_out)
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
        **records.trees.get(step.phase, _NO_WALK),
        "tasks": _by_task(task for phase in phases for task in phase.tasks),
    }


def image_results(facts: Mapping[str, Any] | None, stream: RecordStream) -> ImageResult | None:
    """The key `image` of a result; None without an image (`facts` of the built one).

    `stream`: of the guest that wrote it to the flash. What it did not report is null. `ratio`
    is tree_bytes ÷ image_bytes, `write_ns` the virtual time of writing.
    """
    if facts is None:
        return None
    image, tree = facts["image_bytes"], facts["tree_bytes"]
    written = stream.first("written")
    return {
        "tree": facts["tree"],
        "tree_sha256": facts["tree_sha256"],
        "tool": facts["tool"],
        "command": facts["command"],
        "image_bytes": image,
        "flash_bytes": facts["flash_bytes"],
        "tree_bytes": tree,
        "sha256": facts["sha256"],
        "ratio": tree / image if image else None,
        "write_ns": _write_ns(stream),
        "pages": written["pages"] if written else None,
        "blocks": written["blocks"] if written else None,
    }


def _flash(phases: Sequence[TreePhase]) -> StepFlash:
    """Flash operations of a step's phases, and how long they took (`flash_times`).

    Null where no phase had a monitor; the chip's times also where the chip does not count.
    """
    counted = [phase.counters for phase in phases if phase.counters is not None]

    def counter(name: str) -> int | None:
        return sum(counters.get(name, 0) for counters in counted) if counted else None

    return {
        **_times([flash_times(phase) for phase in counted]),
        "in_driver_ns": sum(in_driver_ns(phase) for phase in counted) if counted else None,
        "mtd_calls": sum(mtd_calls(phase) for phase in counted) if counted else None,
        "pages_read": counter("pages_read"),
        "pages_programmed": counter("pages_programmed"),
        "blocks_erased": counter("blocks_erased"),
        "oob_reads": counter("oob_reads"),
        "oob_programs": counter("oob_programs"),
        "corrected_bitflips": counter("corrected_bitflips"),
        "read_errors": counter("read_errors"),
    }


def _times(phases: Sequence[FlashTimes]) -> StepTimes:
    """The chip's times of phases together; null if there are none, or it does not count in one."""
    known = bool(phases) and all(phases)
    return {
        "flash_read_ns": sum(times["flash_read_ns"] for times in phases) if known else None,
        "flash_program_ns": sum(times["flash_program_ns"] for times in phases) if known else None,
        "flash_erase_ns": sum(times["flash_erase_ns"] for times in phases) if known else None,
        "flash_transfer_ns": sum(times["flash_transfer_ns"] for times in phases) if known else None,
        "flash_ns": sum(times["flash_ns"] for times in phases) if known else None,
    }


def _by_task(tasks: Iterable[TaskRecord]) -> list[TaskRecord]:
    """Sums by name, the longest in the driver first."""
    by_name: dict[str, TaskRecord] = {}
    for task in tasks:
        name = task["name"]
        known = by_name.get(name)
        by_name[name] = {**task} if known is None else _sum(known, task)
    return sorted(by_name.values(), key=lambda task: (-task["busy_ns"], task["name"]))


def _sum(task: TaskRecord, other: TaskRecord) -> TaskRecord:
    return {
        "name": task["name"],
        "pages_read": task["pages_read"] + other["pages_read"],
        "pages_programmed": task["pages_programmed"] + other["pages_programmed"],
        "blocks_erased": task["blocks_erased"] + other["blocks_erased"],
        "busy_ns": task["busy_ns"] + other["busy_ns"],
        "oob_pages": task["oob_pages"] + other["oob_pages"],
    }


def _write_ns(stream: RecordStream) -> int | None:
    """How long writing the image took: its phase, or else its step."""
    try:
        phases = load_tree_records(stream).phases
    except DamagedResultError:
        return None
    phase = next((phase for name, phase in phases.items() if name.startswith(_WRITE_PHASE)), None)
    if phase is not None:
        return phase.duration_ns if phase.status == OK else None
    step = next((step for step in stream.steps if step.verb == _WRITE_VERB), None)
    return None if step is None or step.failed else step.duration_ns


def shortfall(_workload: Tree, stream: RecordStream, full_phase: Phase | None) -> Shortfall | None:
    """Files of the tree; a copy's message does not say how many there are to be."""
    if full_phase is None or full_phase.workload != MEASURED_STEP:
        return None
    name, message = full_phase.name, full_phase.message
    made = next((tree for tree in stream.of_type("tree") if tree["phase"] == name), None)
    asked = _OF_FILES.search(message)
    told = f"phase {name}: no space left on the partition ({FULL})"
    return Shortfall(
        "files created",
        int(made["files"]) if made else 0,
        int(asked[1]) if asked else None,
        FULL,
        accepted=False,
        told=f"{told}: {message}" if message else told,
    )
