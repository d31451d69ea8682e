"""YAFFS2 after a crash at any moment: the guest is switched off, nothing more reaches the flash.

Power goes between two operations of the chip, which are whole. The flash of a guest with a trace
of them is cut behind each in turn, on the host: so every moment of a script is seen, not some.
"""

from __future__ import annotations

import copy
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from fstree import (
    LOST_FOUND,
    Inode,
    Listing,
    Script,
    assert_same,
    differences,
    image_listing,
)
from guest_programs import NIGHTLY
from random_tree import Limits, RandomOperations
from tree_states import OPERATIONS as COMMON
from tree_states import Operation, do, matches, paths_of, snapshot
from yaffs_guest import (
    CHIP_COUNTERS,
    LIST,
    MONITOR,
    PROGRAM,
    UMOUNT,
    Chip,
    Guest,
    load,
    mount,
    no_violations,
    run,
    start,
)

from ffslab.fsimage.flashfile import map_file
from ffslab.lab.lab_build import LabBuild
from ffslab.protocol.chip_layout import parse_lab_header
from ffslab.protocol.plan import encode
from ffslab.yaffs2 import Report, check_image, read_tree

CHIP = Chip(blocks=16)  # no block is full before the end, so none is erased
OPTIONS = [
    *("", "inband-tags", "no-cache", "disable-summary", "lazy-loading-off"),
    "gc=predict,gc_bound_us=10000",
    *(SEGREGATED := ["layout=segregated", "layout=segregated,disable-summary"]),
    "layout=segregated,wear=static,gc=predict,gc_bound_us=10000",
]
# What an operation that was cut may leave behind. The next mount repairs it.
INTERRUPTED = {"data-behind-end", "name-link-interrupted"}


# --- every moment ---

# Extended attributes are YAFFS2's alone.
OPERATIONS: list[Operation] = [
    *COMMON[: (at := COMMON.index(("chmod", ("/d/a", 0o600))))],
    ("setxattr", ("/d/a", "user.a", "1")),
    ("setxattr", ("/d/a", "user.a", "22")),
    *COMMON[at:],
]


class Moments:
    """A guest that did OPERATIONS, its flash at every moment, and the states of the tree."""

    def __init__(self, lab: LabBuild, directory: Path, program: Path, options: str) -> None:
        self.script = Script()
        self.states = [snapshot(self.script)]
        for operation in OPERATIONS:
            do(self.script, operation)
            self.states.append(snapshot(self.script))
        steps = [*load(CHIP, "yaffs_bg_enable=0"), *MONITOR, mount(options), run(0)]
        self.guest = start(lab, directory, program, steps, chip=CHIP, scripts=[self.script])
        self.operations = self.guest.operations
        assert not any(kind == "erase" for kind, _, _ in self.operations)
        self._cut = directory / "cut.img"

    def cut(self, count: int) -> Path:
        """The flash when the first `count` pages were programmed."""
        shutil.copyfile(self.guest.flash, self._cut)
        lab = parse_lab_header(map_file(self._cut))
        assert lab
        kept = self.operations[:count]
        with self._cut.open("r+b") as file:
            for _, block, page in self.operations[count:]:
                number = block * lab.pages_per_block + page
                file.seek(lab.pages_offset + 4 * number)
                file.write(bytes(4))
            for block in {block for _, block, _ in self.operations}:
                behind = max((page + 1 for _, b, page in kept if b == block), default=0)
                file.seek(lab.blocks_offset + lab.block_state_bytes * block + 16)
                file.write(struct.pack("<I", behind))
        return self._cut

    def listings(self) -> Iterator[tuple[int, Report, Listing]]:
        """What the checker finds at each moment."""
        known = CHIP.image_options()
        for count in range(len(self.operations) + 1):
            path = self.cut(count)
            report = check_image(path, known)
            bad = [problem for problem in report.errors if problem.rule not in INTERRUPTED]
            assert not bad, report.text()
            found = image_listing(read_tree(path, known))
            yield count, report, {p: e for p, e in found.items() if p not in ("/", LOST_FOUND)}


def state_of(moments: Moments, found: Listing, first: int) -> int | None:
    """The number of the state, not before `first`, that was found; None: there is none."""
    near = range(first, min(first + 4, len(moments.states)))
    for number in near:
        if matches(moments.states[number], found, set()):
            return number
    for number in near:
        if matches(
            moments.states[number], found, paths_of(OPERATIONS[max(number - 1, 0) : number + 1])
        ):
            return number
    # An object whose own name was removed has the name of one of its links twice for a moment.
    for number in near:
        names = moments.states[number].keys()
        if names == found.keys():
            return number
    return None


@pytest.mark.parametrize("options", OPTIONS)
def test_every_moment_is_between_two_states(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """Names change at once or not at all, and whatever is not being changed stays as it is."""
    moments = Moments(lab, tmp_path / "guest", fstree, options)
    number = 0
    for count, _, found in moments.listings():
        state = state_of(moments, found, number)
        assert state is not None, (
            f"{count} pages programmed, behind {OPERATIONS[number - 1]}: "
            f"{differences(moments.states[number], found)}"
        )
        number = state
    assert number == len(OPERATIONS)


@pytest.mark.parametrize("options", ["", "inband-tags", "layout=segregated"])
def test_a_mount_repairs_what_was_interrupted(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """Every moment at which the checker finds something, if only a thing left to do."""
    moments = Moments(lab, tmp_path / "guest", fstree, options)
    chosen = [
        (count, found)
        for count, report, found in moments.listings()
        if report.counts.keys() - {"data-unflushed", "image-erased", "summary-missing"}
    ]
    assert len(chosen) > 10
    for count, found in chosen:
        change = Script()
        change.line("create", "/mnt/new", "644")
        steps = [*load(CHIP), mount(options, flags="ro"), *LIST, UMOUNT, mount(options), *LIST]
        steps += [run(0), UMOUNT, mount(options), *LIST, UMOUNT, CHIP_COUNTERS]
        guest = start(lab, tmp_path / f"guest{count}", fstree, steps, chip=CHIP, scripts=[change],
                      flash=moments.cut(count))  # fmt: skip
        for listing in guest.listings:
            kept = {path: entry for path, entry in listing.items() if path != "/new"}
            assert_same(found, kept, ignore=("nlink",))
        report = guest.assert_sound()
        assert report.counts.keys() <= {"image-erased", "summary-missing"}, report.text()
        assert no_violations(guest.counters)


def test_nothing_appears_behind_the_end(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    """A file was being made shorter; made longer again, it has zeros there."""
    moments = Moments(lab, tmp_path / "guest", fstree, "")
    shorter = [
        count for count, report, _ in moments.listings() if "data-behind-end" in report.counts
    ]
    assert len(shorter) == 2  # of 20,000 bytes, and of 30,000
    for count in shorter:
        flash = moments.cut(count)
        node = read_tree(flash, CHIP.image_options())["/t"]
        script = Script()
        script.tree["/t"] = Inode(node.mode)
        script.tree["/t"].contents.write(0, node.content)
        script.truncate("/t", 60_000)
        steps = [*load(CHIP), mount(), run(0), "drop-caches", *LIST, UMOUNT]
        guest = start(lab, tmp_path / f"guest{count}", fstree, steps, chip=CHIP, scripts=[script],
                      flash=flash)  # fmt: skip
        listed = {path: entry for path, entry in guest.listings[0].items() if path == "/t"}
        assert_same(script.listing(), listed)


# --- at some moment, with garbage being collected ---

SMALL = Chip(2048, 64, 16, 88)
SEEDS = range(1, 41) if NIGHTLY else range(1, 3)


def assert_recovers(lab: LabBuild, directory: Path, program: Path, first: Guest, options: str,
                    safe: Listing) -> None:  # fmt: skip
    """Read-only, then writable, then by another scan: the same tree, and the `safe` part of it."""
    found = first.image_listing()
    steps = [*load(first.chip), mount(options, flags="ro"), *LIST, UMOUNT, mount(options), *LIST]
    steps += [UMOUNT, mount(f"{options},no-checkpoint-read"), *LIST, UMOUNT, CHIP_COUNTERS]
    second = start(lab, directory, program, steps, chip=first.chip, flash=first.flash)
    for listing in second.listings:
        assert_same(found, listing, ignore=("nlink",))
        kept = {path: entry for path, entry in listing.items() if path in safe}
        assert_same(safe, kept)
    assert no_violations(second.counters)
    report = second.assert_sound()
    assert not INTERRUPTED & report.counts.keys()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", OPTIONS)
def test_random_operations_and_a_crash(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str, seed: int
) -> None:
    """What was synced before is there whenever the crash comes, and is right."""
    random = Random(f"{seed} {options}")
    limits = Limits(chunk_bytes=2048 - 16 * ("inband" in options))
    script = Script()
    RandomOperations(script, random, limits).add(700)
    script.line("sync")
    assert len(script.tree) > 50
    later = Script()
    later.tree = copy.deepcopy(script.tree)
    synced = dict(later.tree)
    RandomOperations(later, random, limits).add(60)
    safe = {
        path: {key: value for key, value in entry.items() if key not in ("mtime", "nlink")}
        for path, entry in script.listing().items()
        if synced[path] not in later.touched
    }
    background = f"exec path={PROGRAM} args={encode('start /test/script1')}"
    steps = [
        *load(SMALL),
        mount(options),
        run(0),
        background,
        f"sleep ms={random.randrange(1, 90)}",
    ]
    first = start(lab, tmp_path / "first", fstree, steps, chip=SMALL, scripts=[script, later])
    report = first.check()
    assert all(problem.rule in INTERRUPTED for problem in report.errors), report.text()
    assert_recovers(lab, tmp_path / "second", fstree, first, options, safe)
