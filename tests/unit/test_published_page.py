"""The page, the documents and the terminal's table of statements of publications."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_published import EVERY, FREE, MARKS, NAMES, ROOT, SMALL, Known

import ffslab.report.published.markdown
from ffslab.cli.reproduce_tables import print_publication
from ffslab.cli.screen import terminal
from ffslab.published.beside import JudgedPublication, judged
from ffslab.published.load import load_publication
from ffslab.report.published.markdown import write_documents
from ffslab.report.published.page import render_published


@pytest.fixture
def result(tmp_path: Path) -> JudgedPublication:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return judged(load_publication(path), Known(FREE | {"ubifs-aged": 18e9}))


def test_the_page_has_all_that_is_known(result: JudgedPublication) -> None:
    page = render_published([result])
    for text in (
        "are contradicted ✘",
        "A. Author",
        "UBIFS takes half of JFFS2&#39;s time.",
        "Something else.",
    ):
        assert text in page
    assert page.count('class="vega"') == 2


def test_the_documents_say_the_same(
    result: JudgedPublication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ffslab.report.published.markdown, "publication_files", lambda: ["small"])
    write_documents([result], tmp_path)
    text = (tmp_path / "published" / "small.md").read_text(encoding="utf-8")
    assert "## Z1 ✘" in text and "| ✘ | JFFS2 ÷ UBIFS, aged | 3 | 0.5 |" in text
    assert "9 s instead of 6 s; published 2 s" in text
    charts = {path.name for path in (tmp_path / "published" / "small").iterdir()}
    assert charts == {"small-overview.svg", "Z1.svg"}
    index = (tmp_path / "published.md").read_text(encoding="utf-8")
    assert "**0 ✔ 0 ≈ 1 ✘ of 1.**" in index


@pytest.mark.parametrize("name", NAMES)
def test_the_documents_have_the_marks_of_the_golden_file(name: str) -> None:
    text = (ROOT / "docs" / "published" / f"{name}.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^## ([A-Z]\d+) (.)$", text, re.MULTILINE))
    assert shown == {key: mark for key, mark in MARKS.items() if EVERY[key] == name}
    index = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    errors = re.findall(r"^(\| [a-zA-Z, -]+ \| \d+ \| \S+ % \| \S+ % \|).*$", text, re.MULTILINE)
    counts = " | ".join(str(list(shown.values()).count(mark)) for mark in "✔≈✘")
    scored = re.search(rf"published/{name}\.md\).*\| {re.escape(counts)} \|", index)
    assert bool(errors) != bool(scored)
    assert all(line in index.splitlines() for line in errors)


def test_the_readme_has_the_score() -> None:
    marks = [mark for key, mark in MARKS.items() if EVERY[key] != "boards"]
    agree, direction, reversed_ = map(marks.count, "✔≈✘")
    boards = (ROOT / "docs" / "published" / "boards.md").read_text(encoding="utf-8")
    (count, error), *_ = re.findall(r"^\| all \| (\d+) \| (\S+ %) \|", boards, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for told in (
        f"Of {len(marks)} statements of",
        f"{agree} agree, {direction} in direction, {reversed_} do not",
        f"Beside {count} figures of",
        f"the median error is {error}.",
    ):
        assert told in " ".join(readme.split()), "Is it right?"


def test_a_line_of_the_terminal_has_80_columns(
    result: JudgedPublication, capsys: pytest.CaptureFixture[str]
) -> None:
    for every in (False, True):
        print_publication(terminal(), result, every=every)
    lines = capsys.readouterr().out.splitlines()
    assert lines and max(map(len, lines)) <= 80
    assert "small: 0 ✔ 0 ≈ 1 ✘ of 1" in lines
