"""The bindings of docs/answers/spi.md."""

from __future__ import annotations

from figure_page import Page, Stated, Table, text
from figure_runs import Command, Quantity, least, most

SPI = Command("run spi")
ONE, FOUR = (f"spirxbits{lines}-spitxbits{lines}" for lines in (1, 4))
NAMES = {"JFFS2": "jffs2", "UBIFS": "ubifs", "YAFFS2": "yaffs2"}
CHIPS = (("nand", "jffs2"), ("nand", "ubifs"), ("nand", "yaffs2"), ("nor", "jffs2"), ("nor", "ubifs"))


def mark(chip: str, name: str, lines: str, *keys: str, state: str = "free") -> Quantity:
    """Of FFSMark."""
    return SPI.figure(f"{chip}-{name}-{state}-{lines}", *keys)


def marked(chip: str, name: str, lines: str) -> Quantity:
    """Its time."""
    return mark(chip, name, lines, "creation.duration_ns", "transactions.duration_ns")


def tree(chip: str, name: str, lines: str, *steps: str) -> Quantity:
    """The time of steps of the part with 300 files."""
    return SPI.figure(f"{chip}mount-{name}-{lines}", *(f"{step}.duration_ns" for step in steps))


def programmed(chip: str, name: str) -> list[Quantity]:
    return [mark(chip, name, lines, "workload.pages_programmed") for lines in (ONE, FOUR)]


STEPS = (("create", "sync"), ("mount-2",), ("check",))

PAGE = Page(
    document="docs/answers/spi.md",
    commands=(SPI,),
    bindings=(
        text("{} cases, half a minute.", SPI.case_count),
        Table(
            "| FFSMark, free, creation + transactions | one line | four lines | pages programmed |",
            {
                f"SPI-{chip.upper()}, {name.upper()}": [
                    marked(chip, name, ONE),
                    marked(chip, name, FOUR),
                    programmed(chip, name) if name != "ubifs" else programmed(chip, name)[:1],
                ]
                for chip, name in CHIPS
            },
        ),
        Table(
            "| 300 files of 40 kB | written and synced | mounted again | read back |",
            {
                f"SPI-{chip.upper()}, {name.upper()}"
                + ", one line / four" * (chip == "nand" and name == "jffs2"): [
                    [tree(chip, name, lines, *steps) for lines in (ONE, FOUR)] for steps in STEPS
                ]
                for chip, name in CHIPS
            },
        ),
    ),
    stated={},
)
