"""The key of a result that is tiobench's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.protocol.records import TaskRecord
from ffslab.results.result import CaseResult, PhaseTask


class SlowestRequest(TypedDict):
    """The slowest request of a phase, and what each task asked of the flash during it."""

    thread: int
    request: int
    offset: int
    t_start_ns: int
    latency_ns: int
    tasks: list[TaskRecord]


class TioPhase(TypedDict):
    """A phase with requests: the agent's record, and the figures of it."""

    phase: str
    op: str
    threads: int
    block_bytes: int
    file_bytes: int
    requests: int
    requests_done: int
    above_2s: int
    above_10s: int
    stopped: str
    throughput_bytes_per_s: float
    on_flash_bytes_per_s: float | None
    off_chip_share: float | None
    p95_ns: int | None
    above_2s_share: float | None
    above_10s_share: float | None
    on_flash_pages: int | None
    on_flash_amplification: float | None
    slowest: SlowestRequest | None


class TioResult(TypedDict):
    """The phases with requests, and what each task did in all phases."""

    phases: list[TioPhase]
    tasks: list[PhaseTask]


class TioKeys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    tiobench: NotRequired[TioResult | None]


def tio_of(result: CaseResult) -> TioResult | None:
    """The key `tiobench` of a result of whichever workload."""
    return cast(TioKeys, result).get("tiobench")
