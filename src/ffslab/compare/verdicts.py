"""What is to be said of a figure, and of a case, that was measured twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from ffslab.compare.band import Band
from ffslab.compare.ratios import RatioSummary, mean
from ffslab.results.schema import Better


class Verdict(StrEnum):
    """The words. A figure has one of the first nine, a case any."""

    WORSE = "worse"
    BETTER = "better"
    UNJUDGED = "not judged"  # differs between builds, and neither a band nor a threshold was given
    DIFFERENT = "different"  # a figure of which neither more nor less is better
    MIXED = "seeds disagree"
    BAND = "within the band"
    THRESHOLD = "within the threshold"
    SAME = "same"
    INCOMPARABLE = "not comparable"
    NEWLY_FAILING = "newly failing"
    FIXED = "fixed"
    FAILING = "still failing"
    MISSING = "missing"
    NEW = "new"


# Of a case's figures the first of these that one of them has is what is said of the case.
GRAVEST = (
    Verdict.WORSE,
    Verdict.UNJUDGED,
    Verdict.MIXED,
    Verdict.BETTER,
    Verdict.DIFFERENT,
    Verdict.INCOMPARABLE,
    Verdict.THRESHOLD,
    Verdict.BAND,
    Verdict.SAME,
)
# A change that is to be shown: more than chance, and more than the user cares for.
CHANGES = frozenset(
    {Verdict.WORSE, Verdict.UNJUDGED, Verdict.MIXED, Verdict.BETTER, Verdict.DIFFERENT}
)
REGRESSIONS = frozenset({Verdict.WORSE, Verdict.NEWLY_FAILING})
_UNCHANGED = frozenset({Verdict.SAME, Verdict.BAND, Verdict.THRESHOLD})


def is_change(verdict: Verdict) -> bool:
    """Whether a verdict is one that a reader of changes only wants to see."""
    return verdict not in _UNCHANGED and verdict is not Verdict.FAILING


def verdict_of(
    better: Better,
    values: Mapping[str, tuple[float, float]],
    summary: RatioSummary | None,
    band: Band | None,
    threshold_percent: float | None,
    *,
    same_build: bool,
) -> Verdict:
    """The verdict on a figure from its values on both sides by seed, their ratios and its band.

    `summary` is None where the ratio is no measure: a base of 0, or a sign. Threshold, band and
    direction look at the quotient of the means, which is what is shown.
    """
    both = values.values()
    if all(base == new for base, new in both):
        return Verdict.SAME
    ratio = None if summary is None else summary.ratio
    # A ratio of 1.001 is a difference of 0.1 %, whatever its last bit says.
    limit = (threshold_percent or 0) / 100 * (1 + 1e-9) if ratio is not None else 0.0
    fell, grew = _moved(both, limit)
    disagree = fell and grew
    if ratio is not None and limit and abs(ratio - 1) <= limit and not disagree:
        return Verdict.THRESHOLD
    difference = mean(new for _, new in both) - mean(base for base, _ in both)
    if band is not None and _within(difference, ratio if len(values) > 1 else None, band):
        return Verdict.BAND
    if disagree:
        return Verdict.MIXED
    if better == "neither":
        return Verdict.DIFFERENT
    if band is None and threshold_percent is None and not same_build:
        return Verdict.UNJUDGED
    more = difference > 0 or (difference == 0 and grew)
    return Verdict.WORSE if more == (better == "lower") else Verdict.BETTER


def _moved(values: Collection[tuple[float, float]], limit: float) -> tuple[bool, bool]:
    """Whether some seed fell, and whether some grew, by more than the limit."""
    fell = any(new < base * (1 - limit) for base, new in values)
    return fell, any(new > base * (1 + limit) for base, new in values)


def _within(difference: float, ratio: float | None, band: Band) -> bool:
    """Of several seeds the relation to the base counts, where there is one."""
    if ratio is not None and band.relative is not None:
        return band.relative[0] <= ratio - 1 <= band.relative[1]
    return band.holds(difference)
