"""How the terminal shows statements of publications beside ours, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ffslab.cli.tables import print_unpadded
from ffslab.published.beside import JudgedPublication, JudgedStatement, score_text
from ffslab.published.judge import Judged, Mark, percent

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
        console.print(
            f"{errors.of}: {errors.count} figures, median error {percent(errors.median)}, "
            f"largest {percent(errors.worst)} ({errors.worst_title})",
            soft_wrap=True,
        )
    console.print(f"{publication.publication.name}: {score_text(publication.score)}")


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
    console.print()


def _table(rows: Iterable[tuple[str, Judged]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column("")
    table.add_column("")
    for head in ("published", "ours", "ratio"):
        table.add_column(head, justify="right")
    for name, check in rows:
        title = check.title if len(check.title) <= _TITLE else f"{check.title[: _TITLE - 1]}…"
        mark = check.mark
        cells = check.published_text, check.ours_text, check.ratio_text
        table.add_row(name, Text(mark.value, _STYLE.get(mark, "")), title, *cells)
    return table
