"""Two sides compared: what differs, then each case and each of its figures with a verdict. Pure.

Cases that differ in the seed only are one row: its values are means, its ratio is their quotient,
with the range of the seeds' own ratios; of one seed it is exact for that scenario.

The deciding figures of the workload (`ffslab.results.criteria`) make the verdict of a case; all
others explain it.

Within one build equal specs give equal results, so that any difference there is a fault of the
laboratory. Everything else, another build or another setting, is another history: what is inside
the band of builds (`ffslab.compare.band`), where that was measured, or else within a threshold, is
no change. Where the specs differ in the work, figures of a unit of it are compared
(`ffslab.compare.work`), and the case is not comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ffslab.compare.band import Band, Histories, band, joined
from ffslab.compare.cases import SKIPPED, ComparedCase, Side
from ffslab.compare.cause import Cause, cause_of
from ffslab.compare.circumstances import Circumstance, circumstances
from ffslab.compare.findings import NONE, FindingChange, finding_change, missed_change
from ffslab.compare.pairs import (
    ANOTHER_TARGET,
    CasePair,
    Paired,
    SpecDifference,
    are_of_targets,
    pair_axis,
    pair_runs,
)
from ffslab.compare.ratios import Pair, RatioSummary, factor, mean, summarise
from ffslab.compare.verdicts import (
    CHANGES,
    DEFAULT_THRESHOLD_PERCENT,
    REGRESSIONS,
    Verdict,
    joint,
    verdict_of,
)
from ffslab.compare.work import other_work, unit_of
from ffslab.results.schema import MEASURED, Figure

if TYPE_CHECKING:
    from ffslab.model.known import Known

_FLASH_CONTENTS = "flash contents"


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts: no change of up to so many percent, beside the band too if it is given.

    `exact`: of what is counted any change counts.
    """

    threshold_percent: float | None = None
    exact: bool = False

    def limit_percent(self, figure: Figure, *, has_band: bool) -> float:
        """The largest change of a figure that is none."""
        if self.threshold_percent is not None:
            return self.threshold_percent
        is_count = figure.metric.exact and not figure.metric.is_time
        return 0.0 if has_band or (self.exact and is_count) else DEFAULT_THRESHOLD_PERCENT


_OTHER_CLOCK = "code takes time on one side only"
EVERYTHING = Rules()


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of a case on both sides: means over seeds, and the verdict.

    `summary` is None without a finite ratio, `base` or `new` where that side lacks the figure.
    `head`: what stands above its column, where it decides. `per`: what it is a figure of one of,
    where the sides did different work.
    """

    figure: Figure
    verdict: Verdict
    base: float | None
    new: float | None
    summary: RatioSummary | None = None
    band: Band | None = None
    why: str = ""
    seeds: int = 1
    head: str = ""
    per: str = ""

    @property
    def decides(self) -> bool:
        """Whether it is one of those that make the verdict of its case."""
        return self.figure.main

    @property
    def ratio(self) -> float | None:
        """new ÷ base: the one number that is shown and judged; None where it is no measure."""
        return None if self.summary is None else self.summary.ratio

    @property
    def distance(self) -> float:
        """How far the ratio is from 1; 0 where a ratio is no measure."""
        return factor(self.ratio) if self.ratio else 0.0


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case, or those that differ in the seed only. `why` says what the verdict is from.

    `is_exact`: of one build and equal specs. `has_band`: the band of builds was measured.
    `broken`: what differs although nothing may. `findings`: which of them are new, gone, the same.
    `other_work`: what makes the work of one side another. `missed`: limits that it misses.
    """

    label: str
    verdict: Verdict
    why: str = ""
    ids: tuple[tuple[str, str], ...] = ()
    rows: tuple[FigureRow, ...] = ()
    causes: tuple[Cause, ...] = ()
    differences: tuple[SpecDifference, ...] = ()
    is_exact: bool = False
    has_band: bool = False
    broken: tuple[str, ...] = ()
    findings: FindingChange = NONE
    other_work: tuple[SpecDifference, ...] = ()
    missed: FindingChange = NONE

    @property
    def deciding(self) -> tuple[FigureRow, ...]:
        """The figures that make the verdict, in their order."""
        return tuple(row for row in self.rows if row.decides)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that is to be said of two sides."""

    base: Side
    new: Side
    circumstances: tuple[Circumstance, ...]
    cases: tuple[CaseRow, ...]
    axis: str = ""

    @property
    def broken(self) -> tuple[CaseRow, ...]:
        """Cases whose results differ although build and spec are equal."""
        return tuple(case for case in self.cases if case.broken)

    @property
    def other_work(self) -> tuple[SpecDifference, ...]:
        """What makes the work of one side another, in any case."""
        return tuple(dict.fromkeys(d for case in self.cases for d in case.other_work))

    @property
    def is_of_targets(self) -> bool:
        """Whether the two sides ran in different places."""
        return are_of_targets(self.base, self.new)

    @property
    def verdict(self) -> Verdict:
        """Better, worse, mixed, same, or not comparable: of all cases that have a pair.

        A difference where none may be is worse. Where a case has no pair, or cannot be compared,
        nothing is called same or better.
        """
        verdicts = [case.verdict for case in self.cases if case.ids]
        verdict = Verdict.WORSE if self.broken else joint(verdicts)
        if verdict in REGRESSIONS:
            return verdict
        lost = (Verdict.MISSING, Verdict.INCOMPARABLE)
        incomplete = any(case.verdict in lost for case in self.cases)
        all_failing = all(verdict is Verdict.FAILING for verdict in verdicts)
        return Verdict.INCOMPARABLE if incomplete or all_failing else verdict


def compare_runs(base: Side, new: Side, rules: Rules = EVERYTHING) -> Comparison:
    """Two runs; no pair at all is no error here."""
    return _compared(base, new, pair_runs(base, new), rules, "")


def compare_values(base: Side, new: Side, axis: str, rules: Rules = EVERYTHING) -> Comparison:
    """Two values of an axis of one run (`ffslab.compare.pairs.axis_sides`)."""
    return _compared(base, new, pair_axis(base, new, axis), rules, axis)


def _compared(base: Side, new: Side, paired: Paired, rules: Rules, axis: str) -> Comparison:
    # The range of a board's repeats says nothing of the lab's: how far that is off is another
    # question (`ffslab.compare.model_error`).
    alike = base.has_real_clock == new.has_real_clock
    histories = tuple(Histories(side) if alike else Histories() for side in (base, new))
    groups: dict[str, list[CasePair]] = {}
    for pair in paired.pairs:
        label = _label(pair)
        if any(other.base.seed == pair.base.seed for other in groups.get(label, ())):
            label = f"{pair.base.id} → {pair.new.id}"  # a word that two axes have told them apart
        groups.setdefault(label, []).append(pair)
    rows = [
        _case(label, pairs, (histories[0], histories[1]), rules, new.known)
        for label, pairs in groups.items()
    ]
    # A seed alone is missing beside others of its case: it gets its whole id.
    rows += [_alone(case, Verdict.MISSING, new) for case in paired.missing]
    rows += [_alone(case, Verdict.NEW, base) for case in paired.new]
    facts = circumstances(base, new, paired.pairs)
    return Comparison(base, new, facts, tuple(rows), axis)


def _label(pair: CasePair) -> str:
    """What both are called, without the seed: the words that both ids have."""
    base, new = pair.base.label, pair.new.label
    if base == new:
        return base
    others = new.split("-")
    return "-".join(word for word in base.split("-") if word in others) or base


def _alone(case: ComparedCase, verdict: Verdict, other: Side) -> CaseRow:
    return CaseRow(case.id, verdict, f"not in {other.name}")


def _case(
    label: str,
    pairs: Sequence[CasePair],
    histories: tuple[Histories, Histories],
    rules: Rules,
    known: Sequence[Known],
) -> CaseRow:
    ids = tuple((pair.base.id, pair.new.id) for pair in pairs)
    differences = tuple(dict.fromkeys(d for pair in pairs for d in pair.differences))
    whys = [(pair, *_outcomes(pair.base, pair.new)) for pair in pairs]
    good = [pair for pair, verdict, _ in whys if verdict is None]
    exact = all(pair.is_exact for pair in pairs)
    work = other_work(pairs)
    rows = _figures(good, histories, rules, other=bool(work)) if good else ()
    findings = finding_change(good, known)
    # What known findings count is no more news than they are.
    only_known = bool(findings.known) and not findings.new
    known_keys = {key for pair in good for key in pair.new.tallies} if only_known else ()
    judged = (row for row in rows if row.decides and row.figure.key not in known_keys)
    verdicts = [row.verdict for row in judged]
    missed = missed_change(good)
    verdict = joint([*verdicts, *_of_findings(findings), *_of_findings(missed)])
    why = ""
    if any(pair.other_target for pair in pairs):
        verdict, why = Verdict.INCOMPARABLE, ANOTHER_TARGET
    elif verdict is Verdict.SAME and any(pair.other_clock for pair in pairs):
        verdict, why = Verdict.INCOMPARABLE, _OTHER_CLOCK
    elif work:
        verdict = Verdict.INCOMPARABLE
        why = f"not the same work: {', '.join(f'{d.key} {d.base} → {d.new}' for d in work)}"
    for decided in (
        Verdict.NEWLY_FAILING,
        Verdict.FIXED,
        Verdict.FAILING,
        Verdict.INCOMPARABLE,
    ):
        told = [f"{_seed(pair, pairs)}{text}" for pair, verdict, text in whys if verdict is decided]
        if told:
            verdict, why = decided, "; ".join(told)
            break
    return CaseRow(
        label,
        verdict,
        why,
        ids,
        rows,
        _causes(rows, good),
        differences,
        exact,
        any(row.band is not None for row in rows),
        _broken(rows, pairs),
        findings,
        work,
        missed,
    )


def _of_findings(findings: FindingChange) -> list[Verdict]:
    """A finding needs no band: no layout makes it right or wrong. Nor does a limit."""
    return [
        *([Verdict.WORSE] if findings.new else []),
        *([Verdict.BETTER] if findings.gone else []),
    ]


def _seed(pair: CasePair, pairs: Sequence[CasePair]) -> str:
    return f"seed {pair.base.seed}: " if len(pairs) > 1 else ""


def _outcomes(base: ComparedCase, new: ComparedCase) -> tuple[Verdict | None, str]:
    """The verdict that outcomes alone decide, and its reason; None if figures are to."""
    skipped = [case.outcome == SKIPPED for case in (base, new)]
    if all(skipped):
        return (Verdict.SAME, "skipped in both")
    if not base.is_good and not new.is_good:
        return Verdict.FAILING, f"{_told(base)}, then {_told(new)}"
    if not new.is_good:
        return Verdict.NEWLY_FAILING, _told(new)
    if not base.is_good:
        return Verdict.FIXED, f"was {_told(base)}"
    if any(skipped):
        return Verdict.INCOMPARABLE, _told(base if skipped[0] else new)
    return None, ""


def _told(case: ComparedCase) -> str:
    return f"{case.outcome}: {case.reason}" if case.reason else case.outcome


def _figures(
    pairs: Sequence[CasePair],
    histories: tuple[Histories, Histories],
    rules: Rules,
    *,
    other: bool,
) -> tuple[FigureRow, ...]:
    keys: dict[str, Figure] = {}
    for pair in pairs:
        for key, figure in (*pair.base.figures.items(), *pair.new.figures.items()):
            if key not in keys or figure.main:
                keys[key] = figure
    uneven = next((pair for pair in pairs if _uneven(pair)), None)
    versions = {
        pair.base.seed: (histories[0].of(pair.base), histories[1].of(pair.new))
        for pair in pairs
        if not pair.is_exact
    }
    ordered = sorted(keys.values(), key=lambda figure: not figure.main)
    if other:
        return tuple(_of_a_unit(figure, pairs, rules) for figure in ordered)
    return tuple(_figure(figure, pairs, versions, rules, uneven) for figure in ordered)


def _uneven(pair: CasePair) -> bool:
    """Whether one side measured another amount of work than the other."""
    return pair.base.measured != pair.new.measured


def _figure(
    figure: Figure,
    pairs: Sequence[CasePair],
    versions: Mapping[str, tuple[Sequence[ComparedCase], Sequence[ComparedCase]]],
    rules: Rules,
    uneven: CasePair | None,
) -> FigureRow:
    key = figure.key
    values = {
        pair.base.seed: (pair.base.figures[key].value, pair.new.figures[key].value)
        for pair in pairs
        if key in pair.base.figures and key in pair.new.figures
    }
    if len(values) < len(pairs):
        return _one_sided(figure, pairs)
    base, new = (mean(column) for column in zip(*values.values(), strict=True))
    head = _head(figure, pairs)
    why = _unlike(figure, pairs)
    if uneven is not None and figure.metric is not MEASURED:
        why = f"measured {_amount(uneven.base)} of what was asked, then {_amount(uneven.new)}"
    if why:
        return FigureRow(figure, Verdict.INCOMPARABLE, base, new, why=why, head=head)
    signed = any(value < 0 for both in values.values() for value in both)
    summary = None if signed else summarise(Pair(seed, *both) for seed, both in values.items())
    changed = any(before != after for before, after in values.values())
    width = (
        joined(
            band(key, pair.base, pair.new, *versions[pair.base.seed])
            for pair in pairs
            if pair.base.seed in versions
        )
        if changed
        else None
    )
    exact = all(pair.is_exact for pair in pairs)
    verdict = verdict_of(
        figure.better,
        values,
        summary,
        width,
        0.0 if exact else rules.limit_percent(figure, has_band=width is not None),
        is_judged=not any(pair.other_target for pair in pairs),
    )
    return FigureRow(figure, verdict, base, new, summary, width, seeds=len(values), head=head)


def _head(figure: Figure, pairs: Sequence[CasePair]) -> str:
    """What stands above the figure's column; empty of one that does not decide."""
    heads = [case.heads.get(figure.key) for pair in pairs for case in (pair.base, pair.new)]
    return next(filter(None, heads), "measured" if figure.main else "")


def _unlike(figure: Figure, pairs: Sequence[CasePair]) -> str:
    """Why a time of one side is no match for that of the other; empty if it is."""
    key, metric = figure.key, figure.metric
    if (metric.is_time or metric.name.endswith("_per_s")) and any(
        pair.other_clock for pair in pairs
    ):
        return _OTHER_CLOCK
    sides = [any(key in case.in_memory for case in (pair.base, pair.new)) for pair in pairs]
    both = [all(key in case.in_memory for case in (pair.base, pair.new)) for pair in pairs]
    return "" if sides == both else "it ends in memory on one side, on the flash on the other"


def _of_a_unit(figure: Figure, pairs: Sequence[CasePair], rules: Rules) -> FigureRow:
    """A figure where the sides did different work: of a unit of it, if it grows with the work."""
    row = _figure(figure, pairs, {}, rules, None)
    if figure.metric.is_rate or row.verdict is Verdict.INCOMPARABLE:
        return row
    units = [unit_of(figure, pair) for pair in pairs]
    known = [unit for unit in units if unit is not None]
    if not figure.metric.sums or len(known) < len(units):
        return replace(row, verdict=Verdict.INCOMPARABLE, why="of different work")
    values = {
        pair.base.seed: (
            pair.base.figures[figure.key].value / unit.base,
            pair.new.figures[figure.key].value / unit.new,
        )
        for pair, unit in zip(pairs, known, strict=True)
    }
    base, new = (mean(column) for column in zip(*values.values(), strict=True))
    summary = summarise(Pair(seed, *both) for seed, both in values.items())
    limit = rules.limit_percent(figure, has_band=False)
    verdict = verdict_of(figure.better, values, summary, None, limit)
    return replace(row, verdict=verdict, base=base, new=new, summary=summary, per=known[0].noun)


def _one_sided(figure: Figure, pairs: Sequence[CasePair]) -> FigureRow:
    """A figure that a side does not have, in one seed at least."""
    base = [p.base.figures[figure.key].value for p in pairs if figure.key in p.base.figures]
    new = [p.new.figures[figure.key].value for p in pairs if figure.key in p.new.figures]
    both = len(base) == len(pairs) or len(new) == len(pairs)
    where = ("the new side" if len(base) > len(new) else "the base") if both else "some seeds"
    return FigureRow(
        figure,
        Verdict.INCOMPARABLE,
        mean(base) if base else None,
        mean(new) if new else None,
        why=f"{where} has none" if both else f"{where} have none",
        head=_head(figure, pairs),
    )


def _amount(case: ComparedCase) -> str:
    if case.measured is None:
        return "all"
    done, asked = case.measured
    return f"{100 * done / asked:.3g} %" if asked else f"{done:,} of an unknown amount"


def _causes(rows: Sequence[FigureRow], pairs: Sequence[CasePair]) -> tuple[Cause, ...]:
    """Why figures changed, by the phases that they are of, those of main figures first."""
    phases = dict.fromkeys(row.figure.phase for row in rows if row.verdict in CHANGES)
    causes = (cause_of(phase, pairs) for phase in phases if phase)
    return tuple(cause for cause in causes if cause is not None)


def _broken(rows: Sequence[FigureRow], pairs: Sequence[CasePair]) -> tuple[str, ...]:
    """What differs between equal specs of one build, where nothing may."""
    if not all(pair.is_exact for pair in pairs):
        return ()
    keys = [row.figure.key for row in rows if row.verdict is not Verdict.SAME]
    if any(pair.base.outcome != pair.new.outcome for pair in pairs):
        keys.insert(0, "outcome")
    digests = [(pair.base.flash_sha256, pair.new.flash_sha256) for pair in pairs]
    if any(base and new and _differ(base, new) for base, new in digests):
        keys.append(_FLASH_CONTENTS)
    return tuple(keys)


def _differ(base: str, new: str) -> bool:
    """Whether digests of the flash say that it differs; not if one is of an older ffslab's form."""
    return base != new and (":" in base) == (":" in new)
