"""The page of a run of workload `micro`: complete, offline, with what its study asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_report_micro_support import Overrides, write_micro_run
from test_report_page import BESIDE, parsed
from test_report_support import page_of_words

from ffslab.report import build
from ffslab.results.outcome import Outcome

pytestmark = pytest.mark.slow

FEW: Overrides = [
    ("filesystem", ("jffs2", "ubifs", "yaffs2")),
    ("workload.request_bytes", ("2 KiB", "32 KiB", "512 KiB")),
]
LINES = ["JFFS2", "UBIFS · write-back", "UBIFS · sync", "YAFFS2"]


@pytest.fixture(scope="module")
def saturated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of four configurations with a failure."""
    folder = tmp_path_factory.mktemp("micro") / "saturated"
    outcomes = {
        "yaffs2-writethrough-randomwrite-request2kib-s1": Outcome(
            "fail", "micro: no space left <b>(ENOSPC)</b>", ("line",)
        )
    }
    write_micro_run(folder, overrides=FEW, outcomes=outcomes)
    return build(folder).read_text(encoding="utf-8")


def test_page_is_well_formed_offline_and_not_large(saturated: str) -> None:
    page = parsed(saturated)
    assert page.stack == []
    assert len(page.ids) == len(set(page.ids))
    assert all(ref in BESIDE or ref[1:] in page.ids for ref in page.references)
    assert not re.search(r"(https?:)?//[a-z]", re.sub(r"<pre.*?</pre>", "", saturated, flags=re.S))
    assert len(saturated.encode()) < 4_000_000


def test_drawings_have_titles_and_theme_colours_only(saturated: str) -> None:
    page = parsed(saturated)
    drawings = [svg for svg in page.svgs if svg.get("role") == "img"]
    assert len(drawings) >= 3 + 4 * 4
    assert all(svg["aria-labelledby"] in page.ids for svg in drawings)
    body = saturated[saturated.index("<body>") :]
    assert set(re.findall(r'(?:fill|stroke)="#[0-9a-f]+"', body)) == set()
    assert re.findall(r"(?:fill|stroke):#", body) == []


def test_sections_in_order(saturated: str) -> None:
    assert parsed(saturated).headings == [
        "Verdict",
        "Failures",
        "What was found",
        "Response time against request size",
        "Requests in order",
        "Start-up and running phase",
        "The slowest requests",
        "Work between requests",
        "Preparation",
        "What the verdicts hang on",
        "Time model",
        "All results",
        "Commands",
        "Method",
        "Glossary",
    ]


def test_failures_come_first_and_every_case_has_its_command(saturated: str) -> None:
    text = "".join(parsed(saturated).words)
    assert text.index("cases failed") < text.rindex("What was found")
    assert "micro: no space left <b>(ENOSPC)</b>" in text
    assert saturated.count("<code>ffslab run micro-saturated --set") == 128


def test_units_configurations_and_notes_are_named(saturated: str) -> None:
    text = "".join(parsed(saturated).words)
    for words in (
        "mean response time (ms)",
        "request size (KiB)",
        "standard deviation of erases",
        "Reads: page cache dropped before.",
        "A write to UBIFS · write-back ends when its data are in memory.",
        "a copy of its snapshot",
        *LINES,
    ):
        assert words in text, words
    assert "FFSMark" not in text


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("micro-fill", ("Sensitivity to the fill rate", "fill rate (%)", "fill rate 75 %")),
        ("micro-interarrival", ("What idle time changes", "sleep between requests (ms)")),
    ],
)
def test_a_second_axis_gets_its_own_figures(
    tmp_path: Path, study: str, words: tuple[str, ...]
) -> None:
    folder = write_micro_run(tmp_path / "r", study, [("seed", (1,)), *FEW])
    # Some of them stand in the drawings.
    text = "".join(parsed(page_of_words(folder)).words)
    for word in words:
        assert word in text, word


def test_each_part_of_a_study_is_a_section(tmp_path: Path) -> None:
    overrides: Overrides = [("seed", (1,)), ("filesystem", ("jffs2",))]
    page = parsed(page_of_words(write_micro_run(tmp_path / "r", "micro-uflip", overrides)))
    assert page.headings[2:11] == [
        "Granularity",
        "Alignment",
        "Locality",
        "Partitioning",
        "Order",
        "Parallelism",
        "Mix",
        "Pause",
        "Bursts",
    ]
    text = "".join(page.words)
    assert "random-write beside sequential-read" in text
    assert "running phase" in text


def test_a_single_case_and_no_case_give_a_report(tmp_path: Path) -> None:
    one: Overrides = [
        *(("seed", (1,)), ("filesystem", ("jffs2",)), ("workload.pattern", ("random-write",))),
        ("workload.request_bytes", ("2 KiB",)),
    ]
    folder = write_micro_run(tmp_path / "one", overrides=one)
    assert "no two configurations" in page_of_words(folder)
    case = "jffs2-writethrough-s1"
    failed = write_micro_run(
        tmp_path / "none", overrides=one, outcomes={case: Outcome("crash", "kernel panic")}
    )
    assert "kernel panic" in page_of_words(failed)


def test_records_that_were_removed_are_said_to_be_missing(tmp_path: Path) -> None:
    folder = write_micro_run(tmp_path / "r", overrides=[("seed", (1,)), *FEW])
    for path in folder.glob("cases/*/records.jsonl"):
        path.unlink()
    text = "".join(parsed(page_of_words(folder)).words)
    assert "cases could not be drawn. The first: cases/" in text
    assert "records.jsonl" in text


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    few: Overrides = [("seed", (1, 2)), ("filesystem", ("jffs2", "ubifs")), *FEW[1:]]
    folder = write_micro_run(tmp_path / "r", overrides=few)
    assert page_of_words(folder) == page_of_words(folder)  # with the drawings' specifications
