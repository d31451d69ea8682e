"""The plans of `capacity`: one guest prepares the flash, a second one fills a copy of it.

The file is written by the agent's step micro, which records every request; then it is removed, and
statfs(2) is asked at once, after a sync, and when the flash is quiet.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.workloads.capacity.keys import Capacity
from ffslab.workloads.capacity.kind import requests_of
from ffslab.workloads.contents import plan_keys
from ffslab.workloads.plans import SETTLE_QUIET_MS, measuring_plan, preparing_plan, state_keys
from ffslab.workloads.rig import Rig

TEST_FILE = "ffslab.test"  # of the step micro
DELETED, SYNCED, SETTLED = "deleted", "synced", "settled"
AGAIN = "again"


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of the guest that fills."""
    workload = case.workload
    assert isinstance(workload, Capacity)
    prepare = step("prepare", dir=rig.directory, **state_keys(case), seed=case.seed)
    fill = [_fill_line(case, workload, rig), *_after(case, workload, rig)]
    if not case.state.remount:
        return (measuring_plan(case, rig, [prepare, *fill], prepared=False),)
    return (preparing_plan(case, rig, [prepare]), measuring_plan(case, rig, fill, prepared=True))


def _fill_line(case: Case, workload: Capacity, rig: Rig) -> str:
    state = case.state
    invalid = state.kind == "saturated" or state.invalid_percent
    removal = {"remove": 1, "settle_ms": state.settle_ms} if invalid else {}
    return step(
        "micro",
        dir=rig.directory,
        pattern="sequential-write",
        request_bytes=workload.request_bytes,
        volume_bytes=workload.request_bytes * requests_of(workload, case.partition_bytes),
        limit=0,
        until_full=1,
        **removal,
        **plan_keys(workload),
        seed=case.seed,
    )


def _after(case: Case, workload: Capacity, rig: Rig) -> list[str]:
    contents = plan_keys(workload)
    again = [step("tree-warm", dir=rig.directory, phase=AGAIN, **contents, seed=case.seed)]
    return [
        step("remove", path=f"{rig.directory}/{TEST_FILE}", phase="delete"),
        step("space", target=rig.directory, label=DELETED),
        step("sync", target=rig.directory, phase="delete-sync"),
        step("space", target=rig.directory, label=SYNCED),
        *rig.settle(quiet_ms=SETTLE_QUIET_MS, phase="delete-settle", may_fail=1),
        step("space", target=rig.directory, label=SETTLED),
        *(again if workload.again else ()),
    ]
