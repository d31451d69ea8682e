"""Where the values of a rating's rules are: in the cases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.lifetime.read import life_of
from ffslab.model.rating import RatingFile, RuleFile, fits
from ffslab.model.validation import validated
from ffslab.rating.grade import Column, Readings, rate
from ffslab.reading import toml_value
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure
from ffslab.results.shortfall import is_good
from ffslab.workloads.figures import all_metrics, figures_of
from ffslab.workloads.wear.metrics import END, FIRST_BAD

# The place of what docs/lifetime.md forecasts from a case of the workload wear.
LIFE = "life"


@dataclass(frozen=True, slots=True)
class Rated:
    """A run's rating: the rules, the file systems in the order of the run, the columns."""

    rating: RatingFile
    filesystems: tuple[str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What is kept of a case: only figures that some rule asks for."""

    filesystem: str
    axes: Mapping[str, Any]
    passed: bool
    figures: Mapping[str, Figure]


def rating_of(manifest: Mapping[str, Any]) -> RatingFile | None:
    """The rules in the study that a run was made from; None if it has none.

    SpecError for rules that a later version of ffslab does not understand.
    """
    try:
        document = toml_value(str(manifest.get("study_text") or ""))
    except ValueError:
        return None
    table = document.get("rating")
    return None if table is None else validated(RatingFile, table, "rating of the run's study")


def rated_run(
    rating: RatingFile,
    manifest: Mapping[str, Any],
    results: Iterable[CaseResult],
) -> Rated:
    """The rating of a run."""
    wanted = {rule.figure for one in rating.criterion for rule in one.rule if rule.figure}
    cases = [_measured(result, wanted) for result in results]
    every = dict.fromkeys(case.filesystem for case in cases)
    of_rules = dict.fromkeys(case.filesystem for case in cases if case.figures)
    names = tuple(of_rules or every)

    def read(rule: RuleFile) -> Readings:
        if rule.figure:
            return figure_readings(rule, cases, names)
        return mainline_readings(names, manifest.get("filesystems", {}))

    return Rated(rating, names, rate(rating, names, read))


def _measured(result: CaseResult, wanted: set[str]) -> Measured:
    axes = {**result["axes"], "filesystem": result["spec"]["filesystem"]["name"]}
    options = result["spec"]["filesystem"]["options"]
    axes |= {f"options.{name}": value for name, value in options.items()}
    every = [*figures_of(result), *_forecast(result, wanted)]
    found = {figure.key: figure for figure in every if figure.key in wanted}
    return Measured(axes["filesystem"], axes, is_good(result), found)


def _forecast(result: CaseResult, wanted: Iterable[str]) -> Iterator[Figure]:
    """When the first block goes bad, and when writing ends; nothing of another workload."""
    if not any(key.startswith(f"{LIFE}.") for key in wanted):
        return
    if result["spec"]["workload"]["kind"] != "wear":
        return
    told = life_of(result).forecast
    if told is not None:
        yield Figure(FIRST_BAD, LIFE, told.first_bad.middle)
        yield Figure(END, LIFE, told.end.middle)


def figure_readings(rule: RuleFile, cases: Sequence[Measured], names: Sequence[str]) -> Readings:
    """The values of the cases that fit. A file system of which one of them failed has none: what
    the failed one would have measured is not known.
    """
    metric = next(
        (one for one in all_metrics() if rule.figure.rpartition(".")[2] == one.name), None
    )
    values: dict[str, list[float]] = {}
    missing: dict[str, str] = {}
    for case in cases:
        if not fits(rule, case.axes):
            continue
        figure = case.figures.get(rule.figure)
        if not case.passed:
            missing[case.filesystem] = "a case did not pass"
        elif figure is not None:
            values.setdefault(case.filesystem, []).append(figure.value / figure.metric.scale)
    for name in missing:
        values.pop(name, None)
    for name in names:
        if name not in values:
            missing.setdefault(name, "no case of the run measured it")
    unit, higher = ("", False) if metric is None else (metric.unit, metric.better == "higher")
    return Readings(values, missing, unit, higher)


def mainline_readings(names: Sequence[str], told: Mapping[str, Any]) -> Readings:
    """1 for a file system that Linux has, 0 for one that it has not."""
    values = {one: [float(bool(told[one]["mainline"]))] for one in names if one in told}
    missing = {one: "an older version of ffslab wrote the run" for one in names if one not in told}
    return Readings(values, missing, "", True)
