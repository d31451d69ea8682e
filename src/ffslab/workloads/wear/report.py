"""What a report says of wear only: whether data that stay move, how even the wear is, how long the
flash lasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.lifetime.read import CaseLife, life_of, wear_out_of
from ffslab.lifetime.rows import END, TITLES, Row, rows_of, volume
from ffslab.program import program
from ffslab.report import data, plots, svg
from ffslab.report.elements import Table
from ffslab.report.lines import STROKE, Axes, Line, lines, names_of
from ffslab.report.quantity import significant
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import Spec, as_is, field, mark
from ffslab.workloads.wear.stored import Volume, WearResult, wear_of

if TYPE_CHECKING:
    from ffslab.report.data import Case, Run
    from ffslab.results.result import CaseResult

TITLE = "Wear"
METHOD = (
    "A case boots on an erased chip, formats the partition, writes the data that stay and syncs; "
    "then it writes, syncs and deletes one file until the last volume has been written, or nothing "
    "can be written any more. Contents are random bytes, which nothing compresses; in the end the "
    "data that stay are read back. A monitor between file system and chip counts erases within the "
    "partition, the chip counts them outside. A static block is one of which these data programmed "
    "at least half of the pages; it has moved when it has been erased since. A forecast is made "
    "from what lies within the first twentieth of a life only (docs/lifetime.md)."
)
_NONE = "–"
_BINS, _MOST_PANELS = 40, 12
_GB = 1e9
_WRITTEN = "written (GB)"
_MUTED = svg.PAINT["muted"]
_TIP = field("text:N")
# What is drawn over the lines of wear: the chip's figure, forecasts, what came.
_LAYERS: tuple[Spec, ...] = (
    mark("rule", {"x": None}, where="datum.kind === 'endurance'", strokeDash=[4, 3], stroke=_MUTED),
    mark(
        "rule",
        {"x2": field("to"), "stroke": STROKE, "strokeWidth": as_is("width:Q"), "tooltip": _TIP},
        where="datum.kind === 'range'",
        opacity=0.45,
    ),
    mark(
        "point",
        {"stroke": STROKE, "fill": as_is("fill:N"), "shape": as_is("shape:N"), "tooltip": _TIP},
        where="datum.kind === 'came'",
        size=60,
        opacity=1,
    ),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case measured; with its forecast if it was written to its death, to which the
    forecast is compared. Without one it would cost seconds that `ffslab lifetime` is for.
    """

    wear: WearResult
    life: CaseLife | None


@dataclass(frozen=True)
class _Shown:
    """A case with its names in charts; `name` has both."""

    case: Case
    label: str
    place: str

    @property
    def wear(self) -> WearResult:
        wear: WearResult = self.case.own.wear
        return wear

    @property
    def life(self) -> CaseLife | None:
        life: CaseLife | None = self.case.own.life
        return life

    @property
    def name(self) -> str:
        return f"{self.label}, {self.place}" if self.place else self.label

    def line(self, points: Sequence[tuple[float, float]]) -> Line:
        return Line(self.label, self.case.filesystem, points, self.place)


_Lives = Sequence[tuple[_Shown, Sequence[Row]]]


def figures_of(row: CaseResult) -> Measured | None:
    """What a case measured; None for what it did not get to."""
    wear = wear_of(row)
    if wear is None or not wear["volumes"]:
        return None
    return Measured(wear, life_of(row) if wear_out_of(wear) is not None else None)


def sections(run: Run, _prefix: str) -> Iterator[Section]:
    """Of several seeds the lowest is shown."""
    names = names_of(run)
    groups = data.group_by_seed([case for case in run.passed if case.own is not None])
    shown = [_Shown(group.first, *names[group.first.id]) for group in groups]
    if not shown:
        return
    if any(each.wear["static_blocks"] and each.life is None for each in shown):
        yield _moves(shown, _prefix)
    yield _life(run, shown, _prefix)
    yield _evenness(shown, _prefix)


def _moves(shown: Sequence[_Shown], key: str) -> Section:
    """Whether static data move, and blocks outside of the partition take part."""
    drawn = [
        each.line(
            [(v["written_bytes"] / _GB, 100 * (v["static_moved"] or 0)) for v in _volumes(each)]
        )
        for each in shown
    ]
    most = max(shown, key=lambda each: _last(each)["static_moved"] or 0)
    outside = [each.label for each in shown if _last(each)["global_leveling"] == "yes"]
    told = f"**{most.name}** moves {100 * (_last(most)['static_moved'] or 0):.1f} % of the blocks"
    others = f"blocks outside of the partition serve {', '.join(outside)}"
    return Section(
        key="moves",
        title="Does static data move?",
        sentence=f"{told} with static data; "
        f"{others if outside else 'no block outside of the partition takes part'}.",
        charts=(
            Chart(
                "Blocks of static data that moved",
                lines(drawn, Axes(_WRITTEN, "moved (%)"), "Static data moved", f"{key}moves-lines"),
            ),
        ),
        tables=(_leveling(shown),),
    )


def _life(run: Run, shown: Sequence[_Shown], key: str) -> Section:
    """Wear over what was written, with forecasts and what came."""
    lives = [(each, rows_of([each.life])) for each in shown if each.life is not None]
    drawn = [
        each.line([(0, 0), *((v["written_bytes"] / _GB, max(v["erases"])) for v in _volumes(each))])
        for each in shown
    ]
    least = max((life.endurance for each in shown if (life := each.life)), default=0)
    most = max(Counter(each.place for each, _ in lives).values(), default=0)
    over = _marks(lives, least)
    wear = lines(
        drawn,
        Axes(_WRITTEN, "erases of the most erased block", (1.45 + 0.16 * most) * least),
        "Erases of the most erased block",
        f"{key}life-wear",
        *((_LAYERS, over) if over else ()),
    )
    grown = [each.line([(0, 0), *_rises(each)]) for each in shown if (each.wear.get("grown") or {})]
    bad = lines(
        [line for line in grown if len(line.points) > 1],
        Axes(_WRITTEN, "grown bad blocks"),
        "Grown bad blocks",
        f"{key}life-bad",
        steps=True,
    )
    meaning = (
        "Bars: the forecast’s range, thin for the first bad block, thick for the end of writing. "
        "○ and ◆: when these came."
    )
    forecast = f"How much can be written in a life: {program()} lifetime {run.run_id}"
    return Section(
        key="life",
        title="How long does it last?" if lives else "How fast does it wear?",
        sentence=_lasts(lives) if lives else _fastest(shown),
        charts=(
            Chart("Wear over what was written", wear, meaning if over else ""),
            *((Chart("Blocks that went bad", bad),) if bad else ()),
        ),
        tables=(_outcomes(lives),) if lives else (),
        note="" if lives else forecast,
    )


def _evenness(shown: Sequence[_Shown], key: str) -> Section:
    """How many blocks were erased how often."""
    few = shown[:_MOST_PANELS]
    width = max(max(_last(each)["erases"]) for each in few) // _BINS + 1
    paint = plots.paints(each.case.filesystem for each in few)
    rows = [
        {
            "facet": each.name,
            "from": start,
            "to": start + width,
            "blocks": count,
            "paint": paint[each.case.filesystem],
        }
        for each in few
        for start, count in bins_of(_last(each)["erases"], width)
    ]
    encoding = {
        "x": field("from:Q", title="erases of a block", scale={"zero": True, "nice": False}),
        "x2": field("to"),
        "y": field("blocks:Q", title="blocks", axis={"tickCount": 3}),
        "fill": STROKE,
        "tooltip": [field(f"{name}:Q") for name in ("from", "to", "blocks")],
    }
    inner = {
        **mark("bar", encoding, orient="vertical", binSpacing=0),
        "width": plots.WIDE - 200,
        "height": 90,
    }
    spec = plots.faceted(inner, [each.name for each in few])
    most = max(few, key=lambda each: _last(each)["inside"]["std"])
    inside = _last(most)["inside"]
    return Section(
        key="evenness",
        title="How even is the wear?",
        sentence=f"Least even: **{most.name}**, {inside['min']:,} to {inside['max']:,} erases of "
        f"a block, standard deviation {significant(inside['std'])}.",
        charts=(
            Chart(
                "Blocks by their erases, at the last volume",
                svg.draw(spec, "Blocks by their erases", f"{key}evenness-bars", {"rows": rows}),
            ),
        ),
    )


def bins_of(erases: Sequence[int], width: int) -> list[tuple[int, int]]:
    """The first number of erases of each bin that has a block, and how many it has."""
    counts: dict[int, int] = {}
    for count in erases:
        counts[count // width * width] = counts.get(count // width * width, 0) + 1
    return sorted(counts.items())


def _volumes(each: _Shown) -> Sequence[Volume]:
    return each.wear["volumes"]


def _last(each: _Shown) -> Volume:
    return each.wear["volumes"][-1]


def _rises(each: _Shown) -> list[tuple[float, float]]:
    """How many blocks had gone bad when how much had been written."""
    grown = each.wear.get("grown")
    if not grown or not grown["written"]:
        return []
    rises = zip(grown["written"], grown["bad_blocks"], strict=True)
    points = [(at / _GB, float(bad - grown["before"])) for at, bad in rises]
    return [*points, (each.wear["written"] / _GB, points[-1][1])]


def _marks(lives: _Lives, endurance: int) -> list[dict[str, Any]]:
    """What is drawn over the lines, those of each panel above each other."""
    paint = plots.paints(each.case.filesystem for each, _ in lives)
    heights: dict[str, float] = {}
    marks: list[dict[str, Any]] = []
    for each, rows in lives:
        top = heights[each.place] = heights.get(each.place, 1.25 * endurance) + 0.16 * endurance
        marks.append({"kind": "endurance", "facet": each.place, "y": endurance})
        for row in rows:
            colour, is_end = paint[each.case.filesystem], row.event == END
            told = {"facet": each.place, "y": top, "paint": colour, "text": _told(each, row)}
            low, high = row.forecast.low / _GB, row.forecast.high / _GB
            width = 9 if is_end else 4
            marks.append({"kind": "range", "x": low, "to": high, "width": width, **told})
            if row.measured is not None:
                look = ("diamond", colour) if is_end else ("circle", svg.PAINT["paper"])
                came = {"kind": "came", "x": row.measured / _GB, **told}
                marks.append({**came, "shape": look[0], "fill": look[1]})
    return marks


def _told(each: _Shown, row: Row) -> str:
    came = _NONE if row.measured is None else volume(row.measured)
    told = f"forecast {volume(row.forecast.low)} to {volume(row.forecast.high)}, came at {came}"
    return f"{each.label}, {TITLES[row.event]}: {told}"


def _lasts(lives: _Lives) -> str:
    """Who lasts longest, and how far off the worst forecast was."""
    ends = [(row, each) for each, rows in lives for row in rows if row.event == END]
    came = [(row.measured, each) for row, each in ends if row.measured is not None]
    offs = [abs(row.off) for _, rows in lives for row in rows if row.off is not None]
    if not came or not offs:
        return ""
    most, longest = max(came, key=lambda pair: pair[0])
    return (
        f"**{longest.name}** lasts longest, {volume(most)}; forecasts from a twentieth of a life "
        f"are off by {100 * max(offs):.0f} % at most."
    )


def _fastest(shown: Sequence[_Shown]) -> str:
    rates = {each.name: max(_last(each)["erases"]) / _last(each)["written_bytes"] for each in shown}
    first = max(rates, key=lambda name: rates[name])
    least = min(rates.values()) * _GB
    return (
        f"Most worn: **{first}**, {significant(rates[first] * _GB)} erases of a block per GB; "
        f"the least worn has {significant(least)}."
    )


def _outcomes(lives: _Lives) -> Table:
    """Forecasts beside what came."""
    rows: list[tuple[str, ...]] = []
    for each, forecasts in lives:
        assert each.life is not None and each.life.outcome is not None
        outcome = each.life.outcome
        ended = f"{outcome.bad_blocks} bad, {outcome.stopped or 'still wrote'}"
        if not forecasts:
            rows.append((each.name, f"no forecast: {each.life.why}", *(_NONE,) * 4, ended))
        rows += [
            (
                each.name,
                TITLES[row.event],
                volume(row.forecast.middle),
                f"{volume(row.forecast.low)} to {volume(row.forecast.high)}",
                _NONE if row.measured is None else volume(row.measured),
                _NONE if row.off is None else f"{100 * row.off:+.1f} %",
                ended if row.event == END else "",
            )
            for row in forecasts
        ]
    head = ("configuration", "event", "forecast", "range", "measured", "off", "ended")
    return Table("Forecast and outcome", head, (), tuple(rows), 2)


def _leveling(shown: Sequence[_Shown]) -> Table:
    """The erases per block of the partition at each volume, and the verdicts."""
    rows = [
        (
            each.name,
            volume(at["written_bytes"]),
            f"{at['inside']['mean']:.2f}",
            f"{at['inside']['std']:.2f}",
            f"{at['inside']['min']:,}",
            f"{at['inside']['max']:,}",
            _NONE if at["write_amplification"] is None else f"{at['write_amplification']:.2f}",
            _NONE if at["static_moved"] is None else f"{at['static_moved']:.0%}",
            at["static_leveling"] or _NONE,
            at["global_leveling"] or _NONE,
        )
        for each in shown
        for at in _volumes(each)
    ]
    head = ("configuration", "written", "mean", "std", "min", "max", "write amplification")
    moved = ("static moved", "static", "global")
    return Table("Erases per block, and the verdicts", (*head, *moved), (), tuple(rows))
