"""How much less a case measured than it was asked to: pure.

A partition that fills up ends a workload early, and a file system without room for the volume of a
micro-benchmark gets a smaller one. Neither is a fault of anybody, and neither is what was asked
for: such a case has the outcome `short`, with how much of what was measured. It is accepted, which
means that it is no failure, if the study allowed it (`workload.limit` of a micro-benchmark) and a
tenth at least was measured: two requests of 320 are no measurement of 320.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.results.result import CaseHead, ShortResult

FULL = "ENOSPC"
LEAST_PERCENT = 10  # of what was asked for; less is accepted of no case


@dataclass(frozen=True, slots=True)
class Shortfall:
    """`measured` of `asked` (None: not known) of `what`.

    `stopped` is ENOSPC if the partition filled up meanwhile, and empty if the workload was made
    smaller before it began.
    """

    what: str  # bytes, transactions, files created, files deleted
    measured: int
    asked: int | None
    stopped: str
    accepted: bool
    told: str  # the outcome's reason

    @property
    def plain(self) -> ShortResult:
        """The key `short` of a result."""
        return {
            "what": self.what,
            "measured": self.measured,
            "asked": self.asked,
            "stopped": self.stopped,
            "accepted": self.accepted,
        }


def is_good(result: CaseHead) -> bool:
    """Whether a result is no failure: it passed, was skipped on purpose, or is short as allowed."""
    return result["outcome"] in ("pass", "skip") or is_accepted(
        result["outcome"], result.get("short")
    )


def is_accepted(outcome: str, short: ShortResult | None) -> bool:
    """Whether an outcome is `short` in a way that the study allows; `short` as in a result."""
    return outcome == "short" and short is not None and short["accepted"]
