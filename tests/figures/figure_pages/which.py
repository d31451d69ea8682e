"""The bindings of docs/answers/which.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, said

ROUTER = Command("advise router")
LOGGER = Command("advise data-logger", shown="`data-logger`")
PANEL = Command("advise industrial-panel", shown="`industrial-panel`")
TITLES = {
    "SquashFS below UBIFS": "overlay-ubifs",
    "YAFFS2": "yaffs2",
    "UBIFS": "ubifs",
    "SquashFS below JFFS2": "overlay-jffs2",
    "JFFS2": "jffs2",
}
# Of each need the unit of the table, what it is worth, and with how many digits.
COLUMNS = {
    "space": ("MiB", 2.0**20, 3),
    "boot": ("s", 1e9, 3),
    "boot-cut": ("s", 1e9, 3),
    "ram": ("MiB", 2.0**20, 2),
    "write": ("ms", 1e6, 3),
    "life": ("years", 1.0, 3),
    "power": ("%", 1.0, 5),
}


def candidate(answer: Any, title: str) -> Mapping[str, Any]:
    (named,) = (each for each in answer["candidates"] if each["title"] == title)
    return named


def significant(value: float, digits: int) -> str:
    front = len(str(int(value))) * (value >= 1)
    return f"{value:.{max(digits - front, 0)}f}"


def cell(title: str, key: str) -> Quantity:
    """As the table has it: three digits, bold where the need is missed."""

    def of(answer: Any) -> str:
        need = candidate(answer, title)["needs"][key]
        unit, scale, digits = COLUMNS[key]
        value = need["value"] / scale
        if key == "write" and value >= 1000:
            unit, value = "s", value / 1000
        words = f"{significant(value, digits)} {unit}"
        words = "all" if key == "power" and value == 100 else words
        return f"**{words}**" if need["standing"] == "missed" else words

    answered = ROUTER.of_answer(f"{title}: {key}", of)
    return said(answered.told, answered.of)


def value(title: str, key: str) -> Quantity:
    """What a candidate makes of a need."""
    return ROUTER.of_answer(
        f"{title}: {key}", lambda answer: candidate(answer, title)["needs"][key]["value"]
    )


def winner(command: Command, *, mainline: bool = False) -> Quantity:
    """The first file system, of all or of those that Linux has."""

    def of(answer: Any) -> str:
        names = [each["filesystem"] for each in answer["candidates"]]
        return next(name for name in names if not (mainline and name.startswith("yaffs2"))).upper()

    answered = command.of_answer("first candidate" + " of Linux" * mainline, of)
    return said(answered.told, answered.of)


def step(part: str, key: str) -> Quantity:
    """A figure of the case of one probe."""
    return ROUTER.of_run(
        f"{part}: {key}",
        lambda _cases: 0,
    )


PAGE = Page(
    document="docs/answers/which.md",
    commands=(ROUTER, LOGGER, PANEL),
    bindings=(
        text("{} cases;", ROUTER.of_answer("cases", lambda answer: answer["cases"])),
        text(
            "There are {} candidates",
            ROUTER.of_answer("candidates", lambda answer: len(answer["candidates"])),
        ),
        Table(
            "| | free | boot | after a cut | RAM | longest line | life | after cuts as promised |",
            {label: [cell(title, key) for key in COLUMNS] for label, title in TITLES.items()},
        ),
        text("`data-logger`, 400 MB a day in a ring of 16 MiB: {*}; {*}.", winner(LOGGER), winner(LOGGER, mainline=True)),
    ),
)
