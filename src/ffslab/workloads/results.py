"""What a case's guests have come to, in the words of its workload."""

from __future__ import annotations

from functools import partial

from ffslab.model.workload import Workload
from ffslab.results.outcome import Asked
from ffslab.workloads.parts import result_part


def asked_of(workload: Workload, *, own: bool) -> Asked:
    """What a guest was to do; one before the case's `own` measures nothing."""
    part = result_part(workload.kind)
    return Asked(part.check_records, partial(part.shortfall, workload) if own else None)
