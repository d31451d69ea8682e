"""Scripts with the power cut at operations of the chip: what a mount makes of each cut.

A `History` is a script in parts, each of which ends with a sync. A guest carries it out on the chip
that logs, and notes where the log stands behind each part. Other guests do the same again, go to
moments of the log, leave the next operation as a cut does (docs/fault-model.md), and mount, list,
use, unmount, and do so once more. What was listed, and the flash, are in files of the host then.
All have the same plan and files, for a guest with other files has other memory, and other moments
at which it writes: what one does beyond the first is in a script that it reads from the host. Each
must have written the log of the first.

the workload `cuts` judges contents more strictly; here every state is checked on the flash, too.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import fstree
from fstree import Listing, Script, differences
from logfs_guest import (
    CHIP_COUNTERS,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    load,
    mount,
    no_violations,
    run,
    run_file,
    start,
)
from tree_states import Operation, do, matches, paths_of, snapshot

from ffslab.lab.lab_build import LabBuild
from ffslab.logfs import ImageOptions, Report, check_image
from ffslab.workloads.cuts.states import Logged, drawn, kinds_of, parse_log
from ffslab.workloads.cuts.walk import Cut

KINDS = ("lost", "torn-bits", "erase-half")  # these pages have no sub-pages: no prefix
BATCH = 50  # cuts of a guest: each leaves a copy of the flash
CHIP_FILES = "/proc/vnand/flash0"
HOST_FILES = "mount type=hostfs source=none target=/host options=/proc/self/cwd"
LOG_MIB = 96
WALK = "walk"  # the script that a guest reads from the host


def chip_command(script: Script, *words: object) -> None:
    script.line("put", f"{CHIP_FILES}/crash", " ".join(map(str, words)))


class History:
    """A script in parts, and the states of the tree that it goes through.

    `before` made what is there when it begins.
    """

    def __init__(self, before: Script | None = None) -> None:
        self.script = Script()
        self.script.tree = copy.deepcopy(before.tree) if before else {}
        self.operations: list[Operation] = []
        self.states: list[Listing] = [snapshot(self.script, one_link=True)]
        self.ends: list[int] = [0]  # number of the state at the end of each part

    def do(self, verb: str, *arguments: object) -> None:
        do(self.script, (verb, arguments))
        self.operations.append((verb, arguments))
        self.states.append(snapshot(self.script, one_link=True))

    def sync(self, path: str = "") -> None:
        """The end of a part; with `path` by an fsync of that file."""
        self.script.line(*(("fsync", f"/mnt{path}") if path else ("sync",)))
        self.script.line("copy", f"{CHIP_FILES}/standing", f"/host/part{len(self.ends)}")
        self.ends.append(len(self.states) - 1)

    def problems(self, durable: int, found: Listing) -> list[str]:
        """What cannot be if parts up to `durable` were over, and the next one had begun."""
        first = self.ends[durable]
        last = self.ends[durable + 1] if durable + 1 < len(self.ends) else first
        names = paths_of(self.operations[first:last])
        bad = [path for path, entry in found.items() if "error" in entry or entry.get("unreadable")]
        if bad:
            return [f"{path} cannot be read" for path in bad]
        if any(matches(self.states[at], found, names) for at in range(first, last + 1)):
            return []
        return differences(self.states[first], found) or ["no such state"]


@dataclass(frozen=True)
class Logs:
    """A history that was carried out: the chip's log, and its place at the end of each part."""

    lab: LabBuild
    program: Path
    history: History
    chip: Chip
    options: str
    flash: Path | None
    from_format: bool
    guest: Guest
    log: tuple[Logged, ...]
    places: tuple[int, ...]

    def durable(self, cut: Cut) -> int:
        """The last part that was over."""
        return max(part for part, place in enumerate(self.places) if place <= cut.operation)

    def cuts(self, *, variants: int = 1, sample: int = 0, seed: int = 1) -> list[Cut]:
        """All cuts, those in the middle of an operation so many times; or a sample of them."""
        every = (
            Cut(one.number, kind, one.number + variant)
            for one in self.log
            for kind in kinds_of(one, KINDS, paired=False)
            for variant in range(1 if kind == "lost" else variants)
        )
        return drawn(every, sample, seed, "cuts")


@dataclass(frozen=True)
class Recovered:
    """What became of a cut: three listings, after a mount, after use, and after another mount.

    `cut_report` is of the flash as the cut left it, `report` of the one in the end.
    """

    cut: Cut
    listings: tuple[Listing, ...]
    cut_report: Report
    report: Report


def _steps(chip: Chip, options: str, *, from_format: bool) -> list[str]:
    """Script 0 begins the log, 1 is the history, 2 ends the log; then what the host says."""
    mounted = mount(options)
    begun = [run(0), mounted] if from_format else [mounted, run(0)]
    ended = [STATE, UMOUNT, run(2), f"capture path={CHIP_FILES}/log"]
    told = [run_file(f"/host/{WALK}"), CHIP_COUNTERS]
    return [*load(chip, vnand="vnand_crash"), HOST_FILES, *begun, run(1), *ended, *told]


def _scripts(history: History) -> list[Script]:
    begin, end = Script(), Script()
    chip_command(begin, "log", LOG_MIB)
    chip_command(end, "stop")
    return [begin, history.script, end]


def _position(path: Path) -> int:
    words = dict(line.split(maxsplit=1) for line in path.read_text().splitlines())
    return int(words["operations"])


def _carried_out(
    lab: LabBuild, directory: Path, program: Path, history: History, chip: Chip,
    *, options: str, flash: Path | None, from_format: bool, walk: str,
) -> tuple[Guest, tuple[Logged, ...]]:  # fmt: skip
    """A guest that does the history and then `walk`, and the log of the history."""
    steps = _steps(chip, options, from_format=from_format)
    guest = start(lab, directory, program, steps, chip=chip, scripts=_scripts(history),
                  host_files={WALK: walk}, flash=flash, limit_s=600)  # fmt: skip
    assert no_violations(guest.counters), guest.counters
    guest.assert_sound()
    (log,) = guest.captures(f"{CHIP_FILES}/log")
    return guest, parse_log(log)


def logged(
    lab: LabBuild, directory: Path, program: Path, history: History, chip: Chip,
    *, options: str = "", flash: Path | None = None, from_format: bool = False,
) -> Logs:  # fmt: skip
    """Carries a history out."""
    guest, log = _carried_out(lab, directory, program, history, chip, options=options,
                              flash=flash, from_format=from_format, walk="")  # fmt: skip
    parts = range(1, len(history.ends))
    places = (0, *(_position(directory / f"part{part}") for part in parts))
    return Logs(lab, program, history, chip, options, flash, from_format, guest, log, places)


def _used(script: Script) -> None:
    """Small enough for a partition that is nearly full; a sync, and nothing is left of it."""
    script.line("write", "/mnt/used", 0, 9000, 77)
    script.line("fsync", "/mnt/used")
    script.line("rename", "/mnt/used", "/mnt/used2")
    script.line("sync")
    script.line("unlink", "/mnt/used2")
    script.line("sync")


def _walk(cuts: Sequence[Cut], options: str) -> Script:
    script = Script()
    for at, cut in enumerate(cuts):
        chip_command(script, "at", cut.operation)
        chip_command(script, "cut", cut.kind, cut.variant)
        script.line("copy", "/dev/mtd0ro", f"/host/{at}.cut")
        mounted = ("mount", "mtd:data", "/mnt", "logfs", options)
        script.line(*mounted)
        script.line("list", "/mnt", f"/host/{at}.first")
        _used(script)
        script.line("list", "/mnt", f"/host/{at}.used")
        script.line("umount", "/mnt")
        chip_command(script, "cycle")
        script.line(*mounted)
        script.line("list", "/mnt", f"/host/{at}.again")
        script.line("umount", "/mnt")
        script.line("copy", "/dev/mtd0ro", f"/host/{at}.flash")
        chip_command(script, "back")
    return script


def _listing(path: Path) -> Listing:
    found = fstree.parse_listing(path.read_text())
    return {name: entry for name, entry in found.items() if name != "/"}


def recovered(logs: Logs, directory: Path, cuts: Sequence[Cut]) -> Iterator[Recovered]:
    """What became of each cut; the rules of the chip were kept in all of them."""
    known = ImageOptions(
        page_bytes=logs.chip.page_bytes,
        oob_bytes=0,
        pages_per_block=logs.chip.pages_per_block,
        first_block=0,
        blocks=logs.chip.blocks,
    )
    for first in range(0, len(cuts), BATCH):
        batch = cuts[first : first + BATCH]
        walked = directory.with_name(f"{directory.name}{first}")
        _, log = _carried_out(
            logs.lab, walked, logs.program, logs.history, logs.chip, options=logs.options,
            flash=logs.flash, from_format=logs.from_format, walk=_walk(batch, logs.options).text,
        )  # fmt: skip
        assert log == logs.log, "the same history did other things to the chip"
        for at, cut in enumerate(batch):
            names = (walked / f"{at}.{name}" for name in ("first", "used", "again"))
            listings = tuple(_listing(name) for name in names)
            reports = (check_image(walked / f"{at}.{name}", known) for name in ("cut", "flash"))
            yield Recovered(cut, listings, *reports)
        shutil.rmtree(walked)


def faults_in(logs: Logs, states: Iterable[Recovered]) -> list[str]:
    """Sentences about whatever is not as it must be after a cut."""
    found: list[str] = []
    for state in states:
        durable = logs.durable(state.cut)
        problems = logs.history.problems(durable, state.listings[0])
        for listing in state.listings[1:]:
            problems += differences(state.listings[0], listing, ("nlink",))
        if durable or not logs.from_format:
            problems += [f"before the mount: {finding}" for finding in state.cut_report.errors]
        problems += [str(finding) for finding in state.report.errors]
        found += [f"{state.cut}, behind part {durable}: {problem}" for problem in problems[:3]]
    return found
