"""The bindings of docs/answers/boot.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most, total

CELF = Command("""run celf --set 'part=["boot", "boot-cut", "boot-fastmap", "boot-cut-fastmap"]'""")
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


def more(part: str, key: str) -> Quantity:
    """How much more fastmap takes."""
    return CELF.figure(FAST, f"{part}.{key}") - CELF.figure(PLAIN, f"{part}.{key}")


def space(case: str) -> Quantity:
    return CELF.of_case(
        case, "statfs() after the mount", lambda case: case["space"][0]["total_bytes"]
    )


FAST, PLAIN = "bootfastmap-64mib", "boot-ubifs-64mib"
LEB_BYTES = 126_976  # a block of 128 KiB without UBI's two pages
AFTER_CUT = [
    after - before for after, before in zip(boot("bootcut-jffs2"), boot("boot-jffs2"), strict=True)
]
LOGFS_PAGES = [
    mount(f"{part}-logfs-{size}", "pages_read") for part in ("boot", "bootcut") for size in SIZES
]
FASTMAP_SHARES = [
    fast / plain for fast, plain in zip(boot("bootfastmap"), boot("boot-ubifs"), strict=True)
]
# Of a page that is read; the copy to the reader is part of it.
DRIVER_AND_ECC_NS = CELF.of_spec(PLAIN, "board.driver_read_ns") + CELF.of_spec(
    PLAIN, "board.chip.ecc_read_ns"
)
PAGE_NS = total(
    DRIVER_AND_ECC_NS,
    CELF.of_spec(PLAIN, "board.chip.t_command_ns"),
    CELF.of_spec(PLAIN, "board.chip.t_read_ns"),
    CELF.of_spec(PLAIN, "board.chip.bus_read_ps") * (2048 + 64) / 1000,
    CELF.of_spec(PLAIN, "board.cpu_byte_ps") * 2048 / 1000,
)

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
        text("the {} s more are the file", most(*AFTER_CUT)),
        text(
            "mounts in {} s.",
            mount(PLAIN, "duration_ns") - CELF.figure(PLAIN, "mount-2/attach-2.duration_ns"),
        ),
        text(
            "{} pages of each of the {} blocks",
            mount(PLAIN, "pages_read") / CELF.of_spec(PLAIN, "board.chip.blocks"),
            CELF.of_spec(PLAIN, "board.chip.blocks"),
        ),
        text("{} or {} pages, whatever the size", least(*LOGFS_PAGES), most(*LOGFS_PAGES)),
        text("fastmap takes a {} of the time", most(*FASTMAP_SHARES)),
        text("It takes {} more blocks", (space(PLAIN) - space(FAST)) / LEB_BYTES),
        text("the detach takes {} ms longer", more("unmount-2/detach-2", "duration_ns")),
        text("take {} of a page's {} µs", DRIVER_AND_ECC_NS / 1000, PAGE_NS),
    ),
    stated={
        "20 seconds": "wall time of two cores",
        "256 MB of NAND with 32 MB of RAM": "the board",
        "each node of 4 KiB lies in two or three pages of 2 KiB": "the sizes of nodes and pages",
        "mount times to 1 GiB and 100,044 files": "the axes of another study",
    },
    elsewhere={
        "run metadata-s1": "compares a read-only root file system",
        "run mount-scaling": "measures larger partitions",
    },
)
