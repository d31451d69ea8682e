"""Which limits of its study a case missed: pure.

A study states limits of figures (`ffslab.model.bounds`). Whether a case is within them is derived
whenever its result is read: no result has it. A limit that no case could be held against is as bad
as a missed one: nobody would notice a mistyped place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ffslab.errors import SpecError
from ffslab.model.bounds import Amount, Limit
from ffslab.model.names import suggestion
from ffslab.model.units import SIZE_FACTORS
from ffslab.program import program
from ffslab.results.naming import check_named, matches
from ffslab.results.schema import Figure, Metric

_TIMES = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
_SIZES = {unit: float(factor) for unit, factor in SIZE_FACTORS.items() if unit}
_RATES = {f"{unit}/s": factor for unit, factor in _SIZES.items()}
_FAMILIES = (_TIMES, _SIZES, _RATES)
_EXACT_DIGITS = 15
_COMMON = ("ms", "MiB")


@dataclass(frozen=True, slots=True)
class Missed:
    """A figure of a case beyond a limit; `is_most`: it is above `at_most`, else below `at_least`.

    `stated` is what the study states there; times `scale` it is in the unit of the stored figure.
    """

    case: str
    figure: Figure
    is_most: bool
    stated: Amount
    scale: float

    @property
    def bound(self) -> float:
        """The limit in the unit of the stored figure."""
        return _scaled(self.stated, self.scale)

    @property
    def margin_percent(self) -> float | None:
        """How far beyond, of the limit; None of a limit of 0."""
        if not self.bound:
            return None
        return abs(self.figure.value - self.bound) / abs(self.bound) * 100

    @property
    def text(self) -> str:
        """Figure, value, limit and margin, without the case."""
        side, beyond = ("at most", "above") if self.is_most else ("at least", "below")
        margin = self.margin_percent
        told = f": {Amount(_rounded(margin, 3), '%').text} {beyond}" if margin is not None else ""
        value = self.figure.value / self.scale
        # What was counted is told to the last unit.
        shown = value if value.is_integer() else _rounded(value, 6)
        return (
            f"{self.figure.key} is {Amount(shown, self.stated.unit).text}, "
            f"{side} {self.stated.text}{told}"
        )

    @property
    def plain(self) -> dict[str, str | float | None]:
        """The same for JSON, values as stored."""
        return {
            "figure": self.figure.key,
            "value": self.figure.value,
            "at_most" if self.is_most else "at_least": self.bound,
            "margin_percent": self.margin_percent,
        }


def judged(
    case_id: str, figures: Collection[Figure], limits: Iterable[Limit]
) -> Iterator[tuple[Limit, Missed | None]]:
    """Each figure that one of the limits of this case names: with what it missed, or None if it is
    within.
    """
    for limit in limits:
        for figure in figures:
            if matches(limit.figure, figure):
                yield limit, _missed(case_id, figure, limit)


def _missed(case_id: str, figure: Figure, limit: Limit) -> Missed | None:
    for amount, is_most in ((limit.at_most, True), (limit.at_least, False)):
        if amount is None:
            continue
        scale = scale_of(amount.unit, figure.metric)
        if scale is None:  # of a run of another version of ffslab
            continue
        missed = Missed(case_id, figure, is_most, amount, scale)
        if figure.value > missed.bound if is_most else figure.value < missed.bound:
            return missed
    return None


def scale_of(unit: str, metric: Metric) -> float | None:
    """How many of the units in which the metric is stored one `unit` is; None for a unit that is
    not its own. A number without unit is one as stored.
    """
    if not unit:
        return 1.0
    if unit in (metric.unit, metric.unit.removeprefix("1")):
        return metric.scale
    return _units(metric).get(unit)


def check_limit(limit: Limit, metrics: Collection[Metric], where: str) -> None:
    """SpecError for a limit that no figure of these metrics can be held against."""
    named = check_named(limit.figure, metrics, f"{where}: limits")
    for metric in named:
        most = _bound(limit, "at_most", limit.at_most, metric, where)
        least = _bound(limit, "at_least", limit.at_least, metric, where)
        if most is not None and least is not None and most < least:
            raise SpecError(
                f"{where}: limits: {limit.figure}: at_least is more than at_most",
                cause="the two are in each other's place, or their units differ",
                remedy="exchange them",
            )


def check_cases(limit: Limit, case_ids: Collection[str], where: str, study: str) -> None:
    """SpecError for a limit of cases that the study does not have."""
    if any(map(limit.is_for, case_ids)):
        return
    raise SpecError(
        f"{where}: limits: {limit.figure}: no case {limit.case!r}"
        f"{suggestion(limit.case, case_ids)}",
        cause="a misspelt id or pattern, or an axis of one value, which no id has",
        remedy=f"take it out; then {program()} run {study} --dry-run lists the "
        f"{len(case_ids)} cases",
    )


def _bound(
    limit: Limit, key: str, amount: Amount | None, metric: Metric, where: str
) -> float | None:
    """The amount in the unit of the stored figure. A number alone needs the metric's whole name,
    which ends with its unit, where it has one of several.
    """
    if amount is None:
        return None
    here = f"{where}: limits: {limit.figure}: {key}"
    family, scale = _units(metric), scale_of(amount.unit, metric)
    units = ", ".join(family) or metric.unit
    if scale is None:
        raise SpecError(
            f"{here} = {amount.text!r}: {metric.name} has no unit {amount.unit!r}",
            cause=f"its units: {units}" if units else f"{metric.name} is a plain number",
            remedy=_example(key, amount, metric),
        )
    if not amount.unit and family and limit.figure.rpartition(".")[2] != metric.name:
        raise SpecError(
            f"{here} = {amount.text} has no unit",
            cause=f"only {metric.name} says the unit of a number; its units: {units}",
            remedy=_example(key, amount, metric),
        )
    return _scaled(amount, scale)


def _example(key: str, amount: Amount, metric: Metric) -> str:
    """A line of the study's file that is right."""
    unit = next((common for common in _COMMON if common in _units(metric)), metric.unit)
    number = f"{amount.number:.15g}"
    return f'write {key} = "{number} {unit}"' if unit else f"write {key} = {number}"


def _units(metric: Metric) -> dict[str, float]:
    """The units of times, sizes or rates, each with its factor; none of counts and shares."""
    return next((family for family in _FAMILIES if metric.unit in family), {})


def _scaled(amount: Amount, scale: float) -> float:
    """As many of the stored units, without what floating point adds: 1.005 ms are 1,005,000 ns."""
    return _rounded(amount.number * scale, _EXACT_DIGITS)


def _rounded(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")
