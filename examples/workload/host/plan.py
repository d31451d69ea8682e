"""The plan of sample-files: one guest, whose step has all keys of the workload."""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.workloads.plans import measuring_plan, workload_line
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the case's guests in order; the last is that of its own."""
    return (measuring_plan(case, rig, [workload_line(case, rig)], prepared=False),)
