"""Prices that fit measured times, and how well others are foretold by them: pure.

A price is found by least squares of the relative errors, and none is below zero. Each half of the
workloads is judged by the prices that the other half gave.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.calibrate.solve import not_negative


@dataclass(frozen=True, slots=True)
class Sample:
    """A measured time in ns, and how many of each thing with a price there were."""

    workload: str
    filesystem: str
    measured_ns: float
    counts: Mapping[str, float]

    def foretold_ns(self, prices_ns: Mapping[str, float]) -> float:
        """What it would take at these prices."""
        return sum(price * self.counts[name] for name, price in prices_ns.items())

    def error(self, prices_ns: Mapping[str, float]) -> float:
        """Foretold ÷ measured − 1."""
        return self.foretold_ns(prices_ns) / self.measured_ns - 1


@dataclass(frozen=True, slots=True)
class Judged:
    """A sample, its half (0 or 1), and the error by the prices of the other one."""

    sample: Sample
    half: int
    error: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """`prices_ns` of all samples and of each half; each sample judged by those of the other."""

    prices_ns: Mapping[str, float]
    of_halves_ns: tuple[Mapping[str, float], Mapping[str, float]]
    judged: tuple[Judged, ...]

    @property
    def median(self) -> float:
        """Of the errors without their signs."""
        return statistics.median(abs(judged.error) for judged in self.judged)

    @property
    def worst(self) -> float:
        """The largest error without its sign."""
        return max(abs(judged.error) for judged in self.judged)

    def within(self, limit: float) -> float:
        """The share of samples whose error is not above the limit."""
        return sum(abs(judged.error) <= limit for judged in self.judged) / len(self.judged)


def fit(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, float]:
    """Prices in ns of what is named; ValueError without samples."""
    if not samples:
        raise ValueError("prices that fit no samples")
    columns = [[sample.counts[name] / sample.measured_ns for sample in samples] for name in names]
    prices = not_negative(columns, [1.0] * len(samples))
    return dict(zip(names, prices, strict=True))


def judge(samples: Sequence[Sample], names: Sequence[str]) -> Judgement:
    """Fits each half of the workloads and judges the other one by it.

    The workloads take turns in the order in which they first occur; all file systems of one are in
    the same half, so that no sample is judged by its like.
    """
    order = list(dict.fromkeys(sample.workload for sample in samples))
    half_of = {workload: number % 2 for number, workload in enumerate(order)}
    halves = [[sample for sample in samples if half_of[sample.workload] == half] for half in (0, 1)]
    prices = (fit(halves[0], names), fit(halves[1], names))
    judged = tuple(
        Judged(sample, half_of[sample.workload], sample.error(prices[1 - half_of[sample.workload]]))
        for sample in samples
    )
    return Judgement(fit(samples, names), prices, judged)
