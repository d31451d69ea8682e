"""The key of a result that is capacity's own: its types (docs/result-format.md describes them)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult, PhaseTask
from ffslab.workloads.micro.stored import SlowestResult, SummaryResult


class ReturnedResult(TypedDict):
    """What statfs(2) said is available when the file was gone; null if it was not asked."""

    deleted_bytes: int | None
    synced_bytes: int | None
    settled_bytes: int | None


class CapacityResult(ReturnedResult):
    """One file until the partition was full. `promised_bytes`: available before, by statfs(2).

    `latency` of all writes that ended; `peaks` are the longest of them with their causes.
    """

    request_bytes: int
    promised_bytes: int
    written_bytes: int
    partition_share: float
    again_bytes: int | None
    latency: SummaryResult | None
    peaks: list[SlowestResult]
    tasks: list[PhaseTask]


class CapacityKeys(TypedDict):
    """Null if the records contradict each other, or the guest did not get so far."""

    capacity: NotRequired[CapacityResult | None]


def capacity_of(result: CaseResult) -> CapacityResult | None:
    """The key `capacity` of a result of whichever workload."""
    return cast(CapacityKeys, result).get("capacity")
