"""The bindings of docs/answers/lifetime.md."""

from __future__ import annotations

from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most

WEAR = Command('lifetime wear --daily "50 MB"')
SMALL = Command('lifetime RUN --endurance 3000 --daily "1 GB"', of=WEAR)
SYNCED = Command(
    "run wear --set workload.pattern=append --set 'workload.unit_bytes=\"4 KiB\"' "
    "--set 'workload.volumes=\"100 MB\"'"
)
NAMES = {"JFFS2": "jffs2", "UBIFS": "ubifs", "YAFFS2": "yaffs2"}
FIRST_BAD, END = "first_bad", "end"


def case(answer: Any, name: str) -> Any:
    (named,) = (each for each in answer["cases"] if each["axes"]["filesystem"] == name)
    return named


def years(command: Command, name: str, event: str, which: str = "middle") -> Quantity:
    def of(answer: Any) -> float:
        (row,) = (each for each in case(answer, name)["rows"] if each["event"] == event)
        return row["years"][which]

    return command.of_answer(f"{name}: years, {event}, {which}", of)


def forecast(name: str) -> list[list[Quantity]]:
    """The middle and the range of both events."""
    return [
        [years(WEAR, name, event, which) for which in several]
        for event in (FIRST_BAD, END)
        for several in (("middle",), ("low", "high"))
    ]


def of_spec(key: str) -> Quantity:
    return WEAR.of_spec("jffs2", key)


ERASES = [
    WEAR.of_answer(
        f"{name}: erases_mean", lambda answer, name=name: case(answer, name)["from"]["erases_mean"]
    )
    for name in NAMES.values()
]
COSTS = [SYNCED.figure(name, "workload.write_amplification") for name in NAMES.values()]
OTHERS_END = [years(SMALL, name, END) for name in ("jffs2", "yaffs2")]

PAGE = Page(
    document="docs/answers/lifetime.md",
    commands=(WEAR, SMALL, SYNCED),
    bindings=(
        text("{} cases, some", WEAR.case_count),
        text(
            "has {} MiB, {} % of it static data.",
            of_spec("partition_bytes"),
            of_spec("workload.static_bytes") / of_spec("partition_bytes"),
        ),
        text("deletes a file of {} MB until", of_spec("workload.file_bytes")),
        text("The forecast is for a chip of {} erases", of_spec("board.chip.endurance_cycles")),
        Table(
            "| years | first bad block | range | end of writing | range |",
            {label: forecast(name) for label, name in NAMES.items()},
        ),
        text("from {} to {} erases per block", least(*ERASES), most(*ERASES)),
        text("costs {} to {} times its size", least(*COSTS), most(*COSTS)),
        text("There JFFS2 and YAFFS2 write for {} years", most(*OTHERS_END)),
        text("UBIFS for {} that", years(SMALL, "ubifs", END) / most(*OTHERS_END)),
    ),
    stated={
        "some two minutes": "wall time of two cores",
        "until it has written 5 GB": "the last of the study's volumes",
        "erases, at 50 MB a day": "the command",
        "16 of 18 forecasts came out within 10 %": "from a longer run: ./ffslab lifetime lifetime",
        "may live a quarter less: its collector needs some 300 erases": (
            "docs/lifetime.md, from a longer run: ./ffslab lifetime lifetime"
        ),
        "A chip of 100,000 erases does not wear out** at 50 MB a day": "the table above",
        "a chip of 3,000, at 1 GB a day": "the command",
        "the default of 4,096": "CONFIG_MTD_UBI_WL_THRESHOLD of Linux",
        "synced writes of 4 KiB": "the command",
        "20 in 1,024 of the chip's blocks": "UBI's default",
        "plan for half of the result": "advice",
    },
)
