"""Charts as the page has them: Vega-Lite's specification, which the page's own script draws.

A chart is drawn when it comes into view, and before printing. Its colours are stand-ins (PAINT),
which become those of the page's theme then. Rows are stored by column, without their keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ffslab.report.vega import Spec
from ffslab.visible_text import visible_value

Datasets = Mapping[str, Sequence[Mapping[str, Any]]]

SERIES = 8  # colours for file systems, then they repeat

# Stand-in colour by the name of a CSS variable. The values only need to be distinct.
PAINT: dict[str, str] = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "paper": "#040404",
    "point": "#050505",
    "good": "#060606",
    "bad": "#060605",
    "t0": "#060600",
    "t1": "#060601",
    "t2": "#060602",
    "t3": "#060603",
    "t4": "#060604",
    "t5": "#060607",
    "t6": "#060608",
    "t7": "#060609",
    "t8": "#06060a",
    **{f"c{slot}": f"#0707{slot:02x}" for slot in range(SERIES)},
}
_WIDE = 360  # without its names; such a chart has the room of two beside each other
_DIGITS = 6  # that count: more than a drawing shows


def theme() -> dict[str, Any]:
    """The Vega-Lite configuration that all charts share: light grid, no frame, quiet axes."""
    return {
        "font": "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif",
        "background": "transparent",
        "padding": {"left": 4, "right": 6, "top": 2, "bottom": 2},
        "view": {"stroke": "transparent"},
        "axis": {
            "labelColor": PAINT["muted"],
            "titleColor": PAINT["muted"],
            "labelFontSize": 11.5,
            "titleFontSize": 11.5,
            "titleFontWeight": "normal",
            "gridColor": PAINT["grid"],
            "gridWidth": 1,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "titlePadding": 6,
        },
        "axisY": {"labelColor": PAINT["ink"]},
        "header": {
            "labelColor": PAINT["ink"],
            "labelFontSize": 12,
            "labelFontWeight": "bold",
            "titleColor": PAINT["muted"],
        },
        "title": {"color": PAINT["ink"], "fontSize": 12},
        "legend": {
            "labelColor": PAINT["ink"],
            "titleColor": PAINT["muted"],
            "labelFontSize": 11.5,
            "titleFontSize": 11.5,
            "titleFontWeight": "normal",
            "symbolStrokeWidth": 0,
        },
        "text": {"color": PAINT["ink"], "fontSize": 11.5},
    }


def draw(chart: Spec, title: str, identifier: str, datasets: Datasets) -> str:
    """A chart as a part of the page; `title` is its text alternative, `identifier` is unique in the
    page, `datasets` are the rows of its named data.
    """
    columns = {name: _by_column(rows) for name, rows in datasets.items()}
    told = json.dumps(
        visible_value({"spec": chart, "data": columns}), separators=(",", ":"), ensure_ascii=False
    )
    width = chart.get("width", 0)
    is_wide = "facet" in chart or (isinstance(width, int) and width >= _WIDE)
    words = f'aria-label="{escape(title)}"{" data-wide" if is_wide else ""}'
    return (
        f'<div class="vega" id="{escape(identifier)}" role="img" {words}>'
        f'<script type="application/json">{told.replace("<", chr(92) + "u003c")}</script></div>'
    )


def _by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_short(row.get(name)) for row in rows] for name in names}


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of stored columns, with their keys."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
