"""What is to be said of a figure, and of a case, that was measured twice."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ffslab.compare.band import Band
from ffslab.compare.ratios import RatioSummary
from ffslab.results.schema import Better


class Verdict(StrEnum):
    """The words. A figure has one of the first eight, a case any."""

    WORSE = "worse"
    BETTER = "better"
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
    Verdict.MIXED,
    Verdict.BETTER,
    Verdict.DIFFERENT,
    Verdict.INCOMPARABLE,
    Verdict.THRESHOLD,
    Verdict.BAND,
    Verdict.SAME,
)
# A change that is to be shown: more than chance, and more than the user cares for.
CHANGES = frozenset({Verdict.WORSE, Verdict.MIXED, Verdict.BETTER, Verdict.DIFFERENT})
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
    threshold_percent: float,
) -> Verdict:
    """The verdict on a figure from its values on both sides by seed, their ratios and its band.

    `summary` is None where the ratio is no measure: a base of 0, or a sign.
    """
    if all(base == new for base, new in values.values()):
        return Verdict.SAME
    if summary is not None and _inside(summary, threshold_percent):
        return Verdict.THRESHOLD
    if band is not None and _within(values, summary, band):
        return Verdict.BAND
    differences = [new - base for base, new in values.values()]
    if min(differences) < 0 < max(differences):
        return Verdict.MIXED
    if better == "neither":
        return Verdict.DIFFERENT
    grew = max(differences) > 0
    return Verdict.WORSE if grew == (better == "lower") else Verdict.BETTER


def _inside(summary: RatioSummary, threshold_percent: float) -> bool:
    """Whether no seed differs by more than the threshold."""
    if not threshold_percent or summary.undefined:
        return False
    # A ratio of 1.001 is a difference of 0.1 %, whatever its last bit says.
    limit = threshold_percent * (1 + 1e-9)
    return max(abs(summary.minimum - 1), abs(summary.maximum - 1)) * 100 <= limit


def _within(
    values: Mapping[str, tuple[float, float]], summary: RatioSummary | None, band: Band
) -> bool:
    """Of several seeds the mean counts, in relation to the base where there is a relation."""
    if len(values) > 1 and summary is not None and band.relative is not None:
        return band.relative[0] <= summary.mean - 1 <= band.relative[1]
    differences = [new - base for base, new in values.values()]
    return band.holds(sum(differences) / len(differences))
