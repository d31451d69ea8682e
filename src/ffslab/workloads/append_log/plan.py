"""The plans of append-log: one guest prepares the flash, a second one appends on a copy.

The first takes nothing from the case but its state, so that all logs share it. Of the state
`saturated` it removes the file that filled the partition before it writes a test file, so there is
one, of one byte. Without a remount one guest does both.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.workloads.plans import measuring_plan, preparing_plan, state_keys, workload_line
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of the guest that appends."""
    prepare, append = _prepare_line(case, rig), workload_line(case, rig)
    if not case.state.remount:
        return (measuring_plan(case, rig, [prepare, append], prepared=False),)
    return (
        preparing_plan(case, rig, [prepare]),
        measuring_plan(case, rig, [append], prepared=True),
    )


def _prepare_line(case: Case, rig: Rig) -> str:
    removes = {"file_bytes": 1, "test_file": 1} if case.state.kind == "saturated" else {}
    keys = {**state_keys(case), **removes, "seed": case.seed}
    return step("prepare", dir=rig.directory, **keys)
