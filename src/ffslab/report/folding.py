"""Sections of a page that are folded together: a reader of a small run sees what was decided first.

A section is an element `section` with an id whose first child is its heading; sections do not
contain each other. Folding puts all of it but the heading into an element `details`, which needs no
script; print shows them all open (`report.css`).
"""

from __future__ import annotations

import re

SMALL_CASES = 8  # of a run of no more cases, all but the verdict and the failures is folded
_UNFOLDED = ("verdict", "failures")
_OPEN = 'class="unfolded"'  # of a section that says what the whole run was for
# What a reader looks up, and does not read from the beginning.
_LOOKED_UP = ("time-model", "results", "commands", "method", "glossary")
_HEAD = re.compile(r'(<section id="([^"]+)"[^>]*>)\s*<h2>(.*?)</h2>')
_END = "</section>"


def fold(page: str, cases: int) -> str:
    """The page with sections folded, of a run with so many cases."""
    *sections, rest = page.split(_END)
    small = cases <= SMALL_CASES
    return "".join([*(_folded(text, small=small) + _END for text in sections), rest])


def _folded(text: str, *, small: bool) -> str:
    """What stands before the end of a section: something between sections, then the section."""
    begin = text.rfind("<section ")
    head = _HEAD.match(text, begin) if begin >= 0 else None
    if head is None:
        return text
    opening, name, heading = head.groups()
    if name in _UNFOLDED or _OPEN in opening or not (small or name in _LOOKED_UP):
        return text
    return (
        f'{text[:begin]}{opening}\n<details class="part"><summary><h2>{heading}</h2></summary>'
        f"{text[head.end() :]}</details>\n"
    )
