"""What is to be said of a figure, and of a case, that was measured twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from ffslab.compare.band import Band
from ffslab.compare.ratios import SAME, RatioSummary, mean
from ffslab.results.schema import Better


class Verdict(StrEnum):
    """The words. A figure has one of the first eight; a case any but DISAGREE, BAND, THRESHOLD."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERENT = "different"  # a figure of which neither more nor less is better
    DISAGREE = "seeds disagree"
    BAND = "within the band"
    THRESHOLD = "within the threshold"
    SAME = "same"
    INCOMPARABLE = "not comparable"
    MIXED = "mixed"
    NEWLY_FAILING = "newly failing"
    FIXED = "fixed"
    FAILING = "still failing"
    MISSING = "missing"
    NEW = "new"


DEFAULT_THRESHOLD_PERCENT = (
    100 * SAME
)  # where no band was measured: what is within it is called alike
# The gravest first, of cases and of figures.
GRAVEST = (
    Verdict.WORSE,
    Verdict.MIXED,
    Verdict.DISAGREE,
    Verdict.BETTER,
    Verdict.DIFFERENT,
    Verdict.INCOMPARABLE,
    Verdict.THRESHOLD,
    Verdict.BAND,
    Verdict.SAME,
)
# All of them, in the order in which cases and their counts are told.
ORDER = (
    Verdict.NEWLY_FAILING,
    Verdict.MISSING,
    Verdict.FAILING,
    *GRAVEST,
    Verdict.FIXED,
    Verdict.NEW,
)
# A change that is to be shown: more than chance, and more than the user cares for.
CHANGES = frozenset(
    {Verdict.WORSE, Verdict.DISAGREE, Verdict.BETTER, Verdict.DIFFERENT, Verdict.MIXED}
)
REGRESSIONS = frozenset({Verdict.WORSE, Verdict.NEWLY_FAILING, Verdict.MIXED})
LOSSES = frozenset({Verdict.WORSE, Verdict.DISAGREE})  # of a figure
GAINS = frozenset({Verdict.BETTER, Verdict.FIXED, Verdict.MIXED})
UNCHANGED = frozenset({Verdict.SAME, Verdict.BAND, Verdict.THRESHOLD})


def joint(verdicts: Collection[Verdict]) -> Verdict:
    """Better, worse, mixed, or same: what several verdicts come to; not comparable if all are."""
    known = set(verdicts)
    worse, better = bool(known & REGRESSIONS), bool(known & GAINS)
    if (worse and better) or Verdict.DISAGREE in known:
        return Verdict.MIXED
    if worse or better:
        return Verdict.WORSE if worse else Verdict.BETTER
    return Verdict.INCOMPARABLE if known == {Verdict.INCOMPARABLE} else Verdict.SAME


def is_change(verdict: Verdict) -> bool:
    """Whether a verdict is one that a reader of changes only wants to see."""
    return verdict not in UNCHANGED and verdict is not Verdict.FAILING


def verdict_of(
    better: Better,
    values: Mapping[str, tuple[float, float]],
    summary: RatioSummary | None,
    band: Band | None,
    threshold_percent: float,
    *,
    is_judged: bool = True,
) -> Verdict:
    """The verdict on a figure from its values on both sides by seed, their ratios and its band.

    `summary` is None where the ratio is no measure: a base of 0, or a sign. Threshold, band and
    direction look at the quotient of the means, which is what is shown. `is_judged`: a difference
    may be better or worse.
    """
    both = values.values()
    if all(base == new for base, new in both):
        return Verdict.SAME
    ratio = None if summary is None else summary.ratio
    # A ratio of 1.001 is a difference of 0.1 %, whatever its last bit says.
    limit = threshold_percent / 100 * (1 + 1e-9) if ratio is not None else 0.0
    fell, grew = _moved(both, limit)
    disagree = fell and grew
    if ratio is not None and limit and abs(ratio - 1) <= limit and not disagree:
        return Verdict.THRESHOLD
    difference = mean(new for _, new in both) - mean(base for base, _ in both)
    if band is not None and _within(difference, ratio if len(values) > 1 else None, band):
        return Verdict.BAND
    if disagree:
        return Verdict.DISAGREE
    if better == "neither" or not is_judged:
        return Verdict.DIFFERENT
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
