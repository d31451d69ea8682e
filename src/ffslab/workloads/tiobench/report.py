"""What a report says of tiobench only: what each phase asks of the flash, and why its slowest
request is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ffslab.compare.ratios import mean
from ffslab.report import data, plots, svg
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import BETWEEN
from ffslab.report.elements import Table
from ffslab.report.first.board import short_names
from ffslab.report.quantity import counted, duration, grouped, significant
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import PLAIN_NUMBER, field, log_scale, log_ticks, mark
from ffslab.workloads.tiobench.metrics import ACTS
from ffslab.workloads.tiobench.stored import SlowestRequest, TioPhase, tio_of

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.results.result import CaseResult, PhaseResult

TITLE = "tiobench"
METHOD = (
    "Each thread writes a file from start to end, writes blocks of it at random, reads it from "
    "start to end, and reads blocks of it at random; a request is one write() or read(). Behind "
    "each phase that writes the file system is synced (flush), and throughput of writing has that "
    "time in it. Flash operations are counted by a monitor between file system and chip, which is "
    "looked at around every request: so those of the slowest are known by task."
)
PARTS: Mapping[str, str] = {"chip busy": "t1", "outside the chip": "t3"}
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a case measured, by phase."""

    phases: Mapping[str, TioPhase]
    flash: Mapping[str, PhaseResult]


@dataclass(frozen=True)
class _Measured:
    """A phase of the cases that differ in the seed only."""

    label: str
    filesystem: str
    place: str
    phase: str
    cases: Sequence[Figures]

    @property
    def rows(self) -> list[TioPhase]:
        return [figures.phases[self.phase] for figures in self.cases]

    @property
    def slowest(self) -> SlowestRequest | None:
        requests = [row["slowest"] for row in self.rows if row["slowest"] is not None]
        return max(requests, key=lambda slowest: slowest["latency_ns"], default=None)

    @property
    def parts(self) -> dict[str, float]:
        """The time of the phase, in ns, in and outside of the chip; none where it is not known."""
        outside = [row["off_chip_share"] for row in self.rows if row["off_chip_share"] is not None]
        if not outside:
            return {}
        whole, share = mean(f.flash[self.phase]["duration_ns"] for f in self.cases), mean(outside)
        return dict(zip(PARTS, (whole * (1 - share), whole * share), strict=True))


def figures_of(row: CaseResult) -> Figures | None:
    """The phases of a case; None for one that measured none."""
    tio = tio_of(row)
    if tio is None or not tio["phases"]:
        return None
    return Figures(
        phases={phase["phase"]: phase for phase in tio["phases"]},
        flash={phase["phase"]: phase for phase in row["phases"]},
    )


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Time and flash of each phase; its slowest requests."""
    measured = [*_measured(run)]
    bars = [
        plots.Bar(f"{ACTS[each.phase]}{BETWEEN}{each.label}", each.parts, each.place)
        for each in measured
        if each.parts
    ]
    if bars:
        yield _phases(measured, bars, prefix)
    slow = [(each, slowest) for each in measured if (slowest := each.slowest) is not None]
    if slow:
        yield _slowest(slow, prefix)


def _measured(run: Run) -> Iterator[_Measured]:
    """Every phase of every configuration at every place, the phases of a place together."""
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    groups = data.group_by_seed([case for case in run.passed if case.own is not None])
    labels = [data.group_label(group.axes, shown) or "all cases" for group in groups]
    names = short_names(labels)
    measured = [
        _Measured(
            label=names[label],
            filesystem=group.axes.get(data.FILESYSTEM, ""),
            place=place_text(place_of(group.axes, run.varying)),
            phase=phase,
            cases=[case.own for case in group.cases],
        )
        for phase in ACTS
        for label, group in zip(labels, groups, strict=True)
        if all(phase in case.own.phases for case in group.cases)
    ]
    places = list(dict.fromkeys(each.place for each in measured))
    yield from sorted(measured, key=lambda each: places.index(each.place))


def _phases(measured: Sequence[_Measured], bars: Sequence[plots.Bar], prefix: str) -> Section:
    most = max(bars, key=lambda bar: sum(bar.parts.values()))
    share = most.parts["outside the chip"] / (sum(most.parts.values()) or 1)
    told = f"**{most.label}**{f', {most.facet}' if most.facet else ''}"
    head = ("phase", "configuration", "at", *(title for title, _, _ in _CELLS))
    rows = tuple(
        (
            ACTS[each.phase],
            each.label,
            each.place,
            *(_cell(each, value, form) for _, value, form in _CELLS),
        )
        for each in measured
    )
    return Section(
        key="phases",
        title="What does each phase take, and ask of the flash?",
        sentence=f"The longest phase takes {duration(sum(most.parts.values()))}, "
        f"{100 * share:.0f} % of it outside the chip: {told}.",
        charts=tuple(
            Chart(
                f"Time of a phase{f', {where}' if where else ''}",
                plots.stack(
                    [replace(bar, facet="") for bar in bars if bar.facet == where],
                    *(PARTS, "time", f"{prefix}phases-{number}"),
                ),
            )
            for number, where in enumerate(dict.fromkeys(bar.facet for bar in bars))
        ),
        tables=(Table("Phases", head, (), rows, text_columns=3),),
        note="Pages and blocks are of the phase alone, amplification has the flush behind it.",
    )


Value = Callable[[TioPhase, Any], float | None]
_CELLS: tuple[tuple[str, Value, Callable[[float], str]], ...] = (
    ("MB/s", lambda tio, _: tio["throughput_bytes_per_s"] / 1e6, significant),
    ("MB/s until on flash", lambda tio, _: _of_million(tio["on_flash_bytes_per_s"]), significant),
    ("pages read", lambda _, flash: flash.get("pages_read"), counted),
    ("programmed", lambda _, flash: flash.get("pages_programmed"), counted),
    ("blocks erased", lambda _, flash: flash.get("blocks_erased"), counted),
    ("amplification", lambda tio, _: tio["on_flash_amplification"], significant),
)


def _of_million(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def _cell(each: _Measured, value: Value, form: Callable[[float], str]) -> str:
    known = [
        number
        for figures in each.cases
        if (number := value(figures.phases[each.phase], figures.flash[each.phase])) is not None
    ]
    return form(mean(known)) if known else _NONE


def _slowest(slow: Sequence[tuple[_Measured, SlowestRequest]], prefix: str) -> Section:
    each, longest = max(slow, key=lambda pair: pair[1]["latency_ns"])
    where = f"**{each.label}**{f', {each.place}' if each.place else ''}"
    rows = tuple(
        (
            *(ACTS[each.phase], each.label, each.place, duration(slowest["latency_ns"])),
            *(grouped(slowest["request"]), cause(slowest)),
        )
        for each, slowest in slow
    )
    head = ("phase", "configuration", "at", "latency", "request", "meanwhile, by task")
    title = "Slowest requests"
    return Section(
        key="slowest",
        title="Why is the slowest request slow?",
        sentence=f"{duration(longest['latency_ns'])} in {ACTS[each.phase]}, {where}; meanwhile "
        f"{cause(longest).partition(';')[0]}.",
        charts=(
            Chart(title, _dots(slow, f"{prefix}slowest-dots"), "What the flash did is at the dot."),
        ),
        tables=(Table(title, head, (), rows, text_columns=3, told=True, wrapped=(5,)),),
    )


def _dots(slow: Sequence[tuple[_Measured, SlowestRequest]], identifier: str) -> str:
    """A row for each phase, in it a dot for each configuration, with its cause; a panel for each
    place.
    """
    paint = plots.paints(each.filesystem for each, _ in slow)
    rows: list[dict[str, Any]] = [
        {
            "phase": ACTS[each.phase],
            "label": each.label,
            "facet": each.place,
            "value": slowest["latency_ns"] / 1e6,
            "text": duration(slowest["latency_ns"]),
            "cause": cause(slowest),
            "paint": paint[each.filesystem],
        }
        for each, slowest in slow
    ]
    low, high = (end(row["value"] for row in rows) for end in (min, max))
    low, high = low / 1.3, high * 3  # names stand on the right
    told = {"label": "configuration", "facet": "at", "text": "latency", "cause": "meanwhile"}
    across = {
        "x": field(
            "value:Q",
            title="latency (ms)",
            scale=log_scale(low, high),
            axis={"values": log_ticks(low, high), "labelExpr": PLAIN_NUMBER},
        ),
        "y": field("phase:N", sort=list(ACTS.values()), title=None),
        "yOffset": field("label:N"),
        "fill": field("paint:N", scale=None, legend=None),
        "tooltip": [field(f"{name}:N", title=title) for name, title in told.items()],
    }
    layers = [
        mark("point", across, size=60, opacity=1, strokeWidth=0),
        mark("text", {**across, "text": field("label:N")}, align="left", dx=7, fontSize=10.5),
    ]
    inner = {"layer": layers, "width": plots.WIDTH, "height": {"step": 16, "for": "offset"}}
    spec = plots.faceted(inner, [each.place for each, _ in slow])
    return svg.draw(spec, "Slowest requests", identifier, {"rows": rows})


def cause(slowest: SlowestRequest) -> str:
    """What each task asked of the flash during the slowest request, the busiest first."""
    told = []
    for task in sorted(slowest["tasks"], key=lambda task: -task["busy_ns"]):
        counts = (
            (task["pages_read"], "read"),
            (task["pages_programmed"], "programmed"),
            (task["blocks_erased"], "erased"),
        )
        words = [f"{grouped(count)} {word}" for count, word in counts if count]
        if words:
            told.append(f"{task['name']} {', '.join(words)}")
    return "; ".join(told) or "no task asked anything of the flash"
