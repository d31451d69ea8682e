"""All short sequences with guests that are made up: what is visited, judged, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from cuts_support import cut_case

from ffslab.errors import InfrastructureError
from ffslab.oracle.acts import PLAIN
from ffslab.oracle.promises import promise_of
from ffslab.oracle.sequences import Node, Tree
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.causes import Cause, Fault, Tally, causes_of
from ffslab.workloads.cuts.explore import sequences
from ffslab.workloads.cuts.explore.sequences import SequenceExplorer
from ffslab.workloads.cuts.outcomes import CORRECT, Judgement
from ffslab.workloads.cuts.sequences import stored_sequences
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import cut_of

CASE = cut_case()
RECORD = "op 0 0 0 1\nop 1 0 1 2\nop 2 0 2 3\nend 3 0 3\n"
TREE = "dir . 2 1 0\n"
DIGEST = "0123456789abcdef"
UNIT = Tree(PLAIN, 1, 1)
PAIRS = Tree(PLAIN, 2, 1)


def printed(name: str, mount: int = 30) -> str:
    """A state that was mounted, and not looked at, so that no tree is judged; or was not."""
    mounted = f"mount {mount} 9 5 1 1 ro=0\ntouched 1, recorded 4\n"
    return f"begin {name}\nstate {name}\n{mounted}ended {name}\n"


@dataclass
class Guests:
    """Guests that say of each node what they are told to, by the last of its calls.

    A text that does not end with a whole state is that of a guest that dies there.
    """

    states: Callable[[str], str] = lambda _: printed("1 lost 0", 0)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    record: str = RECORD

    def __call__(self, name: str, nodes: str, after: str) -> GuestTexts | None:
        self.asked.append((name, nodes, after))
        walk = f"text {DIGEST}\n{TREE}end\n"
        for number, line in enumerate(nodes.splitlines()):
            _, mark, calls = line.split(" ", 2)
            if mark == "pass":
                continue
            walk += f"node {number}\n" + "op 0 0 1\n" * (1 + calls.count(";"))
            told = self.states(calls)
            if after:
                behind = f"state {after.replace(',', ' ')}\n"
                told = told.partition(behind)[2]
                after = ""
            walk += told
            if told.count("begin ") != told.count("ended ") or told == "warned dead\n":
                console = "[    1.0] BUG: unable to handle\n"
                return GuestTexts(self.record, None, walk, console, False, False)
        return GuestTexts(self.record, None, f"{walk}walked 9\n", "", True, False)


def explorer(
    guests: Callable[[str, str, str], GuestTexts | None], tree: Tree, **more: int
) -> SequenceExplorer:
    promise = promise_of("ubifs")
    return SequenceExplorer("made", tree, promise, RECORD, guests, **more)  # type: ignore[arg-type]


def node(tree: Tree, words: str) -> Node:
    return next(each for each in tree.nodes() if each.words == words)


def test_each_node_is_visited_once_a_slice_in_a_guest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "_IN_ONE_GUEST", 100)
    guests, told = Guests(), []
    whole = explorer(guests, PAIRS)
    whole.tell = lambda done, count: told.append((done, count))
    tally, causes = whole.explore()
    assert (tally.nodes, tally.unreached, tally.guests, causes) == (414, 0, 5, [])
    assert told[-1] == (414, 414) and len(told) == 5
    assert tally.counts == {"lost": {CORRECT: 414}}
    visited = [
        line for _, nodes, _ in guests.asked for line in nodes.splitlines() if "visit" in line
    ]
    assert len(visited) == 414
    assert tally.pairs["append a", ""] == {CORRECT: 2}
    assert sum(counts.total() for counts in tally.pairs.values()) == 414


def test_parts_are_all_of_it() -> None:
    parts = [
        explorer(Guests(), PAIRS, first=first, end=end) for first, end in ((0, 200), (200, 414))
    ]
    assert [part.explore()[0].nodes for part in parts] == [200, 214]


def test_behind_a_state_that_ended_its_guest_the_next_goes_on() -> None:
    deadly = printed("1 lost 0", 0) + "begin 1 torn-bits 0\n" + "state 1 torn-bits 0\n"
    rest = printed("1 torn-bits 0", 0) + printed("2 lost 0", 0)

    def states(calls: str) -> str:
        if calls != "create b":
            return printed("1 lost 0", 0)
        return deadly if not any(after for _, _, after in guests.asked[-1:]) else deadly + rest

    guests = Guests(states)
    tally, causes = explorer(guests, UNIT).explore()
    (cause,) = causes
    assert cause.first.state == "1 torn-bits 0" and cause.first.judgement.outcome == "guest-died"
    assert cause.first.node.words == "create b" and cause.states == 1
    assert [after for _, _, after in guests.asked[:2]] == ["", "1,torn-bits,0"]
    assert tally.nodes == 22 and tally.unreached == 0
    assert guests.asked[1][1].startswith("1 visit create b\n")
    assert sum(tally.counts["lost"].values()) == 22 + 1


def test_behind_a_sequence_that_ends_its_guest_without_a_cut_nothing_is_reached() -> None:
    def states(calls: str) -> str:
        return "warned dead\n" if calls == "create b" else printed("1 lost 0", 0)

    tally, causes = explorer(Guests(states), PAIRS).explore()
    causes_by_words = {cause.first.node.words: cause for cause in causes}
    below = sum(each.words.startswith("create b; ") for each in PAIRS.nodes())
    assert tally.unreached == below > 10
    assert tally.nodes + tally.unreached == 414
    (kind,) = {cause.first.kind for cause in causes}
    assert kind == "none" and causes_by_words["create b"].first.state == "0 none 0"
    # Each sequence with that act in it is of that cause.
    assert list(causes_by_words) == ["create b"]
    assert causes[0].confirmed and causes[0].states == sum(
        each.steps[-1] == (PLAIN[4], False) and not each.words.startswith("create b; ")
        for each in PAIRS.nodes()
    )


def test_what_goes_wrong_without_a_cut_is_a_fault() -> None:
    other = DIGEST[::-1]
    warning = f"text {other}\n4 WARNING: CPU: 0 PID: 1 at fs/x.c:1 x()\nend\nwarned {other}\n"
    told = {"create b": "unmountable 3 5\n", "symlink a c": warning}
    tally, causes = explorer(Guests(lambda calls: told.get(calls, "")), UNIT).explore()
    assert [(cause.first.judgement.outcome, cause.first.node.words) for cause in causes] == [
        ("mount-fails", "create b"),
        ("kernel-warning", "symlink c"),
    ]
    assert tally.counts == {"none": {"mount-fails": 1, "kernel-warning": 1}}


@pytest.mark.parametrize("wrong", ["differs 0\n", "stuck unmount 16\n"])
def test_what_is_no_sequence_again_ends_it(wrong: str) -> None:
    def guest(_name: str, _nodes: str, _after: str) -> GuestTexts:
        return GuestTexts(RECORD, None, f"node 0\nop 0 0 1\n{wrong}", "", False, False)

    with pytest.raises(InfrastructureError, match="could not go on"):
        explorer(guest, UNIT).explore()


def test_guests_that_begin_otherwise_and_those_that_are_stopped() -> None:
    with pytest.raises(InfrastructureError, match="began otherwise"):
        explorer(
            Guests(record=RECORD.replace("2 3", "2 4").replace("0 3\n", "0 4\n")), UNIT
        ).explore()
    with pytest.raises(StoppedError):
        explorer(lambda *_: None, UNIT).explore()
    empty = GuestTexts(RECORD, None, "", "", False, False)
    with pytest.raises(InfrastructureError, match="before its first sequence"):
        explorer(lambda *_: empty, UNIT).explore()


def fault(words: str, state: str = "1 lost 0", outcome: str = "name-lost") -> Fault:
    return Fault(node(PAIRS, words), cut_of(state), Judgement(outcome, f"{words} does it"))


def test_a_cause_is_the_shortest_sequence_with_its_acts() -> None:
    """Whatever was synced, and of a torn operation what a plain loss does too; another outcome, or
    what only a torn operation does, is another cause.
    """
    faults = [
        fault("append a; create b"),
        fault("create b, synced; append a"),
        fault("create b"),
        fault("create b", "2 lost 0"),
        fault("append a, synced; append b"),
        fault("create b", "1 torn-bits 0"),
        fault("truncate a", "1 torn-bits 0"),
        fault("truncate a; append a", "1 lost 0"),
        fault("create b; unlink b", outcome="name-kept"),
    ]
    causes = causes_of(faults)
    told = [(c.first.node.words, c.first.kind, c.states, len(c.nodes)) for c in causes]
    assert told == [
        ("create b", "lost", 5, 3),
        ("truncate a", "torn-bits", 1, 1),
        ("append a, synced; append b", "lost", 1, 1),
        ("truncate a; append a", "lost", 1, 1),
        ("create b; unlink b", "lost", 1, 1),
    ]


def test_what_is_kept() -> None:
    tally = Tally(nodes=2, same=1, guests=1, operations=3)
    good, bad = fault("append a", outcome=CORRECT), fault("append a; create b")
    for each in (good, bad):
        tally.take(each.node, each.kind, each.judgement.outcome)
    cause = Cause(bad, confirmed=True, log=("0 program 1 2 0 2048 1",))
    cause.take(bad)
    stored = stored_sequences(CASE, PAIRS, tally, [cause])
    assert stored["states"] == 2 and stored["counts"] == {"lost": {CORRECT: 1, "name-lost": 1}}
    (finding,) = stored["findings"]
    assert finding["acts"] == "append a; create b" and finding["sequences"] == 1
    assert finding["calls"][-1] == "create b" and finding["calls"][0].startswith("write a 0 3000 ")
    assert stored["sequences"]["pairs"] == [
        {"act": "append a", "before": "", "outcomes": {CORRECT: 1}},
        {"act": "create b", "before": "append a", "outcomes": {"name-lost": 1}},
    ]
    other = stored_sequences(CASE, PAIRS, tally, [Cause(fault("create b"))])
    assert other["findings"][0]["id"] != finding["id"]
