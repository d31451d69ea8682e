"""What people decide by: the few figures of a result that a choice of a file system rests on.

Each workload's module `metrics` says which of its figures these are, and what a reader calls them.
The report compares them between configurations without knowing the workload.

Like is compared with like: a time that ends while data are still in memory is no match for one that
ends when they are on the flash. The workload says of each time which of both it is, and offers a
time that is the same for all where it has measured one (`on_flash_ns`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from ffslab.protocol.records import OK, Space
from ffslab.results.result import CaseResult, LatencyResult
from ffslab.results.schema import BY_NAME, MEMORY_USED, SPACE_LEFT, Figure, Metric, figures_at

Aspect = Literal["time", "wait", "wear", "life", "cuts", "space", "memory"]
WRITE_BACK = "write-back"
MOST_DECIDING = 8
MOST_TALLIES = 14
# How many deciding figures of an aspect there are, and the metrics of it that come first.
_SHARE: Mapping[Aspect, tuple[int, tuple[str, ...]]] = {
    "time": (4, ()),
    "wait": (1, ("max_ns",)),
    "wear": (2, ("pages_programmed", "pages_per_line", "erases_max", "blocks_erased")),
    "life": (1, ()),
    "cuts": (MOST_TALLIES, ()),
    "space": (1, ()),
    "memory": (1, ()),
}
_MOUNT = "mount"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of `whole` trials, called `noun`, went wrong, by what the subject does then
    ("loses data").

    Tallies are added up over places and seeds. A case fails by what its tally counts, so that its
    figures hold although it failed.
    """

    noun: str
    whole: int
    wrong: tuple[tuple[str, int], ...] = ()

    @property
    def count(self) -> int:
        """How many went wrong."""
        return sum(count for _, count in self.wrong)

    @property
    def text(self) -> str:
        """As a cell of a table."""
        return f"{self.count:,} of {self.whole:,}" if self.count else f"{self.whole:,}"


def added(tallies: Sequence[Tally]) -> Tally:
    """Several tallies of the same trials as one; what is most comes first."""
    wrong: Counter[str] = Counter()
    for tally in tallies:
        wrong.update(dict(tally.wrong))
    return Tally(tallies[0].noun, sum(tally.whole for tally in tallies), tuple(wrong.most_common()))


@dataclass(frozen=True, slots=True)
class Criterion:
    """A figure that people decide by.

    `title`: what it is of, as a row of a table and within a sentence ("creating the files").
    `headline`: one of the one to three that the verdict begins with. `in_memory`: a time that ends
    before all data are on the flash; `programmed_share` is how much of what was written had been
    programmed by then. `short`: the head of its column, else the metric says it or the title.
    `tally`: the figure counts what went wrong of so many, and only none is good. `incidental`: a
    by-product that nobody asks about, as wear is of reading; no headline tells it.
    """

    figure: Figure
    title: str
    aspect: Aspect
    headline: bool = False
    in_memory: bool = False
    programmed_share: float | None = None
    short: str = ""
    tally: Tally | None = None
    incidental: bool = False

    @property
    def column(self) -> str:
        """What stands above its column of a scoreboard."""
        return self.short or _COLUMNS.get(self.figure.metric.name, self.title)

    @property
    def metric(self) -> Metric:
        return self.figure.metric

    @property
    def is_tally(self) -> bool:
        return self.tally is not None

    @property
    def largest(self) -> float:
        return self.figure.value


class Candidate(Protocol):
    """What may be a deciding figure: one of a case, or a row of many cases."""

    @property
    def aspect(self) -> Aspect: ...
    @property
    def headline(self) -> bool: ...
    @property
    def metric(self) -> Metric: ...
    @property
    def is_tally(self) -> bool: ...
    @property
    def largest(self) -> float: ...


C = TypeVar("C", bound=Candidate)


def deciding(candidates: Sequence[C]) -> list[C]:
    """The few that decide, in order: the headlines, and of each aspect its share of the others.

    At most `MOST_DECIDING`, or `MOST_TALLIES` of what counts tallies.
    """
    chosen: list[C] = []
    for aspect, (most, first) in _SHARE.items():
        own = [each for each in candidates if each.aspect == aspect]
        if aspect == "time" and any(each.headline for each in own):
            own = [each for each in own if each.headline]
        ranks = {name: number for number, name in enumerate(first)}
        own.sort(key=lambda each: ranks.get(each.metric.name, len(ranks)))
        if aspect != "time":
            chosen += [each for each in own if each.headline]
            own = [each for each in own if not each.headline]
        if aspect == "wait" and own:  # of several operations the one with the longest
            same = (each for each in own if each.metric.name == own[0].metric.name)
            own = [max(same, key=lambda each: each.largest)]
        distinct = list({each.metric.name: each for each in reversed(own)}.values())[::-1]
        chosen += (distinct if aspect == "wear" else own)[:most]
    return chosen[: MOST_TALLIES if any(each.is_tally for each in chosen) else MOST_DECIDING]


def writes_back(result: CaseResult) -> bool:
    """Whether write() of the case's file system returns when the data are in memory."""
    options = result["spec"]["filesystem"]["options"]
    return bool(options.get("write_mode") == WRITE_BACK)


def rooms(result: CaseResult, label: str = "", words: str = "") -> Iterator[Criterion]:
    """How much the empty partition holds; and at `label`, called `words`, what was left of space
    and memory.
    """
    preparation = result.get("preparation")
    empty = _space_at(preparation["space"] if preparation else result["space"], _MOUNT)
    if empty is not None and empty["available_bytes"]:
        figure = Figure(SPACE_LEFT, _MOUNT, empty["available_bytes"])
        yield Criterion(figure, "space for files on the empty partition", "space")
    at = _space_at(result["space"], label)
    if at is None:
        return
    if at["available_bytes"]:
        left = Figure(SPACE_LEFT, label, at["available_bytes"])
        yield Criterion(left, f"space left {words}", "space")
    # The page cache is memory that the kernel gives up at once: it is not taken.
    unused = at["mem_free_bytes"] + at["page_cache_bytes"]
    used = Figure(MEMORY_USED, label, result["spec"]["board"]["ram_bytes"] - unused)
    yield Criterion(used, f"RAM in use {words} (kernel and file system)", "memory")


def wear(result: CaseResult) -> Iterator[Criterion]:
    """What the measured phases together did to the flash."""
    for phase in result["phases"]:
        if phase["phase"] == _ALL_PHASES and phase["status"] == OK:
            for figure in figures_at(phase, _ALL_PHASES, _WORN):
                yield Criterion(figure, _WEAR[figure.metric.name], "wear")


def waits(latency: LatencyResult, act: str, *, in_memory: bool) -> Iterator[Criterion]:
    """The waits for one kind of operation, called `act`, that a user notices."""
    where = f"{latency['phase']}/{latency['op']}"
    for figure in figures_at(latency, where, _WAITED):
        yield Criterion(figure, f"{act}, {_WAITS[figure.metric.name]}", "wait", False, in_memory)


_COLUMNS = {
    "max_ns": "longest wait",
    "p99_ns": "99 % of waits",
    "pages_programmed": "pages",
    "write_amplification": "amplification",
    "blocks_erased": "erases",
    "erases_max": "most erased",
    "erases_spread": "wear spread",
    "partition_share": "of partition",
    "static_moved": "data moved",
    "outside_erased": "outside",
    "first_bad_bytes": "first bad block",
    "end_bytes": "life",
    "available_bytes": "space",
    "memory_used_bytes": "RAM",
}
_ALL_PHASES = "workload"
_WEAR = {
    "pages_programmed": "pages programmed",
    "write_amplification": "pages programmed per page written (write amplification)",
    "blocks_erased": "blocks erased",
    "erases_max": "most erases of a block",
    "erases_spread": "wear spread, most minus least erased block",
}
_WORN = tuple(BY_NAME[name] for name in _WEAR)
_WAITS = {"p99_ns": "99 % of the times", "max_ns": "longest time"}
_WAITED = tuple(BY_NAME[name] for name in _WAITS)


def _space_at(spaces: Sequence[Space], label: str) -> Space | None:
    return next((space for space in spaces if space["label"] == label), None)
