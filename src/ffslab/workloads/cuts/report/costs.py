"""What cuts cost: the time of the mount after one, and what is left of a flash after many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.report import plots, svg
from ffslab.report.elements import Table
from ffslab.report.quantity import SPACE, duration, grouped, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import PLAIN_NUMBER, Spec, field, log_scale, log_ticks, mark
from ffslab.workloads.cuts.metrics import LEAST
from ffslab.workloads.cuts.report.load import Mount, Named
from ffslab.workloads.cuts.stored import StoredSeries, space_of

_FLAT = 3  # values within this factor have no logarithmic axis
_LONG = 20  # a name of more letters is not one of six in a line
_MEASURED = "Time is virtual, on the board’s chip and CPU."
_ESTIMATE = (
    "Neither chip nor CPU took time here. The time is an estimate of the flash’s alone, from the "
    'counts and the board’s figures; its upper bound is drawn. workload.timing = "board" measures.'
)


def recovery_section(cases: Sequence[Named], prefix: str) -> Section:
    """The time of the mount over the operation at which power was cut."""
    key, title = "recovery", "How long does the mount after a cut take?"
    cases = [case for case in cases if case.own.mounts]
    if not cases:
        return Section(key, title)
    measured = all(case.own.workload.is_timed for case in cases)
    worst = max(cases, key=lambda case: case.own.longest.most_ns)
    mount = worst.own.longest
    most = f"{'' if measured else 'at most '}{duration(mount.most_ns)}"
    at = f"after a cut at operation {grouped(mount.operation)}"
    rows = [
        {
            "ms": mount.most_ns / 1e6,
            "operation": mount.operation,
            "pages read": mount.pages_read,
            "programmed": mount.pages_programmed,
            "erased": mount.blocks_erased,
        }
        for case in cases
        for mount in case.own.mounts
    ]
    owners = [case for case in cases for _ in case.own.mounts]
    heading = "ms" if measured else "ms, at most"
    drawing = _curves(
        rows, owners, ("operation", "operation cut"), ("ms", heading), f"{prefix}recovery-curves"
    )
    return Section(
        key=key,
        title=title,
        sentence=f"The longest takes {most}: **{worst.name}**, {at}.",
        charts=(Chart("The longest mount of each stretch of operations", drawing),),
        tables=(_mount_table(cases),),
        note=_MEASURED if measured else _ESTIMATE,
    )


def _mount_table(cases: Sequence[Named]) -> Table:
    head = ("", "cut at", "pages read", "programmed", "blocks erased", "time", "without a cut")
    rows = tuple((case.name, *_mount_cells(case.own.longest, case.own.uncut)) for case in cases)
    return Table("The longest mount of each case", head, (), rows)


def _mount_cells(mount: Mount, uncut: Mount | None) -> tuple[str, ...]:
    counts = (mount.operation, mount.pages_read, mount.pages_programmed, mount.blocks_erased)
    return (*map(grouped, counts), _time(mount), _time(uncut) if uncut else "–")


def _time(mount: Mount) -> str:
    low, high = duration(mount.least_ns), duration(mount.most_ns)
    return high if low == high else f"{low}{SPACE}to {high}"


def series_section(cases: Sequence[Named], prefix: str) -> Section:
    """What fits over the cuts of a series, on one flash after the other."""
    key, title = "series", "What is left after many cuts in a row?"
    made = [(case, case.own.series) for case in cases if case.own.series is not None]
    if not made:
        return Section(key, title)
    lost = sum(len(series["lives"]) - 1 for _, series in made)
    rows = [
        {
            "cuts": row[0],
            "MiB": row[1] / LEAST.scale,
            "bad blocks": row[4],
            "most erased": row[6],
            "life": sum(first <= row[0] for first in series["lives"]),
        }
        for _, series in made
        for row in series["space"]
    ]
    owners = [case for case, series in made for _ in series["space"]]
    drawing = _curves(
        rows, owners, ("cuts", "cuts before"), ("MiB", "MiB"), f"{prefix}series-curves"
    )
    cells = tuple((case.name, *series_cells(series)) for case, series in made)
    return Section(
        key=key,
        title=title,
        sentence=f"After {grouped(sum(series['cuts'] for _, series in made))} cuts in all, "
        f"{_lost(lost)}.",
        charts=(Chart("What fits into a file when all else is deleted", drawing),),
        tables=(Table("Cuts in a row", _SERIES, (), cells),),
        note="A cut is anywhere from one mount to the end of the next unmount. A flash that cannot "
        "be mounted any more is followed by a new one, and its line by another.",
    )


def _lost(lives: int) -> str:
    if not lives:
        return "every flash still mounts"
    return f"{lives} flash{'es do' if lives > 1 else ' does'} not mount any more"


_SERIES = (
    *("", "cuts", "flashes", "MiB that fit at first", "least", "at last", "bad blocks more"),
    *("erases of the worst block", "pages read by a mount", "most"),
)


def series_cells(series: StoredSeries) -> tuple[str, ...]:
    """Cuts, flashes, what fits, bad blocks, erases, pages read: as words; "–" for none."""
    mounts = [row for kind, row in series["recovery"].items() if kind != "none"]
    count = sum(row[0] for row in mounts)
    space = space_of(series)
    left, reads = ["–"] * 5, ["–"] * 2
    if space is not None:
        fits = (space.first_bytes, space.least_bytes, space.last_bytes)
        left = [*(significant(size / LEAST.scale) for size in fits), grouped(space.bad_more)]
        left.append(grouped(space.worst_erases))
    if count:
        mean = sum(row[1] for row in mounts) / count
        reads = [grouped(round(mean)), grouped(max(row[4] for row in mounts))]
    return grouped(series["cuts"]), grouped(len(series["lives"])), *left, *reads


def _curves(
    rows: Sequence[Mapping[str, Any]],
    owners: Sequence[Named],
    x: tuple[str, str],
    y: tuple[str, str],
    identifier: str,
) -> str:
    """A line for each configuration in a panel for each place; `x` and `y` are columns of the rows
    with their headings, `owners` the cases of the rows.
    """
    told = [
        {"configuration": case.label, "place": case.place, **row}
        for row, case in zip(rows, owners, strict=True)
    ]
    if not told:
        return ""
    keys = {case.label: case.filesystem for case in owners}
    alone = len(set(keys.values())) == len(keys)
    paint = plots.paints(filesystem if alone else label for label, filesystem in keys.items())
    colours = {"domain": list(keys), "range": list(paint.values())}
    legend = {
        "orient": "top",
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
        "labelLimit": 380,
        "columns": 2 if max(map(len, keys)) > _LONG else 6,
    }
    values = [row[y[0]] for row in rows]
    low, high = min(values) / 1.1, max(values) * 1.1
    is_log = high > _FLAT * low > 0
    ticks = {"values": log_ticks(low, high)} if is_log else {"tickCount": 5}
    line: Spec = {
        "x": field(f"{x[0]}:Q", title=x[1], axis={"grid": False}),
        "y": field(
            f"{y[0]}:Q",
            title=y[1],
            scale=log_scale(low, high) if is_log else {"zero": False},
            axis={**ticks, "labelExpr": PLAIN_NUMBER, "labelOverlap": "greedy"},
        ),
        "stroke": field("configuration:N", title=None, scale=colours, legend=legend),
        "detail": [field("life:N")] if "life" in told[0] else [],
    }
    tooltip = [field(f"{column}:N") for column in told[0]]
    layers = [
        mark("line", line, strokeWidth=1.6),
        mark("point", {**line, "tooltip": tooltip}, size=16, opacity=0.7),
    ]
    inner = {"width": plots.WIDE - 100, "height": 190, "layer": layers}
    spec = plots.faceted(inner, [case.place for case in owners], "place")
    if "facet" in spec:
        spec["resolve"] = {"scale": {"x": "independent"}}
    title = f"{y[1]} over the {x[1]}"
    return svg.draw(spec, title, f"{identifier}-curves", {"rows": told})
