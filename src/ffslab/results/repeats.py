"""Repeats of a case on a real clock: which one stands for all, and how far they spread. Pure.

Of an odd number of repeats the one in the middle, by the time of all its phases, is the case that a
report shows: it was measured as it is, so that its figures fit each other. Beside it stand the
median and the range of each figure over all repeats. A repeat that failed stands for the case, for
a failure is never hidden by others that passed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from ffslab.model.canonical import canonical_json
from ffslab.model.specs import FIRST_REPEAT, REPEAT
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import is_good


def group_of(result: CaseResult) -> str:
    """Equal for the repeats of one case."""
    return canonical_json({k: v for k, v in result["spec"].items() if k != REPEAT})


def middle(repeats: Sequence[CaseResult]) -> CaseResult:
    """The repeat that stands for all, called as the first is."""
    bad = [repeat for repeat in repeats if not is_good(repeat)]
    ordered = bad[:1] or sorted(repeats, key=_time_ns)
    chosen = ordered[(len(ordered) - 1) // 2]
    first = next((repeat for repeat in repeats if _number(repeat) == FIRST_REPEAT), repeats[0])
    named = {key: first[key] for key in ("id", "axes", "spec", "spec_hash")}
    return cast(CaseResult, {**chosen, **named})


def middles(results: Iterable[CaseResult], repeated: Collection[str]) -> Iterator[CaseResult]:
    """Results with one in place of the repeats of a case, where the first of them is.

    `repeated` are the ids of all repeats but the first. Without any, results pass one by one; else
    all are kept at once: a board runs tens of cases, not thousands.
    """
    if not repeated:
        yield from results
        return
    groups: dict[str, list[CaseResult]] = {}
    for result in results:
        groups.setdefault(group_of(result), []).append(result)
    yield from map(middle, groups.values())


def _number(result: CaseResult) -> int:
    return int(result["spec"].get(REPEAT, FIRST_REPEAT))


def _time_ns(result: CaseResult) -> int:
    return sum(phase["duration_ns"] for phase in result["phases"])
