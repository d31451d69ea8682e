"""The page of trees against known effects: words, axes, the rule of + and −, sentences."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_report_tree_support import (
    Effects,
    files_text,
    images_text,
    memory_bytes,
    mounts_text,
    study_text,
    tree_cases,
    write_tree_run,
)

from ffslab.compare.standing import standing
from ffslab.rating.factors import sign_of
from ffslab.report.axes import FILES, axis_of
from ffslab.report.curves import styles_for
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.quantity import duration_range, significant
from ffslab.results.outcome import Outcome
from ffslab.workloads.tree.report import criteria, figures, options, sentences
from ffslab.workloads.tree.report.criteria import MEMORY, SIZE, TIME, Criterion
from ffslab.workloads.tree.report.data import TreeRun
from ffslab.workloads.tree.report.series import duration_ns, means, sections, spots
from ffslab.workloads.tree.report.words import list_names, roles_of
from loaded_support import load_tree


def places(words: str) -> list[str]:
    return [role.place for role in roles_of(words.split())]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "mount list list create unmount mount list list create unmount",
            [
                f"{title}, run {run}"
                for run in (1, 2)
                for title in ("mount", "list", "list again", "create", "unmount")
            ],
        ),
        (
            "mount settle warm create unmount mount find delete unmount",
            [
                *("first mount", "settle", "warm", "create", "unmount after create"),
                *("mount after create", "find", "delete", "unmount after delete"),
            ],
        ),
        (
            "mount create sync crash mount list unmount",
            [
                *("first mount", "create", "sync", "crash", "mount after a crash"),
                *("list after a crash", "unmount after a crash"),
            ],
        ),
        (
            "mount create unmount restart mount list unmount",
            [
                *("first mount", "create", "unmount after create", "restart"),
                *("mount after a clean unmount", "list after a clean unmount"),
                "unmount after a clean unmount",
            ],
        ),
        ("mount list list list unmount", ["mount", "list", "list again", "list 3", "unmount"]),
        ("mount unmount", ["mount", "unmount"]),
    ],
)
def test_words_are_told_apart(words: str, expected: list[str]) -> None:
    assert places(words) == expected
    assert len(set(places(words))) == len(words.split())


def test_step_lists_are_named_by_how_the_first_guest_ended() -> None:
    crash, clean = ("mount", "crash", "mount", "unmount"), ("mount", "unmount", "restart", "mount")
    plain = ("mount", "unmount")
    assert list_names([crash, crash]) == {crash: ""}
    assert list_names([crash, clean, plain]) == {
        crash: "after a crash",
        clean: "after a clean unmount",
        plain: "mount unmount",
    }


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> TreeRun:
    return load_tree(write_tree_run(tmp_path_factory.mktemp("f") / "r", images_text()))


@pytest.fixture(scope="module")
def mounts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree_run(tmp_path_factory.mktemp("f") / "r", mounts_text())


@pytest.fixture(scope="module")
def mounts(mounts_folder: Path) -> TreeRun:
    return load_tree(mounts_folder)


def test_axes_are_what_varies(images: TreeRun, mounts: TreeRun, tmp_path: Path) -> None:
    assert [section.axis for section in sections(images)] == [None]
    size, files = sections(mounts)
    assert size.axis and files.axis
    assert size.axis.values == tuple(n * 2.0**20 for n in (32, 64, 128, 256))
    assert (files.axis.name, files.axis.values) == (FILES, (52.0, 520.0, 5200.0))
    run = load_tree(write_tree_run(tmp_path / "r", files_text([1])))
    (section,) = sections(run)
    assert section.axis and section.axis.values == (63.0, 126.0, 504.0, 2016.0, 6300.0)


def test_processor_speeds_are_an_axis_only_beside_a_free_one(tmp_path: Path) -> None:
    body = '[axes]\nfilesystem = ["jffs2"]\ncpu_scale = [2, 1, 0.5, 0]\n'
    run = load_tree(write_tree_run(tmp_path / "r", study_text("speed", body, [1])))
    (section,) = sections(run)
    assert section.axis and section.axis.name == "cpu_scale"
    assert section.axis.values == (0.5, 1.0, 2.0)
    assert all(sample.split for sample in section.samples)


def test_options_that_a_file_system_has_once_are_not_in_its_name(images: TreeRun) -> None:
    assert list(images.lines) == [
        *("JFFS2 · no compression", "JFFS2 · zlib", "JFFS2 · lzo"),
        *("UBIFS · no compression", "UBIFS · zlib", "UBIFS · lzo"),
        *("YAFFS2 · no compression", "SquashFS · gzip", "EROFS · lz4hc"),
    ]


def test_flash_and_processor_add_up(images: TreeRun) -> None:
    (section,) = sections(images)
    for sample in section.samples:
        assert sample.split and sample.split.flash_ns == sample.step.flash_ns
        assert sample.split.flash_ns + sample.split.cpu_ns == pytest.approx(sample.duration_ns)
        assert sample.split.cpu_ns / sample.duration_ns == pytest.approx(0.4, rel=0.01)


def test_steps_before_the_crash_count_once(mounts: TreeRun) -> None:
    section = sections(mounts)[0]
    lines = means(section.samples, duration_ns)
    assert {mean.seeds for mean in lines["first mount", "JFFS2"].values()} == {2}
    assert ("sync", "UBIFS") in lines
    assert ("unmount after create", "UBIFS") in lines


@pytest.mark.parametrize(
    ("factor", "time", "size"),
    [
        (1, "+", "+"),
        (1.25, "+", "+"),
        (1.3, "+", "o"),
        (2, "+", "−"),
        (2.01, "o", "−"),
        (9.9, "o", "−"),
        (10, "−", "−"),
        (300, "−", "−"),
    ],
)
def test_signs_follow_the_stated_rule(factor: float, time: str, size: str) -> None:
    assert sign_of(factor, TIME) == time
    assert sign_of(factor, MEMORY) == time
    assert sign_of(factor, SIZE) == size
    assert f"{TIME.good:g} times the best, − {TIME.bad:g}" in criteria.RULE


def test_rating_compares_at_the_same_points_and_seeds() -> None:
    values = {
        "a": {(1.0, "1"): 10.0, (2.0, "1"): 10.0},
        "b": {(1.0, "1"): 30.0, (2.0, "1"): 120.0, (3.0, "1"): 1.0},
        "c": {},
    }
    rated = criteria.rate(Criterion("t", TIME, values))
    assert rated and set(rated.marks) == {"a", "b"}
    assert (rated.points, rated.marks["a"].text) == (2, "best")
    mark = rated.marks["b"]
    assert (mark.factors.low, mark.factors.high) == pytest.approx((3, 12))
    assert mark.sign == "o\u2060/\u2060−"
    apart = {"a": {(1.0, "1"): 1.0}, "b": {(1.0, "2"): 1.0}}
    nothing = criteria.rate(Criterion("t", TIME, apart))
    assert nothing and nothing.marks == {}
    assert criteria.rate(Criterion("t", TIME, {"a": {(1.0, "1"): 1.0}})) is None


def test_nothing_and_less_than_nothing_can_be_rated() -> None:
    values = {"a": {(0.0, "1"): 0.0}, "b": {(0.0, "1"): -5000.0}, "c": {(0.0, "1"): 40_960.0}}
    rated = criteria.rate(Criterion("memory", MEMORY, values, is_size=True))
    assert rated
    assert [rated.marks[name].sign for name in "abc"] == ["+", "+", "−"]
    assert rated.marks["c"].text == "40.0 KiB, ×10.0"


def test_several_options_of_a_file_system_have_a_range_and_no_mean(images: TreeRun) -> None:
    found = {c.title: c for c in criteria.criteria(images, sections(images))}
    single = criteria.rate(found["image size"])
    assert single
    size = criteria.by_filesystem(images, single)
    assert size
    smallest = min(value for line in found["image size"].values.values() for value in line.values())
    factors = size.marks["JFFS2"].factors
    assert factors.low == pytest.approx(6_750_000 / smallest)
    assert factors.high == pytest.approx(15_750_000 / smallest)
    assert len(size.marks["JFFS2"].values) == 2
    assert "/" in size.marks["JFFS2"].sign
    assert "/" not in size.marks["YAFFS2"].sign
    create = criteria.rate(found["time of create, run 1"])
    by_name = create and criteria.by_filesystem(images, create)
    assert by_name and set(by_name.marks) == {"JFFS2", "UBIFS", "YAFFS2"}


def test_what_compression_changes_is_told_first_for_each_file_system(images: TreeRun) -> None:
    (section,) = sections(images)
    found = options.options_of(images, section)
    assert [(option.filesystem, option.axis) for option in found] == [
        ("jffs2", "compression"),
        ("ubifs", "compression"),
    ]
    zlib = next(pair for pair in found[0].pairs if pair.value == "zlib")
    assert zlib.changes[options.IMAGE].low == pytest.approx(6_750_000 / 15_750_000)
    topics = sentences.topics(images, [section])
    assert topics[0].title == "What the options change"
    text = topics[0].sentences[0].text
    image = "image size **48 % (lzo) to 57 % (zlib) smaller**"
    assert text.startswith(f"**JFFS2, compression** against no compression: {image}")
    table = options.table(found)
    assert table is not None
    assert [row[0] for row in table.rows] == ["zlib", "lzo", "zlib", "lzo"]


def test_attaching_ubi_is_told_apart(tmp_path: Path) -> None:
    folder = write_tree_run(tmp_path / "r", mounts_text())
    run = load_tree(folder)
    (section, _) = sections(run)
    shown = figures.curve_figures(section, styles_for(run.lines))[0]
    assert [key.label for key in shown.keys][-1] == "UBIFS: attaching UBI alone"
    told = [text for text in texts(run) if "Attaching UBI takes" in text]
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    shares = [
        100 * step["parts"][0]["duration_ns"] / step["duration_ns"]
        for row in rows
        if row["spec"]["filesystem"]["name"] == "ubifs" and row["axes"]["part"] == "size"
        for step in row["tree"]["steps"]
        if step["step"] == "mount" and step["parts"][0]["phase"].startswith("attach")
    ]
    assert shares
    assert any(f"{significant(max(shares))} %" in text for text in told)


def test_lines_that_cross_are_told_with_the_points_beside_it() -> None:
    line = {(x, "1"): x for x in (10.0, 100.0, 1000.0)}
    level = dict.fromkeys(line, 50.0)
    axis = axis_of(FILES, (10.0, 100.0, 1000.0))
    criterion = Criterion("time of find", TIME, {"a": line, "b": level}, axis=axis)
    found = standing(criteria.lines_of(criterion))
    assert found is not None
    text = sentences.first_text(criterion, found).replace("\u00a0", " ").replace("\u2060", "")
    assert "fastest: **a** at 10 files; **b** at 100–1,000 files" in text
    assert "Lines cross: a and b between 10 and 100 files (b faster beyond)" in text


def test_many_configurations_stand_below_their_file_system(images: TreeRun) -> None:
    names = list(images.lines)
    table = by_filesystem(Table("", ("configuration",), (), tuple((n,) for n in names)))
    assert list(table.headings.values()) == ["JFFS2", "UBIFS", "YAFFS2", "SquashFS", "EROFS"]
    assert table.rows[0] == ("no compression",)
    few = Table("", ("configuration",), (), tuple((n,) for n in names[:8]))
    assert by_filesystem(few) is few


def test_steps_are_rated_after_the_same_steps(images: TreeRun) -> None:
    found = {c.title: set(c.values) for c in criteria.criteria(images, sections(images))}
    read_only = {"SquashFS · gzip", "EROFS · lz4hc"}
    assert read_only < found["time of mount, run 1"]
    assert not read_only & found["time of unmount, run 1"]
    assert found["time of unmount, run 1 (before it: mount list list)"] == read_only
    assert not read_only & found["memory after mount, run 2"]


def texts(run: TreeRun) -> list[str]:
    topics = sentences.topics(run, sections(run))
    return [sentence.text.replace("**", "") for topic in topics for sentence in topic.sentences]


def raw_steps(folder: Path, **wanted: Any) -> list[float]:
    """Durations straight from the file, of steps with these properties."""
    found = []
    for line in (folder / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["axes"].get("part") != wanted["part"]:
            continue
        if row["spec"]["filesystem"]["name"] != wanted["filesystem"]:
            continue
        if wanted["word"] not in row["spec"]["workload"]["steps"].split():
            continue
        found += [
            step["duration_ns"] for step in row["tree"]["steps"] if step["phase"] == wanted["phase"]
        ]
    return found


def test_sentences_are_those_of_the_data(mounts: TreeRun, mounts_folder: Path) -> None:
    crash = raw_steps(
        mounts_folder, part="size", filesystem="yaffs2", word="crash", phase="mount-2"
    )
    clean = raw_steps(
        mounts_folder, part="size", filesystem="yaffs2", word="restart", phase="mount-2"
    )
    ratio = sum(crash) / sum(clean)
    said = [text for text in texts(mounts) if "Mount after a crash against" in text]
    assert any(f"YAFFS2 is {ratio:.2f} times slower" in text for text in said)
    assert len(said) == 2


def test_growth_is_an_exponent(tmp_path: Path) -> None:
    effects = Effects(growth=2.0)
    run = load_tree(write_tree_run(tmp_path / "r", mounts_text(), effects))
    section = sections(run)[0]
    lines = spots(section.samples, duration_ns)
    grown = sentences.growth_of(lines["mount after a clean unmount", "JFFS2"])
    assert grown and grown.exponent == pytest.approx(2, abs=0.25)
    assert (grown.first, grown.last) == (32 * 2.0**20, 256 * 2.0**20)
    assert sentences.growth_of({(5.0, "1"): 1.0}) is None
    assert sentences.growth_of({(5.0, "1"): 1.0, (6.0, "2"): 2.0}) is None


def test_runs_are_compared_at_the_same_seeds(tmp_path: Path) -> None:
    """A seed that only one run has must not look like an effect."""
    text = images_text()
    ids = [case.id for case in tree_cases(text) if case.filesystem.name == "jffs2"]
    effects = Effects(seed_step=3.0, no_space=ids[:1], first_unmount=1.0)
    run = load_tree(write_tree_run(tmp_path / "r", text, effects))
    assert not any("run 2 against run 1" in said for said in texts(run))


def test_the_first_unmount_of_a_file_system_is_found(images: TreeRun) -> None:
    said = [text for text in texts(images) if text.startswith("Unmount, run 2 against run 1")]
    assert len(said) == 1
    assert re.search(r"JFFS2 · \w+( compression)? is 20\.0 times faster", said[0])
    longest = [text for text in texts(images) if text.startswith("The longest unmount")]
    assert "80 % of its time on the flash is background" in longest[0]


def test_memory_is_that_of_the_last_mount(images: TreeRun) -> None:
    (section,) = sections(images)
    case = next(c for c in tree_cases(images_text()) if c.filesystem.name == "jffs2")
    after = [sample for sample in section.memory if sample.place == "mount, run 1"]
    jffs2 = [sample.memory for sample in after if sample.label == "JFFS2 · zlib"]
    assert {memory.total_bytes for memory in jffs2} == {memory_bytes(case, 0)}
    for memory in jffs2:
        assert sum(memory.parts.values()) == memory.total_bytes
    assert any(text.startswith("Memory after mount, run 2: least") for text in texts(images))


def test_a_case_that_failed_is_in_no_figure_but_in_the_notes(tmp_path: Path) -> None:
    text = mounts_text()
    ids = [case.id for case in tree_cases(text) if case.axes[0] == ("part", "size")]
    run = load_tree(
        write_tree_run(tmp_path / "r", text, outcomes={ids[0]: Outcome("corrupt", "bad digest")})
    )
    section = sections(run)[0]
    assert ids[0] not in {sample.case.id for sample in section.samples}
    assert section.notes == ("JFFS2, 32\u00a0MiB, after a crash: corrupt, bad digest (seed 1)",)


def test_a_range_has_the_unit_of_its_mean() -> None:
    assert duration_range(41e6, 40e6, 42e6) == "41.0\u00a0ms (40.0\u2060–\u206042.0)"
    assert duration_range(1.5e9, 5e8, 2.5e9) == "1.50\u00a0s (0.500\u2060–\u20602.50)"
    assert duration_range(7, 7, 7) == "7\u00a0ns"
