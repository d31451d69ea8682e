"""The plan of wear: one guest does all of it, so that every block's history is known."""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.workloads.contents import plan_keys
from ffslab.workloads.plans import measuring_plan
from ffslab.workloads.rig import Rig
from ffslab.workloads.wear.keys import Wear


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the only guest."""
    workload = case.workload
    assert isinstance(workload, Wear)
    # The keys that are not the defaults: other plans stay as they are.
    more = {} if workload.pattern == "rewrite" else {"pattern": workload.pattern}
    line = step(
        "wear",
        dir=rig.directory,
        static_bytes=workload.static_bytes,
        file_bytes=workload.file_bytes,
        unit_bytes=workload.unit_bytes,
        volumes=",".join(map(str, workload.volume_bytes)),
        seed=case.seed,
        **more,
        **plan_keys(workload),
        **({"may_fail": 1} if workload.to_death else {}),
    )
    return (measuring_plan(case, rig, [line], prepared=False),)
