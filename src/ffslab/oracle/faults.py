"""The kinds of fault that a cut may be (docs/fault-model.md): a row for each.

What a kind does to the flash is its function in kmod/vnand_crash/cut.c, under the same name. All
else that is to be known of it is in its row here.

A fault makes its page unreadable, or spoils data that were good; what follows from that is not the
file system's mistake. What it excuses is a property of the kind: unreadable sectors of data that no
sync had made durable, of any data, or the loss of data that were durable; and that of several calls
in one page a later one is there and an earlier one is not. Bytes that nobody wrote
there are excused by none: ECC, or the file system's own sums, notice them.

An unstable page reads well at the recovery, and badly at the mount after it. So its excuses are for
the second mount only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ffslab.model.specs import NAND, NOR
from ffslab.oracle.operations import FormatError

PROGRAM, ERASE, MARK = "program", "erase", "mark"
_ALL_FLASH = frozenset({NAND, NOR})
OPERATIONS = frozenset({PROGRAM, ERASE, MARK})


@dataclass(frozen=True, slots=True)
class Excuse:
    """What an observation may show that would be a problem otherwise."""

    unreadable_unsynced: bool = False
    unreadable_synced: bool = False
    lost: bool = False
    reordered: bool = False


NO_EXCUSE = Excuse()
_TORN = Excuse(unreadable_unsynced=True)
_TORN_BITS = Excuse(unreadable_unsynced=True, reordered=True)
_UNSTABLE = Excuse(unreadable_unsynced=True, unreadable_synced=True, lost=True)


class Variants(Enum):
    """In how many ways a kind can cut one operation."""

    ONE = "one"
    COUNTED = "counted"
    SEEDS = "seeds"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultKind:
    """A kind of cut.

    `left`: of the operation, for the reader of a report. `hits`: the operations that it cuts.
    `flash`: the technologies that have it.
    `first`, `second`: what it excuses at the first mount, and at the second. `in_recovery`: a
    recovery is cut in this way, too. `in_a_row`: a series of cuts on one flash has it; what reads
    well at first and badly later would be told of the wrong cut there. `on_request`: it is made
    only where a study names it; the figures of all others stay.
    """

    name: str
    left: str
    hits: frozenset[str]
    flash: frozenset[str] = _ALL_FLASH
    variants: Variants = Variants.SEEDS
    first: Excuse = NO_EXCUSE
    second: Excuse = NO_EXCUSE
    needs_paired_pages: bool = False
    in_recovery: bool = False
    in_a_row: bool = True
    on_request: bool = False


_PROGRAM = frozenset({PROGRAM})
KINDS: Mapping[str, FaultKind] = {
    kind.name: kind
    for kind in (
        FaultKind(
            name="lost",
            left="nothing of the operation happened",
            hits=OPERATIONS,
            variants=Variants.ONE,
            in_recovery=True,
        ),
        FaultKind(
            name="done",
            left="all of it happened, and nobody was told; for all but the last operation that is "
            "the next one, lost",
            hits=OPERATIONS,
            variants=Variants.ONE,
        ),
        FaultKind(
            name="torn-prefix",
            left="the first sub-pages of a program, each whole; on NOR flash the first bytes",
            hits=_PROGRAM,
            variants=Variants.COUNTED,
            first=_TORN,
            second=_TORN,
            in_recovery=True,
        ),
        FaultKind(
            name="torn-bits",
            left="a part of a program’s bits",
            hits=_PROGRAM,
            first=_TORN_BITS,
            second=_TORN_BITS,
            in_recovery=True,
        ),
        FaultKind(
            name="erase-half",
            left="each page of the block blank, in between, or as before",
            hits=frozenset({ERASE}),
            flash=frozenset({NAND}),
        ),
        # It excuses nothing: who erases a block again that only looks blank loses nothing.
        FaultKind(
            name="erase-weak",
            left="a block that reads as blank, and keeps badly what is programmed there until it "
            "is erased again",
            hits=frozenset({ERASE}),
            flash=frozenset({NAND}),
            on_request=True,
        ),
        FaultKind(
            name="erase-zeros",
            left="zeros from one end of the sector on, as before from there to the other",
            hits=frozenset({ERASE}),
            flash=frozenset({NOR}),
        ),
        FaultKind(
            name="erase-bits",
            left="zeros in all of the sector, of which a part has become ones",
            hits=frozenset({ERASE}),
            flash=frozenset({NOR}),
        ),
        FaultKind(
            name="unstable",
            left="reads well at the recovery, and wrongly once power was off again",
            hits=frozenset({PROGRAM, ERASE}),
            flash=frozenset({NAND}),
            second=_UNSTABLE,
            in_a_row=False,
        ),
        FaultKind(
            name="weak-bits",
            left="reads as it was meant at the recovery, and with some bits of it undone once "
            "power was off again",
            hits=frozenset({PROGRAM, ERASE}),
            flash=frozenset({NOR}),
            second=_UNSTABLE,
            in_a_row=False,
        ),
        FaultKind(
            name="paired",
            left="a torn program that destroys an earlier page which shares its cells",
            hits=_PROGRAM,
            flash=frozenset({NAND}),
            first=_UNSTABLE,
            second=_UNSTABLE,
            needs_paired_pages=True,
            in_a_row=False,
        ),
    )
}


# What is made where a study names no kinds.
USUAL = tuple(kind.name for kind in KINDS.values() if not kind.on_request)


def kinds_on(technologies: Iterable[str], kinds: Iterable[str] = USUAL) -> tuple[str, ...]:
    """Those of the kinds that flash of one of these technologies has, in their order."""
    there = frozenset(technologies)
    return tuple(kind for kind in kinds if there & KINDS[kind].flash)


def kind_of(name: str) -> FaultKind:
    """The kind of this name; FormatError if there is none."""
    kind = KINDS.get(name)
    if kind is None:
        raise FormatError(f"no kind of fault: {name!r}", remedy=f"kinds: {', '.join(KINDS)}")
    return kind
