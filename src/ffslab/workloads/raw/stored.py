"""The key of a result that is raw's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class RawPhase(TypedDict):
    """A phase; `published_bytes_per_s`, `difference` and `agrees` are null if nothing is published.

    `difference`: measured ÷ published - 1.
    """

    phase: str
    bytes: int
    duration_ns: int
    raw_bytes_per_s: float
    published_bytes_per_s: float | None
    difference: float | None
    agrees: bool | None


class RawResult(TypedDict):
    """The phases that came to their end; `within` as a share."""

    within: float
    phases: list[RawPhase]


class RawKeys(TypedDict):
    """Null if the guest did not get so far."""

    raw: NotRequired[RawResult | None]


def raw_of(result: CaseResult) -> RawResult | None:
    """The key `raw` of a result of whichever workload."""
    return cast(RawKeys, result).get("raw")
