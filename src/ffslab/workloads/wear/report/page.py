"""wear's part of a report: a map and a histogram of erases at each volume, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.lifetime.forecast import Estimate
from ffslab.lifetime.read import CaseLife, life_of, wear_out_of
from ffslab.lifetime.rows import END, TITLES, rows_of, volume
from ffslab.report import data, wear
from ffslab.report.configurations import chosen_among
from ffslab.report.elements import Key, Table, seeds_text
from ffslab.report.load import Read, plain_run
from ffslab.report.page import common
from ffslab.report.quantity import duration
from ffslab.results.result import CaseResult
from ffslab.workloads.wear.report.histogram import histogram
from ffslab.workloads.wear.stored import Volume, WearResult, wear_of

TITLE = "wear"
_NONE = "–"
_PART = "part"
_GLOSSARY = (
    ("static block", "A block in which the static data programmed at least half of the pages."),
    ("static wear leveling", "Blocks with data that stay are erased, too, after moving the data."),
    ("global wear leveling", "Blocks outside of the partition take part."),
)
_HEAD = (
    *("configuration", "written", "time", "mean", "std", "min", "max", "spread"),
    *("write amplification", "static moved", "static", "global"),
)


@dataclass(frozen=True, slots=True)
class WearMap:
    """A map and a histogram of one case at one volume."""

    label: str
    drawing: str
    histogram: str
    summary: wear.Wear


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case measured, nothing if it did not get so far; and the forecast of its life, if it
    was written to its death.
    """

    wear: WearResult | None
    life: CaseLife | None


def figures_of(row: CaseResult) -> Measured:
    """What a case measured. A forecast takes seconds: where there is nothing to hold it against,
    `ffslab lifetime` makes it when it is asked for.
    """
    wear_result = wear_of(row)
    dead = wear_result is not None and wear_out_of(wear_result) is not None
    return Measured(wear_result, life_of(row) if dead else None)


def page(run_dir: Path, read_cases: Sequence[Read[Measured]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = plain_run(run_dir, read_cases)
    cases = run.cases
    shown = (data.FILESYSTEM, *chosen_among(cases))
    labels = [data.group_label(case.axes, shown) or "all cases" for case in cases]
    if len({case.axes.get(_PART) for case in cases}) > 1:
        labels = [
            f"{label} · {case.axes.get(_PART)}" for label, case in zip(labels, cases, strict=True)
        ]
    figures = [read_case.figures for read_case in read_cases]
    measured = [
        (label, case_figures.wear)
        for label, case_figures in zip(labels, figures, strict=True)
        if case_figures.wear is not None
    ]
    lives = [
        (label, case_figures.life)
        for label, case_figures in zip(labels, figures, strict=True)
        if case_figures.life
    ]
    maps, keys = _maps(measured)
    return {
        **common(run, _GLOSSARY),
        "seeds": f"{seeds_text(run.seeds, 'each case has its own rows')}.",
        "leveling": _leveling(measured),
        "wear_maps": maps,
        "wear_keys": keys,
        "lifetime": _lifetime(lives),
        "case_table": _table(
            cases, {read_case.head["id"]: read_case.figures.wear for read_case in read_cases}
        ),
    }


def _lifetime(lives: Sequence[tuple[str, CaseLife]]) -> Table | None:
    """Forecasts beside what came; None if no case was written to its death."""
    if not lives:
        return None
    rows = [(label, *cells) for label, life in lives for cells in _life_cells(life)]
    head = (
        "configuration",
        "event",
        "forecast",
        "range",
        "measured",
        "off",
        "ended",
    )
    return Table("Forecast and outcome", head, (), tuple(rows), 2)


def _life_cells(life: CaseLife) -> list[tuple[str, ...]]:
    assert life.outcome is not None
    told = life.forecast
    ended = f"{life.outcome.bad_blocks} bad, {life.outcome.stopped or 'still wrote'}"
    if told is None:
        return [(f"no forecast: {life.why}", *(_NONE,) * 4, ended)]
    return [
        (
            TITLES[row.event],
            volume(row.forecast.middle),
            _range(row.forecast),
            _NONE if row.measured is None else volume(row.measured),
            _NONE if row.off is None else f"{100 * row.off:+.1f} %",
            ended if row.event == END else "",
        )
        for row in rows_of([life])
    ]


def _range(told: Estimate) -> str:
    """The unit once if both ends have it."""
    low, high = volume(told.low), volume(told.high)
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(unit) else low} to {high}"


def _leveling(measured: Sequence[tuple[str, WearResult]]) -> Table:
    rows = [
        (label, *_cells(at_volume))
        for label, wear_result in measured
        for at_volume in wear_result["volumes"]
    ]
    return Table("Erases per block, and the verdicts", _HEAD, (), tuple(rows))


def _cells(at_volume: Volume) -> tuple[str, ...]:
    inside, moved, amplified = (
        at_volume["inside"],
        at_volume["static_moved"],
        at_volume["write_amplification"],
    )
    return (
        f"{at_volume['written_bytes'] / 1e9:.2f} GB",
        duration(at_volume["time_ns"]),
        f"{inside['mean']:.2f}",
        f"{inside['std']:.2f}",
        str(inside["min"]),
        str(inside["max"]),
        str(inside["max"] - inside["min"]),
        _NONE if amplified is None else f"{amplified:.2f}",
        _NONE if moved is None else f"{moved:.0%}",
        at_volume["static_leveling"] or _NONE,
        at_volume["global_leveling"] or _NONE,
    )


def _maps(measured: Sequence[tuple[str, WearResult]]) -> tuple[list[WearMap], list[Key]]:
    scale = wear.common_scale(
        [at_volume["erases"] for _, wear_result in measured for at_volume in wear_result["volumes"]]
    )
    maps: list[WearMap] = []
    for label, wear_result in measured:
        for at_volume in wear_result["volumes"]:
            summary = wear.Wear(tuple(at_volume["erases"]))
            title = f"{label}, {at_volume['written_bytes'] / 1e9:.2f} GB"
            text = (
                f"Erase counts of {len(at_volume['erases'])} blocks, {title}: from {summary.low} "
                f"to {summary.high}, mean {summary.mean:.2f}"
            )
            drawing = wear.draw(at_volume["erases"], scale, text, f"wear-{len(maps)}")
            bars = histogram(at_volume["erases"], f"Histogram: {title}", f"wear-bars-{len(maps)}")
            maps.append(WearMap(title, drawing, bars, summary))
    keys = [Key(label, f"w{scale.paint(shade)}") for shade, label in enumerate(scale.labels())]
    return maps, keys if maps else []


def _table(cases: Sequence[data.Case], figures: dict[str, WearResult | None]) -> Table:
    rows = []
    for case in cases:
        wear_result = figures[case.id]
        last = wear_result["volumes"][-1] if wear_result and wear_result["volumes"] else None
        cells = _cells(last) if last else (_NONE,) * (len(_HEAD) - 1)
        rows.append((case.id, case.outcome, *cells))
    head = ("case", "outcome", *_HEAD[1:])
    return Table("All cases, at the last volume", head, (), tuple(rows), 2, outcomes=True)
