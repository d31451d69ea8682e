"""What is left to do of a study, and how long it will take: pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ffslab.model.case import Case


def remaining(cases: Sequence[Case], done: Collection[str]) -> tuple[Case, ...]:
    """The cases that are still to run, in expansion order."""
    return tuple(case for case in cases if case.id not in done)


def host_cpu_for(slot: int, jobs: int, cpus: Sequence[int]) -> int | None:
    """The host CPU that worker `slot` pins its guests to; None if there are too few.

    More workers than CPUs would queue behind each other on a pinned one.
    """
    return cpus[slot] if cpus and jobs <= len(cpus) and slot < len(cpus) else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Progress of a run: cases and the wall time they took so far."""

    done: int
    total: int
    elapsed_s: float

    @property
    def left_s(self) -> float | None:
        """Time left if the rest goes as the cases so far; None before the first."""
        if self.done == 0:
            return None
        return self.elapsed_s / self.done * (self.total - self.done)
