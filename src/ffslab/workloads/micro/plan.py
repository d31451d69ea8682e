"""The plans of a micro-benchmark: one guest prepares the flash, a second one measures on a copy.

The first takes nothing from the case but what determines the state, so that cases which differ in
their requests share it. Without a remount one guest does both.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.workloads.contents import plan_keys
from ffslab.workloads.micro.keys import Micro
from ffslab.workloads.plans import measuring_plan, preparing_plan, state_keys, workload_line
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of the guest that measures."""
    workload = case.workload
    assert isinstance(workload, Micro)
    prepare, measure = _prepare_line(case, workload, rig), _measure_line(case, workload, rig)
    if not case.state.remount:
        return (measuring_plan(case, rig, [prepare, measure], prepared=False),)
    return (
        preparing_plan(case, rig, [prepare]),
        measuring_plan(case, rig, [measure], prepared=True),
    )


def _prepare_line(case: Case, workload: Micro, rig: Rig) -> str:
    """What a preparation depends on: the state, and whether there must be a test file."""
    state = case.state
    keys = state_keys(case)
    if workload.existing or state.kind == "filled":
        keys |= {"file_bytes": workload.test_file_bytes, "limit": int(workload.limit)}
    return step(
        "prepare",
        dir=rig.directory,
        **keys,
        test_file=int(workload.existing),
        **(plan_keys(workload) if workload.existing else {}),
        seed=case.seed,
    )


def _measure_line(case: Case, workload: Micro, rig: Rig) -> str:
    state = case.state
    # What a preparation with a test file has made invalid is gone already, but for aged's.
    left = state.kind == "aged" and state.invalid_percent > 0
    fresh = state.kind in ("saturated", "filled") and not workload.existing
    return workload_line(case, rig, remove=int(left or fresh), settle_ms=state.settle_ms)
