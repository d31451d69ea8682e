"""The documents of publications: the same parts as the page, as Markdown with SVG charts.

`DIR/published/NAME.md` of each publication with its charts beside it, and `DIR/published.md`, the
index, if all publications are there: the list, then what follows the line that says so is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill

from ffslab.published import errors
from ffslab.published.against import ROW_HEAD, Both, agreements, flips_text, rows
from ffslab.published.beside import JudgedPublication, score_text, total
from ffslab.published.judge import MEASURED
from ffslab.published.load import publication_files
from ffslab.report.elements import environment
from ffslab.report.pictures import VEGA_LITE, charts_in, specification
from ffslab.report.published.page import (
    HEAD,
    RULE,
    WORDS,
    ShownPublication,
    ShownStatement,
    shown,
)
from ffslab.results.files import write_atomic
from ffslab.targets import DEFAULT_TARGET

AGAINST = (
    "The same statements of publications on two targets: here, the lab's own, where a board's file "
    "says what code costs, and there, where code takes its instructions "
    "([targets](../targets.md)). So a mark that is the same on both hangs on no price of code. "
    "Error: here ÷ there - 1, without its sign, of each figure and of both sides of each order. A "
    "statement that cannot be measured there has the reason."
)
BEGIN, END = "<!-- scores: ffslab reproduce all --markdown docs -->", "<!-- end of scores -->"
_WIDTH = 120


def write_documents(publications: Sequence[JudgedPublication], directory: Path) -> Path:
    """Writes the documents, and returns the directory; MissingExtraError as a report's."""
    environment()
    for publication in publications:
        part = shown(publication)
        folder = directory / "published"
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / f"{part.name}.md", "".join(f"{line}\n" for line in _lines(part)))
        _write_charts(part, folder)
    if {judged.publication.name for judged in publications} == set(publication_files()):
        _write_index(publications, directory / "published.md")
    return directory


def write_against(
    statements: Sequence[Both], target: str, names: Sequence[str], directory: Path
) -> Path:
    """Writes how far the lab agrees with itself on another target: against-TARGET.md."""
    path = directory / "published" / f"against-{target}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, "".join(f"{line}\n" for line in _against_lines(statements, target, names)))
    return path


def _against_lines(statements: Sequence[Both], target: str, names: Sequence[str]) -> Iterator[str]:
    yield from (f"# The lab against itself: {DEFAULT_TARGET} and {target}", "")
    yield from (_wrapped(AGAINST), "")
    words = " ".join(names)
    yield from ("```", f"./ffslab reproduce {words} --target {target} --markdown docs", "```", "")
    yield from (_wrapped(f"**{flips_text(statements)}**"), "")
    yield from _table_lines(
        errors.HEAD, (each.cells for each in agreements(statements)), "|---|---:|---:|---:|---|"
    )
    yield from _table_lines(ROW_HEAD, rows(statements), "|---|---|---|---|---:|---:|---:|")


def _table_lines(head: Sequence[str], cells: Iterable[Sequence[str]], rule: str) -> Iterator[str]:
    yield from (f"| {' | '.join(head)} |", rule)
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in cells)
    yield ""


def _lines(part: ShownPublication) -> Iterator[str]:
    yield from (f"# {part.title}", "", _wrapped(f"{part.source}."), "")
    yield from (_wrapped(f"Board: {part.board}."), "", _wrapped(f"Chip: {part.chip}."), "")
    yield from (
        f"**{part.score}.** The marks follow [one rule](../published.md#the-rule). Made by:",
        "",
    )
    yield from ("```", f"./ffslab reproduce {part.name} --markdown docs", "```", "")
    if part.overview:
        yield from (_picture(part, f"{part.name}-overview", "ours ÷ published"), "")
        yield from (
            _wrapped("A dot is a figure; the green band is a factor of 1.5 to both sides."),
            "",
        )
    if part.errors:
        yield from _table_lines(errors.HEAD, part.errors.rows, "|---|---:|---:|---:|---|")
    for statement in part.statements:
        yield from _statement_lines(part, statement)


def _statement_lines(part: ShownPublication, statement: ShownStatement) -> Iterator[str]:
    yield from (f"## {statement.id} {statement.mark}", "", _wrapped(statement.says), "")
    yield from (_wrapped(f"{part.where}: {statement.place}."), "")
    for name in _chart_names(statement):
        yield from (_picture(part, name, f"{statement.id}: published beside ours"), "")
    for cause in statement.causes:
        yield from (_wrapped(f"Cause: {cause.text}"), "")
        for line in cause.lines:
            yield _wrapped(f"- {line}", "  ")
        if cause.lines:
            yield ""
    yield from _table_lines(HEAD, statement.table.rows, "|---|---|---:|---:|---:|")


def _wrapped(text: str, indent: str = "") -> str:
    return fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def _chart_names(statement: ShownStatement) -> list[str]:
    return [name for chart in statement.charts for name in charts_in(chart)]


def _picture(part: ShownPublication, name: str, title: str) -> str:
    return f"![{title}]({part.name}/{_file_name(name)})"


def _file_name(chart: str) -> str:
    return re.sub(r"^published-", "", chart) + ".svg"


def _write_charts(part: ShownPublication, folder: Path) -> None:
    import vl_convert

    drawn = "".join((part.overview, *(chart for s in part.statements for chart in s.charts)))
    charts = folder / part.name
    charts.mkdir(exist_ok=True)
    for name, (_title, text) in charts_in(drawn).items():
        picture = vl_convert.vegalite_to_svg(specification(text), vl_version=VEGA_LITE)
        write_atomic(charts / _file_name(name), f"{picture.rstrip()}\n")


def _write_index(publications: Sequence[JudgedPublication], path: Path) -> None:
    """Puts the scores between their marks; the rest of the document is not made here."""
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Published\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_atomic(path, f"{before}{BEGIN}\n{index_lines(publications)}{END}{after}")


def _error_lines(judged: JudgedPublication) -> Iterator[str]:
    stated = judged.publication
    yield from (f"[{stated.title}](published/{stated.name}.md):", "")
    yield from ("| of | figures | median error | largest |", "|---|---:|---:|---:|")
    for each in judged.errors:
        yield f"| {' | '.join(each.cells[:-1])} |"
    yield ""


def index_lines(publications: Sequence[JudgedPublication]) -> str:
    """The table of scores, the marks and the rule."""
    lines = [
        "",
        f"| publication | statements | {' | '.join(mark.value for mark in MEASURED)} |",
    ]
    lines.append("|---|---|---:|---:|---:|")
    stating = [judged for judged in publications if judged.states]
    for judged in stating:
        stated, ids = judged.publication, [each.statement.id for each in judged.statements]
        counts = " | ".join(str(judged.score[mark]) for mark in MEASURED)
        link = f"[{stated.title}](published/{stated.name}.md)"
        lines.append(f"| {link} | {ids[0]} to {ids[-1]} | {counts} |")
    lines += [
        "",
        f"**{score_text(total(judged.score for judged in stating))}.**",
        "",
    ]
    for judged in publications:
        if not judged.states:
            lines += _error_lines(judged)
    lines += [
        "## The rule",
        "",
    ]
    lines += [_wrapped(RULE), ""]
    lines += [f"- {mark.value}: {WORDS[mark]}" for mark in MEASURED]
    return "".join(f"{line}\n" for line in [*lines, ""])
