"""Micro-benchmarks as a kind of workload, and which of their settings cannot be together.

What only the file system can tell (whether a fill rate can be reached, whether a file fits) is the
agent's to report.
"""

from __future__ import annotations

from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_writable, refuse
from ffslab.workloads.contents import fits, share_problem
from ffslab.workloads.micro.keys import Micro


class MicroType(WorkloadType[Micro]):
    """Micro-benchmarks as a kind of workload."""

    settings = Micro
    state_keys = ("settle_ms", "remount")

    def check(self, workload: Micro, setting: Setting) -> None:
        """SpecError for sizes that do not fit, or keys that cannot be combined."""
        check_writable(self.kind, setting)
        problems = [
            *_size_problems(workload, setting.partition_bytes),
            *_order_problems(workload),
        ]
        if problems:
            message, remedy = problems[0]
            refuse(
                (message, "settings of the workload that contradict each other", remedy), setting
            )
        refuse(share_problem(workload), setting)


def _size_problems(workload: Micro, partition_bytes: int) -> list[tuple[str, str]]:
    file = workload.test_file_bytes
    target = workload.target_bytes or file
    request, shift = workload.request_bytes, workload.shift_bytes
    problems: list[tuple[str, str]] = []
    if request == 0 or workload.volume_bytes == 0:
        problems.append(("request_bytes and volume_bytes must be above 0", "change them"))
    if request > file:
        problems.append(
            (
                f"a request of {format_size(request)} is larger than the file of "
                f"{format_size(file)}",
                f"at most request_bytes = {file}",
            )
        )
    if request > workload.volume_bytes:
        problems.append(
            (
                f"a request of {format_size(request)} is larger than the volume of "
                f"{format_size(workload.volume_bytes)}",
                f"at least volume_bytes = {request}",
            )
        )
    if target > file:
        problems.append(
            (
                f"target_bytes {format_size(target)} is larger than the file of "
                f"{format_size(file)}",
                f"at most target_bytes = {file}",
            )
        )
    parts = workload.partitions * workload.parallel * (2 if workload.mix_pattern else 1)
    if 0 < request <= file and target <= file and request * parts + shift > target:
        problems.append(
            (
                f"a target of {format_size(target)} has no room for {parts} part(s) of one request "
                f"of {format_size(request)} with a shift of {format_size(shift)}",
                "a larger target or file, smaller requests, or fewer parts",
            )
        )
    if not workload.limit and not fits(workload, file, partition_bytes):
        problems.append(
            (
                f"a file of {format_size(file)} is larger than the partition of "
                f"{format_size(partition_bytes)}",
                "limit = true cuts it to what is usable; or a larger partition_bytes",
            )
        )
    return problems


def _order_problems(workload: Micro) -> list[tuple[str, str]]:
    patterns = [workload.pattern] + ([workload.mix_pattern] if workload.mix_pattern else [])
    problems: list[tuple[str, str]] = []
    if not workload.existing and any(pattern.endswith("read") for pattern in patterns):
        problems.append(("reads need an existing file", "existing = true"))
    ordered = workload.partitions != 1 or workload.increment != 1
    if ordered and not workload.pattern.startswith("sequential"):
        problems.append(
            (
                "partitions and increment belong to sequential patterns, "
                f"not to {workload.pattern}",
                "leave them out for random patterns: [[exclude]]",
            )
        )
    if workload.partitions != 1 and workload.increment != 1:
        problems.append(("partitions and increment cannot be combined", "leave one at 1"))
    if workload.mix_pattern == workload.pattern:
        problems.append(
            (f"mix_pattern is the pattern itself, {workload.pattern}", "name another, or none")
        )
    if workload.mix_pattern and workload.parallel > 1:
        problems.append(("mix_pattern and parallel cannot be combined", "parallel = 1"))
    return problems


WORKLOAD = MicroType()
