"""The bindings of docs/answers/stalls.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, most

FULL = Command("run celf --set part=full")
TIO = Command("run celf --set part=tio-128k", "`--set part=tio-128k`")
PAGES = ("pages_read", "pages_programmed")


def peak(name: str, place: int, *keys: str, task: str = "") -> Quantity:
    """Of one of the longest writes: its time, or what tasks asked of the flash meanwhile."""

    def of(case: Mapping[str, Any]) -> int:
        request = case["capacity"]["peaks"][place]
        if not keys:
            return request["latency_ns"]
        return sum(each[key] for each in request["tasks"] if task in each["task"] for key in keys)

    told = " + ".join(keys) or "time"
    return FULL.of_case(f"full-{name}", f"{told} of write {place} of the longest {task}", of)


def mean(name: str) -> Quantity:
    return FULL.figure(f"full-{name}", "measure/writes.mean_ns")


def longest(name: str) -> Quantity:
    return FULL.figure(f"full-{name}", "measure/writes.max_ns")


PAGE = Page(
    document="docs/answers/stalls.md",
    commands=(FULL, TIO),
    bindings=(
        text("{} cases, 20 seconds.", FULL.case_count),
        Table(
            "| | mean | longest | what the longest waited for |",
            {
                "JFFS2": [mean("jffs2"), longest("jffs2"), [peak("jffs2", 0, *PAGES)]],
                "UBIFS": [mean("ubifs"), longest("ubifs"), []],
                "YAFFS2": [mean("yaffs2"), longest("yaffs2"), [peak("yaffs2", 0, *PAGES)]],
                "LogFS": [
                    mean("logfs"),
                    longest("logfs"),
                    [peak("logfs", 0, "pages_programmed"), peak("logfs", 0, "blocks_erased")],
                ],
            },
        ),
    ),
    stated={},
)
