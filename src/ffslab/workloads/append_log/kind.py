"""append-log as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.checks import Problem, check_writable, refuse, settle_problem
from ffslab.workloads.contents import fits, share_problem

_LINE_BYTES = (16, 2**16)  # the agent's bounds


class AppendLogType(WorkloadType[AppendLog]):
    """append-log as a kind of workload."""

    settings = AppendLog
    state_keys = ("settle_ms", "remount")

    def check(self, workload: AppendLog, setting: Setting) -> None:
        """SpecError for sizes that contradict each other, or a state that it cannot have."""
        check_writable(self.kind, setting)
        refuse(settle_problem(setting, "line"), setting)
        refuse(_size_problem(workload, setting.partition_bytes), setting)


def _size_problem(workload: AppendLog, partition_bytes: int) -> Problem | None:
    least, most = _LINE_BYTES
    cause = "settings of the workload that contradict each other"
    if not least <= workload.line_bytes <= most:
        return (
            f"line_bytes is {workload.line_bytes}, not from {least} to {most:,}",
            "a line holds its number and a line feed, and is written at once",
            f"workload.line_bytes = {least} or more",
        )
    if 0 < workload.rotate_bytes < workload.line_bytes:
        return (
            f"rotate_bytes {format_size(workload.rotate_bytes)} is less than one line of "
            f"{format_size(workload.line_bytes)}",
            cause,
            f"workload.rotate_bytes = {workload.line_bytes} or more, or 0 for no rotation",
        )
    if not fits(workload, workload.kept_bytes, partition_bytes, may_fill=True):
        return (
            f"the log grows to {format_size(workload.kept_bytes)}, on a partition of "
            f"{format_size(partition_bytes)}",
            f"no file system makes {workload.contents} contents so small",
            "fewer lines; or rotate_bytes and keep, so that old files are deleted",
        )
    return share_problem(workload)


WORKLOAD = AppendLogType()
