"""Publications by name, and their statements with every `each` spelled out: no case is needed yet.

Also what the files give to others: the statements that words of a command line name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from ffslab.errors import SpecError, UsageError
from ffslab.loader import parse_toml, read_text
from ffslab.model.names import suggestion
from ffslab.model.validation import validated
from ffslab.model.where import Where
from ffslab.paths import data_dir
from ffslab.program import program
from ffslab.published.files import (
    CauseFile,
    Each,
    FigureFile,
    MapFile,
    PublicationFile,
    RunFile,
    SideFile,
    SourceFile,
    StatementFile,
)
from ffslab.published.judge import Published

ALL = "all"
DOCUMENT = "docs/published.md"


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A published number or range, and the formula of ours."""

    title: str
    published: Published
    ours: str
    unit: str
    of: str


@dataclass(frozen=True, slots=True)
class StatedOrder:
    """A published order, as a comparison of ours."""

    title: str
    holds: str
    unit: str


@dataclass(frozen=True, slots=True)
class StatedChange:
    """The formula of a figure as it is, and with one thing changed."""

    title: str
    published: float | None
    ours: str
    changed: str
    unit: str


@dataclass(frozen=True, slots=True)
class StatedMap:
    """The formulas of a figure over two settings, row by row; `across` and `down` are the titles of
    the sides, and a cell has the names of its column and its row. One that cannot be has no
    formula.
    """

    title: str
    unit: str
    across: str
    down: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class StatedCause:
    """Why ours is another figure, and what an experiment changes."""

    text: str
    changes: tuple[StatedChange, ...]
    maps: tuple[StatedMap, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a publication."""

    id: str
    place: str
    says: str
    figures: tuple[StatedFigure, ...]
    orders: tuple[StatedOrder, ...]
    causes: tuple[StatedCause, ...]

    @property
    def formulas(self) -> Iterator[str]:
        """Those that are numbers."""
        yield from (figure.ours for figure in self.figures)
        for cause in self.causes:
            for change in cause.changes:
                yield from (change.ours, change.changed)
            for stated in cause.maps:
                yield from (formula for _, _, formula in stated.cells if formula)


@dataclass(frozen=True, slots=True)
class Publication:
    """A publication, or some of its statements; `where` is its file for messages."""

    name: str
    title: str
    minutes: int
    source: SourceFile
    board: str
    chip: str
    runs: Mapping[str, RunFile]
    values: Mapping[str, str]
    statements: tuple[Statement, ...]
    where: str
    measurements: bool = False
    is_whole: bool = True

    def only(self, ids: Iterable[str]) -> Publication:
        """The same with these of its statements."""
        kept = tuple(statement for statement in self.statements if statement.id in set(ids))
        return replace(self, statements=kept, is_whole=len(kept) == len(self.statements))


def publication_files() -> dict[str, Path]:
    """The files by the names of the publications."""
    return {path.stem: path for path in sorted(data_dir("published").glob("*.toml"))}


def publications() -> list[Publication]:
    """All of them, in the order of their statements' letters."""
    every = map(load_publication, publication_files().values())
    return sorted(every, key=lambda publication: publication.statements[0].id)


def load_publication(path: Path) -> Publication:
    """A publication; SpecError for whatever is wrong in its file."""
    text = read_text(path)
    file = validated(PublicationFile, parse_toml(text, str(path)), Where(str(path), text), DOCUMENT)
    if file.name != path.stem:
        raise SpecError(
            f"{path}: its name is {file.name!r}, but the file is called {path.stem!r}",
            cause="the file was copied or renamed",
            remedy=f'name = "{path.stem}" in {path}',
        )
    ids = [statement.id for statement in file.statement]
    twice = next((word for word in ids if ids.count(word) > 1), None)
    if twice:
        raise SpecError(
            f"{path}: two statements are called {twice}",
            cause="a statement was copied",
            remedy="another id for one of them",
        )
    return Publication(
        *(file.name, file.title, file.minutes, file.source, file.board, file.chip),
        runs=file.runs,
        values=file.values,
        statements=tuple(map(_statement, file.statement)),
        where=str(path),
        measurements=file.measurements,
    )


def chosen(words: Sequence[str]) -> tuple[Publication, ...]:
    """What words of a command line name: publications, statements by id, or all.

    UsageError for a word that is none of these.
    """
    every = publications()
    owners = {statement.id: each.name for each in every for statement in each.statements}
    wanted: dict[str, set[str]] = {}
    for word in words:
        named = [each for each in every if word in (each.name, ALL)]
        if word in owners:
            wanted.setdefault(owners[word], set()).add(word)
        elif named:
            for each in named:
                wanted.setdefault(each.name, set()).update(s.id for s in each.statements)
        else:
            names = [each.name for each in every]
            raise UsageError(
                f"no publication {word!r}{suggestion(word, (*names, *owners, ALL))}",
                cause=f"there are {', '.join(names)}, and statements such as {next(iter(owners))}",
                remedy=f"{program()} reproduce, which lists them",
            )
    return tuple(each.only(wanted[each.name]) for each in every if each.name in wanted)


def _statement(file: StatementFile) -> Statement:
    orders = (
        StatedOrder(_filled(order.title, words), _filled(order.holds, words), order.unit)
        for order in file.order
        for words in _combinations(order.each)
    )
    return Statement(
        *(file.id, file.place, file.says),
        figures=tuple(figure for stated in file.figure for figure in _figures(stated)),
        orders=tuple(orders),
        causes=tuple(map(_cause, file.cause)),
    )


def _figures(file: FigureFile) -> Iterator[StatedFigure]:
    for number, words in enumerate(_combinations(file.each)):
        if file.published is None:
            high = inf if file.at_most is None else file.at_most
            published = Published(file.at_least or 0.0, high)
        else:
            stated = file.published
            value = stated[number] if isinstance(stated, list) else stated
            published = Published(value, value)
        title, ours = _filled(file.title, words), _filled(file.ours, words)
        yield StatedFigure(title, published, ours, file.unit, _filled(file.of, words))


def _cause(file: CauseFile) -> StatedCause:
    changes = (
        StatedChange(
            title=_filled(stated.title, words),
            published=stated.published,
            ours=_filled(stated.ours, words),
            changed=_filled(stated.changed, words),
            unit=stated.unit,
        )
        for stated in file.figure
        for words in _combinations(stated.each)
    )
    return StatedCause(file.text, tuple(changes), tuple(map(_map, file.map)))


def _map(file: MapFile) -> StatedMap:
    def formula(x_word: str, y_word: str) -> str:
        if [x_word, y_word] in file.empty:
            return ""
        return _filled(file.ours, {file.across.key: x_word, file.down.key: y_word})

    cells = (
        (x_name, y_name, formula(x_word, y_word))
        for y_word, y_name in _named(file.down)
        for x_word, x_name in _named(file.across)
    )
    return StatedMap(file.title, file.unit, file.across.title, file.down.title, tuple(cells))


def _named(side: SideFile) -> list[tuple[str, str]]:
    """The words of a side, each with what readers see."""
    return list(zip(side.words, side.names or side.words, strict=True))


def _combinations(each: Each) -> Iterator[dict[str, str]]:
    """The first word of each key, the second of each …; once nothing without a key."""
    if not each:
        yield {}
    for words in zip(*each.values(), strict=True):
        yield dict(zip(each, words, strict=True))


def _filled(text: str, words: Mapping[str, str]) -> str:
    for key, word in words.items():
        text = text.replace("{" + key + "}", word)
    return text
