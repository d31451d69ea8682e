"""Workload `raw` as a kind of workload."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.raw.keys import Raw


class RawType(WorkloadType[Raw]):
    """Throughput of a raw flash device as a kind of workload."""

    settings = Raw
    mounts = False

    def check(self, workload: Raw, setting: Setting) -> None:  # noqa: ARG002  (any figures do)
        """SpecError for a state that only a file system can have."""
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: {self.kind} erases the flash first; it has no state "
                f"{setting.state.name!r}",
                cause="there is no file system that could hold data",
                remedy='state = "free"',
            )


WORKLOAD = RawType()
