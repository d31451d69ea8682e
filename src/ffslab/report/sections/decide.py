"""The figures that people decide by, an aspect in each section: a chart of each figure, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ffslab.compare.words import ratio_words, value_text
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.first.board import short_names
from ffslab.report.first.picture import chart_of, families, numbers_of, settled
from ffslab.report.first.samples import Matter, Row, where
from ffslab.report.first.weigh import Weighed, weigh
from ffslab.report.quantity import CUT, capitalized, listed
from ffslab.report.sections.section import Chart, Section
from ffslab.results.criteria import Aspect

_QUESTIONS: dict[Aspect, str] = {
    "time": "How long does it take?",
    "wait": "How long does one operation wait?",
    "wear": "What does it do to the flash?",
    "space": "How much room is there?",
    "memory": "How much RAM does it need?",
}
_MEMORY = "◦"
_MOST_COLUMNS = 8
_BEYOND = 1e6  # times: no factor to tell, the best is 0


def decide_sections(matter: Matter, weighed: Sequence[Weighed], key: str) -> Iterator[Section]:
    """A section for each aspect that was measured; `key` begins the anchors."""
    for aspect, question in _QUESTIONS.items():
        own = [weigh(settled(each.row)) for each in weighed if each.row.aspect == aspect]
        if own:
            yield Section(
                key=f"{key}{aspect}",
                title=question,
                sentence=standing_sentence(own[0]),
                charts=tuple(_charts(matter, own, f"{key}{aspect}")),
                tables=tuple(table_of(matter, each) for each in own),
                note=_note(own),
            )


def _charts(matter: Matter, weighed: Sequence[Weighed], key: str) -> Iterator[Chart]:
    for number, each in enumerate(weighed):
        for part, row in enumerate(families(each.row)):
            drawing = chart_of(matter, row, f"{key}-{number}{f'-{part}' if part else ''}")
            if drawing:
                yield Chart(capitalized(row.title), drawing)


def standing_sentence(weighed: Weighed) -> str:
    """Who is first at how many places, and how far behind the others are at most."""
    whole = weighed.standing
    if whole is None:
        return ""
    title, metric = capitalized(weighed.row.title), weighed.row.metric
    count = len(weighed.contested)
    wins = {
        label: sum(label in weighed.best[number] for number in weighed.contested)
        for label in whole.order
    }
    first = whole.order[0]
    last = max(whole.order, key=lambda label: whole.behind[label].high)
    if not wins[first]:
        return f"{title}: no difference."
    places = (
        "" if count == 1 else f" at {'all' if wins[first] == count else wins[first]} of {count}"
    )
    places = places.replace("all of", "all")
    high = whole.behind[last].high
    if high > _BEYOND:
        most = max(weighed.rivals[last].values(), key=lambda cell: cell.mean)
        return f"{title}: **{first}** is best{places}; {last} has {value_text(metric, most.mean)}."
    behind = ratio_words(metric, 1 / high if metric.better == "higher" else high)
    return f"{title}: **{first}** is best{places}; {last} is up to {behind}."


def table_of(matter: Matter, weighed: Weighed) -> Table:
    """A row for each configuration, a column for each place; the other way round where there are
    more of these.
    """
    row = weighed.row
    names = [where(row, number) or "value" for number in range(len(row.places))]
    short = short_names(matter.labels)
    rows = tuple(
        (
            short[label],
            *(_cell(weighed, label, number) for number in range(len(row.places))),
        )
        for label in matter.labels
        if label in row.cells
    )
    many = len(names) > max(len(rows), _MOST_COLUMNS)
    unlike = "; ◦ ends in memory" if any(_MEMORY in cell for line in rows for cell in line) else ""
    note = f"✓ is the best, or within 2 % of it{unlike}."
    if many:
        head, *columns = zip(("place", *names), *rows, strict=True)
        return Table(capitalized(row.title), head, (), tuple(columns), note=note)
    return by_filesystem(
        Table(capitalized(row.title), ("configuration", *names), (), rows, note=note)
    )


def _cell(weighed: Weighed, label: str, number: int) -> str:
    cell = weighed.row.cells[label].get(number)
    if cell is None:
        return "–"
    best = "✓ " if label in weighed.best[number] else ""
    memory = _MEMORY if cell.in_memory else ""
    return f"{best}{value_text(weighed.row.metric, cell.mean)}{memory}{CUT if cell.cut else ''}"


def _note(weighed: Sequence[Weighed]) -> str:
    rows: list[Row] = [each.row for each in weighed]
    late = {
        label
        for row in rows
        for label, cells in row.cells.items()
        if any(cell.in_memory for cell in cells.values())
    }
    axes = [part for row in rows for part in families(row) if numbers_of(part)]
    hollow = f"Hollow: {listed(sorted(late))} return when data are in memory. " if late else ""
    return hollow + ("A point is a mean over the seeds." if axes else "")
