"""What a comparison says: words for ratios, values, ranges, bands and causes; tables of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from compare_support import (
    MS,
    banded,
    compared,
    only,
    phase,
    result,
    row_of,
    scaled,
    seeds,
    spec,
    with_figure,
)

from ffslab.compare.band import Band
from ffslab.compare.tables import (
    told_change,
)
from ffslab.compare.words import (
    band_text,
    band_words,
    cause_words,
    change_words,
    counts_words,
    figure_title,
    percent_text,
    range_words,
    ratio_words,
    signed_percent,
    value_text,
    values_text,
)
from ffslab.results.schema import BY_NAME, Figure
from ffslab.workloads.figures import all_metrics

TIME = "creation.duration_ns"
METRICS = {metric.name: metric for metric in all_metrics()}


@pytest.mark.parametrize(
    ("name", "ratio", "words"),
    [
        ("duration_ns", 1.31, "1.31 times slower"),
        ("duration_ns", 1.001, "0.1 % slower"),
        ("duration_ns", 1.25, "1.25 times slower"),
        ("duration_ns", 1.2499, "25 % slower"),
        ("duration_ns", 0.9, "10 % faster"),
        ("duration_ns", 0.265, "3.77 times faster"),
        ("duration_ns", 1.0, "same"),
        ("duration_ns", 0.0, "100 % faster"),
        ("flash_ns", 1.5, "1.50 times as long"),
        ("flash_ns", 0.265, "74 % shorter"),
        ("flash_ns", 0.515, "48 % shorter"),
        ("pages_read", 0.88, "12 % fewer pages"),
        ("pages_read", 1.5, "1.50 times as many pages"),
        ("pages_read", 0.265, "74 % fewer pages"),
        ("bytes_written", 1.1, "10 % more bytes"),
        ("write_bytes_per_s", 2.0, "2.00 times faster"),
        ("write_bytes_per_s", 0.5, "2.00 times slower"),
        ("write_bytes_per_s", 0.99, "1 % slower"),
        ("image_bytes", 1.1, "10 % larger"),
        ("image_bytes", 3.0, "3.00 times as large"),
        ("erases_std", 0.5, "50 % lower"),
        ("erases_std", 2.0, "2.00 times as high"),
        ("erases_spread", 1.1, "10 % higher"),
        ("count", 1.1, "10 % more"),
    ],
)
def test_a_ratio_in_words(name: str, ratio: float, words: str) -> None:
    assert ratio_words(METRICS[name], ratio) == words


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (0.1, "0.1 %"), (12.4, "12 %"), (99.6, "100 %"), (0.012345, "0.012 %"), (-5.04, "5 %"),
        (0.00001, "under 0.0001 %"), (0.0001, "0.0001 %"), (100.0, "100 %"), (1234.5, "1,234 %"),
        (140.2, "140 %"), (10.0, "10 %"), (0.0, "0 %"),
    ],
)  # fmt: skip
def test_percent(percent: float, text: str) -> None:
    assert percent_text(percent) == text


def test_signs() -> None:
    shown = [signed_percent(value) for value in (0.1, -3, 0, -0.4)]
    assert shown == ["+0.1 %", "−3 %", "0 %", "−0.4 %"]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("duration_ns", 2_190_000_000, "2.19 s"),
        ("duration_ns", 26_500_000, "26.5 ms"),
        ("duration_ns", 12, "12.0 ns"),
        ("duration_ns", 0, "0 ns"),
        ("response_mean_ns", 614_000, "614 µs"),
        ("pages_read", 12_345, "12,345"),
        ("pages_read", 0.5, "0.500"),
        ("write_bytes_per_s", 3_400_000, "3.40 MB/s"),
        ("total_bytes", 2048, "2.00 KiB"),
        ("total_bytes", 5_000_000, "4,883 KiB"),
        ("write_amplification", 1.25, "1.25"),
        ("duration_ns", -26_500_000, "-26.5 ms"),
        ("duration_ns", 1_000_000_000, "1.00 s"),
        ("duration_ns", 999_000_000, "999 ms"),
        ("total_bytes", -2048, "-2.00 KiB"),
        ("erases_std", 0.0123, "0.0123 erases"),
        ("erases_std", 1234.5, "1,234 erases"),
    ],
)
def test_a_value_with_its_unit(name: str, value: float, text: str) -> None:
    assert value_text(METRICS[name], value) == text


def test_values_have_as_many_digits_as_tell_them_apart() -> None:
    metric = BY_NAME["duration_ns"]
    assert values_text(metric, 2e9, 3e9) == ("2.00 s", "3.00 s")
    assert values_text(metric, 2_252_000_000, 2_255_000_000) == ("2.252 s", "2.255 s")
    assert values_text(metric, 2_000_000_000, 2_000_000_001) == ("2.000000000 s", "2.000000001 s")
    assert values_text(metric, 2e9, 2e9) == ("2.00 s", "2.00 s")
    assert values_text(metric, None, 2e9) == ("", "2.00 s")


def test_values_that_differ_never_look_equal() -> None:
    """As many decimals on both sides as tell them apart, and one unit where they are near."""
    pages, time, std = (METRICS[name] for name in ("pages_read", "duration_ns", "erases_std"))
    for metric, base, new, shown in (
        (pages, 13_989, 13_988, ("13,989", "13,988")),
        (pages, 13_989, 41_966 / 3, ("13,989.0", "13,988.7")),
        (pages, 41_966 / 3, 41_965 / 3, ("13,988.7", "13,988.3")),
        (pages, 41_966 / 3, 5000, ("13,989", "5,000")),
        (pages, 1, 5 / 3, ("1.00", "1.67")),
        (pages, 5 / 3, 1, ("1.67", "1.00")),
        (pages, 2, 41 / 3, ("2.0", "13.7")),
        (pages, 2, 61 / 3, ("2", "20.3")),
        (pages, 0, 1 / 3, ("0", "0.333")),
        (pages, 7, 0, ("7", "0")),
        (pages, 21, 21, ("21", "21")),
        (pages, 64 / 3, 64 / 3, ("21.3", "21.3")),
        # Both are 1,000 ms, or 1.00 s, with three digits of each.
        (time, 999_600_000, 1_000_000_000, ("999.6 ms", "1,000.0 ms")),
        (time, 900_000_000, 1_100_000_000, ("900 ms", "1,100 ms")),
        (time, 900_000_000, 8_600_000_000, ("900 ms", "8,600 ms")),
        (time, 1_000_000_000, 10_000_000_000, ("1.00 s", "10.0 s")),
        (time, 10_000_000_000, 1_000_000_000, ("10.0 s", "1.00 s")),
        # Two decimals would tell these apart, as 0.01 s, which is five times as much.
        (time, 1_004_000_000, 1_006_000_000, ("1.004 s", "1.006 s")),
        (time, 26_500_000, 2_190_000_000, ("26.5 ms", "2.19 s")),
        (time, 2_190_000_000, 26_500_000, ("2.19 s", "26.5 ms")),
        (time, 900_000_000_000, 900_000_000_001, ("900.000000000 s", "900.000000001 s")),
        (std, 1.0, 1.0 + 1e-13, ("1.00000000000000 erases", "1.00000000000010 erases")),
        (std, -0.5, 0.5, ("-0.500 erases", "0.500 erases")),
        (std, -0.05, -0.3, ("-0.0500 erases", "-0.3000 erases")),
        (std, -0.05, -0.8, ("-0.0500 erases", "-0.800 erases")),
    ):
        assert values_text(metric, base, new) == shown


def test_titles_of_figures() -> None:
    for name, place, title in (
        ("pages_read", "creation", "creation: pages read"),
        ("oob_pages", "measure/reads", "measure/reads: OOB areas alone"),
        ("total_bytes", "memory after mount", "memory after mount: RAM of the file system"),
        ("virtual_ns", "", "Virtual time of the case"),
    ):
        assert figure_title(Figure(METRICS[name], place, 1)) == title


def changed(base: float, new: float, key: str = "creation.blocks_erased") -> str:
    phase, _, name = key.partition(".")
    row = with_figure(result(), phase, **{name: base})
    return change_words(row_of(only(compared(row, with_figure(row, phase, **{name: new}))), key))


def test_changes_from_and_to_nothing() -> None:
    assert changed(0, 5) == "none before"
    assert changed(5, 0) == "none any more"
    assert changed(3, 3) == ""
    assert changed(0.0, 0.5, "creation.erases_std") == "0 before"
    assert changed(0.5, 0.0, "creation.erases_std") == "0 now"
    assert changed(-4096, 4096, "creation.bytes_read") == "8,192 more"
    assert changed(4096, -4096, "creation.bytes_read") == "8,192 less"


def test_the_range_over_seeds() -> None:
    def told(*factors: float) -> str:
        return told_change(
            row_of(only(compared(seeds(*[1.0] * len(factors)), seeds(*factors))), TIME)
        )

    assert told(1.1, 1.3) == "20 % slower (+10 % to +30 %, 2 seeds)"
    assert told(0.5, 0.4) == "2.22 times faster (−60 % to −50 %, 2 seeds)"
    assert told(1.1, 1.1) == "10 % slower (2 seeds alike)"
    assert told(1.1) == "10 % slower"
    assert told(0.9, 1.1) == "same in the mean (−10 % to +10 %, 2 seeds)"


def test_the_band_beside_a_change() -> None:
    row = row_of(only(banded(1.02, 0.98, 1.03)), TIME)
    assert band_words(row) == "−2 % to +3 %"
    assert told_change(row) == "2 % slower (band −2 % to +3 %)"
    assert band_words(row_of(only(banded(1.02, 1.0)), TIME)) == "0 %"
    assert band_words(row_of(only(compared(result(), scaled(result(), TIME, 2))), TIME)) == ""
    assert range_words(row) == ""


def test_a_band_without_a_relation_has_values() -> None:
    metric = BY_NAME["blocks_erased"]
    assert band_text(metric, Band(-2, 3, None, 3, 1)) == "−2 to +3"
    assert band_text(metric, Band(0, 0, None, 3, 1)) == "0"
    assert band_text(BY_NAME["duration_ns"], Band(-5e6, 0, None, 3, 1)) == "−5.00 ms to 0 ns"
    assert band_text(BY_NAME["erases_std"], Band(-0.5, 0.25, None, 3, 1)) == (
        "−0.500 erases to +0.250 erases"
    )
    assert band_text(metric, Band(-1, 1, (-1.0, 0.5), 3, 1)) == "−100 % to +50 %"


def test_a_part_of_a_page_is_one_of_several_seeds() -> None:
    """One page more in two of three seeds, 0.67 on average; one fewer in one, 0.33; 7 ÷ 3 more."""

    def told(*pages: int) -> str:
        base = seeds(1.0, 1.0, 1.0)
        new = [
            with_figure(row, "creation", pages_read=n) for row, n in zip(base, pages, strict=True)
        ]
        (cause,) = only(compared(base, new)).causes
        return cause_words(cause).partition("; ")[2].partition("; by")[0]

    assert told(1001, 1000, 1001) == "0.67 more pages read on average (1,000.0 → 1,000.7)"
    assert told(1000, 999, 1000) == "0.33 fewer pages read on average (1,000.0 → 999.7)"
    assert told(1007, 1000, 1000) == "2.3 more pages read on average (1,000 → 1,002)"
    assert told(1001, 1001, 1001) == "1 more page read (1,000 → 1,001)"
    assert told(1003, 1000, 1000) == "1 more page read (1,000 → 1,001)"


def test_as_many_digits_as_show_that_a_change_is_outside_its_band() -> None:
    """Of the second pair both would be +3.6 %; a percent more or less of an end would not be."""
    for factor, end, words in (
        (1.036449, 1.03632, "3.64 % slower (band 0 % to +3.63 %)"),
        (1.0358, 1.03555, "3.58 % slower (band 0 % to +3.55 %)"),
    ):
        assert told_change(row_of(only(banded(factor, end)), TIME)) == words


def test_a_cause_names_tasks() -> None:
    def step(pages: int) -> dict[str, Any]:
        own = phase("create", pages_programmed=pages)
        tasks = [
            {"name": "kworker", "pages_read": 0, "pages_programmed": pages, "blocks_erased": 0}
        ]
        made = {**own, "step": "create", "index": 0, "prepared": False, "parts": [], "tasks": tasks}
        tree = {"steps": [made], "memory": []}
        return result(spec=spec(workload={"kind": "tree", "steps": "create"}), phases=[], tree=tree)

    *_, cause = only(compared(step(100), step(101))).causes
    assert cause_words(cause) == (
        "create: takes as long as before; 1 more page programmed (100 → 101); by task: kworker 1 "
        "more page programmed"
    )
    *_, cause = only(compared(step(5), step(3))).causes
    assert cause_words(cause).endswith("by task: kworker 2 fewer pages programmed")


def test_how_many_figures_have_which_verdict() -> None:
    row = with_figure(result(phases=[phase("creation")]), "creation", erases_std=1.0)
    assert counts_words(only(compared(row, row))) == f"{len(only(compared(row, row)).rows)} figures"
    case = only(compared(row, with_figure(row, "creation", erases_std=2.0, pages_read=1)))
    assert counts_words(case) == f"{len(case.rows) - 2} same, 1 better, 1 worse"


def test_a_change_just_outside_its_band_has_the_digits_that_show_it() -> None:
    def told(factor: float) -> str:
        return told_change(row_of(only(banded(factor, 0.98, 1.0361)), TIME))

    assert told(1.0364) == "3.64 % slower (band −2 % to +3.61 %)"
    assert told(1.036) == "3.6 % slower (band −2 % to +3.6 %)"  # inside
    assert told(0.9796) == "2.04 % faster (band −2 % to +3.61 %)"
    assert told(1.05) == "5 % slower (band −2 % to +3.6 %)"


def test_a_cause_in_words() -> None:
    row = result()
    slower = with_figure(
        row,
        "creation",
        duration_ns=2120 * MS,
        flash_program_ns=310 * MS,
        flash_transfer_ns=270 * MS,
        flash_ns=1080 * MS,
        pages_programmed=2214,
        blocks_erased=29,
    )
    *_, cause = only(compared(row, slower)).causes
    assert cause_words(cause) == (
        "creation: +120 ms = flash +80.0 ms (program +60.0 ms, transfer +20.0 ms), CPU and other "
        "+40.0 ms; 214 more pages programmed (2,000 → 2,214), 1 fewer block erased (30 → 29); by "
        "task: not recorded"
    )
    *_, cause = only(compared(row, scaled(row, TIME, 1.05))).causes
    assert cause_words(cause) == (
        "creation: +100 ms = flash 0, CPU and other +100 ms; no flash operation more or fewer"
    )
    *_, cause = only(compared(row, with_figure(row, "creation", pages_read=900))).causes
    assert cause_words(cause) == (
        "creation: takes as long as before; 100 fewer pages read (1,000 → 900); by task: not "
        "recorded"
    )
    assert "does not count its time" in cause_words(
        replace(only(compared(row, slower)).causes[0], flash=None)
    )
