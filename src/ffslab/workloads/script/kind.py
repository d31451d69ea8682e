"""script as a kind of workload, and which of its settings cannot be."""

from __future__ import annotations

import shlex

from ffslab.errors import SpecError
from ffslab.model.workload import Setting, WorkloadType
from ffslab.workloads.checks import check_writable
from ffslab.workloads.script.keys import Script


class ScriptType(WorkloadType[Script]):
    """script as a kind of workload."""

    settings = Script
    state_keys = ("settle_ms", "remount")

    def check(self, workload: Script, setting: Setting) -> None:
        """SpecError without a script, or for arguments that no shell could read."""
        check_writable(self.kind, setting)
        if not workload.script:
            raise SpecError(
                f"{setting.where}: workload.script is missing",
                cause="the kind script runs a script of yours",
                remedy='workload.script = "mine.sh", beside the study\'s file',
            )
        try:
            shlex.split(workload.arguments)
        except ValueError as error:
            raise SpecError(
                f"{setting.where}: workload.arguments: {error}",
                cause="a quote that is not closed",
                remedy="write them as on a command line",
            ) from error


WORKLOAD = ScriptType()
