"""Planted figures: cases with what people decide by, and the first screen that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ffslab.report.data import Case, Run
from ffslab.report.first.board import Shown
from ffslab.report.first.page import First, first_of
from ffslab.report.first.samples import matter_of
from ffslab.report.first.weigh import weigh
from ffslab.results.criteria import Aspect, Criterion, Tally
from ffslab.results.result import ShortResult
from ffslab.results.schema import BY_NAME, DECISION_METRICS, Figure, Metric

METRICS = {**BY_NAME, **{metric.name: metric for metric in DECISION_METRICS}}
THROUGH, BACK, SYNC = "write-through", "write-back", "sync"
SHORT: ShortResult = {
    "what": "bytes",
    "measured": 1,
    "asked": 2,  # type: ignore[typeddict-item]
    "stopped": "ENOSPC",
    "accepted": True,
}
SYSTEMS = ("jffs2", "ubifs", "yaffs2", "logfs", "my-own-file-system")
Measured = Sequence[tuple[Case, Sequence[Criterion]]]


def metric(name: str) -> Metric:
    return METRICS[name]


def case(filesystem: str, writing: str = THROUGH, **axes: str) -> Case:
    own = {"filesystem": filesystem, "compression": "", "write_mode": writing, "state": "free"}
    own |= {"seed": "1"} | axes
    return Case(id="-".join(own.values()), axes=own, outcome="pass", command="")


def time(value_s: float, title: str = "the work", *, in_memory: bool = False) -> Criterion:
    figure = Figure(metric("duration_ns"), "work", value_s * 1e9)
    return Criterion(figure, title, "time", True, in_memory)


def aside(value_s: float) -> Criterion:
    return replace(time(value_s, "aside"), headline=False)


def cost(name: str, value: float, aspect: Aspect = "wear") -> Criterion:
    return Criterion(Figure(metric(name), "work", value), metric(name).title, aspect)


def run_of(measured: Measured) -> tuple[Run, Mapping[str, Sequence[Criterion]]]:
    run = Run("r", "mine.toml", "t", "", "", tuple(one for one, _ in measured))
    return run, {one.id: found for one, found in measured}


def told(measured: Measured) -> First:
    run, criteria = run_of(measured)
    matter = matter_of(run, criteria)
    return first_of(run, matter, [weigh(row) for row in matter.rows])


def times(**seconds: float) -> Measured:
    return [(case(name), [time(value)]) for name, value in seconds.items()]


def at(state: str, **seconds: float) -> Measured:
    return [(case(name, state=state), [time(value)]) for name, value in seconds.items()]


def along(values: Mapping[str, Sequence[float]], axis: str = "workload.size") -> Measured:
    """Times of each file system at the sizes 1, 2, 3, …"""
    return [
        (case(name, **{axis: str(size)}), [time(value)])
        for name, line in values.items()
        for size, value in enumerate(line, 1)
    ]


def cells(first: First, column: int = 0) -> dict[str, Shown]:
    """A column's cells by the name of their row."""
    board = first.board
    shown = board.cells[column]
    return {name: shown[labels[0]] for name, labels in board.rows if labels[0] in shown}


def asked(name: str, value: float, aspect: Aspect) -> Criterion:
    return replace(cost(name, value, aspect), headline=True)


def having(*rows: Sequence[Criterion]) -> Measured:
    """JFFS2, UBIFS and YAFFS2 with these figures."""
    return [(case(name), own) for name, own in zip(SYSTEMS, rows, strict=False)]


def wrong(state: str = "free", whole: int = 10, **deeds: Mapping[str, int]) -> Measured:
    """The states of each file system, so many of which went wrong by each deed."""
    tallied = asked("pages_programmed", 0, "cuts")
    return [
        (
            case(name, state=state),
            [replace(tallied, tally=Tally("states", whole, tuple(own.items())))],
        )
        for name, own in deeds.items()
    ]
