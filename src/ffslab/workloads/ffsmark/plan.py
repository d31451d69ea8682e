"""The plan of FFSMark: one guest formats, ages and measures."""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.workloads.ffsmark.keys import Ffsmark
from ffslab.workloads.plans import measuring_plan, shares_of, workload_line
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the case's only guest."""
    workload = case.workload
    assert isinstance(workload, Ffsmark)
    line = workload_line(case, rig, **shares_of(case))
    return (measuring_plan(case, rig, [line], prepared=False, settle=workload.settle),)
