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
    size = (len(left) + 1) // 2
    while size:
        before = len(left)
        end = before
        while end > 0:
            rest = (*left[: max(end - size, 0)], *left[end:])
            if rest and harms(rest):
                left = rest
            end -= size
        # One that was needed by another that is gone may go in another round.
        size = size // 2 if size > 1 or len(left) == before else 1
    return left
