"""The bindings of docs/answers/boot.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most

CELF = Command(
    """run celf --set 'part=["boot", "boot-cut", "boot-fastmap", "boot-cut-fastmap"]'"""
)
SIZES = ("size0", "64mib", "128mib", "192mib")
EMPTY, FULL = "boot-jffs2-size0", "boot-jffs2-192mib"
ROWS = {
    "JFFS2": "boot-jffs2",
    "JFFS2, after a power cut": "bootcut-jffs2",
    "UBIFS": "boot-ubifs",
    "UBIFS, after a power cut": "bootcut-ubifs",
    "UBIFS with fastmap": "bootfastmap",
    "UBIFS with fastmap, after a power cut": "bootcutfastmap",
    "YAFFS2": "boot-yaffs2",
    "YAFFS2, after a power cut": "bootcut-yaffs2",
    "LogFS": "boot-logfs",
    "LogFS, after a power cut": "bootcut-logfs",
}


def boot(cases: str) -> list[Quantity]:
    """From mount to the end of `ls`, at each size."""
    return [CELF.figure(f"{cases}-{size}", "list.listed_ns") for size in SIZES]


def mount(case: str, key: str) -> Quantity:
    return CELF.figure(case, f"mount-2.{key}")


LOGFS_PAGES = [
    mount(f"{part}-logfs-{size}", "pages_read") for part in ("boot", "bootcut") for size in SIZES
]
READ_NS = ("driver_read_ns",), ("ecc_read_ns",)

PAGE = Page(
    document="docs/answers/boot.md",
    commands=(CELF,),
    bindings=(
        text("{} cases, 20 seconds.", CELF.case_count),
        Table(
            "| | 0 % | 25 % | 50 % | 75 % |", {label: boot(cases) for label, cases in ROWS.items()}
        ),
        text(
            "An empty flash takes {} pages and {} spare areas, {} s.",
            mount(EMPTY, "pages_read"),
            mount(EMPTY, "oob_reads"),
            mount(EMPTY, "duration_ns"),
        ),
        text(
            "checks all nodes of the file: {} pages, {} s.",
            CELF.figure(FULL, "list.pages_read"),
            CELF.figure(FULL, "list.duration_ns"),
        ),
        text("{} or {} pages, whatever the size", least(*LOGFS_PAGES), most(*LOGFS_PAGES)),
    ),
    stated={},
)
