"""Delta debugging: a list without all that it does not need to do the same harm.

Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on
Software Engineering 28, 2002: parts of the list are taken out, large ones first. The end is tried
first: what a call needs stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Call = TypeVar("Call")


def shortest(calls: Sequence[Call], harms: Callable[[Sequence[Call]], bool]) -> tuple[Call, ...]:
    """Calls of which none can be left out without losing the harm, in order."""
    left = tuple(calls)
    size = len(left)
    while size:
        before = len(left)
        for end in range(before, 0, -size):
            rest = (*left[: max(end - size, 0)], *left[end:])
            if rest and harms(rest):
                left = rest
        # A single one that was needed by another that is gone may go in another round.
        if size > 1 or len(left) == before:
            size //= 2
    return left
