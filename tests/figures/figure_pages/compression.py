"""The bindings of docs/answers/compression.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, least, most

from ffslab.results.result import CaseResult
from ffslab.workloads.figures import criteria_of

RUN = Command("run compression")
COMPRESSORS = {"jffs2": ("none", "lzo", "zlib"), "ubifs": ("none", "lzo", "zlib", "zstd")}
TITLES = {"jffs2": "JFFS2", "ubifs": "UBIFS", "lzo": "LZO"}
CASES = [(name, each) for name, several in COMPRESSORS.items() for each in several]
STORED = ("create", "sync")


def files(name: str, compressor: str, *keys: str) -> Quantity:
    return RUN.figure(f"files-{name}-{compressor}", *(f"preparation: {key}" for key in keys))


def image(name: str, compressor: str, *keys: str) -> Quantity:
    return RUN.figure(f"rootfs-{name}-{compressor}", *keys)


def size(name: str, compressor: str) -> Quantity:
    return image(name, compressor, "image.image_bytes")


def pages(name: str, compressor: str) -> Quantity:
    return files(name, compressor, *(f"{step}.pages_programmed" for step in STORED))


def written(name: str, compressor: str) -> Quantity:
    return files(name, compressor, *(f"{step}.duration_ns" for step in STORED))


def copied(name: str, compressor: str) -> Quantity:
    return image(name, compressor, "copy.duration_ns", "sync.duration_ns")


def ram(name: str) -> list[Quantity]:
    """After each mount."""
    return [
        RUN.figure(f"{part}-{name}-{each}", f"memory after {mount}.total_bytes")
        for part, mount in (("rootfs", "mount"), ("files", "mount-2"))
        for each in COMPRESSORS[name]
    ]


WORK = Command(
    'run ffsmark --seeds 1 --set state=aged --set \'workload.contents=["printable", "text"]\'',
    shown="./ffslab run ffsmark --seeds 1 --set state=aged --set "
    "\"workload.contents=['printable', 'text']\"",
)
CONFIGURATIONS = {
    "JFFS2, none": "jffs2-none-writethrough",
    "JFFS2, zlib": "jffs2-zlib-writethrough",
    "UBIFS, none": "ubifs-none-writeback",
    "UBIFS, LZO": "ubifs-lzo-writeback",
    "YAFFS2": "yaffs2-none-writethrough",
}


def work(configuration: str, key: str) -> list[Quantity]:
    """A figure that people decide by, of FFSMark with characters, and with words."""

    def of(result: CaseResult) -> float:
        figures = (criterion.figure for criterion in criteria_of(result))
        return next(figure.value for figure in figures if figure.key == key)

    case = CONFIGURATIONS[configuration]
    return [WORK.of_case(f"{case}-{each}", key, of) for each in ("printable", "text")]


DECIDING = ("workload.pages_programmed", "workload.on_flash_ns")
WORDS = [work("UBIFS, LZO", key)[1] / work("UBIFS, none", key)[1] for key in DECIDING]
SAVED = [(size(name, "none") - size(name, "lzo")) / size(name, "none") for name in COMPRESSORS]
SLOWER = [written(name, "zlib") / written(name, "none") for name in COMPRESSORS]
COPIED_SLOWER = [copied(name, "zlib") / copied(name, "none") for name in COMPRESSORS]
FEWER = [pages(name, "zlib") / pages(name, "none") for name in COMPRESSORS]
LIVES = [pages(name, "none") / pages(name, "zlib") for name in COMPRESSORS]
LIVES += [pages("ubifs", "none") / pages("ubifs", "zstd")]
ANY = "files-ubifs-lzo"

PAGE = Page(
    document="docs/answers/compression.md",
    commands=(RUN, WORK),
    bindings=(
        text("{} cases, half a minute.", RUN.case_count),
        text(
            "on {} MiB of the board apf27 (ARM9, {} MHz)",
            RUN.of_spec(ANY, "partition_bytes"),
            RUN.of_spec(ANY, "board.cpu_mhz"),
        ),
        text("root file system of {} MiB.", image("jffs2", "lzo", "image.tree_bytes")),
        text(
            "The files are {} of English-like text, {} KiB each.",
            files("ubifs", "lzo", "create.files"),
            files("ubifs", "lzo", "create.bytes") / files("ubifs", "lzo", "create.files"),
        ),
        Table(
            "| | image | pages to create the files | until they are on the flash | copying the "
            "image, synced |",
            {
                f"{TITLES[case[0]]}, {TITLES.get(case[1], case[1])}": [
                    *(size(*case), pages(*case), written(*case), copied(*case))
                ]
                for case in CASES
            },
        ),
        Table(
            "| on aged flash | pages, characters | pages, words | time, characters | time, words |",
            {
                name: [each for key in DECIDING for each in work(name, key)]
                for name in CONFIGURATIONS
            },
        ),
        text("a file system without one ({} cases,", WORK.case_count),
        text(
            "programs {} the pages of UBIFS without a compressor, and needs {} % of its time",
            *WORDS,
        ),
        text("It saves {} to {} % of an image", least(*SAVED), most(*SAVED)),
        text("It programs {} as many pages", most(*FEWER)),
        text("and takes {} to {} times as long", least(*SLOWER), most(*SLOWER)),
        text("a copy takes {} to {} times as long", least(*COPIED_SLOWER), most(*COPIED_SLOWER)),
        text(
            "takes {} as long again as LZO",
            written("ubifs", "zstd") / written("ubifs", "lzo") - 1,
        ),
        text("that holds text lives {} as long", least(*LIVES)),
        text("{} to {} KiB for JFFS2", least(*ram("jffs2")), most(*ram("jffs2"))),
        text("{} to {} KiB for UBIFS", least(*ram("ubifs")), most(*ram("ubifs"))),
    ),
    stated={
        "half a minute": "wall time of two cores",
        "two minutes": "wall time of two cores",
        "Linux 5.3 or later": "when UBIFS got zstd",
        "a processor twice as fast zlib's extra time halves": "a proportion",
    },
)
