"""The order of candidates and the words of what would change it, one rule at a time."""

from __future__ import annotations

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
from ffslab.advise.changes import changes_of, compression_words, gain_of
from ffslab.advise.ranking import (
    Cell,
    Judged,
    Need,
    conclusion,
    judge_candidates,
    needs_asked,
    rank_key,
)
from ffslab.advise.readings import Value

ZLIB = Candidate("ubifs", (("compression", "zlib"),))
LARGE = Candidate("ubifs", (), 2**25)
MIB = 2**20


def test_needs_are_shown_with_their_units_and_directions() -> None:
    found = [
        (need.key, need.short, need.limit, need.unit, need.higher_is_better)
        for need in needs_asked(needs())
    ]
    assert found == [
        ("space", "free", 2 * MIB, "bytes", True),
        ("boot", "boot", 5e8, "ns", False),
        ("boot-cut", "cut", 5e8, "ns", False),
        ("ram", "RAM", 2 * MIB, "bytes", False),
        ("write", "write", 1e8, "ns", False),
        ("life", "life", 5, "years", True),
        ("kept", "kept", 100, "percent", True),
        ("power", "power", 100, "percent", True),
    ]
    # Either of content and free space asks whether it fits.
    assert needs_asked(needs(content={"free": 0}))[0].limit == 0
    assert needs_asked(needs(content={"size": 0}))[0].limit == 2 * MIB


def test_each_need_that_is_not_measured_counts() -> None:
    """jffs2: two unknown; ubifs: one, and a worse figure."""
    order = judge_candidates(
        (*ASKED, YEARS),
        [
            (JFFS2, {"boot": Value(1e8), "space": Value(None), "life": Value(None)}),
            (UBIFS, {"boot": Value(9e8), "space": Value(11 * MIB), "life": Value(None)}),
        ],
    )
    assert names(order) == ["ubifs", "jffs2"]
    assert conclusion(order[0], 2) == (
        "ubifs comes first of 2 candidates and meets 2 of 3 needs; life was not measured."
    )


def test_a_failure_counts_once_as_missed_and_not_as_unknown() -> None:
    failed = {"boot": Value(None, "fail", failed=True), "space": Value(20.0 * MIB)}
    one = order_of((JFFS2, failed))[0]
    assert rank_key(one)[:2] == (1, 0)
    unknown = order_of((JFFS2, values(None, 20)))[0]
    assert rank_key(unknown)[:2] == (0, 1)


def test_all_else_equal_the_defaults_come_first_then_the_order() -> None:
    same = values(0.5, 20)
    assert names(order_of((ZLIB, same), (UBIFS, same))) == ["ubifs", "ubifs, zlib"]
    assert names(order_of((YAFFS2, same), (JFFS2, same))) == ["yaffs2", "jffs2"]
    assert names(order_of((LARGE, same), (FASTMAP, same), (ZLIB, same)))[0] == "ubifs, zlib"
    assert rank_key(order_of((LARGE, same))[0])[-2] == 1
    assert rank_key(order_of((UBIFS, same))[0])[-2] == 0


def test_the_share_of_states_is_no_margin() -> None:
    """100 % of 100 % is met as narrowly as can be, by all: it would hide every other margin."""
    both = (TIME, POWER)
    order = judge_candidates(
        both,
        [
            (JFFS2, {"boot": Value(5e8), "power": Value(100.0)}),
            (UBIFS, {"boot": Value(2e8), "power": Value(100.0)}),
        ],
    )
    assert names(order) == ["ubifs", "jffs2"]
    assert rank_key(order[0])[4] == -5
    # Of what has no margin at all, it is that of a limit that is reached.
    alone = judge_candidates((POWER,), [(JFFS2, {"power": Value(100.0)})])
    assert rank_key(alone[0])[4] == -1
    assert changes_of(needs(), alone) == ()


def test_the_nearest_that_misses_too_is_the_best_of_those_measured() -> None:
    order = order_of((UBIFS, values(1.5, 20)), (YAFFS2, values(None, 2)), (JFFS2, values(1.4, 3)))
    (change,) = changes_of(needs(), order)
    assert change.need == "boot" and "nearest is jffs2 with 1.40 s" in change.text


@pytest.mark.parametrize(
    ("zlib_s", "lzo_s", "chosen"),
    # Of compressors that miss as many needs the better figures, else who misses fewer.
    [(0.2, 0.4, "zlib"), (0.4, 0.2, "lzo"), (1.5, 0.9, "lzo"), (0.9, 1.5, "zlib")],
)
def test_the_best_compressor_is_compared(zlib_s: float, lzo_s: float, chosen: str) -> None:
    order = order_of(
        (UBIFS, values(lzo_s, 20)),
        (ZLIB, values(zlib_s, 20)),
        (PLAIN, values(0.8, 20)),
        # None of these takes part: another partition, another option, another file system.
        (LARGE, values(0.01, 99)),
        (FASTMAP, values(0.01, 99)),
        (YAFFS2, values(0.01, 99)),
    )
    (text,) = compression_words(order, {"ubifs": "lzo", "yaffs2": "none"})
    assert f"({chosen} / none:" in text and text.startswith("ubifs: ")


def test_a_compressor_that_misses_more_is_not_worth_it() -> None:
    order = order_of((UBIFS, values(1.5, 99)), (PLAIN, values(0.9, 11)))
    (text,) = compression_words(order, {"ubifs": "lzo"})
    assert text.startswith("ubifs: not worth it, a matter of needs met")
    failed = {"boot": Value(None, "fail", failed=True), "space": Value(99.0 * MIB)}
    (text,) = compression_words(
        order_of((UBIFS, failed), (PLAIN, values(0.9, 11))), {"ubifs": "lzo"}
    )
    assert "not worth it, a matter of needs met" in text


def test_two_per_cent_are_a_difference() -> None:
    """Only the time differs, so that the mean of two is the root: 1.0404 and 1.02."""
    more = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.5 * 1.0405, 20)))
    assert compression_words(more, {"ubifs": "lzo"})[0].startswith("ubifs: worth it, figures ×1.02")
    less = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.5 * 1.04, 20)))
    assert "makes no difference" in compression_words(less, {"ubifs": "lzo"})[0]


def test_what_has_no_ratio_is_left_out_of_the_mean() -> None:
    def one(boot: float, space: float | None, power: float) -> Judged:
        cells = (
            Cell(TIME, Value(boot)),
            Cell(ROOM, Value(space)),
            Cell(POWER, Value(power)),
        )
        return Judged(UBIFS, cells, 0)

    assert gain_of(one(5e8, 20 * MIB, 50.0), one(1e9, 20 * MIB, 100.0)) == pytest.approx(2**0.5)
    assert gain_of(one(5e8, None, 100.0), one(1e9, 20 * MIB, 100.0)) == pytest.approx(2)
    assert gain_of(one(5e8, 0.0, 100.0), one(1e9, 20 * MIB, 100.0)) == pytest.approx(2)
    assert gain_of(one(0.0, 20 * MIB, 100.0), one(1e9, 10 * MIB, 100.0)) == pytest.approx(2)
    assert gain_of(one(0.0, None, 100.0), one(1e9, None, 100.0)) == 1
    # Factors below one count as any other: 2 s against 4 s of 1 s.
    assert gain_of(one(2e9, None, 1.0), one(4e9, None, 1.0)) == pytest.approx(2)


def test_the_conclusion_counts_what_is_met() -> None:
    order = judge_candidates(
        (*ASKED, YEARS), [(UBIFS, {**values(2, 20), "life": Value(20.0)}), (JFFS2, values(2, 2))]
    )
    assert conclusion(order[0], 2) == (
        "ubifs comes first of 2 candidates and meets 2 of 3 needs; misses boot."
    )


def test_a_limit_of_one_is_a_limit() -> None:
    assert Cell(Need("x", "x", "x", 1.0, "bytes", True), Value(0.5)).factor == 0.5
