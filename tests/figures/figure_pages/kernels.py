"""The bindings of docs/answers/kernels.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity

from figure_pages.cut_results import correct_of, states_of

RUN = Command("run kernels")
VERSIONS = ("5.10", "6.1", "6.12", "7.3")
WORKS = {
    f"{title}, {state}": f"{{}}-{name}-{key}"
    for title, name in (("JFFS2", "jffs2"), ("UBIFS", "ubifs"))
    for state, key in (("new", "free"), ("aged", "aged"))
}
TRIED = "a run with a changed tree: --kernel-source"


def row(pattern: str, key: str) -> list[Quantity]:
    """A figure in each version."""
    return [RUN.figure(pattern.format(version), key) for version in VERSIONS]


def work(key: str) -> dict[str, list[Quantity]]:
    return {label: row(f"work-{pattern}", key) for label, pattern in WORKS.items()}


def erased(version: str) -> Quantity:
    return RUN.figure(f"work-{version}-jffs2-free", "workload.blocks_erased")


def longest(version: str) -> Quantity:
    return RUN.figure(f"work-{version}-ubifs-free", "transactions/append.max_ns")


PAGE = Page(
    document="docs/answers/kernels.md",
    commands=(RUN,),
    bindings=(
        text("{} cases, two minutes", RUN.case_count),
        Table(
            "| FFSMark, transactions | 5.10 | 6.1 | 6.12 | 7.3 |", work("transactions.duration_ns")
        ),
        Table("| pages programmed | 5.10 | 6.1 | 6.12 | 7.3 |", work("workload.pages_programmed")),
        Table(
            "| a synced line | 5.10 | 6.1 | 6.12 | 7.3 |",
            {
                "JFFS2": row("appends-{}-jffs2", "workload/line.line_mean_ns"),
                "UBIFS": row("appends-{}-ubifs", "workload/line.line_mean_ns"),
            },
        ),
        text("{} blocks erased on the new flash for {}", erased("6.12"), erased("6.1")),
        text("takes {} ms for {} ms, in", longest("6.12"), longest("6.1")),
        text(
            "of {} states in 5.10 {} are not correct, in 6.1 {}, in 7.3 {},",
            states_of(RUN, "cuts-5.10-"),
            states_of(RUN, "cuts-5.10-") - correct_of(RUN, "cuts-5.10-"),
            states_of(RUN, "cuts-6.1-") - correct_of(RUN, "cuts-6.1-"),
            states_of(RUN, "cuts-7.3-") - correct_of(RUN, "cuts-7.3-"),
        ),
    ),
    stated={
        "two minutes": "wall time of two cores",
        "JFFS2 and UBIFS in Linux 5.10, 6.1, 6.12 and 7.3": "the study",
        "on 100 MiB, new and aged; 2,000 lines of a log": "the study",
        "that is 85 % full": "the study",
        "cuts in three histories": "the study",
        "same price in all four": "the study",
        "From 5.10 to 6.1": "versions",
        "is RAM, 4 % more": "the scoreboard's column",
        "collects more in 6.12": "versions",
        "a thread of nice 10, and since 6.6": "the kernel's source",
        "with 19 in 6.12 202 blocks are erased in 90.0 s, with 0 in 6.1 393 in 114.6 s": TRIED,
        "7.3 computes CRC-32": "versions",
        "took eight bytes at once": "the kernel's source",
        "271 ms of code for 135 ms": "two profiles",
        "much like 6.12": "versions",
        "writes less in 6.12": "versions",
        "write-back with 1.1 s less": "two profiles",
        "at most 200 ms": "the kernel's source: MAX_PAUSE",
        "4 % more in use in 6.1, and 10 to 14 % more in 6.12, than in 5.10": "the scoreboard",
        "states in 5.10": "versions",
        "not correct, in 6.1": "versions",
        ", in 7.3": "versions",
        "Three are its first page": "the findings",
    },
)
