"""The bindings of docs/answers/bit-flips.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, Runs, most, said

RUN = Command("run bitflips")
SEEDS = Command(
    "run bitflips --set part=once --set chip.worn_cycles=50000 --set chip.shelf_hours=87600 "
    "--set 'seed=[1, 2, 3, 4]'",
    shown="(`--set 'seed=[1, 2, 3, 4]'`)",
)
NAMES = ("ubifs", "jffs2", "yaffs2")
READINGS = 10
HOURS = {"0": 0, "1 year": 8_760, "5 years": 43_800, "10 years": 87_600, "20 years": 175_200}
ORDINALS = ("", "1st", "2nd", "3rd", *(f"{number}th" for number in range(4, READINGS + 1)))
Steps = Mapping[str, Mapping[str, Any]]
Judge = Callable[[Any, Steps], Any]


def is_lost(result: Any) -> bool:
    """Whether some of the files could not be read."""
    return result["outcome"] != "pass"


def of_case(
    told: str, of: Callable[[Any, Steps], Any], name: str, part: str, **axes: int
) -> Quantity:
    """What a function makes of a result and its steps by phase; of the case with these axes."""
    wanted = {f"chip.{key}": value for key, value in axes.items()}
    wanted |= {"part": part, "filesystem": name}

    def of_runs(runs: Runs) -> Any:
        (result,) = (
            each for each in runs.cases(RUN).values() if wanted.items() <= each["axes"].items()
        )
        steps = {step["phase"]: step for step in result["tree"]["steps"]}
        return of(result, steps)

    return Quantity(f"{part}, {name}, {axes}: {told}", of_runs)


def once(told: str, of: Judge, name: str, worn: str, time: str) -> Quantity:
    axes = {"worn_cycles": int(worn.replace(",", "")), "shelf_hours": HOURS[time]}
    return of_case(told, of, name, "once", **axes)


def phase(word: str, number: int) -> str:
    return word if number == 1 else f"{word}-{number}"


def flips(steps: Steps, reading: int) -> int:
    """The wrong bits that were corrected in one reading, the mount before it among it."""
    return sum(steps[each]["corrected_bitflips"] for each in both(reading))


def moved(steps: Steps, readings: int) -> int:
    """Blocks that UBI moved in the first readings: it erases each."""
    read = [each for number in range(1, readings + 1) for each in both(number)]
    tasks = [task for each in read for task in steps[each]["tasks"]]
    return sum(task["blocks_erased"] for task in tasks if task["name"] == "ubi_bgt0d")


def both(reading: int) -> tuple[str, str]:
    """The phases of a reading: everything is mounted, then read."""
    return phase("mount", reading + 1), phase("check", reading)


def moved_words(name: str, steps: Steps, readings: int) -> str:
    blocks = moved(steps, readings) if name == "ubifs" else 0
    return f", {blocks:,} block{'s' * (blocks != 1)} moved" * bool(blocks)


def last_reading(steps: Steps) -> int:
    """The reading that failed, else the last."""
    readings = [step for step in steps.values() if step["step"] == "check"]
    failed = [step["number"] for step in readings if step["status"] != "ok"]
    return failed[0] if failed else len(readings)


def cell(name: str, worn: str, time: str) -> Quantity:
    def of(result: Any, steps: Steps) -> str:
        if is_lost(result):
            return "**data lost**"
        return f"{flips(steps, 1):,}{moved_words(name, steps, 1)}"

    quantity = once("wrong bits", of, name, worn, time)
    return said(quantity.told, quantity.of)


def yearly(name: str, worn: str) -> Quantity:
    def of(result: Any, steps: Steps) -> str:
        if is_lost(result):
            return f"**data lost in year {last_reading(steps)}**"
        words = moved_words(name, steps, READINGS)
        if not words and worn != "10,000":
            words = f", {flips(steps, READINGS):,} flips at last"
        return f"all there{words}"

    axes = {"worn_cycles": int(worn.replace(",", ""))}
    quantity = of_case("each year", of, name, "yearly", **axes)
    return said(quantity.told, quantity.of)


def disturbed(name: str, rate_e12: int) -> Quantity:
    def of(result: Any, steps: Steps) -> str:
        first = f"{flips(steps, 1):,}"
        last = last_reading(steps)
        if not is_lost(result):
            return f"{first}, {flips(steps, READINGS):,}"
        lost = f"**lost in the {ORDINALS[last]}**"
        return lost if last == 1 else f"{first}{moved_words(name, steps, 1)}; {lost}"

    quantity = of_case("readings", of, name, "disturb", rber_disturb_e12=rate_e12)
    return said(quantity.told, quantity.of)


def pages(name: str) -> Quantity:
    """Of a first reading."""
    return of_case(
        "pages of the first reading",
        lambda _result, steps: steps["check"]["pages_read"],
        name,
        "disturb",
        rber_disturb_e12=10_000_000,
    )


def pages_once(name: str) -> Quantity:
    return once("pages", lambda _result, steps: steps["check"]["pages_read"], name, "10,000", "0")


def steps_of_one_uncorrectable(name: str) -> Quantity:
    """So many ECC steps have one with five wrong bits or more, by how many bits were corrected."""

    def of(_result: Any, steps: Steps) -> float:
        read = steps["check"]
        mean = flips(steps, 1) / (read["pages_read"] * 2048 / 512)
        few = sum(mean**bits / math.factorial(bits) for bits in range(5))
        return 1 / (1 - math.exp(-mean) * few)

    return once("ECC steps to one with five wrong bits", of, name, "50,000", "10 years")


def lost_with_seeds(name: str) -> Quantity:
    return SEEDS.of_run(
        f"{name}: seeds that lose data",
        lambda cases: sum(
            is_lost(case) for case in cases.values() if case["axes"]["filesystem"] == name
        ),
    )


def moves(key: str) -> Quantity:
    return once(
        f"{key} in the reading",
        lambda _result, steps: steps["check"][key],
        "ubifs",
        "50,000",
        "5 years",
    )


ROWS = [
    *(("10,000", time) for time in ("0", "1 year", "10 years", "20 years")),
    *(("50,000", time) for time in ("1 year", "5 years", "10 years", "20 years")),
    *(("89,000", time) for time in ("1 year", "5 years", "10 years")),
]

PAGE = Page(
    document="docs/answers/bit-flips.md",
    commands=(RUN, SEEDS),
    bindings=(
        text("{} cases, about a minute.", RUN.case_count),
        Table(
            "| erases before | power off | UBIFS | JFFS2 | YAFFS2 |",
            {row: [cell(name, *row) for name in NAMES] for row in ROWS},
        ),
        text(
            "JFFS2 reads {} times as many pages as YAFFS2",
            pages_once("jffs2") / pages_once("yaffs2"),
        ),
        text("about one ECC step of {}", steps_of_one_uncorrectable("yaffs2"), within=0.2),
        text(
            "UBIFS lost data {} times, JFFS2 and YAFFS2 {} times.",
            lost_with_seeds("ubifs"),
            most(lost_with_seeds("jffs2"), lost_with_seeds("yaffs2")),
        ),
        text("Each move programs {} pages", moves("pages_programmed") / moves("blocks_erased")),
        Table(
            "| erases before | UBIFS | JFFS2 | YAFFS2 |",
            {
                worn: [yearly(name, worn) for name in NAMES]
                for worn in ("10,000", "50,000", "89,000")
            },
        ),
        text(
            "The part `disturb` ({} cases,",
            RUN.of_run(
                "cases of the part disturb",
                lambda cases: sum(case["axes"]["part"] == "disturb" for case in cases.values()),
            ),
        ),
        Table(
            "| added for 1,000 reads of a block | UBIFS | JFFS2 | YAFFS2 |",
            {
                label: [disturbed(name, rate) for name in NAMES]
                for label, rate in (("10⁻⁵", 10**7), ("10⁻⁴", 10**8), ("10⁻³", 10**9))
            },
        ),
        text(
            "One reading takes JFFS2 {} pages, UBIFS {} and YAFFS2 {}",
            *(pages(name) for name in ("jffs2", "ubifs", "yaffs2")),
        ),
    ),
    stated={
        "It ends with exit code 1": "some cases fail",
        "writes 4 MiB of files": "the study",
        "corrects 4 wrong bits in 512 bytes, and endures 100,000 erases": "the study",
        "10 years at a tenth of its endurance and 1 year at the end": "JEDEC",
        "first loses something at 10 years": "a row of the table",
        "has five wrong bits": "one more than the chip corrects",
        "With the seeds 1 to 4": "the command",
        "50,000 erases and 10 years": "a row of the table",
        "finds 3 of the 4 bits": "UBI's threshold is three quarters of what the chip corrects",
        "the same files after ten years": "the study",
        "a block or two in the pause": "as many as its collector takes at once",
        "The second must stay 0": "advice",
        "half the erases give twice the years": "the model's retention, docs/fault-model.md",
        "for 1,000 reads of a block, which": "the study",
        "18 seconds": "wall time of two cores",
        "The chip has 10,000 erases": "the study",
        "reads all files ten times": "the study",
        "in the tenth reading": "the study",
        "a read finds 3 wrong bits": "UBI's threshold",
    },
    elsewhere={"run bitflips --set part=disturb": "a part of the first command"},
)
