"""Two sides compared: what differs, then each case and each of its figures with a verdict. Pure.

Cases that differ in the seed only are one row: its values are means, its ratio is their quotient,
with the range of the seeds' own ratios; of one seed it is exact for that scenario.

Within one build equal specs give equal results, so that any difference there is a fault of the
laboratory. Everything else, another build or another setting, is another history; a difference
inside the band of builds (`ffslab.compare.band`) is called that, where the band was measured. Where
it was not, a difference between two builds is neither better nor worse unless a threshold is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ffslab.compare.band import Band, Histories, band, joined
from ffslab.compare.cases import SKIPPED, ComparedCase, Side
from ffslab.compare.cause import Cause, cause_of
from ffslab.compare.circumstances import Circumstance, circumstances
from ffslab.compare.findings import NONE, FindingChange, finding_change
from ffslab.compare.pairs import CasePair, Paired, SpecDifference, pair_axis, pair_runs
from ffslab.compare.ratios import Pair, RatioSummary, factor, mean, summarise
from ffslab.compare.verdicts import CHANGES, GRAVEST, Verdict, verdict_of
from ffslab.results.schema import MEASURED, Figure

_FLASH_CONTENTS = "flash contents"


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts: no change of up to so many percent; only figures that are asked for first.

    A threshold, of 0 too, says that a larger change counts although no band was measured.
    """

    threshold_percent: float | None = None
    main_only: bool = False


EVERYTHING = Rules()


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of a case on both sides: means over seeds, and the verdict.

    `summary` is None without a finite ratio, `base` or `new` where that side lacks the figure.
    """

    figure: Figure
    verdict: Verdict
    base: float | None
    new: float | None
    summary: RatioSummary | None = None
    band: Band | None = None
    why: str = ""
    seeds: int = 1

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
        _case(label, pairs, (histories[0], histories[1]), rules) for label, pairs in groups.items()
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
) -> CaseRow:
    ids = tuple((pair.base.id, pair.new.id) for pair in pairs)
    differences = tuple(dict.fromkeys(d for pair in pairs for d in pair.differences))
    whys = [(pair, *_outcomes(pair.base, pair.new)) for pair in pairs]
    good = [pair for pair, verdict, _ in whys if verdict is None]
    exact = all(pair.is_exact for pair in pairs)
    rows = _figures(good, histories, rules) if good else ()
    findings = finding_change((pair.base.findings, pair.new.findings) for pair in good)
    verdicts = [*(row.verdict for row in rows), *_of_findings(findings)]
    verdict = next((verdict for verdict in GRAVEST if verdict in verdicts), Verdict.SAME)
    why = ""
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
    )


def _of_findings(findings: FindingChange) -> list[Verdict]:
    """A finding needs no band: no layout makes it right or wrong."""
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
    # Between equal specs of one build no figure may differ.
    all_count = not rules.main_only or all(pair.is_exact for pair in pairs)
    chosen = (figure for figure in keys.values() if figure.main or all_count)
    ordered = sorted(chosen, key=lambda figure: not figure.main)
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
    if uneven is not None and figure.metric is not MEASURED:
        why = f"measured {_amount(uneven.base)} of what was asked, then {_amount(uneven.new)}"
        return FigureRow(figure, Verdict.INCOMPARABLE, base, new, why=why)
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
    verdict = verdict_of(
        figure.better,
        values,
        summary,
        width,
        rules.threshold_percent,
        same_build=all(pair.same_build for pair in pairs),
    )
    return FigureRow(figure, verdict, base, new, summary, width, seeds=len(values))


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
