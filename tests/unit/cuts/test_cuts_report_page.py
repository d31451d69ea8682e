"""The page of an exploration as it is rendered, and the commands that write it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from cuts_support import exploration_text, finding, keep, kept, new_exploration, unit_of

from ffslab.exploration import run as exploration_run
from ffslab.workloads.cuts.explore.case import Directory
from ffslab.workloads.cuts.stored import StoredUnit
from ffslab.workloads.cuts.report.page import render_exploration, write_exploration

JFFS2, UBIFS = "jffs2-s1-update-by-rename", "ubifs-s1-update-by-rename"
FINDINGS = [
    finding("aaaa0001", "0 lost 0", "mount-fails", states=1_234),
    finding("aaaa0002", "1 torn-bits 3", "stale-data", confirmed=False),
    finding("aaaa0003", "2 lost 0 / 5 torn-bits 0", "kernel-warning"),
]
BAD = unit_of(
    JFFS2,
    counts={
        "lost": {"correct": 1, "mount-fails": 1_234},
        "torn-bits": {"stale-data": 1},
        "lost / torn-bits": {"kernel-warning": 1},
    },
    findings=FINDINGS,
)


class Page(HTMLParser):
    """A page's text without its style and script; fails where tags are not closed in order."""

    EMPTY = frozenset({"meta", "link", "br", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.parts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.parts))


def page_of(directory: Directory) -> Page:
    return Page(render_exploration(directory))


def rows(html: str, table: str) -> list[str]:
    """The rows of the body of a table of this class, as text."""
    found = re.search(rf'<table class="{table}.*?</table>', html, re.DOTALL)
    assert found is not None
    body = re.findall(
        r"<tr(?! class=\"topic\").*?</tr>", found[0].partition("<tbody>")[2], re.DOTALL
    )
    return [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", row))).strip() for row in body]


# --- the page ---


def test_all_findings_are_there_with_their_commands(tmp_path: Path) -> None:
    directory = kept(tmp_path, BAD, unit_of(UBIFS))
    html = render_exploration(directory)
    first, second, third = rows(html, "findings")
    for row, one in zip((first, second, third), FINDINGS, strict=True):
        assert row.startswith(f"{one['id']} JFFS2 update-by-rename ")
        assert one["outcome"] in row and one["detail"] in row
        assert f"crash replay {one['id']} --run {directory.path}" in row
    assert "lost at 0 and 1,233 more program of block 7, page 0, in: create a" in first
    assert "not confirmed" not in first + third
    assert "torn-bits at 1, variant 3 not confirmed alone in a guest" in second
    assert "lost at 2; recovery: torn-bits at 5" in third
    text = Page(html).text
    assert "✕ 1,236 of 1,241 states are not correct" in text
    assert "it cannot be mounted" in text  # the words that occur are explained
    assert "half of a rename" not in text


def test_a_page_without_findings_says_so(tmp_path: Path) -> None:
    text = page_of(kept(tmp_path, unit_of(JFFS2), unit_of(UBIFS))).text
    assert "✓ All 8 states are correct." in text
    assert re.search(r"Findings None\. Recovery cost", text)


def test_a_page_of_nothing_yet(tmp_path: Path) -> None:
    page = page_of(new_exploration(tmp_path))
    assert "? No state has been gone through yet." in page.text
    assert "Incomplete: 4 of 4 units have not been explored yet: jffs2-s1-update" in page.text
    assert "No unit has been explored yet." in page.text and "None yet." in page.text
    assert "No state in which an operation was lost has been gone through." in page.text
    assert "crash run --resume" in page.text


def test_what_is_missing_is_said_and_what_is_complete_is_not(tmp_path: Path) -> None:
    directory = new_exploration(tmp_path, units=(JFFS2, UBIFS))
    keep(directory, unit_of(JFFS2))
    assert f"1 of 2 units have not been explored yet: {UBIFS}." in page_of(directory).text
    keep(directory, unit_of(UBIFS))
    assert "Incomplete" not in page_of(directory).text


def test_the_outcomes_of_a_sample_and_of_all(tmp_path: Path) -> None:
    sampled = exploration_text(cuts="sample = 4")
    for name, text, row in (
        ("all", None, "JFFS2 4 ✓ 4"),
        ("sample", sampled, "JFFS2 4 of 9 ✓ 4"),
    ):
        (tmp_path / name).mkdir()
        directory = kept(tmp_path / name, unit_of(JFFS2, states_possible=9), text=text)
        assert rows(render_exploration(directory), "outcomes") == [row]


def test_the_cost_of_a_sample_is_not_called_that_of_every_operation(tmp_path: Path) -> None:
    curve = [[3, 30, 0, 0, 0], [1, 30, 2, 1, 0]]
    few = unit_of(UBIFS, recovery={"curve": curve, "worst": 1, "uncut": None})
    text = page_of(kept(tmp_path, unit_of(JFFS2), few)).text
    assert "After a cut before each of 4 operations." in text
    assert "After cuts before 2 of 4 operations." in text


def test_without_time_the_page_estimates_and_says_so(tmp_path: Path) -> None:
    html = render_exploration(kept(tmp_path, BAD))
    text = Page(html).text
    assert "Counts hold, time is an estimate." in text and "(apf27)" in text
    assert "flash time, ms, estimate" in text and "virtual time" not in text
    # Reads, programs and erases after operation 1, which took longest, and what it came into.
    assert re.search(
        r"JFFS2 1 30 2 1 [\d.]+–[\d.]+ [\d.]+–[\d.]+ erase of block 9, in: create a", text
    )


def test_with_time_the_page_measures(tmp_path: Path) -> None:
    curve = [[0, 10, 0, 0, 8_500_000], [1, 20, 0, 0, 3_000_000]]
    unit = unit_of(JFFS2, recovery={"curve": curve, "worst": 0, "uncut": [5, 1, 0, 2_000_000]})
    text = page_of(kept(tmp_path, unit, text=exploration_text(timing='timing = "board"'))).text
    assert "estimate" not in text
    assert "Time is virtual, on the board’s chip and CPU." in text
    assert "virtual time of the mount, ms 3.00 8.50 8.50 0 2.00" in text
    assert re.search(r"JFFS2 0 10 0 0 8\.50 2\.00 program of block 7", text)


def test_what_others_wrote_is_escaped(tmp_path: Path) -> None:
    evil = '<script>alert("x")</script> & "'
    text = exploration_text().replace("Power cuts that were made up", "<b>T</b> & '")
    directory = kept(
        tmp_path,
        unit_of(JFFS2, findings=[finding("aaaa0001", "0 lost 0", "stale-data", detail=evil)]),
        text=text,
        texts={
            "log": "0 program 7 0 0 2048 1\n1 erase 9\n2 erase 9\n3 erase 9\n",
            "record": "op 0 0 0 4\nend 1 4 4\n",
            "history": "create <i>&amp;\n",
        },
    )
    html = render_exploration(directory)
    page = Page(html)
    assert evil in page.text and "<b>T</b> & '" in page.text
    assert "A description <of> them." in page.text
    assert "in: create <i>&amp;" in page.text
    assert html.count("<script>") == 1 and "<i>" not in html and "<b>" not in html


def test_a_long_detail_is_cut(tmp_path: Path) -> None:
    detail = "x" * 299 + "yz"
    bad = finding("aaaa0001", "0 lost 0", "stale-data", detail=detail)
    (row,) = rows(render_exploration(kept(tmp_path, unit_of(JFFS2, findings=[bad]))), "findings")
    assert "x" * 299 + "y…" in row and "z" not in row


def test_every_unit_has_its_chart_below_its_workload(tmp_path: Path) -> None:
    identifiers = new_exploration(tmp_path).about()["units"]
    (tmp_path / "all").mkdir()
    html = render_exploration(kept(tmp_path / "all", *map(unit_of, identifiers)))
    ids = [one for one in Page(html).ids if re.fullmatch(r"r\d-title", one)]
    assert len(ids) == len(set(ids)) == 4
    titles = re.findall(r"<h[34]>(.*?)</h[34]>", html.partition('id="recovery"')[2])
    assert titles == ["update-by-rename", "JFFS2", "UBIFS", "log", "JFFS2", "UBIFS"]
    # The colours of file systems are those of all reports.
    colours = re.findall(r"stroke:var\(--(c\d)\);stroke-width", html)
    assert len(set(colours)) == 2 and colours[0] == colours[len(colours) // 2]


def test_links_lead_somewhere_and_nothing_is_fetched(tmp_path: Path) -> None:
    html = render_exploration(kept(tmp_path, BAD))
    page = Page(html)
    targets = re.findall(r'href="#([^"]*)"', html)
    assert len(targets) == 6 and set(targets) <= set(page.ids)
    assert not re.search(r'(?:src|href)="(?!#|data:)', html) and "url(" not in html


def test_a_page_is_written_where_it_is_wanted(tmp_path: Path) -> None:
    directory = kept(tmp_path, BAD)
    (tmp_path / "pages").mkdir()
    for wanted, path in (
        (None, directory.path / "report.html"),
        (tmp_path / "mine.html", tmp_path / "mine.html"),
        (tmp_path / "pages", tmp_path / "pages" / "report.html"),
    ):
        assert write_exploration(directory, wanted) == path
        assert path.read_text(encoding="utf-8") == render_exploration(directory)


# --- the commands ---


@pytest.fixture
def explored(tmp_path: Path) -> Directory:
    return kept(tmp_path, BAD)


@pytest.mark.parametrize("verb", [("report",), ("crash", "report")])
def test_a_report_of_a_directory_is_written(
    verb: tuple[str, ...], ffslab_command: Command, explored: Directory, tmp_path: Path
) -> None:
    """By path and by name; with the path of the page as the only line."""
    page = explored.path / "report.html"
    for name in (str(explored.path), explored.path.name):
        result = ffslab_command(*verb, name)
        assert result.code == 0, result.error
        assert Path(result.output.strip()).resolve() == page
        assert "aaaa0001" in page.read_text()
        page.unlink()
    result = ffslab_command(*verb, str(explored.path), "--to", "mine.html")
    assert (result.code, result.output) == (0, "mine.html\n")
    assert (tmp_path / "mine.html").is_file() and not page.exists()


def test_the_latest_exploration_has_a_report(ffslab_command: Command, explored: Directory) -> None:
    result = ffslab_command("crash", "report")
    assert (result.code, result.output.strip()) == (0, f"results/{explored.path.name}/report.html")


@pytest.mark.parametrize("verb", [("report",), ("crash", "report")])
def test_what_is_no_exploration_is_refused(
    verb: tuple[str, ...], ffslab_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nowhere", "latest"):
        result = ffslab_command(*verb, name)
        assert result.code == 2 and result.output == "", name
        assert name in result.error and "next:" in result.error
    assert not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize("verb", [("report",), ("crash", "report"), ("crash", "show")])
@pytest.mark.parametrize("name", ["exploration.json", f"units/{JFFS2}/unit.json"])
def test_damaged_directories_are_an_error_of_their_own(
    verb: tuple[str, ...], name: str, ffslab_command: Command, explored: Directory
) -> None:
    path = explored.path / name
    for text in ("{}", path.read_text()[:100]):
        path.write_text(text)
        result = ffslab_command(*verb, str(explored.path))
        assert result.code == 3 and name in result.error and "next:" in result.error
        assert not (explored.path / "report.html").exists()


def test_a_page_that_cannot_be_written_is_told(
    ffslab_command: Command, explored: Directory
) -> None:
    result = ffslab_command("report", str(explored.path), "--to", "nowhere/mine.html")
    assert result.code == 3 and "nowhere" in result.error


Explores = Callable[..., None]


@pytest.fixture
def explores(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], None]:
    """Instead of guests: units are as they are given, the others correct."""

    def told(given: dict[str, StoredUnit]) -> None:
        def explore(directory: Directory, *further: Any) -> None:
            for identifier in directory.about()["units"]:
                unit = given.get(identifier, unit_of(identifier))
                keep(directory, unit)
                further[-1](unit)

        monkeypatch.setattr(exploration_run, "explore", explore)

    return told


RUN = ("crash", "run", "made.toml")


def test_a_run_ends_with_its_report(
    ffslab_command: Command, tmp_path: Path, explores: Callable[[dict[str, Any]], None]
) -> None:
    (tmp_path / "made.toml").write_text(exploration_text())
    explores({})
    result = ffslab_command(*RUN)
    assert result.code == 0, result.error
    (run,) = (tmp_path / "results").iterdir()
    lines = result.output.splitlines()
    assert lines[-2:] == [f"results: results/{run.name}", f"report: results/{run.name}/report.html"]
    assert "All 16 states are correct." in (run / "report.html").read_text()
    assert f"{JFFS2}: 4 states of 4 operations, all correct" in lines
    # The most of each, which need not be of one mount, and the first where it is.
    (worst,) = [line for line in lines if re.match(f"{JFFS2} +[0-9].* at ", line)]
    assert worst.split()[1:] == ["30", "at", "1", "4", "at", "2", "1", "at", "1"]


def test_a_run_with_findings_says_how_to_repeat_them(
    ffslab_command: Command, tmp_path: Path, explores: Callable[[dict[str, Any]], None]
) -> None:
    (tmp_path / "made.toml").write_text(exploration_text())
    explores({JFFS2: BAD})
    result = ffslab_command(*RUN, "--no-report")
    assert result.code == 1
    (run,) = (tmp_path / "results").iterdir()
    assert not (run / "report.html").exists() and "report:" not in result.output
    (following,) = [line for line in result.output.splitlines() if line.startswith("next: ")]
    assert following.endswith(f"crash replay aaaa0001 --run results/{run.name}")


def test_a_run_without_the_report_extra_ends_well(
    ffslab_command: Command,
    tmp_path: Path,
    explores: Callable[[dict[str, Any]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    (tmp_path / "made.toml").write_text(exploration_text())
    explores({})
    result = ffslab_command(*RUN)
    assert result.code == 0, result.error
    (run,) = (tmp_path / "results").iterdir()
    (line,) = [one for one in result.output.splitlines() if one.startswith("no report: ")]
    assert "pip install 'ffslab[report]'" in line
    assert line.endswith(f"crash report results/{run.name}")
    for verb in (("report",), ("crash", "report")):
        again = ffslab_command(*verb, str(run))
        assert again.code == 3 and "pip install" in again.error
