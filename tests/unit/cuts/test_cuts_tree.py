"""What `ffscrash tree` is told and prints: whole, cut anywhere, damaged."""

from __future__ import annotations

import pytest

from ffslab.errors import DamagedResultError
from ffslab.oracle.acts import SETS
from ffslab.oracle.faults import KINDS
from ffslab.oracle.record import Call
from ffslab.oracle.sequences import Tree
from ffslab.workloads.cuts.tree import kinds_word, nodes_text, parse_nodes, sequence_text
from ffslab.workloads.cuts.walk import cut_of

SEEN = "0123456789abcdef"
STATE = f"""begin {{0}}
state {{0}}
mount 0 9 5 1 1 ro=0
seen {SEEN} 10 9 8
use ok
after {SEEN} 10 9 8
remount 0 1 1 0 0 ro=0
again {SEEN} 10 9 8
touched 1, recorded 4
ended {{0}}
"""
WHOLE = (
    f"node 0\nop 0 2 4\nlogged 0 program 1 2 0 2048 1\nwarned {SEEN}\n"
    f"text {SEEN}\ndir . 2 1 0\nend\n"
    + STATE.format("2 lost 0")
    + STATE.format("3 torn-bits 0")
    + "node 2\nop 0 2 4\nop 28 4 4\nunmountable 2 5\nsame 4 lost 0 1\nwalked 3\n"
)


def test_a_whole_text() -> None:
    nodes = parse_nodes(WHOLE)
    first, second = nodes.visited
    assert nodes.complete and nodes.begun is None and nodes.differs is None and not nodes.stuck
    assert (first.number, first.calls, first.warned) == (0, [Call(0, 2, 4)], SEEN)
    assert first.log == ["0 program 1 2 0 2048 1"] and not first.unmountable and not first.same
    assert [str(state.name) for state in first.states] == ["2 lost 0", "3 torn-bits 0"]
    assert (second.number, second.unmountable, second.same) == (2, 5, 1)
    assert second.calls == [Call(0, 2, 4), Call(28, 4, 4)]
    (same,) = second.states
    # The flash of a state before: it has come to the same, under another name.
    assert str(same.name) == "4 lost 0" and same.seen == first.states[1].seen
    assert nodes.texts == {SEEN: "dir . 2 1 0\n"}


def test_what_a_guest_that_died_has_printed() -> None:
    for end in range(len(WHOLE)):
        nodes = parse_nodes(WHOLE[:end])
        assert not nodes.complete
        assert len([state for each in nodes.visited for state in each.states]) <= 3
    nodes = parse_nodes(WHOLE[: WHOLE.index("ended 3")])
    assert nodes.begun == cut_of("3 torn-bits 0")
    assert [str(state.name) for state in nodes.visited[0].states] == ["2 lost 0"]


def test_a_sequence_that_was_not_the_same_again() -> None:
    assert parse_nodes("node 0\nnode 1\ndiffers 0\n").differs == 0
    assert parse_nodes("node 0\nstuck unmount 16\n").stuck == "unmount 16"


@pytest.mark.parametrize(
    "line", ["op 1 2", "same 4 lost 0 7", "same lost", "node x", "ended 1 lost 0", "what 1", "op"]
)
def test_another_text_is_refused(line: str) -> None:
    with pytest.raises(DamagedResultError, match="is not understood"):
        parse_nodes(f"node 0\n{line}\n")


def test_kinds_say_how_their_variants_are_counted() -> None:
    assert kinds_word(KINDS) == (
        "lost,torn-prefix+,torn-bits*,erase-half*,erase-weak*,erase-zeros*,erase-bits*,unstable*,"
        "weak-bits*,paired*"
    )


def test_nodes_are_lines_behind_those_above_them() -> None:
    nodes = list(Tree(SETS["plain"], 2, 1).nodes())
    assert nodes_text(nodes[:2]).splitlines() == [
        "1 visit append a 700 4294967299",
        "2 visit append a 700 4294967300",
    ]
    assert nodes_text(nodes[2:4]).splitlines() == [
        "1 pass append a 700 4294967299",
        "2 visit append a 700 4294967300;fsync a",
        "2 visit append b 700 4294967300",
    ]


def test_of_what_writes_all_of_the_flash_no_cut_is_made() -> None:
    assert sequence_text(["create b", "fsync b"]) == "1 visit create b;fsync b\n"
    assert sequence_text(["create b", "turnover t"]) == "1 end create b;turnover t\n"
    told = sequence_text(["create b", "turnover t", "unlink b", "sync"])
    assert told == "1 pass create b;turnover t\n2 visit unlink b;sync\n"
    (node,) = (each for each in Tree(SETS["all"], 1, 1).nodes() if each.words == "turn over")
    assert nodes_text([node]) == "1 end turnover t\n"
