"""Single cases whose requests are drawn in order: which, and thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.results.rundir import RunDirectory
from ffslab.workloads.micro.report.data import REQUEST, MicroCase, MicroRun
from ffslab.workloads.micro.requests import FlashRow, read_requests

MOST_DOTS = 2000
ERASE_BINS = 200


@dataclass(frozen=True)
class Course:
    """The requests of a case's first stream: (number, latency in ns), and erases per bin of
    numbers.
    """

    count: int
    startup_count: int
    dots: tuple[tuple[int, int], ...]
    erases: tuple[tuple[int, int], ...]
    bin: int

    @property
    def thinned(self) -> bool:
        return len(self.dots) < self.count


@dataclass(frozen=True)
class Choice:
    """A case to draw, and why it was chosen."""

    case: MicroCase
    label: str
    why: str


def choose(run: MicroRun, labels: dict[str, str]) -> tuple[Choice, ...]:
    """Per configuration and pattern the case with the smallest requests; and per configuration the
    one whose slowest request is furthest from its median. Of equal ones the first.
    """
    smallest: dict[tuple[str, str], MicroCase] = {}
    widest: dict[str, MicroCase] = {}
    for case in run.passed:
        if case.mix_pattern or len(case.streams) != 1:
            continue
        label = labels[case.id]
        key = (label, case.pattern)
        if key not in smallest or _size(case) < _size(smallest[key]):
            smallest[key] = case
        if label not in widest or _spread(case) > _spread(widest[label]):
            widest[label] = case
    chosen = [Choice(case, label, "smallest requests") for (label, _), case in smallest.items()]
    drawn = {choice.case.id for choice in chosen}
    chosen += [
        Choice(case, label, "largest ratio of slowest to median request")
        for label, case in widest.items()
        if case.id not in drawn
    ]
    order = list(dict.fromkeys(labels.values()))
    return tuple(sorted(chosen, key=lambda choice: order.index(choice.label)))


def _size(case: MicroCase) -> float:
    return case.numbers.get(REQUEST, 0.0)


def _spread(case: MicroCase) -> float:
    response = case.streams[0].all
    return response.max_ns / response.p50_ns if response.p50_ns else 0.0


def course_of(folder: Path, case: MicroCase) -> Course | None:
    """A case's requests for drawing; None when it has none.

    Raises DamagedResultError when its records are no longer there, or cannot be read.
    """
    series = read_requests(RunDirectory(folder).case_dir(case.id))
    if not series or not series[0].latency_ns:
        return None
    first = series[0]
    count = len(first.latency_ns)
    width = max(-(-count // ERASE_BINS), 1)
    return Course(
        count=count,
        startup_count=case.streams[0].startup_count,
        dots=thin(first.latency_ns),
        erases=_binned((*first.during, *first.after), width),
        bin=width,
    )


def thin(latency_ns: Sequence[int], most: int = MOST_DOTS) -> tuple[tuple[int, int], ...]:
    """At most `most` requests: the slowest and the fastest of each of equally long pieces."""
    count = len(latency_ns)
    if count <= most:
        return tuple(enumerate(latency_ns))
    piece = -(-2 * count // most)
    kept: list[tuple[int, int]] = []
    for start in range(0, count, piece):
        numbers = range(start, min(start + piece, count))
        slowest = max(numbers, key=lambda number: latency_ns[number])
        fastest = min(numbers, key=lambda number: latency_ns[number])
        kept += [(number, latency_ns[number]) for number in sorted({slowest, fastest})]
    return tuple(kept)


def _binned(rows: Sequence[FlashRow], width: int) -> tuple[tuple[int, int], ...]:
    """Erases by the first request of their bin, without empty bins."""
    erased: dict[int, int] = {}
    for row in rows:
        if row.blocks_erased:
            start = row.request // width * width
            erased[start] = erased.get(start, 0) + row.blocks_erased
    return tuple(sorted(erased.items()))
