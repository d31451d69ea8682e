"""The section of a report about YAFFS2's garbage collector: what it foretold and what it took, and
how long calls waited for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ffslab.model.units import format_duration_ns
from ffslab.report import plots, svg
from ffslab.report.elements import Table
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import field, linear_scale, mark
from ffslab.results.collector import Bound, Collector, Forecast

_MOST_PANELS = 6
_MS = 1e6
_ROOM = 1.05
_NOTE = (
    "Before each run the collector says how long it will take, by what reading, programming and "
    "erasing took last. With a bound, a call waits no longer than the bound leaves beside its own "
    "work; a forced run is one without which nothing could have been written."
)


def sections(cases: Iterable[tuple[str, Collector | None]]) -> Iterator[Section]:
    """The section for what each case, by its id, has of it; none if none has anything."""
    forecasts: list[tuple[str, Forecast]] = []
    bounds: list[tuple[str, Bound]] = []
    for name, figures in cases:
        if figures and "forecast" in figures:
            forecasts.append((name, figures["forecast"]))
        if figures and "bound" in figures:
            bounds.append((name, figures["bound"]))
    if not forecasts and not bounds:
        return
    tables = [_forecasts(forecasts)] if forecasts else []
    tables += [_bounds(bounds)] if bounds else []
    yield Section(
        key="collector",
        title="Does the garbage collector keep its word?",
        sentence=_sentence(forecasts, bounds),
        charts=tuple(_charts(forecasts)),
        tables=tuple(tables),
        note=_NOTE,
    )


def _sentence(
    forecasts: Sequence[tuple[str, Forecast]], bounds: Sequence[tuple[str, Bound]]
) -> str:
    if bounds:
        missed = sum(bound["missed"] for _, bound in bounds)
        calls = sum(bound["calls"] for _, bound in bounds)
        return f"{missed:,} of {calls:,} calls waited longer for it than their bound."
    name, worst = max(forecasts, key=lambda case: case[1]["error_mean_percent"])
    return f"Forecasts err by {worst['error_mean_percent']:.2f} % in the mean at most: **{name}**."


def _forecasts(cases: Sequence[tuple[str, Forecast]]) -> Table:
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


def _bounds(cases: Sequence[tuple[str, Bound]]) -> Table:
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


def _charts(cases: Sequence[tuple[str, Forecast]]) -> Iterator[Chart]:
    """A panel for each of the first cases with runs: a dot for each run, and the line on which
    forecast and outcome are the same.
    """
    with_runs = [(name, forecast["last_runs"]) for name, forecast in cases if forecast["last_runs"]]
    shown = with_runs[:_MOST_PANELS]
    if not shown:
        return
    most = _ROOM * max(max(run[:2]) for _, runs in shown for run in runs) / _MS
    dots = [
        *((name, "run", run[0] / _MS, run[1] / _MS) for name, runs in shown for run in runs),
        *((name, "alike", end, end) for name, _ in shown for end in (0.0, most)),
    ]
    columns = ("facet", "kind", "forecast", "outcome")
    rows = [dict(zip(columns, dot, strict=True)) for dot in dots]
    scale = linear_scale(0, most)
    across = {
        "x": field("forecast:Q", title="foretold (ms)", scale=scale),
        "y": field("outcome:Q", title="taken (ms)", scale=scale),
    }
    layers = [
        mark("line", across, where="datum.kind === 'alike'", stroke=svg.PAINT["muted"]),
        mark("circle", across, where="datum.kind === 'run'", size=8, fill=svg.PAINT["ink"]),
    ]
    inner = {"width": 260, "height": 220, "layer": layers}
    spec = plots.faceted(inner, [name for name, _ in shown])
    title = "Forecast and outcome of the last runs"
    yield Chart(title, svg.draw(spec, title, "collector-runs", {"rows": rows}))
