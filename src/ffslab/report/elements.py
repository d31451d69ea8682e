"""What every report's page is made of: panels, tables, keys of a legend, and the templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ffslab.errors import MissingExtraError
from ffslab.paths import cache_dir
from ffslab.report import svg
from ffslab.report.bundle import browser_bundle
from ffslab.report.charts import PALETTE
from ffslab.report.data import BETWEEN, axis_name
from ffslab.report.quantity import unbroken
from ffslab.report.wear import RAMP
from ffslab.visible_text import visible_value
from ffslab.workloads.registry import folder_of, workloads


@dataclass(frozen=True)
class Table:
    """A table of text: the first `text_columns` columns are words, the others numbers.

    `told`: the numbers are words too, which break. `outcomes`: the second column is a case's
    outcome. `wrapped`: columns whose text is long. `headings`: what stands over the row of that
    number and those that follow. `note`: what marks in the cells mean.
    """

    title: str
    head: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1
    outcomes: bool = False
    told: bool = False
    wrapped: tuple[int, ...] = ()
    headings: Mapping[int, str] = field(default_factory=dict)
    note: str = ""


_MANY = 8  # more configurations stand below the names of their file systems


def by_filesystem(table: Table) -> Table:
    """A table of many configurations, whose first column names them, below their file systems."""
    if table.headings or len({row[0] for row in table.rows}) <= _MANY:
        return table
    headings: dict[int, str] = {}
    rows = []
    last = ""
    for number, row in enumerate(table.rows):
        name, _, rest = row[0].partition(BETWEEN)
        if name != last:
            headings[number] = last = name
        rows.append((rest or name, *row[1:]))
    return replace(table, rows=tuple(rows), headings=headings)


def environment() -> Any:
    """The templates; MissingExtraError when the packages that a report needs are not there."""
    try:
        import jinja2
        import vl_convert  # noqa: F401  (imported here to explain its absence)
    except ImportError as error:
        raise MissingExtraError(
            f"a report needs the Python package {error.name}",
            cause="ffslab was installed without its `report` extra",
            remedy="pip install 'ffslab[report]' (in a checkout: pip install '.[report]')",
        ) from error
    from ffslab.report.compiled import CompiledTemplates

    templates = jinja2.Environment(
        bytecode_cache=CompiledTemplates(cache_dir() / "template"),
        loader=jinja2.ChoiceLoader(
            [
                jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
                jinja2.PrefixLoader(
                    {
                        kind: jinja2.FileSystemLoader(folder_of(kind) / "report")
                        for kind in workloads()
                    }
                ),
            ]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["bold"] = _bold
    templates.filters["json"] = _json
    templates.filters["axis"] = axis_name
    templates.globals["palette"] = PALETTE
    templates.globals["ramp"] = RAMP
    templates.globals["tones"] = {"✓": "good", "✗": "bad", "?": "plain"}
    templates.globals["bundle"] = browser_bundle
    templates.globals["paint"] = {colour: name for name, colour in svg.PAINT.items()}
    templates.globals["chart_config"] = svg.theme()
    return templates


def _json(value: Any) -> Any:
    """A value as a part of a script, which nothing in it ends."""
    from markupsafe import Markup

    told = json.dumps(visible_value(value), separators=(",", ":"), ensure_ascii=False)
    return Markup(told.replace("<", "\\u003c"))


def _bold(text: str) -> Any:
    """**bold** marks as <strong>, everything else escaped; numbers stay with their units."""
    from markupsafe import Markup, escape

    parts = unbroken(text).split("**")
    joined = Markup("")
    for number, part in enumerate(parts):
        joined += Markup("<strong>{}</strong>").format(part) if number % 2 else escape(part)
    return joined
