"""Workload `capacity` as a kind of workload."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.capacity.keys import Capacity
from ffslab.workloads.checks import Problem, check_writable, refuse
from ffslab.workloads.contents import least_stored, share_problem

_REQUEST_BYTES = (512, 2**26)
MOST_REQUESTS = 500_000  # that the agent records


class CapacityType(WorkloadType[Capacity]):
    """Filling a partition as a kind of workload."""

    settings = Capacity

    def check(self, workload: Capacity, setting: Setting) -> None:
        """SpecError for a size of requests that cannot be, or gives too many of them."""
        check_writable(self.kind, setting)
        refuse(_contents_problem(workload), setting)
        least, most = _REQUEST_BYTES
        if not least <= workload.request_bytes <= most:
            raise SpecError(
                f"{setting.where}: request_bytes is {workload.request_bytes:,}, not from {least} "
                f"to {most:,}",
                cause="a size in another unit",
                remedy='workload.request_bytes = "128 KiB"',
            )
        if requests_of(workload, setting.partition_bytes) > MOST_REQUESTS:
            fewest = -(-setting.partition_bytes // (MOST_REQUESTS - 1))
            raise SpecError(
                f"{setting.where}: {format_size(setting.partition_bytes)} in requests of "
                f"{workload.request_bytes:,} bytes are more than {MOST_REQUESTS:,}",
                cause="each request is recorded",
                remedy=f"workload.request_bytes = {fewest} or more",
            )


def _contents_problem(workload: Capacity) -> Problem | None:
    if not least_stored(workload):
        return (
            f"{workload.contents} contents need not fill a partition",
            "a file system that compresses stores next to nothing of them",
            'workload.contents = "random", or contents of which less is saved',
        )
    return share_problem(workload)


def requests_of(workload: Capacity, partition_bytes: int) -> int:
    """More than fit into the partition, however they are compressed."""
    most_bytes = int(partition_bytes / least_stored(workload))
    return -(-most_bytes // workload.request_bytes) + 1


WORKLOAD = CapacityType()
