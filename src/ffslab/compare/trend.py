"""Deciding figures over several runs, and the run at which one left its band: pure.

The figures of a case are those that the scoreboard of the newest run has columns for; whoever reads
runs chooses them (`ffslab.report.trend`). A figure is inside of its band while it is within the
threshold of the *first* run: against the run before, one that creeps by a percent a commit would
never leave it.

A case is judged over the runs in which it does the same work as in the newest one that has it: its
spec is equal but for the sources of out-of-tree modules, which are what changes between builds. The
others are told with what differs, and have no value here. So are runs in which it did not pass.

Limits: nothing here knows a band of builds. Another build alone moves figures of one seed by a
percent or two, so the threshold stands for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ffslab.compare.pairs import spec_differences
from ffslab.compare.ratios import SAME, distance, factor, ratio_of
from ffslab.compare.work import is_built
from ffslab.results.schema import Better, Metric

Verdict = Literal["worse", "moved", "better", "back", "same"]
ORDER: tuple[Verdict, ...] = ("worse", "moved", "better", "back", "same")
THRESHOLD = SAME
_DIFFERENCES_TOLD = 3


@dataclass(frozen=True, slots=True)
class Deciding:
    """A figure of a case that people decide by: where it is (`key`), and how it is called."""

    key: str
    title: str
    head: str
    metric: Metric
    better: Better
    value: float


@dataclass(frozen=True, slots=True)
class RunCase:
    """A case of a run. `why`: why it has no figures, if it has none; `failed`: it should have."""

    spec: Mapping[str, Any]
    figures: Mapping[str, Deciding]  # by title
    why: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class TrendRun:
    """A run: its directory's name, what a command calls it, and when, what and how it was."""

    name: str
    where: str
    label: str
    started: str
    build: str
    study: str
    cases: Mapping[str, RunCase]

    @property
    def called(self) -> str:
        """Its label, or its name."""
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class Departure:
    """A figure is outside of its band from the run of index `run` on, until `back`; None: still.

    `grown`: it became larger.
    """

    run: int
    back: int | None
    grown: bool


@dataclass(frozen=True, slots=True)
class Series:
    """A figure of a case over all runs; None where the case does not count."""

    case: str
    deciding: Deciding  # of the newest run that has it
    values: tuple[float | None, ...]
    departures: tuple[Departure, ...]

    @property
    def measured(self) -> tuple[float, ...]:
        return tuple(value for value in self.values if value is not None)

    @property
    def base(self) -> float:
        """What the band is around."""
        return self.measured[0]

    @property
    def last(self) -> float:
        return self.measured[-1]

    @property
    def ratio(self) -> float | None:
        """The newest value ÷ the first."""
        return ratio_of(self.base, self.last)

    @property
    def left(self) -> Departure | None:
        """The departure that lasts."""
        return next((departure for departure in self.departures if departure.back is None), None)

    @property
    def verdict(self) -> Verdict:
        """What became of it by the newest run; `moved` has no better and worse."""
        left, better = self.left, self.deciding.better
        if left is None:
            return "back" if self.departures else "same"
        if better == "neither":
            return "moved"
        return "better" if left.grown == (better == "higher") else "worse"

    @property
    def rank(self) -> tuple[int, float]:
        """The gravest is the least."""
        far = distance(self.ratio) if self.ratio is not None else float("inf")
        return ORDER.index(self.verdict), -far


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A case that does not count in the run of index `run`, and why; `fails`: it is the newest run
    that has the case, and there it fails.
    """

    case: str
    run: int
    why: str
    fails: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """All figures in the order of the newest run's cases."""

    runs: tuple[TrendRun, ...]
    series: tuple[Series, ...]
    unjudged: tuple[Unjudged, ...]
    threshold: float

    @property
    def ranked(self) -> tuple[Series, ...]:
        """The gravest first."""
        return tuple(sorted(self.series, key=lambda series: series.rank))

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many figures there are of each verdict that there is."""
        verdicts = [series.verdict for series in self.series]
        return {verdict: verdicts.count(verdict) for verdict in ORDER if verdict in verdicts}

    @property
    def failing(self) -> tuple[Unjudged, ...]:
        """The cases that fail now, and did not in an earlier run."""
        good = {name for run in self.runs for name, case in run.cases.items() if not case.why}
        return tuple(case for case in self.unjudged if case.fails and case.case in good)

    @property
    def is_worse(self) -> bool:
        return "worse" in self.counts or bool(self.failing)


def trend_of(runs: Sequence[TrendRun], threshold: float = THRESHOLD) -> Trend:
    """The trend over runs in their order. A figure that fewer than two runs have is none."""
    series: list[Series] = []
    unjudged: list[Unjudged] = []
    ids = dict.fromkeys(case for run in reversed(runs) for case in run.cases)
    for case in ids:
        every = [run.cases.get(case) for run in runs]
        judged, aside = _of_same_work(case, every)
        unjudged += aside
        series += _series(case, judged, threshold)
    return Trend(tuple(runs), tuple(series), tuple(unjudged), threshold)


def _of_same_work(
    case: str, every: Sequence[RunCase | None]
) -> tuple[list[RunCase | None], list[Unjudged]]:
    """A case in each run, None where it does not count, and why it does not."""
    newest = next(run_case for run_case in reversed(every) if run_case is not None)
    judged: list[RunCase | None] = []
    aside: list[Unjudged] = []
    for number, run_case in enumerate(every):
        why = ""
        if run_case is not None:
            differing = spec_differences(run_case.spec, newest.spec)
            told = [f"{d.key} {d.base} → {d.new}" for d in differing if not is_built(d.key)]
            more = f" and {len(told) - _DIFFERENCES_TOLD} more" * (len(told) > _DIFFERENCES_TOLD)
            shown = f"another spec: {', '.join(told[:_DIFFERENCES_TOLD])}{more}"
            why = shown if told else run_case.why
        if why:
            fails = run_case is newest and run_case.failed
            aside.append(Unjudged(case, number, why, fails))
        judged.append(None if why else run_case)
    return judged, aside


def _series(case: str, judged: Sequence[RunCase | None], threshold: float) -> Iterator[Series]:
    there = [run_case for run_case in judged if run_case is not None]
    titles = dict.fromkeys(title for run_case in reversed(there) for title in run_case.figures)
    for title in titles:
        deciding = next(
            run_case.figures[title] for run_case in reversed(there) if title in run_case.figures
        )
        figures = (
            run_case.figures.get(title) if run_case is not None else None for run_case in judged
        )
        values = tuple(None if figure is None else figure.value for figure in figures)
        if sum(value is not None for value in values) > 1:
            yield Series(case, deciding, values, departures_of(values, threshold))


def departures_of(values: Iterable[float | None], threshold: float) -> tuple[Departure, ...]:
    """When a figure left the band around its first value, and when it came back.

    A value from 0, or to it, is outside. From above the band to below it are two departures.
    """
    departures: list[Departure] = []
    base: float | None = None
    for number, value in enumerate(values):
        if value is None:
            continue
        base = value if base is None else base
        ratio = ratio_of(base, value)
        is_outside = ratio is None or factor(ratio) > 1 + threshold
        last = departures[-1] if departures and departures[-1].back is None else None
        if last is not None and not (is_outside and last.grown == (value > base)):
            departures[-1] = Departure(last.run, number, last.grown)
            last = None
        if is_outside and last is None:
            departures.append(Departure(number, None, value > base))
    return tuple(departures)


def as_document(trend: Trend) -> dict[str, Any]:
    """The trend for other programs: runs by index, figures with a value or null for each."""
    return {
        "threshold_percent": 100 * trend.threshold,
        "against": "first",
        "runs": [
            {
                "run": run.name,
                "path": run.where,
                "label": run.label,
                "started": run.started,
                "build_id": run.build,
                "study": run.study,
            }
            for run in trend.runs
        ],
        "verdicts": dict(trend.counts),
        "figures": [_document(series) for series in trend.series],
        "not_judged": [
            {"case": case.case, "run": case.run, "why": case.why} for case in trend.unjudged
        ],
    }


def _document(series: Series) -> dict[str, Any]:
    return {
        "case": series.case,
        "figure": series.deciding.key,
        "title": series.deciding.title,
        "better": series.deciding.better,
        "values": list(series.values),
        "ratio": series.ratio,
        "verdict": series.verdict,
        "departures": [
            {
                "run": departure.run,
                "back": departure.back,
                "direction": "up" if departure.grown else "down",
            }
            for departure in series.departures
        ],
    }
