"""Sections of a page that are folded together: a reader of a small run sees what was decided first.

A section is an element `section` with an id whose first child is its heading; sections do not
contain each other. Folding puts all of it but the heading into an element `details`, which needs no
script; print shows them all open (`report.css`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

SMALL_CASES = 8  # of a run of no more cases, all but the verdict and the failures is folded
_UNFOLDED = ("verdict", "failures")
# What a reader looks up, and does not read from the beginning.
_LOOKED_UP = ("time-model", "results", "commands", "method", "glossary")
_SECTION = re.compile(r'(<section id="([^"]+)"[^>]*>)\s*<h2>(.*?)</h2>(.*?)</section>', re.DOTALL)


def fold(page: str, cases: int) -> str:
    """The page with sections folded, of a run with so many cases."""
    return _SECTION.sub(_folder(small=cases <= SMALL_CASES), page)


def _folder(*, small: bool) -> Callable[[re.Match[str]], str]:
    def folded(match: re.Match[str]) -> str:
        opening, name, heading, rest = match.groups()
        if name in _UNFOLDED or not (small or name in _LOOKED_UP):
            return match[0]
        return (
            f'{opening}\n<details class="part"><summary><h2>{heading}</h2></summary>'
            f"{rest}</details>\n</section>"
        )

    return folded
