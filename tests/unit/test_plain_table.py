"""The table of cases without rich's layout: what rich would have printed."""

from __future__ import annotations

import io
from typing import Literal

import pytest
from rich.text import Text

from ffslab.cli.screen import Screen
from ffslab.cli.tables import _print_table, _results_table

HEADINGS = ("creation", "pages")
SHORT = [
    ("jffs2-s1", Text("pass", "green"), "114 µs", "1", "106 ms"),
    ("日本-s2", Text("short 98%", "yellow"), "1.04 ms", "", ""),
]
LONG = [("case-" + "x" * 40, Text("crash", "red"), "3 s", "12,345", "1 s"), *SHORT]


@pytest.mark.parametrize("rows", [[], SHORT, LONG])
@pytest.mark.parametrize("width", [10_000, 90, 60])
@pytest.mark.parametrize("colours", [None, "standard"])
def test_it_is_the_table_of_rich(
    rows: list[tuple[str | Text, ...]], width: int, colours: Literal["standard"] | None
) -> None:
    printed = []
    for show in (
        lambda console: _print_table(console, HEADINGS, rows),
        lambda console: console.print(_results_table(HEADINGS, rows)),
    ):
        text = io.StringIO()
        show(Screen(file=text, width=width, color_system=colours))
        printed.append(text.getvalue())
    assert printed[0] == printed[1]
    assert "case" in printed[0]
