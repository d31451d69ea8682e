"""Charts as inline SVG that follows the page's theme.

Vega-Lite draws with stand-in colours (PAINT); afterwards each becomes a CSS variable, so one
drawing serves light, dark and print. Numbers are shortened, identifiers made unique in the page,
and the drawing gets a title for screen readers.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.report.vega import Spec
from ffslab.visible_text import visible_value

Datasets = Mapping[str, Sequence[Mapping[str, Any]]]

SVG_NS = "http://www.w3.org/2000/svg"
VEGA_LITE = "6.4"  # the version that charts are written for
SERIES = 8  # colours for file systems, then they repeat

# Stand-in colour → CSS variable. The values only need to be distinct.
PAINT: dict[str, str] = {
    "ink": "#010101",
    "muted": "#020202",
    "grid": "#030303",
    "paper": "#040404",
    "point": "#050505",
    "t0": "#060600",
    "t1": "#060601",
    "t2": "#060602",
    "t3": "#060603",
    "t4": "#060604",
    **{f"c{slot}": f"#0707{slot:02x}" for slot in range(SERIES)},
}
_VARIABLE = {colour: f"var(--{name})" for name, colour in PAINT.items()}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_DROPPED = ("aria-roledescription", "aria-hidden", "aria-label", "role", "pointer-events", "class")


def theme() -> dict[str, Any]:
    """The Vega-Lite configuration that all charts share: light grid, no frame, quiet axes."""
    return {
        "aria": False,  # the drawing as a whole gets a title instead
        "font": "Liberation Sans",  # measured with this; the page's own font is used for display
        "background": "transparent",
        "padding": {"left": 14, "right": 6, "top": 2, "bottom": 2},  # room for a wider font
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
    """Render a chart to inline SVG; `title` is its text alternative, `identifier` is unique in the
    page, `datasets` are the rows of its named data.
    """
    import vl_convert

    # A label that XML cannot hold, such as an escape of a stranger's, would end the process.
    specification = visible_value({**chart, "config": theme(), "datasets": datasets})
    source = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE)
    return adopt(source, title, identifier)


def adopt(source: str, title: str, identifier: str) -> str:
    """Make a rendered SVG part of the page: theme colours, unique ids, a title, short numbers."""
    ET.register_namespace("", SVG_NS)
    root = ET.fromstring(source)
    for element in root.iter():
        for name in _DROPPED:
            element.attrib.pop(name, None)
        _paint(element)
        _shorten(element, identifier)
    width, height = (root.attrib.pop(name, "0") for name in ("width", "height"))
    root.set("viewBox", root.get("viewBox") or f"0 0 {width} {height}")
    root.set("style", f"max-width:{float(width):.0f}px")
    root.set("role", "img")
    root.set("aria-labelledby", f"{identifier}-title")
    label = ET.Element(f"{{{SVG_NS}}}title", {"id": f"{identifier}-title"})
    label.text = title
    root.insert(0, label)
    _flatten(root)
    # In HTML the element itself names its namespace; the attribute would look like a reference to
    # a network resource.
    return ET.tostring(root, encoding="unicode").replace(f' xmlns="{SVG_NS}"', "", 1)


def _paint(element: ET.Element) -> None:
    """Turn stand-in colours into style declarations (variables do not work everywhere in
    attributes).
    """
    styles = []
    for name in ("fill", "stroke"):
        colour = element.get(name, "")
        if colour in _VARIABLE:
            del element.attrib[name]
            styles.append(f"{name}:{_VARIABLE[colour]}")
    if element.get("font-family"):
        del element.attrib["font-family"]  # the page's font
    if styles:
        element.set("style", ";".join(styles))


def _shorten(element: ET.Element, identifier: str) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            value = f"{identifier}-{value}"
        elif "url(#" in value:
            value = value.replace("url(#", f"url(#{identifier}-")
        elif name in (
            "d",
            "transform",
            "x",
            "y",
            "x1",
            "x2",
            "y1",
            "y2",
            "width",
            "height",
            "points",
        ):
            value = _LONG_NUMBER.sub(lambda m: f"{float(m.group()):.1f}", value)
        element.set(name, value)


def _flatten(parent: ET.Element) -> None:
    """Remove empty drawing and replace groups that carry nothing by their children."""
    for child in list(parent):
        _flatten(child)
        empty = len(child) == 0 and not (child.text or "").strip()
        if (child.tag.endswith("}g") and empty) or (
            child.tag.endswith("}path") and not child.get("d")
        ):
            parent.remove(child)
        elif child.tag.endswith("}g") and not child.attrib:
            position = list(parent).index(child)
            parent.remove(child)
            for offset, grandchild in enumerate(list(child)):
                parent.insert(position + offset, grandchild)


_SYMBOL = re.compile(
    r'<path transform="translate\(([-\d.]+),\s*([-\d.]+)\)" d="[^"]*" '
    r'(?:[a-z-]+="[^"]*" )*style="fill:(var\(--\w+\))"(?: [a-z-]+="[^"]*")*\s*/>'
)


def merge_dots(drawing: str, width: float = 2.2) -> str:
    """The same drawing with neighbouring dots of one colour as one path: a tenth of the bytes.

    Only for drawings whose symbols are all small dots.
    """

    def merged(run: re.Match[str]) -> str:
        dots: dict[str, list[str]] = {}
        for x, y, paint in _SYMBOL.findall(run.group()):
            dots.setdefault(paint, []).append(f"M{float(x):.1f} {float(y):.1f}h0")
        return "".join(
            f'<path d="{"".join(parts)}" style="stroke:{paint};stroke-width:{width};'
            'stroke-linecap:round;fill:none"/>'
            for paint, parts in dots.items()
        )

    return re.sub(rf"(?:{_SYMBOL.pattern})+", merged, drawing)
