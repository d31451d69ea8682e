"""What each file system owes after small histories, by the statements of its promise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from oracle_support import sums

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import KINDS, NO_EXCUSE, Excuse
from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record

ROOT = Path(__file__).resolve().parents[3]
# Links of the root of an empty file system; none of these histories makes a directory.
ROOT_LINKS = {"jffs2": 3, "ubifs": 2, "yaffs2": 3, "logfs": 1}
TWO_NAMES = "create a\nsync\nlink a b\n"
RENAMED = "create a\nsync\nrename a b\n"
GONE = "create a\nlink a b\nsync\nunlink b\n"
REPLACED = "create a\ncreate b\nlink b c\nsync\nrename a b\n"


def kinds(filesystem: str, history_text: str, *names: str, excuse: Excuse = NO_EXCUSE) -> list[str]:
    """The problems of a cut behind the last call, where empty files of these names are there.
    `a=b` is one file with two names.
    """
    history = parse_history(history_text)
    count = len(history.operations)
    record = "".join(f"op {n} 0 {n} {n + 1}\n" for n in range(count)) + f"end {count} 0 {count}\n"
    lines = [f"dir . {ROOT_LINKS[filesystem]} 1 0"]
    for inode, group in enumerate(names, start=10):
        shared = group.split("=")
        lines += [f"file {name} 0 {len(shared)} {inode} 0 -" for name in shared]
    lines = [lines[0], *sorted(lines[1:]), "statfs 1 1 1"]
    text = "".join(f"{line}\n" for line in [*lines, f"observed {len(lines)}"])
    judge = Judge(history, parse_record(record), promise_of(filesystem))
    return [problem.kind for problem in judge.judge(count, text, excuse)]


@pytest.mark.parametrize(
    ("filesystem", "is_owed"),
    # JFFS2 notes a name for its directory alone; YAFFS2 owes what returned.
    [("jffs2", False), ("ubifs", True), ("yaffs2", True), ("logfs", True)],
)
def test_fsync_of_a_file_makes_its_names_durable(filesystem: str, is_owed: bool) -> None:
    for history, before, after in (
        ("create a\nfsync a\n", (), ("a",)),
        (TWO_NAMES + "fsync a\n", ("a",), ("a=b",)),
        (GONE + "fsync a\n", ("a=b",), ("a",)),
        (RENAMED + "fsync b\n", ("a",), ("b",)),
        # The file that lost the name b is noted as well.
        (REPLACED + "fsync c\n", ("a", "b=c"), ("b", "c")),
    ):
        assert kinds(filesystem, history, *after) == [], history
        assert bool(kinds(filesystem, history, *before)) == is_owed, history


def test_fdatasync_makes_new_names_durable_and_not_a_renaming() -> None:
    assert kinds("ubifs", "create a\nfdatasync a\n") == ["name-lost"]
    assert kinds("ubifs", TWO_NAMES + "fdatasync a\n", "a") != []
    assert kinds("ubifs", RENAMED + "fdatasync b\n", "a") == []


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_sync_and_fsync_of_the_directory_make_names_durable(filesystem: str) -> None:
    for call in ("sync", "fsync ."):
        assert kinds(filesystem, f"create a\n{call}\n") == ["name-lost"]
        assert kinds(filesystem, RENAMED + f"{call}\n", "a") != []
        assert kinds(filesystem, RENAMED + f"{call}\n", "b") == []


def test_only_yaffs2_owes_what_no_sync_followed() -> None:
    owed = {name: kinds(name, "create a\n") for name in ROOT_LINKS}
    assert owed == {"jffs2": [], "ubifs": [], "yaffs2": ["name-lost"], "logfs": []}


def test_only_jffs2_shows_both_names_of_a_rename() -> None:
    # Of YAFFS2 the rename has returned, too: with both names it is not even half of it.
    found = {name: bool(kinds(name, RENAMED, "a=b")) for name in ROOT_LINKS}
    assert found == {"jffs2": False, "ubifs": True, "yaffs2": True, "logfs": True}


ALL = set(ROOT_LINKS)
BEGINNING = "write a 0 3000 7\nsync\n"
OLD = pattern(7, 0, 3000)
WRITTEN = "open @0 a\nwrite @0 0 300 3\n"
MAPPED = "open @0 a\nmapwrite @0 0 300 3\n"
# After these calls, whose flash must have what was written through the descriptor.
OWED = {
    WRITTEN: set(),
    WRITTEN + "syncrange @0 0 4096\n": set(),
    WRITTEN + "close @0\n": {"yaffs2"},
    WRITTEN + "dup @0 @1\nclose @0\n": {"yaffs2"},
    WRITTEN + "append a 5 5\ntruncate a 3000\n": {"yaffs2"},
    WRITTEN + "truncate a 3000\n": {"yaffs2"},
    WRITTEN + "fsync @0\n": ALL,
    WRITTEN + "fdatasync @0\n": ALL,
    WRITTEN + "dup @0 @1\nfsync @1\n": ALL,
    WRITTEN + "fsync a\n": ALL,
    WRITTEN + "sync\n": ALL,
    WRITTEN + "msync @0\n": ALL - {"jffs2"},
    "opensync @0 a\nwrite @0 0 300 3\n": ALL,
    "opendsync @0 a\ndup @0 @1\nwrite @1 0 300 3\n": ALL,
    # Of no bytes nothing is synced.
    WRITTEN + "opensync @1 a\nwrite @1 0 0 5\n": set(),
    # What came through a mapping is written by nothing but a sync: JFFS2 refuses it.
    MAPPED + "close @0\n": set(),
    MAPPED + "append a 5 5\ntruncate a 3000\n": set(),
    MAPPED + "msync @0\n": ALL - {"jffs2"},
    MAPPED + "fsync @0\n": ALL - {"jffs2"},
    MAPPED + "sync\nclose @0\n": ALL - {"jffs2"},
}


def judge_of(filesystem: str, calls: str, errors: Mapping[int, int] | None = None) -> Judge:
    """Of a file `a` with 3000 bytes, synced, and these calls; each is an operation of the chip.

    `errors`: of some of these calls, from 0; JFFS2 refuses what has to do with mappings.
    """
    history = parse_history(BEGINNING + calls)
    refused = ("mapwrite", "msync") if filesystem == "jffs2" else ()
    found = {number + 2: errno for number, errno in (errors or {}).items()}
    lines = [
        f"op {n} {found.get(n, 22 * (one.verb in refused))} {n} {n + 1}\n"
        for n, one in enumerate(history.operations)
    ]
    record = parse_record("".join(lines) + f"end {len(lines)} 0 {len(lines)}\n")
    return Judge(history, record, promise_of(filesystem))


def with_contents(filesystem: str, data: bytes) -> str:
    root = f"dir . {ROOT_LINKS[filesystem]} 1 0"
    return f"{root}\nfile a {len(data)} 1 10 0 {sums(data)}\nstatfs 1 1 1\nobserved 3\n"


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
@pytest.mark.parametrize("calls", OWED)
def test_what_a_file_that_is_open_owes(filesystem: str, calls: str) -> None:
    judge = judge_of(filesystem, calls)
    problems = judge.judge(2 + calls.count("\n"), with_contents(filesystem, OLD))
    assert bool(problems) == (filesystem in OWED[calls])


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
@pytest.mark.parametrize("sync", ["fsync @0", "fdatasync @0", "sync"])
def test_a_sync_is_owed_from_its_end_on(filesystem: str, sync: str) -> None:
    """The tree is the same before and after it, and so is what the next call may do."""
    judge = judge_of(filesystem, f"{WRITTEN}{sync}\nclose @0\n")
    text = with_contents(filesystem, OLD)
    assert judge.judge(4, text) == ()
    assert judge.judge(5, text) != ()


@pytest.mark.parametrize("sync", ["fsync @0", "fdatasync @0", "msync @0", "sync", "fsync a"])
def test_what_a_mapping_changed_is_settled_by_a_sync(sync: str) -> None:
    """From then on closing is enough for YAFFS2 again."""
    calls = f"{MAPPED}{sync}\nwrite @0 300 300 5\nclose @0\n"
    synced = pattern(3, 0, 300) + OLD[300:]
    judge = judge_of("yaffs2", calls)
    assert judge.judge(6, with_contents("yaffs2", synced)) == ()
    assert judge.judge(7, with_contents("yaffs2", synced)) != ()


def test_a_descriptor_is_closed_even_if_that_fails() -> None:
    calls = "open @0 a\nwrite @0 0 300 3\nclose @0\nopen @0 a\nwrite @0 0 300 5\nfsync @0\n"
    judge = judge_of("yaffs2", calls, {2: 5})
    assert judge.judge(8, with_contents("yaffs2", pattern(5, 0, 300) + OLD[300:])) == ()
    # It had said that nothing is promised of what was closed.
    assert judge.judge(5, with_contents("yaffs2", OLD)) == ()


def test_what_a_descriptor_refuses_changes_nothing() -> None:
    """One that is not open, and one of a directory."""
    calls = "write @0 0 5 3\nopen @0 .\nwrite @0 0 5 5\nmapwrite @0 0 5 9\nfsync @0\n"
    judge = judge_of("yaffs2", calls, {0: 9, 2: 9, 3: 22})
    assert judge.judge(7, with_contents("yaffs2", OLD)) == ()
    judge = judge_of("yaffs2", "write @0 0 5 3\n", {0: 28})
    assert judge.judge(3, with_contents("yaffs2", OLD)) == ()


def excuse_of_words(words: str) -> Excuse:
    """An excuse as the fault model says it: "unreadable synced, lost"."""
    named = [] if words == "nothing" else words.split(", ")
    return Excuse(**{name.replace("unreadable ", "unreadable_"): True for name in named})


def documented_excuses() -> dict[str, tuple[Excuse, Excuse]]:
    """What each kind of fault excuses at the first mount and at the second; others nothing."""
    text = (ROOT / "docs/fault-model.md").read_text().partition("| excused of |")[2]
    rows = re.findall(r"^\| `([a-z-]+)` \| ([a-z, ]+) \| ([a-z, ]+) \|$", text, re.MULTILINE)
    return {name: (excuse_of_words(first), excuse_of_words(second)) for name, first, second in rows}


EXCUSED = documented_excuses()


def test_each_kind_of_fault_excuses_what_the_fault_model_says_and_no_more() -> None:
    """What an erase leaves behind was of no use any more: loss of it excuses nothing."""
    found = {name: (kind.first, kind.second) for name, kind in KINDS.items()}
    assert {name: both for name, both in found.items() if both != (NO_EXCUSE, NO_EXCUSE)} == EXCUSED


@pytest.mark.parametrize("name", KINDS)
def test_loss_of_what_was_synced_is_excused_where_a_page_with_it_may_be_gone(name: str) -> None:
    kind = KINDS[name]
    first, second = EXCUSED.get(name, (NO_EXCUSE, NO_EXCUSE))
    for excuse, may_be_lost in ((kind.first, first.lost), (kind.second, second.lost)):
        for filesystem in ROOT_LINKS:
            found = kinds(filesystem, "create a\nsync\n", excuse=excuse)
            assert found == ([] if may_be_lost else ["name-lost"]), filesystem


def test_what_a_store_through_a_mapping_left_is_not_settled_by_closing() -> None:
    """Of one that failed half way, too; one that was refused left nothing."""
    calls = "open @0 a\nmapwrite @0 0 300 3\nwrite @0 300 300 5\nclose @0\n"
    for errno, is_owed in ((5, False), (22, True)):
        judge = judge_of("yaffs2", calls, {1: errno})
        assert bool(judge.judge(6, with_contents("yaffs2", OLD))) == is_owed, errno
