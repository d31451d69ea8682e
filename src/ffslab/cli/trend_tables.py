"""A trend in a terminal of 80 columns: a line for a figure, with all runs as small bars.

At most 24 lines unless all is asked for: first what left its band, then what comes next in the
order of the cases. The height of a bar is between the least and the most, and the band at least:
what changes by less than that is a flat line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ffslab.compare.trend import Series, Trend
from ffslab.compare.words import signed_percent, value_text, values_text

LINES, COLUMNS = 24, 80
_BARS = "▁▂▃▄▅▆▇█"
_NONE = "·"
_MOST_BARS = 16
_MOST_RUNS = 6  # that have a line; of more the first and the last ones
_MOST_TOLD = 3  # cases that are not judged
_TITLE = 24
_TRIFLE = 1e-4
_STYLE = {"worse": "red", "better": "green", "moved": "yellow", "back": "yellow", "same": ""}
_SIGN = {"worse": "✗", "better": "✓", "moved": "~", "back": "↩", "same": " "}


def print_trend(console: Console, trend: Trend, *, every: bool) -> None:
    """Prints the runs, the figures, what is not judged, and what it comes to."""
    above, below = list(_runs(trend, every=every)), [*_unjudged(trend, every=every), *_end(trend)]
    room = LINES - len(above) - len(below) - 1
    for line in (*above, *_figures(trend, None if every else room), *below):
        console.print(line, soft_wrap=True)


def _runs(trend: Trend, *, every: bool) -> Iterator[Text]:
    runs = list(enumerate(trend.runs, start=1))
    shown = runs if every or len(runs) <= _MOST_RUNS else [*runs[:2], *runs[-(_MOST_RUNS - 3) :]]
    before = 0
    for number, run in shown:
        if number > before + 1:
            yield Text(f"   … {number - before - 1} more", "dim")
        yield Text(f"{number:3} {run.name}{f'  {run.label}' if run.label else ''}")
        before = number


def _figures(trend: Trend, room: int | None) -> Iterator[Text]:
    """The gravest figures as there is room for; of each case under its name."""
    chosen = list(trend.ranked)
    if room is not None:
        while len(chosen) > 1 and _height(chosen) + (len(chosen) < len(trend.series)) > room:
            chosen.pop()
    kept = set(map(id, chosen))
    case = ""
    for series in trend.series:
        if id(series) not in kept:
            continue
        if series.case != case:
            case = series.case
            yield Text(case, "bold")
        yield _line(series, trend.threshold)
    left = len(trend.series) - len(chosen)
    if left:
        yield Text(f"… and {left:,} figures more: --all", "dim")


def _height(chosen: Sequence[Series]) -> int:
    return len(chosen) + len({series.case for series in chosen})


def _line(series: Series, threshold: float) -> Text:
    deciding = series.deciding
    first, last, change = _told(series)
    told = f"{bars(series.values, threshold):{_MOST_BARS}} {first:>10} {last:>10} {change:>9}"
    line = Text.assemble(
        f"  {deciding.head[:_TITLE]:{_TITLE}} {told} ",
        (f"{_SIGN[series.verdict]}{_since(series)}", _STYLE[series.verdict]),
    )
    line.rstrip()
    return line


def _told(series: Series) -> tuple[str, str, str]:
    """The first and the newest value, and the change; what is less than a trifle is none."""
    metric, ratio = series.deciding.metric, series.ratio
    if ratio is not None and abs(ratio - 1) < _TRIFLE:
        return value_text(metric, series.base), value_text(metric, series.last), ""
    change = "from 0" if ratio is None else signed_percent(100 * (ratio - 1))
    return (*values_text(metric, series.base, series.last), change)


def _since(series: Series) -> str:
    """The run at which it left its band, or came back into it, by its number."""
    if series.left is not None:
        return f" {series.left.run + 1}"
    return f" {(series.departures[-1].back or 0) + 1}" if series.departures else ""


def bars(values: Sequence[float | None], threshold: float) -> str:
    """The newest values as bars, a dot for none."""
    there = [value for value in values if value is not None]
    # Where all is in the band the first value stands amid the height of a bar, so trifles do not
    # become steps.
    step = there[0] * threshold / 4
    low, high = min(*there, there[0] - 3 * step), max(*there, there[0] + 4 * step)
    wide = (high - low) or 1.0

    def bar(value: float | None) -> str:
        return _NONE if value is None else _BARS[round((value - low) / wide * (len(_BARS) - 1))]

    return "".join(map(bar, values[-_MOST_BARS:]))


def _unjudged(trend: Trend, *, every: bool) -> Iterator[Text]:
    """Cases that do not count in some runs, those first that fail in the newest one."""
    failing = set(trend.failing)
    alike: dict[tuple[str, str], list[int]] = {}
    for one in sorted(trend.unjudged, key=lambda one: one not in failing):
        word = "fails now" if one in failing else "not judged"
        alike.setdefault((one.case, f"{word}: {one.why}"), []).append(one.run + 1)
    for number, ((case, why), runs) in enumerate(alike.items()):
        if number == _MOST_TOLD and not every:
            yield Text(f"… and {len(alike) - number} more that are not judged: --all", "dim")
            return
        numbers = ", ".join(map(str, runs))
        yield Text(f"{case}, run {numbers}: {why}", "red" if why.startswith("fails") else "yellow")


def _end(trend: Trend) -> Iterator[Text]:
    """What it comes to, with the run to look at first."""
    if not trend.series:
        yield Text("no figure is in two of these runs")
        return
    words = {
        "worse": "worse",
        "moved": "neither better nor worse",
        "better": "better",
        "back": "back",
        "same": "within the band",
    }
    counts = ", ".join(f"{count:,} {words[verdict]}" for verdict, count in trend.counts.items())
    band = f"{100 * trend.threshold:g} % around the first run"
    worst = trend.ranked[0]
    yield Text(f"{counts} ({band})", "bold")
    if worst.verdict == "worse" and worst.left is not None:
        run = trend.runs[worst.left.run]
        yield Text(f"look at {run.called} first: {worst.case}, {worst.deciding.head}")
