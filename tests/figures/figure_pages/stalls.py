"""The bindings of docs/answers/stalls.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, most

FULL = Command("run celf --set part=full")
TIO = Command("run celf --set part=tio-128k", "`--set part=tio-128k`")
PROGRAMMED, ERASED = "pages_programmed", "blocks_erased"
MIB = 2.0**20


def peak(name: str, place: int, *keys: str, task: str = "") -> Quantity:
    """Of one of the longest writes: its time, or what tasks asked of the flash meanwhile."""

    def of(case: Mapping[str, Any]) -> int:
        request = case["capacity"]["peaks"][place]
        if not keys:
            return request["latency_ns"]
        return sum(each[key] for each in request["tasks"] if task in each["name"] for key in keys)

    told = " + ".join(keys) or "time"
    return FULL.of_case(f"full-{name}", f"{told} of write {place} of the longest {task}", of)


def mean(name: str) -> Quantity:
    return FULL.figure(f"full-{name}", "measure/writes.mean_ns")


def longest(name: str) -> Quantity:
    return FULL.figure(f"full-{name}", "measure/writes.max_ns")


def tio(name: str) -> Quantity:
    """The longest request that writes."""
    keys = (f"{phase}/write.max_ns" for phase in ("write", "random-write"))
    return most(*(TIO.figure(f"tio128k-{name}", key) for key in keys))


OWN = "ffsagent"
ERASING = FULL.figure("full-logfs", "measure.flash_erase_ns") / FULL.figure(
    "full-logfs", "measure/writes.count"
)

PAGE = Page(
    document="docs/answers/stalls.md",
    commands=(FULL, TIO),
    bindings=(
        text("{} cases, 20 seconds.", FULL.case_count),
        Table(
            "| | mean | longest | what the longest waited for |",
            {
                "JFFS2": [
                    mean("jffs2"),
                    longest("jffs2"),
                    [peak("jffs2", 0, PROGRAMMED, task=OWN)],
                ],
                "UBIFS": [mean("ubifs"), longest("ubifs"), []],
                "YAFFS2": [
                    mean("yaffs2"),
                    longest("yaffs2"),
                    [peak("yaffs2", 0, PROGRAMMED, task=OWN)],
                ],
                "LogFS": [
                    mean("logfs"),
                    longest("logfs"),
                    [peak("logfs", 0, PROGRAMMED), peak("logfs", 0, ERASED)],
                ],
            },
        ),
        text("the longest took {} ms on JFFS2", tio("jffs2")),
        text("and {} ms on YAFFS2", tio("yaffs2")),
        text("in a hundred takes {} ms", FULL.figure("full-ubifs", "measure/writes.p99_ns")),
        text(
            "The longest of these took {} ms, while `kworker` programmed {} pages",
            peak("ubifs", 3),
            peak("ubifs", 3, PROGRAMMED, task="kworker"),
        ),
        text("at the end took longer: {} s, while", peak("ubifs", 1)),
        text("then {} s and {} s.", peak("ubifs", 0), peak("ubifs", 2)),
        text(
            "UBIFS promises {} MiB and takes {}.",
            FULL.figure("full-ubifs", "file.promised_bytes"),
            FULL.figure("full-ubifs", "file.written_bytes") / MIB,
        ),
        text(
            "The write of {} s read {} pages, programmed {} and erased {} blocks.",
            peak("ubifs", 0),
            peak("ubifs", 0, "pages_read"),
            peak("ubifs", 0, PROGRAMMED),
            peak("ubifs", 0, ERASED),
        ),
        text(
            "The longest, {} ms, programmed {} pages itself and waited while `kworker` "
            "programmed {}.",
            peak("logfs", 0),
            peak("logfs", 0, PROGRAMMED, task=OWN),
            peak("logfs", 0, PROGRAMMED, task="kworker"),
        ),
        text("{} of the {} ms of a write", ERASING / 1e6, mean("logfs")),
    ),
    stated={
        "20 seconds": "wall time of two cores",
        "requests of 128 KB until a partition of 256 MB": "the study",
        "256 MB of NAND, 32 MB of RAM": "the board",
        "64 of them and a header": "pages of 2 KiB in 128 KiB",
        "requests of 128 KB to a file of 192 MB": "the part tio-128k",
        "Three writes at the end": "the three that follow",
        "waits for 32 pages": "PORTION_PAGES of LogFS",
        "a synced line of 128 bytes": "another study",
        "pauses of 10 to 1,000 ms": "the axis of another study",
    },
    elsewhere={
        "run append-log": "measures a synced line",
        "run micro-interarrival": "measures pauses",
    },
)
