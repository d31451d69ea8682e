"""The bindings of docs/answers/sqlite.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity

RUN = Command("run sqlite")
SYSTEMS = ("jffs2", "ubifs", "yaffs2")
MODES = {
    "delete, full": "deletefull",
    "truncate, full": "truncatefull",
    "persist, full": "persistfull",
    "WAL, full": "walfull",
    "WAL, normal": "walnormal",
    "delete, off": "deleteoff",
}
MEAN, LONGEST = "script/commit.mean_ns", "script/commit.max_ns"
PAGES = "workload.pages_programmed"


def mode(system: str, name: str, key: str) -> Quantity:
    return RUN.figure(f"modes-{system}-{name}", key)


def compressor(name: str, key: str) -> Quantity:
    return RUN.figure(f"compressors-jffs2-{name}-deletefull", key)


def rows(key: str, labels: dict[str, str]) -> dict[str, list[Quantity]]:
    return {
        labels.get(label, label): [mode(system, name, key) for system in SYSTEMS]
        for label, name in MODES.items()
    }


SPECIAL = {"delete, full": "delete, full: SQLite's default", "WAL, full": "**WAL, full**"}
PAGE = Page(
    document="docs/answers/sqlite.md",
    commands=(RUN,),
    bindings=(
        text("{} cases, a minute", RUN.case_count),
        Table("| a commit, mean | JFFS2 | UBIFS | YAFFS2 |", rows(MEAN, SPECIAL)),
        Table("| pages programmed for 1,000 commits | JFFS2 | UBIFS | YAFFS2 |", rows(PAGES, {})),
        text(
            "commit of 1,000 waits for {} ms, while",
            mode("ubifs", "walnormal", LONGEST),
        ),
        text("With `full` the longest takes {} ms.", mode("ubifs", "walfull", LONGEST)),
        text(
            "With LZO a commit takes {} ms for {} ms",
            compressor("lzo", MEAN),
            mode("jffs2", "deletefull", MEAN),
        ),
        text(
            "programs {} pages for {}; without compression {} ms and {} pages",
            compressor("lzo", PAGES),
            mode("jffs2", "deletefull", PAGES),
            compressor("none", MEAN),
            compressor("none", PAGES),
        ),
    ),
    stated={
        "Debian's 3.40.1": "its package",
        "1,000 rows of telemetry, 60 bytes each": "the study",
        "on 32 MiB of the board": "the study",
        "(ARM9, 400 MHz, NAND)": "the board",
        "takes a third to a half of the time, and wears the flash half": "the tables, rounded",
        "where a journal needs three syncs": "SQLite's documentation",
        "half of the time is zlib": "a profile",
        "programs twice the pages": "the table, rounded",
        "commit of 1,000 waits": "the study",
    },
    elsewhere={
        "./ffslab profile sqlite --case modes-jffs2-deletefull-s1": "half of the time is zlib",
        "./ffslab exec -- sqlite3 t.db": "an example",
    },
)
