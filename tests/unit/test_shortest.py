"""Shorter lists with the same harm: nothing can be left out of what remains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ffslab.workloads.shortest import shortest


def tried(length: int, *needed: int) -> list[tuple[int, ...]]:
    """The lists that are tried of so many calls, then the result; the harm needs `needed`."""
    lists: list[tuple[int, ...]] = []

    def harms(calls: Sequence[int]) -> bool:
        lists.append(tuple(calls))
        return {*needed} <= {*calls}

    left = shortest(range(length), harms)
    return [*lists, left]


@pytest.mark.parametrize(
    ("length", "needed"),
    [
        *(
            (40, (7,)),
            (40, (0, 39)),
            (40, (3, 4, 5)),
            (40, (1, 11, 21, 31)),
            (40, tuple(range(40))),
        ),
        (100, (3, 50, 99)),
        *((length, (call,)) for length in range(1, 8) for call in range(length)),
    ],
)
def test_what_is_needed_is_left_and_no_more(length: int, needed: tuple[int, ...]) -> None:
    *lists, left = tried(length, *needed)
    assert left == needed
    assert len(lists) < length * length and (length < 100 or len(lists) < 80)


def test_the_end_goes_first_and_large_parts_before_single_calls() -> None:
    """Parts of 3 and 1, or of 5, 2 and 1; single ones are tried again until none goes."""
    assert tried(7, 2, 3) == [
        *((0, 1, 2, 3), (0,), (1, 2, 3)),
        *((1, 2), (1, 3), (2, 3), (2,), (3,), (2, 3)),
    ]
    assert tried(10, 1, 6) == [
        *((0, 1, 2, 3, 4), (5, 6, 7, 8, 9)),
        *((0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 6, 7), (0, 1, 6, 7), (6, 7)),
        *((0, 1, 6), (0, 1), (0, 6), (1, 6), (1,), (6,), (1, 6)),
    ]
    # What does harm anyhow keeps one; a list without any is not tried.
    assert (tried(1), tried(2), tried(0)) == ([(0,)], [(0,), (0,)], [()])


@pytest.mark.parametrize(
    ("harms", "most"),
    [
        # An even number of them, and 5.
        (lambda calls: len(calls) % 2 == 0 and 5 in calls, 9),
        # A call may need one before it, and do no harm without both.
        (lambda calls: 9 in calls and (5 not in calls or 4 in calls), 1),
    ],
)
def test_no_call_can_be_left_out_of_the_result_of_an_odd_harm(
    harms: Callable[[Sequence[int]], bool], most: int
) -> None:
    left = shortest(range(40), harms)
    assert harms(left) and len(left) <= most
    assert not any(harms((*left[:at], *left[at + 1 :])) for at in range(len(left)))
