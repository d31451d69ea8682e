"""The bindings of docs/answers/spi.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most, total

SPI = Command("run spi")
ONE, FOUR = (f"spirxbits{lines}-spitxbits{lines}" for lines in (1, 4))
BOTH = (ONE, FOUR)
TITLES = {"jffs2": "JFFS2", "ubifs": "UBIFS", "yaffs2": "YAFFS2"}
NAMES = {"nand": ("jffs2", "ubifs", "yaffs2"), "nor": ("jffs2", "ubifs")}
CASES = [(chip, name) for chip, several in NAMES.items() for name in several]
WRITTEN, MOUNTED, READ = ("create", "sync"), ("mount-2",), ("check",)


def mark(chip: str, name: str, lines: str, *keys: str, state: str = "free") -> Quantity:
    """Of FFSMark."""
    return SPI.figure(f"{chip}-{name}-{state}-{lines}", *keys)


def marked(chip: str, name: str, lines: str) -> Quantity:
    """The time of its phases creation and transactions."""
    return mark(chip, name, lines, "creation.duration_ns", "transactions.duration_ns")


def changed(chip: str, name: str, state: str) -> Quantity:
    """The time of its transactions over one line."""
    return mark(chip, name, ONE, "transactions.duration_ns", state=state)


def tree(chip: str, name: str, lines: str, steps: tuple[str, ...]) -> Quantity:
    """The time of steps of the parts with 300 files."""
    return SPI.figure(f"{chip}mount-{name}-{lines}", *(f"{step}.duration_ns" for step in steps))


def programmed(chip: str, name: str) -> list[Quantity]:
    """Over one line and over four; once if they are the same."""
    lines = BOTH if name != "ubifs" else (ONE,)
    return [mark(chip, name, each, "workload.pages_programmed") for each in lines]


def gains(chip: str, steps: tuple[str, ...]) -> list[Quantity]:
    """How many times as fast the steps are with four lines."""
    return [tree(chip, name, ONE, steps) / tree(chip, name, FOUR, steps) for name in NAMES[chip]]


def chip(kind: str, key: str) -> Quantity:
    return SPI.of_spec(f"{kind}-jffs2-free-{ONE}", f"board.chip.{key}")


def page_on_bus(lines: str) -> Quantity:
    """How long the bytes of a page of the SPI-NAND take."""
    per_byte = SPI.of_spec(f"nand-jffs2-free-{lines}", "board.chip.bus_read_ps") / 1000
    return per_byte * 2176


def small_sectors(key: str) -> Quantity:
    return SPI.figure("nor4k-jffs2-aged", f"transactions.{key}")


def large_sectors(key: str) -> Quantity:
    return mark("nor", "jffs2", FOUR, f"transactions.{key}", state="aged")


NOR_BY_NAND = [
    tree("nor", name, lines, WRITTEN) / tree("nand", name, lines, WRITTEN)
    for name in NAMES["nor"]
    for lines in BOTH
]
JFFS2_MOUNTS = [total(*(tree(kind, "jffs2", lines, MOUNTED) for lines in BOTH)) for kind in NAMES]

PAGE = Page(
    document="docs/answers/spi.md",
    commands=(SPI,),
    bindings=(
        text("{} cases, half a minute.", SPI.case_count),
        Table(
            "| FFSMark, free, creation + transactions | one line | four lines | pages programmed |",
            {
                f"SPI-{kind.upper()}, {TITLES[name]}": [
                    *(marked(kind, name, lines) for lines in BOTH),
                    programmed(kind, name),
                ]
                for kind, name in CASES
            },
        ),
        Table(
            "| 300 files of 40 kB | written and synced | mounted again | read back |",
            {
                f"SPI-{kind.upper()}, {TITLES[name]}"
                + ", one line / four" * ((kind, name) == CASES[0]): [
                    [tree(kind, name, lines, steps) for lines in BOTH]
                    for steps in (WRITTEN, MOUNTED, READ)
                ]
                for kind, name in CASES
            },
        ),
        text(
            "A page of {} bytes takes {} µs over one line and {} µs over four.",
            chip("nand", "page_bytes") + chip("nand", "oob_bytes"),
            page_on_bus(ONE),
            page_on_bus(FOUR),
        ),
        text(
            "Reading a page takes the chip {} µs, programming it {} µs.",
            chip("nand", "t_read_ns"),
            chip("nand", "t_prog_ns"),
        ),
        text(
            "reading is {} times as fast and writing the files {} to {} times",
            most(*gains("nand", READ)),
            least(*gains("nand", WRITTEN)),
            most(*gains("nand", WRITTEN)),
        ),
        text(
            "reading is {} to {} times as fast. A program takes {} ms for {} bytes",
            least(*gains("nor", READ)),
            most(*gains("nor", READ)),
            chip("nor", "t_prog_ns"),
            chip("nor", "page_bytes"),
        ),
        text(
            "writing gains only {} to {} %.",
            least(*gains("nor", WRITTEN)) - 1,
            most(*gains("nor", WRITTEN)) - 1,
        ),
        text("Writing takes {} to {} times as long", least(*NOR_BY_NAND), most(*NOR_BY_NAND)),
        text("mounts in about a {} of the time", JFFS2_MOUNTS[1] / JFFS2_MOUNTS[0]),
        text(
            "it takes {} times as long over one line, UBIFS {} times",
            *(marked("nor", name, ONE) / marked("nand", name, ONE) for name in NAMES["nor"]),
        ),
        text(
            "transactions then take {} s instead of {} s",
            small_sectors("duration_ns"),
            large_sectors("duration_ns"),
        ),
        text(
            "takes a {} as long as one of 64 KiB, but there are {} of them instead of {}",
            SPI.of_spec("nor4k-jffs2-aged", "board.chip.t_erase_ns") / chip("nor", "t_erase_ns"),
            small_sectors("blocks_erased"),
            large_sectors("blocks_erased"),
        ),
        text(
            "what erasing costs, {} ms a sector: the transactions of UBIFS over one line take {} s "
            "instead of {} s",
            chip("nor", "t_erase_ns"),
            changed("nor", "ubifs", "aged"),
            changed("nor", "ubifs", "free"),
        ),
    ),
    stated={
        "one data line or four?": "an axis of the study",
        "half a minute": "wall time of two cores",
        "(SPI-NAND, 128 MiB)": "the chip",
        "(SPI-NOR, 32 MiB, erased by 64 KiB)": "the chip",
        "at 50 MHz beside a Cortex-A7 of an assumed 1 GHz, on 28 MiB": "the study",
        "500 files and 1,500 transactions": "the study",
        "300 files of 40 kB (steps": "the study",
        "of 2 KiB": "the chip's pages",
        "of 256 B": "the chip's pages",
        "four lines are worth nearly two chips": "a title: the figures behind it are bound",
        "µs over four.": "an axis of the study",
        "With four lines, reading": "an axis of the study",
        "four lines help reading": "an axis of the study",
        "Reading back with four lines": "an axis of the study",
        "sectors of 64 KiB": "the chip",
        "sectors of 4 KiB": "the chip",
        "an erase of 4 KiB": "the chip",
        "one of 64 KiB": "the chip",
        "cannot use 4 KiB": "the chip",
        "nearly three times the speed there": "the estimates of both chips in the catalog",
    },
    elsewhere={"run nor-cuts": "cuts power on NOR"},
)
