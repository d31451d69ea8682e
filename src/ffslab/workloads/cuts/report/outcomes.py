"""What became of the states: a table file system × kind of cut, below each history.

A cell is coloured by its worst outcome, and says it in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ffslab.oracle.faults import KINDS
from ffslab.oracle.problems import CLASSES
from ffslab.report.quantity import grouped
from ffslab.workloads.cuts.outcomes import (
    CHANGED_BY_POWER,
    CHANGED_BY_USE,
    CORRECT,
    GUEST_DIED,
    MOUNT_FAILS,
    OUTCOMES,
    REMOUNT_FAILS,
    wrong_words,
)
from ffslab.workloads.cuts.report.load import Part
from ffslab.workloads.cuts.stored import outcomes_of as outcomes_of_case

_ALL_LOST = frozenset({GUEST_DIED, MOUNT_FAILS, REMOUNT_FAILS})
_SOME_LOST = frozenset({*CLASSES, CHANGED_BY_USE, CHANGED_BY_POWER})
# How a cell looks, and what that means; the worst first.
TONES: Mapping[str, str] = {
    "fatal": "the kernel died, or it does not mount",
    "harm": "the tree is not what it may be",
    "use": "it cannot be written, or the kernel warned",
    "good": "all correct",
}
RANDOM = "at random"
SECOND = " / "  # between the kinds of two cuts


@dataclass(frozen=True)
class Cell:
    """The states of a file system, a history and a kind of cut; `lines` are what was wrong."""

    tone: str
    head: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A file system with a history: its states, and a cell for each kind of cut."""

    label: str
    states: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Block:
    """The rows of a history."""

    history: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Outcomes:
    """The whole table. `spans`: titles over the columns, each with how many these are."""

    columns: tuple[str, ...]
    spans: tuple[tuple[str, int], ...]
    blocks: tuple[Block, ...]
    tones: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]


def tone_of(outcome: str) -> str:
    """How bad an outcome is: a key of `TONES`."""
    if outcome == CORRECT:
        return "good"
    return "fatal" if outcome in _ALL_LOST else "harm" if outcome in _SOME_LOST else "use"


def total(parts: Iterable[Part]) -> Counter[str]:
    """All states of cases by outcome."""
    counted: Counter[str] = Counter()
    for part in parts:
        counted.update(outcomes_of_case(part.cuts))
    return counted


def outcomes_of(parts: Sequence[Part]) -> Outcomes:
    """The table of all cases; of a sample it says of how many states."""
    first = [kind for kind in KINDS if any(kind in part.cuts["counts"] for part in parts)]
    second = [kind for kind in KINDS if any(_of_second(part, kind) for part in parts)]
    random = [RANDOM] if any(part.cuts["random"] for part in parts) else []
    spans = [("the history is cut", len(first)), ("its recovery is cut, too", len(second))]
    spans.append(("a sample", len(random)))
    blocks = []
    for history in dict.fromkeys(part.history for part in parts):
        rows = [
            Row(
                part.label,
                _states(part),
                _cells(part, first, second, random),
            )
            for part in parts
            if part.history == history
        ]
        blocks.append(Block(history, tuple(rows)))
    outcomes = total(parts)
    tones = {tone_of(outcome) for outcome in outcomes}
    return Outcomes(
        (*first, *second, *random),
        tuple(span for span in spans if span[1]) if second or random else (),
        tuple(blocks),
        tuple((tone, words) for tone, words in TONES.items() if tone in tones),
        tuple((word, OUTCOMES[word]) for word in OUTCOMES if outcomes[word] and word != CORRECT),
    )


def _states(part: Part) -> str:
    """Those of one cut, of how many if these are not all, and those of two: "40 of 410 + 120"."""
    states, possible = part.cuts["states"], part.cuts["states_possible"]
    counts = part.cuts["counts"]
    if not part.workload.sample:
        return grouped(states)
    once = sum(sum(outcomes.values()) for kind, outcomes in counts.items() if SECOND not in kind)
    if once >= possible:
        return grouped(states)
    twice = f" + {grouped(states - once)}" if states > once else ""
    return f"{grouped(once)} of {grouped(possible)}{twice}"


def _cells(
    part: Part, first: Sequence[str], second: Sequence[str], random: Sequence[str]
) -> tuple[Cell | None, ...]:
    cells = [_cell(part.cuts["counts"].get(kind, {})) for kind in first]
    cells += [_cell(_of_second(part, kind)) for kind in second]
    return (*cells, *(_cell(part.cuts["random"]) for _ in random))


def _of_second(part: Part, kind: str) -> Counter[str]:
    """The states in which the recovery was cut in this way, whatever the first cut was."""
    counted: Counter[str] = Counter()
    for name, counts in part.cuts["counts"].items():
        if name.endswith(f"{SECOND}{kind}"):
            counted.update(counts)
    return counted


def _cell(counts: Mapping[str, int]) -> Cell | None:
    whole = sum(counts.values())
    if not whole:
        return None
    worst = next(word for word in OUTCOMES if counts.get(word))
    correct = counts.get(CORRECT, 0)
    head = grouped(whole) if correct == whole else f"{grouped(correct)} of {grouped(whole)}"
    return Cell(tone_of(worst), head, tuple(wrong_words(counts)))
