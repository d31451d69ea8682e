"""What a run is told, and what it tells of each case: values that several modules share."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.case import Case
from ffslab.results.result import CaseResult, WallResult


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How cases are run; nothing here may change a result."""

    jobs: int
    timeout_s: float
    keep_flash: bool = False
    host_cpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDone:
    """A case that has just ended, for whoever shows the progress."""

    case: Case
    result: CaseResult
    wall_ns: int


def wall_of(case: Case, wall_ns: int, virtual_ns: int | None, host_cpu: int | None) -> WallResult:
    """How long a case took the host."""
    ratio = virtual_ns / wall_ns if virtual_ns and wall_ns else None
    return {
        "id": case.id,
        "wall_ns": wall_ns,
        "virtual_ns": virtual_ns,
        "virtual_per_wall": ratio,
        "host_cpu": host_cpu,
    }
