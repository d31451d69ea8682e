"""Walking through power cuts: every operation of a small history, each kind of cut.

What the file systems promise is judged elsewhere; here it is whether the walk can be trusted: that
it goes to each state and back, sees the same whenever it comes, and tells what the kernel says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
from guest_programs import DEBUG
from lab_support import Boot, boot, cases, with_free_driver

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.specs import CPU_FIGURES
from ffslab.protocol.plan import parse_step, step
from ffslab.targets.target import RECORDS_NAME
from ffslab.targets.virtual_flash import plan_text
from findings import finding

STUDY = """
schema = 1
name = "crashwalk"
title = "A file system that loses power"

[base]
board = "apf27"
partition_bytes = "8 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""
HISTORY = """mkdir d
write d/a 0 9000 1
fsync d/a
fsync d
create b
write b 100 3000 2
write d/new 0 5000 3
fsync d/new
rename d/new d/a
sync
append b 700 5
unlink b
symlink d/a s
fsync d
"""
KINDS = ("lost", "done", "torn-prefix", "torn-bits", "erase-half")
PROGRAM = "/test/ffscrash"
CHIP = "/proc/vnand/flash0"
# With nothing whole on the flash, both take what the cut left for something else.
NOTHING_WHOLE = {
    "jffs2": finding(
        "F-JFFS2-01", "Cowardly refusing to erase blocks on filesystem with no valid JFFS2 nodes"
    ),
    "yaffs2": "holds data, but no YAFFS2 tags",
}


def case_of(filesystem: str) -> Case:
    """64 blocks, smaller ones than the board's; neither chip nor CPU takes time.

    Each state is filled up, and JFFS2 is slow at that; UBIFS takes no smaller ones.
    """
    free = dict.fromkeys(
        (
            *("t_read_ns", "t_prog_ns", "t_erase_ns", "t_command_ns"),
            *("bus_read_ps", "bus_write_ps", "ecc_read_ns", "ecc_write_ns"),
        ),
        0,
    )
    chip = {**free, "pages_per_block": 8 if filesystem == "jffs2" else 16, "blocks": 128}
    (case,) = (case for case in cases(STUDY, **chip).values() if case.filesystem.type == filesystem)
    board = replace(case.board, **dict.fromkeys(CPU_FIGURES, 0))
    return with_free_driver(replace(case, board=board))


def run(*words: object) -> str:
    return step("exec", path=PROGRAM, args=" ".join(map(str, words)))


def capture(name: str) -> str:
    return step("capture", path=f"{CHIP}/{name}")


def history_steps(case: Case) -> list[str]:
    """A new file system, and the history on it; the chip logs from the second mount on.

    The first one makes the file system, and UBIFS does not promise that a cut leaves one.
    """
    wanted = ("ffsplan", "insmod", "erase", "ubi-attach", "ubi-mkvol", "mount")
    lines = [line for line in plan_text(case).splitlines() if line.split()[0] in wanted]
    lines = [line.replace("/lab/vnand.ko", "/lab/vnand_crash.ko") for line in lines]
    return [
        *lines,
        step("umount", target="/mnt"),
        run("chip flash0 log 64"),
        lines[-1],
        run("history /test/history /mnt flash0"),
        run("observe /mnt"),
        step("umount", target="/mnt"),
        *([step("ubi-detach")] if case.filesystem.ubi else []),
        run("chip flash0 stop"),
        capture("log"),
    ]


def walk_step(case: Case, states: str, check: str) -> str:
    mount = next(line for line in plan_text(case).splitlines() if line.startswith("mount "))
    _, keys = parse_step(mount)
    ubi = ["data"] if case.filesystem.ubi else []
    options = "compr=none" if keys["type"] != "yaffs2" else keys.get("options", "-")
    words = ["walk flash0", states, keys["type"], keys["source"], "/mnt", options, *ubi]
    return run(*words, f"check={check}", "output=/dev/ttyS0")


@dataclass
class State:
    """What was printed about one state, by the first word of the line."""

    name: str
    lines: dict[str, list[str]] = field(default_factory=dict)

    def words(self, key: str) -> list[str]:
        return self.lines.get(key, [])


@dataclass
class Walk:
    """The output of the walks of a guest."""

    states: list[State] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    begun: list[str] = field(default_factory=list)
    walked: list[int] = field(default_factory=list)
    recoveries: dict[str, int] = field(default_factory=dict)


def parse_walk(guest: Boot) -> Walk:
    walk, state = Walk(), State("")
    lines = iter((guest.directory / RECORDS_NAME).read_text().splitlines())
    for line in lines:
        key, *words = line.split()
        if key.startswith("{"):
            continue
        name = " ".join(words)
        if key == "begin":
            walk.begun.append(name)
        elif key == "state":
            state = State(name)
        elif key == "text":
            walk.texts[name] = "".join(f"{text}\n" for text in iter(lambda: next(lines), "end"))
        elif key == "ended":
            assert name == state.name
            walk.states.append(state)
        elif key == "recovery":
            walk.recoveries[" ".join(words[:-1])] = int(words[-1])
        elif key == "walked":
            walk.walked.append(int(name))
        else:
            state.lines[key.rstrip(",")] = words
    return walk


@dataclass(frozen=True)
class Walked:
    """A history, and all of its states forwards and backwards."""

    filesystem: str
    operations: int
    log: str
    guest: Boot
    walk: Walk
    states: Sequence[str]

    def ops(self) -> list[list[int]]:
        """Of each line of the history: its number, errno, first and last operation of the chip."""
        lines = (line.split() for line in self.guest.output.splitlines())
        return [list(map(int, words[1:])) for words in lines if words[:1] == ["op"]]

    @property
    def synced(self) -> int:
        """The operation behind `fsync d`, the first sync of a file and its name."""
        return self.ops()[HISTORY.splitlines().index("fsync d")][3]

    def operation(self, state: State) -> int:
        return int(state.name.split()[0])

    def forwards(self) -> Sequence[State]:
        return self.walk.states[: len(self.states)]

    def backwards(self) -> Sequence[State]:
        return self.walk.states[len(self.states) :]


def captures(guest: Boot, name: str) -> list[str]:
    return [record["text"] for record in guest_records(guest) if record["path"].endswith(name)]


def guest_records(guest: Boot) -> list[dict[str, str]]:
    lines = (guest.directory / RECORDS_NAME).read_text().splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]
    return [record for record in records if record["type"] == "file"]


@pytest.fixture(scope="module", params=["jffs2", "yaffs2", "ubifs"])
def walked(
    request: pytest.FixtureRequest, lab: LabBuild, tmp_path_factory: pytest.TempPathFactory
) -> Walked:
    filesystem: str = request.param
    directory = tmp_path_factory.mktemp(filesystem)
    case = case_of(filesystem)
    history = directory / "history"
    history.write_text(HISTORY)
    files = {PROGRAM: lab.cutter, "/test/history": history}
    first = boot(lab, directory / "first", case, "\n".join(history_steps(case)) + "\n", files=files)
    assert first.of_type("end")[0]["status"] == "ok", first.printed
    (log,) = captures(first, "/log")
    operations = len(log.splitlines())
    states = [f"{k} {kind} {k % 2}" for k in range(operations) for kind in KINDS]
    for name, lines in (("forwards", states), ("backwards", states[::-1])):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
        files[f"/test/{name}"] = directory / name
    plan = [
        *history_steps(case),
        run("chip flash0 at", operations),
        capture("digest"),
        walk_step(case, "/test/forwards", "full"),
        walk_step(case, "/test/backwards", "mount"),
        run("chip flash0 at", operations),
        capture("digest"),
    ]
    second = boot(lab, directory / "second", case, "\n".join(plan) + "\n", files=files, clean=False)
    assert second.status == 0, second.printed
    return Walked(filesystem, operations, log, second, parse_walk(second), states)


def said(walked: Walked, state: State) -> str:
    return walked.walk.texts[state.words("message")[0]] if state.words("message") else ""


def test_every_state_is_begun_and_ended(walked: Walked) -> None:
    assert 20 < walked.operations < 500
    assert captures(walked.guest, "/log") == [walked.log]
    assert walked.walk.begun == [*walked.states, *walked.states[::-1]]
    assert [state.name for state in walked.walk.states] == walked.walk.begun
    assert walked.walk.walked == [len(walked.states)] * 2


def test_the_history_belongs_to_the_log(walked: Walked) -> None:
    ops = walked.ops()
    assert [op[:2] for op in ops] == [[index, 0] for index in range(len(HISTORY.splitlines()))]
    assert all(op[3] == following[2] for op, following in pairwise(ops))
    assert 0 < walked.synced <= ops[-1][3] <= walked.operations


def test_a_kind_applies_to_programs_or_to_erases(walked: Walked) -> None:
    lines = [line.split() for line in walked.log.splitlines()]
    operation = [words[1] for words in lines]
    # One sub-page without OOB, or the OOB alone: there is nothing between none of it and all.
    programs = [words for words in lines if words[1] == "program"]
    whole = {int(words[0]) for words in programs if words[5:] in (["512", "0"], ["0", "1"])}
    for state in walked.forwards():
        k, kind, _ = state.name.split()
        expected = {"torn-prefix": "program", "torn-bits": "program", "erase-half": "erase"}
        refused = kind in expected and operation[int(k)] != expected[kind]
        refused |= kind == "torn-prefix" and int(k) in whole
        assert bool(state.words("cut")) == refused, state


def test_every_state_mounts_or_says_why(walked: Walked) -> None:
    mounted = 0
    for state in walked.forwards():
        if state.words("cut"):
            continue
        assert state.words("attach")[:1] in ([], ["0"])
        if state.words("mount")[0] != "0":
            assert NOTHING_WHOLE[walked.filesystem] in said(walked, state), state
            assert walked.operation(state) < walked.synced
            continue
        mounted += 1
        assert state.words("use") == ["ok"], (state, said(walked, state))
        assert int(state.words("mount")[2]) > 0  # it reads the chip
    assert mounted > walked.operations


def test_the_tree_stays_as_recovery_left_it(walked: Walked) -> None:
    """Through use, unmount, power off and a second mount."""
    for state in walked.forwards():
        seen = state.words("seen")[:1]
        assert state.words("after")[:1] == seen, state
        assert state.words("again")[:1] == seen, state
        if seen:
            assert walked.walk.texts[seen[0]].startswith("dir . ")


def test_the_order_does_not_matter(walked: Walked) -> None:
    for state, later in zip(walked.forwards(), reversed(walked.backwards()), strict=True):
        assert state.name == later.name
        for key in ("cut", "attach", "mount", "seen"):
            if key == "attach":  # the line of the last attach is kept
                continue
            words, others = state.words(key), later.words(key)
            if key == "mount" and DEBUG:  # its checks take time, now and then
                del words[1:2], others[1:2]
            assert words == others, (state, later)


def test_the_chip_is_as_it_was(walked: Walked) -> None:
    first, last = captures(walked.guest, "/digest")
    assert first == last


def observed(guest: Boot) -> str:
    """What `ffscrash observe` printed, without its last two lines."""
    lines = guest.output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("dir . "))
    end = next(number for number, line in enumerate(lines) if line.startswith("statfs "))
    return "".join(f"{line}\n" for line in lines[start:end])


def test_after_the_last_operation_all_is_there(walked: Walked) -> None:
    last = walked.forwards()[-len(KINDS) :][KINDS.index("done")]
    assert last.name.startswith(f"{walked.operations - 1} done")
    assert walked.walk.texts[last.words("seen")[0]] == observed(walked.guest)


def test_what_was_synced_is_there(walked: Walked) -> None:
    """From the end of `fsync d` on the file has all of its first contents, or of its second."""
    for state in walked.forwards():
        if walked.operation(state) < walked.synced or not state.words("seen"):
            continue
        tree = walked.walk.texts[state.words("seen")[0]]
        (line,) = [line for line in tree.splitlines() if line.startswith("file d/a ")]
        _, _, size, _, _, error, _ = line.split()
        assert (size, error) in {("9000", "0"), ("5000", "0")}, (state, line)


def walk_second(lab: LabBuild, directory: Path, walked: Walked, states: list[str]) -> Boot:
    """A guest that walks through states of the fixture's history, lines of their own."""
    case = case_of(walked.filesystem)
    (directory / "history").write_text(HISTORY)
    (directory / "states").write_text("".join(f"{line}\n" for line in states))
    files = {
        PROGRAM: lab.cutter,
        "/test/history": directory / "history",
        "/test/states": directory / "states",
    }
    plan = [
        *history_steps(case),
        capture("digest"),
        walk_step(case, "/test/states", "mount"),
        run("chip flash0 at", walked.operations),
        capture("digest"),
    ]
    guest = boot(lab, directory / "guest", case, "\n".join(plan) + "\n", files=files, clean=False)
    assert guest.status == 0, guest.printed
    first, last = captures(guest, "/digest")
    assert first == last
    return guest


def test_cuts_in_a_recovery(lab: LabBuild, tmp_path: Path, walked: Walked) -> None:
    """Each operation of a recovery is cut; one of them, and all from there on, can be asked for."""
    middle = walked.operations // 2
    outer = [f"{middle} lost 0", f"{walked.operations - 1} torn-bits 1", "5 lost 0"]
    walk = parse_walk(walk_second(lab, tmp_path, walked, [f"{name} * done 0" for name in outer]))
    assert list(walk.recoveries) == outer
    names = [
        f"{name} / {k} done 0" for name, count in walk.recoveries.items() for k in range(count)
    ]
    assert [state.name for state in walk.states] == names
    assert walk.walked == [len(outer)]
    # That of JFFS2 is in memory; its thread cleans up later, which takes time.
    assert bool(sum(walk.recoveries.values())) == (walked.filesystem != "jffs2")
    seen = {
        state.name: state.words("seen")[0] for state in walked.forwards() if state.words("seen")
    }
    for state in walk.states:
        # What a recovery began, the next one sees through: to the same tree.
        name = state.name.partition(" / ")[0]
        assert state.words("mount")[0] == "0", state
        if name in seen:
            assert walk.texts[state.words("seen")[0]] == walked.walk.texts[seen[name]], state


def test_messages_are_told_with_their_state(walked: Walked) -> None:
    """JFFS2 finds torn nodes by their checksums, and says so; not of what is whole."""
    told = {state.name.split()[1] for state in walked.forwards() if said(walked, state)}
    if walked.filesystem == "jffs2":
        assert "torn-bits" in told
    for state in walked.forwards():
        levels = {int(line.split()[0]) for line in said(walked, state).splitlines()}
        # Notices are told where they may be the reason.
        assert max(levels, default=0) <= (4 if state.words("mount")[:1] == ["0"] else 5)
        if state.name.split()[1] == "done":
            assert "CRC" not in said(walked, state)
