"""The key of a result that is random's own; ffslab checks its types on reading."""

from __future__ import annotations

from typing import NotRequired, cast

from typing_extensions import TypedDict

from ffslab.results.result import CaseResult


class Stored(TypedDict):
    """How far the history came, and what differed: "" if nothing did.

    `round` and `operation` are where it differed, else the last that ended; `told` has the first
    names with what differs.
    """

    rounds: int
    rounds_done: int
    operations: int
    operations_done: int
    difference: str
    round: int
    operation: int
    told: list[str]


class Keys(TypedDict):
    """Null if the guest did not get so far."""

    random: NotRequired[Stored | None]


def stored_of(result: CaseResult) -> Stored | None:
    """The key `random` of a result of whichever workload."""
    return cast(Keys, result).get("random")
