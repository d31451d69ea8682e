"""What was measured, from the results of a run of the workload probe. Pure.

A reading is a time: how long a phase took, and of an operation of the flash also how long the
processor was busy with it, which is what tells a driver that sleeps from one that does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from ffslab.errors import UsageError
from ffslab.program import program
from ffslab.results.result import CaseResult
from ffslab.workloads.probe.plan import FLASH_PHASES
from ffslab.workloads.probe.stored import probe_of

PASS = "pass"
DEVICE = "mtd"  # the case without a file system
_POLLED_SHARE = 0.8  # of an erase, during which the processor has next to nothing to do


@dataclass(frozen=True, order=True, slots=True)
class Key:
    """Which time: of a case (file system and compression), of a phase; `busy`: of the CPU."""

    case: str
    phase: str
    busy: bool = False

    @property
    def is_of_flash(self) -> bool:
        """Whether it is an operation of the bare device."""
        return self.case == DEVICE and self.phase in FLASH_PHASES

    @property
    def least_ns(self) -> float:
        """What is shorter is lost in what a phase has around it.

        With a file system a timer that falls into a phase or does not moves it by much more.
        """
        return 100_000.0 if self.case == DEVICE else 5_000_000.0

    def __str__(self) -> str:
        return f"{self.case} {self.phase}{', CPU' * self.busy}"


Readings = Mapping[Key, float]


def case_of(spec: Mapping[str, Any]) -> str:
    """What a case is called here: its file system, with the compression if it can be chosen."""
    filesystem = spec["filesystem"]
    compression = filesystem.get("options", {}).get("compression", "")
    return f"{filesystem['name']}{'-' * bool(compression)}{compression}"


def readings_of(results: Iterable[CaseResult], where: str) -> dict[Key, float]:
    """All times of a run's cases that passed, in ns; of a case that was repeated the medians.

    UsageError if none is there, or nothing of the bare device, without which no figure of the chip
    is to be had.
    """
    each: dict[Key, list[float]] = {}
    for result in results:
        for key, value in _of_result(result).items() if result["outcome"] == PASS else ():
            each.setdefault(key, []).append(value)
    found = {key: median(values) for key, values in each.items()}
    missing = [phase for phase in ("program", "read", "erase") if Key(DEVICE, phase) not in found]
    if missing:
        raise UsageError(
            f"{where} has no time of: {', '.join(f'{phase} ({DEVICE})' for phase in missing)}",
            cause="it is not a run of the workload probe, or its case on the bare device failed",
            remedy=f"{program()} run probe, which says what failed",
        )
    return found


def _of_result(result: CaseResult) -> dict[Key, float]:
    probe = probe_of(result)
    case = case_of(result["spec"])
    found: dict[Key, float] = {}
    for phase in probe["phases"] if probe else ():
        name = phase["phase"]
        found[Key(case, name)] = float(phase["duration_ns"])
        if phase["cpu_ns"] is not None and name in FLASH_PHASES:
            found[Key(case, name, busy=True)] = float(phase["cpu_ns"])
    return found


def wait_of(readings: Readings) -> str | None:
    """How the driver waits for the chip; None where the CPU time is not known."""
    busy = readings.get(Key(DEVICE, "erase", busy=True))
    if busy is None:
        return None
    return "polled" if busy > _POLLED_SHARE * readings[Key(DEVICE, "erase")] else "interrupt"
