"""The page itself: offline, complete, well-formed, failures first, on screen and on paper."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from test_report_support import (
    Overrides,
    case_ids,
    charts_of,
    page_of_words,
    section_of,
    validated,
    write_run,
)
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.compare.words import value_text
from ffslab.report import build, svg
from ffslab.report.pictures import charts_in, specification
from ffslab.results.outcome import Outcome
from ffslab.results.schema import DURATION
from ffslab.results.shortfall import Shortfall
from loaded_support import recorded, unpacked

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
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
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
    return page_of_words(folder)


def assert_is_sound(page: str) -> None:
    """Well-formed, alone in the world; its charts told in words and in the theme's colours."""
    found = parsed(page)
    assert found.stack == []
    assert len(found.ids) == len(set(found.ids)), Counter(found.ids).most_common(2)
    for reference in found.references:
        assert reference in BESIDE or reference.startswith("cases/") or reference[1:] in found.ids
    own = re.sub(r"<(pre|script).*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"(https?:)?//[a-z]|@import|url\(", own)
    charts = validated(page)
    assert all(f'id="{name}" role="img" aria-label="' in page for name in charts)
    painted = set(re.findall(r"#[0-9a-f]{6}", json.dumps(list(charts.values()))))
    assert painted and painted <= set(svg.PAINT.values())
    # Numbers copy as numbers: thousands are never apart by a space.
    assert not re.search("[\u202f\u2009]|[0-9]\u00a0[0-9]{3}(?![0-9])", page)
    tables = re.findall(r"(.{25})<table", page, flags=re.DOTALL)
    assert tables and all(before.endswith('<div class="scroll">') for before in tables)


def test_the_page_is_sound(full: str) -> None:
    assert_is_sound(full)


@pytest.mark.slow
@pytest.mark.parametrize("study", recorded(but="lifetime"))  # whose forecasts take half a minute
def test_pages_of_real_runs_are_sound(study: str, tmp_path: Path) -> None:
    assert_is_sound(page_of_words(unpacked(study, tmp_path)))


def test_what_went_wrong_comes_before_every_section(full: str) -> None:
    page = parsed(full)
    assert page.headings[:3] == [
        "Failures",
        "How long does it take?",
        "How long does one operation wait?",
    ]
    words = "".join(page.words)
    assert words.index("2 of 42 cases failed") < words.index("How long does it take?")
    assert "kernel panic: <script>alert(1)</script>" in words
    assert "<script>alert(1)" not in full


def test_every_case_is_there_with_its_command(full: str) -> None:
    assert "<code>ffslab run ffsmark --case CASE</code>" in full
    for case in case_ids():
        assert f">{case}</th>" in section_of(full, "results")


def test_short_cases_are_counted_and_named_at_the_top(tmp_path: Path) -> None:
    allowed = Shortfall("bytes", 5, 10, "", accepted=True, told="5 B of 10 B: no more room")
    failed = replace(allowed, accepted=False)
    ids = case_ids()
    outcomes = {
        ids[0]: Outcome("short", allowed.told, short=allowed),
        ids[1]: Outcome("short", "nothing was measured", short=failed),
    }
    write_run(tmp_path / "run", outcomes=outcomes)
    outcome = section_of(page_of_words(tmp_path / "run"), "outcome")
    assert "1 of 42 cases failed." in outcome
    assert "Short: 1 of 42 cases measured less than was asked for." in outcome
    assert f"{ids[0]}: {allowed.told}" in outcome and ids[1] not in outcome


@pytest.mark.parametrize("failed", [False, True])
def test_a_single_case_gives_a_report(tmp_path: Path, failed: bool) -> None:
    ids = case_ids()[:1]
    outcomes = {ids[0]: Outcome("timeout", "too slow")} if failed else {}
    page = page_of_words(write_run(tmp_path / "r", outcomes=outcomes, case_ids=ids), validate=True)
    verdict = section_of(page, "verdict")
    assert ("1 of 1 cases failed" in page) == failed == ("No case passed" in verdict)
    assert ('class="headline">JFFS2' in verdict) != failed
    assert not charts_of(verdict)


def test_hostile_words_end_no_script_and_no_element(tmp_path: Path) -> None:
    """Of whoever writes a study, a manifest, or what a case says of its failure."""
    evil = '</script><script>alert("1")</script>&<b>"\''
    folder = write_run(tmp_path / "r", ONE_SEED, outcomes={case_ids()[0]: Outcome("fail", evil)})
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    for row in rows:
        row["spec"]["filesystem"]["name"] += evil
        row["axes"]["part"] = evil
    (folder / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    manifest = json.loads((folder / "manifest.json").read_text())
    told = {"title": evil, "description": evil, "study": evil}
    (folder / "manifest.json").write_text(json.dumps(manifest | told))
    page = page_of_words(folder)
    assert_is_sound(page)
    assert evil in "".join(parsed(page).words)
    assert '<script>alert("1")' not in page and '<b>"' not in page


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", case_ids=case_ids()[:4])
    made = []
    for _ in range(2):
        assert build(folder, tmp_path / "a.html") == tmp_path / "a.html"
        made.append([(tmp_path / name).read_bytes() for name in ("a.html", "a.csv")])
    assert made[0] == made[1]
    assert len(made[0][0]) < 3_000_000


def test_the_verb_writes_where_it_is_told(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "20300102T030405Z-ffsmark", case_ids=case_ids()[:1])
    target = tmp_path / "out.html"
    arguments = ["report", "latest", "-o", str(tmp_path / "runs"), "--to", str(target)]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(target)
    assert target.stat().st_size > 30_000


def test_links_lead_to_files_that_are_there(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "r", case_ids=case_ids()[:2])
    first, second = case_ids()[:2]
    (folder / "cases" / second).mkdir(parents=True)
    for name in ("console.log", "case.json"):
        path = folder / "cases" / first / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for target in (folder / "report.html", tmp_path / "else where" / "out.html"):
        target.parent.mkdir(exist_ok=True)
        page = build(folder, target).read_text()
        links = [ref for ref in parsed(page).references if ref[0] != "#" and ref != "data:,"]
        assert len(links) == 3
        for link in links:
            assert (target.parent / link).exists(), link
        assert f"{second}/console.log" not in page


def test_the_tables_have_what_people_decide_by(tmp_path: Path) -> None:
    """The one beside the page in the units stored, the one in it as they are shown."""
    folder = write_run(tmp_path / "r", case_ids=case_ids()[:2])
    page = page_of_words(folder)
    with (folder / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["case"] for row in rows} == set(case_ids()[:2])
    (created,) = (
        float(row["value"])
        for row in rows
        if row["case"] == case_ids()[0] and row["what"] == "creating the files"
    )
    assert created > 1e9
    assert f"<td>{value_text(DURATION, created)}</td>" in section_of(page, "results")


# A chart as a file of its own.


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("ffsmark", tmp_path_factory.mktemp("real"))


def drawn_as(run: Path, chart: str, target: Path) -> str:
    arguments = ["report", str(run), "--chart", chart, "--to", str(target)]
    done = CliRunner().invoke(build_app(), arguments)
    return done.output + str(done.exception or "")


def test_every_chart_of_a_page_can_be_drawn_alone(real: Path) -> None:
    import vl_convert

    page = page_of_words(real)
    charts = charts_in(page)
    assert len(charts) == page.count('<div class="vega"') > 5
    for title, text in charts.values():
        drawn = vl_convert.vegalite_to_svg(specification(text), vl_version="6.4")
        assert title and drawn.startswith("<svg")
        assert not set(svg.PAINT.values()) & {*re.findall("#[0-9a-f]{6}", drawn)}


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_the_file_is_what_its_ending_says(
    real: Path, tmp_path: Path, ending: str, begin: bytes
) -> None:
    told = drawn_as(real, "ffsmark-picture", tmp_path / f"chart.{ending}")
    assert (tmp_path / f"chart.{ending}").read_bytes().startswith(begin), told


def test_what_cannot_be_drawn_is_refused(real: Path, tmp_path: Path) -> None:
    assert "has no chart 'nothing'" in drawn_as(real, "nothing", tmp_path / "x.svg")
    assert ".svg or .png" in drawn_as(real, "ffsmark-picture", tmp_path / "x.gif")
    assert list(tmp_path.iterdir()) == []
