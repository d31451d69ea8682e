"""tiobench as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import Problem, check_writable, refuse, settle_problem
from ffslab.workloads.contents import fits, share_problem
from ffslab.workloads.tiobench.keys import Tiobench

_BLOCK_BYTES = (16, 2**20)  # the agent's bounds
_FULL = 262_144


class TiobenchType(WorkloadType[Tiobench]):
    """tiobench as a kind of workload."""

    settings = Tiobench
    state_keys = ("settle_ms", "remount")

    def check(self, workload: Tiobench, setting: Setting) -> None:
        """SpecError for sizes that contradict each other, or a state that it cannot have."""
        check_writable(self.kind, setting)
        refuse(settle_problem(setting, "request"), setting)
        refuse(_size_problem(workload, setting.partition_bytes), setting)


def _size_problem(workload: Tiobench, partition_bytes: int) -> Problem | None:
    least, most = _BLOCK_BYTES
    if not least <= workload.block_bytes <= most:
        return (
            f"block_bytes is {workload.block_bytes}, not from {least} to {most:,}",
            "a request is made at once, in a buffer of that size",
            "workload.block_bytes = 128 KiB",
        )
    if not workload.file_blocks or not workload.random_blocks:
        return (
            f"file_bytes {format_size(workload.file_bytes)} and random_bytes "
            f"{format_size(workload.random_bytes)} have no block of "
            f"{format_size(workload.block_bytes)} for each of {workload.threads} thread(s)",
            "settings of the workload that contradict each other",
            f"at least {workload.threads * workload.block_bytes} bytes each",
        )
    if workload.full and workload.requests > _FULL:
        return (
            f"full = true would record {workload.requests:,} latencies, and there is room for "
            f"{_FULL:,}",
            "they stay in the guest's memory until the last phase has ended",
            "larger blocks, smaller files, or full = false",
        )
    if not fits(workload, workload.file_bytes, partition_bytes):
        return (
            f"files of {format_size(workload.file_bytes)} on a partition of "
            f"{format_size(partition_bytes)}",
            f"no file system makes {workload.contents} contents so small",
            "a smaller file_bytes, or a larger partition_bytes",
        )
    return share_problem(workload)


WORKLOAD = TiobenchType()
