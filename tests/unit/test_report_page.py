"""The page itself: offline, complete, well-formed, failures first."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from test_report_support import Effects, Overrides, case_ids, page_of_words, write_run
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.report import build
from ffslab.results.outcome import Outcome
from ffslab.results.shortfall import Shortfall

ONE_SEED: Overrides = [("seed", (1,))]
VOID = {"meta", "link", "br", "hr", "img", "input"}


BESIDE = ("data:,", "report.csv")  # no picture for the window, and the table beside the page


class Page(HTMLParser):
    """Checks nesting; collects references, ids, headings and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.words: list[str] = []
        self.svgs: list[dict[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)
        self._note(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "svg":
            self.svgs.append(dict(attrs))
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "data", "action"):
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.stack and self.stack[-1] == "h2":
            self.headings.append(data)


parsed = lru_cache(maxsize=4)(Page)  # many tests look at one page


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a published-size run with two failures."""
    folder = tmp_path_factory.mktemp("report") / "full"
    ids = case_ids()
    excerpt = ('[ 9.1] Kernel panic - not syncing: <b>&amp; "quoted"</b>',)
    outcomes = {
        ids[4]: Outcome("crash", "kernel panic: <script>alert(1)</script>", excerpt),
        ids[20]: Outcome("fail", "phase transactions: no space left (ENOSPC)", excerpt),
    }
    write_run(folder, outcomes=outcomes)
    path = build(folder)
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


def test_page_is_well_formed_with_unique_ids(full: str) -> None:
    page = parsed(full)
    assert page.stack == []
    assert len(page.ids) == len(set(page.ids))


def test_every_link_stays_in_the_page(full: str) -> None:
    page = parsed(full)
    for reference in page.references:
        assert reference in BESIDE or reference[1:] in page.ids, reference
    assert not re.search(r"(https?:)?//[a-z]", re.sub(r"<pre.*?</pre>", "", full, flags=re.S))
    assert "@import" not in full
    assert re.findall(r"url\(([^)]{1,2})", full) == [] or all(
        start.startswith("#") for start in re.findall(r"url\(([^)]{1,2})", full)
    )


def test_size_stays_in_bounds(full: str) -> None:
    assert len(full.encode()) < 3_000_000


def test_short_cases_are_counted_and_named_at_the_top(tmp_path: Path) -> None:
    allowed = Shortfall("bytes", 5, 10, "", accepted=True, told="5 B of 10 B: no more room")
    failed = replace(allowed, accepted=False)
    ids = case_ids()
    outcomes = {
        ids[0]: Outcome("short", allowed.told, short=allowed),
        ids[1]: Outcome("short", "nothing was measured", short=failed),
    }
    write_run(tmp_path / "run", outcomes=outcomes)
    page = parsed(page_of_words(tmp_path / "run"))
    text = " ".join("".join(page.words).split())
    assert "1 of 42 cases failed." in text
    assert "Short: 1 of 42 cases measured less than was asked for." in text
    assert f"{ids[0]}: {allowed.told}" in text[: text.rindex("What was found")]
    assert text.index(ids[1]) < text.rindex("What was found")


def test_failures_come_before_sentences_and_charts(full: str) -> None:
    page = parsed(full)
    assert page.headings[:3] == ["Verdict", "Failures", "What was found"]
    text = "".join(page.words)
    assert text.index("2 of 42 cases failed") < text.rindex("What was found")
    assert "kernel panic: <script>alert(1)</script>" in text
    assert "<script>alert(1)" not in full


def test_every_case_is_there_with_its_command(full: str) -> None:
    for case in case_ids():
        assert f"<code>ffslab run ffsmark --case {case}</code>" in full
        assert full.count(f'<th scope="row" class="text">{case}</th>') == 1
        assert full.count(f'<th scope="row" class="text"><a href="#case-{case}">{case}</a>') == 3


def test_drawings_have_titles_and_theme_colours_only(full: str) -> None:
    page = parsed(full)
    drawings = [svg for svg in page.svgs if svg.get("role") == "img"]
    assert len(drawings) > 20
    assert all(svg["aria-labelledby"] in page.ids for svg in drawings)
    assert all(svg in drawings or svg.get("aria-hidden") == "true" for svg in page.svgs)
    body = full[full.index("<body>") :]
    assert set(re.findall(r'(?:fill|stroke)="#[0-9a-f]+"', body)) == set()


def test_sections_follow_the_axes(tmp_path: Path) -> None:
    overrides: Overrides = [
        ("state", ("free",)),
        ("options.compression", ("none",)),
        ("cpu_scale", (0.5, 1.0)),
        *ONE_SEED,
    ]
    page = parsed(page_of_words(write_run(tmp_path / "r", overrides)))
    assert "What does synchronous writing cost?" in page.headings
    assert "What does the cpu scale change?" in page.headings
    assert "What does the initial state change?" not in page.headings
    assert "Not shown: “What does the initial state change?”" in "".join(page.words)
    assert "No failures." in "".join(page.words)


def test_a_small_run_is_told_to_measure_memory(tmp_path: Path) -> None:
    small = Effects(pages=6_000.0)
    folder = write_run(tmp_path / "small", ONE_SEED, effects=small)
    head = page_of_words(folder).split("<h2>What was found</h2>")[0]
    assert "<strong>Times of UBIFS writing back are partly times of memory.</strong>" in head
    full = page_of_words(write_run(tmp_path / "full", ONE_SEED))
    assert "times of memory" not in full
    assert "Rates of each phase" in full


def test_a_single_case_gives_a_report(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", case_ids=case_ids()[:1])
    text = "".join(parsed(page_of_words(folder)).words)
    assert "no two cases to compare" in text
    assert "One seed" in text


def test_a_run_in_which_everything_failed_gives_a_report(tmp_path: Path) -> None:
    outcomes = {case: Outcome("timeout", "too slow") for case in case_ids(ONE_SEED)}
    page = parsed(page_of_words(write_run(tmp_path / "r", ONE_SEED, outcomes=outcomes)))
    assert page.headings[:2] == ["Verdict", "Failures"]
    assert "14 of 14 cases failed" in "".join(page.words)


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", case_ids=case_ids()[:4])
    assert build(folder, tmp_path / "a.html") == tmp_path / "a.html"
    tables = [(tmp_path / "a.csv").read_bytes()]
    pages = [(tmp_path / "a.html").read_bytes()]
    build(folder, tmp_path / "a.html")
    assert pages == [(tmp_path / "a.html").read_bytes()]
    assert tables == [(tmp_path / "a.csv").read_bytes()]


def test_the_verb_writes_where_it_is_told(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "20300102T030405Z-ffsmark", case_ids=case_ids()[:1])
    target = tmp_path / "out.html"
    arguments = ["report", "latest", "-o", str(tmp_path / "runs"), "--to", str(target)]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(target)
    assert target.stat().st_size > 30_000
