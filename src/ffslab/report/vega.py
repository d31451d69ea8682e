"""The forms that charts are made of, as Vega-Lite states them: pure.

A chart is a dictionary in Vega-Lite's own language (https://vega.github.io/vega-lite/docs/), which
`svg.draw` renders. Its rows are data with a name, given apart. The tests check every chart against
Vega-Lite's schema.
"""

from __future__ import annotations

import math
from typing import Any

Spec = dict[str, Any]

PLAIN_NUMBER = "format(datum.value, ',.6~r')"  # of an axis, without an exponent
_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


def field(name: str, **settings: Any) -> Spec:
    """A channel that shows a field of the rows: its name, and after a colon its kind's letter."""
    column, _, letter = name.partition(":")
    kind = {"type": _TYPES[letter]} if letter else {}
    return {"field": column, **kind, **settings}


def as_is(name: str) -> Spec:
    """A channel whose values are the colours, dashes or shapes themselves."""
    return field(name, scale=None, legend=None)


def mark(kind: str, encoding: Spec, data: str = "", where: str = "", **settings: Any) -> Spec:
    """A layer: marks of one kind for the rows of `data`, of which `where` chooses."""
    made: Spec = {"mark": {"type": kind, **settings}, "encoding": encoding}
    if data:
        made["data"] = {"name": data}
    if where:
        made["transform"] = [{"filter": where}]
    return made


def log_scale(low: float, high: float, **settings: Any) -> Spec:
    """A logarithmic scale from `low` to `high`, neither of which is rounded."""
    return {"type": "log", "domain": [low, high], "nice": False, **settings}


def linear_scale(low: float, high: float) -> Spec:
    """A linear scale from `low` to `high`, neither of which is rounded."""
    return {"domain": [low, high], "nice": False}


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two values; with steps between them where there are fewer than 3."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks: list[float] = []
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        every = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks
