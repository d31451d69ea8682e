"""The page on paper and screen: what is folded, what is linked, what a number looks like."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from test_report_micro_support import write_micro_run
from test_report_page import parsed
from test_report_support import case_ids, page_of_words, write_run
from test_report_tree_support import images_text, write_tree_run

from ffslab.report import build
from ffslab.report.folding import SMALL_CASES, fold

SECTION = '<section id="{0}" class="sheet">\n<h2>{0}</h2>\n<p>text</p>\n</section>\n'
NAMES = ("verdict", "failures", "findings", "results")


def folded(cases: int) -> list[str]:
    page = fold("".join(SECTION.format(name) for name in NAMES), cases)
    assert page.count("<p>text</p>") == len(NAMES) == page.count("</section>")
    return re.findall(r'<details class="part"><summary><h2>(.*?)</h2></summary>', page)


def test_a_small_run_shows_the_verdict_and_folds_the_rest() -> None:
    assert folded(SMALL_CASES) == ["findings", "results"]
    assert folded(SMALL_CASES + 1) == ["results"]


@pytest.fixture(scope="module", params=["ffsmark", "micro", "tree"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("paper") / request.param
    if request.param == "micro":
        write_micro_run(folder, overrides=[("seed", (1,)), ("filesystem", ("jffs2", "ubifs"))])
    elif request.param == "tree":
        write_tree_run(folder, images_text())
    else:
        write_run(folder, [("seed", (1,))])
    return page_of_words(folder)


def test_numbers_copy_as_numbers(page: str) -> None:
    assert not re.search("[\u202f\u2009]", page)
    # Thousands are never apart by a space.
    assert not re.search("[0-9][\u00a0][0-9]{3}(?![0-9])", page)


def test_every_table_is_in_a_container_that_scrolls(page: str) -> None:
    tables = re.findall(r"(.{25})<table", page, flags=re.DOTALL)
    assert tables
    assert all(before.endswith('<div class="scroll">') for before in tables)


def test_no_section_begins_a_sheet_of_paper(page: str) -> None:
    style = page[page.index("@media print") : page.index("</style>")]
    assert not re.search(r"(break-before|page-break-before|\bpage):", style)
    assert "details::details-content" in style  # what is folded prints


def test_folding_leaves_a_whole_document(page: str) -> None:
    found = parsed(page)
    assert found.stack == []
    assert '<details class="part"><summary><h2>Glossary</h2></summary>' in page


def test_links_lead_to_files_that_are_there(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "r", case_ids=case_ids()[:2])
    first, second = case_ids()[:2]
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
            assert (target.parent / link).is_file(), link
        assert f'id="case-{second}"' in page and f"{second}/console.log" not in page


def test_the_table_beside_the_page_has_what_people_decide_by(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", case_ids=case_ids()[:2])
    build(folder)
    with (folder / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["case"] for row in rows} == set(case_ids()[:2])
    (created,) = (
        float(row["value"])
        for row in rows
        if row["case"] == case_ids()[0] and row["what"] == "creating the files"
    )
    assert created > 1e9
