"""FFSMark's charts: bars of a question, and what time went to."""

from __future__ import annotations

from collections.abc import Sequence

from ffslab.report import data
from ffslab.report.bars import Bar, Piece, bars, below_names
from ffslab.report.charts import Look
from ffslab.report.curves import Quantity
from ffslab.report.data import Group
from ffslab.workloads.ffsmark.report.catalogue import METRICS
from ffslab.workloads.ffsmark.report.questions import Question

_WIDE = 900  # the width of bars that have no others beside them

TIME_PARTS = (
    ("flash_read_ns", "read", "t0"),
    ("flash_program_ns", "program", "t1"),
    ("flash_erase_ns", "erase", "t2"),
    ("flash_transfer_ns", "transfer", "t4"),
    ("rest_ns", "outside the flash", "t3"),
)


def metric_bars(question: Question, metric: str, look: Look) -> list[Bar]:
    """The mean of each group of cases with the values of its seeds, below its major values."""
    minors: dict[str, list[str]] = {}
    for group in question.groups:
        major = data.group_label(group.axes, question.major)
        minors.setdefault(major, []).append(data.group_label(group.axes, question.minor))
    drawn = []
    for group in question.groups:
        mean = group.mean(metric)
        if mean is None:
            continue
        values = group.values(metric)
        major = data.group_label(group.axes, question.major)
        minor = data.group_label(group.axes, question.minor)
        siblings = minors[major]
        # Where the bars are file systems, their colours tell them apart.
        tinted = len(siblings) > 1 and data.FILESYSTEM not in question.minor
        rank = siblings.index(minor) / max(len(siblings) - 1, 1)
        colour = look.colour(group.axes.get(data.FILESYSTEM, ""))
        drawn.append(
            Bar(
                label=minor or "all",
                run="",
                pieces=(Piece(mean, colour, 0.4 + 0.6 * rank if tinted else 1.0),),
                text=METRICS[metric].number(mean),
                points=values if len(values) > 1 else (),
                group=major,
            )
        )
    return drawn


def question_chart(drawn: Sequence[Bar], metric: str, identifier: str) -> str:
    """Bars of one metric, of which the axis has the unit."""
    shown = METRICS[metric]
    quantity = Quantity(shown.title, shown.unit, shown.scale)
    return bars(drawn, quantity, (shown.title, identifier))


def split_bars(groups: Sequence[Group], show: Sequence[str]) -> list[Bar]:
    """What the time of each configuration's phases is made of, where all of it is known. The
    legend is the page's (see `TIME_PARTS`).
    """
    drawn = []
    for group in groups:
        parts = [(group.mean(key), colour) for key, _, colour in TIME_PARTS]
        pieces = tuple(Piece(value, colour) for value, colour in parts if value is not None)
        if len(pieces) == len(TIME_PARTS):
            text = METRICS["rest_ns"].number(sum(piece.value for piece in pieces))
            label = data.group_label(group.axes, show) or "all"
            drawn.append(Bar(label, "", pieces, text))
    return drawn


def split_chart(drawn: Sequence[Bar], identifier: str) -> str:
    """Stacked bars of what time was spent on."""
    quantity = Quantity("virtual time of the workload's phases", "s", 1e9)
    title = "Time of the phases, split into flash reads, programs, erases, transfers and the rest"
    return bars(below_names(drawn), quantity, (title, identifier), _WIDE)
