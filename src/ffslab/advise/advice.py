"""The whole advice: needs, candidates in their order, what would change it; and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.advise.candidates import Candidate
from ffslab.advise.changes import COMPRESSION, Change, changes_of, compression_words
from ffslab.advise.needs import Needs
from ffslab.advise.probes import Probe, interval_us, is_read_only, records_of
from ffslab.advise.readings import Reading, Value, readings_of, values_of
from ffslab.advise.verdict import (
    RULE,
    Cell,
    Judged,
    Need,
    conclusion,
    exploration_command,
    judged,
    needs_asked,
)
from ffslab.exploration.run import all_directories
from ffslab.model.catalog import Catalog
from ffslab.model.units import format_duration_ns, format_size
from ffslab.rating.read import exploration_readings
from ffslab.results.result import CaseResult

_ANOTHER_SIZE = 0.1  # so much of the real one may the stated one be off


@dataclass(frozen=True, slots=True)
class Advice:
    """Everything that table, JSON and page show. `order`: the best candidate first.

    `missing`: so many cases have no result yet. `sources`: where figures are from that no case of
    the run measured. `notes`: what holds of all figures.
    """

    needs: Needs
    asked: tuple[Need, ...]
    order: tuple[Judged, ...]
    changes: tuple[Change, ...]
    compression: tuple[str, ...]
    missing: int
    cases: int
    sources: tuple[str, ...]
    notes: tuple[str, ...]
    run: str = ""

    @property
    def conclusion(self) -> str:
        """The verdict in one sentence."""
        if self.missing:
            left = f"{self.missing} of {self.cases} cases have not been run"
            return f"Not decided: {left}. So far: {conclusion(self.order[0], len(self.order))}"
        return conclusion(self.order[0], len(self.order))

    @property
    def told(self) -> tuple[tuple[int, Judged], ...]:
        """The candidates whose needs are told one by one, with their places: the best, and the best
        of another file system, or the second where there is none.
        """
        best, *rest = enumerate(self.order, start=1)
        name = best[1].candidate.filesystem
        others = [placed for placed in rest if placed[1].candidate.filesystem != name]
        return (best, *(others or rest)[:1])

    @property
    def failures(self) -> tuple[str, ...]:
        """Why cases did not pass, each reason once with the candidates that it is said of."""
        said: dict[str, dict[str, None]] = {}
        for one in self.order:
            for cell in one.failures:
                said.setdefault(cell.value.why, {})[one.candidate.title] = None
        return tuple(f"{'; '.join(titles)}: {why}" for why, titles in said.items())


def advice_of(
    needs: Needs,
    catalog: Catalog,
    found: Sequence[Candidate],
    made: Sequence[Probe],
    results: Iterable[CaseResult],
    beside: Path,
) -> Advice:
    """The advice from what has been measured so far; explorations are looked for in `beside`."""
    readings = readings_of(made, results)
    cuts, sources = _power(needs, found, catalog, beside)
    values = [
        (one, values_of(needs, one, readings, catalog) | {"power": cuts[one.filesystem]})
        for one in found
    ]
    asked = needs_asked(needs)
    order = judged(asked, values)
    outside = {name for name, one in catalog.filesystems.items() if not one.mainline}
    defaults = {
        name: filesystem.options[COMPRESSION].default
        for name, filesystem in catalog.filesystems.items()
        if COMPRESSION in filesystem.options
    }
    return Advice(
        needs=needs,
        asked=asked,
        order=order,
        changes=changes_of(needs, order, outside),
        compression=compression_words(order, defaults),
        missing=len(made) - len(readings),
        cases=len(made),
        sources=sources,
        notes=(
            *notes_of(needs),
            *_notes_on(needs, order, catalog),
            *_other_size(needs, readings),
        ),
    )


def _power(
    needs: Needs, found: Sequence[Candidate], catalog: Catalog, beside: Path
) -> tuple[Mapping[str, Value], tuple[str, ...]]:
    """The share of states that are as promised, by file system, from an exploration there."""
    every = {one.filesystem: catalog.filesystems[one.filesystem] for one in found}
    written = [one for one in every if not is_read_only(Candidate(one), catalog)]
    readings = exploration_readings(needs.exploration, written, all_directories(beside))
    percent = {name: share for name, (share,) in readings.values.items()}
    values = {}
    for name, filesystem in every.items():
        if name not in written:
            values[name] = Value(100.0, "nothing is ever written to it")
        elif filesystem.overlay is not None and filesystem.type in percent:
            values[name] = _of_upper(needs, filesystem.type, percent[filesystem.type])
        elif name in percent:
            values[name] = Value(percent[name], readings.source)
        else:
            values[name] = Value(None, readings.missing[name])
    return values, (readings.source,) if readings.source else ()


def _of_upper(needs: Needs, upper: str, percent: float) -> Value:
    """An overlay is written to its upper file system: it is no better than that. What overlayfs
    itself does has not been cut, so it is not known to be as good.
    """
    told = f"{upper}, its upper file system: {math.floor(percent * 1000) / 1000:g} %"
    if percent < needs.as_promised_percent:
        return Value(percent, f"{told}; an overlay is no better than that")
    return Value(None, f"{told}; no power cut hit overlayfs itself")


def notes_of(needs: Needs) -> tuple[str, ...]:
    """What holds of all figures: assumptions and estimates, said once."""
    board = needs.board
    measured = "was measured" if board.calibrated else "was not measured: its CPU is an estimate"
    notes = [
        f"Times are virtual, of the board {board.name}, which {measured}.",
        "One seed: each figure is exact for its scenario, and says nothing about others.",
    ]
    writes = needs.writes
    if writes is not None:
        size = needs.partition_bytes
        interval = format_duration_ns(interval_us(writes) * 1000)
        notes.append(
            "Writes were measured on a flash with nine tenths written before: "
            f"{records_of(writes, size):,} records of {format_size(writes.record_bytes)}, one each "
            f"{interval}, beside {format_size(needs.packed_bytes)} of data that stay. The "
            "longest is the longest of these; more records may find a longer one."
        )
    if writes is not None and writes.years is not None:
        chip = needs.chip
        basis = next((one for one in chip.provenance if one.figure == "endurance_cycles"), None)
        source = f" ({basis.source}{', an estimate' if basis.estimate else ''})" if basis else ""
        notes.append(
            f"Life is an estimate: {chip.endurance_cycles:,} erases{source} × the partition’s "
            "blocks ÷ (what a day programs × how much more the most erased block gets than the "
            "mean), both as in the short run; UBI bounds the unevenness by its threshold."
        )
    return tuple(notes)


def _notes_on(needs: Needs, order: Sequence[Judged], catalog: Catalog) -> Iterator[str]:
    """What is to be known of candidates beside their figures."""
    names = dict.fromkeys(one.candidate.filesystem for one in order)
    outside = [name for name in names if not catalog.filesystems[name].mainline]
    if outside:
        yield f"Not a part of Linux, and so a module to maintain: {', '.join(outside)}."
    if (
        any(catalog.filesystems[name].type == "jffs2" for name in names)
        and needs.writes is not None
    ):
        yield (
            "Before, one file was written and deleted. A sync of JFFS2 erases all blocks that "
            "a deletion left, so it takes less time after the deletion of smaller files."
        )
    if any("fastmap" in dict(one.candidate.options) for one in order):
        yield "Linux calls fastmap experimental."
    if any("beb_per1024" in dict(one.candidate.options) for one in order):
        yield (
            "A smaller UBI reserve leaves more space and allows fewer bad blocks; data sheets of "
            "SLC NAND allow 20 in 1,024 over its life."
        )


def _other_size(needs: Needs, found: Mapping[str, Reading]) -> Iterator[str]:
    """That the tree is not as large as the needs say, which the cases that write rest on."""
    sizes = (reading.values["tree"].value for reading in found.values() if "tree" in reading.values)
    size = next(sizes, None)
    if size is not None and abs(size - needs.content_bytes) > _ANOTHER_SIZE * size:
        yield (
            f"content.size says {format_size(needs.content_bytes)}, and the files of the tree have "
            f"{format_size(int(size))}: correct it, because the cases that write depend on it."
        )


def document(advice: Advice) -> dict[str, Any]:
    """The advice as JSON; values in nanoseconds, bytes, years and percent."""
    return {
        "v": 1,
        "needs": advice.needs.name,
        "title": advice.needs.title,
        "board": advice.needs.board.name,
        "partition_bytes": advice.needs.partition_bytes,
        "conclusion": advice.conclusion,
        "rule": RULE,
        "asked": [
            {"key": n.key, "title": n.title, "limit": n.limit, "unit": n.unit} for n in advice.asked
        ],
        "candidates": [_candidate(one) for one in advice.order],
        "failures": list(advice.failures),
        "would_change": [{"need": one.need, "text": one.text} for one in advice.changes],
        "compression": list(advice.compression),
        "notes": list(advice.notes),
        "sources": list(advice.sources),
        "next": next_steps(advice),
        "cases": advice.cases,
        "cases_missing": advice.missing,
        "run": advice.run,
    }


def _candidate(one: Judged) -> dict[str, Any]:
    candidate = one.candidate
    return {
        "title": candidate.title,
        "filesystem": candidate.filesystem,
        "options": dict(candidate.options),
        "partition_bytes": candidate.partition_bytes,
        "needs": {cell.need.key: _cell(cell) for cell in one.cells},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    known = cell.value.value
    return {
        "standing": cell.standing,
        "value": None if known == float("inf") else known,
        "words": cell.words,
        "why": cell.value.why,
    }


def next_steps(advice: Advice) -> list[str]:
    """Commands that measure what the advice lacks."""
    power = [cell for one in advice.order for cell in one.cells if cell.need.key == "power"]
    unknown = any(cell.value.value is None for cell in power)
    return [exploration_command(advice.needs)] if unknown else []


def of_run(advice: Advice, run: Path) -> Advice:
    """The advice with where its results are."""
    return replace(advice, run=str(run))
