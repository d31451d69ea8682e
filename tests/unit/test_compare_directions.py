"""Whatever the values: what a comparison shows of a figure points one way.

The values that stand side by side, the ratio in words, the verdict, and the tables for programs are
held against each other on random figures, many of them equal, nothing, or nearly the same.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from typing import Any

import pytest
from compare_support import compared, only, phase, result, row_of, spec

from ffslab.compare.engine import Comparison, FigureRow
from ffslab.compare.junit import as_junit
from ffslab.compare.tables import Choice, as_csv, as_json, as_markdown
from ffslab.compare.verdicts import Verdict
from ffslab.compare.words import change_words, range_words, values_text

TRIALS = 300
KEYS = ("duration_ns", "pages_read", "write_bytes_per_s", "erases_std")
_SIZES = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
_MORE = ("more", "times as many", "times as high", "times as long", "higher", "longer")
_LESS = ("fewer", "lower", "shorter")
_FIXED = {"": 0, "same in the mean": 0, "none any more": -1, "0 now": -1}


def drawn(rng: random.Random, whole: bool) -> tuple[float, float]:
    """A value on both sides: of any size, equal, nothing, or off by little."""
    base = rng.choice((0.0, 1.0, rng.uniform(0, 10), 10 ** rng.uniform(0, 12)))
    new = base * rng.choice((0, 1, 1, 1 + 1e-9, 1.001, 0.999, rng.uniform(0.3, 3)))
    if rng.random() < 0.2:
        new = base + rng.choice((-1, 1))
    values = (round(base), round(new)) if whole else (base, new)
    return max(values[0], 0), max(values[1], 0)


def draw(trial: int, threshold: float | None) -> Comparison:
    """Two runs of up to five seeds."""
    rng = random.Random(trial)
    sides: tuple[list[Any], list[Any]] = ([], [])
    for seed in range(1, rng.randint(1, 5) + 1):
        both = {key: drawn(rng, key in ("duration_ns", "pages_read")) for key in KEYS}
        for number, side in enumerate(sides):
            own = phase("creation", **{key: pair[number] for key, pair in both.items()})
            made = result(f"jffs2-s{seed}", spec=spec(seed=seed), phases=[own], virtual_ns=None)
            side.append(made)
    return compared(*sides, threshold=threshold)


def rows_of(found: Comparison) -> list[FigureRow]:
    return [row_of(only(found), f"creation.{key}") for key in KEYS]


def read(text: str) -> float:
    """A shown value as a number."""
    number, _, unit = text.replace(",", "").partition(" ")
    return float(number) * _SIZES.get(unit, 1.0)


def direction(base: float, new: float) -> int:
    return (new > base) - (new < base)


def of_words(row: FigureRow, words: str) -> int:
    """Which way the words of a change say that the value went; 0 for neither."""
    if words in _FIXED:
        return _FIXED[words]
    if row.figure.key.endswith("_ns"):
        more, less = (*_MORE, "slower"), (*_LESS, "faster")
    else:
        more, less = (*_MORE, "faster"), (*_LESS, "slower")
    ways = [way for way, known in ((1, (*more, "before")), (-1, less)) if words_in(words, known)]
    assert len(ways) == 1, words
    return ways[0]


def words_in(text: str, known: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{word}\b", text) for word in known)


@pytest.mark.parametrize("threshold", [None, 0.0, 1.0])
def test_values_ratio_words_and_verdict_agree(threshold: float | None) -> None:
    told = 0
    for trial in range(TRIALS):
        for row in rows_of(draw(trial, threshold)):
            assert row.base is not None and row.new is not None
            way = direction(row.base, row.new)
            before, after = values_text(row.figure.metric, row.base, row.new)
            assert direction(read(before), read(after)) == way
            assert of_words(row, change_words(row)) == way
            if row.ratio is not None:
                assert direction(1, row.ratio) == way
                assert row.ratio == pytest.approx(row.new / row.base if row.base else 1)
            if row.verdict in (Verdict.WORSE, Verdict.BETTER):
                worse = 1 if row.figure.better == "lower" else -1
                # A mean of large values may have no digit left for one seed's change.
                assert way == (worse if row.verdict is Verdict.WORSE else -worse) or (
                    way == 0 and row.seeds > 1
                )
                told += way != 0
            elif row.verdict is Verdict.SAME:
                assert way == 0
            elif row.verdict is Verdict.THRESHOLD:
                assert row.ratio == pytest.approx(1, abs=0.0100001 if threshold else 0.0200001)
            if threshold and row.ratio and row.verdict in (Verdict.WORSE, Verdict.BETTER):
                assert abs(row.ratio - 1) > threshold / 100
    assert told > TRIALS


def test_the_ratio_is_between_those_of_the_seeds() -> None:
    for trial in range(TRIALS):
        for row in rows_of(draw(trial, None)):
            if row.summary is None or row.ratio is None or row.summary.undefined:
                continue
            least, most = row.summary.minimum, row.summary.maximum
            assert least * (1 - 1e-12) <= row.ratio <= most * (1 + 1e-12)


def test_tables_for_programs_have_the_ratio_that_is_shown() -> None:
    for trial in range(0, TRIALS, 10):
        found = draw(trial, 0.0)
        (case,) = json.loads(as_json([found], Choice()))["comparisons"][0]["cases"]
        lines = csv.DictReader(io.StringIO(as_csv([found], Choice())))
        in_csv = {line["figure"]: line for line in lines}
        by_key = {figure["figure"]: figure for figure in case["figures"]}
        markdown, junit = as_markdown([found], Choice(all_figures=True)), as_junit([found])
        for row in rows_of(found):
            in_json, line = by_key[row.figure.key], in_csv[row.figure.key]
            assert in_json["ratio"] == row.ratio and in_json["verdict"] == row.verdict
            assert line["ratio"] == ("" if row.ratio is None else str(row.ratio))
            assert line["words"] == in_json["words"] == change_words(row)
            shown = values_text(row.figure.metric, row.base, row.new)
            if row.verdict is Verdict.WORSE:
                assert f"| {shown[0]} | {shown[1]} | {change_words(row)}" in markdown
                assert not row.decides or f"{shown[0]} → {shown[1]}, {change_words(row)}" in junit


def test_shorter_in_the_mean_is_told_as_faster_though_most_seeds_are_slower() -> None:
    """600 → 572 ms on average; the mean of the seeds' ratios 0.4, 1.2 and 2.34 would be 1.31."""
    values = ((1000, 400), (700, 840), (100, 476))
    sides: tuple[list[Any], list[Any]] = ([], [])
    for seed, both in enumerate(values, start=1):
        for side, value in zip(sides, both, strict=True):
            own = phase("creation", value * 1_000_000)
            side.append(result(f"jffs2-s{seed}", spec=spec(seed=seed), phases=[own]))
    row = row_of(only(compared(*sides)), "creation.duration_ns")
    assert row.verdict is Verdict.DISAGREE
    assert values_text(row.figure.metric, row.base, row.new) == ("600 ms", "572 ms")
    assert change_words(row) == "4.7 % faster"
    assert range_words(row) == "−60 % to +376 %, 3 seeds"


def test_a_seed_that_starts_from_nothing_is_named_beside_the_range() -> None:
    values = ((0, 4), (20, 30))
    sides: tuple[list[Any], list[Any]] = ([], [])
    for seed, both in enumerate(values, start=1):
        for side, value in zip(sides, both, strict=True):
            own = phase("creation", pages_read=value)
            side.append(result(f"jffs2-s{seed}", spec=spec(seed=seed), phases=[own]))
    found = compared(*sides)
    row = row_of(only(found), "creation.pages_read")
    assert change_words(row) == "1.70 times as many pages"
    assert range_words(row) == "+50 % to +50 %, 2 seeds, 1 of them from 0"
    figures = json.loads(as_json([found], Choice()))["comparisons"][0]["cases"][0]["figures"]
    told = next(one for one in figures if one["figure"] == "creation.pages_read")
    assert (told["ratio"], told["ratio_low"], told["ratio_high"]) == (1.7, 1.5, None)
