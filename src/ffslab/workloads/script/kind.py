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
        """SpecError without a script or a command, or for words that no shell could read."""
        check_writable(self.kind, setting)
        if not workload.script and not workload.command:
            raise SpecError(
                f"{setting.where}: workload.script is missing",
                cause="the kind script runs a script of yours, or a command",
                remedy='workload.script = "mine.sh", beside the study\'s file, or '
                'workload.command = "sqlite3 ..."',
            )
        if workload.command and (workload.script or workload.arguments):
            raise SpecError(
                f"{setting.where}: workload.command beside workload."
                f"{'script' if workload.script else 'arguments'}",
                cause="a command has its own words, and takes the place of a script",
                remedy="leave out one of the two",
            )
        for name in ("arguments", "command"):
            try:
                shlex.split(getattr(workload, name))
            except ValueError as error:
                raise SpecError(
                    f"{setting.where}: workload.{name}: {error}",
                    cause="a quote that is not closed",
                    remedy="write it as on a command line",
                ) from error


WORKLOAD = ScriptType()
