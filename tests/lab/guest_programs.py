"""The test programs of tests/lab/guest, and what each file system of the lab allows them.

`history` runs random operations against a model, those of the workload random; `posix` a list of
checks of single behaviours. Both take what a file system does by design as options; it stands here,
once for both, with its reason. The options describe the file system; they are never there to make a
test pass. What is one of Linux and does otherwise than POSIX says has a number of docs/findings.md,
and tests/lab/test_findings.py makes the same checks without it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab_support import ROOT, Boot, boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode, parse_step
from ffslab.results.console import scan_console
from ffslab.targets.virtual_flash import plan_text
from findings import finding

SOURCES = ROOT / "tests" / "lab" / "guest"
DEBUG = os.environ.get("FFSLAB_TEST_VARIANT", "default") == "debug"
NIGHTLY = os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0")
MOUNT_POINT = "/mnt"
SMALL = "24 MiB"

STUDY = """
schema = 1
name = "guestprogram"
title = "A file system for the test programs"

[base]
board = "apf27"
partition_bytes = "{partition}"
seeds = [1]

[base.workload]
kind = "ffsmark"

[axes]
filesystem = ["{filesystem}"]
"""


@dataclass(frozen=True)
class Subject:
    """A file system under test: an entry of the catalog, and the facts of its design.

    `both`, `history` and `posix` are options of the programs. `options` are alternatives of the
    mount options, one of which the history draws at each mount; none: what the catalog says.
    Without `remounts` the plan mounts, and the history neither unmounts nor remounts. Contents of
    all files up to `full_bytes` fit into 8 MiB, however they are divided.
    """

    name: str
    filesystem: str
    partition: str
    both: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    posix: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    remounts: bool = True
    operations: int = 4000
    seeds: int = 1
    posix_skips: int = 9  # checks that are skipped, at most
    full_bytes: int = 4_600_000
    chip: tuple[tuple[str, int], ...] = ()  # what differs of the board's chip
    posix_partition: str = SMALL if DEBUG else "64 MiB"  # for 10,000 files in a directory

    def case(self) -> Case:
        text = STUDY.format(partition=self.partition, filesystem=self.filesystem)
        (case,) = cases(text, **dict(self.chip)).values()
        return case


SECONDS = "--time-granularity-ns=1000000000"
NO_LABELS = "--no-security-xattr"  # the lab kernel is configured without security.*

JFFS2 = Subject(
    name="jffs2",
    filesystem="jffs2",
    partition="16 MiB",
    both=(
        *finding("F-JFFS2-19", ("--name-max=254", "--symlink-max=254")),
        *finding("F-JFFS2-14", (SECONDS, "--time-max-s=4294967295")),
        *finding("F-JFFS2-10", ("--id-max=65535",)),
        *finding("F-JFFS2-17", ("--no-mmap-write",)),
        NO_LABELS,
        *finding("F-JFFS2-16", ("--root-links=1",)),
        *finding("F-JFFS2-11", ("--lax-times",)),
    ),
    history=(
        *finding("F-JFFS2-12", ("--no-dir-times",)),
        *finding("F-JFFS2-08", ("--fills=0", "--keep-emptied")),
        *finding("F-JFFS2-13", ("--late-times",)),
    ),
    posix=(
        *finding("F-JFFS2-19", ("--size-max=4294967295",)),
        *finding("F-JFFS2-09", ("--xattr-refused=0",)),
    ),
    posix_partition=SMALL,  # it is slow when it is full
    remounts=finding("F-JFFS2-05", False),
)

UBIFS = Subject(
    name="ubifs",
    filesystem="ubifs",
    partition="16 MiB",
    both=(
        "--name-max=255",
        "--symlink-max=4095",
        *finding("F-UBIFS-13", (SECONDS,)),
        "--exchange",
        "--tmpfile",
        NO_LABELS,
        *finding("F-UBIFS-11", ("--lax-times",)),
    ),
    history=finding("F-UBIFS-09", ("--xattr-files-only",)),
    posix=(
        *finding("F-UBIFS-14", ("--blocks-by-size",)),
        *finding("F-UBIFS-10", ("--except=open-bad-memory",)),
    ),
)

# A partition of 64 blocks: of fewer than 60 no checkpoint is written.
YAFFS2 = Subject(
    name="yaffs2",
    filesystem="yaffs2",
    partition="8 MiB",
    both=(
        "--name-max=254",
        "--symlink-max=159",
        SECONDS,
        "--tmpfile",
        "--xattr-max=1200",  # all of a file's are in the page of its header
        "--xattr-refused=2000",
        "--clean-tail",
        "--small-devices",  # device numbers have 16 bits on the flash
    ),
    options=(
        *("", "no-checkpoint", "no-checkpoint-read", "no-cache,lazy-loading-off"),
        "gc=predict,gc_bound_us=10000",
    ),
    operations=10_000,
    seeds=2,
)

YAFFS2_INBAND = replace(
    YAFFS2,
    name="yaffs2-inband",
    filesystem="yaffs2-inband",
    seeds=1,
    history=("--chunk=2032",),
    options=("inband-tags", "inband-tags,no-checkpoint", "inband-tags,no-cache"),
)

YAFFS2_NO_CACHE = replace(
    YAFFS2, name="yaffs2-no-cache", filesystem="yaffs2-no-cache", seeds=1, options=("no-cache",)
)

YAFFS2_NO_CHECKPOINT = replace(
    YAFFS2,
    name="yaffs2-no-checkpoint",
    filesystem="yaffs2-no-checkpoint",
    seeds=1,
    options=("no-checkpoint", "no-checkpoint,disable-summary"),
)

_LAYOUT = "layout=segregated"
YAFFS2_SEGREGATED = replace(
    YAFFS2,
    name="yaffs2-segregated",
    options=(
        *(_LAYOUT, f"{_LAYOUT},no-checkpoint", f"{_LAYOUT},no-checkpoint-read"),
        *(f"{_LAYOUT},no-cache,lazy-loading-off", f"{_LAYOUT},no-checkpoint,disable-summary"),
        f"{_LAYOUT},gc=predict,gc_bound_us=10000",
    ),
)

LOGFS = Subject(
    name="logfs",
    filesystem="logfs",
    partition="8 MiB",
    both=(
        "--name-max=255",
        "--symlink-max=4095",
        "--one-link",
        "--no-xattr",
        "--exchange",
        "--clean-tail",
    ),
    history=("--chunk=4096",),
    full_bytes=3_600_000,  # each file takes whole blocks of 4 KiB
    operations=10_000,
    posix_skips=12,  # nine are of extended attributes
)

# The option marks the root directory for good: what was made before the first mount that has it
# goes on without.
LOGFS_ZLIB = replace(
    LOGFS, name="logfs-zlib", options=("compress", ""), full_bytes=Subject.full_bytes
)

SUBJECTS = (
    *(JFFS2, UBIFS, YAFFS2, YAFFS2_INBAND, YAFFS2_NO_CACHE, YAFFS2_NO_CHECKPOINT),
    *(YAFFS2_SEGREGATED, LOGFS, LOGFS_ZLIB),
)
OURS = ("yaffs2", "logfs")  # types whose modules are ours


def build(program: str, directory: Path) -> Path:
    """Compiles one of the programs; its path."""
    subprocess.run(
        ["make", "-s", "-C", str(SOURCES), f"O={directory}", str(directory / program)], check=True
    )
    return directory / program


def mount_words(subject: Subject, case: Case) -> list[str]:
    """The programs' options for a mount of the case's file system."""
    _, keys = parse_step(mount_step(case))
    options = subject.options or (keys.get("options", ""),)
    words = [f"--dir={MOUNT_POINT}", f"--type={keys['type']}", f"--source={keys['source']}"]
    return [*words, f"--options={'|'.join(options)}"]


def mount_step(case: Case) -> str:
    return next(line for line in plan_text(case).splitlines() if line.startswith("mount "))


def device_steps(case: Case, *, erase: bool = True) -> list[str]:
    """The case's plan up to the mount; without `erase`, for a chip that holds a file system."""
    verbs = ["ffsplan", "insmod", "ubi-attach"]
    if erase:
        verbs += ["erase", "ubi-mkvol"]
    return [line for line in plan_text(case).splitlines() if line.split()[0] in verbs]


def run_program(
    lab: LabBuild,
    directory: Path,
    subject: Subject,
    program: Path,
    words: Sequence[str],
    *,
    flash: Path | None = None,
    mounts: bool = True,
    limit_s: float = 120,
    allowed: str = "",
) -> Boot:
    """Boots a guest that runs `program` on the file system; with `flash`, on what is there.

    `mounts`: the program mounts; else the plan does. A failure of the program fails the test,
    with what it printed, and so does a report of the kernel, unless it contains `allowed`.
    """
    case = subject.case()
    path = f"/test/{program.name}"
    all_words = [*(mount_words(subject, case) if mounts else []), *words]
    steps = [
        *device_steps(case, erase=flash is None),
        *([] if mounts else [mount_step(case)]),
        f"exec path={path} args={encode(' '.join(all_words))}",
        *([] if mounts else [f"umount target={MOUNT_POINT}"]),
        *(["ubi-detach"] if case.filesystem.ubi else []),
        "capture path=/proc/vnand/flash0/counters",
    ]
    guest = boot(
        lab,
        directory,
        case,
        "\n".join(steps) + "\n",
        flash=flash,
        files={path: program},
        limit_s=limit_s * (10 if DEBUG else 1),
        clean=False,
    )
    end = guest.of_type("end")
    assert end and end[0]["status"] == "ok", guest.printed
    messages = scan_console(guest.console)
    assert not [found for found in messages if not allowed or allowed not in found.text]
    assert guest.status == 0
    return guest
