"""What a report says of wear only: whether data that stay move, how even the wear is, how long the
flash lasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ffslab.lifetime.asked import NOTHING, Asked, asked_of
from ffslab.lifetime.forecast import Estimate
from ffslab.lifetime.read import STATIC_END, CaseLife, life_of
from ffslab.lifetime.rows import END, NOTE, TITLES, Row, rows_of, unit_of, volume
from ffslab.program import program
from ffslab.report import data, plots, svg
from ffslab.report.elements import Table
from ffslab.report.lines import STROKE, Axes, Line, lines, names_of
from ffslab.report.quantity import significant
from ffslab.report.sections.section import Chart, Section
from ffslab.report.vega import PLAIN_NUMBER, Spec, as_is, field, linear_scale, mark
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
_NEEDED = frozenset(("id", "axes", "spec", "reason", "space", "wear"))
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


@dataclass(frozen=True)
class _Shown:
    """A case with its names in charts, of which `name` has both, and its blocks.

    `life`: its forecast, for the endurance that somebody asked for; `own`: for the chip's.
    """

    case: Case
    label: str
    place: str
    wear: WearResult
    life: CaseLife
    own: CaseLife

    @property
    def died(self) -> bool:
        """Whether it was written until blocks went bad, to which the forecast is compared."""
        return self.own.outcome is not None

    @property
    def name(self) -> str:
        return f"{self.label}, {self.place}" if self.place else self.label

    def line(self, points: Sequence[tuple[float, float]]) -> Line:
        return Line(self.label, self.case.filesystem, points, self.place)


_Lives = Sequence[tuple[_Shown, Sequence[Row]]]


def figures_of(row: CaseResult) -> dict[str, Any] | None:
    """The result without what no forecast needs; None for what it did not get to."""
    wear = wear_of(row)
    if wear is None or not wear["volumes"]:
        return None
    named = {key: value for key, value in row.items() if key in _NEEDED}
    return {**named, "flash": [each for each in row["flash"] if each["label"] == STATIC_END]}


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Of several seeds the lowest is shown."""
    names, asked = names_of(run), asked_of(run.path)
    groups = data.group_by_seed([case for case in run.passed if case.own is not None])
    shown = []
    for case in (group.first for group in groups):
        own = life_of(case.own)
        life = life_of(case.own, asked["endurance"]) if asked["endurance"] else own
        shown.append(_Shown(case, *names[case.id], case.own["wear"], life, own))
    if not shown:
        return
    forecasts = _forecasts(run, shown, asked, prefix)
    if forecasts is not None:
        yield forecasts
    if any(each.wear["static_blocks"] and not each.died for each in shown):
        yield _moves(shown, prefix)
    yield _wears(shown, prefix, told=forecasts is not None)
    yield _evenness(shown, prefix)


def _forecasts(run: Run, shown: Sequence[_Shown], asked: Asked, key: str) -> Section | None:
    """How long it lasts, in years if a daily volume was asked for; None without a forecast, or
    where it is known how long each lasted and nothing was asked.
    """
    daily_bytes = asked["daily_bytes"]
    if asked == NOTHING and all(each.died for each in shown):
        return None
    lives = [(each, rows_of([each.life], daily_bytes)) for each in shown]
    if not any(rows for _, rows in lives):
        return None
    told = _longest(lives, daily_bytes)
    years = f'In years: {program()} lifetime {run.run_id} --daily "50 MB". '
    return Section(
        key="life",
        title="How long does it last?",
        sentence=told,
        charts=(
            Chart(
                "Forecast: the range of nine draws in ten, and the median",
                _ranges(lives, daily_bytes, f"{key}life-forecast"),
            ),
        ),
        tables=(_outcomes(lives),),
        note=NOTE if daily_bytes else f"{years}{NOTE}",
        first=f"Forecast: {told}",
    )


def _longest(lives: _Lives, daily_bytes: int | None) -> str:
    """Who writes longest, and who least."""
    ends = {each.name: row for each, rows in lives for row in rows if row.event == END}
    order = sorted(ends, key=lambda name: -ends[name].forecast.middle)
    a_day = f" at {volume(daily_bytes)} a day" if daily_bytes else ""
    lasts = "lasts longest," if len(order) > 1 else "lasts"
    told = f"**{order[0]}** {lasts} {_range_words(ends[order[0]])}{a_day} until writing ends"
    least = f"; **{order[-1]}** least, {_range_words(ends[order[-1]])}" if len(order) > 1 else ""
    return f"{told}{least}."


def _range_words(row: Row) -> str:
    if row.years is not None:
        years = row.years
        return f"{years.middle:.3g} years ({years.low:.3g} to {years.high:.3g})"
    told, (_, size) = row.forecast, unit_of(row.forecast.middle)
    return f"{volume(told.middle)} ({told.low / size:.3g} to {told.high / size:.3g})"


def _ranges(lives: _Lives, daily_bytes: int | None, identifier: str) -> str:
    """A bar for each event of each case, with a mark at the median."""
    paint = plots.paints(each.case.filesystem for each, _ in lives)
    all_rows = [(each, row) for each, rows in lives for row in rows]
    unit, size = unit_of(max(row.forecast.high for _, row in all_rows))

    def amount(row: Row) -> Estimate:
        if row.years is not None:
            return row.years
        told = row.forecast
        return Estimate(told.low / size, told.middle / size, told.high / size)

    drawn = [
        {
            "row": f"{each.name}: {TITLES[row.event]}",
            "low": amount(row).low,
            "middle": amount(row).middle,
            "high": amount(row).high,
            "text": _range_words(row),
            "paint": paint[each.case.filesystem],
            "width": 9 if row.event == END else 4,
        }
        for each, row in all_rows
    ]
    title = f"years at {volume(daily_bytes)} a day" if daily_bytes else f"written ({unit})"
    most = max(amount(row).high for _, row in all_rows)
    ticks = {"tickCount": 5, "labelExpr": PLAIN_NUMBER}
    x = field("low:Q", title=title, scale=linear_scale(0, 1.45 * most), axis=ticks)
    y = field("row:N", sort=None, title=None, axis={"labelLimit": 330, "grid": False})
    tips = [field("row:N"), _TIP]
    reach = {"x": x, "x2": field("high"), "y": y, "stroke": STROKE, "tooltip": tips}
    middle = {"x": {**x, "field": "middle"}, "y": y, "fill": STROKE, "tooltip": tips}
    words = {"x": {**x, "field": "high"}, "y": y, "text": _TIP, "fill": STROKE}
    layers = [
        mark("rule", {**reach, "strokeWidth": as_is("width:Q")}, opacity=0.45),
        mark("point", middle, size=50, opacity=1, strokeWidth=0),
        mark("text", words, align="left", dx=8, fontSize=11),
    ]
    spec = {"width": plots.WIDE - 200, "height": {"step": plots.ROW}, "layer": layers}
    return svg.draw(spec, "Forecast of the life", identifier, {"rows": drawn})


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


def _wears(shown: Sequence[_Shown], key: str, *, told: bool) -> Section:
    """Wear over what was written, with forecasts of what came and what came; `told`: another
    section has these in a table.
    """
    lives = [(each, rows_of([each.own])) for each in shown if each.died]
    drawn = [
        each.line([(0, 0), *((v["written_bytes"] / _GB, max(v["erases"])) for v in _volumes(each))])
        for each in shown
    ]
    least = max((each.own.endurance for each, _ in lives), default=0)
    most = max(Counter(each.place for each, _ in lives).values(), default=0)
    over = _marks(lives, least)
    wear = lines(
        drawn,
        Axes(_WRITTEN, "erases of the most erased block", (1.45 + 0.16 * most) * least),
        "Erases of the most erased block",
        f"{key}wear-lines",
        *((_LAYERS, over) if over else ()),
    )
    grown = [each.line([(0, 0), *_rises(each)]) for each in shown if (each.wear.get("grown") or {})]
    bad = lines(
        [line for line in grown if len(line.points) > 1],
        Axes(_WRITTEN, "grown bad blocks"),
        "Grown bad blocks",
        f"{key}wear-bad",
        steps=True,
    )
    meaning = (
        "Bars: the forecast’s range, thin for the first bad block, thick for the end of writing. "
        "○ and ◆: when these came."
    )
    return Section(
        key="erases",
        title="How long did it last?" if lives else "How fast does it wear?",
        sentence=_lasts(lives) if lives else _fastest(shown),
        charts=(
            Chart("Wear over what was written", wear, meaning if over else ""),
            *((Chart("Blocks that went bad", bad),) if bad else ()),
        ),
        tables=(_outcomes(lives),) if lives and not told else (),
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
        outcome = each.life.outcome
        ended = f"{outcome.bad_blocks} bad, {outcome.stopped or 'still wrote'}" if outcome else ""
        if not forecasts:
            rows.append((each.name, f"no forecast: {each.life.why}", *(_NONE,) * 5, ended))
        rows += [
            (
                each.name,
                TITLES[row.event],
                volume(row.forecast.middle),
                f"{volume(row.forecast.low)} to {volume(row.forecast.high)}",
                _NONE if row.years is None else _range_words(row),
                _NONE if row.measured is None else volume(row.measured),
                _NONE if row.off is None else f"{100 * row.off:+.1f} %",
                ended if row.event == END else "",
            )
            for row in forecasts
        ]
    head = ("configuration", "event", "forecast", "range", "years", "measured", "off", "ended")
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
