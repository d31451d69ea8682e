"""Workload `capacity` as a kind of workload."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.units import format_size
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.capacity.keys import Capacity
from ffslab.workloads.checks import check_writable

_REQUEST_BYTES = (512, 2**26)
MOST_REQUESTS = 500_000  # that the agent records


class CapacityType(WorkloadType[Capacity]):
    """Filling a partition as a kind of workload."""

    settings = Capacity

    def check(self, workload: Capacity, setting: Setting) -> None:
        """SpecError for a size of requests that cannot be, or gives too many of them."""
        check_writable(self.kind, setting)
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


def requests_of(workload: Capacity, partition_bytes: int) -> int:
    """More than fit into the partition: what is written cannot be compressed."""
    return -(-partition_bytes // workload.request_bytes) + 1


WORKLOAD = CapacityType()
