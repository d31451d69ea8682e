"""The rating of a run as a reader gets it: a table of words, the values behind them, the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.model.rating import RuleFile, chosen_parts
from ffslab.rating.grade import Column, Graded
from ffslab.rating.read import Rated, rated_run, rating_of
from ffslab.report import data
from ffslab.report.load import Opened, explained
from ffslab.report.quantity import SPACE, listed, significant
from ffslab.workloads.figures import all_metrics
from ffslab.workloads.results import results_of

NOT_MEASURED = "–"
_OF = {"worst": "the worst of", "best": "the best of", "mean": "the mean of"}
_COMBINED = {
    "worst": "the worst of its rules’ grades counts",
    "middle": "the middle of its rules’ grades counts",
}


@dataclass(frozen=True)
class Word:
    """A cell: the grade, its place from 0 (the best) to 3 for the shade, and what it is from.

    `best`: nobody has a better one.
    """

    text: str
    grade: int | None
    because: tuple[str, ...]
    best: bool = False


@dataclass(frozen=True)
class RatingView:
    """The rating as the template shows it; `rows` have the file system and a word per column."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Word, ...]], ...]
    rules: tuple[tuple[str, tuple[str, ...]], ...]
    missing: tuple[str, ...]


def rated(run: Opened) -> Rated | None:
    """The rating that a run's study asks for; None if it asks for none."""
    rules = rating_of(run.manifest)
    if rules is None:
        return None
    with explained(run):
        return rated_run(rules, run.manifest, results_of(run.directory, run.manifest))


def rating_view(run: Opened) -> RatingView | None:
    """What the report shows; None if the study has no rating."""
    rated_run = rated(run)
    return None if rated_run is None else view_of(rated_run)


def view_of(rated_run: Rated) -> RatingView:
    """The rating in words."""
    grades = rated_run.rating.grades
    return RatingView(
        title=rated_run.rating.title,
        head=tuple(column.criterion.name for column in rated_run.columns),
        rows=tuple(
            (
                data.filesystem_name(name),
                tuple(_word(column, name, grades) for column in rated_run.columns),
            )
            for name in rated_run.filesystems
        ),
        rules=tuple(
            (column.criterion.name, _rules(column, grades, rated_run.filesystems))
            for column in rated_run.columns
        ),
        missing=tuple(_missing(rated_run)),
    )


def _missing(rated_run: Rated) -> list[str]:
    """Why something was not measured, with the file systems that this is said of."""
    said: dict[tuple[str, str], list[str]] = {}
    for column in rated_run.columns:
        for name in rated_run.filesystems:
            for graded in column.cells[name].rules:
                if graded.value is None:
                    key = (f"{column.criterion.name}, {name_of(graded.rule)}", graded.why)
                    said.setdefault(key, []).append(data.filesystem_name(name))
    every = len(rated_run.filesystems)
    return [
        f"{what}{'' if len(names) == every else f' ({listed(names)})'}: {why}"
        for (what, why), names in said.items()
    ]


def _word(column: Column, filesystem: str, grades: Sequence[str]) -> Word:
    cell = column.cells[filesystem]
    text = NOT_MEASURED if cell.grade is None else grades[cell.grade]
    known = [other.grade for other in column.cells.values() if other.grade is not None]
    best = cell.grade is not None and cell.grade == min(known)
    return Word(text, cell.grade, tuple(value_words(graded) for graded in cell.rules), best)


def value_words(graded: Graded) -> str:
    """A rule's value for one file system."""
    if graded.value is None:
        return f"{name_of(graded.rule)}: not measured"
    if graded.rule.mainline:
        return "in Linux" if graded.value else "not in Linux"
    return f"{name_of(graded.rule)}: {quantity(graded.value, graded.unit)}"


def quantity(value: float, unit: str) -> str:
    """A value in the unit of its limits. A share is never rounded up to all."""
    if unit == "%" and 99.9 < value < 100:
        return f"{value:.6f}".rstrip("0")[:8] + f"{SPACE}%"
    return f"{significant(value)}{SPACE}{unit}" if unit else significant(value)


def name_of(rule: RuleFile) -> str:
    """What a rule rates: as its study says, or by its figure."""
    if rule.title:
        return rule.title
    if rule.mainline:
        return "in mainline"
    where, _, metric = rule.figure.rpartition(".")
    title = next((named.title for named in all_metrics() if named.name == metric), metric)
    return f"{title}, {where}" if where else title


def _rules(column: Column, grades: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Each rule with its limits; how several of them are combined."""
    shown = [column.cells[name].rules for name in names[:1]]
    texts = [rule_words(graded, grades) for rules in shown for graded in rules]
    if len(texts) > 1:
        texts.append(_COMBINED[column.criterion.combine])
    return tuple(texts)


def rule_words(graded: Graded, grades: Sequence[str]) -> str:
    """A rule and its limits in words."""
    rule = graded.rule
    if rule.mainline:
        return f"{grades[0]} if Linux has it, {grades[-1]} if not"
    sign = "≥" if graded.higher_is_better else "≤"
    limits = ", ".join(
        f"{grade} {sign}{SPACE}{quantity(limit, graded.unit)}"
        for grade, limit in zip(grades, graded.limits, strict=False)
    )
    factors = ""
    if rule.times_best:
        listed = ", ".join(f"{factor:g}" for factor in rule.times_best)
        factors = f" ({listed} times the best)"
    which = "" if not rule.figure else f", {_OF[rule.of]} {_cases(rule)}"
    return f"{name_of(rule)}{which}: {limits or 'no limits without a value'}{factors}"


def _cases(rule: RuleFile) -> str:
    parts = chosen_parts(rule)
    where = [f"{name.rpartition('.')[2]} = {value}" for name, value in rule.where.items()]
    chosen = [*([f"part {', '.join(parts)}"] if parts else []), *where]
    return f"the cases ({'; '.join(chosen)})" if chosen else "all cases"
