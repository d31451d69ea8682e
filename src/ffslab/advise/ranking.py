"""Need against candidate: met, missed and by how much, not measured; and the order of candidates.

The rule of the order, in one place (`rank_key`):

1. fewer needs missed; a case that did not pass counts as one, for its file system failed at it;
2. fewer needs not measured;
3. of those that miss as many: the smaller product of the factors by which they miss;
4. fewer ways to cost what no need measures (`Candidate.risks`);
5. the larger headroom of the need that is met most narrowly, up to a factor of 10;
6. fewer departures from the file system's defaults, then the catalog's order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ffslab.advise.candidates import Candidate
from ffslab.advise.needs import Needs
from ffslab.advise.readings import Value
from ffslab.model.units import format_duration_ns, format_size

Unit = Literal["ns", "bytes", "years", "percent"]
Standing = Literal["met", "missed", "not measured"]
MET: Standing = "met"
MISSED: Standing = "missed"
NOT_MEASURED: Standing = "not measured"
_HEADROOM_MAX = 10.0
_ALL = 100.0
_YEARS_SHOWN_MAX, _WHOLE_YEARS = 1000, 100
RULE = (
    "Order: fewer needs missed (a case that did not pass counts as one), then fewer not measured, "
    "then by how much they are missed, then without fastmap, smaller UBI reserve or another "
    "partition, whose cost no need measures, then by how narrowly the narrowest is met (a factor "
    "of 10 is enough), then the file system’s own defaults first."
)


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that is asked for. `limit` in nanoseconds, bytes, years or percent."""

    key: str
    title: str
    short: str  # the heading of a column
    limit: float
    unit: Unit
    higher_is_better: bool = False

    def words(self, value: float) -> str:
        """A value of this need with its unit."""
        if self.unit == "ns":
            return format_duration_ns(value)
        if self.unit == "bytes":
            return format_size(round(value))
        if self.unit == "percent":
            return "all" if value >= _ALL else f"{math.floor(value * 1000) / 1000:g} %"
        if value > _YEARS_SHOWN_MAX:
            return f">{_YEARS_SHOWN_MAX:,} y"
        return f"{value:.0f} y" if value >= _WHOLE_YEARS else f"{value:.3g} y"

    @property
    def asked(self) -> str:
        """The limit in words."""
        if self.unit == "bytes" and not self.limit:
            return "it fits"
        if self.unit == "percent" and self.limit >= _ALL:
            return "all"
        return f"{'≥' if self.higher_is_better else '≤'} {self.words(self.limit)}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A need and what a candidate makes of it."""

    need: Need
    value: Value

    @property
    def standing(self) -> Standing:
        if self.value.value is None:
            return NOT_MEASURED
        if self.value.failed:
            return MISSED
        return MET if self.factor >= 1 else MISSED

    @property
    def factor(self) -> float:
        """How many times better than asked; below 1 it is missed. Only of what was measured."""
        value, limit = self.value.value, self.need.limit
        assert value is not None
        better, worse = (value, limit) if self.need.higher_is_better else (limit, value)
        if self.value.failed:
            return 0.0
        return better / worse if worse > 0 else math.inf

    @property
    def words(self) -> str:
        """The standing, and of what is missed by how much."""
        if self.standing != MISSED:
            return self.standing
        value = self.value.value
        assert value is not None
        if self.value.failed:
            return f"missed: {self.value.why}"
        if self.need.unit == "percent":
            return f"missed: {self.need.words(value)}"
        difference = self.need.words(abs(value - self.need.limit))
        factor = f" (×{1 / self.factor:.3g})" if self.factor else ""
        return f"missed by {difference}{factor}"


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate against all needs."""

    candidate: Candidate
    cells: tuple[Cell, ...]
    order: int  # of the candidates

    @property
    def missed(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.standing == MISSED)

    @property
    def unknown(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.standing == NOT_MEASURED)

    @property
    def failures(self) -> tuple[Cell, ...]:
        """Needs of which a case was run and did not pass, so that nothing is known."""
        return tuple(cell for cell in self.unknown if cell.value.failed)

    def cell(self, key: str) -> Cell:
        """The cell of the need called `key`."""
        return next(cell for cell in self.cells if cell.need.key == key)


def needs_asked(needs: Needs) -> tuple[Need, ...]:
    """The needs of a file in the order in which they are shown."""
    asked = []
    if needs.content_bytes or needs.free_bytes:
        title = "space left beside the content"
        asked.append(Need("space", title, "free", needs.free_bytes, "bytes", True))
    if needs.boot_ns is not None:
        title = "mount to the end of ls"
        asked.append(Need("boot", f"{title}, clean", "boot", needs.boot_ns, "ns"))
        if needs.power_cuts:
            cut = Need("boot-cut", f"{title}, after a power cut", "cut", needs.boot_ns, "ns")
            asked.append(cut)
    if needs.ram_bytes is not None:
        asked.append(Need("ram", "RAM of the file system", "RAM", needs.ram_bytes, "bytes"))
    if needs.write_ns is not None:
        asked.append(Need("write", "the longest write", "write", needs.write_ns, "ns"))
    if needs.writes is not None and needs.writes.years is not None:
        title = "life of the flash (estimate)"
        asked.append(Need("life", title, "life", needs.writes.years, "years", True))
    if needs.writes is not None:
        asked.append(Need("kept", "keeps what it was told", "kept", _ALL, "percent", True))
    if needs.power_cuts:
        title = "states after a power cut that are as promised"
        share = needs.as_promised_percent
        asked.append(Need("power", title, "power", share, "percent", True))
    return tuple(asked)


def judge_candidates(
    asked: Sequence[Need], measured: Sequence[tuple[Candidate, Mapping[str, Value]]]
) -> tuple[Judged, ...]:
    """All candidates, the best first."""
    every = (
        Judged(candidate, tuple(Cell(need, _value(values, need)) for need in asked), number)
        for number, (candidate, values) in enumerate(measured)
    )
    return ranked(every)


def _value(values: Mapping[str, Value], need: Need) -> Value:
    return values.get(need.key, Value(None, "no case measures it"))


def ranked(every: Any) -> tuple[Judged, ...]:
    """In the order of the rule at the head of this file."""
    return tuple(sorted(every, key=rank_key))


def rank_key(judged: Judged) -> tuple[float, ...]:
    """The smaller the better."""
    failed = len(judged.failures)
    missing = sum(-math.log(cell.factor) if cell.factor else math.inf for cell in judged.missed)
    headroom = min(
        (
            min(cell.factor, _HEADROOM_MAX)
            for cell in judged.cells
            if cell.standing == MET and cell.need.unit != "percent"
        ),
        default=1.0,
    )
    departures = len(judged.candidate.options) + (judged.candidate.partition_bytes is not None)
    return (
        len(judged.missed) + failed,
        len(judged.unknown) - failed,
        missing,
        judged.candidate.risks,
        -headroom,
        departures,
        judged.order,
    )


def with_limit(judged: Judged, key: str, limit: float) -> Judged:
    """The same candidate, were another limit asked for."""
    cells = tuple(
        replace(cell, need=replace(cell.need, limit=limit)) if cell.need.key == key else cell
        for cell in judged.cells
    )
    return replace(judged, cells=cells)


def conclusion(best: Judged, total: int) -> str:
    """The verdict in one sentence."""
    met = len(best.cells) - len(best.missed) - len(best.unknown)
    name = best.candidate.title
    if not best.missed and not best.unknown:
        return f"{name} meets all {met} needs; first of {total} candidates."
    parts = [f"{name} comes first of {total} candidates and meets {met} of {len(best.cells)} needs"]
    if best.missed:
        parts.append("misses " + _listed(best.missed))
    if best.unknown:
        parts.append(_listed(best.unknown) + " was not measured")
    return "; ".join(parts) + "."


def _listed(cells: Sequence[Cell]) -> str:
    return ", ".join(cell.need.title for cell in cells)
