"""The report of a run of several workloads: one page, each workload's sections under its name."""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from test_report_page import parsed
from test_report_support import page_of_words

from ffslab.report.chapters import chapters_of
from ffslab.report.load import Read
from ffslab.report.page import render
from ffslab.results import result
from ffslab.workloads.registry import kind_of
from loaded_support import unpacked

pytestmark = pytest.mark.slow

TITLES = [
    "The board: raw throughput",
    "a. Mount time",
    "b. Throughput and latency",
    "b. and e. Until the partition is full",
    "d. RAM",
    "f. Wear leveling",
    "g. Power loss",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of the study celf, without its rating: six workloads in seven chapters."""
    run = unpacked("celf", tmp_path_factory.mktemp("several"))
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["study_text"] = manifest["study_text"].partition("[rating]")[0]
    (run / "manifest.json").write_text(json.dumps(manifest))
    return run


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return page_of_words(folder)


def test_each_chapter_has_its_sections_under_its_name(page: str) -> None:
    headings = parsed(page).headings
    places = [headings.index(name) for name in TITLES]
    assert places == sorted(places)
    for name in ("How large is the code?", "Time model", "Commands"):
        assert headings.count(name) == 1
    mounts = headings[places[1] : places[2]]
    assert mounts.count("Latency") == 1 and "Where does the time of each step go?" in mounts


def test_one_first_screen_stands_above_all(page: str) -> None:
    """Its rows are file systems. Each chapter has its own below."""
    first, rest = page.split("<nav", 1)
    assert first.count('class="headline"') == first.count('class="score"') == 1
    rows = re.findall(r'<tr><th scope="row" class="text">(.*?)</th>', first)
    assert rows == ["JFFS2", "UBIFS", "YAFFS2", "LogFS"]
    assert rest.count('class="headline"') == len(TITLES)
    for number, title in enumerate(TITLES):
        assert f'id="chapter-{number}"' in rest, title


def test_every_case_is_told_once(folder: Path, page: str) -> None:
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert len({kind_of(row["spec"]) for row in rows}) == 6
    assert f"{len(rows)} of {len(rows)} cases passed" in page
    results = page.split('id="results"')[1].split("</section>")[0]
    for row in rows:
        assert results.count(f">{row['id']}<") == 1


def test_a_report_reads_each_result_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their workloads: reading is most of the work of a large report. Only the first
    result of a workload is read again, when its keys are known.
    """
    rows = (folder / "results.jsonl").read_text().splitlines()
    read: list[bytes] = []

    def counted(line: bytes, own_keys: frozenset[str]) -> object:
        read.append(line)
        return result.parsed_as_shown(line, own_keys)

    monkeypatch.setattr("ffslab.workloads.results.parsed_as_shown", counted)
    render(folder)
    assert [line.decode() for line, _ in groupby(read)] == [f"{row}\n" for row in rows]
    assert len(read) <= len(rows) + len({kind_of(json.loads(row)["spec"]) for row in rows})


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
