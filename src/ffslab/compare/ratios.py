"""Compare results pair by pair, without pretending that a simulation has noise.

A case is a pure function of its spec: the same spec gives the same nanoseconds. A variance over
repeats of one spec is therefore zero by construction, and a test of significance has no meaning.
What varies is the *scenario*: the seed, which also decides the aged state. So a comparison is
made inside a scenario (the same seed on both sides), where its ratio is exact, and a set of
scenarios is described by the extremes of those ratios and by one number:

- Beside two means that are shown it is their quotient, `RatioSummary.ratio`: what a reader
  calculates from them. It lies between the smallest and the largest ratio of a scenario, and
  scenarios count by what they measured.
- Where reports order ratios of different cases among each other it is the geometric mean: scenarios
  count alike.

How far a ratio is from 1, and what counts as alike, is here too: everything that weighs or orders
ratios, in comparisons and in reports, takes it from here.

Limits: nothing here says how a ratio carries over to a seed that was not run. The logarithms of an
axis, of a number's digits and of a growth's exponent are no ratios of two sides, and are elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

SAME = 0.02  # two values within that of each other are called alike


@dataclass(frozen=True)
class Pair:
    """One metric of one scenario on both sides; `key` names the scenario (a spec id, or a seed)."""

    key: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """after ÷ before, as `ratio_of`."""
        return ratio_of(self.before, self.after)


@dataclass(frozen=True)
class RatioSummary:
    """The ratios of one metric over scenarios. `undefined` counts pairs with before = 0 and after
    ≠ 0; `minimum` and `maximum` are of the others.
    """

    pairs: tuple[Pair, ...]
    before_mean: float
    after_mean: float
    minimum: float
    maximum: float
    undefined: int

    @property
    def ratio(self) -> float | None:
        """after_mean ÷ before_mean, as `ratio_of`."""
        return ratio_of(self.before_mean, self.after_mean)

    @property
    def exact(self) -> bool:
        """True when the summary rests on one scenario: the ratio is exact for it and says nothing
        beyond it.
        """
        return len(self.pairs) == 1


def summarise(pairs: Iterable[Pair]) -> RatioSummary | None:
    """Describe the ratios of `pairs` (all of one metric); None when no pair has a finite ratio."""
    kept = tuple(pairs)
    ratios = [pair.ratio for pair in kept]
    finite = [ratio for ratio in ratios if ratio is not None]
    if not finite:
        return None
    return RatioSummary(
        pairs=kept,
        before_mean=mean(pair.before for pair in kept),
        after_mean=mean(pair.after for pair in kept),
        minimum=min(finite),
        maximum=max(finite),
        undefined=len(ratios) - len(finite),
    )


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; equal for equal values in any order."""
    kept = tuple(values)
    return math.fsum(kept) / len(kept)


def ratio_of(before: float, after: float) -> float | None:
    """after ÷ before; 1 when both are zero, None when only `before` is zero (no finite ratio).

    It is 1 for equal values only: no two numbers are so near that their quotient is rounded to 1.
    """
    if before == 0:
        return 1.0 if after == 0 else None
    return after / before


def ratio_from(before: float, after: float, least: float) -> float:
    """after ÷ before, where what is below `least` counts as that, so that there is a ratio."""
    return max(after, least) / max(before, least)


def factor(ratio: float) -> float:
    """A ratio's distance from 1, whichever way; infinite for one that is not above 0."""
    return max(ratio, 1 / ratio) if ratio > 0 else math.inf


def distance(ratio: float) -> float:
    """The same as a logarithm, so that 2 is as far as ½ and twice as far is the square."""
    return abs(math.log(ratio)) if ratio > 0 else math.inf


def alike(ratio: float) -> bool:
    """Whether two values of that ratio are within `SAME` of each other."""
    return 1 / (1 + SAME) <= ratio <= 1 + SAME


def all_alike(values: Collection[float]) -> bool:
    """Whether the largest of several values, none below 0, is within `SAME` of the smallest."""
    return max(values) <= (1 + SAME) * min(values)


def log_mean(ratios: Collection[float]) -> float:
    """The mean of the logarithms of ratios above 0."""
    return sum(math.log(ratio) for ratio in ratios) / len(ratios)


def geometric_mean(values: Collection[float]) -> float:
    """0 when any value is 0, as the limit says."""
    if min(values) <= 0:
        return 0.0
    return math.exp(log_mean(values))
