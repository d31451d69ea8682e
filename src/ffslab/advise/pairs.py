"""Two steps from the defaults, where no single one meets all needs.

A first round measures each step alone. If the best candidate misses something, pairs of steps of
one file system are worth a case each, where they promise more: what a pair would reach is predicted
from its two steps, each taken to change a figure by the factor that it changed the default's by.
The prediction only chooses; what counts is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ffslab.advise.candidates import VALUES, Candidate
from ffslab.advise.ranking import Cell, Judged, rank_key
from ffslab.advise.readings import Value

PAIRS_MAX = 8
_OPTIONS = tuple(VALUES)


def promising_pairs(order: Sequence[Judged]) -> tuple[Candidate, ...]:
    """Pairs that are predicted to miss fewer needs than the best candidate, the best PAIRS_MAX.

    `order`: all candidates of one step at most, the best first. None if the best misses nothing.
    """
    best = order[0]
    pairs = [
        predicted
        for default in order
        if not steps_of(default.candidate) and not default.failures
        for predicted in _pairs(default, order)
        if rank_key(predicted)[0] < rank_key(best)[0]
    ]
    return tuple(pair.candidate for pair in sorted(pairs, key=rank_key)[:PAIRS_MAX])


def steps_of(candidate: Candidate) -> int:
    """How many steps a candidate is from its file system's defaults."""
    return len(candidate.options) + (candidate.partition_bytes is not None)


def _pairs(default: Judged, order: Sequence[Judged]) -> Iterator[Judged]:
    name = default.candidate.filesystem
    steps = [
        judged
        for judged in order
        if judged.candidate.filesystem == name
        and steps_of(judged.candidate) == 1
        and not judged.failures
    ]
    steps.sort(key=lambda judged: judged.order)
    for judged, other in combinations(steps, 2):
        both = _both(judged.candidate, other.candidate)
        if both is not None:
            yield Judged(both, _predicted(default, judged, other), judged.order)


def _both(candidate: Candidate, other: Candidate) -> Candidate | None:
    """The candidate with both steps; None if they are two values of the same option."""
    size = candidate.partition_bytes or other.partition_bytes
    if candidate.partition_bytes and other.partition_bytes:
        return None
    options = dict((*candidate.options, *other.options))
    if len(options) < len(candidate.options) + len(other.options):
        return None
    ordered = sorted(options.items(), key=lambda item: _OPTIONS.index(item[0]))
    return Candidate(candidate.filesystem, tuple(ordered), size)


def _predicted(default: Judged, judged: Judged, other: Judged) -> tuple[Cell, ...]:
    """Each figure: the default's, times the factors of both steps; a share of states is the least.

    What one of the three does not know is not known.
    """
    cells = []
    for cell, first, second in zip(default.cells, judged.cells, other.cells, strict=True):
        base, a, b = cell.value.value, first.value.value, second.value.value
        value = None
        if base is not None and a is not None and b is not None:
            value = min(a, b) if cell.need.unit == "percent" or not base else a * b / base
        cells.append(Cell(cell.need, Value(value)))
    return tuple(cells)
