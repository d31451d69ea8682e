"""The report's figures against values worked out by hand: each sum stands beside its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ffslab.compare.standing import Crossing, Extent, standing
from ffslab.rating.factors import sign_of, signs_of
from ffslab.report.axes import Axis
from ffslab.report.configurations import place_text
from ffslab.report.data import (
    Case,
    Fact,
    FilesystemFact,
    Group,
    Latency,
    Run,
    group_by_seed,
    group_label,
    ordered,
    packed_buckets,
    values_of,
    variants,
)
from ffslab.report.distribution import PERCENTILES, Distribution, merge
from ffslab.report.quantity import (
    Metric,
    duration,
    duration_range,
    grouped,
    significant,
    times,
    unbroken,
)
from ffslab.report.standings import (
    CUT,
    behind_text,
    change_text,
    crossing_text,
    extent_text,
    factors_text,
    lacking_text,
    listed,
    marked,
    spans,
    who_is_first,
)
from ffslab.report.wear import Scale, Wear, common_scale, draw
from ffslab.workloads.append_log.metrics import PAGES
from ffslab.workloads.micro.report.figures import _idle_share, chosen
from ffslab.workloads.tree.report.criteria import (
    MEMORY,
    SIZE,
    TIME,
    Criterion,
    Mark,
    Rated,
    by_filesystem,
    lines_of,
    rate,
)
from ffslab.workloads.tree.report.figures import cpu_percent, size_text

SPACE = "\u00a0"


def plain(text: str) -> str:
    """With blanks and dashes that a keyboard has."""
    return text.replace(SPACE, " ").replace("\u2060–\u2060", "-")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.045678, "0.0457"),
        (0.5, "0.500"),
        (1, "1.00"),
        (9.996, "10.0"),
        (12.345, "12.3"),
        (-12.345, "-12.3"),
        (123.45, "123"),
        (999.4, "999"),
        (999.6, "1,000"),
        (1000, "1,000"),
        (1000.6, "1,001"),
        (-1234.4, "-1,234"),
        (1234.6, "1,235"),
        (1_234_567, "1,234,567"),
    ],
)
def test_three_significant_figures(value: float, text: str) -> None:
    assert plain(significant(value)) == text


def test_figures_may_be_fewer() -> None:
    assert (significant(12.345, 2), significant(0.12345, 1), significant(5, 1)) == (
        "12",
        "0.1",
        "5",
    )
    assert (significant(123, 1), significant(999.5, 4)) == ("100", "999.5")
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


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (-999, "-999 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (0.25, "0.250 ns"),
        (1000, "1.00 µs"),
        (-1500, "-1.50 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (999_499_000, "999 ms"),
        (999_500_000, "1.00 s"),
        (2_500_000_000, "2.50 s"),
        (1.5e12, "1,500 s"),
    ],
)
def test_a_duration_has_the_unit_that_fits(ns: float, text: str) -> None:
    assert plain(duration(ns)) == text


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (1500, 1000, 2000, "1.50 µs (1.00-2.00)"),
        (12, 5, 900, "12 ns (5.00-900)"),
        (2e6, 9e5, 3e6, "2.00 ms (0.900-3.00)"),
        (5e9, 4e9, 7e9, "5.00 s (4.00-7.00)"),
        (5e9, 5.001e9, 5.002e9, "5.00 s"),
    ],
)
def test_a_range_is_in_the_unit_of_its_mean(
    mean: float, low: float, high: float, text: str
) -> None:
    assert plain(duration_range(mean, low, high)) == text


def test_a_metric_is_shown_in_its_unit() -> None:
    rate = Metric("rate", "throughput", "MB/s", 1e6)
    assert plain(rate.text(2_500_000)) == "2.50 MB/s" and rate.axis == "throughput (MB/s)"
    blocks = Metric("blocks", "blocks", "blocks", integer=True)
    texts = [plain(blocks.text(value)) for value in (0, 1, 2, 1234, 1.5)]
    assert texts == ["0 blocks", "1 block", "2 blocks", "1,234 blocks", "1.50 blocks"]
    share = Metric("share", "share", "", 2.0)
    assert (share.text(3), share.axis) == ("1.50", "share")
    assert share.meaning == ""
    assert Metric("s", "s", "seconds").text(1) == f"1.00{SPACE}seconds"


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


def latency(buckets: Sequence[tuple[int, int]], total: int, low: int, high: int) -> Latency:
    count = sum(bucket[1] for bucket in buckets)
    return Latency("transactions", "write", count, total, low, high, packed_buckets(buckets))


def test_histograms_are_merged() -> None:
    # Bucket 300 is 344 and 345, as in test_metrics.
    one = latency(((1, 2), (300, 1)), 346, 1, 344)
    two = latency(((4, 1), (300, 4)), 1380, 4, 345)
    nothing = latency((), 0, 0, 0)
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


FILES = Axis("files", "size of the tree", "files", 1.0, (1.0, 2.0, 4.0, 8.0))
SIZES = Axis("workload.request_bytes", "request size", "KiB", 1024.0, (2048.0, 4096.0, 65536.0))
BARE = Axis("x", "step (requests)", "", 1.0, (1.0, 2.0))
FALLING = {1.0: 8.0, 2.0: 4.0, 4.0: 2.0, 8.0: 1.0}
LEVEL = dict.fromkeys(FALLING, 3.0)
LAST = dict.fromkeys(FALLING, 9.0)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([2048.0], "2 KiB"),
        ([4096.0, 2048.0], "2-4 KiB"),
        ([2048.0, 65536.0], "2, 64 KiB"),
        ([65536.0, 4096.0, 2048.0], "2-64 KiB"),
    ],
)
def test_points_are_told_as_runs_of_neighbours(values: list[float], text: str) -> None:
    assert plain(spans(SIZES, values, [65536.0, 2048.0, 4096.0])) == text
    assert plain(spans(BARE, [1.0, 2.0], [2.0, 1.0])) == "1-2"


def test_words_are_listed() -> None:
    assert (listed(["a"]), listed(["a", "b", "c"])) == ("a", "a, b and c")
    assert (marked("a", {"a": "†"}), marked("b", {"a": "†"})) == ("a†", "b")


def test_a_range_of_ratios_says_where_its_ends_are() -> None:
    found = Extent(0.5, 3.0, 4.0, 8.0, 3)
    assert plain(extent_text(found)) == "2.00 times faster to 3.00 times slower"
    assert plain(factors_text(found)) == "×0.500-×3.00"
    assert factors_text(Extent(2.0, 2.001, 4.0, 8.0, 2)) == "×2.00"
    text = plain(extent_text(found, FILES))
    assert text == "2.00 times faster (4 files) to 3.00 times slower (8 files)"
    assert extent_text(Extent(2.0, 2.001, 4.0, 8.0, 2), FILES) == "2.00 times slower"
    text = extent_text(Extent(0.2, 0.5, 4.0, 8.0, 2), FILES, PAGES)
    assert plain(text) == "50 % (8 files) to 80 % (4 files) fewer pages"


def test_who_is_first_in_words() -> None:
    both = standing({"a": FALLING, "b": LEVEL, "c": LAST})
    assert both is not None
    text = plain(who_is_first(both, FILES, {"a": "†"}))
    assert text == "fastest: **b** at 1-2 files; **a†** at 4-8 files"
    # Without an axis, and with one first at all points.
    assert who_is_first(both, None, {}) == "**b** is fastest"
    one = standing({"b": LEVEL, "c": LAST})
    assert one is not None
    assert who_is_first(one, FILES, {}) == "**b** is fastest at every size of the tree"
    assert who_is_first(one, None, {}) == "**b** is fastest"
    single = standing({"b": {1.0: 3.0}, "c": {1.0: 9.0}})
    assert single is not None
    assert who_is_first(single, FILES, {}) == "**b** is fastest"
    alike = standing({"a": LEVEL, "b": LEVEL})
    assert alike is not None
    text = plain(who_is_first(alike, FILES, {}))
    assert text.startswith("**a** and **b** (within 2 % of each other) are fastest at every")


def test_two_points_may_have_one_first_or_two() -> None:
    two = {"a": {1.0: 8.0, 8.0: 1.0}, "b": {1.0: 3.0, 8.0: 3.0}}
    found = standing(two)
    assert found is not None
    text = plain(who_is_first(found, FILES, {"a": CUT}))
    assert text == "fastest: **b** at 1 files; **a†** at 8 files"
    found = standing({**two, "c": {1.0: 1.0, 8.0: 0.5}})
    assert found is not None
    assert who_is_first(found, FILES, {}) == "**c** is fastest at every size of the tree"


def test_only_some_reigns_are_told() -> None:
    points = [float(n) for n in range(1, 7)]
    for count, more in ((4, ""), (5, "; and so on")):
        turns = {point: 1.0 + 9 * (n % 2) for n, point in enumerate(points[:count])}
        other = {point: 11.0 - value for point, value in turns.items()}
        found = standing({"a": turns, "b": other})
        assert found is not None and len(found.reigns) == count
        text = plain(who_is_first(found, FILES, {}))
        parts = "**a** at 1 files; **b** at 2 files; **a** at 3 files; **b** at 4 files"
        assert text == f"fastest: {parts}{more}"


def test_who_is_behind_and_who_is_last() -> None:
    lines = {name: dict.fromkeys(FALLING, 3.0 * n) for n, name in enumerate("abcde", 1)}
    found = standing(lines)
    assert found is not None
    assert behind_text(found, None, {}, 2) == "; behind: b 2.00 times slower, c 3.00 times slower"
    text = behind_text(found, FILES, {"e": "†"}, 1, "e")
    assert text == "; behind: b 2.00 times slower, last e† 5.00 times slower"
    assert behind_text(found, None, {}, 1, "b") == "; behind: b 2.00 times slower"
    text = behind_text(found, None, {}, 2, "c")
    assert text == "; behind: b 2.00 times slower, last c 3.00 times slower"
    assert behind_text(found, None, {}, 0, "a") == ""


def test_crossings_and_what_is_lacking_in_words() -> None:
    text = plain(crossing_text(Crossing("A", "B", 2048.0, 65536.0), SIZES))
    assert text == "A and B between 2 and 64 KiB (B faster beyond)"
    found = standing({"a": FALLING, "b": LEVEL, "c": {2.0: 1.0}, "d": {1.0: 1.0, 2.0: 1.0}})
    assert found is not None
    text = plain(lacking_text(found, FILES))
    assert text == ". Without: d at 4-8 files; c at 1, 4-8 files"
    assert lacking_text(found, None) == ""
    whole = standing({"a": FALLING, "b": LEVEL})
    assert whole is not None and lacking_text(whole, FILES) == ""


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.99, 1.02, "is practically the same, 1 % faster to 2 % slower"),
        (1 / 1.02, 1.0, "is practically the same, the same to 2 % faster"),
        (1.0, 1.0, "is the same"),
        (1.0, 1.0004, "is practically the same"),
        (0.9996, 1.5, "is **the same (1 files) to 1.50 times slower (8 files)**"),
        (1.0, 1.03, "is **the same (1 files) to 3 % slower (8 files)**"),
        (2.0, 2.0, "is **2.00 times slower**"),
        (0.5, 1.0, "is **the same (8 files) to 2.00 times faster (1 files)**"),
        (0.25, 0.25, "is **4.00 times faster**"),
        (0.97, 1.01, "is **3 % faster (1 files) to 1 % slower (8 files)**"),
        (2.0, 4.0, "is **2.00 (1 files) to 4.00 (8 files) times slower**"),
        (0.25, 0.5, "is **2.00 (8 files) to 4.00 (1 files) times faster**"),
        (1.05, 1.1, "is **5 % (1 files) to 10 % (8 files) slower**"),
    ],
)
def test_a_change_of_a_duration_in_words(low: float, high: float, text: str) -> None:
    assert plain(change_text(Extent(low, high, 1.0, 8.0, 2), FILES)) == text


def case(number: int, seed: str, outcome: str = "pass", **more: object) -> Case:
    axes = {"filesystem": more.pop("filesystem", "ubifs"), "state": "free", "seed": seed}
    metrics = more.pop("metrics", {})
    return Case(str(number), axes, outcome, "", metrics=metrics, **more)  # type: ignore[arg-type]


def test_a_group_is_the_mean_over_its_seeds() -> None:
    cases = [
        case(0, "10", metrics={"ns": 2.0}),
        case(1, "9", metrics={"ns": 7.0, "only": 5.0}),
        case(2, "1", filesystem="jffs2", metrics={"ns": 1.0}),
        case(3, "x", metrics={}),
    ]
    ubifs, jffs2 = group_by_seed(cases)
    assert ubifs.axes == {"filesystem": "ubifs", "state": "free"}
    assert [one.id for one in ubifs.cases] == ["0", "1", "3"]
    assert (ubifs.values("ns"), ubifs.mean("ns"), ubifs.mean("only")) == ((2.0, 7.0), 4.5, 5.0)
    assert (ubifs.mean("none"), jffs2.mean("ns")) == (None, 1.0)
    assert ubifs.first.id == "1"  # 9 is before 10, and both before a word
    assert Group({}, (case(0, "y"), case(1, "x"))).first.id == "1"
    # The order of a case's axes tells nothing, and one may be lacking.
    turned = Case("4", {"seed": "2", "state": "free", "filesystem": "ubifs"}, "pass", "")
    assert len(group_by_seed([*cases, turned])) == 2


def test_what_a_case_does_not_say_is_empty() -> None:
    bare = Case("0", {}, "pass", "")
    words = (bare.filesystem, bare.compression, bare.writing, bare.state, bare.seed)
    assert (*words, bare.reason, bare.console) == ("",) * 7
    axes = {
        "filesystem": "a", "compression": "b", "write_mode": "c", "state": "d", "seed": "e",
    }  # fmt: skip
    full = Case("0", axes, "pass", "")
    words = (full.filesystem, full.compression, full.writing, full.state, full.seed)
    assert words == tuple("abcde")
    assert values_of([bare, full, bare], "state") == ("d",)
    assert Fact("n", "v") == Fact("n", "v", "", False)
    assert Run("r", "s", "t", "d", "now", ()).missing == 0
    assert FilesystemFact("jffs2", "code", ()).name == "JFFS2"


def test_file_systems_with_their_variants() -> None:
    names = ("yaffs2", "ubifs", "yaffs2-no-cache", "yaffs", "yaffs2-eager")
    cases = [case(n, "1", filesystem=name) for n, name in enumerate(names)]
    assert variants(cases) == {"yaffs2": ("yaffs2-no-cache", "yaffs2-eager")}


def test_groups_are_sorted_by_what_appeared_first() -> None:
    def group(**axes: str) -> Group:
        return Group(axes, ())

    given = [group(a="z", b="1"), group(a="y", b="2"), group(a="z", b="2"), group(a="y", b="1")]
    order = [(g.axes["a"], g.axes["b"]) for g in ordered(given, ["a"], ["b"])]
    assert order == [("z", "1"), ("z", "2"), ("y", "1"), ("y", "2")]
    lacking = group(b="2")
    assert ordered([*given, lacking], ["a"], ["b"])[-1] is lacking
    order = [(g.axes["a"], g.axes["b"]) for g in ordered(given, ["b"], ["a"])]
    assert order == [("z", "1"), ("y", "1"), ("z", "2"), ("y", "2")]


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


TWO_SEEDS = {
    "a": {(2.0, "1"): 100.0, (2.0, "2"): 900.0, (1.0, "1"): 10.0, (1.0, "2"): 30.0},
    "b": {(1.0, "1"): 40.0, (1.0, "2"): 40.0, (1.0, "3"): 999.0, (2.0, "1"): 50.0},
    "c": {(3.0, "1"): 5.0},
    "d": {},
}


def test_ratings_are_of_means_over_the_seeds_that_all_have() -> None:
    """At 1 seeds 1 and 2: 20 and 40. At 2 seed 1 alone: 100 and 50. At 3 only c has a value."""
    time = Criterion("t", TIME, TWO_SEEDS)
    lines = lines_of(time)
    assert lines == {
        "a": {1.0: 20.0, 2.0: 100.0},
        "b": {1.0: 40.0, 2.0: 50.0},
        "c": {3.0: 5.0},
        "d": {},
    }
    assert [list(line) for line in lines.values()] == [[1.0, 2.0], [1.0, 2.0], [3.0], []]
    rated = rate(time)
    assert rated is not None
    assert (rated.criterion, rated.points) == (time, 2)
    assert rated.marks == {
        "a": Mark("+", Extent(1.0, 2.0, 1.0, 2.0, 2)),
        "b": Mark("+", Extent(1.0, 2.0, 2.0, 1.0, 2)),
    }
    assert plain(rated.marks["a"].text) == "×1.00-×2.00"
    # What is less than a criterion's least counts as that.
    memory = Criterion("m", MEMORY, {"a": {(1.0, "1"): 0.0}, "b": {(1.0, "1"): 45_056.0}}, True)
    assert lines_of(memory) == {"a": {1.0: 4096.0}, "b": {1.0: 45_056.0}}
    rated = rate(memory)
    assert rated is not None
    assert rated.marks == {
        "a": Mark("+", Extent(1.0, 1.0, 1.0, 1.0, 1), ("4.00 KiB",)),
        "b": Mark("−", Extent(11.0, 11.0, 1.0, 1.0, 1), ("44.0 KiB",)),
    }
    assert [mark.text for mark in rated.marks.values()] == ["4.00 KiB, best", "44.0 KiB, ×11.0"]
    assert rate(Criterion("t", TIME, {"a": {(1.0, "1"): 1.0}, "b": {}})) is None
    assert plain(time.text(999.6)) == "1.00 µs"  # a duration is whole nanoseconds
    assert (time.word, time.topic) == ("", "")


def test_marks_of_a_file_system_have_the_range_of_its_configurations() -> None:
    marks = {
        "jffs2 b": Mark("", Extent(2.0, 12.0, 6.0, 7.0, 1), ("y",)),
        "jffs2 a": Mark("", Extent(1.0, 3.0, 4.0, 5.0, 2), ("x",)),
        "jffs2 c": Mark("", Extent(1.5, 1.5, 8.0, 9.0, 4), ("z",)),
        "ubifs": Mark("", Extent(3.0, 3.0, 1.0, 1.0, 3)),
    }
    run = SimpleNamespace(lines={label: {"filesystem": label[:5]} for label in marks})
    rated = Rated(Criterion("t", TIME, {}), marks, 5)
    found = by_filesystem(run, rated)  # type: ignore[arg-type]
    assert found == Rated(
        rated.criterion,
        {
            "JFFS2": Mark("+\u2060/\u2060−", Extent(1.0, 12.0, 4.0, 7.0, 7), ("x", "y")),
            "UBIFS": Mark("o", Extent(3.0, 3.0, 1.0, 1.0, 3)),
        },
        5,
    )
    one = Rated(rated.criterion, {"ubifs": marks["ubifs"]}, 5)
    assert by_filesystem(run, one) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("factor", "time", "size"),
    # As they are shown: 2.004 is ×2.00, 9.996 is ×10.0, and 1.2549 is ×1.25.
    [
        (1.25, "+", "+"),
        (1.2549, "+", "+"),
        (1.26, "+", "o"),
        (1.99, "+", "o"),
        (2.004, "+", "−"),
        (2.01, "o", "−"),
        (9.99, "o", "−"),
        (9.996, "−", "−"),
    ],
)
def test_signs_of_factors(factor: float, time: str, size: str) -> None:
    assert (sign_of(factor, TIME), sign_of(factor, MEMORY), sign_of(factor, SIZE)) == (
        time, time, size,
    )  # fmt: skip
    assert signs_of(Extent(1.0, factor, 1.0, 2.0, 2), TIME) == (
        time if time == "+" else f"+\u2060/\u2060{time}"
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 KiB"),
        (512, "0.500 KiB"),
        (1_048_575, "1,024 KiB"),
        (1_048_576, "1.00 MiB"),
        (-1024, "-1.00 KiB"),
        (-2_097_152, "-2.00 MiB"),
    ],
)
def test_sizes_have_the_unit_that_fits(size: int, text: str) -> None:
    assert plain(size_text(size)) == text


@pytest.mark.parametrize(
    ("count", "found"),
    [
        (0, ()),
        (4, (0, 1, 2, 3)),
        (5, (0, 1, 3, 4)),  # 4 ÷ 3 = 1.33 and 2.67 of the last place
        (10, (0, 3, 6, 9)),
    ],
)
def test_a_few_values_are_spread_over_all(count: int, found: tuple[int, ...]) -> None:
    assert chosen([float(n) for n in range(count)]) == found


def test_shares_of_time() -> None:
    """30 of 120 ns are the processor's; 40 of 100 ns of the flash's work come after a request."""
    step = SimpleNamespace(split=SimpleNamespace(cpu_ns=30), duration_ns=120)
    assert cpu_percent(step) == 25  # type: ignore[arg-type]
    assert cpu_percent(SimpleNamespace(split=None, duration_ns=1)) is None  # type: ignore[arg-type]
    step.duration_ns = 0
    assert cpu_percent(step) is None  # type: ignore[arg-type]

    def sample(panel: str, *work: tuple[str, int]) -> Any:
        streams = [
            SimpleNamespace(tasks=[SimpleNamespace(when=when, busy_ns=busy)]) for when, busy in work
        ]
        return SimpleNamespace(
            panel=panel, case=SimpleNamespace(pattern="random-write", streams=streams)
        )

    work = (("request", 50), ("after", 40), ("request", 10))
    assert _idle_share(sample("random-write", *work)) == 40
    assert _idle_share(sample("sequential-read", *work)) is None
    assert _idle_share(sample("random-write")) is None
