"""Shorter histories: nothing can be left out of what remains."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ffslab.oracle.operations import Operation
from ffslab.workloads.cuts.explore.minimize import shortest

HISTORY = tuple(Operation("mkdir", path=f"d{number}") for number in range(40))


@pytest.mark.parametrize("needed", [(7,), (0, 39), (3, 4, 5), (1, 11, 21, 31), tuple(range(40))])
def test_what_is_needed_is_left_and_no_more(needed: tuple[int, ...]) -> None:
    wanted = {HISTORY[number] for number in needed}
    tried: list[int] = []

    def harms(operations: Sequence[Operation]) -> bool:
        tried.append(len(operations))
        return wanted <= set(operations)

    assert shortest(HISTORY, harms) == tuple(HISTORY[number] for number in needed)
    assert len(tried) < 40 * 40


def test_no_part_can_be_left_out_of_the_result_of_an_odd_harm() -> None:
    def harms(operations: Sequence[Operation]) -> bool:
        return len(operations) % 2 == 0 and HISTORY[5] in operations

    left = shortest(HISTORY, harms)
    assert harms(left) and len(left) < 10
    assert not any(harms((*left[:at], *left[at + 1 :])) for at in range(len(left)))


@pytest.mark.parametrize("length", range(1, 8))
def test_of_a_short_history_one_call_may_be_all_that_is_needed(length: int) -> None:
    for needed in HISTORY[:length]:
        assert shortest(HISTORY[:length], lambda some, one=needed: one in some) == (needed,)  # type: ignore[misc]
