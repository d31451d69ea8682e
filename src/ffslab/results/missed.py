"""Which limits of its study a case missed: pure.

A study states limits of figures (`ffslab.model.bounds`). Whether a case is within them is derived
whenever its result is read: no result has it. A limit that no case could be held against is as bad
as a missed one: nobody would notice a mistyped place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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
_COMMON = ("ms", "MiB", "MB/s")
_MANY = 10**5


@dataclass(frozen=True, slots=True)
class Missed:
    """A figure of a case beyond a limit; `is_most`: it is above `at_most`, else below `at_least`.

    `stated` is what the study states there, `bound` the same in the unit of the stored figure.
    """

    case: str
    figure: Figure
    is_most: bool
    stated: Amount
    bound: float

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
        told = f": {_percent(margin)} {beyond}" if margin is not None else ""
        value = _value_in(self.figure, self.stated.unit)
        return f"{self.figure.key} is {value}, {side} {self.stated.text}{told}"

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
        bound = None if amount is None else stored(amount, figure.metric)
        if amount is None or bound is None:
            continue
        if figure.value > bound if is_most else figure.value < bound:
            return Missed(case_id, figure, is_most, amount, bound)
    return None


def stored(amount: Amount, metric: Metric) -> float | None:
    """An amount in the unit in which the metric is stored; None for a unit that is not its own."""
    if not amount.unit:
        return amount.number
    if amount.unit in (metric.unit, metric.unit.removeprefix("1")):
        return amount.number * metric.scale
    factor = _units(metric).get(amount.unit)
    return None if factor is None else amount.number * factor


def check_limit(limit: Limit, metrics: Collection[Metric], where: str) -> None:
    """SpecError for a limit that no figure of these metrics can be held against."""
    named = check_named(limit.figure, metrics, f"{where}: limits")
    for key, amount in (("at_most", limit.at_most), ("at_least", limit.at_least)):
        if amount is not None:
            _check_unit(limit, key, amount, named, where)
    _check_order(limit, named, where)


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


def _check_unit(
    limit: Limit, key: str, amount: Amount, named: Sequence[Metric], where: str
) -> None:
    """Each metric that the word may name has the unit, if there is one; a number alone needs the
    metric's whole name, which ends with the unit.
    """
    name = limit.figure.rpartition(".")[2]
    for metric in named:
        family = _units(metric)
        units = ", ".join(family) or metric.unit
        if stored(amount, metric) is None:
            raise SpecError(
                f"{where}: limits: {limit.figure}: {key} = {amount.text!r}: "
                f"{metric.name} has no unit {amount.unit!r}",
                cause=f"its units: {units}" if units else f"{metric.name} is a plain number",
                remedy=_example(key, amount, metric),
            )
        if not amount.unit and family and name != metric.name:
            raise SpecError(
                f"{where}: limits: {limit.figure}: {key} = {amount.text} has no unit",
                cause=f"only {metric.name} says the unit of a number; its units: {units}",
                remedy=_example(key, amount, metric),
            )


def _example(key: str, amount: Amount, metric: Metric) -> str:
    """A line of the study's file that is right."""
    unit = next((common for common in _COMMON if common in _units(metric)), metric.unit)
    number = f"{amount.number:.15g}"
    return f'write {key} = "{number} {unit}"' if unit else f"write {key} = {number}"


def _check_order(limit: Limit, named: Sequence[Metric], where: str) -> None:
    if limit.at_most is None or limit.at_least is None:
        return
    for metric in named:
        most, least = stored(limit.at_most, metric), stored(limit.at_least, metric)
        if most is not None and least is not None and most < least:
            raise SpecError(
                f"{where}: limits: {limit.figure}: nothing is at least {limit.at_least.text} and "
                f"at most {limit.at_most.text}",
                cause="the two are in each other's place, or their units differ",
                remedy="exchange them",
            )


def _units(metric: Metric) -> dict[str, float]:
    """The units of times, sizes or rates, each with its factor; none of counts and shares."""
    return next((family for family in _FAMILIES if metric.unit in family), {})


def _value_in(figure: Figure, unit: str) -> str:
    """A figure as people read it: in the unit of its limit, or as it is stored."""
    return Amount(_rounded(figure.value / _factor(unit, figure.metric)), unit).text


def _factor(unit: str, metric: Metric) -> float:
    factor = stored(Amount(1, unit), metric)
    return 1.0 if factor is None else factor


def _rounded(number: float) -> float:
    """Six digits, and no fraction of a larger number."""
    return round(number) if abs(number) >= _MANY else float(f"{number:.6g}")


def _percent(margin: float) -> str:
    """Three digits; never 0 for what is beyond."""
    return f"{margin:,.0f} %" if margin >= 100 else f"{margin:.3g} %"
