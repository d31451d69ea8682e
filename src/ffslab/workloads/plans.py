"""The plans of a case's guests: text, made by its workload and the rig of a target.

A case is a chain of guests: each but the first gets the flash that the one before it left, and the
last is the case's own, in which is measured what the case is about. What a plan depends on is in
it, so that cases whose first guests do the same share them.

The order in a guest is the experiment's: begin to count, get a file system, wait until it has
formatted, run the workload, unmount. Everything between `monitor` and the last snapshot is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.protocol.plan import VERIFY, labelled, plan_of, step
from ffslab.workloads.modules import plan_module
from ffslab.workloads.rig import Rig

SETTLE_QUIET_MS = 2000
# After the mount of a prepared flash. Shorter than the pace of YAFFS2's background collector (a
# block in 2 s), which would otherwise undo the state before the workload begins.
_MOUNTED_QUIET_MS = 1000
_MOUNTED_MAX_MS = 60_000
_OF_THE_PLAN = ("kind", "settle")  # keys of workloads that their step does not have


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the case's guests in order; the last is that of its own."""
    return plan_module(case.workload.kind).guest_plans(case, rig)


def guest_case(case: Case) -> Case:
    """The case as its guests get it: some workloads need more memory than the board has."""
    function = getattr(plan_module(case.workload.kind), "guest_case", None)
    changed: Case = function(case) if function else case
    return changed


def guest_files(case: Case, rig: Rig, plan: str) -> tuple[GuestFile, ...]:
    """What the guest with that plan has in its root beside agent, plan and modules.

    Only the case's own has anything: those before it serve other cases as well.
    """
    make_files = getattr(plan_module(case.workload.kind), "guest_files", None)
    if make_files is None or plan != guest_plans(case, rig)[-1]:
        return ()
    files: tuple[GuestFile, ...] = make_files(case, rig)
    return files


def preparing_plan(case: Case, rig: Rig, work: Iterable[str]) -> str:
    """A guest that formats an erased flash, does `work` and leaves it unmounted."""
    return plan_of(
        [
            *rig.begin(case, trace=False),
            *rig.erase(),
            *rig.mount(case, new=True),
            *_settled(rig, prepared=False),
            *work,
            *_end(case, rig),
        ]
    )


def measuring_plan(
    case: Case,
    rig: Rig,
    work: Iterable[str],
    *,
    prepared: bool,
    settle: bool = True,
    verify: bool = False,
) -> str:
    """The case's own guest: `work` on a new file system, or on a `prepared` one.

    `settle`: it first waits until the flash is quiet. `verify`: once all is counted, another mount
    has to give back the tree that `work` left.
    """
    mounted = rig.mount(case) if prepared else [*rig.erase(), *rig.mount(case, new=True)]
    return plan_of(
        [
            *rig.begin(case, trace=case.trace),
            *mounted,
            *(_settled(rig, prepared=prepared) if settle else ()),
            *work,
            *rig.kept_files(case),
            *(_tree(rig, "before") if verify else ()),
            *_end(case, rig.staying() if verify else rig),
            *rig.statistics(),
            *(_mounted_again(case, rig.staying()) if verify else ()),
        ]
    )


def workload_line(case: Case, rig: Rig, **further: object) -> str:
    """The agent's step of the case's workload: all its keys, and `further` ones."""
    keys = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in case.workload.spec.items()
        if name not in _OF_THE_PLAN and value != ""
    }
    return step(case.workload.kind, dir=rig.directory, **keys, **further, seed=case.seed)


def plans_on_state(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of a workload that is one step on a prepared flash.

    One guest prepares the flash, a second one does the step on a copy. The first takes nothing from
    the case but its state, so that all cases of a state share it. The step itself removes the file
    of invalid data, right before it begins. Without a remount one guest does both.
    """
    prepare = step("prepare", dir=rig.directory, **state_keys(case), seed=case.seed)
    work = workload_line(case, rig, **_removal_keys(case))
    if not case.state.remount:
        return (measuring_plan(case, rig, [prepare, work], prepared=False),)
    return (
        preparing_plan(case, rig, [prepare]),
        measuring_plan(case, rig, [work], prepared=True),
    )


def _removal_keys(case: Case) -> dict[str, object]:
    """What the step is told of invalid data; nothing if the state has none."""
    state = case.state
    if state.kind != "saturated" and not state.invalid_percent:
        return {}
    return {"remove": 1, "settle_ms": state.settle_ms}


def shares_of(case: Case) -> dict[str, Any]:
    """The data of an aged state, for a step that prepares it."""
    state = case.state
    return {"valid_percent": state.valid_percent, "invalid_percent": state.invalid_percent}


def state_keys(case: Case) -> dict[str, Any]:
    """The state as the keys of a step `prepare`."""
    state = case.state
    if state.kind == "aged":
        return {"state": state.kind, **shares_of(case)}
    if state.kind == "filled":
        whole = state.rate_of_bytes or case.partition_bytes
        return {"state": state.kind, "rate_percent": state.rate_percent, "partition_bytes": whole}
    return {"state": state.kind}


def _settled(rig: Rig, *, prepared: bool) -> list[str]:
    """Waits until the flash is quiet.

    The background formatting of an empty file system is not the workload's cost; nor is the check
    of all nodes that some make after a mount. A collector that never rests on a prepared flash is
    no failure: the step's end is in the result.
    """
    wait: dict[str, object] = {"quiet_ms": SETTLE_QUIET_MS}
    if prepared:
        wait = {"quiet_ms": _MOUNTED_QUIET_MS, "max_ms": _MOUNTED_MAX_MS, "may_fail": 1}
    return [*rig.snapshot("mounted"), *rig.settle(**wait), *rig.snapshot("settled")]


def _end(case: Case, rig: Rig) -> list[str]:
    """Unmounts, and counts for the last time."""
    return [*rig.unmount(case), *rig.snapshot("unmounted")]


def _tree(rig: Rig, part: str) -> list[str]:
    return labelled(VERIFY, [step("userland-verify", dir=rig.directory, part=part)])


def _mounted_again(case: Case, rig: Rig) -> list[str]:
    """A file system that does not mount any more is as bad as one that shows something else."""
    return [
        *labelled(VERIFY, rig.mount(case)),
        *_tree(rig, "after"),
        *labelled(VERIFY, rig.unmount(case)),
    ]
