"""What a script and the flush after it took and asked of the flash, by configuration and place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ffslab.report import data
from ffslab.report.bars import Bar, Piece, bars
from ffslab.report.charts import look_for
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.curves import Quantity
from ffslab.report.elements import Panel, Table
from ffslab.report.quantity import capitalized, counted, duration

PHASES = ("script", "flush")
_NONE = "–"
_LIGHT = 0.35  # how strong the flush's part of a bar is
_WIDE = 800


@dataclass(frozen=True, slots=True)
class Work:
    """A phase of one case: its time, the part of it in which the chip was busy if that is known,
    and what it asked of the flash.
    """

    duration_ns: float
    flash_ns: float | None
    pages_read: int
    pages_programmed: int
    blocks_erased: int


@dataclass(frozen=True, slots=True)
class Run:
    """The cases of a configuration at a place, which differ in the seed only."""

    label: str
    place: str
    filesystem: str
    works: Mapping[str, tuple[Work, ...]]

    @property
    def whole_ns(self) -> tuple[float, ...]:
        """The time of each case until all is on the flash."""
        both = zip(*(self.works[phase] for phase in PHASES), strict=True)
        return tuple(sum(work.duration_ns for work in works) for works in both)


def runs_of(cases: Sequence[data.Case], works: Mapping[str, Mapping[str, Work]]) -> list[Run]:
    """Those of which every case passed with both phases, below each other by place; `works` by the
    id of the case.
    """
    varying = data.varying_axes(cases)
    shown = (data.FILESYSTEM, *chosen_among(cases))
    runs = []
    places: dict[str, None] = {}
    for group in data.group_by_seed(cases):
        scenario = capitalized(place_text(place_of(group.axes, varying)) or " ").strip()
        places.setdefault(scenario)
        known = [works[case.id] for case in group.cases if case.passed]
        if len(known) < len(group.cases) or not all(set(PHASES) <= set(work) for work in known):
            continue
        runs.append(
            Run(
                label=data.group_label(group.axes, shown) or "all cases",
                place=scenario,
                filesystem=group.axes.get(data.FILESYSTEM, ""),
                works={phase: tuple(work[phase] for work in known) for phase in PHASES},
            )
        )
    return sorted(runs, key=lambda run: list(places).index(run.place))


def time_panel(runs: Sequence[Run]) -> Panel | None:
    """How long the script and its flush took; None if no configuration got to the end."""
    if not runs:
        return None
    look = look_for([data.Group({data.FILESYSTEM: run.filesystem}, ()) for run in runs])
    drawn = []
    for run in runs:
        colour = look.colour(run.filesystem)
        script, flush = (fmean(work.duration_ns for work in run.works[name]) for name in PHASES)
        whole = run.whole_ns
        pieces = (Piece(script, colour), Piece(flush, colour, _LIGHT))
        text = duration(script + flush)
        drawn.append(Bar(run.label, "", pieces, text, min(whole), max(whole), group=run.place))
    top = max(bar.end for bar in drawn)
    unit, scale = next(row for row in _UNITS if top >= row[1] or row is _UNITS[-1])
    drawing = bars(drawn, Quantity("virtual time", unit, scale), ("Time", "script-time"), _WIDE)
    meaning = "Solid: the script; light: the flush of what it left in memory."
    if any(len(run.whole_ns) > 1 for run in runs):
        meaning += " Means over seeds; a thin line reaches from the smallest to the largest."
    return Panel("How long it takes until all is on the flash", meaning, drawing)


_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def phase_table(runs: Sequence[Run]) -> Table | None:
    """A row for each phase of each configuration: its time and its work."""
    if not runs:
        return None
    rows: list[tuple[str, ...]] = []
    headings: dict[int, str] = {}
    for number, run in enumerate(runs):
        if run.place and (number == 0 or runs[number - 1].place != run.place):
            headings[len(rows)] = run.place
        rows += [(run.label, phase, *_cells(run.works[phase])) for phase in PHASES]
    head = ("configuration", "phase", "time", "chip busy", "read", "programmed", "erased")
    units = ("", "", "", "", "pages", "pages", "blocks")
    title = "What each phase took and asked of the flash"
    return Table(title, head, units, tuple(rows), text_columns=2, headings=headings)


def _cells(works: Sequence[Work]) -> tuple[str, ...]:
    busy = [work.flash_ns for work in works if work.flash_ns is not None]
    counts = zip(*((w.pages_read, w.pages_programmed, w.blocks_erased) for w in works), strict=True)
    return (
        duration(round(fmean(work.duration_ns for work in works))),
        duration(round(fmean(busy))) if len(busy) == len(works) else _NONE,
        *(counted(fmean(values)) for values in counts),
    )


def status_sentence(statuses: Mapping[str, int | None]) -> str:
    """With what status the script of each case exited, those that did not come to it named last."""
    members: dict[int | None, list[str]] = {}
    for name, status in statuses.items():
        members.setdefault(status, []).append(name)
    late = members.pop(None, [])
    parts = [f"**{status}** in {_named(names)}" for status, names in members.items()]
    if len(members) == 1 and not late and len(statuses) > 1:
        (status,) = members
        parts = [f"**{status}** in all {len(statuses)} cases"]
    if late:
        parts.append(f"none in {_named(late)}, which did not get to the script’s end")
    return f"Exit status: {'; '.join(parts)}."


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)} cases"


_FEW = 4
