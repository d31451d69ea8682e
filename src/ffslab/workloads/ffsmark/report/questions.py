"""The questions a report answers, and which cases answer them.

Each question compares along one axis and holds others fixed, as the published FFSMark study does.
A question is asked only when the run has cases on both sides; otherwise it is listed with the
reason. Axes that the questions do not know (a board, a CPU speed) get a section each, from the
same parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.report import data
from ffslab.report.data import Case, Group, Run


@dataclass(frozen=True)
class Question:
    """A question with its cases. `axis` is compared; `major` labels a group of bars, `minor` the
    bars in it.
    """

    key: str
    title: str
    asks: str
    axis: str
    metrics: tuple[str, ...]
    groups: tuple[Group, ...]
    major: tuple[str, ...]
    minor: tuple[str, ...]
    left_out: int = 0

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(case for group in self.groups for case in group.cases)


@dataclass(frozen=True)
class NotAsked:
    """A question that the run cannot answer, and why."""

    title: str
    why: str


@dataclass(frozen=True)
class _Rule:
    """How a question picks its cases, before the run is looked at."""

    key: str
    title: str
    asks: str
    axis: str
    metrics: tuple[str, ...]
    held: str
    minor: tuple[str, ...]


_STATE = _Rule(
    "state",
    "What does the initial state change?",
    "An aged file system holds valid and invalid data from the start, so it must collect "
    "garbage. Without compression; where the "
    "file system has the choice, writing back from the page cache.",
    data.STATE,
    (
        "creation_ns",
        "transactions_ns",
        "read_bytes_per_s",
        "write_bytes_per_s",
        "blocks_erased",
        "erases_spread",
        "pages_programmed",
        "write_amplification",
    ),
    "cases without compression in at least two initial states",
    (data.STATE,),
)
_SYNC = _Rule(
    "sync",
    "What does synchronous writing cost?",
    "A file system mounted sync writes before write() returns; one that writes back gathers "
    "pages in memory first. A file system "
    "without that choice stands next to them for comparison. Without compression.",
    data.WRITING,
    (
        "write_bytes_per_s",
        "transactions_ns",
        "blocks_erased",
        "erases_spread",
        "pages_programmed",
        "write_amplification",
    ),
    "cases without compression of one file system both synchronous and with write-back",
    (data.STATE,),
)
_COMPRESSION = _Rule(
    "compression",
    "What does compression give, and what does it cost?",
    "Compressing saves pages and costs CPU time. On a freshly erased partition; where the file "
    "system has the choice, writing back.",
    data.COMPRESSION,
    ("write_bytes_per_s", "pages_programmed", "rest_ns", "transactions_ns"),
    "cases in state free with and without compression",
    (data.COMPRESSION,),
)


def ask(run: Run) -> tuple[tuple[Question, ...], tuple[NotAsked, ...]]:
    """The questions that `run` can answer, in the order of the published study, then those that
    it cannot.
    """
    asked: list[Question] = []
    not_asked: list[NotAsked] = []
    for rule in (_STATE, _SYNC, _COMPRESSION):
        cases = _select(rule, run.cases)
        question = _question(rule, run, cases)
        if question is not None:
            asked.append(question)
        else:
            not_asked.append(NotAsked(rule.title, _why(rule, cases)))
    asked.extend(_variants(run))
    asked.extend(_further(run))
    return tuple(asked), tuple(not_asked)


def matched(
    before: Sequence[Case], after: Sequence[Case], ignoring: Sequence[str]
) -> tuple[tuple[Case, Case], ...]:
    """Pairs of cases that agree in every axis but those ignored."""
    partners = {case.scenario(ignoring): case for case in after}
    return tuple(
        (case, partners[case.scenario(ignoring)])
        for case in before
        if case.scenario(ignoring) in partners
    )


def _select(rule: _Rule, cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases a question is about, whatever their outcome."""
    if rule.axis == data.STATE:
        return tuple(c for c in cases if _uncompressed(c) and c.writing != data.SYNC)
    if rule.axis == data.WRITING:
        return tuple(c for c in cases if _uncompressed(c))
    return tuple(c for c in cases if c.state == "free" and c.writing != data.SYNC)


def _uncompressed(case: Case) -> bool:
    return case.compression in ("", data.NO_COMPRESSION)


def _question(rule: _Rule, run: Run, selected: Sequence[Case]) -> Question | None:
    cases = [case for case in selected if case.passed]
    if not _both_sides(rule.axis, cases):
        return None
    further = tuple(axis for axis in run.varying if axis not in data.CORE_AXES)
    major: tuple[str, ...] = (data.FILESYSTEM,)
    if rule.axis == data.WRITING:
        major = (data.FILESYSTEM, data.WRITING)
    minor = rule.minor
    if further and all(len(data.values_of(cases, axis)) < 2 for axis in minor):
        minor, further = further, ()
    return Question(
        key=rule.key,
        title=rule.title,
        asks=rule.asks,
        axis=rule.axis,
        metrics=_present(rule.metrics, cases),
        groups=data.ordered(data.group_by_seed(cases), (*major, *further), minor),
        major=(*major, *further),
        minor=minor,
        left_out=len(selected) - len(cases),
    )


def _both_sides(axis: str, cases: Sequence[Case]) -> bool:
    """True when some scenario was run with two values of the axis."""
    seen: dict[tuple[tuple[str, str], ...], set[str]] = {}
    for case in cases:
        seen.setdefault(case.scenario((axis,)), set()).add(case.axes.get(axis, ""))
    return any(len(values) > 1 for values in seen.values())


def _why(rule: _Rule, selected: Sequence[Case]) -> str:
    if _both_sides(rule.axis, selected):
        return f"it needs {rule.held}; they are in this run, but too few of them passed"
    return f"it needs {rule.held}, which are not in this run"


def _variants(run: Run) -> list[Question]:
    """The question about a file system and its variants, if the run has both."""
    families = data.variants(run.passed)
    members = {name for base, others in families.items() for name in (base, *others)}
    if not members:
        return []
    cases = [case for case in run.passed if case.filesystem in members]
    others = tuple(axis for axis in run.varying if axis not in (data.FILESYSTEM, data.SEED))
    return [
        Question(
            key="variants",
            title="What do the variants of a file system change?",
            asks="A file system beside variants of it: all else is equal.",
            axis=data.FILESYSTEM,
            metrics=_present(
                (
                    "creation_ns",
                    "transactions_ns",
                    "write_bytes_per_s",
                    "blocks_erased",
                    "pages_programmed",
                    "write_amplification",
                ),
                cases,
            ),
            groups=data.ordered(data.group_by_seed(cases), others, (data.FILESYSTEM,)),
            major=others,
            minor=(data.FILESYSTEM,),
            left_out=sum(case.filesystem in members for case in run.cases) - len(cases),
        )
    ]


def _further(run: Run) -> list[Question]:
    """One question for each varying axis that the published study does not have."""
    further = []
    for axis in run.varying:
        if axis in data.CORE_AXES or not _both_sides(axis, run.passed):
            continue
        others = tuple(name for name in run.varying if name not in (axis, data.SEED))
        groups = data.group_by_seed(run.passed)
        further.append(
            Question(
                key=f"axis-{axis}".replace(".", "-"),
                title=f"What does the {data.axis_name(axis)} change?",
                asks=f"Every configuration for each value of {data.axis_name(axis)}.",
                axis=axis,
                metrics=_present(
                    ("transactions_ns", "write_bytes_per_s", "rest_ns", "write_amplification"),
                    run.passed,
                ),
                groups=data.ordered(groups, others, (axis,)),
                major=others,
                minor=(axis,),
                left_out=len(run.cases) - len(run.passed),
            )
        )
    return further


def _present(metrics: Sequence[str], cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(key for key in metrics if any(key in case.metrics for case in cases))
