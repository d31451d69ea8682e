"""How people name figures: `mount.time`, `workload.pages_programmed`, `transactions/*.p99`. Pure.

A word is PLACE.METRIC, as the key of a figure in docs/metrics.md. PLACE may be a glob; a word
without one names figures of the whole case. METRIC is the metric's name, or that name without its
unit; `time` stands for `duration_ns`.

Limits: a word says which figures it names, not that a case has them. Two metrics may have one name
without unit (`flash_ns`, `flash_bytes`): such a word names both.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ffslab.errors import SpecError
from ffslab.model.names import suggestion
from ffslab.program import program
from ffslab.results.schema import DURATION, Figure, Metric

_UNITS = ("_ns", "_bytes", "_percent", "_years")
_OTHERS = {DURATION.name: ("time",)}


def matches(word: str, figure: Figure) -> bool:
    """Whether `word` names the figure."""
    where, _, name = word.rpartition(".")
    at_place = where == figure.place or fnmatchcase(figure.place, where)
    return at_place and name in names_of(figure.metric)


def metrics_called(word: str, metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Those of the metrics that `word` may name figures of, wherever; none for an unknown name."""
    name = word.rpartition(".")[2]
    return tuple(metric for metric in metrics if name in names_of(metric))


def check_named(word: str, metrics: Iterable[Metric], where: str) -> tuple[Metric, ...]:
    """Those of the metrics that `word` names; SpecError for none."""
    known = tuple(metrics)
    named = metrics_called(word, known)
    if not named:
        raise SpecError(
            f"{where}: no case has a figure {word!r}{like_metric(word, known)}",
            cause="a misspelt metric, or one of another workload",
            remedy=f"{program()} schema metrics",
        )
    return named


def names_of(metric: Metric) -> tuple[str, ...]:
    """What people may call a metric: its name first."""
    plain = (metric.name.removesuffix(unit) for unit in _UNITS if metric.name.endswith(unit))
    return (metric.name, *plain, *_OTHERS.get(metric.name, ()))


def like_metric(word: str, metrics: Iterable[Metric]) -> str:
    """What to add to a message about an unknown metric: " (did you mean 'mount.time'?)"."""
    where, dot, name = word.rpartition(".")
    known = {valid for metric in metrics for valid in names_of(metric)}
    return suggestion(name, known) if not dot else _placed(word, where, known)


def like_figure(word: str, figures: Iterable[Figure]) -> str:
    """The same of a word that names none of these figures."""
    known = {
        f"{figure.place}.{name}" if figure.place else name
        for figure in figures
        for name in names_of(figure.metric)
    }
    return suggestion(word, known)


def _placed(word: str, where: str, known: Iterable[str]) -> str:
    return suggestion(word, {f"{where}.{name}" for name in known})
