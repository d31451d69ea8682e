"""The plans of tiobench: one guest prepares the flash, a second one measures on a copy.

The first takes nothing from the case but its state, so that all cases of a state share it. The file of invalid
data goes right before the files are created. Without a remount one guest does both.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.workloads.plans import measuring_plan, preparing_plan, state_keys, workload_line
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of the guest that measures."""
    prepare = step("prepare", dir=rig.directory, **state_keys(case), seed=case.seed)
    bench = workload_line(case, rig, **_removal_keys(case))
    if not case.state.remount:
        return (measuring_plan(case, rig, [prepare, bench], prepared=False),)
    return (
        preparing_plan(case, rig, [prepare]),
        measuring_plan(case, rig, [bench], prepared=True),
    )


def _removal_keys(case: Case) -> dict[str, object]:
    """What the step is told of invalid data; nothing if the state has none."""
    state = case.state
    if state.kind != "saturated" and not state.invalid_percent:
        return {}
    return {"remove": 1, "settle_ms": state.settle_ms}
