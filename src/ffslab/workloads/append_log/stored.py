"""The key of a result that is append-log's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult, PhaseTask


class LogTimes(TypedDict):
    """What a line took."""

    line_mean_ns: float | None
    slow_share: float | None


class LogFlash(TypedDict):
    """What the flash did for the lines."""

    pages_per_line: float | None
    pages_read_per_line: float | None
    erases_per_1000_lines: float | None


class LogResult(LogTimes, LogFlash):
    """The agent's record, and the figures of it."""

    lines: int
    lines_done: int
    synced: int
    rotations: int
    bytes: int
    stopped: str
    tasks: list[PhaseTask]


class LogKeys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    append_log: NotRequired[LogResult | None]


def log_of(result: CaseResult) -> LogResult | None:
    """The key `append_log` of a result of whichever workload."""
    return cast(LogKeys, result).get("append_log")
