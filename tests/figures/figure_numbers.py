"""How a document writes a number, and whether a value is that number.

A number is digits ("5,184", "3.52") or one of some words ("three", "half", "twice"). A value is
compared within what is written: "3.52" is anything from 3.515 to 3.525, "7,778" only itself. A word
is a fifth wide ("half as long": 0.4 to 0.6), but for a value that was counted: "three" is 3 then.

Values are as results store them: nanoseconds, bytes, shares of 1. The unit behind a number, or
behind the second one of "340 to 396 KiB", says what they are divided by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COUNTED = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
WORDS = {word: float(number) for number, word in enumerate(_COUNTED, 2)}
WORDS |= {"twice": 2, "half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "tenth": 1 / 10}
_WORD_WIDTH = 0.2
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
NUMBER = rf"(?:(?<![\w.\-]){_DIGITS}(?![\w⁻]|-\w)|\b(?i:{'|'.join(WORDS)})\b)"
_UNITS = {
    "ns": 1.0,
    "µs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "seconds": 1e9,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "%": 0.01,
}
_UNIT = re.compile(rf"(?:\s*(?:to|and|–|or|,)\s*{_DIGITS})?\s*({'|'.join(_UNITS)})(?!\w)")
_CODE = re.compile(r"^```.*?^```$|`[^`]+`|\]\([^)]+\)", re.MULTILINE | re.DOTALL)


def numbers(text: str) -> Iterator[re.Match[str]]:
    """Every number of a document outside of code and of the targets of links."""
    blank = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    return re.finditer(NUMBER, blank)


def unit_behind(text: str, end: int) -> str:
    """The unit of the number that ends there; empty if it has none."""
    unit = _UNIT.match(text, end)
    return unit[1] if unit else ""


def in_unit(value: float, unit: str) -> float:
    """A stored value in the unit that a document gives it in."""
    return value / _UNITS[unit] if unit else value


def agrees(stated: str, value: float, within: float = 0.0) -> bool:
    """Whether the value is the number, within its digits or by as large a share of it."""
    known = WORDS.get(stated.lower())
    if known is not None:
        return abs(value - known) <= (within or _WORD_WIDTH) * known * (not isinstance(value, int))
    number = float(stated.replace(",", ""))
    rounding = 10.0 ** -_decimals(stated) / 2
    return abs(value - number) <= max(rounding, within * number) * (1 + 1e-9)


def written(value: float, like: str) -> str:
    """The value in the notation of another: as many decimals, or digits if it has more or fewer in
    front of the point. A word that is not right becomes a number.
    """
    decimals = _decimals(like)
    front, was = len(str(int(value))), len(like.partition(".")[0].replace(",", ""))
    if decimals:
        decimals = max(decimals + was - front, 0)
    return f"{value:,.{decimals}f}"


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])
