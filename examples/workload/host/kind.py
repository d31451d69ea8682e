"""sample-files as a kind of workload, and which of its settings cannot be together."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_writable
from ffslab.workloads.sample_files.keys import SampleFiles

_FILE_BYTES_MAX = 2**20  # the agent's bound


class SampleFilesType(WorkloadType[SampleFiles]):
    """sample-files as a kind of workload."""

    settings = SampleFiles

    def check(self, workload: SampleFiles, setting: Setting) -> None:
        """SpecError for what the agent would refuse, or what cannot be measured."""
        check_writable(self.kind, setting)
        # A workload on a prepared state has a plan of two guests: see append_log.
        if setting.state.kind != "free":
            raise SpecError(
                f"{setting.where}: {self.kind} begins on an empty file system; it has no state "
                f"{setting.state.name!r}",
                cause="nothing prepares the flash for it",
                remedy='state = "free"',
            )
        if not 1 <= workload.file_bytes <= _FILE_BYTES_MAX:
            raise SpecError(
                f"{setting.where}: file_bytes is {workload.file_bytes}, not from 1 to "
                f"{_FILE_BYTES_MAX:,}",
                cause="a file is written with one call",
                remedy='workload.file_bytes = "4 KiB"',
            )


WORKLOAD = SampleFilesType()
