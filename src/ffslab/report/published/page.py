"""The HTML page of publications: one offline file in the look of the report.

First the score and all figures as ratios; then each statement with its figures, its chart, and why
ours is another figure where it is. The documents have the same parts (`markdown`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.published import errors
from ffslab.published.beside import JudgedPublication, JudgedStatement, score_text, total
from ffslab.published.judge import Judged, Mark, percent
from ffslab.report.elements import Table, environment
from ffslab.report.published.chart import bars, maps, overview
from ffslab.results.files import write_atomic

HEAD = ("", "", "published", "ours", "ours ÷ published")
WORDS = {
    Mark.AGREES: "agrees",
    Mark.DIRECTION: "agrees in direction, or shows no difference",
    Mark.REVERSED: "contradicts",
    Mark.NOT_MEASURED: "not measured",
}
RULE = (
    "A figure agrees if it is within a factor of 1.5 of the published one, or of its range. A "
    "ratio also has a direction: above 1, below 1, or “alike” if it is within 2 % of 1. It agrees "
    "only if ours has the same direction. It is reversed if ours has the opposite one, or if the "
    "published one is “alike” and ours is beyond the factor of 1.5. An order agrees if it holds, "
    "and is reversed if the opposite holds; of two sides that are alike it is neither. A statement "
    "is ✔ if all its figures and orders agree, ✘ if one of them is reversed, and ≈ otherwise. The "
    "rule is the same for all statements."
)
_TONES = {Mark.AGREES: "good", Mark.REVERSED: "bad"}
_COUNTED = {
    Mark.AGREES: "agree ✔",
    Mark.DIRECTION: "agree in direction only ≈",
    Mark.REVERSED: "are contradicted ✘",
    Mark.NOT_MEASURED: "were not measured",
}


@dataclass(frozen=True)
class ShownCause:
    """Why ours is another figure; `lines` are what experiments changed."""

    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ShownStatement:
    """A statement as the page and the documents have it."""

    id: str
    mark: str
    tone: str
    says: str
    place: str
    table: Table
    charts: tuple[str, ...]
    causes: tuple[ShownCause, ...]


@dataclass(frozen=True)
class ShownPublication:
    """A publication as the page and the documents have it."""

    name: str
    title: str
    source: str
    board: str
    chip: str
    score: str
    overview: str
    errors: Table | None  # of figures of boards
    where: str  # what stands before the place of a statement
    statements: tuple[ShownStatement, ...]


def shown(publication: JudgedPublication) -> ShownPublication:
    """The parts of a publication's page."""
    stated = publication.publication
    source = stated.source
    return ShownPublication(
        name=stated.name,
        title=stated.title,
        source=f"{source.authors}: “{source.title}”, {source.venue} {source.year}",
        board=stated.board,
        chip=stated.chip,
        score=score_text(publication.score),
        overview=overview(publication, f"{stated.name}-overview"),
        errors=_errors(publication),
        where="In the publication" if publication.states else "Published in",
        statements=tuple(map(_shown_statement, publication.statements)),
    )


def _errors(publication: JudgedPublication) -> Table | None:
    rows = tuple(each.cells for each in publication.errors)
    return Table("", errors.HEAD, (), rows, 1, wrapped=(4,)) if rows else None


def _shown_statement(statement: JudgedStatement) -> ShownStatement:
    stated, own = statement.statement, statement.mark
    name = f"published-{stated.id}"
    return ShownStatement(
        *(stated.id, own.value, _TONES.get(own, "plain"), stated.says, stated.place),
        table=Table("", HEAD, (), tuple(map(_row, statement.checks)), 2, wrapped=(1,)),
        charts=(*bars(statement, name), *maps(statement, name)),
        causes=tuple(
            ShownCause(
                cause.text,
                (
                    *(f"{change.title}: {change.text}" for change in cause.changes),
                    *(f"{drawn.title}, {line}" for drawn in cause.maps for line in drawn.lines),
                ),
            )
            for cause in statement.causes
        ),
    )


def _row(check: Judged) -> tuple[str, ...]:
    told = check.why or check.spent
    title = f"{check.title}: {told}" if told else check.title
    if check.is_order:
        return check.mark.value, title, "order", check.ours_text, f"{check.ratio_text} : 1"
    return check.mark.value, title, check.published_text, check.ours_text, check.ratio_text


def render_published(publications: Sequence[JudgedPublication]) -> str:
    """The page; MissingExtraError without the packages that a report needs."""
    template = environment().get_template("published.html.j2")
    return str(
        template.render(
            publications=[shown(publication) for publication in publications],
            headline=first_sentences(publications),
            rule=RULE,
            words={mark.value: words for mark, words in WORDS.items()},
        )
    )


def first_sentences(publications: Sequence[JudgedPublication]) -> str:
    """What all comes to: the score of statements, and how far figures of boards are off."""
    stating = [each.score for each in publications if each.states]
    told = [headline(total(stating))] if stating else []
    for each in publications:
        for every in each.errors[-1:]:
            told.append(
                f"Of {every.count} figures of boards half are off by at most "
                f"{percent(every.median)}, all by at most {percent(every.worst)}."
            )
    return " ".join(told)


def headline(score: Mapping[Mark, int]) -> str:
    """The score in words."""
    counts = ((score[mark], words) for mark, words in _COUNTED.items())
    told = ", ".join(f"{count} {words}" for count, words in counts if count)
    number = sum(score.values())
    return f"Of {number} published statement{'s' * (number != 1)} {told}."


def write_page(publications: Sequence[JudgedPublication], path: Path) -> Path:
    """Writes the page, and returns where it is."""
    write_atomic(path, render_published(publications))
    return path
