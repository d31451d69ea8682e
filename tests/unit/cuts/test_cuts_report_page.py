"""The page of power cuts as it is rendered."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from cuts_support import finding, keep, kept, made, new_run, run_cases, study_text
from host_support import stream_of

from ffslab.campaign.done import wall_of
from ffslab.errors import UsageError
from ffslab.report.page import render
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RunDirectory

JFFS2, UBIFS = "jffs2-updatebyrename-s1", "ubifs-updatebyrename-s1"
FINDINGS = [
    finding("aaaa0001", "0 lost 0", "mount-fails", states=1_234),
    finding("aaaa0002", "1 torn-bits 3", "stale-data", confirmed=False),
    finding("aaaa0003", "2 lost 0 / 5 torn-bits 0", "kernel-warning"),
]
BAD = made(
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


def page_text(run: RunDirectory) -> str:
    return render(run.path)


def page_of(run: RunDirectory) -> Page:
    return Page(page_text(run))


def rows(html: str, table: str) -> list[str]:
    """The rows of the body of a table of this class, as text."""
    found = re.search(rf'<table class="{table}.*?</table>', html, re.DOTALL)
    assert found is not None
    body = re.findall(
        r"<tr(?! class=\"topic\").*?</tr>", found[0].partition("<tbody>")[2], re.DOTALL
    )
    return [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", row))).strip() for row in body]


def fail(run: RunDirectory, case_id: str) -> None:
    """A case whose history failed without any cut."""
    own = next(one for one in run_cases(run) if one.id == case_id)
    run.start_case(own, "ffsplan 1\n")
    outcome = Outcome("crash", "without any cut: no space")
    result = case_result(own, outcome, stream_of(), None, own={"cuts": None})
    run.finish_case(result, wall_of(own, 1, None, None))
    run.collect([one.id for one in run_cases(run)])


# --- the page ---


def test_all_findings_are_there_with_their_commands(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD, made(UBIFS))
    html = page_text(run)
    first, second, third = rows(html, "findings")
    for row, one in zip((first, second, third), FINDINGS, strict=True):
        assert row.startswith(f"{one['id']} JFFS2 update-by-rename ")
        assert one["outcome"] in row and one["detail"] in row
        assert f"crash replay {one['id']} --run {run.path}" in row
    assert "lost at 0 and 1,233 more program of block 7, page 0, in: create a" in first
    assert "not confirmed" not in first + third
    assert "torn-bits at 1, variant 3 not confirmed alone in a guest" in second
    assert "lost at 2; recovery: torn-bits at 5" in third
    text = Page(html).text
    assert "✕ 1,236 of 1,241 states are not correct" in text
    assert "it cannot be mounted" in text  # the words that occur are explained
    assert "half of a rename" not in text


def test_a_page_without_findings_says_so(tmp_path: Path) -> None:
    text = page_of(kept(tmp_path, made(JFFS2), made(UBIFS))).text
    assert "✓ All 8 states are correct." in text
    assert re.search(r"Findings None\. Recovery cost", text)


def test_of_a_case_whose_history_failed_the_page_says_why(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    fail(run, JFFS2)
    page = page_of(run)
    assert "No case got as far as its first cut; why, the failures say." in page.text
    assert "✕ No state has been gone through yet." in page.text
    assert f"crash {JFFS2} without any cut: no space" in page.text
    assert "failures" in page.ids
    assert "No state in which an operation was lost has been gone through." in page.text
    keep(run, made(UBIFS))
    page = page_of(run)
    assert "✕ All 4 states are correct." in page.text
    assert f"crash {JFFS2} without any cut: no space" in page.text


def test_what_is_missing_is_said_and_what_is_complete_is_not(tmp_path: Path) -> None:
    run = new_run(tmp_path, cases=(JFFS2, UBIFS))
    with pytest.raises(UsageError, match="no results"):
        page_of(run)
    keep(run, made(JFFS2))
    assert "Incomplete: 1 planned cases have no result yet." in page_of(run).text
    keep(run, made(UBIFS))
    assert "Incomplete" not in page_of(run).text


def test_the_outcomes_of_a_sample_and_of_all(tmp_path: Path) -> None:
    sampled = study_text(workload="sample = 4")
    for name, text, row in (
        ("all", None, "JFFS2 4 ✓ 4"),
        ("sample", sampled, "JFFS2 4 of 9 ✓ 4"),
    ):
        (tmp_path / name).mkdir()
        run = kept(tmp_path / name, made(JFFS2, states_possible=9), text=text)
        assert rows(page_text(run), "outcomes") == [row]


def test_the_cost_of_a_sample_is_not_called_that_of_every_operation(tmp_path: Path) -> None:
    curve = [[3, 30, 0, 0, 0], [1, 30, 2, 1, 0]]
    few = made(UBIFS, recovery={"curve": curve, "worst": 1, "uncut": None})
    text = page_of(kept(tmp_path, made(JFFS2), few)).text
    assert "After a cut before each of 4 operations." in text
    assert "After cuts before 2 of 4 operations." in text


def test_without_time_the_page_estimates_and_says_so(tmp_path: Path) -> None:
    html = page_text(kept(tmp_path, BAD))
    text = Page(html).text
    assert "Counts hold, time is an estimate." in text and "(apf27)" in text
    assert "flash time, ms, estimate" in text and "virtual time of" not in text
    # Reads, programs and erases after operation 1, which took longest, and what it came into.
    assert re.search(
        r"JFFS2 1 30 2 1 [\d.]+–[\d.]+ [\d.]+–[\d.]+ erase of block 9, in: create a", text
    )


def test_with_time_the_page_measures(tmp_path: Path) -> None:
    curve = [[0, 10, 0, 0, 8_500_000], [1, 20, 0, 0, 3_000_000]]
    unit = made(JFFS2, recovery={"curve": curve, "worst": 0, "uncut": [5, 1, 0, 2_000_000]})
    text = page_of(kept(tmp_path, unit, text=study_text(workload='timing = "board"'))).text
    assert "time is an estimate" not in text and "ms, estimate" not in text
    assert "Time is virtual, on the board’s chip and CPU." in text
    assert "virtual time of the mount, ms 3.00 8.50 8.50 0 2.00" in text
    assert re.search(r"JFFS2 0 10 0 0 8\.50 2\.00 program of block 7", text)


def test_what_others_wrote_is_escaped(tmp_path: Path) -> None:
    evil = '<script>alert("x")</script> & "'
    text = study_text().replace("Power cuts that were made up", "<b>T</b> & '")
    run = kept(
        tmp_path,
        made(JFFS2, findings=[finding("aaaa0001", "0 lost 0", "stale-data", detail=evil)]),
        text=text,
        texts={
            "log": "0 program 7 0 0 2048 1\n1 erase 9\n2 erase 9\n3 erase 9\n",
            "record": "op 0 0 0 4\nend 1 4 4\n",
            "history": "create <i>&amp;\n",
        },
    )
    html = page_text(run)
    page = Page(html)
    assert evil in page.text and "<b>T</b> & '" in page.text
    assert "A description <of> them." in page.text
    assert "in: create <i>&amp;" in page.text
    assert html.count("<script>") == 1 and "<i>" not in html and "<b>" not in html


def test_a_long_detail_is_cut(tmp_path: Path) -> None:
    detail = "x" * 299 + "yz"
    bad = finding("aaaa0001", "0 lost 0", "stale-data", detail=detail)
    (row,) = rows(page_text(kept(tmp_path, made(JFFS2, findings=[bad]))), "findings")
    assert "x" * 299 + "y…" in row and "z" not in row


def test_every_case_has_its_chart_below_its_history(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    for case in run_cases(run):
        keep(run, made(case.id))
    html = page_text(run)
    ids = [one for one in Page(html).ids if re.fullmatch(r"r\d-title", one)]
    assert len(ids) == len(set(ids)) == 4
    titles = re.findall(
        r"<h[34]>(.*?)</h[34]>", html.partition('id="recovery"')[2].partition("<section")[0]
    )
    assert titles == ["update-by-rename", "JFFS2", "UBIFS", "appends", "JFFS2", "UBIFS"]
    # The colours of file systems are those of all reports.
    colours = re.findall(r"stroke:var\(--(c\d)\);stroke-width", html)
    assert len(set(colours)) == 2 and colours[0] == colours[len(colours) // 2]


def test_links_lead_somewhere_and_nothing_is_fetched(tmp_path: Path) -> None:
    run = kept(tmp_path, BAD)
    html = page_text(run)
    page = Page(html)
    targets = re.findall(r'href="#([^"]*)"', html)
    assert {"outcomes", "findings", "recovery"} <= set(targets) <= set(page.ids)
    # Beside the page's own parts there are files of the run, and the table that is written with it.
    others = set(re.findall(r'(?:src|href)="(?!#|data:)([^"]*)"', html)) - {"report.csv"}
    assert all((run.path / unquote(other)).exists() for other in others), others
    assert "url(" not in html
