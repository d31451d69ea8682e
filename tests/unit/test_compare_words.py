"""What a comparison says: words for ratios, values, ranges, bands and causes; tables of it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from compare_support import MS, compared, only, result, row_of, scaled, spec, with_figure

from ffslab.compare.engine import Comparison
from ffslab.compare.tables import (
    Choice,
    as_csv,
    as_json,
    as_markdown,
    case_counts,
    figure_counts,
    is_regression,
    told_change,
)
from ffslab.compare.verdicts import Verdict
from ffslab.compare.words import (
    band_words,
    cause_words,
    change_words,
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
        ("flash_ns", 1.5, "1.50 times as long"),
        ("flash_ns", 0.265, "74 % shorter"),
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
        (0.00001, "under 0.0001 %"), (140.2, "140 %"), (10.0, "10 %"), (0.0, "0 %"),
    ],
)  # fmt: skip
def test_percent(percent: float, text: str) -> None:
    assert percent_text(percent) == text


def test_signs() -> None:
    assert [signed_percent(value) for value in (0.1, -3, 0)] == ["+0.1 %", "−3 %", "0 %"]


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


def seeds(*factors: float) -> list[dict[str, Any]]:
    return [
        scaled(result(f"jffs2-s{n}", spec=spec(seed=n)), TIME, factor)
        for n, factor in enumerate(factors, start=1)
    ]


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


def banded(factor: float, *versions: float) -> Comparison:
    row = result()
    base = [row]
    for number, moved in enumerate(versions, start=1):
        own = spec(perturbation=number)
        base.append(scaled(result(f"jffs2-perturbation{number}-s1", spec=own), TIME, moved))
    return compared(base, scaled(row, TIME, factor))


def test_the_band_beside_a_change() -> None:
    row = row_of(only(banded(1.02, 0.98, 1.03)), TIME)
    assert band_words(row) == "−2 % to +3 %"
    assert told_change(row) == "2 % slower (band −2 % to +3 %)"
    assert band_words(row_of(only(banded(1.02, 1.0)), TIME)) == "0 %"
    assert band_words(row_of(only(compared(result(), scaled(result(), TIME, 2))), TIME)) == ""
    assert range_words(row) == ""


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
    (cause,) = only(compared(row, slower)).causes
    assert cause_words(cause) == (
        "creation: +120 ms = flash +80.0 ms (program +60.0 ms, transfer +20.0 ms), CPU and other "
        "+40.0 ms; 214 more pages programmed (2,000 → 2,214), 1 fewer block erased (30 → 29); by "
        "task: not recorded"
    )
    (cause,) = only(compared(row, scaled(row, TIME, 1.05))).causes
    assert cause_words(cause) == (
        "creation: +100 ms = flash 0, CPU and other +100 ms; no flash operation more or fewer"
    )
    (cause,) = only(compared(row, with_figure(row, "creation", pages_read=900))).causes
    assert cause_words(cause) == (
        "creation: takes as long as before; 100 fewer pages read (1,000 → 900); by task: not "
        "recorded"
    )
    assert "does not count its time" in cause_words(
        replace(only(compared(row, slower)).causes[0], flash=None)
    )


# --- tables


def two_cases() -> Comparison:
    """One case with a worse time and 60 further figures of one phase, one that is the same."""
    other = result("ubifs-s1", spec=spec(filesystem__name="ubifs"))
    row = result()
    return compared([row, other], [scaled(row, TIME, 1.5), other])


def test_which_figures_are_shown() -> None:
    case, same = two_cases().cases
    keys = [row.figure.key for row in Choice().rows(case)]
    assert keys[:2] == [TIME, "transactions.duration_ns"]  # those asked for first, changed or not
    assert keys[-1] == "creation.rest_ns"
    assert [row.figure.key for row in Choice(only_changed=True).rows(case)] == [
        TIME, "creation.rest_ns",
    ]  # fmt: skip
    assert Choice().rows(same) == ()
    assert [found.label for found in Choice(only_changed=True).cases(two_cases())] == ["jffs2"]


def test_of_many_changed_figures_the_most_changed_are_shown() -> None:
    row = result()
    names = ("pages_read", "pages_programmed", "blocks_erased", "bytes_written", "in_driver_ns")
    row = with_figure(row, "creation", in_driver_ns=1000, erases_std=1.0, erases_max=10)
    new = with_figure(row, "creation", erases_std=3.0, erases_max=20)
    for name in names:
        new = scaled(new, f"creation.{name}", 1.1)
    case = only(compared(row, new))
    others = [found.figure.key for found in Choice(only_changed=True).rows(case)]
    assert others[:2] == ["creation.erases_std", "creation.erases_max"]
    assert len(others) == 5 and Choice(only_changed=True).hidden(case) == 2
    every = Choice(only_changed=True, all_figures=True)
    assert len(every.rows(case)) == 7 and every.hidden(case) == 0


def test_counts() -> None:
    found = two_cases()
    assert dict(case_counts(found)) == {"worse": 1, "same": 1}
    assert figure_counts(found)["worse"] == 2
    assert list(figure_counts(found)) == ["worse", "same"]


def test_json_has_everything() -> None:
    document = json.loads(as_json([two_cases()], Choice()))
    assert document["v"] == 1
    (found,) = document["comparisons"]
    assert (found["base"], found["new"]) == ("base", "new")
    assert found["differs"] == [{"what": "build of the lab", "base": "b1", "new": "b2", "cases": 0}]
    case = found["cases"][0]
    assert case["verdict"] == "worse" and case["ids"] == [["jffs2-s1", "jffs2-s1"]]
    figure = next(row for row in case["figures"] if row["figure"] == TIME)
    assert figure == {
        "figure": TIME,
        "title": "creation: time",
        "verdict": "worse",
        "base": 2000 * MS,
        "new": 3000 * MS,
        "ratio": 1.5,
        "ratio_low": 1.5,
        "ratio_high": 1.5,
        "seeds": 1,
        "band_low": None,
        "band_high": None,
        "words": "1.50 times slower",
        "why": "",
    }
    assert case["causes"][0].startswith("creation: +1.00 s = flash 0")
    fewer = json.loads(as_json([two_cases()], Choice(only_changed=True)))["comparisons"][0]
    assert len(fewer["cases"]) == 1 and len(fewer["cases"][0]["figures"]) == 2
    assert fewer["case_counts"] == {"worse": 1, "same": 1}


def test_json_has_the_band_as_ratios() -> None:
    document = json.loads(as_json([banded(1.5, 0.98, 1.03)], Choice()))
    figures = document["comparisons"][0]["cases"][0]["figures"]
    figure = next(row for row in figures if row["figure"] == TIME)
    assert (figure["band_low"], figure["band_high"]) == (pytest.approx(0.98), pytest.approx(1.03))


def test_csv_has_a_line_per_figure() -> None:
    failed = result(
        "ubifs-s1", spec=spec(filesystem__name="ubifs"), outcome="crash", reason='a "b"'
    )
    good = {**failed, "outcome": "pass"}
    row = result()
    found = compared([row, good], [scaled(row, TIME, 1.5), failed])
    lines = list(csv.DictReader(io.StringIO(as_csv([found], Choice()))))
    of_time = next(line for line in lines if line["figure"] == TIME)
    assert of_time["words"] == "1.50 times slower" and of_time["ratio"] == "1.5"
    assert of_time["band_low"] == "" and of_time["case_verdict"] == "worse"
    last = lines[-1]
    assert (last["case"], last["case_verdict"], last["figure"]) == ("ubifs", "newly failing", "")
    assert last["why"] == 'crash: a "b"' and None not in last


def test_markdown() -> None:
    text = as_markdown([two_cases()], Choice(only_changed=True))
    assert text.startswith("## new against base\n")
    assert "| build of the lab | b1 | b2 |  |" in text
    assert "| jffs2 | creation: time | 2.00 s | 3.00 s | 1.50 times slower | worse |" in text
    assert "ubifs" not in text
    assert "- jffs2, creation: +1.00 s" in text
    same = as_markdown([compared(result(), result(), "b1")], Choice())
    assert "Nothing differs in the circumstances." in same
    failing = as_markdown([compared(result(), result(outcome="fail", reason="a|b"))], Choice())
    assert "| jffs2 | | | | fail: a\\|b | newly failing |" in failing


@pytest.mark.parametrize(
    ("new", "worse", "change"),
    [
        (result(), False, False),
        (scaled(result(), TIME, 1.1), True, True),
        (scaled(result(), TIME, 0.9), False, True),
        (with_figure(result(), "creation", bytes_written=1), False, True),
        (result(outcome="fail"), True, True),
        (result(outcome="skip"), False, True),
    ],
)
def test_what_a_check_fails_on(new: dict[str, Any], worse: bool, change: bool) -> None:
    found = compared(result(), new)
    assert is_regression(found) is worse
    assert is_regression(found, any_change=True) is change


def test_a_worse_figure_of_a_case_that_newly_fails_for_another_seed_counts() -> None:
    new = [seeds(1.0)[0], result("jffs2-s2", spec=spec(seed=2), outcome="fail")]
    assert is_regression(compared(seeds(1.0, 1.0), new))


def test_within_the_band_is_no_change() -> None:
    found = banded(1.02, 0.98, 1.03)
    assert row_of(only(found), TIME).verdict is Verdict.BAND
    # The time outside the flash moved with it, and has the same band.
    assert not is_regression(found, any_change=True)
