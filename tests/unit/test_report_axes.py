"""Axes that something is drawn against: their units, titles and texts."""

from __future__ import annotations

import pytest
from test_report_support import charts_of

from ffslab.report import plots
from ffslab.report.axes import FILES, Axis, axis_of
from ffslab.report.quantity import SPACE
from ffslab.results.schema import DURATION

KIB, MIB = 2**10, 2**20


@pytest.mark.parametrize(
    ("name", "values", "unit", "texts"),
    [
        # A size below half a KiB is given in bytes; 0 is no size.
        ("workload.line_bytes", (512, 8 * MIB), "KiB", ["0.5", "8,192"]),
        ("workload.line_bytes", (511, 8 * MIB), "B", ["511", "8,388,608"]),
        ("workload.line_bytes", (0, 512), "KiB", ["0", "0.5"]),
        ("workload.line_bytes", (0,), "B", ["0"]),
        ("workload.line_bytes", (MIB,), "MiB", ["1"]),
        ("workload.size", (MIB - 1024, MIB), "KiB", ["1,023", "1,024"]),
        ("workload.size", (0, 3 * MIB), "MiB", ["0", "3"]),
        ("workload.size", (100,), "B", ["100"]),
        ("workload.largest_size", (MIB,), "", ["1,048,576"]),
        ("state.settle_ms", (1000, 1500), "s", ["1", "1.5"]),
        ("state.settle_ms", (999, 5000), "ms", ["999", "5,000"]),
        ("state.settle_ms", (0, 1000), "s", ["0", "1"]),
        ("state.settle_ms", (0,), "ms", ["0"]),
        ("workload.pause_us", (0, 100, 1000), "ms", ["0", "0.1", "1"]),
        ("workload.pause_us", (99, 1000), "µs", ["99", "1,000"]),
        ("workload.pause_us", (100, 999), "µs", ["100", "999"]),
        ("workload.pause_us", (1, 100, 1000), "µs", ["1", "100", "1,000"]),
        ("workload.pause_us", (0,), "µs", ["0"]),
        ("state.rate_percent", (10_000,), "%", ["10,000"]),
        ("workload.partitions", (1, 12_345), "", ["1", "12,345"]),
        (FILES, (5, 10_017), "files", ["5", "10,017"]),
        ("cpu_scale", (5,), "", ["5"]),
    ],
)
def test_the_unit_is_the_largest_of_which_there_is_enough(
    name: str, values: tuple[float, ...], unit: str, texts: list[str]
) -> None:
    axis = axis_of(name, values)
    assert (axis.name, axis.unit, axis.values) == (name, unit, values)
    assert [axis.number(value) for value in values] == texts


@pytest.mark.parametrize(
    ("name", "title", "heading", "word"),
    [
        ("workload.mix_ratio", "", "mix ratio (requests : 1)", "mix ratio"),
        ("workload.volume_bytes", "", "volume (B)", "volume"),
        # Of a key without a title, its words without the unit.
        ("workload.line_bytes", "", "line (B)", "line"),
        ("workload.rest_us", "", "rest (µs)", "rest"),
        ("state.settle_ms", "", "settle (ms)", "settle"),
        ("workload.fsync_every_n", "", "fsync every n", "fsync every n"),
        # A workload's own.
        ("workload.volume_bytes", "how much", "how much (B)", "how much"),
        ("workload.fsync_every", "lines (all)", "lines (all)", "lines"),
    ],
)
def test_a_title_is_without_the_unit(name: str, title: str, heading: str, word: str) -> None:
    axis = axis_of(name, (1.0, 2.0), title)
    assert (axis.heading, axis.word) == (heading, word)
    assert title or axis_of(name, (1.0, 2.0)) == axis


def test_a_value_is_a_word_or_a_number_with_its_unit() -> None:
    size = Axis("n", "size", "KiB", 1024, (512, 1024), names=((0, "none"),))
    assert (size.number(0), size.value_text(0), size.text(0)) == ("none", "none", "none")
    assert (size.number(512), size.value_text(512)) == ("0.5", f"0.5{SPACE}KiB")
    assert size.text(2048) == f"2{SPACE}KiB"
    # 1,024,000 ÷ 1,024 is 1,000; 1,234,567 ÷ 1,024 is 1,205.63….
    assert (size.number(1_024_000), size.number(1_234_567)) == ("1,000", "1206")
    # Where there is neither, the title says what the number is of.
    count = Axis("n", "lines (all)", "", 1, (1, 2), names=((0, "never"),))
    assert (count.number(5), count.value_text(5), count.text(5)) == ("5", "5", "lines 5")
    assert (count.value_text(0), count.text(0)) == ("never", "never")
    assert axis_of("n", (0.0, 5.0), "", ((0.0, "never"),)).text(0.0) == "never"


def test_an_axis_is_logarithmic_from_a_factor_of_eight() -> None:
    told = [((1.0, 8.0), True), ((1.0, 2.0, 8.0), True), ((1.0, 7.9), False), ((2.0, 8.0), False)]
    for values, logarithmic in (*told, ((0.0, 8.0), False)):
        assert axis_of("n", values).logarithmic is logarithmic
    # A value with a word has no place on a scale.
    assert not axis_of("n", (1.0, 100.0), "", ((1.0, "one"),)).logarithmic


def test_a_value_that_is_no_number_stands_last_and_names_its_curve() -> None:
    axis = axis_of("workload.fsync_every", (0, 1, 10))
    points = [plots.Point("UBIFS", "ubifs", 10 - x, x=x) for x in axis.values]
    chart = charts_of(plots.curves(points, DURATION, axis, "Time", "time"))["time"]
    assert chart["spec"]["layer"][0]["encoding"]["x"]["sort"] == ["1", "10", "∞"]
    rows = chart["data"]["rows"]
    named = [x for x, end in zip(rows["x"], rows["end"], strict=True) if end is not None]
    assert named == ["∞"]


def test_dots_are_named_in_the_row_with_most_room_the_middle_one_below() -> None:
    """Not in the last row: there the axis is below."""
    rows = {"A": (1, 1.1, 9), "B": (1, 3, 10), "C": (1, 5, 25)}
    points = [
        plots.Point(label, "ubifs", value * 1e9, place)
        for label, values in rows.items()
        for place, value in zip(("low", "mid", "high"), values, strict=True)
    ]
    chart = charts_of(plots.dots(points, DURATION, "Time", "time"))["time"]
    named = [
        (layer["mark"]["dy"], sorted({"low", "mid", "high"} & {*str(layer).split('"')}))
        for layer in chart["spec"]["layer"]
        if "dy" in layer["mark"] and 'datum.label === "B"' in str(layer)
    ]
    assert named == [(-11, ["high", "low"]), (14, ["mid"])]
