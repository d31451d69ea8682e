"""wear as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from itertools import pairwise

from ffslab.errors import SpecError
from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_own_state, check_writable, refuse
from ffslab.workloads.contents import fits, share_problem
from ffslab.workloads.wear.keys import Wear

_MOST_VOLUMES = 16  # the agent's bounds
_MOST_UNIT = 64 * 2**20


class WearType(WorkloadType[Wear]):
    """wear as a kind of workload."""

    settings = Wear

    def check(self, workload: Wear, setting: Setting) -> None:
        """SpecError for sizes that contradict each other, or a state that it cannot have."""
        check_writable(self.kind, setting)
        check_own_state(self.kind, setting)
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: {self.kind} begins on an empty file system",
                cause="it knows only the blocks of static data that it wrote itself",
                remedy='state = "free"; workload.static_bytes says how much stays',
            )
        problem = _problem(workload, setting.partition_bytes)
        if problem is not None:
            message, remedy = problem
            refuse(
                (message, "settings of the workload that contradict each other", remedy), setting
            )
        refuse(share_problem(workload), setting)


def _problem(workload: Wear, partition_bytes: int) -> tuple[str, str] | None:
    example = 'workload.volumes = "1 GB, 3 GB, 5 GB"'
    try:
        volumes = workload.volume_bytes
    except ValueError as error:
        return f"volumes: {error}", example
    if len(volumes) > _MOST_VOLUMES or volumes[0] < 1:
        return (
            f"volumes has {len(volumes)} entries, or one that is 0",
            f"1 to {_MOST_VOLUMES} volumes, the smallest first",
        )
    if any(low >= high for low, high in pairwise(volumes)):
        return "volumes do not rise", example
    if not 1 <= workload.unit_bytes <= _MOST_UNIT or not workload.file_bytes:
        return "unit_bytes or file_bytes is out of bounds", "unit_bytes from 1 B to 64 MiB"
    if workload.pattern == "overwrite" and not (
        workload.unit_bytes <= workload.file_bytes <= volumes[0]
    ):
        return (
            "overwrite needs a unit_bytes that fits into file_bytes, and a first volume in which "
            "the file fits",
            "a smaller file_bytes, or a larger first volume",
        )
    together = workload.static_bytes + workload.file_bytes
    if not fits(workload, together, partition_bytes):
        return (
            f"static data and file have {format_size(together)} together, on a partition of "
            f"{format_size(partition_bytes)}",
            "a smaller static_bytes or file_bytes: no file system makes "
            f"{workload.contents} contents so small",
        )
    return None


WORKLOAD = WearType()
