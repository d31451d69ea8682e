"""Calls that somebody wrote down: a history as its author types it.

A line, or what `;` separates, is one call, in the words of `ffslab.oracle.operations`. Empty ones
and what follows a blank and `//` are left out. `#` in the place of a seed is a new seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ffslab.oracle.acts import operations_of
from ffslab.oracle.history import History
from ffslab.oracle.operations import FormatError, Operation

SEPARATOR = ";"
_COMMENT = re.compile(r"(?<!\S)//.*")


def calls_of(text: str) -> tuple[str, ...]:
    """The calls, without comments, each with single blanks."""
    return tuple(call for _, call in _numbered(text))


def history_of_calls(text: str, seed: int) -> History:
    """Their history; FormatError, which names the line, for what is no call, or no call at all."""
    operations: list[Operation] = []
    for number, call in _numbered(text):
        try:
            operations += operations_of((call,), seed, len(operations) + 1)
        except FormatError as error:
            said = error.message.partition(": ")[2]
            raise FormatError(
                f"line {number}: {said}", cause=error.cause, remedy=error.remedy
            ) from error
    if not operations:
        raise FormatError(
            "there are no calls",
            cause="each line is one call, as `rename d e`",
            remedy="docs/power-cuts.md, 'Your own calls', has all of them",
        )
    return History(tuple(operations))


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Each call behind the number of its line."""
    for number, line in enumerate(text.splitlines(), 1):
        for call in _COMMENT.sub("", line).split(SEPARATOR):
            words = call.split()
            if words:
                yield number, " ".join(words)
