"""Latency distributions as lines: the share of operations that took longer than a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.report import svg
from ffslab.report.charts import Look
from ffslab.report.distribution import Tail
from ffslab.report.vega import Spec, as_is, field, log_scale, mark


@dataclass(frozen=True)
class Line:
    """One line of a latency chart."""

    facet: str
    filesystem: str
    options: str
    tail: Tail


def tails(lines: Sequence[Line], title: str, look: Look, identifier: str) -> str:
    """The share of operations slower than t, both axes logarithmic, one panel per initial state
    on the same scales.
    """
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        rows.extend(
            {
                "facet": line.facet,
                "line": number,
                "t": t_ns,
                "share": share,
                "paint": svg.PAINT[look.colour(line.filesystem)],
                "dash": list(look.dash(line.options)),
            }
            for t_ns, share in line.tail
        )
    facets = list(dict.fromkeys(line.facet for line in lines))
    header = {"labelAnchor": "start"}
    chart = {
        "data": {"name": "rows"},
        "facet": {"column": field("facet:N", sort=facets, title=None, header=header)},
        "spec": {
            **mark("line", _tail_encoding(rows), interpolate="step-after", strokeWidth=1.6),
            "width": 370 if len(facets) > 1 else 560,
            "height": 190,
        },
        "spacing": 36,
    }
    return svg.draw(chart, title, identifier, {"rows": rows})


def _tail_encoding(rows: Sequence[Mapping[str, Any]]) -> Spec:
    low = max(min(row["t"] for row in rows), 1) * 0.8
    high = max(row["t"] for row in rows) * 1.1
    floor = min(row["share"] for row in rows) * 0.8
    shares = {
        "values": _decades(floor, 1),
        "labelExpr": "format(datum.value * 100, '~g') + ' %'",
        "labelColor": svg.PAINT["muted"],
    }
    return {
        "x": field(
            "t:Q",
            title="latency",
            scale=log_scale(low, high),
            axis={
                "values": _decades(low, high),
                "labelExpr": _TIME_LABEL,
                "labelFlush": False,
            },
        ),
        "y": field(
            "share:Q",
            title="share of operations slower",
            scale=log_scale(floor, 1),
            axis=shares,
        ),
        "detail": field("line:N"),
        "stroke": as_is("paint:N"),
        "strokeDash": as_is("dash:N"),
    }


_TIME_LABEL = (
    "datum.value < 1e3 ? format(datum.value, '~g') + ' ns' : datum.value < 1e6 ? "
    "format(datum.value / 1e3, '~g') + ' µs' : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~g') + ' ms' : format(datum.value / 1e9, "
    "'~g') + ' s'"
)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between low and high."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [float(f"1e{exponent}") for exponent in range(first, last + 1)]
