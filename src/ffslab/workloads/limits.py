"""The limits that a study states, held against its cases.

Beside the figures of its workload and what people decide by, each case has the times of its mount:
the steps `attach`, `mount` and `umount` of its guest, where there is one of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ffslab.model.bounds import Limit, LimitFile
from ffslab.model.case import Case
from ffslab.model.specs import FIRST_REPEAT, NOT_MOUNTED, REPEAT
from ffslab.model.validation import validated
from ffslab.protocol.records import OK
from ffslab.reading import toml_value
from ffslab.results.criteria import Criterion
from ffslab.results.missed import Missed, check_cases, check_limit, judged
from ffslab.results.naming import like_figure
from ffslab.results.result import CaseResult
from ffslab.results.schema import DURATION, Figure
from ffslab.results.shortfall import is_good
from ffslab.workloads.figures import all_metrics, criteria_of, figures_of, metrics_of

_MOUNTING = ("attach", "mount", "umount")


def study_document(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The file of the study that a run was made from; empty if the run has none that is TOML."""
    try:
        return toml_value(str(manifest.get("study_text") or ""))
    except ValueError:
        return {}


def limits_of(manifest: Mapping[str, Any]) -> tuple[Limit, ...]:
    """The limits in the study that a run was made from.

    SpecError for what a later version of ffslab has written.
    """
    tables = study_document(manifest).get("limits") or ()
    return tuple(validated(LimitFile, table, "limits of the run's study").limit for table in tables)


def check_limits(
    limits: Iterable[Limit], cases: Sequence[Case], where: str, study: str, *, is_whole: bool
) -> None:
    """SpecError for a limit that no case of the study can be held against.

    `is_whole`: nothing was set over the study; else the cases of a limit may be left out on
    purpose. `study` is what the command line calls it.
    """
    for limit in limits:
        if is_whole:
            check_cases(limit, [case.id for case in cases], where, study)
        kinds = {case.workload.kind: None for case in cases if limit.is_for(case.id)}
        check_limit(limit, metrics_of(kinds) if kinds else all_metrics(), where)


def missed_of(result: CaseResult, limits: Iterable[Limit]) -> tuple[Missed, ...]:
    """What a case missed; nothing of one that failed, whose figures are of no whole work."""
    judge = Judge(tuple(limits))
    judge.take(result)
    return tuple(judge.missed)


class Judge:
    """Holds the results of a run against the limits of its study, one after the other."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self.limits = limits
        self.missed: list[Missed] = []
        self._applied: set[Limit] = set()
        self._without: dict[Limit, tuple[Figure, ...]] = {}

    def take(self, result: CaseResult) -> CaseResult:
        """Judges one more result, and gives it back."""
        limits = [limit for limit in self.limits if limit.is_for(_plain_id(result))]
        if not limits:
            return result
        criteria = criteria_of(result)
        if not _is_whole(result, criteria):
            return result
        figures = stated_figures(result, criteria)
        applied = list(judged(result["id"], figures, limits))
        self.missed += [missed for _, missed in applied if missed is not None]
        self._applied |= {limit for limit, _ in applied}
        for limit in limits:
            self._without.setdefault(limit, figures)
        return result

    @property
    def unused(self) -> tuple[str, ...]:
        """The limits of cases of which none has the figure, each with the nearest that one has."""
        return tuple(
            f"limit of {limit.text}: no case of this run has it{like_figure(limit.figure, figures)}"
            for limit, figures in self._without.items()
            if limit not in self._applied
        )


def _plain_id(result: CaseResult) -> str:
    """The id of the case that a result repeats, or its own."""
    repeat = result["axes"].get(REPEAT, FIRST_REPEAT)
    return result["id"].replace(f"-{REPEAT}{repeat}", "")


def _is_whole(result: CaseResult, criteria: Sequence[Criterion]) -> bool:
    """Whether a result has the figures of what was asked for, as one has that only fails by what it
    counts.
    """
    return is_good(result) or any(criterion.tally for criterion in criteria)


def stated_figures(result: CaseResult, criteria: Sequence[Criterion]) -> tuple[Figure, ...]:
    """All that a study may name, each once; `criteria`: what people decide by in the result."""
    decided = (criterion.figure for criterion in criteria)
    figures = (*_mounting(result), *decided, *figures_of(result))
    return tuple({figure.key: figure for figure in figures}.values())


def _mounting(result: CaseResult) -> Iterator[Figure]:
    """The times of the steps around the work; of a step that is there twice, none: one of them
    mounts what the host gives to the guest. Without a file system only that is mounted.
    """
    if result["spec"]["filesystem"]["type"] == NOT_MOUNTED:
        return
    for verb in _MOUNTING:
        match [step for step in result["steps"] if step["verb"] == verb]:
            case [step] if step["status"] == OK:
                yield Figure(DURATION, verb, step["duration_ns"])
