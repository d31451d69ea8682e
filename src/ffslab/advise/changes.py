"""What would change the verdict: computed from candidates that were measured, and never guessed.

Three kinds of statements: which measured candidate meets a need that the best one misses, and what
that one misses instead; which candidate would come first if one limit were stricter than what the
best reaches; and, where a figure is in proportion to what was asked for, what would meet it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ffslab.advise.candidates import Candidate
from ffslab.advise.needs import Needs
from ffslab.advise.ranking import MET, NOT_MEASURED, Cell, Judged, ranked, with_limit
from ffslab.model.units import format_size

_STRICTER = 1.02  # beyond what the best reaches: less would be no difference
_GAIN = 1.02  # less is no difference
COMPRESSION = "compression"


@dataclass(frozen=True, slots=True)
class Change:
    """A need and a sentence on it."""

    need: str
    text: str


def changes_of(
    needs: Needs, order: Sequence[Judged], outside: Collection[str] = ()
) -> tuple[Change, ...]:
    """What would change the verdict, missed needs first; `outside`: file systems not in Linux."""
    best = order[0]
    missed = [change for cell in best.missed for change in _met_by(needs, best, cell, order)]
    stricter = [
        change
        for cell in best.cells
        if cell.standing == MET and cell.need.unit != "percent"
        for change in _stricter(cell, order)
    ]
    return (*missed, *stricter, *_in_linux(order, outside))


def _in_linux(order: Sequence[Judged], outside: Collection[str]) -> Iterator[Change]:
    """Who comes first of what Linux contains, if the best is not of it."""
    if order[0].candidate.filesystem in outside:
        inside = (judged for judged in order if judged.candidate.filesystem not in outside)
        first = next(inside, None)
        if first is not None:
            text = f"only what Linux contains (consider.mainline): {first.candidate.title}"
            yield Change("mainline", f"{text} comes first")


def _met_by(needs: Needs, best: Judged, cell: Cell, order: Sequence[Judged]) -> Iterator[Change]:
    """Who meets what the best one misses; else who comes nearest; and the volume that fits."""
    need = cell.need
    meeting = [judged for judged in order if judged.cell(need.key).standing == MET]
    if meeting:
        near = min(meeting, key=lambda judged: steps_between(best.candidate, judged.candidate))
        reached = near.cell(need.key).value.value
        assert reached is not None
        # There is one at least: it comes behind the best, which misses this.
        others = ", ".join(cell.need.title for cell in (*near.missed, *near.failures))
        yield Change(
            need.key,
            f"{need.title}: met by {near.candidate.title} ({need.words(reached)}); "
            f"it misses: {others}",
        )
    else:
        known = [judged for judged in order if judged.cell(need.key).standing != NOT_MEASURED]
        near = max(known, key=lambda judged: judged.cell(need.key).factor)
        reached = near.cell(need.key).value.value
        assert reached is not None
        yield Change(
            need.key,
            f"{need.title}: no candidate meets it; nearest is {near.candidate.title} with "
            f"{need.words(reached)}, asked is {need.asked}",
        )
    if need.key == "life" and needs.writes is not None:
        most = int(needs.writes.per_day_bytes * cell.factor)
        yield Change(
            need.key,
            f"{need.title}: {best.candidate.title} meets it up to {format_size(most)} a day "
            f"instead of {format_size(needs.writes.per_day_bytes)} (in proportion)",
        )


def steps_between(candidate: Candidate, other: Candidate) -> tuple[bool, int]:
    """How far apart two candidates are: another file system is further than any options."""
    own, its = dict(candidate.options), dict(other.options)
    differing = sum(own.get(name) != its.get(name) for name in {*own, *its})
    size = candidate.partition_bytes != other.partition_bytes
    return candidate.filesystem != other.filesystem, differing + size


def _stricter(cell: Cell, order: Sequence[Judged]) -> Iterator[Change]:
    """Who would come first, and meet it, if the limit were just beyond what the best reaches."""
    need, value = cell.need, cell.value.value
    assert value is not None
    limit = value * _STRICTER if need.higher_is_better else value / _STRICTER
    first = ranked(with_limit(judged, need.key, limit) for judged in order)[0]
    if first.candidate == order[0].candidate:
        return
    if first.cell(need.key).standing != MET:
        return  # it comes first for other reasons
    reached = first.cell(need.key).value.value
    assert reached is not None
    yield Change(
        need.key,
        f"{need.title}: with a limit of {need.words(limit)} instead of {need.words(need.limit)}, "
        f"{first.candidate.title} ({need.words(reached)}) comes first",
    )


def compression_words(order: Sequence[Judged], defaults: Mapping[str, str]) -> tuple[str, ...]:
    """Whether compression is worth it, for each file system that was measured with and without.

    `defaults`: the compressor that a file system has unless an option says otherwise; all other
    options are at their defaults. It is worth it if fewer needs are missed; of as many, if the
    figures of the needs are better in the geometric mean, by 2 % at least.
    """
    sentences = []
    measured = dict.fromkeys(judged.candidate.filesystem for judged in order)
    for name in (filesystem for filesystem in measured if filesystem in defaults):
        variants = {
            dict(judged.candidate.options).get(COMPRESSION, defaults[name]): judged
            for judged in order
            if judged.candidate.filesystem == name
            and _is_measured(judged)
            and judged.candidate.partition_bytes is None
            and set(dict(judged.candidate.options)) <= {COMPRESSION}
        }
        without = variants.pop("none", None)
        if without is None or not variants:
            continue
        compressor, best = max(
            variants.items(),
            key=lambda item: (-_bad(item[1]), gain_of(item[1], without)),
        )
        figures = "; ".join(_compared(best, without))
        worth = _worth(best, without)
        sentences.append(f"{name}: {worth} ({compressor} / none: {figures or 'no figure differs'})")
    return tuple(sentences)


def _is_measured(judged: Judged) -> bool:
    """Whether a case of it was run; how power cuts are borne is explored of the defaults alone."""
    figures = [cell.value for cell in judged.cells if cell.need.unit != "percent"]
    return any(value.failed or value.value is not None for value in figures)


def _bad(judged: Judged) -> int:
    return len(judged.missed) + len(judged.failures)


def _worth(judged: Judged, without: Judged) -> str:
    if _bad(judged) < _bad(without):
        return "worth it, a matter of needs met"
    if _bad(judged) > _bad(without):
        return "not worth it, a matter of needs met"
    gain = gain_of(judged, without)
    words = f"figures ×{gain:.2f} in the geometric mean"
    if gain >= _GAIN:
        return f"worth it, {words}"
    return f"not worth it, {words}" if gain <= 1 / _GAIN else "makes no difference"


def gain_of(judged: Judged, other: Judged) -> float:
    """How many times better the figures of the needs are, in the geometric mean; 1 without any."""
    ratios = [
        cell.factor / its.factor
        for cell, its in zip(judged.cells, other.cells, strict=True)
        if cell.need.unit != "percent"
        and cell.value.value is not None
        and its.value.value is not None
        and 0 < cell.factor < math.inf
        and 0 < its.factor < math.inf
    ]
    return math.prod(ratios) ** (1 / len(ratios)) if ratios else 1.0


def _compared(judged: Judged, other: Judged) -> Iterator[str]:
    for cell in judged.cells:
        need, its = cell.need, other.cell(cell.need.key)
        if need.unit == "percent" or cell.value.value is None or its.value.value is None:
            continue
        figures = (need.words(cell.value.value), need.words(its.value.value))
        if figures[0] != figures[1]:
            yield f"{need.short} {' / '.join(figures)}"
