"""The key of a result that is probe's own: its types (docs/metrics.md says what it has)."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class ProbePhase(TypedDict):
    """A phase; of those that are no probe of the agent, `count` is 1 and `bytes` 0.

    `cpu_ns`: of the task that asked; null where it is not known.
    """

    phase: str
    count: int
    bytes: int
    duration_ns: int
    cpu_ns: int | None


class ProbeResult(TypedDict):
    """The phases that came to their end."""

    phases: list[ProbePhase]


class ProbeKeys(TypedDict):
    """Null if the guest did not get so far."""

    probe: NotRequired[ProbeResult | None]


def probe_of(result: CaseResult) -> ProbeResult | None:
    """The key `probe` of a result of whichever workload."""
    return cast(ProbeKeys, result).get("probe")
