"""The plan of `probe`: one guest, on the bare device or with a file system.

On the device each operation is asked for one at a time, so that it is not mixed with a loop. With a
file system there are the pieces of its life between which nothing is left to do: files of text are
created and synced, copied from the flash, listed, and all is unmounted and mounted again. No phase
has the agent compute, for on a board that takes time too: the files' texts are made in `create`,
which is no phase of the result.
"""

from __future__ import annotations

from collections.abc import Mapping

from ffslab.model.case import Case
from ffslab.protocol.plan import plan_of, step
from ffslab.workloads.plans import SETTLE_QUIET_MS
from ffslab.workloads.probe.keys import Probe
from ffslab.workloads.rig import Rig

# Phases of the device that are operations of the flash, in order: of NAND, and of NOR, which has no
# OOB area, but reads any number of bytes with one command and programs single ones.
_OF_NAND = ("program", "read", "read-part", "read-oob", "erase", "program-oob")
_OF_NOR = ("program", "read", "read-part", "read-block", "erase", "program-part")
FLASH_PHASES = tuple(dict.fromkeys((*_OF_NAND, *_OF_NOR)))
# Not every driver reads or programs an OOB area alone.
_MAY_FAIL = ("read-oob", "program-oob")
# Of NOR the bytes of a request that is a part of a page: as few as make a difference.
_PART_BYTES = {"read-part": 16, "program-part": 1}
# Those of the processor: operations for each of `calls`; the large ones move 64 KiB each.
CPU_PHASES: Mapping[str, float] = {
    "syscall": 10,
    "open": 1,
    "switch": 1,
    "copy": 0.1,
    "set": 0.1,
    "user-copy": 0.1,
    "user-crc32": 0.02,
}
MOUNTED_PHASES = (
    *("sync", "copy-files", "copy-sync", "list", "unmount", "detach"),
    *("attach", "mount", "list-again", "delete", "delete-sync"),
)
_DIRECTORY = "probe"
_IN_EACH = 8  # files of a directory


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the only guest."""
    workload = case.workload
    assert isinstance(workload, Probe)
    is_mounted = case.filesystem.is_mounted
    work = _mounted(case, workload, rig) if is_mounted else _bare(case, workload, rig)
    lines = [*rig.begin(case, trace=case.trace), *rig.erase(), *work, *rig.statistics()]
    return (plan_of(lines),)


def _bare(case: Case, workload: Probe, rig: Rig) -> list[str]:
    return [
        *(_cpu_line(what, workload, share) for what, share in CPU_PHASES.items()),
        *(
            line
            for what in (_OF_NOR if case.board.chip.is_nor else _OF_NAND)
            for line in rig.probe_device(
                what=what, phase=what, blocks=workload.blocks, **_further(what, case)
            )
        ),
        # What is left of the last is nothing that a file system should find.
        *rig.erase(),
    ]


def _further(what: str, case: Case) -> dict[str, int]:
    """What a probe of the flash needs beside its blocks."""
    if not case.board.chip.is_nor:
        return {"may_fail": 1} if what in _MAY_FAIL else {}
    part = {"bytes": _PART_BYTES[what]} if what in _PART_BYTES else {}
    return {"page_bytes": case.board.chip.page_bytes, **part}


def _cpu_line(what: str, workload: Probe, share: float) -> str:
    return step("probe-cpu", what=what, phase=what, count=max(round(workload.calls * share), 1))


def _mounted(case: Case, workload: Probe, rig: Rig) -> list[str]:
    directory = f"{rig.directory}/{_DIRECTORY}"
    quiet = rig.settle(quiet_ms=SETTLE_QUIET_MS, may_fail=1)
    directories = -(-workload.files // _IN_EACH)
    create = step(
        "tree-create",
        dir=directory,
        phase="create",
        files=f"constant({-(-workload.files // (directories + 1))})",
        directories=f"constant({directories})",
        size=f"constant({workload.file_bytes})",
        depth="constant(1)",
        contents="text",
        seed=case.seed,
    )
    return [
        *rig.mount(case, new=True),
        *quiet,
        create,
        step("sync", target=rig.directory, phase="sync"),
        *quiet,
        step("drop-caches"),
        step("tree-copy", **{"from": directory}, dir=f"{directory}2", phase="copy-files"),
        step("sync", target=rig.directory, phase="copy-sync"),
        *quiet,
        step("tree-list", dir=directory, phase="list"),
        *rig.unmount(case, named=str),
        *rig.mount(case, named=str),
        *quiet,
        step("tree-list", dir=directory, phase="list-again"),
        step("tree-delete", dir=directory, phase="delete"),
        step("sync", target=rig.directory, phase="delete-sync"),
        *rig.unmount(case),
    ]
