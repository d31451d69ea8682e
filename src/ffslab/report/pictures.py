"""A chart of a report as a file of its own, SVG or PNG, in the colours of the light theme."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

from ffslab.errors import UsageError
from ffslab.program import command
from ffslab.report import svg
from ffslab.report.charts import PALETTE
from ffslab.report.page import render
from ffslab.results.files import write_atomic

VEGA_LITE = "6.4"  # the version that charts are written for
FONT = "Liberation Sans, Arial, sans-serif"
_CHART = re.compile(
    r'<div class="vega" id="([^"]+)" role="img" aria-label="([^"]*)"[^>]*>'
    r'<script type="application/json">(.*?)</script>',
    re.DOTALL,
)
_LIGHT = {"ink": "#1a1f24", "muted": "#5a646e", "grid": "#e9ecef", "paper": "#ffffff"}
_PNG_SCALE = 2


def charts_in(page: str) -> dict[str, tuple[str, str]]:
    """The charts of a page by their identifiers: title and stored text."""
    return {name: (unescape(title), text) for name, title, text in _CHART.findall(page)}


def write_chart(run_dir: Path, name: str, target: Path) -> Path:
    """Draws the chart `name` of a run's report into `target`, by its ending; UsageError for a chart
    that is not there, with those that are.
    """
    import vl_convert

    if target.suffix not in (".svg", ".png"):
        raise UsageError(
            f"{target}: a chart is written as .svg or .png",
            cause="the file's ending says how",
            remedy=command("report", run_dir, "--chart", name, "--to", f"{name}.svg"),
        )
    charts = charts_in(render(run_dir))
    if name not in charts:
        raise UsageError(
            f"the report of {run_dir} has no chart {name!r}",
            cause=f"it has: {', '.join(charts) or 'none'}",
            remedy=command(
                "report", run_dir, "--chart", next(iter(charts), "NAME"), "--to", target
            ),
        )
    spec = specification(charts[name][1])
    if target.suffix == ".svg":
        write_atomic(target, vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))
    else:
        png = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=_PNG_SCALE)
        target.write_bytes(png)
    return target


def specification(text: str) -> dict[str, Any]:
    """A stored chart as Vega-Lite takes it: rows with their keys, the light theme's colours."""
    light = {name: pair[0] for name, pair in PALETTE.items()} | _LIGHT
    told = json.loads(_painted(text, light))
    config = json.loads(_painted(json.dumps(svg.theme()), light))
    spec: dict[str, Any] = {
        **told["spec"],
        "config": {**config, "font": FONT, "background": "white"},
    }
    spec["datasets"] = {name: svg.rows_of(columns) for name, columns in told["data"].items()}
    spec.setdefault("data", {"name": next(iter(told["data"]))})
    return spec


def _painted(text: str, colours: Mapping[str, str]) -> str:
    for name, stand in svg.PAINT.items():
        text = text.replace(stand, colours.get(name, _LIGHT["ink"]))
    return text
