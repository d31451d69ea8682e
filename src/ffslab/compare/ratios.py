"""Compare results pair by pair, without pretending that a simulation has noise.

A case is a pure function of its spec: the same spec gives the same nanoseconds. A variance over
repeats of one spec is therefore zero by construction, and a test of significance has no meaning.
What varies is the *scenario*: the seed, which also decides the aged state. So a comparison is
made inside a scenario (the same seed on both sides), where its ratio is exact, and a set of
scenarios is described by the mean, the extremes and the geometric mean of those ratios.

Limits: nothing here says how a ratio carries over to a seed that was not run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """One metric of one scenario on both sides; `key` names the scenario (a spec id, or a seed)."""

    key: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """after ÷ before; 1 when both are zero, None when only `before` is zero (no finite
        ratio).
        """
        if self.before == 0:
            return 1.0 if self.after == 0 else None
        return self.after / self.before


@dataclass(frozen=True)
class RatioSummary:
    """The ratios of one metric over scenarios. `undefined` counts pairs with before = 0 and after
    ≠ 0.
    """

    pairs: tuple[Pair, ...]
    before_mean: float
    after_mean: float
    mean: float
    minimum: float
    maximum: float
    geometric_mean: float
    undefined: int

    @property
    def exact(self) -> bool:
        """True when the summary rests on one scenario: the ratio is exact for it and says nothing
        beyond it.
        """
        return len(self.pairs) == 1

    @property
    def one_sided(self) -> bool:
        """True when every scenario moved the same way (or not at all)."""
        return self.minimum >= 1 or self.maximum <= 1


def summarise(pairs: Iterable[Pair]) -> RatioSummary | None:
    """Describe the ratios of `pairs` (all of one metric); None when no pair has a finite ratio."""
    kept = tuple(pairs)
    ratios = [pair.ratio for pair in kept]
    finite = [ratio for ratio in ratios if ratio is not None]
    if not finite:
        return None
    return RatioSummary(
        pairs=kept,
        before_mean=sum(pair.before for pair in kept) / len(kept),
        after_mean=sum(pair.after for pair in kept) / len(kept),
        mean=sum(finite) / len(finite),
        minimum=min(finite),
        maximum=max(finite),
        geometric_mean=geometric_mean(finite),
        undefined=len(ratios) - len(finite),
    )


def factor(ratio: float) -> float:
    """A ratio's distance from 1, whichever way; infinite for one that is not above 0."""
    return max(ratio, 1 / ratio) if ratio > 0 else math.inf


def geometric_mean(values: Collection[float]) -> float:
    """0 when any value is 0, as the limit says."""
    if min(values) <= 0:
        return 0.0
    return math.exp(sum(math.log(value) for value in values) / len(values))
