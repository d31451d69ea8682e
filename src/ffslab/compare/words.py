"""A comparison in words that a person would use: "1.31 times slower", "12 % fewer pages". Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ffslab.compare.band import Band
from ffslab.compare.cause import Cause, Change
from ffslab.compare.engine import CaseRow, FigureRow
from ffslab.compare.ratios import factor
from ffslab.compare.verdicts import Verdict
from ffslab.results.schema import DURATION, ON_FLASH, Figure, Metric

OTHER_WORK = "figures are of a unit of it, and no case is better or worse"
_TIMES_FROM = 1.25  # a factor of that and more is told as "times", a smaller one in percent
_LEAST_PERCENT = 1e-4
_PERCENT_DIGITS = 2
_COUNT_DIGITS = 2  # of a difference that is no whole number
_MOST_DIGITS = 17  # these tell any two numbers apart
_NEAR = 10
_UNSEEN = 5e-4  # at the end of a range, less is no change
_AS = {
    "slower": "times slower",
    "faster": "times faster",
    "more": "times as many",
    "larger": "times as large",
    "longer": "times as long",
    "higher": "times as high",
}
_SPEEDS = ("slower", "faster")
_COUNTED = ("more", "fewer")
_TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def figure_title(figure: Figure) -> str:
    """For example "creation: pages read"; of the whole case without a place."""
    title = figure.metric.title
    if not figure.place:
        return title
    # "OOB areas" and "RAM" keep their capitals.
    word = title.partition(" ")[0]
    lowered = title if word.isupper() else title[0].lower() + title[1:]
    return f"{figure.place}: {lowered}"


def row_title(row: FigureRow) -> str:
    """The figure's title, and of how much work it is, where the sides did different work."""
    return f"{figure_title(row.figure)} per {row.per}" if row.per else figure_title(row.figure)


def number(value: float, digits: int = 3) -> str:
    """Significant digits of what is not below 0, without an exponent; whole numbers from 1,000 up
    keep all digits.
    """
    if value == 0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(value)), 0)
    return f"{value:,.{decimals}f}"


def value_text(metric: Metric, value: float, digits: int = 3) -> str:
    """A stored value with its unit."""
    unit, scale = _unit(metric, value)
    return _with_unit(value / scale, unit, _decimals(metric, value, scale, digits))


def _unit(metric: Metric, value: float) -> tuple[str, float]:
    """What it is shown in, and what it is divided by for that; what is counted, the title says."""
    if metric.is_time:
        return next((unit for unit in _TIME_UNITS if abs(value) >= unit[1]), _TIME_UNITS[-1])
    return ("", 1.0) if _is_count(metric) else (metric.unit, metric.scale)


def _is_count(metric: Metric) -> bool:
    return metric.exact and metric.scale == 1 and not metric.is_time


def _decimals(metric: Metric, value: float, scale: float, digits: int) -> int:
    """None for what is whole and counted, and for 0."""
    if value == 0 or (_is_count(metric) and value == int(value)):
        return 0
    return max(digits - 1 - math.floor(math.log10(abs(value / scale))), 0)


def _with_unit(shown: float, unit: str, decimals: int) -> str:
    return f"{shown:,.{decimals}f} {unit}".rstrip()


def values_text(metric: Metric, base: float | None, new: float | None) -> tuple[str, str]:
    """Both values; empty for one that is not there.

    Values within a factor of ten have one unit and as many decimals as each other: as many as show
    three digits of the smaller one and the first digit of their difference. So what differs never
    looks equal, and "13,989.0" beside "13,988.7" is a mean over seeds.
    """
    if base is None or new is None or not _are_near(base, new):
        shown = ("" if value is None else value_text(metric, value) for value in (base, new))
        before, after = shown
        return before, after
    unit, scale = _unit(metric, min(base, new, key=abs))
    fewest = max(_decimals(metric, value, scale, 3) for value in (base, new))
    if base != new:
        fewest = max(fewest, -math.floor(math.log10(abs(new - base) / scale)))
    for decimals in range(fewest, fewest + _MOST_DIGITS):
        before, after = (_with_unit(value / scale, unit, decimals) for value in (base, new))
        if before != after or base == new:
            break
    return before, after


def _are_near(base: float, new: float) -> bool:
    return abs(new) < _NEAR * abs(base) < _NEAR * _NEAR * abs(new)


def percent_text(percent: float, digits: int = _PERCENT_DIGITS) -> str:
    """Without its sign, two digits that count: "0.1 %"."""
    size = abs(percent)
    if 0 < size < _LEAST_PERCENT:
        return f"under {_LEAST_PERCENT:.4f} %"
    shown = number(size, digits)
    return f"{shown.rstrip('0').rstrip('.') if '.' in shown else shown} %"


def signed_percent(percent: float, digits: int = _PERCENT_DIGITS) -> str:
    """With its sign: "+0.1 %"."""
    if percent == 0:
        return "0 %"
    sign = "+" if percent > 0 else "−"
    return f"{sign}{percent_text(percent, digits)}"


def ratio_words(metric: Metric, ratio: float, digits: int = _PERCENT_DIGITS) -> str:
    """What a new value of `ratio` times the base is."""
    if ratio == 1:
        return "same"
    word = metric.grown if ratio > 1 else metric.fallen
    noun = f" {_noun(metric)}" if word in _COUNTED and _noun(metric) else ""
    times = factor(ratio)
    if times >= _TIMES_FROM and (ratio > 1 or (word in _SPEEDS and ratio > 0)):
        return f"{number(times)} {_AS[word]}{noun}"
    return f"{percent_text((ratio - 1) * 100, digits)} {word}{noun}"


def _noun(metric: Metric) -> str:
    return "bytes" if metric.unit == "B" else metric.unit


def change_words(row: FigureRow) -> str:
    """The change of a figure; empty where there is none, or nothing to compare."""
    if row.base is None or row.new is None or row.verdict is Verdict.SAME:
        return ""
    if row.base == row.new:
        return "same in the mean"
    if row.ratio is None:
        return _difference_words(row.figure.metric, row.base, row.new)
    if row.new == 0:
        return "none any more" if row.figure.metric.exact else "0 now"
    told = ratio_words(row.figure.metric, row.ratio, _digits(row))
    return f"{told} per {row.per}" if row.per else told


def _difference_words(metric: Metric, base: float, new: float) -> str:
    """Where a ratio is no measure: from 0, or over it."""
    if base == 0:
        return "none before" if metric.exact else "0 before"
    word = "more" if new > base else "less"
    return f"{value_text(metric, abs(new - base))} {word}"


def range_words(row: FigureRow) -> str:
    """The range over seeds; empty for one seed, whose ratio is exact for it."""
    if row.summary is None or row.seeds < 2:
        return ""
    low, high = (100 * (end - 1) for end in (row.summary.minimum, row.summary.maximum))
    from_none = f", {row.summary.undefined} of them from 0" if row.summary.undefined else ""
    if low == high and not from_none:
        return f"{row.seeds} seeds alike"
    return f"{signed_percent(low)} to {signed_percent(high)}, {row.seeds} seeds{from_none}"


def band_words(row: FigureRow) -> str:
    """The band of builds; empty where it was not measured."""
    return "" if row.band is None else band_text(row.figure.metric, row.band, _digits(row))


def _digits(row: FigureRow) -> int:
    """As many as show that a change outside its band is outside."""
    if row.band is None or row.band.relative is None or row.ratio is None:
        return _PERCENT_DIGITS
    if row.verdict is Verdict.BAND:
        return _PERCENT_DIGITS
    change, ends = row.ratio - 1, row.band.relative

    def tells(digits: int) -> bool:
        shown = {signed_percent(100 * end, digits) for end in ends}
        return signed_percent(100 * change, digits) not in shown

    return next(filter(tells, range(_PERCENT_DIGITS, _MOST_DIGITS)), _PERCENT_DIGITS)


def band_text(metric: Metric, band: Band, digits: int = _PERCENT_DIGITS) -> str:
    """What another build alone would do: relative to the base where that has a sense."""
    if band.relative is not None:
        low, high = (signed_percent(100 * end, digits) for end in band.relative)
    else:
        low, high = (_signed_value(metric, end) for end in (band.low, band.high))
    return low if low == high else f"{low} to {high}"


def _signed_value(metric: Metric, value: float) -> str:
    if value == 0:
        return value_text(metric, 0)
    sign = "+" if value > 0 else "−"
    return f"{sign}{value_text(metric, abs(value))}"


def cause_words(cause: Cause) -> str:
    """One line: how much of the time is the flash's, which operations, by which tasks."""
    told = [*_time_words(cause)]
    told += [", ".join(_count_words(change) for change in cause.counts)] if cause.counts else []
    if cause.tasks:
        tasks = (f"{task.task} {_count_words(task.change, plain=True)}" for task in cause.tasks)
        told.append(f"by task: {', '.join(tasks)}")
    elif cause.counts and not cause.has_tasks:
        told.append("by task: not recorded")
    elif not cause.counts:
        told.append("no flash operation more or fewer")
    return f"{cause.phase}: {'; '.join(told)}"


def behind_words(case: CaseRow, row: FigureRow) -> str:
    """Where a time until all is on the flash changed: within its phase, or in what is written back
    behind it; empty of another figure.
    """
    if row.figure.metric.name != ON_FLASH.name or row.base is None or row.new is None or row.per:
        return ""
    within = next(
        (
            other.new - other.base
            for other in case.rows
            if other.figure.key == f"{row.figure.phase}.{DURATION.name}"
            and other.base is not None
            and other.new is not None
        ),
        0.0,
    )
    behind = row.new - row.base - within
    metric = row.figure.metric
    return (
        f"{row.figure.place}: {_signed_value(metric, within)} while it goes on, "
        f"{_signed_value(metric, behind)} behind it: write-back, syncs, unmount"
    )


def _time_words(cause: Cause) -> Sequence[str]:
    if cause.time is None:
        return ["takes as long as before"]
    whole = _signed(cause.time)
    if cause.flash is None:
        return [f"{whole}, and the chip does not count its time"]
    parts = ", ".join(f"{_part(change)} {_signed(change)}" for change in cause.parts)
    flash = f"flash {_signed(cause.flash)}{f' ({parts})' if parts else ''}"
    rest = f"CPU and other {_signed(cause.rest)}" if cause.rest else "CPU and other 0"
    return [f"{whole} = {flash}, {rest}"]


def _part(change: Change) -> str:
    return change.metric.name.removeprefix("flash_").removesuffix("_ns")


def _signed(change: Change) -> str:
    return _signed_value(change.metric, change.difference) if change.difference else "0"


def _count_words(change: Change, *, plain: bool = False) -> str:
    """For example "214 more pages programmed (2,154 → 2,368)".

    Of several seeds it may be a part of one: "0.33 fewer pages programmed on average".
    """
    title = change.metric.title.lower()
    amount = abs(change.difference)
    if amount == 1:
        title = title.replace("pages ", "page ").replace("blocks ", "block ")
    word = "more" if change.difference > 0 else "fewer"
    average = "" if amount == int(amount) else " on average"
    values = f" ({' → '.join(values_text(change.metric, change.base, change.new))})"
    shown = value_text(change.metric, amount, _COUNT_DIGITS)
    return f"{shown} {word} {title}{average}{'' if plain else values}"


def counts_words(case: CaseRow) -> str:
    """How many figures of a case have which verdict; just how many if all have the case's."""
    counts: dict[str, int] = {}
    for row in case.rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    if set(counts) == {case.verdict}:
        return f"{len(case.rows)} figures"
    return ", ".join(f"{count} {word}" for word, count in counts.items())
