"""A case of cuts with guests that are made up: what is gone through, judged, repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from cuts_support import cut_case

from ffslab.errors import InfrastructureError
from ffslab.oracle.history import History
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.explore.explorer import Explorer, line_of
from ffslab.workloads.cuts.explored import Explored
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.outcomes import OUTCOMES, Oracle
from ffslab.workloads.cuts.stored import finding_id, stored_of
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import Cut, StateName, cut_of

CASE = cut_case()
OPERATIONS = 6
RECORD = "op 0 0 0 3\nop 1 0 3 6\nend 2 0 6\n"
LOG = "".join(f"{number} program 0 {number} 0 2048 1\n" for number in range(OPERATIONS))
TREE = "dir . 2 1 0\n"
DIGEST = "0123456789abcdef"
OTHER = "fedcba9876543210"


def printed(name: str, mount: int = 0, again: str = DIGEST, used: str = "ok") -> str:
    """A state as ffscrash prints it, behind its texts."""
    whole = f"begin {name}\nstate {name}\nmount {mount} 9 5 1 1 ro=0\n"
    if not mount:
        seen = f"{DIGEST} 10 9 8"
        whole += f"seen {seen}\nuse {used}\nafter {seen}\nremount 0 1 1 0 0 ro=0\n"
        whole += f"again {again} 10 9 8\n"
    return whole + f"touched 1, recorded 4\nended {name}\n"


@dataclass
class Guests:
    """Guests that say of each state what they are told to; some die of one."""

    states: Callable[[str], str] = printed
    deadly: Sequence[str] = ()
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    def __call__(self, name: str, states: str) -> GuestTexts | None:
        lines = states.splitlines()
        assert lines
        self.asked.append((name, lines))
        walk = f"text {DIGEST}\n{TREE}end\ntext {OTHER}\n{TREE}dir b 2 2 0\nend\n"
        for line in lines:
            if line in self.deadly:
                console = "[    1.0] BUG: unable to handle\n"
                return GuestTexts(RECORD, None, f"{walk}begin {line}\n", console, False, False)
            walk += self.states(line)
        return GuestTexts(RECORD, None, f"{walk}walked {len(lines)}\n", "", True, False)


def nothing_wrong(_record: str) -> Oracle:
    return lambda _name, _text, _again: []


FIRST = GuestTexts(RECORD, LOG, "", "", True, False)


def explorer(
    guests: Callable[[str, str], GuestTexts | None],
    kinds: tuple[str, ...] = ("lost", "torn-bits"),
    **further: int,
) -> Explorer:
    cuts = Cuts(kinds=" ".join(kinds), **{"fill_sample": 0, **further})
    return Explorer("jffs2-s1", cuts, 1, guests, nothing_wrong)


def outcomes(result: Explored) -> dict[str, str]:
    return {str(one.name): one.judgement.outcome for one in result.judged}


def test_all_states_of_the_log_are_gone_through_in_one_guest() -> None:
    guests = Guests()
    result = explorer(guests).explore(FIRST)
    assert [name for name, _ in guests.asked] == ["walk-0-0"]
    assert len(result.judged) == result.states_possible == 2 * OPERATIONS
    assert set(outcomes(result).values()) == {"correct"}
    assert (result.operations, result.guests) == (OPERATIONS, 2)


def test_parts_go_to_several_guests_and_jobs_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ffslab.workloads.cuts.explore.explorer._IN_ONE_GUEST", 5)
    results = []
    for jobs in (1, 3):
        guests = Guests(deadly=("1 lost 0", "4 torn-bits 0"))
        made = explorer(guests)
        made.jobs = jobs
        results.append(made.explore(FIRST))
        walked = {name: lines for name, lines in guests.asked if name.startswith("walk")}
        assert {name: len(lines) for name, lines in walked.items() if name.endswith("-0")} == {
            "walk-0-0": 5,
            "walk-1-0": 5,
            "walk-2-0": 2,
        }
        assert walked["walk-0-1"] == ["1 torn-bits 0", "2 lost 0"]
    assert results[0] == results[1]
    assert list(outcomes(results[0])) == [
        str(Cut(operation, kind, 0))
        for operation in range(OPERATIONS)
        for kind in ("lost", "torn-bits")
    ]


def test_a_sample_is_a_part_of_them() -> None:
    result = explorer(Guests(), sample=5).explore(FIRST)
    assert (len(result.judged), result.states_possible) == (5, 2 * OPERATIONS)


def test_a_state_that_kills_is_repeated_alone_and_the_others_go_on_behind_it() -> None:
    guests = Guests(deadly=("2 torn-bits 0",))
    result = explorer(guests).explore(FIRST)
    found = outcomes(result)
    assert len(found) == 2 * OPERATIONS
    assert [name for name, what in found.items() if what != "correct"] == ["2 torn-bits 0"]
    assert found["2 torn-bits 0"] == "guest-died"
    (died,) = [one for one in result.judged if one.judgement.outcome == "guest-died"]
    assert died.confirmed and "BUG" in died.judgement.detail
    names = [name for name, _ in guests.asked]
    assert names == ["walk-0-0", "walk-0-1", "alone-0"]
    assert guests.asked[1][1][0] == "3 lost 0"
    assert guests.asked[2][1] == ["2 torn-bits 0"]


def test_a_fault_that_is_not_there_alone_says_so() -> None:
    first: list[str] = []

    def states(name: str) -> str:
        if name == "4 lost 0" and not first:
            first.append(name)
            return printed(name, used="fill 28")
        return printed(name)

    result = explorer(Guests(states)).explore(FIRST)
    (odd,) = [one for one in result.judged if one.judgement.outcome != "correct"]
    assert odd.judgement.outcome == "use-fails" and not odd.confirmed
    assert "after the states before it" in odd.judgement.detail
    assert odd.judgement.detail.endswith("alone: correct")


def test_of_like_faults_some_are_repeated() -> None:
    guests = Guests(lambda name: printed(name, mount=5))
    result = explorer(guests, ("lost",)).explore(FIRST)
    assert sum(one.confirmed for one in result.judged) == 3
    assert sum(name.startswith("alone") for name, _ in guests.asked) == 3
    assert {one.judgement.detail for one in result.judged} == {"mounting fails: Input/output error"}


@pytest.mark.parametrize(
    ("kind", "outcome"), [("lost", "changed-by-power"), ("unstable", "correct")]
)
def test_another_tree_after_power_was_off_is_a_fault_unless_the_page_may_be_gone(
    kind: str, outcome: str
) -> None:
    guests = Guests(lambda name: printed(name, again=OTHER if name == f"3 {kind} 0" else DIGEST))
    assert outcomes(explorer(guests, (kind,)).explore(FIRST))[f"3 {kind} 0"] == outcome


def test_the_oracle_is_asked_of_both_trees() -> None:
    asked: list[tuple[str, bool]] = []

    def oracle_for(record: str) -> Oracle:
        assert record == RECORD

        def oracle(name: StateName, text: str, again: bool) -> list[tuple[str, str]]:
            assert text == TREE
            asked.append((str(name), again))
            bad = again and name.cut.operation == 1
            return [("stale-data", "old")] if bad else []

        return oracle

    one = explorer(Guests(), ("lost",))
    one.oracle_for = oracle_for
    found = outcomes(one.explore(FIRST))
    assert {name for name, what in found.items() if what == "stale-data"} == {"1 lost 0"}
    assert ("0 lost 0", False) in asked and ("0 lost 0", True) in asked


def test_recoveries_are_cut_as_well() -> None:
    guests = Guests(lambda _line: "")
    explorer(guests, ("lost",), sample=3, recovery_sample=2).explore(FIRST)
    lines = guests.asked[0][1]
    assert len(lines) == 5
    assert sum(line.endswith(" * lost 0") for line in lines) == 2


def test_who_dies_between_states_is_no_finding() -> None:
    class Dead(Guests):
        def __call__(self, name: str, states: str) -> GuestTexts | None:
            del name, states
            return GuestTexts(RECORD, "", "", "no memory\n", False, False)

    with pytest.raises(InfrastructureError, match="between two states"):
        explorer(Dead()).explore(FIRST)


def test_another_log_of_the_same_history_is_an_error() -> None:
    class Other(Guests):
        def __call__(self, name: str, states: str) -> GuestTexts | None:
            texts = super().__call__(name, states)
            assert texts is not None
            return GuestTexts("op 0 0 0 2\n", "", texts.walk, "", True, False)

    with pytest.raises(InfrastructureError, match="logged different things"):
        explorer(Other()).explore(FIRST)


def test_nothing_goes_on_when_ffslab_stops() -> None:
    class Stopped(Guests):
        def __call__(self, name: str, states: str) -> GuestTexts | None:
            del name, states
            return None

    with pytest.raises(StoppedError):
        explorer(Stopped()).explore(FIRST)


# --- what is kept ---


def test_like_faults_are_one_finding_with_an_id_that_stays() -> None:
    guests = Guests(lambda name: printed(name, mount=5 if " torn-bits " in name else 0))
    result = explorer(guests).explore(FIRST)
    kept = stored_of(CASE, History(()), result)
    assert kept["counts"] == {
        "lost": {"correct": OPERATIONS},
        "torn-bits": {"mount-fails": OPERATIONS},
    }
    (finding,) = kept["findings"]
    assert finding["state"] == "0 torn-bits 0" and finding["states"] == OPERATIONS
    assert finding["confirmed"]
    assert finding["id"] == finding_id(CASE, "0 torn-bits 0")
    assert finding["id"] != finding_id(CASE, "1 torn-bits 0")
    assert kept["recovery"]["curve"] == [[number, 5, 1, 1, 9] for number in range(OPERATIONS)]
    assert kept["recovery"]["worst"] == 0
    assert (kept["states"], kept["untouched"]) == (2 * OPERATIONS, 0)


def test_names_of_states_are_read_as_they_are_written() -> None:
    for name in (
        StateName(Cut(3, "lost", 0)),
        StateName(Cut(3, "torn-bits", 7), Cut(12, "erase-half", 1)),
    ):
        assert cut_of(str(name)) == name
    assert line_of(StateName(Cut(3, "lost", 0), Cut(1, "done", 2))) == "3 lost 0 1 done 2"


def test_every_outcome_has_its_words() -> None:
    assert next(iter(OUTCOMES)) == "guest-died" and list(OUTCOMES)[-1] == "correct"
    from ffslab.oracle.problems import CLASSES

    assert set(CLASSES) <= set(OUTCOMES)
    assert all(OUTCOMES.values())


def test_some_states_are_filled_and_repeated_so() -> None:
    guests = Guests(lambda name: printed(name.removesuffix(" fill"), used="fill 5"))
    made = explorer(guests)
    made.cuts = replace(made.cuts, fill_sample=3)
    result = made.explore(FIRST)
    asked = guests.asked[0][1]
    assert len(asked) == 2 * OPERATIONS
    filled = [line.removesuffix(" fill") for line in asked if line.endswith(" fill")]
    assert len(filled) == 3
    assert [str(one.name) for one in result.judged if one.is_filled] == filled
    alone = [lines[0] for name, lines in guests.asked if name.startswith("alone")]
    assert {line for line in alone if line.endswith(" fill")} <= {f"{one} fill" for one in filled}
    stored = stored_of(CASE, History(()), result)
    assert all(finding["filled"] == (finding["state"] in filled) for finding in stored["findings"])


def test_a_partition_that_was_full_before_is_right_to_say_so() -> None:
    result = explorer(Guests(lambda name: printed(name, used="full 0"))).explore(FIRST)
    assert set(outcomes(result).values()) == {"correct"}
