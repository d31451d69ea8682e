"""A comparison in one line of at most 25 words: how many cases changed, where, and what most. Pure.

The verdicts are those of `ffslab.compare`. Where is the value of an axis that more of the changed
cases have than of all, and most of the changed ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ffslab.compare.board import largest_change
from ffslab.compare.cases import SEED
from ffslab.compare.engine import CaseRow, Comparison, FigureRow
from ffslab.compare.verdicts import Verdict
from ffslab.compare.words import change_words, figure_title
from ffslab.report import data
from ffslab.report.first.claims import within

# What is said of so many cases of a verdict, one and several; the first that there is leads.
_TOLD: Mapping[Verdict, tuple[str, str]] = {
    Verdict.NEWLY_FAILING: ("newly fails", "newly fail"),
    Verdict.WORSE: ("is worse", "are worse"),
    Verdict.MIXED: ("is mixed", "are mixed"),
    Verdict.BETTER: ("is better", "are better"),
    Verdict.DIFFERENT: ("differs", "differ"),
    Verdict.FIXED: ("is fixed", "are fixed"),
    Verdict.INCOMPARABLE: ("cannot be compared", "cannot be compared"),
    Verdict.MISSING: ("is missing", "are missing"),
    Verdict.NEW: ("is new", "are new"),
}
_ALONE = frozenset({Verdict.MISSING, Verdict.NEW})  # one side alone has the case
_MOST_VERDICTS = 3
_MOST_VALUES = 2  # that say where: "UBIFS sync"
Axes = Mapping[str, str]


def headline(comparison: Comparison) -> str:
    """The outcome of a comparison."""
    leading = comparison.broken or next(
        (of for verdict in _TOLD if (of := _cases_of(comparison, verdict))), ()
    )
    if not leading:
        return within([_unchanged(comparison)])
    parts = (
        _other_work(comparison) or _how_many(comparison),
        _findings(comparison),
        "" if comparison.other_work else _where(comparison, leading),
        _largest(comparison),
    )
    return within([part for part in parts if part])


def case_words(comparison: Comparison, case: CaseRow) -> str:
    """A case by the axes that tell those that are compared apart: "UBIFS · aged"; else its name."""
    axes = axes_of(comparison)
    return data.group_label(axes.get(case.label, {}), _telling(axes.values())) or case.label


def _telling(cases: Collection[Axes]) -> tuple[str, ...]:
    """As few axes as tell the cases apart, with the file system and the state if they vary."""
    names = dict.fromkeys(name for axes in cases for name in axes)
    kept = [name for name in names if len({axes.get(name) for axes in cases}) > 1]
    for name in [name for name in kept if name not in (data.FILESYSTEM, data.STATE)]:
        others = [other for other in kept if other != name]
        if len({tuple(axes.get(other) for other in others) for axes in cases}) == len(cases):
            kept = others
    return tuple(kept)


def plain_title(row: FigureRow) -> str:
    """A figure's title as a part of a line: "creation time"."""
    title = figure_title(row.figure).replace(": ", " ")
    return title if row.figure.place else f"{title[0].lower()}{title[1:]}"


def axes_of(comparison: Comparison) -> dict[str, Axes]:
    """The axes of each case that was compared, without the seed, by its label."""
    known = {case.id: case.axes for case in comparison.base.cases}
    return {
        row.label: {
            name: str(value)
            for name, value in known[row.ids[0][0]].items()
            if name not in (SEED, comparison.axis)
        }
        for row in comparison.cases
        if row.ids and row.ids[0][0] in known
    }


def _cases_of(comparison: Comparison, verdict: Verdict) -> tuple[CaseRow, ...]:
    return tuple(case for case in comparison.cases if case.verdict is verdict)


def _unchanged(comparison: Comparison) -> str:
    verdicts = {row.verdict for case in comparison.cases for row in case.rows}
    beyond = (
        word
        for verdict, word in (
            (Verdict.BAND, "the band of builds"),
            (Verdict.THRESHOLD, "the threshold"),
        )
        if verdict in verdicts
    )
    limits = " and ".join(beyond)
    failing = len(_cases_of(comparison, Verdict.FAILING))
    still = f", {failing} of {len(comparison.cases)} cases still fail" if failing else ""
    return f"nothing differs{f' beyond {limits}' if limits else ''}{still}"


def _how_many(comparison: Comparison) -> str:
    """For example "3 of 84 cases are worse, 2 better, 1 missing"; of those that both sides have."""
    total = sum(bool(case.ids) for case in comparison.cases)
    if comparison.broken:
        differ = "differs" if len(comparison.broken) == 1 else "differ"
        count = f"{len(comparison.broken)} of {total} cases {differ}"
        return f"not deterministic: {count} with equal build and spec"
    counts = Counter(case.verdict for case in comparison.cases)
    first, *others = (verdict for verdict in _TOLD if counts[verdict])
    if first in _ALONE:
        return ", ".join([_unchanged(comparison), *(_counted(counts, v) for v in (first, *others))])
    subject = "the only case" if total == 1 else f"{counts[first]} of {total} cases"
    told = [_counted(counts, verdict) for verdict in others[: _MOST_VERDICTS - 1]]
    return ", ".join([f"{subject} {_TOLD[first][counts[first] > 1]}", *told])


def _counted(counts: Counter[Verdict], verdict: Verdict) -> str:
    """As many, in short: "2 better"."""
    return f"{counts[verdict]} {_TOLD[verdict][1].removeprefix('are ')}"


def _findings(comparison: Comparison) -> str:
    """How many findings of power cuts are new, and how many are gone."""
    new = sum(len(case.findings.new) for case in comparison.cases)
    gone = sum(len(case.findings.gone) for case in comparison.cases)
    told = [f"{count} {word}" for count, word in ((new, "new"), (gone, "gone")) if count]
    return f"findings: {' and '.join(told)}" if told else ""


def _where(comparison: Comparison, changed: Sequence[CaseRow]) -> str:
    """The values of axes that most of the changed cases share, and not as many of the others."""
    axes = axes_of(comparison)
    own = [axes[case.label] for case in changed if case.label in axes]
    among: Collection[Axes] = axes.values()
    every = own
    told: dict[str, str] = {}
    while len(told) < _MOST_VALUES and (shared := _shared(own, among, len(every), told)):
        name, value = shared
        told[name] = value
        own, among = ([case for case in group if case.get(name) == value] for group in (own, among))
    if not told:
        return ""
    order = [name for name in axes[changed[0].label] if name in told]
    words = data.group_label(told, order).replace(data.BETWEEN, " ")
    many = "" if len(every) == 1 else "all " if len(own) == len(every) else "most "
    return f"{many}in {words}"


def _shared(
    changed: Collection[Axes], among: Collection[Axes], whole: int, told: Collection[str]
) -> tuple[str, str] | None:
    """The axis and the value that tells the changed cases from all best: of more than half of them,
    and of a smaller share of all.
    """
    every = Counter((name, value) for axes in among for name, value in axes.items() if value)
    counts = Counter((name, value) for axes in changed for name, value in axes.items() if value)

    def excess(entry: tuple[str, str]) -> float:
        return counts[entry] - len(changed) * every[entry] / len(among)

    fit = [
        entry
        for entry in counts
        if entry[0] not in told and counts[entry] > whole / 2 and excess(entry) > 0
    ]
    return max(fit, key=excess, default=None)


def _other_work(comparison: Comparison) -> str:
    """For example "not the same work: workload.transactions 500 → 600"."""
    told = [f"{d.key} {d.base} → {d.new}" for d in comparison.other_work[:_MOST_VALUES]]
    more = len(comparison.other_work) - len(told)
    further = [f"{more} more"] if more else []
    return f"not the same work: {', '.join([*told, *further])}" if told else ""


def _largest(comparison: Comparison) -> str:
    """The largest change of a deciding figure."""
    change = largest_change(comparison)
    if change is None:
        return ""
    case, row = change
    words = case_words(comparison, case).replace(data.BETWEEN, " ")
    where = f" ({words})" if len(comparison.cases) > 1 else ""
    return f"the largest change: {plain_title(row)} {change_words(row)}{where}"
