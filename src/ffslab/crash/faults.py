"""The kinds of fault that a cut may be (docs/fault-model.md), and what each excuses.

A fault makes its page unreadable, or spoils data that were good; what follows from that is not the
file system's mistake. What it excuses is a property of the kind: unreadable sectors of data that no
sync had made durable, of any data, or the loss of data that were durable; and that of several calls
in one page a later one is there and an earlier one is not. Bytes that nobody wrote
there are excused by none: ECC, or the file system's own sums, notice them.

An unstable page reads well at the recovery, and badly at the mount after it. So its excuses are for
the second mount only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ffslab.crash.operations import FormatError

PROGRAM, ERASE, MARK = "program", "erase", "mark"


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


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind: which operations it may hit, and what it excuses at the first and second mount.

    `is_seeded`: its variants are seeds, as many as one likes; else they are enumerated by the chip.
    """

    name: str
    hits: frozenset[str]
    first: Excuse = NO_EXCUSE
    second: Excuse = NO_EXCUSE
    is_seeded: bool = False
    needs_paired_pages: bool = False


_ALL = frozenset({PROGRAM, ERASE, MARK})
_PROGRAM = frozenset({PROGRAM})
KINDS: Mapping[str, FaultKind] = {
    kind.name: kind
    for kind in (
        FaultKind("lost", _ALL),
        FaultKind("done", _ALL),
        FaultKind("torn-prefix", _PROGRAM, _TORN, _TORN),
        FaultKind("torn-bits", _PROGRAM, _TORN_BITS, _TORN_BITS, is_seeded=True),
        FaultKind("erase-half", frozenset({ERASE}), is_seeded=True),
        FaultKind("unstable", frozenset({PROGRAM, ERASE}), second=_UNSTABLE, is_seeded=True),
        FaultKind("paired", _PROGRAM, _UNSTABLE, _UNSTABLE, needs_paired_pages=True),
    )
}


def kind_of(name: str) -> FaultKind:
    """The kind of this name; FormatError if there is none."""
    found = KINDS.get(name)
    if found is None:
        raise FormatError(f"no kind of fault: {name!r}", remedy=f"kinds: {', '.join(KINDS)}")
    return found
