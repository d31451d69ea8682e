"""Sentences and ratios computed from the data: what changed, by how much, over how many scenarios.

Nothing here knows a result beforehand: a sentence is a template, and which template is used
depends on the numbers. A ratio pairs cases of the same scenario (equal seed, equal everything but
the compared axis), where it is exact; over several seeds its range is given. A text may contain
**bold** marks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ffslab.compare.ratios import Pair, RatioSummary, alike, factor, summarise
from ffslab.compare.words import ratio_span, ratio_words
from ffslab.report import data
from ffslab.report.data import Case, Run
from ffslab.report.quantity import capitalized
from ffslab.report.topics import Sentence
from ffslab.results.schema import DURATION
from ffslab.workloads.ffsmark.report.catalogue import METRICS, stored
from ffslab.workloads.ffsmark.report.questions import Question, matched

_MOST_ANSWERS = 6
_MOSTLY = 0.5  # a phase that has programmed less of what it wrote has left most of it in memory

CasePairs = Sequence[tuple[Case, Case]]


@dataclass(frozen=True)
class Contrast:
    """Two sides of a question with everything else equal: `before` and `after` name them,
    `subject` what they share.
    """

    subject: str
    before: str
    after: str
    pairs: CasePairs
    place: str = ""
    aside: bool = False  # for comparison only: no answer to the question

    @property
    def label(self) -> str:
        scenario = f", {self.place}" if self.place else ""
        if self.after == "it":
            return f"{self.subject} against {self.before}{scenario}"
        return f"{self.subject}{scenario}: {self.after} against {self.before}"


@dataclass(frozen=True)
class Cell:
    """A ratio in the table of contrasts, with the means it relates and its range over seeds."""

    ratio: str
    values: str
    extent: str


def contrasts(question: Question) -> tuple[Contrast, ...]:
    """Every pair of sides that the question compares and the run has."""
    if question.axis == data.STATE:
        base = "free" if "free" in data.values_of(question.cases, data.STATE) else ""
        all_contrasts = _along(question.cases, data.STATE, base)
    elif question.axis == data.WRITING:
        all_contrasts = (*_synchronous(question.cases), *_next_to(question.cases))
    elif question.axis == data.FILESYSTEM:
        all_contrasts = tuple(_of_variants(question.cases))
    else:
        all_contrasts = _along(question.cases, question.axis, data.NO_COMPRESSION)
    return tuple(contrast for contrast in all_contrasts if contrast.pairs)


def _along(cases: Sequence[Case], axis: str, preferred: str) -> tuple[Contrast, ...]:
    """Per file system, each value of the axis against the preferred one (or the first)."""
    along = []
    for name in data.values_of(cases, data.FILESYSTEM) or ("",):
        members = [case for case in cases if case.filesystem == name]
        values = data.values_of(members, axis)
        base = preferred if preferred in values else (values or ("",))[0]
        for value in values:
            if value != base:
                before = [case for case in members if case.axes.get(axis) == base]
                after = [case for case in members if case.axes.get(axis) == value]
                along.append(
                    Contrast(
                        data.filesystem_name(name),
                        _value_text(axis, base),
                        _value_text(axis, value),
                        matched(before, after, (axis,)),
                    )
                )
    return tuple(along)


def _value_text(axis: str, value: str) -> str:
    if axis == data.COMPRESSION:
        return data.compression_text(value)
    return value if axis in data.CORE_AXES else f"{data.axis_name(axis)} {value}"


def _synchronous(cases: Sequence[Case]) -> Iterator[Contrast]:
    """Per file system that was run both ways, and per state: synchronous against its other way of
    writing.
    """
    for name in _both_ways(cases):
        for state in data.values_of(cases, data.STATE) or ("",):
            members = [case for case in cases if case.filesystem == name and case.state == state]
            before = [case for case in members if case.writing not in ("", data.SYNC)]
            after = [case for case in members if case.writing == data.SYNC]
            if before and after:
                pairs = matched(before, after, (data.WRITING,))
                yield Contrast(
                    data.filesystem_name(name), before[0].writing, data.SYNC, pairs, state
                )


def _next_to(cases: Sequence[Case]) -> Iterator[Contrast]:
    """Per state: the synchronous file system against each one that was not run both ways."""
    both = _both_ways(cases)
    for name in both:
        for other in data.values_of(cases, data.FILESYSTEM):
            for state in data.values_of(cases, data.STATE) or ("",):
                before = [
                    case for case in cases if case.filesystem == other and case.state == state
                ]
                after = [
                    case
                    for case in cases
                    if case.filesystem == name and case.state == state and case.writing == data.SYNC
                ]
                if other not in both and before and after:
                    pairs = matched(before, after, (data.FILESYSTEM, data.WRITING))
                    yield Contrast(
                        f"{data.filesystem_name(name)} sync",
                        data.filesystem_name(other),
                        "it",
                        pairs,
                        state,
                        aside=True,
                    )


def _of_variants(cases: Sequence[Case]) -> Iterator[Contrast]:
    """Per state: each variant against the file system that it is called after."""
    for base, others in data.variants(cases).items():
        for other in others:
            for state in data.values_of(cases, data.STATE) or ("",):
                before, after = (
                    [case for case in cases if case.filesystem == name and case.state == state]
                    for name in (base, other)
                )
                yield Contrast(
                    data.filesystem_name(other),
                    data.filesystem_name(base),
                    "it",
                    matched(before, after, (data.FILESYSTEM,)),
                    state,
                )


def _both_ways(cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(
        name
        for name in data.values_of(cases, data.FILESYSTEM)
        if data.SYNC in {case.writing for case in cases if case.filesystem == name}
        and len({case.writing for case in cases if case.filesystem == name}) > 1
    )


def answer(question: Question) -> tuple[Sentence, ...]:
    """The answer in sentences: one per contrast, and which file system is ahead in each state."""
    main, *side = _leading(question)
    sentences = [
        sentence
        for contrast in contrasts(question)
        if (sentence := _sentence(contrast, main, side))
    ]
    return (*sentences, *_ranking(question)) if question.axis == data.STATE else tuple(sentences)


def main_answers(question: Question) -> tuple[Sentence, ...]:
    """What the head of the report says on a question: every answer to it in its order, of many the
    strongest; and who is ahead. What stands aside for comparison is left to the section.
    """
    main, *side = _leading(question)
    answers = [
        sentence
        for contrast in contrasts(question)
        if not contrast.aside and (sentence := _sentence(contrast, main, side))
    ]
    strongest = sorted(answers, key=lambda sentence: -sentence.weight)[:_MOST_ANSWERS]
    kept = tuple(sentence for sentence in answers if sentence in strongest)
    return (*kept, *_ranking(question)) if question.axis == data.STATE else kept


def _leading(question: Question) -> tuple[str, ...]:
    """The metric a question's sentences are about, and those mentioned besides."""
    if question.axis == data.STATE:
        return ("transactions_ns", "creation_ns", "blocks_erased", "erases_spread")
    if question.axis == data.WRITING:
        return ("write_bytes_per_s", "blocks_erased", "erases_spread")
    if question.axis == data.COMPRESSION:
        return ("write_bytes_per_s", "pages_programmed", "rest_ns")
    if question.axis == data.FILESYSTEM:
        return ("transactions_ns", "pages_programmed", "blocks_erased")
    return ("transactions_ns", "write_bytes_per_s", "rest_ns")


def _sentence(contrast: Contrast, main: str, side: Sequence[str]) -> Sentence | None:
    change = ratio(contrast.pairs, main)
    if change is None:
        return None
    if contrast.after == "it":
        opening = f"**{contrast.subject}** next to {contrast.before}"
    else:
        opening = f"**{contrast.subject}**, {contrast.after} against {contrast.before}"
    if contrast.place:
        opening += f", state {contrast.place}"
    clauses = [clause for key in side if (clause := _clause(contrast.pairs, key))]
    text = f"{opening}: {_lead(change, main)}"
    if clauses:
        text += f"; {', '.join(clauses)}"
    weight = 0.0 if contrast.aside else factor(_shown_ratio(change))
    return Sentence(f"{text}.{_scenarios(change, main)}", weight)


def _shown_ratio(change: RatioSummary) -> float:
    """The quotient of the means that stand beside it; infinite above a mean of 0."""
    return math.inf if change.ratio is None else change.ratio


def _lead(change: RatioSummary, metric: str) -> str:
    """The leading clause, in words that fit the direction."""
    shown, value = METRICS[metric], _shown_ratio(change)
    values = f"({_values(change, metric)})"
    name = _subject(metric)
    if alike(value):
        changed = "" if value == 1 else f", **{ratio_words(stored(metric), value)}**"
        return f"{name} practically unchanged{changed} {values}"
    if not value or math.isinf(value):
        return f"{name} {values}" if value else f"{name} {shown.text(0)}"
    verb = "are" if name.endswith("s") else "is"
    return f"{name} {verb} **{ratio_words(stored(metric), value)}** {values}"


def _subject(metric: str) -> str:
    title = METRICS[metric].title
    return (
        f"the {title[0].lower()}{title[1:]}"
        if metric.endswith("s_ns") or "phase" in title
        else title.lower()
    )


def _clause(pairs: CasePairs, metric: str) -> str:
    """A short clause on a side metric; with its values when it started from zero, where no ratio
    exists.
    """
    cell = table_cell(pairs, metric)
    if cell is None:
        return ""
    title = METRICS[metric].title.lower()
    change = ratio(pairs, metric)
    if cell.ratio and change is not None and (value := _shown_ratio(change)):
        # The title says already what is counted.
        words = ratio_words(stored(metric), value).removesuffix(f" {stored(metric).unit}")
        text = f"{title} {'unchanged' if value == 1 else words}"
    else:
        text = f"{title} {cell.values} {METRICS[metric].unit}"
    return text + (few_erases_note(pairs) if metric == "blocks_erased" else "")


def few_erases_note(pairs: CasePairs) -> str:
    """Beside a number of erases, if a side of it is few of UBIFS; else nothing.

    UBIFS gives freed blocks back to UBI, which erases them, when it commits. In a run that erases
    fewer blocks than the partition has, whether the last commit falls before its end or after it
    decides over most of them.
    """
    for cases in zip(*pairs, strict=True):
        few = [
            case.metrics["blocks_erased"]
            for case in cases
            if case.filesystem.startswith("ubifs")
            and case.metrics.get("blocks_erased", len(case.erases)) < len(case.erases)
        ]
        if few:
            count = METRICS["blocks_erased"].number
            extent = "\u2060–\u2060".join(dict.fromkeys((count(min(few)), count(max(few)))))
            return f" (UBIFS erases few, {extent}: that depends on where its last commit falls)"
    return ""


def table_cell(pairs: CasePairs, metric: str) -> Cell | None:
    """One ratio for the table of contrasts; None when the metric is missing."""
    known = [(a, b) for a, b in pairs if metric in a.metrics and metric in b.metrics]
    if not known:
        return None
    shown = METRICS[metric]
    before = sum(a.metrics[metric] for a, _ in known) / len(known)
    after = sum(b.metrics[metric] for _, b in known) / len(known)
    values = f"{shown.number(before)} → {shown.number(after)}"
    change = ratio(known, metric)
    if change is None or change.undefined:
        return Cell("", values, "")
    # The row says already what is counted.
    unit = f" {stored(metric).unit}"
    told = ratio_words(stored(metric), _shown_ratio(change)).removesuffix(unit)
    extent = ratio_span(stored(metric), change.minimum, change.maximum).removesuffix(unit)
    # So are the words, where both ends of the range have those of the mean above it.
    numbers = extent.removesuffix(told.partition(" ")[2]).strip()
    alone = not any(letter.isalpha() for letter in numbers.replace(" to ", ""))
    return Cell(told, values, "" if extent == told else numbers if alone else extent)


def _ranking(question: Question) -> tuple[Sentence, ...]:
    """Which file system finishes the transactions first in each state, how long the others need,
    and whether the order depends on the state.
    """
    orders: dict[str, tuple[str, ...]] = {}
    parts = []
    for state in data.values_of(question.cases, data.STATE):
        means = _means(question, state, "transactions_ns")
        if len(means) < 2:
            continue
        order = tuple(sorted(means, key=lambda name: means[name]))
        orders[state] = order
        others = ", ".join(
            f"{data.filesystem_name(name)} {ratio_words(DURATION, means[name] / means[order[0]])}"
            for name in order[1:]
        )
        parts.append(
            f"in state {state} **{data.filesystem_name(order[0])}** "
            f"({METRICS['transactions_ns'].text(means[order[0]])}), then {others}"
        )
    if not parts:
        return ()
    verdict = f" {_order_verdict(tuple(orders.values()))}" if len(orders) > 1 else ""
    return (Sentence(f"First to finish the transactions: {'; '.join(parts)}.{verdict}"),)


def _order_verdict(orders: Sequence[tuple[str, ...]]) -> str:
    if len(set(orders)) == 1:
        return "The order is the same in every state."
    if len({order[0] for order in orders}) == 1:
        return "The first is the same in every state; the order behind it **depends on the state**."
    return "The order **depends on the state**."


def _means(question: Question, state: str, metric: str) -> dict[str, float]:
    """Mean over the cases of each file system in that state."""
    sums: dict[str, list[float]] = {}
    for case in question.cases:
        if case.state == state and case.metrics.get(metric):
            sums.setdefault(case.filesystem, []).append(case.metrics[metric])
    return {name: sum(values) / len(values) for name, values in sums.items()}


def extremes(run: Run) -> tuple[Sentence, ...]:
    """Write amplification and wear over the whole run: the least and the most."""
    sentences = []
    show = tuple(axis for axis in run.varying if axis != data.SEED)
    for key in ("write_amplification", "erases_spread"):
        ranked = sorted(
            (mean, data.group_label(group.axes, show))
            for group in data.group_by_seed(run.passed)
            if (mean := group.mean(key)) is not None
        )
        if len(ranked) < 2:
            continue
        (low, low_label), (high, high_label) = ranked[0], ranked[-1]
        if key == "write_amplification" and low < 1:
            continue  # compression, or data that never left memory: no sentence about the flash
        shown = METRICS[key]
        if shown.number(low) == shown.number(high):
            text = f"{shown.title} is **{shown.text(low)}** in all {len(ranked)} configurations."
            sentences.append(Sentence(text))
            continue
        sentences.append(
            Sentence(
                f"{shown.title} ranges from **{shown.number(low)}** ({low_label}) to "
                f"**{shown.text(high)}** ({high_label})."
            )
        )
    return tuple(sentences)


def in_memory(run: Run) -> str:
    """A caution if times of cases that write back are mostly times of memory; else empty.

    That is so where less than half of what a phase wrote has been programmed when it ends, and
    where all phases together programmed less than they wrote and compression is not the reason.
    Writing through, compression is the only reason.
    """
    cases = [case for case in run.passed if case.writing not in (data.SYNC, data.WRITE_THROUGH)]
    parts, affected = [], set[str]()
    for phase in ("creation", "transactions"):
        shares = {c.id: c.metrics[f"{phase}_share"] for c in cases if f"{phase}_share" in c.metrics}
        low = {name: share for name, share in shares.items() if share < _MOSTLY}
        if low:
            affected |= set(low)
            bounds = [f"{100 * share:.0f} %" for share in (min(low.values()), max(low.values()))]
            extent = " to ".join(dict.fromkeys(bounds))
            parts.append(f"at the end of {phase}, {extent} (in {len(low)} of {len(shares)} cases)")
    below = sum(
        case.metrics.get("write_amplification", 1.0) < 1
        and (case.id in affected or case.compression in ("", data.NO_COMPRESSION))
        for case in cases
    )
    if below:
        parts.append(
            f"at the end of the last phase, less than was written (in {below} of {len(cases)} "
            "cases: write amplification below 1)"
        )
    if not parts:
        return ""
    names = ", ".join(map(data.filesystem_name, data.values_of(cases, data.FILESYSTEM)))
    return (
        f"**Times of {names} writing back are partly times of memory.** Of the bytes that a phase "
        f"wrote, there had been programmed: {'; '.join(parts)}. The rest was still in the page "
        "cache, or deleted there, and no phase's time contains writing it back. A larger workload, "
        "or options.write_mode=sync, shows what the flash costs."
    )


def ratio(pairs: CasePairs, metric: str) -> RatioSummary | None:
    """The ratios of a metric over matched cases, keyed by seed."""
    return summarise(
        Pair(f"seed {before.seed}", before.metrics[metric], after.metrics[metric])
        for before, after in pairs
        if metric in before.metrics and metric in after.metrics
    )


def _values(change: RatioSummary, metric: str) -> str:
    shown = METRICS[metric]
    return f"{shown.number(change.before_mean)} → {shown.text(change.after_mean)}"


def _scenarios(change: RatioSummary, metric: str) -> str:
    """On how much the leading ratio rests. Never a significance."""
    if change.exact:
        return " One scenario, exact for it."
    if len({(pair.before, pair.after) for pair in change.pairs}) == 1:
        return f" The same in all {len(change.pairs)} scenarios."
    told = ratio_span(stored(metric), change.minimum, change.maximum)
    if told == ratio_span(stored(metric), change.minimum, change.minimum):
        return f" {capitalized(told)} in each of {len(change.pairs)} scenarios."
    note = "" if change.one_sided else "; the direction differs"
    return f" Over {len(change.pairs)} scenarios: {told}{note}."
