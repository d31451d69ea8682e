"""append-log as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.append_log.keys import AppendLog
from ffslab.workloads.checks import check_writable, settle_problem

_LINE_BYTES = (16, 2**16)  # the agent's bounds
# A log that would not fit though it were compressed so many times is a slip of the pen; whether a
# smaller one fits only the file system can tell, and then its end is a result.
_MOST_COMPRESSED = 4


class AppendLogType(WorkloadType[AppendLog]):
    """append-log as a kind of workload."""

    settings = AppendLog
    state_keys = ("settle_ms", "remount")

    def check(self, workload: AppendLog, setting: Setting) -> None:
        """SpecError for sizes that contradict each other, or a state that it cannot have."""
        check_writable(self.kind, setting)
        problem = settle_problem(setting, "line") or _size_problem(
            workload, setting.partition_bytes
        )
        if problem is not None:
            message, cause, remedy = problem
            raise SpecError(f"{setting.where}: {message}", cause=cause, remedy=remedy)


def _size_problem(workload: AppendLog, partition_bytes: int) -> tuple[str, str, str] | None:
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
    if workload.kept_bytes > _MOST_COMPRESSED * partition_bytes:
        return (
            f"the log grows to {format_size(workload.kept_bytes)}, on a partition of "
            f"{format_size(partition_bytes)}",
            "no file system compresses a log so well",
            "fewer lines; or rotate_bytes and keep, so that old files are deleted",
        )
    return None


WORKLOAD = AppendLogType()
