"""A finding of power cuts once more, and as small as it can be, as `ffslab crash` asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ffslab.errors import UsageError
from ffslab.targets.several import Found, Replayed
from ffslab.workloads.cuts.explore import minimize, replay, sequence_again
from ffslab.workloads.cuts.stored import StoredFinding, cuts_result


def replayed(asked: Found) -> Replayed:
    """Runs the state of a finding."""
    if asked.calls is not None:
        raise UsageError(
            f"finding {asked.finding['id']} is of a power cut, whose calls are those of its case",
            cause="--calls is for findings of random operations",
            remedy="leave --calls out",
        )
    where = _where(asked)
    return sequence_again.replayed(where) if "calls" in where.finding else replay.replayed(where)


def minimized(asked: Found, tell: Callable[[str], None]) -> str:
    """The shortest history found in which a cut of the same kind does the same harm."""
    where = _where(asked)
    if "calls" in where.finding:
        return sequence_again.minimized(where, tell)
    return minimize.minimized(where, tell).text


def _where(asked: Found) -> replay.Where:
    cuts = cuts_result(asked.result)
    assert cuts is not None  # it has the finding
    finding = cast(StoredFinding, asked.finding)
    return replay.Where(asked.case, cuts, finding, asked.directory, asked.guests, asked.room)
