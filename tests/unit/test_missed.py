"""Limits of a study: which figures are beyond one, and which limits cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from ffslab.errors import SpecError
from ffslab.model.bounds import Amount, Limit, LimitFile, parse_amount
from ffslab.model.units import SIZE_FACTORS
from ffslab.results.missed import Missed, check_limit, judged, scale_of
from ffslab.results.schema import BY_NAME, SPACE_LEFT, Figure
from ffslab.workloads.figures import all_metrics, metrics_of

MOUNT = Figure(BY_NAME["duration_ns"], "mount", 900_000_000)
RATE = Figure(BY_NAME["write_bytes_per_s"], "creation", 4_000_000)
PAGES = Figure(BY_NAME["pages_programmed"], "workload", 436)
SPACE = Figure(SPACE_LEFT, "mount", 3 * 2**20)
FIGURES = (MOUNT, RATE, PAGES, SPACE)


def limit(figure: str, **bounds: Any) -> Limit:
    return LimitFile.model_validate({"figure": figure, **bounds}).limit


def missed(stated: Limit) -> list[Missed]:
    return [miss for _, miss in judged("ubifs-s1", FIGURES, [stated]) if miss is not None]


@pytest.mark.parametrize(
    ("figure", "kept", "beyond"),
    [
        ("mount.time", {"at_most": "900 ms"}, {"at_most": "899.999 ms"}),
        ("mount.time", {"at_most": "0.9 s"}, {"at_most": "0.89s"}),
        ("mount.duration_ns", {"at_most": 900_000_000}, {"at_most": 899_999_999}),
        ("mount.time", {"at_least": "900000 us"}, {"at_least": "900001 µs"}),
        ("creation.write_bytes_per_s", {"at_least": "4 MB/s"}, {"at_least": "4 MiB/s"}),
        ("workload.pages_programmed", {"at_most": 436}, {"at_most": 435}),
        ("workload.pages_programmed", {"at_most": "436 pages"}, {"at_most": "435"}),
        ("mount.available", {"at_least": "3 MiB"}, {"at_least": "3.5 MiB"}),
        ("mount.available", {"at_least": "3 MB", "at_most": "4 MB"}, {"at_most": "3 MB"}),
    ],
)
def test_what_is_at_a_limit_keeps_it(figure: str, kept: Any, beyond: Any) -> None:
    assert missed(limit(figure, **kept)) == []
    (miss,) = missed(limit(figure, **beyond))
    assert miss.case == "ubifs-s1" and miss.is_most == ("at_most" in beyond)


def test_a_miss_says_figure_value_limit_and_margin_in_the_units_of_the_limit() -> None:
    (late,) = missed(limit("mount.time", at_most="800 ms"))
    assert late.text == "mount.duration_ns is 900 ms, at most 800 ms: 12.5 % above"
    (slow,) = missed(limit("creation.write_bytes_per_s", at_least="5 MB/s"))
    assert slow.text == "creation.write_bytes_per_s is 4 MB/s, at least 5 MB/s: 20 % below"
    assert slow.plain == {
        "figure": "creation.write_bytes_per_s",
        "value": 4_000_000,
        "at_least": 5_000_000,
        "margin_percent": 20,
    }


def test_the_margin_is_of_the_size_of_the_limit() -> None:
    difference = next(metric for metric in all_metrics() if metric.name == "difference")
    below = Figure(difference, "read", -5)
    ((_, miss),) = judged("a", [below], [limit("read.difference", at_most=-10)])
    assert miss is not None and miss.margin_percent == 50
    assert miss.text == "read.difference is -5, at most -10: 50 % above"


@pytest.mark.parametrize(
    ("value", "at_most", "told"),
    [
        (1_234_567, 1_000_000, "is 1,234,567, at most 1,000,000: 23.5 % above"),
        (1_234_567.75, 1_000_000, "is 1,234,570, at most 1,000,000: 23.5 % above"),
        (436.0625, 10, "is 436.062, at most 10: 4,260 % above"),
        (1.0000005, 1, "is 1, at most 1: 5e-05 % above"),
    ],
)
def test_counts_are_told_to_the_last_and_others_to_six_digits(
    value: float, at_most: int, told: str
) -> None:
    figure = Figure(BY_NAME["erases_mean"], "workload", value)
    ((_, miss),) = judged("a", [figure], [limit("workload.erases_mean", at_most=at_most)])
    assert miss is not None and miss.text == f"workload.erases_mean {told}"


def test_of_a_limit_of_zero_there_is_no_margin() -> None:
    (miss,) = missed(limit("workload.pages_programmed", at_most=0))
    assert miss.margin_percent is None
    assert miss.text == "workload.pages_programmed is 436, at most 0"


def test_both_sides_of_a_range_are_limits() -> None:
    words = "workload.pages_programmed"
    assert missed(limit(words, at_least=400, at_most=500)) == []
    assert not missed(limit(words, at_least=437, at_most=500))[0].is_most
    assert missed(limit(words, at_least=400, at_most=435))[0].is_most


def test_a_limit_in_decimals_is_exact() -> None:
    exact = Figure(BY_NAME["duration_ns"], "mount", 1_005_000)
    for key in ("at_most", "at_least"):  # 1.005 × 10^6 is a little less in floating point
        for text, value in (
            ("1.005 ms", 1_005_000),
            ("1.1 ms", 1_100_000),
            ("8.001 ms", 8_001_000),  # 8000999.999999999
            ("8.002 ms", 8_002_000),  # 8002000.000000001
        ):
            figure = replace(exact, value=value)
            ((_, miss),) = judged("a", [figure], [limit("mount.time", **{key: text})])
            assert miss is None
    exact = Figure(BY_NAME["bytes_written"], "creation", 123_456_789_012_345)
    ((_, miss),) = judged("a", [exact], [limit("*.bytes_written", at_most=123_456_789_012_345)])
    assert miss is None


def test_a_pattern_of_places_is_a_limit_of_each() -> None:
    stated = limit("*.time", at_most="1 ms")
    others = (MOUNT, Figure(BY_NAME["duration_ns"], "creation", 2_000_000))
    told = [miss.figure.place for _, miss in judged("a", others, [stated]) if miss is not None]
    assert told == ["mount", "creation"]


def test_a_limit_of_no_figure_judges_nothing() -> None:
    assert list(judged("ubifs-s1", FIGURES, [limit("mount-1.time", at_most="1 ms")])) == []


def test_a_limit_is_for_the_cases_of_its_pattern() -> None:
    stated = limit("mount.time", case="ubifs-*", at_most="1 ms")
    assert stated.is_for("ubifs-s1") and not stated.is_for("jffs2-s1")
    assert limit("mount.time", at_most="1 ms").is_for("anything")


def test_units_of_times_sizes_and_rates_are_those_of_the_metrics() -> None:
    for metric in all_metrics():
        if metric.unit:
            assert scale_of(metric.unit, metric) == metric.scale, metric.name
        if metric.unit and metric.unit in SIZE_FACTORS:
            assert scale_of("GiB", metric) == 2**30
        elif metric.name.endswith("_bytes_per_s"):
            assert scale_of("KiB/s", metric) == 1024
        elif metric.name.endswith("_ns"):
            assert scale_of("min", metric) == 60e9
        else:
            assert scale_of("ms", metric) is scale_of("MiB", metric) is None


@pytest.mark.parametrize(
    ("table", "told", "cause"),
    [
        ({"figure": "mount.tiem", "at_most": "1 s"}, "did you mean 'mount.time'", "misspelt"),
        ({"figure": "mount.time", "at_most": "1 MiB"}, "duration_ns has no unit 'MiB'", "ms, s"),
        ({"figure": "mount.time", "at_most": "1 mss"}, "has no unit 'mss'", "ms, s"),
        ({"figure": "mount.time", "at_least": 5}, "at_least = 5 has no unit", "duration_ns says"),
        ({"figure": "a.pages_read", "at_most": "3 ms"}, "has no unit 'ms'", "units: pages"),
        ({"figure": "a.count", "at_most": "3 ms"}, "has no unit 'ms'", "count is a plain number"),
        (
            {"figure": "mount.time", "at_most": "1 ms", "at_least": "1 s"},
            "at_least is more than at_most",
            "other's place",
        ),
        # The chip's time, or the bytes of an image's file.
        ({"figure": "image.flash", "at_most": "3 MiB"}, "flash_ns has no unit 'MiB'", "ms, s"),
    ],
)
def test_a_limit_that_no_figure_can_keep_is_an_error(table: Any, told: str, cause: str) -> None:
    with pytest.raises(SpecError) as raised:
        check_limit(LimitFile.model_validate(table).limit, all_metrics(), "x.toml")
    assert "x.toml: limits: " in raised.value.message and told in raised.value.message
    assert cause in raised.value.cause and raised.value.remedy


@pytest.mark.parametrize(
    ("table", "remedy"),
    [
        ({"figure": "mount.time", "at_least": 5}, 'write at_least = "5 ms"'),
        ({"figure": "mount.available", "at_least": 5.5}, 'write at_least = "5.5 MiB"'),
        ({"figure": "a.first_bad", "at_least": 7}, 'write at_least = "7 MiB"'),
        ({"figure": "a.read_bytes_per_s", "at_most": "5 s"}, 'write at_most = "5 MB/s"'),
        ({"figure": "a.pages_read", "at_most": "3 ms"}, 'write at_most = "3 pages"'),
        ({"figure": "a.count", "at_most": "3 ms"}, "write at_most = 3"),
    ],
)
def test_an_error_of_the_unit_says_what_would_be_right(table: Any, remedy: str) -> None:
    with pytest.raises(SpecError) as raised:
        check_limit(LimitFile.model_validate(table).limit, all_metrics(), "x.toml")
    assert raised.value.remedy == remedy
    key = "at_most" if "at_most" in table else "at_least"
    assert f"x.toml: limits: {table['figure']}: {key} = " in raised.value.message


@pytest.mark.parametrize(
    "table",
    [
        {"figure": "v1.2.duration_ns", "at_most": 5},
        {"figure": "mount.time", "at_least": "1 s", "at_most": "1000 ms"},
        {"figure": "a.pages_read", "at_most": 5},
        {"figure": "a.files_per_s", "at_least": "5 1/s"},
    ],
)
def test_a_limit_that_can_be_kept_is_none(table: Any) -> None:
    check_limit(LimitFile.model_validate(table).limit, all_metrics(), "x.toml")


def test_units_of_times() -> None:
    units = {"ns": 1, "us": 1000, "µs": 1000, "ms": 10**6, "s": 10**9}
    units |= {"min": 60 * 10**9, "h": 3600 * 10**9}
    for unit, scale in units.items():
        assert scale_of(unit, MOUNT.metric) == scale_of(unit, BY_NAME["max_ns"]) == scale
    rate = next(metric for metric in all_metrics() if metric.unit == "1/s")
    assert scale_of("1/s", rate) == scale_of("/s", rate) == 1


def test_a_unit_of_another_version_judges_nothing() -> None:
    assert missed(limit("mount.time", at_most="1 fortnight")) == []


def test_a_metric_of_another_workload_is_an_error() -> None:
    stated = limit("measure.response_mean", at_most="1 ms")
    check_limit(stated, metrics_of(["micro"]), "x.toml")
    with pytest.raises(SpecError, match="no case has a figure"):
        check_limit(stated, metrics_of(["ffsmark"]), "x.toml")


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("800 ms", Amount(800, "ms")),
        (" 0.5s ", Amount(0.5, "s")),
        ("5 MB/s", Amount(5, "MB/s")),
        ("200 1/s", Amount(200, "1/s")),
        ("99 %", Amount(99, "%")),
        ("-1", Amount(-1, "")),
        (12, Amount(12, "")),
    ],
)
def test_amounts(value: Any, amount: Amount) -> None:
    assert parse_amount(value) == amount


@pytest.mark.parametrize(
    "value", ["", "ms", "1,000", "1 2", "1 ms s", "1e3", "0x10", "٣ ms", "9" * 20, 10**19, 1e30]
)
def test_other_texts_are_no_amounts(value: Any) -> None:
    with pytest.raises(ValueError, match=r"number|at most"):
        parse_amount(value)


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("figure", "a", ""),
        ("figure", "a" * 200, "a" * 201),
        ("case", "b", ""),
        ("case", "b" * 255, "b" * 256),
        ("at_most", 10**18, 10**18 + 1000),
        ("at_most", 1e18, 1.001e18),
        ("at_least", -(10**18), -(10**18) - 1000),
        ("at_least", "-1000000000000000000", "-1000000000000001000"),
        ("at_least", 0, True),
        ("at_most", 0.5, [1]),
    ],
)
def test_keys_have_ranges(key: str, good: Any, bad: Any) -> None:
    table = {"figure": "virtual", "at_most": "1 s", key: good}
    assert LimitFile.model_validate(table).limit.figure
    with pytest.raises(ValidationError, match=key):
        LimitFile.model_validate({**table, key: bad})
