"""How the terminal shows statements of publications beside ours, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ffslab.cli.tables import print_unpadded
from ffslab.published.against import Both, agreements, flips_text, rows
from ffslab.published.beside import JudgedPublication, JudgedStatement, score_text
from ffslab.published.judge import Judged, Mark
from ffslab.targets import DEFAULT_TARGET

_WIDTH = 80
_TITLE = 34  # letters of what is compared
_STYLE = {Mark.AGREES: "green", Mark.DIRECTION: "yellow", Mark.REVERSED: "red"}


def print_publication(
    console: Console, publication: JudgedPublication, *, every: bool = False
) -> None:
    """A line for each statement, its furthest figure; with `every` all figures, and the causes."""
    source = publication.publication.source
    console.print(f"{source.authors}, {source.venue} {source.year}", soft_wrap=True)
    console.print(publication.publication.title, soft_wrap=True)
    console.print()
    if every:
        for statement in publication.statements:
            _print_statement(console, statement)
    else:
        rows = ((each.statement.id, each.deciding) for each in publication.statements)
        print_unpadded(console, _table(rows))
    for statement in publication.statements:
        if statement.mark is Mark.NOT_MEASURED:
            console.print(f"{statement.statement.id}: {statement.deciding.why}", soft_wrap=True)
    console.print()
    for errors in publication.errors:
        console.print(errors.text, soft_wrap=True)
    console.print(f"{publication.publication.name}: {score_text(publication.score)}")


def print_against(console: Console, statements: Sequence[Both], target: str) -> None:
    """A line for each statement, its marks and the figure that is furthest off; then the errors."""
    table = _empty_table((DEFAULT_TARGET, target, "error"))
    for name, here, there, title, *numbers in rows(statements):
        marks = [Text(mark, _STYLE.get(Mark(mark), "")) for mark in (here, there)]
        table.add_row(Text.assemble(f"{name} ", *marks), "", _short(title), *numbers)
    print_unpadded(console, table)
    console.print()
    for errors in agreements(statements):
        console.print(errors.text, soft_wrap=True)
    console.print(flips_text(statements), soft_wrap=True)


def _print_statement(console: Console, statement: JudgedStatement) -> None:
    stated = statement.statement
    for line in wrap(f"{stated.id} {statement.mark} {stated.says}", _WIDTH):
        console.print(line)
    print_unpadded(console, _table(("", check) for check in statement.checks))
    for cause in statement.causes:
        for line in wrap(f"Cause: {cause.text}", _WIDTH):
            console.print(line)
        for change in cause.changes:
            for line in wrap(f"- {change.title}: {change.text}", _WIDTH):
                console.print(line)
        for drawn in cause.maps:
            for row in drawn.lines:
                for line in wrap(f"- {drawn.title}, {row}", _WIDTH):
                    console.print(line)
    console.print()


def _table(checks: Iterable[tuple[str, Judged]]) -> Table:
    table = _empty_table(("published", "ours", "ratio"))
    for name, check in checks:
        mark = check.mark
        cells = check.published_text, check.ours_text, check.ratio_text
        table.add_row(name, Text(mark.value, _STYLE.get(mark, "")), _short(check.title), *cells)
    return table


def _empty_table(heads: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for _ in ("id", "mark", "title"):
        table.add_column("")
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
