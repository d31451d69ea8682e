"""What every report's page is made of: panels, tables, keys of a legend, and the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ffslab.errors import MissingExtraError
from ffslab.paths import cache_dir
from ffslab.report.data import BETWEEN
from ffslab.report.quantity import unbroken
from ffslab.workloads.registry import folder_of, workloads


@dataclass(frozen=True)
class Panel:
    """A small chart with its heading."""

    title: str
    meaning: str
    drawing: str


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


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a colour name and, for lines, a dash."""

    label: str
    colour: str
    dash: str = ""


_MANY = 8  # more configurations stand below the names of their file systems


def seeds_text(seeds: Sequence[object], many: str = "figures are means over them") -> str:
    """How many seeds, in words that do not suggest statistics; `many` is what is shown of them."""
    if len(seeds) < 2:
        return "One seed: every figure is exact for that scenario and says nothing about others"
    return f"{len(seeds)} seeds: {many}"


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


def legend(keys: Sequence[Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """The entries of a legend with their labels; many of them by file system, whose name they then
    need not repeat.
    """
    if len(keys) <= _MANY:
        return [("", [(key.label, key) for key in keys])]
    groups: dict[str, list[tuple[str, Any]]] = {}
    for key in keys:
        name, _, rest = key.label.partition(BETWEEN)
        groups.setdefault(name, []).append((rest or name, key))
    return list(groups.items())


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
    templates.filters["legend"] = legend
    return templates


def _bold(text: str) -> Any:
    """**bold** marks as <strong>, everything else escaped; numbers stay with their units."""
    from markupsafe import Markup, escape

    parts = unbroken(text).split("**")
    joined = Markup("")
    for number, part in enumerate(parts):
        joined += Markup("<strong>{}</strong>").format(part) if number % 2 else escape(part)
    return joined
