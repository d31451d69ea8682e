"""The report of a run of several workloads: one page, each workload's sections under its name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from host_support import study_of
from test_report_micro_support import write_micro_run
from test_report_page import parsed
from test_report_support import page_of_words, write_run
from test_report_tree_support import mounts_text, write_tree_run

from ffslab.loader import load_catalog
from ffslab.model.study import expand
from ffslab.report.chapters import chapters_of
from ffslab.report.load import Read
from ffslab.report.page import render
from ffslab.workloads.registry import kind_of

pytestmark = pytest.mark.slow

MIXED = """
schema = 1
name = "mixed"
title = "Three workloads on one board"

[base]
board = "apf27"
filesystem = "jffs2"

[[part]]
name = "files"

[[part]]
name = "writes"
set = { "workload.kind" = "micro", state = "saturated" }

[[part]]
name = "boot"
set = { "workload.kind" = "tree", "workload.steps" = "mount unmount" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of three runs in one, as of a study of three parts."""
    place = tmp_path_factory.mktemp("several")
    runs = [
        write_run(place / "files", [("seed", (1,)), ("options.compression", ("none",))]),
        write_micro_run(
            place / "writes",
            "micro-saturated",
            [("filesystem", ("jffs2", "ubifs")), ("seed", (1,))],
        ),
        write_tree_run(place / "boot", mounts_text()),
    ]
    lines, cases = [], []
    manifest = json.loads((runs[0] / "manifest.json").read_text())
    for run in runs:
        lines += (run / "results.jsonl").read_text().splitlines(keepends=True)
        cases += json.loads((run / "manifest.json").read_text())["cases"]
    manifest |= {"cases": cases, "cases_total": len(cases), "title": "Three workloads"}
    mixed = place / "mixed"
    mixed.mkdir()
    (mixed / "manifest.json").write_text(json.dumps(manifest))
    (mixed / "results.jsonl").write_text("".join(lines))
    for run in runs:  # single requests are read from the records
        (mixed / "cases").mkdir(exist_ok=True)
        for case in (run / "cases").iterdir() if (run / "cases").is_dir() else ():
            case.rename(mixed / "cases" / case.name)
    return mixed


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return page_of_words(folder, validate=True)


def test_a_study_may_have_parts_of_several_workloads() -> None:
    catalog = load_catalog()
    cases = expand(study_of(MIXED, catalog), catalog)
    assert [case.workload.kind for case in cases] == ["ffsmark", "micro", "tree"]
    assert len({case.spec_hash for case in cases}) == 3


def test_each_workload_has_its_sections_under_its_name(page: str) -> None:
    headings = parsed(page).headings
    names = ["FFSMark", "Micro-benchmarks", "Directory trees"]
    places = [headings.index(name) for name in names]
    assert places == sorted(places)
    assert headings.count("Time model") == headings.count("Commands") == 1
    assert headings[places[0] : places[1]].count("Latency") == 1
    assert "Where does the time of each step go?" in headings[places[2] :]


def test_one_first_screen_stands_above_all(page: str) -> None:
    """Its rows are file systems, its columns say of which workload they are."""
    first, rest = page.split("<nav", 1)
    assert first.count('class="headline"') == first.count('class="score"') == 1
    assert first.count('class="picture"') == 1
    for title in ("FFSMark", "Micro-benchmarks", "Directory trees"):
        assert f'<span class="unit">{title}</span>' in first
    rows = re.findall(r'<tr><th scope="row" class="text">(.*?)</th>', first)
    assert rows == ["JFFS2", "UBIFS", "YAFFS2", *rows[3:]]
    assert rest.count('class="headline"') == 3


def test_every_case_is_told_once(folder: Path, page: str) -> None:
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert len({kind_of(row["spec"]) for row in rows}) == 3
    assert f"{len(rows)} of {len(rows)} cases passed" in page
    results = page.split('id="results"')[1].split("</section>")[0]
    for row in rows:
        assert results.count(f">{row['id']}<") == 1


def test_no_anchor_is_there_twice_and_none_leads_nowhere(page: str) -> None:
    found = parsed(page)
    assert len(found.ids) == len(set(found.ids)) > 30
    wanted = {name[1:] for name in found.references if name.startswith("#")}
    assert wanted and wanted <= {*found.ids}


def test_a_report_reads_each_result_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their workloads: reading is most of the work of a large report."""
    rows = (folder / "results.jsonl").read_text().splitlines()
    read: list[bytes] = []

    def counted(line: bytes) -> object:
        if line.rstrip().decode() in rows:  # the manifest is read as well
            read.append(line)
        return json.loads(line)

    monkeypatch.setattr("ffslab.results.files.json_value", counted)
    render(folder)
    assert list(map(bytes.decode, read)) == [f"{row}\n" for row in rows]


def read_case(part: str, kind: str) -> Read[None]:
    head: Any = {"axes": {"part": part}, "spec": {"workload": {"kind": kind}}}
    return Read(head, None)


def test_chapters_are_those_of_the_parts_in_the_order_of_the_cases() -> None:
    """A workload may have several chapters, and a chapter of two workloads is one for each."""
    parts = [("a", "A. Boot"), ("b", "A. Boot"), ("c", "B. Writes"), ("d", "A. Boot"), ("e", "")]
    text = "".join(f'[[part]]\nname = "{name}"\nchapter = "{told}"\n' for name, told in parts)
    kinds = {"a": "tree", "b": "tree", "c": "tree", "d": "micro", "e": "micro"}
    found = [read_case(part, kind) for part, kind in kinds.items()]
    chapters = chapters_of({"study_text": text}, found)
    shown = [(one.title, one.kind, len(one.cases)) for one in chapters]
    assert shown == [
        ("A. Boot: Directory trees", "tree", 2),
        ("B. Writes", "tree", 1),
        ("A. Boot: Micro-benchmarks", "micro", 1),
        ("Micro-benchmarks", "micro", 1),
    ]
    assert len({one.key for one in chapters}) == 4


def test_without_chapters_each_workload_is_one() -> None:
    found = [read_case("x", "tree"), read_case("y", "micro"), read_case("x", "tree")]
    assert [(one.key, len(one.cases)) for one in chapters_of({}, found)] == [
        ("tree", 2),
        ("micro", 1),
    ]
