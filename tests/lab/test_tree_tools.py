"""The agent's tree-list, tree-find, tree-copy and tree-delete against programs of others.

Debian's busybox does the same as the agent with `stat=1`, GNU's coreutils and findutils do with
`stat=0`: `ls -R`, `find -name`, `cp -a`, `rm -r`. Each side runs in a guest of its own, on a copy
of the same chip. What the flash is asked for is counted until the file system is synced and quiet.

It is the same to the page for lists, finds and deletions. Of copies `differences_of_copies` says
what the programs do otherwise, as strace shows it, and what that costs.

Left out of the counts is what YAFFS2's background thread writes: once a second headers of
directories that changed, so a program that takes longer gets more of them. What it reads is
counted: it is the first page of a block it happened to fill, which another would have read.

Time is compared for lists and finds. What the program takes for an empty directory is its start,
and subtracted. `pytest -s` prints the table.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from fio_support import COUNTED, MOUNT_POINT, READY, READY_SCRIPT, exec_step, host_steps
from guest_programs import device_steps, mount_step
from lab_support import Boot, boot, cases, with_free_driver

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode
from ffslab.protocol.trace import read_trace

WORKERS = 2
FILESYSTEMS = ("jffs2", "ubifs", "yaffs2")
FAMILIES = {"busybox": 1, "gnu": 0}  # their `stat`
VERBS = ("list", "find", "copy", "delete")
PROGRAMS = ("busybox", "ls", "find", "cp", "rm", "ln", "chmod", "chown")

TREE, COPY = f"{MOUNT_POINT}/tree-1", f"{MOUNT_POINT}/copy-1"
EMPTY = "/tmp/empty"
NAME = "file0000[37]"
SHAPE = (
    "files=uniform(2,14) directories=constant(3) depth=constant(3) size=uniform(0,12000)"
    " contents=compressible compressibility_percent=40"
)
LINKS = 3
# Longer than UBIFS keeps data in a buffer, and YAFFS2 takes between two blocks of garbage.
SETTLE = "settle quiet_ms=6000"

# The program does the agent's calls and more: it looks names up by their paths, sorts and prints
# them. All that is the processor's time; most of a list's is the flash's. Below 1 is for a program
# that starts slower when it finds nothing.
RATIO_MIN, RATIO_MAX = 0.95, 1.5

STUDY = """
schema = 1
name = "treetools"
title = "A small partition for trees"

[base]
board = "apf27-2012"
partition_bytes = "32 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"

[axes]
filesystem = ["{filesystem}"]
"""

# An owner that a copy made by root does not have by itself: else GNU's cp leaves it out.
_MORE, _MORE_SCRIPT = (
    "/tools/more",
    f"""#!/bin/sh
set -e
cd {TREE}
for directory in dir*; do
	ln -s file00001 "$directory/link"
	chmod 700 "$directory"
done
chmod 4755 */file00002
chown -hR 1000:1000 .
""",
)
_RUN, _RUN_SCRIPT = (
    "/tools/run",
    """#!/bin/sh
output=$1
shift
exec "$@" >"$output"
""",
)


@dataclass(frozen=True)
class Measured:
    """What a verb or a program asked of the flash. `duration_ns`: of copy and delete, 0."""

    flash: dict[str, int]
    duration_ns: int


@dataclass(frozen=True)
class Side:
    """The agent's figures or the programs', by verb.

    `entries` listed and `found`, as counted by the agent, or in what the programs printed.
    """

    measured: dict[str, Measured]
    entries: int
    found: int
    copy_digest: str


@dataclass(frozen=True)
class Difference:
    """What a program asks of the flash beyond the agent, in pages."""

    read: int = 0
    programmed: int = 0
    tolerance: int = 0


@dataclass(frozen=True)
class Compared:
    """`directories`, `files`: of the tree, without symbolic links."""

    agent: Side
    program: Side
    directories: int
    files: int


def differences_of_copies(filesystem: str, family: str, found: Compared) -> Difference:
    """What is expected of cp beyond tree-copy.

    Both set times, owner and mode of everything. Busybox's cp sets a directory's mode twice and no
    times of a symbolic link. It closes a file before it sets anything; the agent and GNU's cp do it
    while the file is open. GNU's cp takes a directory's entries in the order of inode numbers.
    """
    more = found.directories - LINKS if family == "busybox" else 0
    if filesystem == "jffs2":
        # Each change is a node of 68 bytes and 18 bytes in its block's summary. That of a link is
        # preceded by reading its node in two pieces. The order decides which node lies in two
        # pages, and what is left free at the end of a block.
        links_read = -2 * LINKS if family == "busybox" else 0
        return Difference(links_read, round(more * 86 / 2048), tolerance=2)
    if filesystem == "yaffs2" and family == "busybox":
        # Each change is a page, and so is the new size of a closed file. Each 63 of them have a
        # page of summary in their block, the first page of which is read before and after.
        pages = more + found.files
        blocks = round(pages / 63)
        return Difference(2 * blocks, pages + blocks, tolerance=2)
    if filesystem == "yaffs2":
        # Where in a block a copy begins decides whether its end fills one: a summary more or less.
        return Difference(tolerance=2)
    # UBIFS keeps inodes in memory until the sync: each is written once.
    return Difference()


def case_of(filesystem: str) -> Case:
    (case,) = cases(STUDY.format(filesystem=filesystem)).values()
    return with_free_driver(case)


def guest_files(directory: Path) -> dict[str, Path]:
    """The scripts by their paths in the guest."""
    directory.mkdir()
    files = {}
    for path, text in ((READY, READY_SCRIPT), (_MORE, _MORE_SCRIPT), (_RUN, _RUN_SCRIPT)):
        files[path] = directory / Path(path).name
        files[path].write_text(text)
    return files


def guest(
    lab: LabBuild,
    directory: Path,
    case: Case,
    steps: Sequence[str],
    flash: Path | None = None,
) -> Boot:
    """One boot up to the mount, and then `steps`; all must succeed."""
    plan = [
        *device_steps(case, erase=flash is None),
        *host_steps(*PROGRAMS),
        exec_step("mkdir", EMPTY),
        "monitor mtd=data",
        "trace on=1",
        mount_step(case),
        SETTLE,
        *steps,
    ]
    files = guest_files(directory.with_name(f"{directory.name}-files"))
    done = boot(lab, directory, case, "\n".join(plan) + "\n", flash=flash, files=files)
    end = done.of_type("end")
    assert end and end[0]["status"] == "ok", (end, done.printed)
    return done


def counted(verb: str, step: str) -> list[str]:
    return [
        f"exec path={READY}",
        f"snapshot label={verb}:start",
        step,
        "sync",
        SETTLE,
        f"snapshot label={verb}:end",
    ]


def agent_steps(verb: str, stat: int) -> list[str]:
    steps = {
        "list": f"tree-list dir={MOUNT_POINT} phase=list stat={stat}",
        "find": f"tree-find dir={MOUNT_POINT} phase=find name={NAME} stat={stat}",
        "copy": f"tree-copy from={TREE} dir={COPY} phase=copy",
        "delete": f"tree-delete dir={TREE} phase=delete",
    }
    return counted(verb, steps[verb])


def program_steps(verb: str, family: str) -> list[str]:
    """A list or a find is that of an empty directory before."""
    words = {
        "list": ["ls", "-R", MOUNT_POINT],
        "find": ["find", MOUNT_POINT, "-name", NAME],
        "copy": ["cp", "-a", TREE, COPY],
        "delete": ["rm", "-r", TREE],
    }[verb]
    program = shutil.which("busybox" if family == "busybox" else words[0])
    assert program
    command = [program, *(words if family == "busybox" else words[1:])]

    def run(label: str, command: Sequence[str]) -> str:
        return (
            f"exec path={_RUN} args={encode(' '.join([f'/tmp/{label}', *command]))} label={label}"
        )

    steps = counted(verb, run(verb, command))
    if verb in ("list", "find"):
        empty = [EMPTY if word == MOUNT_POINT else word for word in command]
        steps = [f"exec path={READY}", run(f"{verb}-nothing", empty), *steps]
        steps.append(f"capture path=/tmp/{verb}")
    return steps


def side(lab: LabBuild, directory: Path, case: Case, flash: Path, family: str, ours: bool) -> Side:
    """The agent or the programs, in two guests: what is copied is not to be deleted."""

    def steps(verb: str) -> list[str]:
        return agent_steps(verb, FAMILIES[family]) if ours else program_steps(verb, family)

    # Objects that YAFFS2 knows stay in memory until it is unmounted.
    remount = [f"umount target={MOUNT_POINT}", mount_step(case), SETTLE]
    whole = [*steps("list"), *remount, *steps("find"), *remount, *steps("copy")]
    whole.append(f"tree-digest dir={COPY} phase=digest")
    first = guest(lab, directory.with_name(f"{directory.name}-read"), case, whole, flash)
    second = guest(
        lab, directory.with_name(f"{directory.name}-delete"), case, steps("delete"), flash
    )
    trees = {record["phase"]: record for record in first.of_type("tree")}
    if ours:
        counts = trees["list"]
        entries = counts["directories"] - 1 + counts["files"] + counts["links"]
        found = trees["find"]["found"]
    else:
        entries, found = (printed(first, verb) for verb in ("list", "find"))
    measured = {
        verb: Measured(
            flash_between(second if verb == "delete" else first, verb),
            duration_ns(first, verb, ours) if verb in ("list", "find") else 0,
        )
        for verb in VERBS
    }
    return Side(measured, entries, found, trees["digest"]["digest"])


def printed(done: Boot, verb: str) -> int:
    """The names that ls or find printed."""
    (text,) = [r["text"] for r in done.of_type("file") if r["path"] == f"/tmp/{verb}"]
    return sum(1 for line in text.splitlines() if line and not line.endswith(":"))


def flash_between(done: Boot, verb: str) -> dict[str, int]:
    """By the counters, without what the background thread wrote, which the trace tells."""
    start, end = (done.flash_record(f"{verb}:{moment}") for moment in ("start", "end"))
    flash = {key: end["counters"][key] - start["counters"][key] for key in COUNTED}
    keys = dict(zip(("read", "program", "erase"), COUNTED, strict=True))
    for operation in read_trace(done.trace).operations():
        wrote = operation.task.startswith("yaffs-bg") and operation.op != "read"
        if wrote and start["t_ns"] <= operation.t_start_ns < end["t_ns"]:
            flash[keys[operation.op]] -= operation.pages
    return flash


def duration_ns(done: Boot, verb: str, ours: bool) -> int:
    """Without the start of the program."""
    if ours:
        (phase,) = [record for record in done.of_type("phase") if record["phase"] == verb]
        return int(phase["t_end_ns"] - phase["t_start_ns"])
    steps = {record["label"]: record for record in done.of_type("step")}
    whole, nothing = (
        steps[label]["t_end_ns"] - steps[label]["t_start_ns"] for label in (verb, f"{verb}-nothing")
    )
    return int(whole - nothing)


@pytest.fixture(scope="module", params=FILESYSTEMS)
def compared(
    request: pytest.FixtureRequest, lab: LabBuild, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Compared]]:
    """A file system's name, and its comparisons by family."""
    filesystem: str = request.param
    top, case = tmp_path_factory.mktemp(filesystem), case_of(filesystem)
    detach = ["ubi-detach"] if case.filesystem.ubi else []
    steps = [f"tree-create dir={TREE} phase=create {SHAPE}", f"exec path={_MORE}"]
    prepared = guest(lab, top / "prepared", case, [*steps, "umount", *detach])
    (tree,) = prepared.of_type("tree")

    def run(which: tuple[str, bool]) -> Side:
        family, ours = which
        name = f"{family}-{'agent' if ours else 'program'}"
        return side(lab, top / name, case, prepared.flash, family, ours)

    with ThreadPoolExecutor(WORKERS) as pool:
        sides = list(pool.map(run, [(name, ours) for name in FAMILIES for ours in (True, False)]))
    shutil.rmtree(top)
    return filesystem, {
        family: Compared(*sides[2 * index : 2 * index + 2], tree["directories"], tree["files"])
        for index, family in enumerate(FAMILIES)
    }


def table(name: str, found: Compared) -> str:
    """Both sides' figures: the agent's, then the program's."""
    lines = [f"{name:16} time, ms: agent, program, ratio {''.join(f'{k:>18}' for k in COUNTED)}"]
    for verb in VERBS:
        ours, theirs = found.agent.measured[verb], found.program.measured[verb]
        cells = [f"  {verb:18}", " " * 28]
        if ours.duration_ns:
            ratio = theirs.duration_ns / ours.duration_ns
            times = f"{ours.duration_ns / 1e6:10.3f} {theirs.duration_ns / 1e6:10.3f} {ratio:6.3f}"
            cells[1] = times
        cells += [f"{ours.flash[key]:8} {theirs.flash[key]:8}" for key in COUNTED]
        lines.append(" ".join(cells))
    return "\n".join(lines)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_flash_is_asked_for_the_same(
    compared: tuple[str, dict[str, Compared]], family: str
) -> None:
    filesystem, found = compared[0], compared[1][family]
    print("\n" + table(f"{filesystem}, {family}", found))
    for verb in VERBS:
        ours, theirs = (side.measured[verb].flash for side in (found.agent, found.program))
        assert ours["pages_read"] > 300, verb
        more = {key: theirs[key] - ours[key] for key in COUNTED}
        expected = Difference()
        if verb == "copy":
            expected = differences_of_copies(filesystem, family, found)
        assert abs(more["pages_read"] - expected.read) <= expected.tolerance, verb
        assert abs(more["pages_programmed"] - expected.programmed) <= expected.tolerance, verb
        assert more["blocks_erased"] == 0, verb


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_is_found_and_copied(
    compared: tuple[str, dict[str, Compared]], family: str
) -> None:
    """Of copies the digest: names, types, modes, owners, contents."""
    found = compared[1][family]
    assert found.agent.entries == found.program.entries > found.files
    assert found.agent.found == found.program.found > 20
    assert found.agent.copy_digest == found.program.copy_digest


@pytest.mark.parametrize("family", FAMILIES)
def test_lists_and_finds_take_about_the_same_time(
    compared: tuple[str, dict[str, Compared]], family: str
) -> None:
    found = compared[1][family]
    for verb in ("list", "find"):
        ours, theirs = found.agent.measured[verb], found.program.measured[verb]
        assert RATIO_MIN <= theirs.duration_ns / ours.duration_ns <= RATIO_MAX, verb
