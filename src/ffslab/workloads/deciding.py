"""The deciding figures of a result: those that make the verdict when two runs are compared.

A study may name them (`[compare] figures`). Else they are those of the report's scoreboard
(`ffslab.results.criteria`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ffslab.model.case import Case
from ffslab.model.files import CompareFile
from ffslab.model.validation import validated
from ffslab.results.criteria import Criterion, deciding
from ffslab.results.naming import check_named, matches
from ffslab.results.result import CaseResult
from ffslab.results.schema import MEASURED, Figure
from ffslab.workloads.figures import criteria_of, metrics_of
from ffslab.workloads.limits import stated_figures, study_document


def check_deciding(words: Iterable[str], cases: Sequence[Case], where: str) -> None:
    """SpecError for a word of `[compare] figures` that names no figure of any case."""
    kinds = dict.fromkeys(case.workload.kind for case in cases)
    for word in words:
        check_named(word, metrics_of(kinds), f"{where}: compare.figures")


def deciding_words(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The deciding figures that the study of a run names; none without `[compare]`."""
    table = study_document(manifest).get("compare")
    return tuple(
        validated(CompareFile, table, "compare of the run's study").figures if table else ()
    )


def compared_figures(
    result: CaseResult, words: Sequence[str] = ()
) -> tuple[tuple[Figure, ...], tuple[Criterion, ...]]:
    """All figures of a result, and the few of them that decide, in their order.

    These are `main`, and so is how much was measured where that is not all. They are those that
    `words` name, or those of the scoreboard without any.
    """
    criteria = criteria_of(result)
    known = {figure.key: figure for figure in stated_figures(result, criteria)}
    own = {criterion.figure.key: criterion for criterion in criteria}
    if words:
        named = {
            key: own.get(key, Criterion(figure, key, "time", short=key))
            for word in words
            for key, figure in known.items()
            if matches(word, figure)
        }
        chosen = tuple(named.values())
    else:
        chosen = tuple(deciding(tuple(own.values())))
    keys = {criterion.figure.key: criterion.figure for criterion in chosen}
    figures = (
        replace(figure, main=key in keys or (figure.main and figure.metric is MEASURED))
        for key, figure in (keys | known).items()
    )
    return tuple(figures), chosen
