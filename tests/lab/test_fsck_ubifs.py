"""fsck.ubifs as a second judge of UBIFS, and what it makes of flashes that cannot be mounted.

Every run tries a sample. `FFSLAB_NIGHTLY=1 ./ffslab test tests/lab/test_fsck_ubifs.py -s` prints
the tables of docs/findings.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from cut_guests import cases_of_text, explored
from fsck_ubifs import (
    CHECK,
    DETACH,
    FSCK,
    REBUILD,
    SAFE,
    YES,
    Fsck,
    State,
    chip,
    fsck,
    fsck_program,
)
from guest_programs import NIGHTLY

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.oracle.judge import Judge
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record
from ffslab.protocol.plan import step
from ffslab.targets.uml.site import lab_parts
from ffslab.workloads.cuts.outcomes import MOUNT_FAILS, READ_ONLY, REMOUNT_FAILS, wrong_words
from ffslab.workloads.cuts.plan import RECORD, cuts_on_chip, history_of
from ffslab.workloads.cuts.series import CutMade
from ffslab.workloads.cuts.states import all_cuts, drawn
from ffslab.workloads.cuts.walk import Cut
from findings import finding

STUDY = """
schema = 1
name = "fsck"
title = "A second judge"
[base]
board = "{board}"
partition_bytes = "{partition}"
filesystem = "ubifs"
seeds = [{seed}]
{base}
[base.workload]
kind = "cuts"
{workload}
"""
HISTORIES = (
    *("transactions", "overwrite", "directories", "appends", "update-by-rename", "full"),
    *("firmware", "moved-blocks", "open-files"),
)
# F-UBIFS-18: after a cut behind the commit, the attribute of the deleted file stays.
UNATTACHED = """history = "calls"
kinds = "lost"
calls = '''create a
sync
open @0 a
setxattr a user.x 8 1
unlink a
sync'''
"""
# For F-UBIFS-09, after this: an attribute of the link is set, and removed.
LINKED = """history = "calls"
kinds = "done"
calls = '''mkdir d
symlink abcde l
write precious 0 9000 #
write d/y 0 300 #
sync'''
"""
MENDED_1, MENDED = f"{FSCK}.1", f"{FSCK}.2"
TRIED = {"-a": (FSCK, SAFE), "-y": (FSCK, YES), "-y -b": (FSCK, REBUILD)}
if NIGHTLY:
    TRIED |= {"-y, 01 mended": (MENDED_1, YES), "-y -b, mended": (MENDED, REBUILD)}


@pytest.fixture(scope="session")
def programs() -> Mapping[str, Path]:
    """As it is, and in the nightly form mended, by the paths in a guest."""
    found = {FSCK: fsck_program()}
    if NIGHTLY:
        found[MENDED_1] = fsck_program(["F-FSCK-01"])
        found[MENDED] = fsck_program(["F-FSCK-01", "F-FSCK-02", "F-FSCK-03"])
    return found


def case_of(
    workload: str,
    partition: str = "8 MiB",
    seed: int = 1,
    base: str = "",
    board: str = "apf27",
) -> Case:
    text = STUDY.format(board=board, partition=partition, seed=seed, base=base, workload=workload)
    (case,) = cases_of_text(text)
    return case


def checked(found: Fsck, count: int) -> list[State]:
    """States after their recovery and an unmount: what fsck says, and what is there after `-a`."""
    every = all_cuts(found.log, cuts_on_chip(found.case), paired=False)
    steps = [found.attach, *found.mounted("first"), fsck("check", CHECK), fsck("space", SAFE)]
    steps += [*found.mounted("second"), DETACH]
    return found.states("states", drawn(every, count, 1, "fsck"), steps)


@pytest.mark.parametrize("history", HISTORIES if NIGHTLY else ("update-by-rename", "moved-blocks"))
def test_after_a_recovery_it_finds_nothing(
    lab: LabBuild, programs: Mapping[str, Path], tmp_path: Path, history: str
) -> None:
    """Neither without a change, nor when it looks at the space as well; and the kernel takes what
    it commits then."""
    case = case_of(f'history = "{history}"')
    states = checked(Fsck(lab, case, programs, tmp_path / "x"), 150 if NIGHTLY else 12)
    print(f"\n| {history} | {len(states)} |")
    assert len(states) > (140 if NIGHTLY else 9)
    for state in states:
        assert state.mounts == {"first": True, "second": True}, state
        assert all(report.is_clean for report in state.reports.values()), state
        assert state.trees["second"] == state.trees["first"], state


def test_it_finds_what_is_wrong(
    lab: LabBuild, programs: Mapping[str, Path], tmp_path: Path
) -> None:
    """F-UBIFS-18, which no call shows."""
    case = case_of(UNATTACHED)
    found = Fsck(lab, case, programs, tmp_path / "x")
    steps = [found.attach, *found.mounted("first"), fsck("check", CHECK), fsck("yes", YES)]
    steps += [fsck("after", CHECK), *found.mounted("second"), DETACH]
    every = all_cuts(found.log, cuts_on_chip(case), paired=False)
    states = found.states("states", drawn(every, 0 if NIGHTLY else 10, 1, "fsck"), steps)
    wrong = [state for state in states if not state.reports["check"].is_clean]
    print(f"\n{len(wrong)} of {len(states)} states have an attribute without its file")
    assert finding("F-UBIFS-18", 0 < len(wrong) < len(states))
    for state in wrong:
        said = [report.status for report in state.reports.values()]
        assert said == [4, 1, 0], state
        (problem,) = state.reports["check"].problems
        assert problem.startswith("File has no dentries") and problem.endswith("(xattr)")
        assert state.trees["second"] == state.trees["first"]


# --- flashes that cannot be mounted ---


@dataclass(frozen=True)
class Unmountable:
    """A set of flashes that UBIFS cannot mount, or only to read, after a cut."""

    name: str
    workload: str
    states: int
    board: str = "apf27"
    partition: str = "8 MiB"


PAIRED = Unmountable(
    "paired-pages (F-UBIFS-07)",
    'history = "update-by-rename"\nkinds = "paired"\npaired_distance_pages = 4',
    finding("F-UBIFS-07", 81),
)
COMPRESSED = 'options.compression = "default"'
SETS = (
    PAIRED,
    Unmountable(
        "full, unstable (F-UBIFS-03)",
        'history = "full"\nkinds = "unstable"',
        finding("F-UBIFS-03", 1),
    ),
    *(
        Unmountable(
            f"{history} on SPI-NOR (F-UBIFS-06)",
            f'history = "{history}"\nkinds = "torn-bits"\nparameters = "{parameters}"',
            finding("F-UBIFS-06", states),
            "v3s-licheepi",
            "1536 KiB",
        )
        for history, parameters, states in (
            ("update-by-rename", "updates=100", 1),
            ("overwrite", "requests=200", 3),
            ("full", "", 2),
            ("firmware", "", 1),
            ("open-files", "", 2),
        )
    ),
    Unmountable(
        "moved-blocks, unstable (F-UBIFS-04)",
        'history = "moved-blocks"\nkinds = "unstable"',
        finding("F-UBIFS-04", 2),
    ),
)


@dataclass(frozen=True)
class Broken:
    """The states of a set, and what says how much of a tree is there."""

    found: Fsck
    cuts: tuple[Cut, ...]
    judge: Judge

    def repaired(
        self, name: str, program: str, words: Sequence[str], cuts: Sequence[Cut]
    ) -> list[State]:
        """Each mounted, after another loss of power mounted again, and given to fsck."""
        found = self.found
        again = [DETACH, chip("cycle"), found.attach]
        steps = [found.attach, *found.mounted("first"), *again, *found.mounted("again")]
        return found.states(name, cuts, [*steps, *repair(found, program, words)])

    def lost(self, state: State) -> Counter[str]:
        """What of the tree is not as it was promised."""
        tree = state.trees["repaired"]
        return Counter(problem.kind for problem in self.judge.judge(state.cut.operation, tree))


def broken(one: Unmountable, programs: Mapping[str, Path], directory: Path) -> Broken:
    case = case_of(one.workload, one.partition, board=one.board)
    lab = ensure_lab(**lab_parts([case]))
    directory.mkdir()
    seen = explored(lab, case, directory / "explored")
    useless = {MOUNT_FAILS, REMOUNT_FAILS, READ_ONLY}
    cuts = tuple(each.name.cut for each in seen.judged if each.judgement.outcome in useless)
    judge = Judge(history_of(case), parse_record(seen.record), promise_of("ubifs"))
    return Broken(Fsck(lab, case, programs, directory / "fsck"), cuts, judge)


def repair(found: Fsck, program: str, words: Sequence[str]) -> list[str]:
    """Steps that repair what is attached, mount it, and check it."""
    repaired = [fsck("repair", words, program), *found.mounted("repaired")]
    return [*repaired, fsck("after", CHECK), DETACH]


def is_claimed(state: State) -> bool:
    return state.reports["repair"].status in (0, 1)


def is_good(state: State) -> bool:
    return state.mounts["repaired"] and state.reports["after"].is_clean


def row(name: str, mode: str, states: Sequence[State], lost: Iterable[Counter[str]]) -> str:
    """A line of the table: flashes, those that fsck says it repaired, those that mount and are
    clean, of these all there, what else is wrong, and of these all gone."""
    good = [(state, losses) for state, losses in zip(states, lost, strict=True) if is_good(state)]
    whole = sum(not losses for _, losses in good)
    told = ", ".join(wrong_words(Counter(kind for _, losses in good for kind in losses)))
    empty = sum(bool(losses) and is_empty(state) for state, losses in good)
    claimed = sum(map(is_claimed, states))
    cells = (name, f"`{mode}`", len(states), claimed, len(good), whole, told, empty)
    return f"| {' | '.join(map(str, cells))} |"


def is_empty(state: State) -> bool:
    return set(entries(state.trees["repaired"])) <= {".", "lost+found"}


@pytest.mark.parametrize("one", SETS if NIGHTLY else [PAIRED], ids=lambda one: one.name.split()[0])
def test_what_it_repairs(one: Unmountable, programs: Mapping[str, Path], tmp_path: Path) -> None:
    them = broken(one, programs, tmp_path / "x")
    assert len(them.cuts) == one.states
    print()
    for name, (program, words) in TRIED.items():
        states = them.repaired(name, program, words, them.cuts[:: 1 if NIGHTLY else 27])
        print(row(one.name, name, states, map(them.lost, states)))
        for state in filter(is_claimed, states):
            # F-FSCK-01: it claims that it repaired what it made unmountable.
            dropped = state.reports["repair"].problems[0].startswith("Corrupted bud LEB")
            assert is_good(state) or finding("F-FSCK-01", dropped and program == FSCK), state


def test_what_it_repairs_without_a_cut(
    programs: Mapping[str, Path], fstree: Path, tmp_path: Path
) -> None:
    """F-UBIFS-09: the index points into a node when the attribute of a link was removed."""
    script = tmp_path / "script"
    script.write_text(
        "setxattr /mnt/l trusted.a 1\nsync\nremovexattr /mnt/l trusted.a\nsync\n", "utf-8"
    )
    files = {**programs, "/fstree": fstree, "/script": script}
    case = case_of(LINKED)
    lab = ensure_lab()
    found = Fsck(lab, case, files, tmp_path / "x")
    last = Cut(len(found.log) - 1, "done", 0)
    record = (tmp_path / "x" / "log" / RECORD).read_text()
    judge = Judge(history_of(case), parse_record(record), promise_of("ubifs"))
    them = Broken(found, (last,), judge)
    print()
    for name, (program, words) in TRIED.items():
        removed = found.mounted("before", step("exec", path="/fstree", args="run /script"))
        steps = [found.attach, *removed, *found.mounted("first")]
        (state,) = found.states(name, [last], [*steps, *repair(found, program, words)])
        print(row("an attribute of a link (F-UBIFS-09)", name, [state], [them.lost(state)]))
        assert finding("F-UBIFS-09", state.trees["first"] != state.trees["before"])
        assert is_good(state) or not is_claimed(state)


@dataclass(frozen=True)
class InARow:
    """A series with cuts that leave a flash which cannot be mounted, and of each how many paths are
    not as they must be after `-y -b`; None: it does not repair it."""

    kinds: str
    seed: int
    lost: Mapping[int, int | None]

    def __str__(self) -> str:
        return f"{self.kinds}, seed {self.seed}"


ROWS = [
    *(
        finding("F-UBIFS-01", InARow("erase-half", seed, lost))
        for seed, lost in ((5, {283: 0}), (1, {811: 0}))
    ),
    *(
        finding("F-UBIFS-02", InARow("torn-bits erase-half", seed, lost))
        for seed, lost in (
            (2, {2363: 0, 2366: finding("F-FSCK-02", 1)}),
            (4, {821: finding("F-FSCK-03", None)}),
            (5, {2875: 0}),
            (7, {1839: 0, 1841: 0}),
            (8, {559: 0}),
        )
    ),
]


def lost_in_a_row(cut: CutMade, before: str, calls: Sequence[str], after: str) -> list[str]:
    """Paths that are not as the cut before left them, nor as a call since then made them.

    What a call returned and synced is there; else it may be old, new or in between.
    """
    was, found = entries(before), entries(after)
    called = {words[1]: words for words in map(str.split, calls)}
    lost = []
    for path in sorted(was.keys() | found.keys() | called.keys()):
        if path not in called:
            as_it_must_be = path == "." or was.get(path) == found.get(path)
        else:
            known = dict(word.split("=") for word in called[path] if "=" in word)
            size = found[path][1] if path in found else "-"
            is_durable = known["durable"] != "-" and int(known["durable"]) <= cut.operation
            as_it_must_be = not is_durable or size == known["after"]
        if not as_it_must_be:
            lost.append(path)
    return lost


def entries(tree: str) -> dict[str, tuple[str, ...]]:
    """By path: kind, size, and sums of the contents; of a directory no more than the kind."""
    split = (line.split() for line in tree.splitlines())
    return {
        words[1]: (words[0], words[2], *words[5:]) if words[0] == "file" else (words[0], "0")
        for words in split
    }


@pytest.mark.parametrize("one", ROWS if NIGHTLY else ROWS[:1], ids=str)
def test_what_it_repairs_after_cuts_in_a_row(
    lab: LabBuild, programs: Mapping[str, Path], tmp_path: Path, one: InARow
) -> None:
    """The log is damaged, so only `-y -b` goes on; mended, it loses nothing."""
    cuts = max(one.lost)
    workload = f'history = "series"\ncuts = {cuts}\nspace_every = 0\nkinds = "{one.kinds}"'
    case = case_of(workload, partition="16 MiB", seed=one.seed, base=COMPRESSED)
    found = Fsck(lab, case, programs, tmp_path / "x")
    _, text = found.series("all", cuts)
    made = [cut for cut in text.cuts if MOUNT_FAILS in dict(cut.wrong)]
    assert [cut.cycle for cut in made] == list(one.lost)
    tried = [
        [found.attach, *found.mounted("first"), *repair(found, program, words)]
        for program, words in TRIED.values()
    ]
    for cut in made:
        states, series = found.behind(cut, tried)
        before = found.before(cut)
        lost = {
            name: lost_in_a_row(cut, before, series.calls, state.trees["repaired"])
            if is_good(state)
            else None
            for name, state in zip(TRIED, states, strict=True)
        }
        told = [f"{name}: {paths}" for name, paths in lost.items()]
        print(f"\n| {one} | {cut.cycle} | {len(entries(before))} | {' | '.join(told)} |")
        assert not any(state.mounts["first"] for state in states)
        assert lost["-a"] is None and lost["-y"] is None
        rebuilt = lost["-y -b"]
        assert (rebuilt if rebuilt is None else len(rebuilt)) == one.lost[cut.cycle]
        assert not NIGHTLY or lost["-y -b, mended"] == []
