"""What the part `flash` runs: its cases, and the plans of its guests. Pure but for the catalog.

A plan is the part of a case's own plan up to the mount, followed by workloads of flash_work.c.
Around each of them the monitor's counters are taken, and what the file system and the chip say
of themselves. Labels tie records to what they are about: a phase P has flash records P:start and
P:end, a step P, and captured files with the labels P:start, P:end and P (its result).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.study import expand, study_from_document
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import FLASH_REGION, MOUNT_POINT, plan_text
from ffslab.workloads.plans import SETTLE_QUIET_MS

PROGRAM = "flash_work"
MIB = 2**20
# What a file system tells of itself, by its type; the partition under test comes first.
STATISTICS = {"yaffs2": "/proc/yaffs2/mtd0", "logfs": "/proc/logfs/mtd0"}
CHIP_STATISTICS = f"/proc/vnand/{FLASH_REGION}/counters"
FILESYSTEMS = ("yaffs2", "yaffs2-inband", "yaffs2-no-cache", "logfs", "jffs2", "ubifs")
# Large directories need no variants of yaffs2; a scan without summaries, one.
DIRECTORY_FILESYSTEMS = ("yaffs2", "logfs", "jffs2", "ubifs")
SUMMARIES_OFF = "yaffs2"
# An aged partition leaves the others the room that FFSMark needs.
FREE_ONLY = ("logfs",)
DIRECTORY_OPERATIONS = ("create", "lookup", "lookup-all", "list", "remove", "first")
# After a mount JFFS2 checks an inode every 60 ms: ten minutes for the largest directory.
SETTLE_MAX_MS = 3_600_000
FILE = f"{MOUNT_POINT}/file"

_STUDY = """
schema = 1
name = "flashcost"
title = "Flash operations of file systems without compression"

[base]
board = "apf27"
partition_bytes = "100 MiB"
cpu_scale = 0.0
seeds = [1]
options.compression = "none"

[base.workload]
number = 5000
transactions = 15000

[axes]
filesystem = {filesystems}
state = ["free", "aged"]
"""
# 2 KiB pages with 64 bytes of OOB, 64 to the block, as the board's chip has; its own latencies.
_CHIP = {
    "t_command_ns": 0,
    "t_read_ns": 25_000,
    "t_prog_ns": 200_000,
    "t_erase_ns": 1_000_000,
    "bus_read_ps": 50_000,
    "bus_write_ps": 50_000,
    "ecc_read_ns": 0,
    "ecc_write_ns": 0,
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done. `records` begins with the usual one; `directories` ascend."""

    file_bytes: int = 40 * MIB
    records: tuple[int, ...] = (4096, 128 * 1024, 512)
    overwrite_bytes: int = 4096
    overwrites: int = 10_000
    overwrites_again: int = 30_000
    small_files: int = 2000
    small_directories: int = 20
    small_bytes: int = 1000
    directories: tuple[int, ...] = (1250, 2500, 5000, 10_000)
    lookups: int = 1250


def cost_cases() -> dict[tuple[str, str], Case]:
    """The cases by file system and state, on the chip whose operations are counted."""
    catalog = load_catalog()
    text = _STUDY.format(filesystems=list(FILESYSTEMS))
    study = study_from_document(parse_toml(text, "bench flash"), catalog, "bench flash")
    return {
        (case.filesystem.name, case.state.name): _on_chip(case) for case in expand(study, catalog)
    }


def _on_chip(case: Case) -> Case:
    chip = replace(case.board.chip, **_CHIP)  # type: ignore[arg-type]
    return replace(case, board=replace(case.board, chip=chip))


def with_options(case: Case, *options: str) -> Case:
    """The same case with further mount options."""
    setup = case.filesystem
    return replace(case, filesystem=replace(setup, mount_options=(*setup.mount_options, *options)))


# ---- pieces of plans ----


def is_yaffs(case: Case) -> bool:
    """Whether it is a yaffs2, with whatever options."""
    return case.filesystem.type == "yaffs2"


def _setup(case: Case, *, erase: bool = True) -> list[str]:
    """The case's plan up to the mount, without it; `erase` not: the chip holds a file system."""
    lines = plan_text(case).splitlines()
    lines = lines[: next(i for i, line in enumerate(lines) if line.startswith("mount "))]
    others = ("ubi-attach", "ubi-mkvol", *(() if erase else ("erase",)))
    return [line for line in lines if line.split()[0] not in others]


def _mount(case: Case, label: str, options: Sequence[str] = (), *, new: bool = False) -> list[str]:
    """Attach and mount as one phase, of which the steps LABEL:attach and LABEL are the time."""
    lines = plan_text(with_options(case, *options)).splitlines()
    wanted = ("ubi-attach", "ubi-mkvol", "mount") if new else ("ubi-attach", "mount")
    labels = {"ubi-attach": f"{label}:attach", "ubi-mkvol": f"{label}:volume", "mount": label}
    steps = [line for line in lines if line.split()[0] in wanted]
    return [
        f"snapshot label={label}:start",
        *(f"{line} label={labels[line.split()[0]]}" for line in steps),
        f"snapshot label={label}:end",
        *_statistics(case, f"{label}:end"),
    ]


def _unmount(case: Case) -> list[str]:
    detach = ["ubi-detach ubi=0"] if case.filesystem.ubi else []
    return [f"umount target={MOUNT_POINT}", *detach]


def _settle() -> str:
    return f"settle quiet_ms={SETTLE_QUIET_MS} max_ms={SETTLE_MAX_MS}"


def _statistics(case: Case, label: str) -> list[str]:
    own = STATISTICS.get(case.filesystem.type)
    paths = [CHIP_STATISTICS, *([own] if own else [])]
    return [f"capture path={path} label={label}" for path in paths]


def _work(case: Case, phase: str, words: str) -> list[str]:
    """One run of the program as a phase of that name."""
    command, rest = words.split(" ", 1)
    arguments = encode(f"/tmp/result {command} {rest}")
    return [
        f"snapshot label={phase}:start",
        *_statistics(case, f"{phase}:start"),
        f"exec path=/bench/{PROGRAM} args={arguments} label={phase}",
        f"snapshot label={phase}:end",
        *_statistics(case, f"{phase}:end"),
        f"capture path=/tmp/result label={phase}",
    ]


def _plan(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _fresh(case: Case) -> list[str]:
    return [*_setup(case), *_mount(case, "format", new=True), _settle()]


def _write_file(case: Case, sizes: Sizes, record: int) -> list[str]:
    return _work(case, "write", f"write {FILE} {sizes.file_bytes} {record}")


# ---- whole plans ----


def sequential_plan(case: Case, sizes: Sizes, record: int) -> str:
    """Phase `write`: a new file in write()s of `record` bytes, on an empty partition."""
    return _plan([*_fresh(case), *_write_file(case, sizes, record), *_unmount(case)])


def overwrite_plan(case: Case, sizes: Sizes) -> str:
    """Phases `overwrite` and `again`: random aligned records of that file, after a new mount.

    So nothing is in the page cache that would spare the file system a read. The file was opened
    once before, since finding it may cost one. `again` goes on until garbage must be collected.
    """

    def words(count: int, seed: int) -> str:
        return f"overwrite {FILE} {sizes.overwrite_bytes} {count} {seed}"

    return _plan(
        [
            *_fresh(case),
            *_write_file(case, sizes, sizes.records[0]),
            *_unmount(case),
            *_mount(case, "remount"),
            *_work(case, "open", f"read {FILE} 0"),
            _settle(),
            *_work(case, "overwrite", words(sizes.overwrites, 1)),
            *_work(case, "again", words(sizes.overwrites_again, 2)),
            *_unmount(case),
        ]
    )


def create_plan(case: Case, sizes: Sizes) -> str:
    """Phase `create`: small files in several directories, then sync."""
    words = (
        f"create {MOUNT_POINT} {sizes.small_directories} {sizes.small_files} {sizes.small_bytes}"
    )
    return _plan([*_fresh(case), *_work(case, "create", words), *_unmount(case)])


def mount_plan(case: Case, sizes: Sizes) -> str:
    """Phases `clean` and, of yaffs2, `scan`: mounts of a partition with the file.

    The second is told not to read the checkpoint that the unmount before it wrote.
    """
    lines = [*_fresh(case), *_write_file(case, sizes, sizes.records[0]), *_unmount(case)]
    lines += [*_mount(case, "clean"), *_first_read(case, "clean"), *_unmount(case)]
    if is_yaffs(case):
        lines += _mount(case, "scan", ["no-checkpoint-read"])
        lines += [*_first_read(case, "scan"), *_unmount(case)]
    return _plan(lines)


def crash_plan(case: Case, sizes: Sizes) -> str:
    """Writes the file and ends without unmounting: fsync() has returned, no more."""
    return _plan([*_fresh(case), *_write_file(case, sizes, sizes.records[0])])


def after_crash_plan(case: Case) -> str:
    """Phase `crash`: the mount of what a crash_plan() left on the chip.

    The sleep is for the kernel's first tick. Before it timers are no finer than a tick, and the
    first operation of the chip in a guest that has just booted would take that long.
    """
    return _plan(
        [
            *_setup(case, erase=False),
            "sleep ms=100",
            *_mount(case, "crash"),
            *_first_read(case, "crash"),
            *_unmount(case),
        ]
    )


def _first_read(case: Case, phase: str) -> list[str]:
    return _work(case, f"{phase}-read", f"read {FILE} 4096")


def directory_plan(case: Case, entries: int, sizes: Sizes) -> str:
    """Phases create, lookup, lookup-all, list, first, remove: one directory of that many entries.

    Look-ups begin with empty caches: of as many entries whatever the directory has, and of all,
    each once. `first` is the first one after a new mount.
    """
    at = f"{MOUNT_POINT} {entries}"
    return _plan(
        [
            *_fresh(case),
            *_work(case, "create", f"populate {at}"),
            "drop-caches",
            *_work(case, "lookup", f"lookup {at} {sizes.lookups} {case.seed}"),
            "drop-caches",
            *_work(case, "lookup-all", f"lookup {at} {entries} {case.seed}"),
            "drop-caches",
            *_work(case, "list", f"list {at}"),
            *_unmount(case),
            *_mount(case, "remount"),
            _settle(),
            *_work(case, "first", f"lookup {at} 1 {case.seed}"),
            *_work(case, "remove", f"remove {at}"),
            *_unmount(case),
        ]
    )


def ffsmark_plan(case: Case) -> str:
    """The case as `ffslab run` runs it, with a phase `whole` around the step that does it all."""
    lines = plan_text(case).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("ffsmark "))
    before = ["snapshot label=whole:start", *_statistics(case, "whole:start")]
    after = ["snapshot label=whole:end", *_statistics(case, "whole:end")]
    return _plan([*lines[:at], *before, f"{lines[at]} label=whole", *after, *lines[at + 1 :]])
