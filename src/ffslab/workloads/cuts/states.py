"""Which states of a log are gone through: moments of it, and what cuts leave of the next operation.

Every kind of cut that applies to an operation is a state of its own. Two are the same flash, and
only one of them is gone through: an operation that was *done* when power failed leaves what the
next one leaves that was *lost*. It is told nothing stronger: of a call whose last operation is cut
nobody knows that it returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ffslab.errors import DamagedResultError
from ffslab.oracle.faults import KINDS, OPERATIONS, PROGRAM, Variants
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.walk import Cut


@dataclass(frozen=True, slots=True)
class Logged:
    """An operation that changed the flash: a line of the chip's log, as it stands there."""

    number: int
    verb: str
    block: int
    page: int | None
    line: str


def parse_log(text: str) -> tuple[Logged, ...]:
    """The operations of /proc/vnand/NAME/log; DamagedResultError for another text."""
    operations: list[Logged] = []
    for line in text.splitlines():
        words = line.split(" ")
        try:
            number, verb, block = int(words[0]), words[1], int(words[2])
            page = int(words[3]) if verb == PROGRAM else None
        except (ValueError, IndexError) as error:
            raise _not_a_log(line) from error
        if verb not in OPERATIONS or number != len(operations):
            raise _not_a_log(line)
        operations.append(Logged(number, verb, block, page, line))
    return tuple(operations)


def _not_a_log(line: str) -> DamagedResultError:
    return DamagedResultError(
        f"the chip's log has a line that is not understood: {line[:100]!r}",
        cause="the chip’s module is of another version",
    )


def kinds_of(operation: Logged, kinds: Sequence[str], *, paired: bool) -> tuple[str, ...]:
    """Those of the kinds that cut such an operation, in their order."""
    return tuple(
        kind
        for kind in kinds
        if operation.verb in KINDS[kind].hits and (paired or not KINDS[kind].needs_paired_pages)
    )


def all_cuts(
    log: Sequence[Logged], cuts: Cuts, *, paired: bool, same_twice: bool = False
) -> Iterator[Cut]:
    """All cuts of a log in order; those that leave the same flash once, or `same_twice`."""
    for operation in log:
        is_last = operation.number == len(log) - 1
        for kind in kinds_of(operation, cuts.cut_kinds, paired=paired):
            if kind == "done" and "lost" in cuts.cut_kinds and not is_last and not same_twice:
                continue
            ways = KINDS[kind].variants
            variants = 1 if ways is Variants.ONE else cuts.variants
            # Of ways that are counted one operation gets one, the next the next.
            first = operation.number if ways is Variants.COUNTED else 0
            yield from (Cut(operation.number, kind, first + at) for at in range(variants))


def drawn(cuts: Iterable[Cut], count: int, seed: int, what: str) -> list[Cut]:
    """So many of the cuts, in order, by a draw that is the same everywhere; all of them for 0.

    `what` makes the draws of several logs differ.
    """
    whole = list(cuts)
    if not count or count >= len(whole):
        return whole

    def rank(cut: Cut) -> bytes:
        return hashlib.sha256(f"{seed} {what} {cut}".encode()).digest()

    wanted = set(sorted(whole, key=rank)[:count])
    return [cut for cut in whole if cut in wanted]
