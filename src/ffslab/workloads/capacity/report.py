"""What a report says of capacity only: what fits and what comes back, and how each write took until
the partition was full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.errors import DamagedResultError
from ffslab.report import data, plots, svg
from ffslab.report.elements import Table
from ffslab.report.lines import STROKE, names_of
from ffslab.report.quantity import duration, grouped, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import (
    PLAIN_NUMBER,
    Spec,
    as_is,
    field,
    linear_scale,
    log_scale,
    log_ticks,
    mark,
)
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.capacity.stored import CapacityResult, capacity_of
from ffslab.workloads.micro.requests import read_requests, thinned

if TYPE_CHECKING:
    from ffslab.report.data import Case, Run
    from ffslab.results.result import CaseResult
    from ffslab.workloads.micro.stored import SlowestResult

TITLE = "Until the partition is full"
METHOD = (
    "A guest prepares the flash, another mounts a copy of it and writes one file from start "
    "to end until write() fails with ENOSPC. Every write is recorded with what each "
    "task asked of the flash meanwhile; the cause is told from these counts. Then the file is "
    "deleted, and statfs(2) asked at once, after a sync, and when the flash is quiet; then another "
    "file is written until ENOSPC. Promised is what statfs(2) said was available before."
)
_NONE = "–"
_MIB, _MS = 2**20, 1e6
_MOST_DOTS, _MOST_PANELS, _MOST_PEAKS = 1500, 12, 5
_INK = svg.PAINT["ink"]
_FITS: Mapping[str, str] = {
    "promised_bytes": "promised",
    "written_bytes": "written",
    "deleted_bytes": "back at once",
    "synced_bytes": "back after a sync",
    "settled_bytes": "back when quiet",
    "again_bytes": "written again",
}
_SHAPES = ("stroke", "circle", "triangle-down", "triangle-right", "triangle-up", "diamond")
_WHO = (
    ("kworker", "write-back"),
    ("ubifs_bgt", "UBIFS’s commit"),
    ("ubi_bgt", "UBI’s thread: erases, wear leveling"),
    ("jffs2_gcd", "JFFS2’s collector"),
    ("yaffs-bg", "YAFFS2’s collector"),
    ("init", "the writer"),
    ("ffsagent", "the writer"),
)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A case with its name in charts."""

    case: Case
    name: str
    capacity: CapacityResult

    @property
    def partition_bytes(self) -> float:
        return self.capacity["written_bytes"] / self.capacity["partition_share"]


def figures_of(row: CaseResult) -> CapacityResult | None:
    """What a case measured; None for what it did not get to."""
    capacity = capacity_of(row)
    return capacity if capacity and capacity["written_bytes"] else None


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Of several seeds the lowest is shown."""
    names = names_of(run)
    shown = [
        _Shown(case, ", ".join(filter(None, names[case.id])), case.own)
        for group in data.group_by_seed([case for case in run.passed if case.own is not None])
        for case in (group.first,)
    ]
    if shown:
        yield _fits(shown, prefix)
        yield _filling(run, shown, prefix)


def _fits(shown: Sequence[_Shown], key: str) -> Section:
    """What was promised, written, and there again, as shares of the partition."""
    paint = plots.paints(each.case.filesystem for each in shown)
    rows: list[dict[str, Any]] = [
        {
            "label": each.name,
            "what": title,
            "share": 100 * value / each.partition_bytes,
            "text": f"{title}: {_mib(value)} MiB",
            "paint": paint[each.case.filesystem],
        }
        for each in shown
        for name, title in _FITS.items()
        if isinstance(value := each.capacity.get(name), int)
    ]
    low = min(row["share"] for row in rows)
    legend = {"orient": "top", "columns": 3, "symbolStrokeColor": _INK, "symbolStrokeWidth": 1.5}
    shape = {"domain": [*_FITS.values()], "range": list(_SHAPES)}
    encoding = {
        "x": field("share:Q", title="% of the partition", scale=linear_scale(low - 1, 100)),
        "y": field("label:N", sort=None, title=None, axis={"labelLimit": 190, "grid": True}),
        "stroke": STROKE,
        "shape": field("what:N", scale=shape, title=None, legend=legend),
        "tooltip": [field("label:N"), field("text:N")],
    }
    title = "Space as a share of the partition"
    spec = {
        **mark("point", encoding, size=70, opacity=0.9, strokeWidth=1.8),
        "width": plots.WIDE - 160,
        "height": {"step": 30},
    }
    most = max(shown, key=lambda each: each.capacity["partition_share"])
    written, promised = most.capacity["written_bytes"], most.capacity["promised_bytes"]
    return Section(
        key="fits",
        title="What fits, and what comes back?",
        sentence=f"**{most.name}** stores most in one file: "
        f"{significant(100 * most.capacity['partition_share'])} % of the partition, "
        f"{_mib(abs(written - promised))} MiB {'more' if written > promised else 'less'} than "
        "promised.",
        charts=(Chart(title, svg.draw(spec, title, f"{key}fits-dots", {"rows": rows})),),
        tables=(_fit_table(shown),),
    )


def _filling(run: Run, shown: Sequence[_Shown], key: str) -> Section:
    """Each write by what was written before it; the slowest with their causes."""
    rows, lost = [], ""
    for each in shown[:_MOST_PANELS]:
        try:
            rows += [*_course(run, each)]
        except DamagedResultError as error:
            lost = f"Not all could be drawn: {error.message.replace(f'{run.path}/', '')}."
    slowest = max(shown, key=lambda each: _longest_ns(each.capacity))
    peaks = slowest.capacity["peaks"]
    cause = f" ({cause_words(peaks[0])})" if peaks else ""
    return Section(
        key="filling",
        title="How long does a write take as the partition fills?",
        sentence=f"The longest write takes {duration(_longest_ns(slowest.capacity))}"
        f"{cause}: **{slowest.name}**.",
        charts=(
            Chart(
                "Time of each write, by what was written before",
                _courses(rows, f"{key}filling-dots") if rows else "",
                "A dot is a write; the longest are ringed, with their causes. Of many writes the "
                "slowest and the fastest of each piece are drawn.",
            ),
        ),
        tables=(peak_table(shown),),
        note=lost,
    )


def _course(run: Run, each: _Shown) -> Iterator[dict[str, Any]]:
    """The writes of a case, none if it has none; DamagedResultError if they were not kept."""
    series = read_requests(RunDirectory(run.path).case_dir(each.case.id))
    if not series or not series[0].latency_ns:
        return
    requests = series[0]
    (paint,) = plots.paints([each.case.filesystem]).values()
    causes = {peak["request"]: cause_words(peak) for peak in each.capacity["peaks"]}
    longest = max(requests.latency_ns)
    for number, latency_ns in thinned(requests.latency_ns, _MOST_DOTS):
        yield {
            "facet": each.name,
            "x": requests.offset[number] / _MIB,
            "ms": latency_ns / _MS,
            "paint": paint,
            "cause": causes.get(number, ""),
            "named": causes.get(number, "") if latency_ns == longest else "",
        }


def _courses(rows: Sequence[dict[str, Any]], identifier: str) -> str:
    low = max(min(row["ms"] for row in rows), 1e-3) * 0.85
    top = max(row["ms"] for row in rows) * 2  # room for words
    right = max(row["x"] for row in rows) * 1.02
    ticks = {"values": log_ticks(low, top), "labelExpr": PLAIN_NUMBER}
    across = {"scale": linear_scale(0, right), "axis": {"tickCount": 5}}
    x = field("x:Q", title="written before (MiB)", **across)
    y = field("ms:Q", title="a write (ms)", scale=log_scale(low, top), axis=ticks)
    at = {"x": x, "y": y}
    tip = [field("cause:N"), field("ms:Q"), field("x:Q", title="MiB")]
    layers: list[Spec] = [
        mark("circle", {**at, "fill": as_is("paint:N"), "tooltip": tip}, size=6, opacity=0.8),
        mark("point", {**at, "tooltip": tip}, where="datum.cause", size=45, stroke=_INK),
        mark(
            "text",
            {**at, "text": field("named:N")},
            where="datum.named",
            align="right",
            dx=-8,
            baseline="bottom",
        ),
    ]
    inner = {"width": plots.WIDE - 200, "height": 170, "layer": layers}
    spec = plots.faceted(inner, [str(row["facet"]) for row in rows])
    return svg.draw(spec, "Time of each write", identifier, {"rows": rows})


def cause_words(peak: SlowestResult) -> str:
    """The cause of a peak with whose it is, where it is another task's."""
    cause = peak["cause"]
    task = cause.removeprefix("waits for ")
    return _who(task) if task != cause and _who(task) else cause


def _who(task: str) -> str:
    return next((words for start, words in _WHO if task.startswith(start)), "")


def _fit_table(shown: Sequence[_Shown]) -> Table:
    """What fits, and what comes back, of each case."""
    rows = []
    for each in shown:
        capacity = each.capacity
        more = capacity["written_bytes"] - capacity["promised_bytes"]
        sizes = (_mib(capacity[key]) for key in _FITS)  # type: ignore[literal-required]
        share = significant(100 * capacity["partition_share"])
        rows.append((each.name, *sizes, share, _mib(more)))
    head = ("configuration", *_FITS.values(), "written", "more than promised")
    units = ("", *("MiB",) * len(_FITS), "% of the partition", "MiB")
    return Table("What fits, and what comes back", tuple(head), units, tuple(rows))


def peak_table(shown: Sequence[_Shown]) -> Table:
    """The longest writes of each case, and what was done on the flash meanwhile."""
    rows = [
        (
            each.name,
            _mib(peak["offset"]),
            duration(peak["latency_ns"]),
            peak["cause"],
            "; ".join(_work(task) for task in peak["tasks"]) or _NONE,
        )
        for each in shown
        for peak in each.capacity["peaks"][:_MOST_PEAKS]
    ]
    head = ("configuration", "after", "took", "cause", "on the flash meanwhile")
    units = ("", "MiB", "", "", "")
    return Table(
        "The longest writes", head, units, tuple(rows), text_columns=5, told=True, wrapped=(4,)
    )


def _work(task: Mapping[str, Any]) -> str:
    name = str(task["name"])
    who = f" ({_who(name)})" if _who(name) else ""
    done = (
        f"{grouped(task[key])} {words}"
        for key, words in (
            ("pages_read", "read"),
            ("pages_programmed", "programmed"),
            ("blocks_erased", "erased"),
        )
        if task[key]
    )
    return f"{name}{who}: {', '.join(done)}"


def _longest_ns(capacity: CapacityResult) -> int:
    return capacity["latency"]["max_ns"] if capacity["latency"] else 0


def _mib(value: int | None) -> str:
    return _NONE if value is None else significant(value / _MIB, 4)
