"""The section of a report about YAFFS2's garbage collector: what it foretold and what it took, and
how long calls waited for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ffslab.model.units import format_duration_ns
from ffslab.report import svg
from ffslab.report.elements import Panel, Table
from ffslab.report.vega import Spec, as_is, field, linear_scale, mark
from ffslab.results.collector import Bound, Collector, Forecast

_MOST_PANELS = 6
_MS = 1e6
_ROOM = 1.05


@dataclass(frozen=True)
class CollectorView:
    """What the template shows; a table is None where no case has what is in it."""

    panels: tuple[Panel, ...]
    forecasts: Table | None
    bounds: Table | None


def collector_view(cases: Iterable[tuple[str, Collector | None]]) -> CollectorView | None:
    """The section for what each case, by its id, has of it; None if none has anything."""
    forecasts: list[tuple[str, Forecast]] = []
    bounds: list[tuple[str, Bound]] = []
    for name, figures in cases:
        if figures and "forecast" in figures:
            forecasts.append((name, figures["forecast"]))
        if figures and "bound" in figures:
            bounds.append((name, figures["bound"]))
    if not forecasts and not bounds:
        return None
    return CollectorView(tuple(_panels(forecasts)), _forecasts(forecasts), _bounds(bounds))


def _forecasts(cases: Sequence[tuple[str, Forecast]]) -> Table | None:
    if not cases:
        return None
    return Table(
        "How forecasts came out",
        ("Case", "Runs", "Together", "Mean error", "99 of 100 within", "Not foretold", "Failed"),
        ("",) * 7,
        tuple(
            (
                name,
                f"{forecast['runs']:,}",
                format_duration_ns(forecast["taken_ns"]),
                f"{forecast['error_mean_percent']:.2f} %",
                f"{forecast['error_p99_percent']:.1f} %",
                f"{forecast['unknown_runs']:,}",
                f"{forecast['broken_runs']:,}",
            )
            for name, forecast in cases
        ),
    )


def _bounds(cases: Sequence[tuple[str, Bound]]) -> Table | None:
    if not cases:
        return None
    return Table(
        "How the bound was kept",
        ("Case", "Bound", "Calls", "Missed", "Forced runs", "Longest wait for the collector"),
        ("",) * 6,
        tuple(
            (
                name,
                format_duration_ns(1000 * bound["bound_us"]),
                f"{bound['calls']:,}",
                f"{bound['missed']:,}",
                f"{bound['forced_runs']:,}",
                format_duration_ns(bound["longest_ns"]),
            )
            for name, bound in cases
        ),
    )


def _panels(cases: Sequence[tuple[str, Forecast]]) -> Iterator[Panel]:
    """A drawing for each of the first cases with runs."""
    with_runs = [(name, forecast["last_runs"]) for name, forecast in cases if forecast["last_runs"]]
    for number, (name, runs) in enumerate(with_runs[:_MOST_PANELS]):
        yield Panel(
            name,
            f"the last {len(runs):,} runs of the collector",
            _drawing(runs, f"Forecast and outcome of {name}", f"collector-{number}"),
        )


def _drawing(runs: Sequence[Sequence[int]], title: str, identifier: str) -> str:
    """A dot for each run, and the line on which forecast and outcome are the same."""
    paint = svg.PAINT["ink"]
    dots: list[dict[str, object]] = [
        {"forecast": run[0] / _MS, "outcome": run[1] / _MS, "paint": paint} for run in runs
    ]
    most = _ROOM * max(max(run[:2]) for run in runs) / _MS
    ends: list[dict[str, object]] = [
        {"forecast": 0, "outcome": 0},
        {"forecast": most, "outcome": most},
    ]
    across = _place(most)
    chart: Spec = {
        "width": 260,
        "height": 220,
        "layer": [
            mark("line", across, "ends", stroke=svg.PAINT["muted"], strokeWidth=1),
            mark(
                *("point", {**across, "fill": as_is("paint:N")}, "dots"),
                shape="circle",
                size=8,
                strokeWidth=0,
            ),
        ],
    }
    return svg.merge_dots(svg.draw(chart, title, identifier, {"dots": dots, "ends": ends}))


def _place(most: float) -> Spec:
    return {
        "x": field("forecast:Q", title="foretold, ms", scale=linear_scale(0, most)),
        "y": field("outcome:Q", title="taken, ms", scale=linear_scale(0, most)),
    }
