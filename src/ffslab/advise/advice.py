"""The whole advice: needs, candidates in their order, what would change it; and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.advise.candidates import Candidate
from ffslab.advise.changes import COMPRESSION, Change, changes_of, compression_words
from ffslab.advise.needs import Needs
from ffslab.advise.probes import Probe, interval_us, records_of
from ffslab.advise.ranking import (
    RULE,
    Cell,
    Judged,
    Need,
    conclusion,
    judge_candidates,
    needs_asked,
)
from ffslab.advise.readings import Reading, readings_of, values_of
from ffslab.model.catalog import Catalog
from ffslab.model.units import format_duration_ns, format_size
from ffslab.results.result import CaseResult

_ANOTHER_SIZE = 0.1  # so much of the real one may the stated one be off


@dataclass(frozen=True, slots=True)
class Advice:
    """Everything that table, JSON and page show. `order`: the best candidate first.

    `missing`: so many cases have no result yet. `notes`: what holds of all figures.
    """

    needs: Needs
    asked: tuple[Need, ...]
    order: tuple[Judged, ...]
    changes: tuple[Change, ...]
    compression: tuple[str, ...]
    missing: int
    cases: int
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
        for judged in self.order:
            for cell in judged.failures:
                said.setdefault(cell.value.why, {})[judged.candidate.title] = None
        return tuple(f"{'; '.join(titles)}: {why}" for why, titles in said.items())


def advice_of(
    needs: Needs,
    catalog: Catalog,
    candidates: Sequence[Candidate],
    made: Sequence[Probe],
    results: Iterable[CaseResult],
) -> Advice:
    """The advice from what has been measured so far."""
    readings = readings_of(made, results)
    values = [
        (candidate, values_of(needs, candidate, readings, catalog)) for candidate in candidates
    ]
    asked = needs_asked(needs)
    order = judge_candidates(asked, values)
    outside = {name for name, filesystem in catalog.filesystems.items() if not filesystem.mainline}
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
        notes=(
            *notes_of(needs),
            *_notes_on(needs, order, catalog),
            *_other_size(needs, readings),
        ),
    )


def _power_notes(needs: Needs) -> list[str]:
    if not needs.power_cuts:
        return []
    if not needs.cut_states:
        return ["Power was cut everywhere in four histories, with the options at their defaults."]
    return [
        f"Power cuts are a sample: {needs.cut_states:,} states of each of four histories for each "
        "file system, its options at their defaults. cut_states = 0 in the needs goes through "
        "all of them."
    ]


def notes_of(needs: Needs) -> tuple[str, ...]:
    """What holds of all figures: assumptions and estimates, said once."""
    board = needs.board
    measured = "was measured" if board.calibrated else "was not measured: its CPU is an estimate"
    notes = [
        f"Times are virtual, of the board {board.name}, which {measured}.",
        *_power_notes(needs),
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
        basis = next(
            (entry for entry in chip.provenance if entry.figure == "endurance_cycles"), None
        )
        source = f" ({basis.source}{', an estimate' if basis.estimate else ''})" if basis else ""
        notes.append(
            f"Life is an estimate: {chip.endurance_cycles:,} erases{source} × the partition’s "
            "blocks ÷ (what a day programs × how much more the most erased block gets than the "
            "mean), both as in the short run; UBI bounds the unevenness by its threshold."
        )
    return tuple(notes)


def _notes_on(needs: Needs, order: Sequence[Judged], catalog: Catalog) -> Iterator[str]:
    """What is to be known of candidates beside their figures."""
    names = dict.fromkeys(judged.candidate.filesystem for judged in order)
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
        yield (
            "JFFS2 has no writable shared mmap, so SQLite in WAL mode fails on it (disk I/O "
            "error): journal_mode=DELETE works, and so does WAL with locking_mode=EXCLUSIVE."
        )
    if any("fastmap" in dict(judged.candidate.options) for judged in order):
        yield "Linux calls fastmap experimental."
    if any("beb_per1024" in dict(judged.candidate.options) for judged in order):
        yield (
            "A smaller UBI reserve leaves more space and allows fewer bad blocks; data sheets of "
            "SLC NAND allow 20 in 1,024 over its life."
        )


def _other_size(needs: Needs, readings: Mapping[str, Reading]) -> Iterator[str]:
    """That the tree is not as large as the needs say, which the cases that write rest on."""
    sizes = (
        reading.values["tree"].value for reading in readings.values() if "tree" in reading.values
    )
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
        "candidates": [_candidate(judged) for judged in advice.order],
        "failures": list(advice.failures),
        "would_change": [{"need": change.need, "text": change.text} for change in advice.changes],
        "compression": list(advice.compression),
        "notes": list(advice.notes),
        "cases": advice.cases,
        "cases_missing": advice.missing,
        "run": advice.run,
    }


def _candidate(judged: Judged) -> dict[str, Any]:
    candidate = judged.candidate
    return {
        "title": candidate.title,
        "filesystem": candidate.filesystem,
        "options": dict(candidate.options),
        "partition_bytes": candidate.partition_bytes,
        "needs": {cell.need.key: _cell(cell) for cell in judged.cells},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    known = cell.value.value
    return {
        "standing": cell.standing,
        "value": None if known == float("inf") else known,
        "words": cell.words,
        "why": cell.value.why,
    }


def of_run(advice: Advice, run: Path) -> Advice:
    """The advice with where its results are."""
    return replace(advice, run=str(run))
