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

# Phases of the device: those that are operations of the flash, in order.
FLASH_PHASES = ("program", "read", "read-part", "read-oob", "erase", "program-oob")
# NOR flash has no OOB area, and not every driver programs one alone.
_MAY_FAIL = ("read-oob", "program-oob")
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
    work = _mounted(case, workload, rig) if case.filesystem.is_mounted else _bare(workload, rig)
    lines = [*rig.begin(case, trace=case.trace), *rig.erase(), *work, *rig.statistics()]
    return (plan_of(lines),)


def _bare(workload: Probe, rig: Rig) -> list[str]:
    return [
        *(_cpu_line(what, workload, share) for what, share in CPU_PHASES.items()),
        *(
            line
            for what in FLASH_PHASES
            for line in rig.probe_device(
                what=what,
                phase=what,
                blocks=workload.blocks,
                **({"may_fail": 1} if what in _MAY_FAIL else {}),
            )
        ),
        # What is left of the last is nothing that a file system should find.
        *rig.erase(),
    ]


def _cpu_line(what: str, workload: Probe, share: float) -> str:
    return step("probe-cpu", what=what, phase=what, count=max(round(workload.calls * share), 1))


def _mounted(case: Case, workload: Probe, rig: Rig) -> list[str]:
    place = f"{rig.directory}/{_DIRECTORY}"
    quiet = rig.settle(quiet_ms=SETTLE_QUIET_MS, may_fail=1)
    directories = -(-workload.files // _IN_EACH)
    create = step(
        "tree-create",
        dir=place,
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
        step("tree-copy", **{"from": place}, dir=f"{place}2", phase="copy-files"),
        step("sync", target=rig.directory, phase="copy-sync"),
        *quiet,
        step("tree-list", dir=place, phase="list"),
        *rig.unmount(case, named=str),
        *rig.mount(case, named=str),
        *quiet,
        step("tree-list", dir=place, phase="list-again"),
        step("tree-delete", dir=place, phase="delete"),
        step("sync", target=rig.directory, phase="delete-sync"),
        *rig.unmount(case),
    ]
