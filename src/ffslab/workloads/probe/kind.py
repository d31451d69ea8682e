"""Workload `probe` as a kind of workload."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_writable
from ffslab.workloads.probe.keys import Probe

_FILE_BYTES = (1, 2**26)


class ProbeType(WorkloadType[Probe]):
    """Single operations as a kind of workload: of the bare device, or of a file system."""

    settings = Probe
    mounts = None

    def check(self, workload: Probe, setting: Setting) -> None:
        """SpecError for a state, and for what the partition cannot hold."""
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: {self.kind} erases the flash first; it has no state "
                f"{setting.state.name!r}",
                cause="the contents of the flash would be part of the measurement",
                remedy='state = "free"',
            )
        least, most = _FILE_BYTES
        if not least <= workload.file_bytes <= most:
            raise SpecError(
                f"{setting.where}: file_bytes is {workload.file_bytes:,}, not from {least} to "
                f"{most:,}",
                cause="a size in another unit",
                remedy='workload.file_bytes = "16 KiB"',
            )
        if setting.setup.is_mounted:
            check_writable(self.kind, setting)


WORKLOAD = ProbeType()
