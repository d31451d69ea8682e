"""Which is first where, how far others are behind, and where lines cross: in words.

Every text is computed from a `Standing` or an `Extent` of ffslab.compare.standing; an axis of None
is a comparison at a single point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.compare.ratios import SAME
from ffslab.compare.standing import Crossing, Extent, Standing
from ffslab.compare.words import ratio_span
from ffslab.report.axes import Axis
from ffslab.report.quantity import times
from ffslab.results.schema import DURATION, Metric

TO = "\u2060–\u2060"  # a range does not break
CUT = "†"  # beside what ended before all that was asked for had been measured
MOST_REIGNS = 4
ALIKE = f"within {100 * SAME:.0f}\u00a0% of each other"


def spans(axis: Axis, values: Sequence[float], every: Sequence[float]) -> str:
    """Values of an axis as runs of neighbours: `2–8, 64 KiB`."""
    ordered, wanted, runs = sorted(every), set(values), list[list[float]]()
    for before, value in zip([None, *ordered], ordered, strict=False):
        if value not in wanted:
            continue
        if runs and runs[-1][-1] == before:
            runs[-1].append(value)
        else:
            runs.append([value])
    shown = [
        axis.number(run[0]) if len(run) == 1 else f"{axis.number(run[0])}{TO}{axis.number(run[-1])}"
        for run in runs
    ]
    unit = f" {axis.unit}" if axis.unit else ""
    return f"{', '.join(shown)}{unit}"


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def marked(label: str, cut: Mapping[str, str]) -> str:
    """A configuration with the mark of what was cut short."""
    return f"{label}{cut.get(label, '')}"


def extent_text(extent: Extent, axis: Axis | None = None, metric: Metric = DURATION) -> str:
    """Ratios as a range in words, `1.56 to 2.30 times slower`; with the points of its ends where an
    axis is given.
    """
    places = (f" ({axis.text(at)})" if axis else "" for at in (extent.low_at, extent.high_at))
    return ratio_span(metric, extent.low, extent.high, *places)


def factors_text(extent: Extent) -> str:
    """Ratios as a range of factors, for the cells of a table whose title says of what."""
    low, high = times(extent.low), times(extent.high)
    return low if low == high else f"{low}{TO}{high}"


def who_is_first(standing: Standing, axis: Axis | None, cut: Mapping[str, str]) -> str:
    """`**A** is fastest at every request size`; or, where the first changes, who is where."""

    def names(labels: Sequence[str]) -> str:
        alike = f" ({ALIKE})" if len(labels) > 1 else ""
        return listed([f"**{marked(label, cut)}**" for label in labels]) + alike

    first = standing.reigns[0].labels
    if axis is None or len(standing.points) == 1 or len(standing.reigns) == 1:
        where = f" at every {axis.word}" if axis and len(standing.points) > 1 else ""
        return f"{names(first)} {'are' if len(first) > 1 else 'is'} fastest{where}"
    parts = [
        f"{names(reign.labels)} at {spans(axis, reign.points, standing.points)}"
        for reign in standing.reigns[:MOST_REIGNS]
    ]
    more = "; and so on" if len(standing.reigns) > MOST_REIGNS else ""
    return f"fastest: {'; '.join(parts)}{more}"


def behind_text(
    standing: Standing, axis: Axis | None, cut: Mapping[str, str], most: int, last: str = ""
) -> str:
    """The nearest of those that are first nowhere, and the last, each with how far it is behind."""
    names = list(standing.followers[:most])
    if last and last not in names and last not in standing.leaders:
        names.append(last)
    parts = [
        f"{'last ' if last and name == last and len(names) > 1 else ''}{marked(name, cut)} "
        f"{extent_text(standing.behind[name], axis)}"
        for name in names
    ]
    return f"; behind: {', '.join(parts)}" if parts else ""


def crossing_text(crossing: Crossing, axis: Axis) -> str:
    """`A and B between 4 032 and 10 017 files (B faster beyond)`."""
    between = f"{axis.number(crossing.left)} and {axis.value_text(crossing.right)}"
    return (
        f"{crossing.before} and {crossing.after} between {between} ({crossing.after} faster beyond)"
    )


def lacking_text(standing: Standing, axis: Axis | None) -> str:
    """Who has no value where others have one; empty if all have all."""
    if axis is None:
        return ""
    parts = [
        f"{label} at {spans(axis, points, standing.points)}"
        for label, points in standing.lacking.items()
    ]
    return f". Without: {'; '.join(parts)}" if parts else ""


def change_text(extent: Extent, axis: Axis | None) -> str:
    """What became of a duration: `is 1.39 (4 KiB) to 2.67 (2 KiB) times slower`."""
    if extent.is_alike:
        words = extent_text(extent)
        exact = "" if extent.low == extent.high == 1 else "practically "
        return f"is {exact}the same{'' if words == 'the same' else f', {words}'}"
    return f"is **{extent_text(extent, axis)}**"
