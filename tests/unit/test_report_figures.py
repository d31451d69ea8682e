"""The report's figures against values worked out by hand: each sum stands beside its result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ffslab.report.configurations import place_text
from ffslab.report.data import (
    CORE_AXES,
    Case,
    Fact,
    FilesystemFact,
    Group,
    Histogram,
    Run,
    group_by_seed,
    group_label,
    packed_buckets,
    values_of,
)
from ffslab.report.distribution import PERCENTILES, Distribution, merge
from ffslab.report.quantity import duration, grouped, listed, significant, times, unbroken
from ffslab.report.wear import Scale, Wear, common_scale, draw

SPACE = "\u00a0"


def plain(text: str) -> str:
    """With blanks and dashes that a keyboard has."""
    return text.replace(SPACE, " ").replace("\u2060–\u2060", "-")


def test_three_significant_figures() -> None:
    told = {
        0: "0", 0.045678: "0.0457", 0.5: "0.500", 1: "1.00", 9.996: "10.0", 12.345: "12.3",
        -12.345: "-12.3", 123.45: "123", 999.4: "999", 999.6: "1,000", 1000: "1,000",
        1000.6: "1,001", -1234.4: "-1,234", 1234.6: "1,235", 1_234_567: "1,234,567",
    }  # fmt: skip
    assert {value: plain(significant(value)) for value in told} == told


def test_figures_may_be_fewer() -> None:
    told = {(12.345, 2): "12", (0.12345, 1): "0.1", (5, 1): "5", (123, 1): "100"}
    assert {pair: significant(*pair) for pair in told} == told
    assert significant(999.5, 4) == "999.5"
    assert grouped(-1_234_567) == "-1,234,567"
    assert times(0.25) == "×0.250"


def test_a_number_stays_with_its_unit() -> None:
    text = "7.60 s, 13 %, 5 MiB/s and 2 kB of 3 seeds, 4 blocks, 5 ms"
    kept = (
        f"7.60{SPACE}s, 13{SPACE}%, 5{SPACE}MiB/s and 2{SPACE}kB of 3 seeds, 4 blocks, 5{SPACE}ms"
    )
    assert unbroken(text) == kept


def test_a_place_has_units_where_its_axes_have() -> None:
    place = (("state", "aged"), ("workload.request_bytes", "2048"), ("cpu_scale", "0.5"))
    assert plain(place_text(place)) == "state aged, request size 2 KiB, CPU scale 0.5"
    assert plain(place_text((("seed", "3"), ("workload.size_max", "4096")))) == "size max 4,096"


def test_a_duration_has_the_unit_that_fits() -> None:
    told = {
        0: "0 ns", 999: "999 ns", -999: "-999 ns", 999.4: "999 ns", 999.6: "1.00 µs",
        0.25: "0.250 ns", 1000: "1.00 µs", -1500: "-1.50 µs", 999_499: "999 µs",
        999_500: "1.00 ms", 999_499_000: "999 ms", 999_500_000: "1.00 s",
        2_500_000_000: "2.50 s", 1.5e12: "1,500 s",
    }  # fmt: skip
    assert {ns: plain(duration(ns)) for ns in told} == told


# As in test_metrics: single values at the ranks of 1,001, rounded up.
RANKED = ((10, 500), (11, 1), (20, 399), (21, 1), (30, 89), (31, 1), (40, 8), (41, 1), (50, 1))
RANKED_BUCKETS = tuple((value, value + 1, count) for value, count in RANKED)


def test_percentiles_of_a_distribution() -> None:
    assert PERCENTILES == (50, 90, 99, 99.9)
    assert Distribution(2, 0, 1, 3, ((1, 2, 1), (3, 4, 1))).percentile_ns(0) == 1
    found = Distribution(1001, 16_124, 10, 50, RANKED_BUCKETS)
    assert [found.percentile_ns(p) for p in (50, 90, 99, 99.9)] == [11, 21, 31, 41]
    assert (found.percentile_ns(0), found.percentile_ns(100)) == (10, 50)
    assert found.mean_ns == pytest.approx(16.1079, abs=1e-4)
    assert Distribution(0, 0, 0, 0, ()).mean_ns == 0
    # 99.9 % of 1,000 is 999, though not in floating point.
    assert Distribution(1000, 0, 1, 3, ((1, 2, 998), (2, 3, 1), (3, 4, 1))).percentile_ns(99.9) == 2


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(1000, 9000, 1731.5), (1733, 9000, 1733), (1000, 1729, 1729)],  # (1728 + 1735) ÷ 2
)
def test_a_percentile_is_the_middle_of_its_bucket(low: int, high: int, found: float) -> None:
    assert Distribution(3, 0, low, high, ((1728, 1736, 3),)).percentile_ns(50) == found
    assert Distribution(4, 0, low, high, ((1728, 1736, 3),)).percentile_ns(99) == high


def histogram(buckets: Sequence[tuple[int, int]], total: int, low: int, high: int) -> Histogram:
    count = sum(bucket[1] for bucket in buckets)
    return Histogram(count, total, low, high, packed_buckets(buckets))


def test_histograms_are_merged() -> None:
    # Bucket 300 is 344 and 345, as in test_metrics.
    one = histogram(((1, 2), (300, 1)), 346, 1, 344)
    two = histogram(((4, 1), (300, 4)), 1380, 4, 345)
    nothing = histogram((), 0, 0, 0)
    expected = Distribution(8, 1726, 1, 345, ((1, 2, 2), (4, 5, 1), (344, 346, 5)))
    assert merge([two, nothing, one]) == expected
    assert merge([nothing]) is None and merge([]) is None


def test_a_tail_is_the_share_that_takes_as_long() -> None:
    found = Distribution(8, 46, 1, 9, ((1, 2, 2), (4, 5, 1), (8, 10, 5)))
    # Of 8 all take 1 ns or more, 6 take 4, 5 take 8, and the last point is the longest.
    assert found.tail() == ((1.0, 1.0), (4.0, 0.75), (8.0, 0.625), (9.0, 0.625))
    # A bucket that begins below the minimum begins there; 0 has no logarithm.
    assert Distribution(2, 0, 0, 5, ((0, 1, 1), (5, 6, 1))).tail() == ((1.0, 1.0), (5.0, 0.5))
    assert Distribution(1, 0, 6, 6, ((4, 8, 1),)).tail() == ((6.0, 1.0),)
    assert Distribution(0, 0, 0, 0, ()).tail() == ()


def test_a_long_tail_is_thinned_and_keeps_its_ends() -> None:
    # Powers of 2 with half of the rest at each: both logarithms move by 1/10 of the whole.
    halves = tuple((2**n, 2**n + 1, 2 ** (10 - n)) for n in range(10))
    count = sum(bucket[2] for bucket in halves)
    found = Distribution(count, 0, 1, 512, halves)
    assert len(found.tail()) == 10
    # Five points are 2 ÷ 5 apart in the sum of both: every second step, and the ends.
    kept = [t for t, _ in found.tail(5)]
    assert kept == [1.0, 4.0, 16.0, 64.0, 256.0, 512.0]


def test_wear_of_a_partition() -> None:
    found = Wear((2, 1, 6))
    assert (found.low, found.high, found.mean) == (1, 6, 3.0)
    assert found.deviation == pytest.approx(math.sqrt(14 / 3))  # (4 + 1 + 36) ÷ 3 − 9


@pytest.mark.parametrize(
    ("maps", "bounds"),
    [
        ([[]], (0,)),
        ([[0, 3], [], [2]], (0, 1, 2, 3)),
        ([[8]], tuple(range(9))),
        ([[9]], (0, 1, 2, 3, 4, 5, 6, 7, 8)),  # 9^(k/8) is less than k + 1 until k = 8
        # 20^(k/8): 1.45, 2.11, 3.07, 4.47, 6.50, 9.46, 13.75; at least one more than before
        ([[20]], (0, 1, 2, 3, 4, 5, 7, 9, 14)),
        ([[6561], [5]], (0, 1, 3, 9, 27, 81, 243, 729, 2187)),  # 3^8
    ],
)
def test_shades_are_few_and_common(maps: list[list[int]], bounds: tuple[int, ...]) -> None:
    assert common_scale(maps).bounds == bounds


def test_a_shade_is_for_a_range_of_erases() -> None:
    scale = Scale((0, 1, 3, 9))
    assert [scale.shade(n) for n in (0, 1, 2, 3, 8, 9, 99)] == [0, 1, 1, 2, 2, 3, 3]
    assert scale.labels() == ("0", "1–2", "3–8", "≥ 9")
    assert Scale((0, 1, 2)).labels() == ("0", "1", "≥ 2")
    assert [scale.paint(n) for n in range(4)] == [0, 3, 5, 8]  # 8 ÷ 3 = 2.67, 5.33
    assert [Scale((0, 1)).paint(n) for n in (0, 1)] == [0, 8]
    assert Scale((0,)).paint(0) == 0


def test_a_map_has_a_path_for_each_shade() -> None:
    """51 blocks: the first row 2 of shade 0 and 48 of shade 1, the second one of shade 0."""
    text = draw([0, 0, *[1] * 48, 0], Scale((0, 1)), "a < b", "x")
    grid = "".join(f"M{x} 0v2" for x in range(1, 50)) + "M0 1h50"
    assert text == (
        '<svg class="wear" viewBox="0 0 50 2" style="max-width:400px" role="img" '
        'aria-labelledby="x-title"><title id="x-title">a &lt; b</title>'
        '<path class="w0" d="M0 0h2v1h-2zM0 1h1v1h-1z"/><path class="w8" d="M2 0h48v1h-48z"/>'
        f'<path class="weargrid" d="{grid}"/></svg>'
    )
    assert 'd="M1 0v3' in (text := draw([0] * 101, Scale((0,)), "", "x"))
    assert 'v3M0 1h50M0 2h50"' in text
    text = draw([1, 0, 1], Scale((0, 1)), "", "x")
    assert 'viewBox="0 0 3 1"' in text
    assert text.index('class="w0"') < text.index('class="w8"')
    assert 'd="M0 0h1v1h-1zM2 0h1v1h-1z"' in text


def test_words_are_listed() -> None:
    assert (listed(["a"]), listed(["a", "b", "c"])) == ("a", "a, b and c")


def case(number: int, seed: str, outcome: str = "pass", **more: object) -> Case:
    axes = {"filesystem": more.pop("filesystem", "ubifs"), "state": "free", "seed": seed}
    return Case(str(number), axes, outcome, "", **more)  # type: ignore[arg-type]


def test_a_group_has_the_cases_that_differ_in_the_seed_only() -> None:
    cases = [case(0, "10"), case(1, "9"), case(2, "1", filesystem="jffs2"), case(3, "x")]
    ubifs, _ = group_by_seed(cases)
    assert ubifs.axes == {"filesystem": "ubifs", "state": "free"}
    assert [one.id for one in ubifs.cases] == ["0", "1", "3"]
    assert ubifs.first.id == "1"  # 9 is before 10, and both before a word
    assert Group({}, (case(0, "y"), case(1, "x"))).first.id == "1"
    # The order of a case's axes tells nothing, and one may be lacking.
    turned = Case("4", {"seed": "2", "state": "free", "filesystem": "ubifs"}, "pass", "")
    assert len(group_by_seed([*cases, turned])) == 2


def test_what_a_case_does_not_say_is_empty() -> None:
    axes = dict(zip((*CORE_AXES, "other"), "abcdef", strict=True))
    bare, full = (Case("0", own, "pass", "") for own in ({}, axes))
    for one, words in ((bare, [""] * 5), (full, [*"abcde"])):
        told = [one.filesystem, one.compression, one.writing, one.state, one.seed]
        assert told == words and one.reason == one.console == ""
    assert values_of([bare, full, bare], "state") == ("d",)
    assert Fact("n", "v") == Fact("n", "v", "", False)
    assert Run("r", "s", "t", "d", "now", ()).missing == 0
    assert FilesystemFact("jffs2", "code", ()).name == "JFFS2"


def test_what_counts_as_passed_short_and_failed() -> None:
    allowed = {"accepted": True}
    cases = (
        case(0, "1"),
        case(1, "1", "short", short=allowed),
        case(2, "2", "short", short={"accepted": False}),
        case(3, "2", "crash"),
        case(4, "2", "skip", filesystem="jffs2"),
    )
    run = Run("r", "s", "t", "d", "now", cases)

    def ids(chosen: Sequence[Case]) -> str:
        return "".join(one.id for one in chosen)

    assert [ids(run.passed), ids(run.short), ids(run.failures), ids(run.skipped)] == [
        "01", "1", "23", "4",
    ]  # fmt: skip
    assert (run.seeds, run.varying) == (("1", "2"), ("filesystem", "seed"))


def test_a_label_has_what_varies() -> None:
    axes = {
        "filesystem": "yaffs2-no-cache",
        "compression": "none",
        "seed": "3",
        "write_mode": "sync",
        "workload.size_max": "9",
        "state": "",
    }
    assert group_label(axes, axes) == (
        "YAFFS2 no-cache · no compression · seed 3 · sync · size max 9"
    )
    assert group_label({"filesystem": "own", "compression": "lzo"}, ("compression",)) == "lzo"
    assert group_label({"filesystem": "own"}, ("filesystem", "x")) == "own"
