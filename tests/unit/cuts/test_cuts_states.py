"""Which states of a log are gone through."""

from __future__ import annotations

import pytest

from ffslab.errors import DamagedResultError
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.states import all_cuts, drawn, kinds_of, parse_log
from ffslab.workloads.cuts.walk import Cut

ON_BOTH = ("lost", "done", "torn-prefix", "torn-bits")
ON_NAND = (*ON_BOTH, "erase-half", "unstable", "paired")
ON_NOR = (*ON_BOTH, "erase-zeros", "erase-bits", "weak-bits")
LOG = "0 erase 4\n1 program 4 0 0 2048 1\n2 program 4 1 0 512 0\n3 mark 9\n"


def cuts_of(kinds: tuple[str, ...] = ON_NAND, variants: int = 1) -> Cuts:
    return Cuts(kinds=" ".join(kinds), variants=variants, fill_sample=0)


def test_a_log_is_read() -> None:
    log = parse_log(LOG)
    assert [one.verb for one in log] == ["erase", "program", "program", "mark"]
    assert [one.block for one in log] == [4, 4, 4, 9]
    assert [one.page for one in log] == [None, 0, 1, None]


@pytest.mark.parametrize("text", ["x erase 4\n", "0 frob 4\n", "0 erase\n", "1 erase 4\n"])
def test_another_text_is_no_log(text: str) -> None:
    with pytest.raises(DamagedResultError, match="not understood"):
        parse_log(text)


def test_kinds_apply_by_operation() -> None:
    erase, program, _, mark = parse_log(LOG)
    assert kinds_of(erase, ON_NAND, paired=True) == ("lost", "done", "erase-half", "unstable")
    torn = ("lost", "done", "torn-prefix", "torn-bits", "unstable")
    assert kinds_of(program, ON_NAND, paired=False) == torn
    assert kinds_of(program, ON_NAND, paired=True) == (*torn, "paired")
    assert kinds_of(mark, ON_NAND, paired=True) == ("lost", "done")
    halves = ("erase-zeros", "erase-bits")
    assert kinds_of(erase, ON_NOR, paired=False) == ("lost", "done", *halves, "weak-bits")
    assert kinds_of(program, ON_NOR, paired=False) == (*torn[:-1], "weak-bits")
    assert kinds_of(program, ("torn-bits", "erase-half"), paired=True) == ("torn-bits",)


def test_every_cut_is_there_and_the_same_flash_once() -> None:
    log = parse_log(LOG)
    found = list(all_cuts(log, cuts_of(variants=2), paired=False))
    assert len(set(found)) == len(found)
    # An erase: lost, two halves, two unstable. A program: lost, two prefixes, bits, unstable. The
    # mark is lost, or done: nothing comes after it.
    assert len(found) == (1 + 2 + 2) + 2 * (1 + 2 + 2 + 2) + 2
    assert [cut for cut in found if cut.kind == "done"] == [Cut(3, "done", 0)]
    twice = list(all_cuts(log, cuts_of(variants=2), paired=False, same_twice=True))
    assert len(twice) == len(found) + 3
    only = list(all_cuts(log, cuts_of(("done",)), paired=False))
    assert [cut.operation for cut in only] == [0, 1, 2, 3]


def test_a_draw_is_a_part_in_order_and_depends_on_seed_and_log() -> None:
    whole = [Cut(number, "lost", 0) for number in range(500)]
    first = drawn(whole, 40, 1, "a")
    assert len(first) == 40 and first == sorted(first) and set(first) <= set(whole)
    assert drawn(whole, 40, 1, "a") == first
    assert drawn(whole, 40, 2, "a") != first != drawn(whole, 40, 1, "b")
    assert drawn(whole, 0, 1, "a") == drawn(whole, 500, 1, "a") == whole
    # It is no run of neighbours: all parts of the log are in it.
    assert {cut.operation // 125 for cut in first} == {0, 1, 2, 3}


def test_the_ways_in_which_a_prefix_can_be_there_are_gone_through() -> None:
    """One operation gets one, the next the next; what is drawn by a seed begins with the same."""
    found = list(all_cuts(parse_log(LOG), cuts_of(variants=2), paired=False))
    prefixes = [cut for cut in found if cut.kind == "torn-prefix"]
    assert [(cut.operation, cut.variant) for cut in prefixes] == [(1, 1), (1, 2), (2, 2), (2, 3)]
    bits = [cut for cut in found if cut.kind == "torn-bits"]
    assert [(cut.operation, cut.variant) for cut in bits] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_of_a_line_that_is_not_understood_the_beginning_is_told() -> None:
    with pytest.raises(DamagedResultError) as refused:
        parse_log("x" * 300)
    assert str(refused.value).count("x") == 100
