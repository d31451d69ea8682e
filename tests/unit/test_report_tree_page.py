"""The page of a run of workload `tree`: complete, offline, with what its study asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_report_page import BESIDE, parsed
from test_report_support import page_of_words
from test_report_tree_support import (
    Effects,
    files_text,
    images_text,
    mounts_text,
    study_text,
    tree_cases,
    write_tree_run,
)

from ffslab.loader import study_names
from ffslab.report import build
from ffslab.results.outcome import Outcome

pytestmark = pytest.mark.slow

ONE = """
steps = "mount create unmount"
[axes]
filesystem = ["jffs2"]
"""


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", "".join(parsed(page).words))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The reports of the three published studies' shapes, one of them with its drawings."""
    folder = tmp_path_factory.mktemp("tree")
    return {
        "images": page_of_words(write_tree_run(folder / "images", images_text())),
        "files": build(write_tree_run(folder / "files", files_text())).read_text(encoding="utf-8"),
        "mounts": page_of_words(write_tree_run(folder / "mounts", mounts_text())),
    }


@pytest.mark.parametrize("name", ["images", "files", "mounts"])
def test_page_is_well_formed_offline_and_without_holes(pages: dict[str, str], name: str) -> None:
    text = pages[name]
    page = parsed(text)
    assert page.stack == []
    assert len(page.ids) == len(set(page.ids))
    assert all(ref in BESIDE or ref[1:] in page.ids for ref in page.references)
    assert not re.search(r"(https?:)?//[a-z]", text)
    assert len(text.encode()) < 4_000_000
    assert not re.search(r"\b(nan|NaN|None|Infinity|inf)\b", "".join(page.words))
    assert "NaN" not in text


@pytest.mark.parametrize("name", ["images", "files", "mounts"])
def test_drawings_have_titles_and_theme_colours_only(pages: dict[str, str], name: str) -> None:
    page = parsed(pages[name])
    drawings = [svg for svg in page.svgs if svg.get("role") == "img"]
    assert len(drawings) >= 5
    assert all(svg["aria-labelledby"] in page.ids for svg in drawings)
    body = pages[name][pages[name].index("<body>") :]
    assert re.findall(r'(?:fill|stroke)="#[0-9a-f]+"', body) == []
    assert re.findall(r"(?:fill|stroke):#", body) == []


def test_sections_follow_what_varies(pages: dict[str, str]) -> None:
    end = [
        "What the verdicts hang on",
        "Time model",
        "All results",
        "Commands",
        "Method",
        "Glossary",
    ]
    after = ["What unmounting costs", "Memory", "All steps", *end]
    start = ["Verdict", "What was found", "Good and bad"]
    assert parsed(pages["images"]).headings == [*start, "Images", "The steps", *after]
    assert parsed(pages["files"]).headings == [*start, "Against the size of the tree", *after]
    assert parsed(pages["mounts"]).headings == [*start, "Size", "Files", *after]


def test_images_have_sizes_ratios_and_commands(pages: dict[str, str]) -> None:
    text = text_of(pages["images"])
    for words in (
        "JFFS2 · zlib: 6.75 MB, 2.22 : 1",
        "UBIFS · no compression: 15.8 MB, 0.952 : 1",
        "Dashed line: the tree’s files, 15.0 MB.",
        "mkfs.squashfs -x gzip -o image tree",
        "embedded-rootfs",
    ):
        assert words in text, words


def test_both_runs_of_a_scenario_stand_side_by_side(pages: dict[str, str]) -> None:
    text = text_of(pages["images"])
    assert "the upper bar is run 1, the one below it run 2" in text
    assert "Time of unmount: JFFS2 · no compression, run 1" in text
    assert "EROFS · lz4hc, run 2" in text
    assert "with a free processor (CPU scale 0)" in text
    assert "unmount, run 1" in text


def test_figures_say_what_they_are_for(pages: dict[str, str]) -> None:
    for words in (
        "partition 100 MiB",
        "CPU scale 1",
        "files per directory 1, 2, 8, 32 or 100",
        "directories per directory 2; bytes per file 750; depth 5",
        "size of the tree (files)",
        "time (s)",
        "time (ms)",
        "mount after create",
        "unmount after delete",
    ):
        assert words in text_of(pages["files"]), words


def test_crash_and_clean_unmount_are_told_in_words(pages: dict[str, str]) -> None:
    text = text_of(pages["mounts"])
    for words in (
        "mount after a crash",
        "mount after a clean unmount",
        "partition (MiB)",
        "Mount after a crash against after a clean unmount: YAFFS2 is 8.00 times slower",
        "The flash’s part is how long the chip was busy",
    ):
        assert words in text, words


def test_rules_stand_with_the_figures(pages: dict[str, str]) -> None:
    for page in pages.values():
        text = text_of(page)
        assert "+ within 2 times the best, − 10 times the best or more, o between" in text
        assert "Growth: the exponent e" in text
        assert "2 seeds: figures are means over them, with their range" in text


def test_failed_skipped_partial_and_missing_cases_are_visible(tmp_path: Path) -> None:
    ids = [case.id for case in tree_cases(files_text())]
    full, crashed, skipped = ids[0], ids[9], ids[12]
    folder = write_tree_run(
        tmp_path / "r",
        files_text(),
        Effects(no_space=[full]),
        {
            crashed: Outcome("crash", "kernel panic <b>&</b>", ("a line of the console",)),
            skipped: Outcome("skip", "no room in /dev/shm"),
        },
        planned=3,
    )
    page = page_of_words(folder)
    text = text_of(page)
    for words in (
        "1 of 60 cases failed",
        "3 planned cases have no result yet",
        "kernel panic <b>&</b>",
        "a line of the console",
        f"Skipped: {skipped} – no room in /dev/shm.",
        "Not, or not completely, in these figures:",
        "only the steps before create, which ended with error (ENOSPC) (seed 1)",
        "error ENOSPC",
        "ok, after error of create",
        "missing; case: crash",
        "create: error ENOSPC",
    ):
        assert words in text, words
    assert parsed(page).headings[:2] == ["Verdict", "Failures"]
    assert all(case_id in text for case_id in ids)


def test_a_shape_that_nobody_could_create_is_named(tmp_path: Path) -> None:
    cases = tree_cases(files_text())
    full = [case.id for case in cases if case.workload.files == "constant(100)"]  # type: ignore[union-attr]
    text = text_of(
        page_of_words(write_tree_run(tmp_path / "r", files_text(), Effects(no_space=full)))
    )
    assert "JFFS2, files 100: only the steps before create" in text
    assert "6,300 files" not in text


def test_a_single_case_and_no_case_give_a_page(tmp_path: Path) -> None:
    text = study_text("one", ONE, [1])
    page = page_of_words(write_tree_run(tmp_path / "one", text))
    assert "The processor has 40\u00a0% of the time in all steps" in page
    assert "Good and bad" not in parsed(page).headings
    assert "One seed: every figure is exact" in page
    (case,) = tree_cases(text)
    lost = {case.id: Outcome("timeout", "300 s of wall time")}
    page = page_of_words(write_tree_run(tmp_path / "none", text, outcomes=lost))
    assert "none of these cases passed" in page
    assert "no two configurations" in page
    assert "300 s of wall time" in page
    skipped = {case.id: Outcome("skip", "no room")}
    page = page_of_words(write_tree_run(tmp_path / "skip", text, outcomes=skipped))
    assert "0 of 1 cases passed, 1 were skipped" in page


@pytest.mark.parametrize("study", ["metadata-s1", "metadata-s2", "mount-scaling"])
def test_the_shipped_studies_have_pages(tmp_path: Path, study: str) -> None:
    text = study_names()[study].read_text(encoding="utf-8")
    page = page_of_words(write_tree_run(tmp_path / "r", text))
    assert len(page.encode()) < 4_000_000
    assert "Good and bad" in parsed(page).headings
    assert all(f">{case.id}<" in page for case in tree_cases(text))


def test_parts_with_a_crash_and_a_clean_unmount_are_one_section(tmp_path: Path) -> None:
    steps = ("mount create sync crash mount unmount", "mount create unmount restart mount unmount")
    axes = '[axes]\nfilesystem = ["jffs2", "yaffs2"]\npartition_bytes = ["32 MiB", "64 MiB"]\n'
    parts = "".join(
        f'[[part]]\nname = "p{n}"\ntitle = "part {n}"\n[part.set]\n'
        f'workload = {{ steps = "{words}" }}\n'
        for n, words in enumerate(steps)
    )
    text = study_text("parts", axes + parts)
    page = page_of_words(write_tree_run(tmp_path / "r", text))
    assert "Against the partition" in parsed(page).headings
    assert "Mount after a crash against after a clean unmount: YAFFS2" in text_of(page)


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    folder = write_tree_run(tmp_path / "r", images_text([1]))
    assert page_of_words(folder) == page_of_words(folder)  # with the drawings' specifications
