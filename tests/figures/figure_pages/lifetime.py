"""The bindings of docs/answers/lifetime.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most

WEAR = Command('lifetime wear --daily "50 MB"')
SMALL = Command('lifetime RUN --endurance 3000 --daily "1 GB"', of=WEAR)
NAMES = {"JFFS2": "jffs2", "UBIFS": "ubifs", "YAFFS2": "yaffs2"}


def years(command: Command, name: str, event: str, which: str) -> Quantity:
    def of(answer: dict) -> float:
        (case,) = (case for case in answer["cases"] if case["axes"]["filesystem"] == name)
        (row,) = (row for row in case["rows"] if row["event"] == event)
        return row["years"][which]

    return command.of_answer(f"{name}: {event} {which}", of)


def basis(name: str) -> Quantity:
    def of(answer: dict) -> float:
        (case,) = (case for case in answer["cases"] if case["axes"]["filesystem"] == name)
        return case["from"]["erases_mean"]

    return WEAR.of_answer(f"{name}: erases_mean", of)


def forecast(name: str) -> list[list[Quantity]]:
    cells = []
    for event in ("first_bad", "end"):
        cells.append([years(WEAR, name, event, "middle")])
        cells.append([years(WEAR, name, event, which) for which in ("low", "high")])
    return cells


ERASES = [basis(name) for name in NAMES.values()]

PAGE = Page(
    document="docs/answers/lifetime.md",
    commands=(WEAR, SMALL),
    bindings=(
        Table(
            "| years | first bad block | range | end of writing | range |",
            {label: forecast(name) for label, name in NAMES.items()},
        ),
        text("from {} to {} erases per block", least(*ERASES), most(*ERASES)),
    ),
    stated={},
)
