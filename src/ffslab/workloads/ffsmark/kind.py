"""FFSMark as a kind of workload."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_own_state, check_writable, refuse
from ffslab.workloads.contents import share_problem
from ffslab.workloads.ffsmark.keys import Ffsmark


class FfsmarkType(WorkloadType[Ffsmark]):
    """FFSMark as a kind of workload, and what a study without a kind means."""

    settings = Ffsmark
    assumed = True

    def check(self, workload: Ffsmark, setting: Setting) -> None:
        """SpecError for sizes in the wrong order, a flash that is read only, or another state."""
        check_writable(self.kind, setting)
        check_own_state("FFSMark", setting)
        refuse(share_problem(workload), setting)
        if workload.size_min > workload.size_max:
            raise SpecError(
                f"{setting.where}: size_min {workload.size_min} is above size_max "
                f"{workload.size_max}",
                cause="settings of the workload that contradict each other",
                remedy=f"workload.size_max = {workload.size_min} or more",
            )


WORKLOAD = FfsmarkType()
