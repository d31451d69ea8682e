"""The bindings of docs/answers/which.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_page import Page, Stated, Table, text
from figure_runs import ROOT, Command, Quantity, Runs, least, most, said, total

ROUTER = Command("advise router")
LOGGER = Command("advise data-logger", shown="`data-logger`")
PANEL = Command("advise industrial-panel", shown="`industrial-panel`")
NAMES = {
    "overlay-ubifs": "SquashFS below UBIFS",
    "yaffs2": "YAFFS2",
    "ubifs": "UBIFS",
    "overlay-jffs2": "SquashFS below JFFS2",
    "jffs2": "JFFS2",
}
ENTRIES = ("files", "directories", "links", "others")
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
    value = float(f"{value:.{digits}g}")
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
        titles = [each["title"] for each in answer["candidates"] if each["title"] in NAMES]
        if key == "space" and titles.index(title) != list(NAMES).index(title):
            words += f" (but row {titles.index(title) + 1} of the advice)"
        return f"**{words}**" if need["standing"] == "missed" else words

    answered = ROUTER.of_answer(f"{title}: {key}", of)
    return said(answered.told, answered.of)


def value(title: str, key: str, command: Command = ROUTER) -> Quantity:
    """What a candidate makes of a need."""
    return command.of_answer(
        f"{title}: {key}", lambda answer: candidate(answer, title)["needs"][key]["value"]
    )


def winner(command: Command, *, mainline: bool = False) -> Quantity:
    """The first file system, of all or of those that Linux has."""

    def of(answer: Any) -> str:
        names = [each["filesystem"] for each in answer["candidates"]]
        return next(name for name in names if not (mainline and name.startswith("yaffs2"))).upper()

    answered = command.of_answer("first candidate" + " of Linux" * mainline, of)
    return said(answered.told, answered.of)


def step(probe: str, *keys: str) -> Quantity:
    """The sum of figures of the case of a probe: `boot.ubifs`."""

    def of(runs: Runs) -> float:
        (case,) = (
            name for name, each in runs.cases(ROUTER).items() if each["axes"].get("part") == probe
        )
        return sum(runs.figures(ROUTER, case)[key] for key in keys)

    return Quantity(f"{probe}: {' + '.join(keys)}", of)


def states(probe: str, key: str) -> Quantity:
    return total(*(step(f"power.{history}.{probe}", f"states.{key}") for history in HISTORIES))


def attached(times: int) -> Quantity:
    """UBI's attach after a power cut, of the logger on a partition so many times as large."""

    def of(runs: Runs) -> float:
        cases = [
            name
            for name, each in runs.cases(LOGGER).items()
            if str(each["axes"].get("part")).startswith("cut.ubifs")
        ]
        sizes = {name: runs.cases(LOGGER)[name]["spec"]["partition_bytes"] for name in cases}
        (case,) = (
            name
            for name, size in sizes.items()
            if size == times * min(sizes.values())
            and runs.cases(LOGGER)[name]["axes"]["part"] in ("cut.ubifs", f"cut.ubifs.part.{size}")
        )
        return runs.figures(LOGGER, case)["mount-2/attach-2.duration_ns"]

    return Quantity(f"attach of {times} partitions", of)


NEEDS = ROOT / "examples" / "needs" / "router.toml"
HISTORIES = ("updatebyrename", "transactions", "openfiles", "appends")
LZ4, FASTMAP = "overlay-ubifs, below lz4", "overlay-ubifs, fastmap"
SMALL_RESERVE = "overlay-ubifs, reserve 5/1024"
FIRST = "overlay-ubifs"
LOGS = [f"write.{each.replace('-', '')}" for each in NAMES]
AMPLIFIED = [step(probe, "workload.write_amplification") for probe in LOGS]
LINE_COUNT = step("write.ubifs", "append/append.count")
LINES = [step(probe, "workload/line.pages_per_line") for probe in LOGS]

PAGE = Page(
    document="docs/answers/which.md",
    commands=(ROUTER, LOGGER, PANEL),
    bindings=(
        text(
            "{} cases; {} of them cut the power",
            ROUTER.of_answer("cases", lambda answer: answer["cases"]),
            ROUTER.of_run(
                "cases that cut the power",
                lambda cases: sum(
                    each["spec"]["workload"]["kind"] == "cuts" for each in cases.values()
                ),
            ),
        ),
        text(
            "A needs file of {} lines",
            Quantity("lines of the file", lambda _: len(NEEDS.read_text("utf-8").splitlines())),
        ),
        text("a root file system of {} files", step("boot.ubifs", "list.files")),
        text(
            "There are {} candidates",
            ROUTER.of_answer("candidates", lambda answer: len(answer["candidates"])),
        ),
        Table(
            "| | free | boot | after a cut | RAM | longest line | life | after cuts as promised |",
            {
                "asked": [Stated("the needs file")] * len(COLUMNS),
                **{label: [cell(title, key) for key in COLUMNS] for title, label in NAMES.items()},
            },
        ),
        text("the {} of JFFS2 are cuts", states("jffs2", "not_correct")),
        text("attaches and mounts in {} s like", step("boot.ubifs", "mount-2.duration_ns")),
        text(
            "Then `ls -R` reads {} pages, for the names and for the inode of each of the {}: {} s.",
            step("boot.ubifs", "list.pages_read"),
            step("boot.ubifs", *(f"list.{each}" for each in ENTRIES)),
            step("boot.ubifs", "list.duration_ns"),
        ),
        text(
            "compressed: {} pages, {} s.",
            step("boot.overlayubifs", "list.pages_read"),
            step("boot.overlayubifs", "list.duration_ns"),
        ),
        text("in the image the boot takes {} s", value("jffs2, image summary", "boot")),
        text("programs {} to {} pages", least(*LINES), most(*LINES)),
        text("pages, {} to {} times its bytes", least(*AMPLIFIED), most(*AMPLIFIED)),
        text(
            "in SquashFS takes {} s and {} MiB more",
            value(LZ4, "boot"),
            value(FIRST, "space") - value(LZ4, "space"),
        ),
        text(
            "Fastmap takes {} s, but {} s after a cut, because UBI then erases {} blocks",
            value(FASTMAP, "boot"),
            value(FASTMAP, "boot-cut"),
            step("cut.overlayubifs.fastmap.on", "mount-2.blocks_erased", "list.blocks_erased"),
        ),
        text("for bad blocks leaves {} MiB", value(SMALL_RESERVE, "space")),
        text(
            "in a ring of 16 MiB: {*}; {*}. A partition",
            winner(LOGGER),
            winner(LOGGER, mainline=True),
        ),
        text("and a database: {*}; {*}. JFFS2", winner(PANEL), winner(PANEL, mainline=True)),
        text("UBI's attach takes {} as long", attached(2) / attached(1)),
        text("The longest line is the longest of {};", LINE_COUNT),
        text(
            "JFFS2 boots in {} s",
            value("jffs2", "boot", PANEL),
        ),
    ),
    stated={
        "from 64 MiB of NAND (board apf27, ARM9 at 400 MHz)": "the needs file and its board",
        "14 MB, and 32 MiB free": "the needs file",
        "0.8 s from mount": "the needs file",
        "6 MiB of RAM": "the needs file",
        "2 MB of log a day in synced lines of 128 bytes for 10 years": "the needs file",
        "slower than 250 ms": "the needs file",
        "99.9 % of the states": "the needs file",
        "25 ms each": "the chip's time of an erase, with UBI's or JFFS2's work",
        "but 2 MB a day": "the needs file",
        "Less than 0.38 s to boot": "an example, below the first row",
        "46 MiB free:": "an example, above the first row",
        "The two other examples": "those that follow",
        "400 MB a day in a ring of 16 MiB": "the needs file",
        "A partition of twice the size": "a candidate of the advice",
        "misses 1 s after": "the needs file",
        "1,500 files and a database": "the needs file",
        "up to 18 questions": "those of src/ffslab/advise/questions.py",
        "or in two where no": "the rule of docs/advise.md",
    },
    elsewhere={"run overlay-cuts": "a history that changes lower files"},
)
