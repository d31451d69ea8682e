"""tiobench's part of a report: data → sentences, charts and tables → what its template shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ffslab.compare.ratios import mean
from ffslab.report import data
from ffslab.report.bars import Bar, Piece, bars
from ffslab.report.charts import Look, look_for
from ffslab.report.curves import Quantity, styles_for
from ffslab.report.distribution import merge, spread_cells, spread_head
from ffslab.report.elements import Panel, Table, seeds_text
from ffslab.report.load import Read
from ffslab.report.page import common
from ffslab.report.quantity import capitalized, counted, duration, significant
from ffslab.report.standings import ALIKE
from ffslab.report.tails import Line, tails
from ffslab.workloads.tiobench.metrics import ACTS
from ffslab.workloads.tiobench.report import sentences
from ffslab.workloads.tiobench.report.load import Figures, TioCase, TioRun, figures_of, run_of

TITLE = "tiobench"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_NONE = "–"
_WIDE = 800
PERCENTILES = (50, 95, 99, 99.9)
_RULE = (
    "Throughput of a phase that writes is until all is on the flash, the flush behind it included. "
    f"Means over seeds are compared. {capitalized(ALIKE)} counts as alike."
)
_GLOSSARY = (
    ("request", "One write() or read() of a block."),
    ("flush", "What is still in memory is written after a phase that writes (syncfs)."),
    ("outside the chip", "The share of a phase’s time in which the chip was not busy."),
)


def page(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    run = run_of(run_dir, read_cases)
    look = look_for([data.Group(_identity(tio_case), ()) for tio_case in run.measured])
    styles = styles_for({tio_case.label: _identity(tio_case) for tio_case in run.measured})
    return {
        **common(run.run, _GLOSSARY),
        "rule": _RULE,
        "seeds": f"{seeds_text(run.run.seeds)}.",
        "topics": sentences.topics(run),
        "panels": [*_panels(run, look)],
        "tails": [*_tails(run, look)],
        "line_keys": [styles[label] for label in run.labels],
        "latencies": latency_table(run),
        "flash": flash_table(run),
        "slowest": slowest_table(run),
        "case_table": case_table(run),
    }


def _identity(tio_case: TioCase) -> dict[str, str]:
    return {data.FILESYSTEM: tio_case.case.filesystem}


def _panels(run: TioRun, look: Look) -> list[Panel]:
    """Throughput, a chart for each phase."""
    panels = []
    for phase, act in ACTS.items():
        drawn = []
        for scenario in run.places:
            for label in run.labels:
                cases = run.at(label, scenario)
                rate = sentences.throughput(cases, phase)
                if rate is None:
                    continue
                piece = Piece(rate, look.colour(cases[0].case.filesystem))
                text = f"{significant(rate / sentences.MIB)} MiB/s"
                drawn.append(Bar(label, "", (piece,), text, group=scenario))
        if drawn:
            quantity = Quantity("throughput", "MiB/s", sentences.MIB)
            drawing = bars(drawn, quantity, (capitalized(act), f"tio-{phase}"), _WIDE)
            meaning = "Longer is faster."
            if phase.endswith("write"):
                meaning += " Until all is on the flash."
            panels.append(Panel(capitalized(act), meaning, drawing))
    return panels


def _tails(run: TioRun, look: Look) -> list[tuple[str, str]]:
    """How the latencies of each phase are spread."""
    drawn = []
    for phase, act in ACTS.items():
        lines = [
            Line(scenario or "all", cases[0].case.filesystem, "", distribution.tail())
            for scenario in run.places
            for label in run.labels
            if (cases := run.at(label, scenario))
            and (distribution := merge(_latencies(cases, phase))) is not None
        ]
        if lines:
            title = f"{capitalized(act)}: share of requests slower than t"
            drawn.append((capitalized(act), tails(lines, title, look, f"tio-tail-{phase}")))
    return drawn


def _latencies(cases: Sequence[TioCase], phase: str) -> list[data.Latency]:
    return [
        tio_case.figures.latencies[phase]
        for tio_case in cases
        if phase in tio_case.figures.latencies
    ]


def _places(run: TioRun) -> list[tuple[str, str, str, tuple[TioCase, ...]]]:
    """Every phase of every place: phase in words, its name, configuration, cases."""
    return [
        (scenario, phase, label, cases)
        for scenario in run.places
        for phase in ACTS
        for label in run.labels
        if (cases := run.at(label, scenario))
        and all(phase in tio_case.figures.phases for tio_case in cases)
    ]


def latency_table(run: TioRun) -> Table:
    """Latencies of every phase, over the seeds."""
    rows = []
    for scenario, phase, label, cases in _places(run):
        distribution = merge(_latencies(cases, phase))
        if distribution is None:
            continue
        late = [tio_case.figures.phases[phase] for tio_case in cases]
        shares = (
            sum(row[key] for row in late) / distribution.count for key in ("above_2s", "above_10s")
        )
        rows.append(
            (
                scenario or "all",
                ACTS[phase],
                label,
                counted(distribution.count),
                *spread_cells(distribution, PERCENTILES),
                *(significant(100 * share, 2) for share in shares),
            )
        )
    head = (
        *("setting", "phase", "configuration", "requests", *spread_head(PERCENTILES)),
        *("above 2 s", "above 10 s"),
    )
    units = ("", "", "", "", "", *("" for _ in PERCENTILES), "", "%", "%")
    return Table("Latencies", head, units, tuple(rows), text_columns=3)


Value = Callable[[TioCase, str], float | None]  # of a case's phase


def _mib(row: Any, name: str) -> float | None:
    value = row[f"{name}_bytes_per_s"]
    return None if value is None else value / sentences.MIB


def _rate(name: str) -> Value:
    return lambda tio_case, phase: _mib(tio_case.figures.phases[phase], name)


def _count(name: str) -> Value:
    return lambda tio_case, phase: dict[str, Any](tio_case.figures.flash[phase]).get(name)


def _percent(tio_case: TioCase, phase: str) -> float | None:
    share = tio_case.figures.phases[phase]["off_chip_share"]
    return None if share is None else 100 * share


def _amplification(tio_case: TioCase, phase: str) -> float | None:
    return tio_case.figures.phases[phase]["on_flash_amplification"]


_FLASH: tuple[tuple[str, str, Value, Callable[..., str]], ...] = (
    ("throughput", "MiB/s", _rate("throughput"), significant),
    ("until on flash", "MiB/s", _rate("on_flash"), significant),
    ("outside the chip", "%", _percent, significant),
    ("read", "pages", _count("pages_read"), counted),
    ("programmed", "pages", _count("pages_programmed"), counted),
    ("erased", "blocks", _count("blocks_erased"), counted),
    ("amplification", "", _amplification, significant),
)


def flash_table(run: TioRun) -> Table:
    """Throughput of every phase and what the flash did, means over the seeds."""
    rows = []
    for scenario, phase, label, cases in _places(run):
        cells = []
        for _, _, value, form in _FLASH:
            known = [figure for tio_case in cases if (figure := value(tio_case, phase)) is not None]
            cells.append(form(mean(known)) if known else _NONE)
        rows.append((scenario or "all", ACTS[phase], label, *cells))
    head = ("setting", "phase", "configuration", *(title for title, _, _, _ in _FLASH))
    units = ("", "", "", *(unit for _, unit, _, _ in _FLASH))
    note = "Pages and blocks: of the phase alone; amplification with the flush behind it."
    return Table("Flash", head, units, tuple(rows), text_columns=3, note=note)


def slowest_table(run: TioRun) -> Table:
    """The slowest request of every case and phase, and what the flash did meanwhile."""
    rows = []
    for scenario, phase, label, cases in _places(run):
        candidates = [
            row for tio_case in cases if (row := tio_case.figures.phases[phase]["slowest"])
        ]
        if candidates:
            slowest = max(candidates, key=lambda row: row["latency_ns"])
            number = counted(slowest["request"])
            told = sentences.cause(slowest)
            rows.append(
                (
                    scenario or "all",
                    ACTS[phase],
                    label,
                    duration(slowest["latency_ns"]),
                    number,
                    told,
                )
            )
    head = ("setting", "phase", "configuration", "latency", "request", "meanwhile, by task")
    return Table("Slowest requests", head, (), tuple(rows), text_columns=3, told=True, wrapped=(5,))


def case_table(run: TioRun) -> Table:
    """Every case by itself."""
    rows = []
    for tio_case in run.cases:
        rates = (
            _mib(tio_case.figures.phases[phase], "throughput")
            if phase in tio_case.figures.phases
            else None
            for phase in ACTS
        )
        shown = (_NONE if rate is None else significant(rate) for rate in rates)
        rows.append((tio_case.case.id, tio_case.case.outcome, *shown))
    head = ("case", "outcome", *ACTS.values())
    units = ("", "", *("MiB/s" for _ in ACTS))
    return Table("All cases", head, units, tuple(rows), text_columns=2, outcomes=True)
