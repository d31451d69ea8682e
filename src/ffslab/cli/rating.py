"""`ffslab rating`: the file systems of a run in words, by the rules of its study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ffslab.cli.parse import RESULTS, AsJson, Output, Run, print_json
from ffslab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ffslab.rating.grade import Cell
    from ffslab.rating.read import Rated


def register(app: typer.Typer) -> None:
    """Adds the verb `rating`."""

    @app.command("rating")
    def rating(
        run: Run,
        output: Output = RESULTS,
        as_json: AsJson = False,
    ) -> None:
        """Rate the file systems of a run by the rules of its study."""
        from ffslab.report.load import open_run
        from ffslab.report.rating import rated
        from ffslab.results.rundir import find_run

        found = find_run(run, output)
        result = rated(open_run(found.path))
        if result is None:
            raise UsageError(
                f"the study of {found.path} has no rating",
                cause="it states no rules",
                remedy="add [rating] to it (docs/study-format.md), and run it again",
            )
        if as_json:
            print_json(_values(result))
        else:
            _print(result)


def _values(result: Rated) -> dict[str, Any]:
    """The grades with the values that they are from."""
    grades = result.rating.grades
    return {
        "grades": grades,
        "filesystems": {
            name: {
                column.criterion.name: _cell_values(column.cells[name], grades)
                for column in result.columns
            }
            for name in result.filesystems
        },
    }


def _cell_values(cell: Cell, grades: Sequence[str]) -> dict[str, Any]:
    def word(grade: int | None) -> str | None:
        return None if grade is None else grades[grade]

    rules = [
        {
            "figure": one.rule.figure or "mainline",
            "value": one.value,
            "unit": one.unit,
            "limits": list(one.limits),
            "grade": word(one.grade),
            "why": one.why,
        }
        for one in cell.rules
    ]
    return {"grade": word(cell.grade), "rules": rules}


def _print(result: Rated) -> None:
    from rich.table import Table

    from ffslab.cli.screen import terminal
    from ffslab.cli.tables import print_unpadded
    from ffslab.report.rating import view_of

    view = view_of(result)
    console = terminal()
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name, _ in view.rows:
        table.add_column(name)
    for number, title in enumerate(view.head):
        table.add_row(title, *(words[number].text for _, words in view.rows))
        values = [words[number].because for _, words in view.rows]
        for line in range(max(map(len, values), default=0)):
            table.add_row("", *(found[line] if line < len(found) else "" for found in values))
    print_unpadded(console, table)
    console.print()
    for name, texts in view.rules:
        for text in texts:
            console.print(f"{name}: {text}")
    for text in view.missing:
        console.print(f"not measured: {text}")
