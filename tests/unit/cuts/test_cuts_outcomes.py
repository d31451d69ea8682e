"""The explorer's judgement: which excuse a state has, and which harm of several is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ffslab.oracle.faults import NO_EXCUSE, Excuse
from ffslab.oracle.history import parse_history
from ffslab.workloads.cuts.known import KNOWN, known_as
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.outcomes import (
    CORRECT,
    DOES,
    OUTCOMES,
    Judgement,
    Oracle,
    excuse_of,
    judgement_of,
)
from ffslab.workloads.cuts.walk import Cut, Seen, State, StateName, Step
from findings import declared

UNREADABLE = Excuse(unreadable_unsynced=True)
HALF_BITS = Excuse(unreadable_unsynced=True, reordered=True)
PAGE_GONE = Excuse(unreadable_unsynced=True, unreadable_synced=True, lost=True)
EVERYTHING = Excuse(unreadable_unsynced=True, unreadable_synced=True, lost=True, reordered=True)
TEXTS = {"tree": "dir . 2 1 0\n", "more": "dir . 2 1 0\ndir b 2 2 0\n", "empty": ""}
NAME = StateName(Cut(3, "lost", 0))
GOOD = Step(0, 9, 5, 1, 1)


def name_of(kind: str, then: str = "") -> StateName:
    return StateName(Cut(3, kind, 0), Cut(5, then, 0) if then else None)


@pytest.mark.parametrize(
    ("kind", "then", "first", "second"),
    [
        ("lost", "", NO_EXCUSE, NO_EXCUSE),
        ("erase-half", "", NO_EXCUSE, NO_EXCUSE),
        ("torn-prefix", "", UNREADABLE, UNREADABLE),
        ("torn-bits", "", HALF_BITS, HALF_BITS),
        ("unstable", "", NO_EXCUSE, PAGE_GONE),
        ("paired", "", PAGE_GONE, PAGE_GONE),
        # Of two cuts both; before the mount that is looked at, power was away twice, so that what
        # was unstable may be gone.
        ("lost", "done", NO_EXCUSE, NO_EXCUSE),
        ("lost", "torn-prefix", UNREADABLE, UNREADABLE),
        ("torn-bits", "lost", HALF_BITS, HALF_BITS),
        ("unstable", "lost", PAGE_GONE, PAGE_GONE),
        ("lost", "paired", PAGE_GONE, PAGE_GONE),
        ("torn-bits", "paired", EVERYTHING, EVERYTHING),
        ("paired", "torn-bits", EVERYTHING, EVERYTHING),
    ],
)
def test_what_the_faults_of_a_state_excuse(
    kind: str, then: str, first: Excuse, second: Excuse
) -> None:
    name = name_of(kind, then)
    assert (excuse_of(name, False), excuse_of(name, True)) == (first, second)


def seen(digest: str) -> Seen:
    return Seen(digest, 10, 9, 8)


def whole(name: StateName = NAME) -> State:
    """A state of which nothing bad is to be said."""
    tree = seen("tree")
    return State(name, GOOD, GOOD, tree, "ok", tree, GOOD, GOOD, tree)


def says(*problems: tuple[str, str]) -> Oracle:
    """An oracle that says so at the first mount."""

    def oracle(_name: StateName, _text: str, again: bool) -> Sequence[tuple[str, str]]:
        return [] if again else problems

    return oracle


def test_a_state_that_is_right_is_correct() -> None:
    assert judgement_of(whole(), TEXTS, says()) == Judgement("correct", "")


BAD, READ_ONLY = replace(GOOD, errno=5), replace(GOOD, read_only=True)


@pytest.mark.parametrize(
    ("part", "step", "outcome", "detail"),
    [
        ("attach", BAD, "mount-fails", "attaching UBI fails: Input/output error"),
        ("mount", BAD, "mount-fails", "mounting fails: Input/output error"),
        ("attach_again", BAD, "remount-fails", "attaching UBI again fails: Input/output error"),
        ("remount", BAD, "remount-fails", "mounting again fails: Input/output error"),
        ("mount", READ_ONLY, "read-only", "mounting: read-only"),
        ("remount", READ_ONLY, "read-only", "mounting again: read-only"),
    ],
)
def test_a_step_that_failed(part: str, step: Step, outcome: str, detail: str) -> None:
    state = replace(whole(), **{part: step})  # type: ignore[arg-type]
    assert judgement_of(state, TEXTS, says()) == Judgement(outcome, detail)


@pytest.mark.parametrize(
    ("used", "verdict"),
    [
        ("full 0", Judgement("correct")),
        ("", Judgement("correct")),
        ("fill 0", Judgement("use-fails", "fill: it never became full")),
        ("write 28", Judgement("use-fails", "write: No space left on device")),
        ("write 30", Judgement("read-only", "write: Read-only file system")),
    ],
)
def test_a_file_system_is_to_be_used(used: str, verdict: Judgement) -> None:
    assert judgement_of(replace(whole(), used=used), TEXTS, says()) == verdict


def test_a_tree_that_changed_by_itself() -> None:
    more, tree = seen("more"), seen("tree")
    by_use = replace(whole(), after=more, again=more)
    assert judgement_of(by_use, TEXTS, says()) == Judgement("changed-by-use", "new: dir b 2 2 0")
    by_power = replace(whole(), seen=more, after=more, again=tree)
    gone = Judgement("changed-by-power", "gone: dir b 2 2 0")
    assert judgement_of(by_power, TEXTS, says()) == gone
    # What was not used is compared with what was seen at first.
    unused = replace(by_power, used="", after=None)
    assert judgement_of(unused, TEXTS, says()) == gone
    # A page that may be gone may take something with it, at the second mount only.
    for kind in ("unstable", "paired"):
        assert (
            judgement_of(replace(by_power, name=name_of(kind)), TEXTS, says()).outcome == "correct"
        )
        bad = replace(by_use, name=name_of(kind))
        assert judgement_of(bad, TEXTS, says()).outcome == "changed-by-use"
    for kind in ("erase-half", "torn-bits", "done"):
        assert judgement_of(replace(by_power, name=name_of(kind)), TEXTS, says()) == gone


def test_the_worst_is_told_and_of_equals_the_first() -> None:
    order = list(OUTCOMES)
    assert order[0] == "guest-died" and order[-1] == "correct"
    found = says(("wrong-order", "a"), ("foreign-bytes", "b"), ("foreign-bytes", "c"))
    assert judgement_of(whole(), TEXTS, found) == Judgement("foreign-bytes", "b")
    failed = replace(whole(), mount=BAD)
    assert judgement_of(failed, TEXTS, found).outcome == "mount-fails"
    unused = replace(whole(), used="write 28")
    assert judgement_of(unused, TEXTS, says(("wrong-order", "a"))) == Judgement("wrong-order", "a")


def test_files_of_the_explorer_are_no_fault_if_they_could_not_be_deleted() -> None:
    ours = says(("unknown-name", ".ffscrash-1 is there"))
    assert judgement_of(whole(), TEXTS, ours).outcome == "unknown-name"
    unused = replace(whole(), used="delete 28")
    assert judgement_of(unused, TEXTS, ours).outcome == "use-fails"


def test_what_the_kernel_says_of_itself_is_told_last() -> None:
    said = {**TEXTS, "log": "[    1.0] WARNING: CPU: 0 PID: 1 at fs/x.c:1 f+0x1/0x2\n"}
    state = replace(whole(), messages="log")
    assert judgement_of(state, said, says()).outcome == "kernel-warning"
    assert judgement_of(replace(state, used="fill 28"), said, says()).outcome == "use-fails"


def test_each_outcome_but_the_correct_one_is_something_that_is_done() -> None:
    assert list(DOES) == [word for word in OUTCOMES if word != CORRECT]


def test_the_outcomes_and_their_order() -> None:
    """The classes of the oracle, the gravest first, stand behind what cannot be mounted at all."""
    assert list(OUTCOMES) == [
        "guest-died",
        "mount-fails",
        "foreign-bytes",
        "corrupt-contents",
        "synced-data-lost",
        "stale-data",
        "name-lost",
        "name-kept",
        "not-atomic",
        "unreadable",
        "wrong-kind",
        "wrong-size",
        "disconnected",
        "unknown-name",
        "bad-links",
        "bad-attributes",
        "wrong-order",
        "remount-fails",
        "changed-by-use",
        "changed-by-power",
        "use-fails",
        "read-only",
        "leak",
        "kernel-warning",
        "correct",
    ]


def test_both_mounts_are_judged_each_as_what_it_is() -> None:
    """What is seen first has the first mount's excuse, what is seen again the second's."""
    state = replace(whole(), seen=seen("tree"), used="", after=None, again=seen("more"))

    def only(wanted: tuple[str, bool]) -> Oracle:
        def oracle(_name: StateName, text: str, again: bool) -> Sequence[tuple[str, str]]:
            return [("foreign-bytes", "b")] if (text, again) == wanted else []

        return oracle

    for wanted in ((TEXTS["tree"], False), (TEXTS["more"], True)):
        assert judgement_of(state, TEXTS, only(wanted)).outcome == "foreign-bytes"
    for other in ((TEXTS["tree"], True), (TEXTS["more"], False)):
        assert judgement_of(state, TEXTS, only(other)).outcome == "changed-by-power"


def test_a_file_system_without_ubi_has_nothing_to_attach() -> None:
    state = replace(whole(), attach=None, attach_again=None)
    assert judgement_of(state, TEXTS, says()).outcome == "correct"
    assert judgement_of(replace(state, mount=BAD), TEXTS, says()).outcome == "mount-fails"


def test_the_first_line_that_differs_is_told() -> None:
    texts = {**TEXTS, "two": "dir . 2 1 0\ndir c 2 2 0\ndir d 2 3 0\n", "empty": "dir . 4 1 0\n"}
    grown = replace(whole(), again=seen("two"))
    assert judgement_of(grown, texts, says()).detail == "new: dir c 2 2 0"
    shrunk = replace(whole(), seen=seen("two"), used="", after=None, again=seen("tree"))
    assert judgement_of(shrunk, texts, says()).detail == "gone: dir c 2 2 0"
    other = replace(shrunk, again=seen("empty"))
    assert judgement_of(other, texts, says()).detail == "gone: dir . 2 1 0; new: dir . 4 1 0"


@pytest.mark.parametrize(
    ("line", "is_mistake"),
    [
        ("kernel BUG at fs/x.c:1!", True),
        ("Oops: 0000 [#1]", True),
        ("inconsistent lock state", True),
        ("WARNING: CPU: 0 PID: 1 at fs/x.c:1 f+0x1/0x2", True),
        ("BUG kmalloc-8 (Not tainted): Right Redzone overwritten", True),
        ("UBIFS error (ubi0:0 pid 1): ubifs_assert_failed: UBIFS assert failed: 0", True),
        ("vnand: rule violation: page 3 of block 5 programmed twice", True),
        # That it met something bad is what a file system is to say.
        ("UBIFS error (ubi0:0 pid 1): bad node", False),
        ("jffs2: notice: check_node_data: wrong data CRC", False),
    ],
)
def test_which_words_of_the_kernel_are_a_mistake(line: str, is_mistake: bool) -> None:
    texts = {**TEXTS, "log": f"[    1.0] {line}\n"}
    state = replace(whole(), messages="log")
    outcome = "kernel-warning" if is_mistake else "correct"
    assert judgement_of(state, texts, says()).outcome == outcome


def test_the_oracle_of_a_unit_excuses_by_the_kinds_of_both_cuts() -> None:
    """`a` was synced and is gone: an unstable page excuses that at the second mount, or when power
    was off twice.
    """
    case: Any = SimpleNamespace(filesystem=SimpleNamespace(stack="jffs2"))
    history = parse_history("create a\nsync\ncreate b\n")
    oracle = oracle_for(case, history)("op 0 0 0 1\nop 1 0 1 2\nop 2 0 2 3\nend 3 0 3\n")

    def kinds(kind: str, then: str, again: bool) -> list[str]:
        name = StateName(Cut(2, kind, 0), Cut(5, then, 0) if then else None)
        return [word for word, _ in oracle(name, "dir . 3 1 0\n", again)]

    for _ in range(2):  # the second time it is remembered
        for kind, then, again, is_excused in (
            ("unstable", "", False, False),
            ("unstable", "", True, True),
            ("unstable", "lost", False, True),
            ("lost", "unstable", False, True),
            ("lost", "lost", True, False),
            ("lost", "", True, False),
            ("erase-half", "", False, False),
            ("erase-half", "erase-half", True, False),
            ("paired", "", False, True),
        ):
            wanted = [] if is_excused else ["name-lost"]
            assert kinds(kind, then, again) == wanted, (kind, then, again)
    # The cut's place counts, too: before the sync nothing was owed.
    early = StateName(Cut(0, "lost", 0))
    assert not oracle(early, "dir . 3 1 0\n", False)


def test_a_fault_looks_like_an_entry_by_its_signs() -> None:
    detail = "operation 3 (rename D E): the directory has both names"
    assert known_as("jffs2", "not-atomic", "7 lost 0", detail) == "F-JFFS2-21"
    torn = "mounting fails: Input/output error"
    assert known_as("jffs2", "mount-fails", "0 torn-bits 0", torn) == "F-JFFS2-01"
    assert known_as("jffs2", "mount-fails", "10 torn-bits 0", torn) == ""
    for other in (
        ("ubifs", "not-atomic", "7 lost 0", detail),
        ("jffs2", "name-lost", "7 lost 0", detail),
        ("jffs2", "not-atomic", "7 lost 0", "neither name is there"),
        ("ubifs", "mount-fails", "7 lost 0", ""),
    ):
        assert known_as(*other) == ""
    assert known_as("ubifs", "mount-fails", "7 paired 2", "") == "F-UBIFS-07"
    assert {row.number for row in KNOWN} <= set(declared())
    assert {row.outcome for row in KNOWN} < set(OUTCOMES)
