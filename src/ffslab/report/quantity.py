"""Numbers as a reader wants them: three significant figures, a unit, thousands apart.

Kept apart from charts and text so that one value looks the same wherever it appears. MB is 10⁶
bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

CUT = "†"  # beside what ended before all that was asked for had been measured
SPACE = "\u00a0"  # between a number and its unit; copied, it is a space


def listed(words: Sequence[str]) -> str:
    """Words as a sentence has them: `A, B and C`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def significant(value: float, figures: int = 3) -> str:
    """`value` with that many significant figures, never in exponent form; integers from 1,000 up
    keep every digit.
    """
    if value == 0:
        return "0"
    value = float(f"{value:.{figures}g}") if abs(value) < 1000 else value
    if abs(value) >= 1000:
        return grouped(round(value))
    return f"{value:.{max(figures - 1 - math.floor(math.log10(abs(value))), 0)}f}"


def capitalized(text: str) -> str:
    """The text with a capital at its beginning, and the rest of it as it is."""
    return f"{text[0].upper()}{text[1:]}"


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|[kMGKT]?i?B(?:/s)?|%)(?!\w))")


def unbroken(text: str) -> str:
    """The text with what keeps a number and its unit on one line."""
    return _BEFORE_UNIT.sub(SPACE, text)


def grouped(value: int) -> str:
    """An integer with thousands set apart, by what spreadsheets read as a part of a number."""
    return f"{value:,}"


def counted(value: float) -> str:
    """A count, whole, or the mean of several."""
    return grouped(int(value)) if float(value).is_integer() else significant(value)


def duration(ns: float) -> str:
    """A duration with the unit that keeps it between 1 and 1,000."""
    if abs(ns) < 1000 and float(ns).is_integer():
        return f"{int(ns)}{SPACE}ns"
    for limit, scale, unit in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if abs(ns) < limit * 0.9995:
            return f"{significant(ns / scale)}{SPACE}{unit}"
    return f"{significant(ns / 1e9)}{SPACE}s"


def difference(ns: float) -> str:
    """A difference of durations with its sign."""
    return f"{'+' if ns > 0 else '−'}{duration(abs(ns))}"


def times(ratio: float) -> str:
    """A ratio as ×n, with three significant digits."""
    return f"×{significant(ratio)}"
