"""Repeats of a case, where time is a real clock's.

In virtual time equal specs give equal results, and a repeat says nothing. On a board each run of a
case takes another time. The setting `repeat` numbers them: 1 is the case as it would be without
the setting, 2 and more are cases of their own that do exactly the same. So a repeat is run, fails
and is resumed like any case; what is shown and compared is the median of all
(`ffslab.results.repeats`).
"""

from __future__ import annotations

from typing import Any

from ffslab.errors import SpecError
from ffslab.model.specs import FIRST_REPEAT, REPEAT

MOST = 99


def repeat_of(value: Any, where: str) -> int:
    """The number of a repeat; SpecError for what is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not FIRST_REPEAT <= value <= MOST:
        raise SpecError(
            f"{where}: {REPEAT} must be an integer from {FIRST_REPEAT} to {MOST}, not {value!r}",
            cause="it numbers the times that a case is run on a board",
            remedy="--repeats 5 on the command line",
        )
    return value


def repeat_values(count: int) -> tuple[int, ...]:
    """The values of the axis that runs each case so many times."""
    return tuple(range(FIRST_REPEAT, FIRST_REPEAT + count))
