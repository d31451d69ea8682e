"""The rig of a board: its flash is there already, and modules are loaded before a plan begins.

With the flash monitor a plan counts as in the lab, but for what only the virtual chip knows.
Without it what UBI and MTD count themselves is noted, at the begin and the end of what a case does.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.case import Case
from ffslab.protocol.plan import step
from ffslab.results.erase_counters import FILE
from ffslab.targets.virtual_flash import VirtualFlash
from ffslab.workloads.rig import Named

# Without the monitor nobody knows when the flash is quiet: a file system that formats in the
# background is given so much time. JFFS2 writes a marker into each erased block, in about 1 ms.
_UNWATCHED_MS = 10_000


@dataclass(frozen=True, slots=True)
class BoardFlash(VirtualFlash):
    """The steps on a board; `monitored`: flashmon is loaded there."""

    monitored: bool = False

    @property
    def cutting(self) -> None:
        """None: nobody ends a board in the middle of a flash operation."""

    def devices(self, case: Case) -> list[str]:  # noqa: ARG002
        """Nothing: what a case needs is there before its plan begins."""
        return []

    def monitor(self) -> list[str]:
        """Begins to count what the partition is asked for; the chip itself says nothing."""
        return [step("monitor", mtd=self.partition)] if self.monitored else []

    def begin(self, case: Case, *, trace: bool) -> list[str]:  # noqa: ARG002
        """Begins to count: the monitor, or what MTD has counted until here."""
        return self.monitor() or self._mtd_noted("begin")

    def settle(self, **keys: object) -> list[str]:
        """Waits until the flash is quiet, or where nobody sees that, for some time."""
        # Not super(): a dataclass with slots is another class than the one that is defined here.
        return (
            VirtualFlash.settle(self, **keys)
            if self.monitored
            else [step("sleep", ms=_UNWATCHED_MS)]
        )

    def snapshot(self, label: str) -> list[str]:
        """Notes what the monitor counted of every block."""
        return VirtualFlash.snapshot(self, label) if self.monitored else []

    def mount(self, case: Case, *, new: bool = False, named: Named | None = None) -> list[str]:
        """Attaches UBI if the file system is on it, and mounts; notes UBI's erase counters."""
        return [
            *VirtualFlash.mount(self, case, new=new, named=named),
            *self._noted(case, "mounted"),
        ]

    def unmount(self, case: Case, *, named: Named | None = None) -> list[str]:
        """Notes UBI's erase counters, and unmounts."""
        return [
            *self._noted(case, "unmounted"),
            *VirtualFlash.unmount(self, case, named=named),
        ]

    def kept_files(self, _case: Case) -> list[str]:
        """None: which number the board's partition has is not known here."""
        return []

    def statistics(self) -> list[str]:
        """Notes what MTD has counted, without the monitor: no virtual chip, no model of the CPU."""
        return [] if self.monitored else self._mtd_noted("end")

    def _mtd_noted(self, label: str) -> list[str]:
        """A step that notes what MTD counted of the partition."""
        return [step("mtd-statistics", mtd=self.partition, label=label, may_fail=1)]

    def _noted(self, case: Case, label: str) -> list[str]:
        """Steps that note what UBI counted; they may fail, for not every kernel shows it."""
        if self.monitored or case.filesystem.ubi is None:
            return []
        path = f"/sys/kernel/debug/ubi/ubi{self.ubi}/{FILE}"
        return [step("capture", path=path, label=label, may_fail=1)]
