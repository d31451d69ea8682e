"""The page of an advice: one page for a design decision, from what `ffslab.advise` found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ffslab import __version__
from ffslab.advise.advice import Advice
from ffslab.advise.needs import Needs
from ffslab.advise.ranking import MET, MISSED, RULE, Cell, Judged
from ffslab.model.units import format_size
from ffslab.program import command
from ffslab.report.elements import Table, environment
from ffslab.report.index import keep_headline
from ffslab.results.files import write_atomic

PAGE = "advice.html"
_MARKS = {MET: "✓", MISSED: "✗"}


@dataclass(frozen=True)
class ShownCell:
    """A need of a candidate: its standing as a mark, the value, how far it is from the limit."""

    mark: str
    value: str
    words: str


@dataclass(frozen=True)
class ShownCandidate:
    """A line of the ranking; `needs` is the table of what it meets and why."""

    place: int
    title: str
    settings: str
    cells: tuple[ShownCell, ...]
    needs: Table


def write_advice(advice: Advice, again: str, target: Path) -> Path:
    """Writes the page in one step; `again` is the command that made it. MissingExtraError without
    the packages of a report.
    """
    path = target / PAGE if target.is_dir() else target
    write_atomic(path, render(advice, again, path))
    if advice.run:
        keep_headline(path, Path(advice.run), advice.conclusion, advice.needs.title)
    return path


def render(advice: Advice, again: str, target: Path) -> str:
    """The page; `target` is where it will stand, for its link to the run."""
    run = Path(advice.run)
    best = advice.order[0]
    sign = "✗" if best.missed or best.failures else "?" if best.unknown else "✓"
    beside = run.is_dir() and run.resolve() == target.resolve().parent
    template = environment().get_template("advice.html.j2")
    return str(
        template.render(
            advice=advice,
            rows=[shown(rank, judged) for rank, judged in enumerate(advice.order, start=1)],
            told=[shown(rank, judged) for rank, judged in advice.told],
            facts=facts_of(advice.needs),
            rule=RULE,
            sign="?" if advice.missing else sign,
            again=again,
            report=command("report", advice.run) if advice.run else "",
            results=quote("results.jsonl") if beside and (run / "results.jsonl").exists() else "",
            version=__version__,
        )
    )


def shown(rank: int, judged: Judged) -> ShownCandidate:
    """A candidate in words."""
    settings = " ".join(f"{name}={value}" for name, value in judged.candidate.settings.items())
    cells = tuple(map(shown_cell, judged.cells))
    rows = tuple(
        (cell.need.title, f"{told.mark} {told.words}", cell.value.why, cell.need.asked, told.value)
        for cell, told in zip(judged.cells, cells, strict=True)
    )
    head = ("need", "verdict", "why", "asked", "found")
    needs = Table("", head, (), rows, text_columns=3, wrapped=(0, 1, 2))
    return ShownCandidate(rank, judged.candidate.title, settings, cells, needs)


def shown_cell(cell: Cell) -> ShownCell:
    """A need in words; what failed has missed it."""
    value = cell.value.value
    standing = MISSED if cell.value.failed else cell.standing
    return ShownCell(
        mark=_MARKS.get(standing, "?"),
        value="–" if value is None else cell.need.words(value),
        words="not measured: its case did not pass" if cell.value.failed else cell.words,
    )


def facts_of(needs: Needs) -> tuple[tuple[str, str], ...]:
    """What is asked for, besides the limits of the table."""
    content = f"{format_size(needs.content_bytes)} of files"
    if needs.compressible_percent:
        content += f", {needs.compressible_percent} % compressible"
    facts = [
        ("Board", f"{needs.board.title} ({needs.board.name})"),
        ("Partition", format_size(needs.partition_bytes)),
        ("Content", content),
        ("Power cuts", "at any time" if needs.power_cuts else "none"),
    ]
    writes = needs.writes
    if writes is not None:
        sync = {0: "never synced", 1: "each synced"}.get(
            writes.sync_every, f"every {writes.sync_every} synced"
        )
        size = f" in a file of {format_size(writes.file_bytes)}" if writes.file_bytes else ""
        facts.append(
            (
                "Writes",
                f"{writes.pattern}: {format_size(writes.per_day_bytes)} a day, records of "
                f"{format_size(writes.record_bytes)}{size}, {sync}",
            )
        )
    return tuple(facts)
