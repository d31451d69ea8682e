"""An advice for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ffslab.advise.ranking import MET, MISSED, NOT_MEASURED, RULE, Cell
from ffslab.cli.tables import print_unpadded

if TYPE_CHECKING:
    from ffslab.advise.advice import Advice

_WIDTH = 80
_MARKS = {MET: "✓", MISSED: "✗", NOT_MEASURED: "?"}
_STYLES = {MET: "green", MISSED: "red", NOT_MEASURED: "yellow"}


def print_advice(console: Console, advice: Advice) -> None:
    """The ranked candidates, the needs of the first two with why, what would change the verdict."""
    _ranking(console, advice)
    _wrapped(console, "✓ met, ✗ missed, ? not measured. " + RULE)
    for rank, judged in advice.told:
        console.print()
        console.print(Text(f"{rank}. {judged.candidate.title}", style="bold"))
        for cell in judged.cells:
            _need(console, cell)
    if advice.failures:
        _list(console, "Cases that did not pass", advice.failures)
    if advice.changes:
        _list(console, "What would change the verdict", (change.text for change in advice.changes))
    if advice.compression:
        _list(console, "Is compression worth it?", advice.compression)
    _list(console, "Notes", advice.notes)
    console.print()
    _wrapped(console, advice.conclusion)


def _ranking(console: Console, advice: Advice) -> None:
    console.print(f"{advice.needs.title}: {len(advice.order)} candidates")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("candidate")
    for need in advice.asked:
        table.add_column(need.short, justify="right", no_wrap=True)
    limits = (_tight(need.asked) for need in advice.asked)
    table.add_row("", "asked", *limits, style="dim")
    for rank, judged in enumerate(advice.order, start=1):
        table.add_row(str(rank), Text(judged.candidate.title), *map(_short, judged.cells))
    if not console.is_terminal:
        table.width = _WIDTH
    print_unpadded(console, table)


def _tight(words: str) -> str:
    """Without blanks: 80 columns are few."""
    return words.replace(" ", "")


def _short(cell: Cell) -> Text:
    value = cell.value.value
    shown = "–" if value is None else _tight(cell.need.words(value))
    mark = _MARKS[MISSED] if cell.value.failed else _MARKS[cell.standing]
    style = _STYLES[MISSED] if cell.value.failed else _STYLES[cell.standing]
    return Text(f"{shown}{mark}", style=style)


def _need(console: Console, cell: Cell) -> None:
    value = cell.value.value
    head = f"{_MARKS[cell.standing]} {cell.need.title}: "
    if value is not None:
        head += f"{cell.need.words(value)}, asked {cell.need.asked}: "
    _wrapped(console, f"{head}{cell.words}. {cell.value.why}", indent="   ", first=" ")


def _list(console: Console, title: str, texts: Iterable[str]) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    for text in texts:
        _wrapped(console, text, indent="   ", first=" - ")


def _wrapped(console: Console, text: str, indent: str = "", first: str = "") -> None:
    """In lines of 80 columns, also where the output is no terminal: these are sentences."""
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(line, soft_wrap=True)
