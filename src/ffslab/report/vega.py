"""The forms that charts are made of, as Vega-Lite states them: pure.

A chart is a dictionary in Vega-Lite's own language (https://vega.github.io/vega-lite/docs/), which
`svg.draw` renders. Its rows are data with a name, given apart. The tests check every chart against
Vega-Lite's schema.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]

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
