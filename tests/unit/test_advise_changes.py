"""What would change the verdict, and whether compression is worth it: one sentence at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_advise_needs import needs
from test_advise_ranking import (
    ASKED,
    FASTMAP,
    JFFS2,
    PLAIN,
    POWER,
    ROOM,
    TIME,
    UBIFS,
    YAFFS2,
    YEARS,
    names,
    order_of,
    values,
)

from ffslab.advise.candidates import Candidate
from ffslab.advise.changes import Change, changes_of, compression_words, gain_of
from ffslab.advise.ranking import Cell, Judged, Need, judge_candidates
from ffslab.advise.readings import Value

MIB = 2**20
LZO = {"ubifs": "lzo"}


def test_more_of_what_should_be_much_is_the_stricter_limit() -> None:
    """2 % more than 20 MiB."""
    order = order_of((UBIFS, values(0.5, 20)), (JFFS2, values(0.6, 25)))
    text = "space: with a limit of 20.4 MiB instead of 10 MiB, jffs2 (25 MiB) comes first"
    assert names(order)[0] == "ubifs" and changes_of(needs(), order) == (Change("space", text),)


def test_of_those_alike_under_the_stricter_limit_the_first_candidate_comes_first() -> None:
    """Below 0.15 s both others have 1.47 times, and before that 3 and 4 times the room."""
    order = order_of((JFFS2, values(0.1, 30)), (YAFFS2, values(0.1, 40)), (UBIFS, values(0.15, 60)))
    assert names(order) == ["ubifs", "yaffs2", "jffs2"]
    text = "boot: with a limit of 147 ms instead of 1.00 s, jffs2 (100 ms) comes first"
    assert changes_of(needs(), order) == (Change("boot", text),)


def test_what_comes_first_for_other_reasons_is_not_told() -> None:
    """Below 0.5 s ubifs misses a need; what is not known of jffs2 is no reason to take it."""
    order = order_of((UBIFS, values(0.5, 20)), (JFFS2, values(None, 20)))
    assert changes_of(needs(), order) == ()


def test_failed_cases_are_told_of_what_meets_a_need() -> None:
    """ubifs misses one need; two cases of its fastmap did not pass."""
    failed = Value(None, "panic", failed=True)
    order = judge_candidates(
        (*ASKED, YEARS),
        [
            (UBIFS, {**values(1.5, 20), "life": Value(20.0)}),
            (FASTMAP, {"boot": Value(4e8), "space": failed, "life": failed}),
        ],
    )
    text = "boot: met by ubifs, fastmap (400 ms); it misses: space, life"
    assert names(order)[0] == "ubifs" and changes_of(needs(), order) == (Change("boot", text),)


def test_a_share_of_states_has_no_stricter_limit() -> None:
    """2 % more than 97 % would be 98.9 %, which yaffs2 has."""
    order = judge_candidates(
        (replace(POWER, limit=95),),
        [(UBIFS, {"power": Value(97.0)}), (YAFFS2, {"power": Value(100.0)})],
    )
    assert names(order)[0] == "ubifs" and changes_of(needs(), order) == ()


def test_missed_needs_are_told_first_and_linux_last() -> None:
    order = order_of((UBIFS, values(1.2, 20)), (YAFFS2, values(1.1, 15)), (JFFS2, values(2, 5)))
    assert names(order)[0] == "yaffs2"
    found = changes_of(needs(), order, {"yaffs2"})
    assert [one.need for one in found] == ["boot", "space", "mainline"]
    assert found[1].text.startswith("space: with a limit of 15.3 MiB instead of 10 MiB, ubifs")
    # If nothing of Linux takes part, nothing of it comes first.
    alone = order_of((YAFFS2, values(0.5, 20)))
    assert changes_of(needs(), alone, {"yaffs2"}) == ()


def test_only_the_volume_of_a_life_is_in_proportion() -> None:
    order = judge_candidates((YEARS,), [(UBIFS, {"life": Value(4.0)})])
    found = changes_of(needs(), order)
    assert [one.need for one in found] == ["life", "life"]
    (boot,) = changes_of(needs(), judge_candidates((TIME,), [(UBIFS, {"boot": Value(2e9)})]))
    assert (
        boot.text == "boot: no candidate meets it; nearest is ubifs with 2.00 s, asked is ≤ 1.00 s"
    )


# Compression.

HUNDRED = Need("space", "space", "free", 100, "bytes", True)


@pytest.mark.parametrize(
    ("packed", "plain", "verdict"),
    [
        (102, 100, "worth it, figures ×1.02 (lzo / none: free 102 B / 100 B)"),
        (101, 100, "makes no difference (lzo / none: free 101 B / 100 B)"),
        (100, 100, "makes no difference (lzo / none: no figure differs)"),
        (100, 101, "makes no difference (lzo / none: free 100 B / 101 B)"),
        (100, 102, "not worth it, figures ×0.98 (lzo / none: free 100 B / 102 B)"),
        (250, 100, "worth it, figures ×2.50 (lzo / none: free 250 B / 100 B)"),
        # Needs that are met or missed count before figures: 99 B are too few.
        (100, 99, "worth it, a matter of needs met (lzo / none: free 100 B / 99 B)"),
        (99, 100, "not worth it, a matter of needs met (lzo / none: free 99 B / 100 B)"),
    ],
)
def test_compression_is_worth_it_from_two_per_cent_on(
    packed: int, plain: int, verdict: str
) -> None:
    order = judge_candidates(
        [HUNDRED], [(UBIFS, {"space": Value(packed)}), (PLAIN, {"space": Value(plain)})]
    )
    (text,) = compression_words(order, LZO)
    assert text.replace(" in the geometric mean", "") == f"ubifs: {verdict}"


def test_what_was_not_measured_with_and_without_is_not_compared() -> None:
    assert compression_words(order_of((PLAIN, values(0.5, 20))), LZO) == ()
    assert compression_words(order_of((UBIFS, values(0.5, 20))), LZO) == ()
    both = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.5, 20)), (YAFFS2, values(1, 1)))
    assert compression_words(both, {}) == ()  # nobody says what its compressor is
    assert len(compression_words(both, LZO)) == 1


def test_a_compressor_that_has_not_been_tried_is_none_to_compare() -> None:
    """zstd would miss nothing, for nothing of it is known but how power cuts are borne."""
    asked = (*ASKED, POWER)
    cuts = {"power": Value(100.0)}
    missed, met = {**values(1.5, 20), **cuts}, {**values(0.5, 20), **cuts}
    zstd = Candidate("ubifs", (("compression", "zstd"),))
    order = judge_candidates(asked, [(UBIFS, missed), (PLAIN, met), (zstd, cuts)])
    (text,) = compression_words(order, LZO)
    assert text.startswith("ubifs: not worth it, a matter of needs met (lzo / none: ")
    assert compression_words(judge_candidates(asked, [(PLAIN, met), (zstd, cuts)]), LZO) == ()
    assert compression_words(judge_candidates(asked, [(PLAIN, cuts), (UBIFS, met)]), LZO) == ()
    failed = {"boot": Value(None, "panic", failed=True), **cuts}
    (text,) = compression_words(judge_candidates(asked, [(PLAIN, met), (UBIFS, failed)]), LZO)
    assert text.startswith("ubifs: not worth it, a matter of needs met (lzo / none: ")


def test_the_compressor_that_misses_least_is_compared_however_good_the_other_is() -> None:
    zstd = Candidate("ubifs", (("compression", "zstd"),))
    order = order_of((UBIFS, values(0.9, 20)), (zstd, values(1.1, 500)), (PLAIN, values(0.8, 20)))
    (text,) = compression_words(order, LZO)
    assert "(lzo / none: boot 900 ms / 800 ms)" in text


def test_figures_that_both_have_and_that_differ_are_told() -> None:
    """A share of states is no figure of the file system's compressor."""
    asked = (*ASKED, replace(POWER, limit=90), YEARS)
    packed = {**values(0.5, None), "power": Value(100.0), "life": Value(30.0)}
    plain = {**values(0.8, 20), "power": Value(100.0), "life": Value(None)}
    order = judge_candidates(asked, [(UBIFS, packed), (PLAIN, plain)])
    (text,) = compression_words(order, LZO)
    assert text.endswith("(lzo / none: boot 500 ms / 800 ms)")
    differing = {**plain, "power": Value(99.0)}
    (text,) = compression_words(judge_candidates(asked, [(UBIFS, packed), (PLAIN, differing)]), LZO)
    assert text.endswith("(lzo / none: boot 500 ms / 800 ms)")


@pytest.mark.parametrize(
    ("boot", "space", "gain"),
    [
        (1e9, 20.0 * MIB, 2 * 2**0.5),  # 4 times as fast, twice as large: √(4 × 2)
        (1e9, None, 4),
        (1e9, 0.0, 4),  # what is nothing, and what is endless, has no ratio
        (0.0, 20.0 * MIB, 2),
    ],
)
def test_the_other_one_may_have_no_figure(boot: float, space: float | None, gain: float) -> None:
    def one(boot: float, space: float | None) -> Judged:
        return Judged(UBIFS, (Cell(TIME, Value(boot)), Cell(ROOM, Value(space))), 0)

    assert gain_of(one(2.5e8, 40.0 * MIB), one(boot, space)) == pytest.approx(gain)
