"""The parts of a line of at most 25 words: pure.

A claim stays in parts until the line is made, so that two of the same subject become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ffslab.report.quantity import capitalized, listed

MOST_WORDS = 25


@dataclass(frozen=True)
class Claim:
    """`subjects` do `deeds`: "UBIFS wears least". `behind`: who comes next in the last deed, with
    which the claim ends. `topic`: what it is about, where the deeds do not say it.
    """

    subjects: tuple[str, ...]
    deeds: tuple[str, ...]
    behind: str = ""
    topic: str = ""

    @property
    def text(self) -> str:
        who = f"{listed(self.subjects)} " if self.subjects else ""
        topic = f"{self.topic}: " if self.topic else ""
        behind = f", then {self.behind}" if self.behind else ""
        return f"{topic}{who}{listed(self.deeds)}{behind}"

    def and_also(self, other: Claim) -> Claim | None:
        """Both in one, if they are of the same subject."""
        if self.topic or other.topic or other.behind or self.subjects != other.subjects:
            return None
        first, second = (other, self) if self.behind else (self, other)
        return replace(self, deeds=(*first.deeds, *second.deeds))


def joined(claims: Sequence[Claim]) -> list[Claim]:
    """The claims in order, each that is of the first one's subject told with it."""
    first, *others = claims
    rest: list[Claim] = []
    for claim in others:
        both = first.and_also(claim)
        first, rest = (both, rest) if both else (first, [*rest, claim])
    return [first, *rest]


def within(parts: Sequence[str], *, told_apart: bool = False) -> str:
    """As many of the parts as there is room for; the first is `told_apart`, else the last is."""
    text = ""
    apart = 1 if told_apart else len(parts) - 1
    for number, part in enumerate(parts):
        longer = f"{text}{';' if number == apart else ','} {part}" if text else part
        if len(longer.split()) <= MOST_WORDS:
            text = longer
    return f"{capitalized(text)}." if text else ""


def have_room(parts: Sequence[str]) -> bool:
    """Whether a line has room for all of the parts."""
    return len(" ".join(parts).split()) <= MOST_WORDS
