"""What the guest recorded of a history: each call's error, and where the chip's log stood.

`op INDEX ERRNO FIRST LAST` for each operation: the chip had logged FIRST operations before the call
and LAST when it had returned. Then `end COUNT FIRST LAST`. A cut at operation K leaves operations
0 … K − 1. So a call is *finished* before it if LAST ≤ K, and has at least *begun* if FIRST ≤ K.

A record without its end is of a guest that died: the call after the last one may have begun.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from ffslab.oracle.operations import FormatError, number


@dataclass(frozen=True, slots=True)
class Call:
    """One operation as it went: its errno (0: good), operations logged before and after."""

    errno: int
    first: int
    last: int


@dataclass(frozen=True)
class Record:
    """All calls, in order; `is_complete`: the history came to its end."""

    calls: tuple[Call, ...]
    is_complete: bool

    @cached_property
    def _firsts(self) -> list[int]:
        return [call.first for call in self.calls]

    @cached_property
    def _lasts(self) -> list[int]:
        return [call.last for call in self.calls]

    def finished(self, cut: int) -> int:
        """How many calls had returned before a cut at this operation."""
        return bisect_right(self._lasts, cut)

    def begun(self, cut: int) -> int:
        """How many calls may have begun, the finished ones among them."""
        begun = bisect_right(self._firsts, cut)
        if begun == len(self.calls) and not self.is_complete:
            begun += self.finished(cut) == begun
        return begun


def parse_record(text: str) -> Record:
    """The record of a text; FormatError with the line's number if it is none."""
    calls: list[Call] = []
    is_complete = False
    for at, line in enumerate(text.splitlines(), 1):
        where = f"record, line {at}"
        words = line.split(" ")
        if is_complete:
            raise FormatError(f"{where}: something behind the end: {line!r}")
        if words[0] == "op" and len(words) == 5:
            calls.append(_call(words, len(calls), calls[-1].last if calls else 0, where))
        elif words[0] == "end" and len(words) == 4:
            if number(words[1], where, "COUNT") != len(calls):
                raise FormatError(f"{where}: {words[1]} operations, and {len(calls)} lines")
            is_complete = True
        else:
            raise FormatError(
                f"{where}: neither an operation nor the end: {line!r}",
                cause="the guest died while it wrote, or this is another file",
                remedy="lines are 'op INDEX ERRNO FIRST LAST', then 'end COUNT FIRST LAST'",
            )
    return Record(tuple(calls), is_complete)


def _call(words: list[str], index: int, before: int, where: str) -> Call:
    values = [
        number(word, where, name)
        for word, name in zip(words[1:], ("INDEX", "ERRNO", "FIRST", "LAST"), strict=True)
    ]
    if values[0] != index:
        raise FormatError(f"{where}: operation {values[0]} where {index} is due")
    call = Call(*values[1:])
    if not before <= call.first <= call.last:
        raise FormatError(f"{where}: the log goes backwards: {before}, {call.first}, {call.last}")
    return call
