"""What a report says of directory trees: names of steps, what people decide by, sections."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from result_support import stub
from test_report_tree_support import (
    IMAGES,
    files_text,
    images_text,
    mounts_text,
    study_text,
    write_tree_run,
)

from ffslab.protocol.records import TaskRecord
from ffslab.report.data import Run
from ffslab.report.sections.section import Section
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.workloads.tree.metrics import criteria, figures
from ffslab.workloads.tree.report import Own, figures_of, sections
from ffslab.workloads.tree.result import OK
from ffslab.workloads.tree.stored import MemoryResult, TreeStep
from ffslab.workloads.tree.words import roles_of
from loaded_support import load_run

TWICE = "mount list list create unmount mount list list create unmount"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            TWICE,
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
            ["first mount", "create", "sync", "crash", "mount", "list", "unmount"],
        ),
        ("mount list list list unmount", ["mount", "list", "list again", "list 3", "unmount"]),
        ("mount unmount", ["mount", "unmount"]),
        ("list list", ["list", "list again"]),
        (
            "mount create crash mount restart mount list",
            [
                *("first mount", "create", "crash", "mount after create", "restart"),
                *("mount", "list"),
            ],
        ),
        (
            "mount unmount mount unmount",
            ["mount, run 1", "unmount, run 1", "mount, run 2", "unmount, run 2"],
        ),
    ],
)
def test_words_are_told_apart(words: str, expected: list[str]) -> None:
    assert [role.place for role in roles_of(words.split())] == expected


def result_of(words: str, *, prepared: int = 0, **of_steps: Any) -> CaseResult:
    """A case whose n-th step takes n seconds, with the memory after each mount; `of_steps` is in
    all of them.
    """
    counts: dict[str, int] = {}
    steps = []
    for index, word in enumerate(words.split()):
        counts[word] = counts.get(word, 0) + 1
        phase = word if counts[word] == 1 else f"{word}-{counts[word]}"
        own = {"index": index, "step": word, "number": counts[word], "phase": phase, "status": OK}
        own |= {"prepared": index < prepared, "duration_ns": (index + 1) * 10**9, **of_steps}
        steps.append(stub(TreeStep, **own))
    memory = [
        stub(MemoryResult, label=step["phase"], prepared=step["prepared"], total_bytes=1024)
        for step in steps
        if step["step"] == "mount"
    ]
    spec = {"workload": {"kind": "tree", "steps": words}, "filesystem": {"options": {}}}
    row = {
        "spec": spec,
        "preparation": None,
        "space": [],
        "image": None,
        "latencies": [],
        "virtual_ns": 10,
    }
    return cast(CaseResult, {**row, "tree": {"steps": steps, "memory": memory}, "phases": []})


def decided(result: CaseResult) -> dict[str, Criterion]:
    return {criterion.title: criterion for criterion in criteria(result)}


def test_a_step_is_called_by_what_it_is_in_its_list() -> None:
    found = decided(result_of(TWICE, blocks_erased=0, pages_programmed=2))
    seconds = {title: one.figure.value / 1e9 for title, one in found.items()}
    assert seconds["listing the tree again, run 1"] == 3
    assert seconds["mounting, run 2"] == 6
    assert seconds["from mount to the end of ls, run 2"] == 6 + 7
    assert seconds["all steps, until all is on the flash"] == sum(range(1, 11))
    assert {one.column for one in found.values() if one.headline} == {
        *("all steps", "mount to ls, run 1", "mount, run 1", "create, run 1"),
    }
    assert found["RAM of the file system after mounting, run 2"].column == "RAM after mount, run 2"
    # Nothing is a figure, too: who erases no block wears least.
    assert found["blocks erased, all steps"].figure.value == 0
    assert found["pages programmed, all steps"].figure.value == 20


def test_what_people_decide_by() -> None:
    """Settling is waiting; what writes back ends in memory while it fills the tree."""
    result = result_of("mount settle create read list unmount", pages_programmed=1, blocks_erased=2)
    result["spec"]["filesystem"]["options"]["write_mode"] = "write-back"
    cast(Any, result)["image"] = {"image_bytes": 512, "flash_bytes": 1024}
    found = [
        (one.column, one.aspect, one.headline, one.in_memory, one.figure.value)
        for one in criteria(result)
    ]
    second = 10**9
    assert found == [
        ("all steps", "time", True, False, (1 + 3 + 4 + 5 + 6) * second),
        ("boot", "time", True, False, (1 + 4) * second),
        ("mount to ls", "time", True, False, (1 + 5) * second),
        ("mount", "time", True, False, second),
        ("create", "time", True, True, 3 * second),
        ("read", "time", False, False, 4 * second),
        ("list", "time", False, False, 5 * second),
        ("unmount", "time", False, False, 6 * second),
        ("pages", "wear", False, False, 6),
        ("erases", "wear", False, False, 12),
        ("RAM after mount", "memory", False, False, 1024),
        ("image", "space", False, False, 512),
    ]
    told = decided(result)
    assert "booting: attach, mount and read" in told
    assert told["size of the image"].figure.key == "image.image_bytes"
    assert ("read", 5 * second) in [
        (one.place, one.value) for one in figures(result) if one.metric.name == "boot_ns"
    ]
    # Nothing is in memory where each file is synced; without an unmount nobody knows when all is.
    result["spec"]["workload"]["sync"] = True
    assert not any(one.in_memory for one in criteria(result))
    assert "create" in {one.column for one in criteria(result_of("mount create"))}
    assert "all steps" not in {one.column for one in criteria(result_of("mount create"))}
    assert list(criteria(result_of(""))) == []
    # Of what only reads, the RAM is asked and the wear is not.
    only_reads = [*criteria(result_of("mount list unmount", pages_programmed=1))]
    assert [(one.column, one.headline) for one in only_reads if one.aspect == "memory"] == [
        ("RAM after mount", True)
    ]
    assert {one.aspect for one in only_reads if one.incidental} == {"wear"}
    assert not any(one.incidental for one in criteria(result))


def test_what_only_reads_is_no_match_for_what_writes() -> None:
    found = decided(result_of("mount create restart mount list unmount", prepared=3))
    assert found["all steps, which only read"].figure.value == (4 + 5 + 6) * 10**9
    assert not found["all steps, which only read"].headline
    assert [title for title in found if title.startswith("mount")] == ["mounting"]


def test_ram_is_first_that_on_the_flash_which_the_study_is_about() -> None:
    found = decided(result_of("mount create unmount mount find unmount"))
    assert [title for title in found if title.startswith("RAM")] == [
        "RAM of the file system after mounting after create",
        "RAM of the file system after first mounting",
    ]


def test_what_is_kept_of_a_case() -> None:
    flash = {"flash_read_ns": 1, "flash_program_ns": 2, "flash_erase_ns": 3}
    flash |= {"flash_transfer_ns": 4, "flash_ns": 10}
    tasks = [
        stub(TaskRecord, name="kworker/u2:1", busy_ns=5, pages_read=1),
        stub(TaskRecord, name="kworker/0:0", busy_ns=6, pages_programmed=2, blocks_erased=3),
        stub(TaskRecord, name="ffsagent", busy_ns=7),
    ]
    parts = [
        {"phase": "attach-2", "duration_ns": 30},
        {"phase": "volume-2", "duration_ns": 5},
        {"phase": "mount-2", "duration_ns": 40},
    ]
    result = result_of("mount restart mount", prepared=2, **flash, tasks=tasks, parts=parts)
    memory = result["tree"]["memory"][1]  # type: ignore[typeddict-item]
    memory |= {"slab_bytes": {"filesystem": 1, "kmalloc": 20, "inodes": 300, "other": 7}}
    memory |= {"vmalloc_bytes": 4_000, "total_bytes": 54_321}
    own = figures_of(result)
    (step,) = own.steps
    assert (step.title, step.word) == ("mount", "mount")
    assert list(step.parts.values()) == [1, 2, 3, 4, 3 * 10**9 - 10]
    assert step.pieces == {"attaching UBI": 30, "making the volume": 5, "mount": 40}
    assert step.tasks == {"kworker": (11, 1, 2, 3), "the step itself": (7, 0, 0, 0)}
    assert {name: list(parts.values()) for name, parts in own.memory.items()} == {
        "mount": [1, 20, 300, 4_000, 50_000]
    }
    image = {"image_bytes": 7}
    assert figures_of(cast(CaseResult, {"tree": None, "image": image})).image == image
    made = result_of("mount create create", files=5, directories=None, bytes=8)
    assert figures_of(made).tree == (0, 5, 8)
    empty = result_of("create", files=5, directories=3, bytes=None)
    assert figures_of(empty).tree == (3, 5, 0)
    assert figures_of(result_of("mount create", files=None)).tree is None
    assert figures_of(result_of("mount list", files=5)).tree is None
    bare = result_of("mount", flash_ns=None)
    assert [step.parts for step in figures_of(bare).steps] == [{}]
    broken = result_of("mount", status="error")
    assert figures_of(broken).steps == ()
    assert figures_of(cast(CaseResult, {"tree": None, "image": None})) == Own()


def run_of(folder: Path, text: str) -> Run:
    write_tree_run(folder, text)
    return load_run(folder)


def drawn(section: Section, title: str) -> list[dict[str, Any]]:
    """The rows of a section's chart."""
    chart = next(chart for chart in section.charts if chart.title == title)
    (told,) = re.findall(r'<script type="application/json">(.*?)</script>', chart.drawing)
    columns = json.loads(told)["data"]["rows"]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.slow
def test_sections_of_images(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", images_text())
    found = {section.key: section for section in sections(run, "p-")}
    assert list(found) == ["p-steps", "p-tasks", "p-ram", "p-images"]
    assert all(len(section.sentence.split()) <= 30 for section in found.values())
    times = found["p-steps"]
    assert [chart.title for chart in times.charts][:2] == ["Mount, run 1", "List, run 1"]
    assert times.charts[-1].title == "Mount, run 2 with UBI"
    bars = [row for row in drawn(times, "Create, run 1") if row["label"] == "YAFFS2"]
    # 0.6 of the time is the flash's; a free processor would have made it shorter.
    assert bars[-1]["part"] == "outside the flash" and bars[0]["place"] == "CPU scale 1"
    assert bars[-1]["value"] == pytest.approx(sum(row["value"] for row in bars) * 0.4, rel=1e-4)
    assert {row["label"] for row in drawn(times, "Mount, run 1 with UBI")} >= {"UBIFS · zlib"}
    ram = drawn(found["p-ram"], "After mount, run 1")
    assert {row["part"] for row in ram} >= {"kmalloc", "vmalloc", "inodes"}
    sizes, made = found["p-images"].tables
    assert len(sizes.rows) == len(made.rows) >= 8
    assert "1,024 KiB" not in found["p-images"].sentence
    assert "**SquashFS · gzip**" in found["p-images"].sentence or "SquashFS" in str(sizes.rows)


@pytest.mark.slow
def test_a_bar_is_the_worst_place_and_the_trees_are_told(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", files_text([1]))
    found = {section.key: section for section in sections(run, "")}
    assert "images" not in found
    places = {row["place"] for row in drawn(found["steps"], "Create")}
    assert places == {"CPU scale 1, files per directory 100"}
    trees = found["steps"].tables[-1]
    assert [row[2] for row in trees.rows if row[0].startswith("CPU scale 1,")] == [
        *("63", "126", "504", "2,016", "6,300"),
    ]
    mounts = run_of(tmp_path / "m", mounts_text([1]))
    sections_of = {section.key: section for section in sections(mounts, "")}
    assert [row["label"] for row in drawn(sections_of["tasks"], "Unmount")]


@pytest.mark.slow
def test_a_run_of_which_nothing_passed_has_no_sections(tmp_path: Path) -> None:
    text = study_text("none", IMAGES, [1], 'state = "image"')
    run = run_of(tmp_path / "r", text)
    nothing = Run(run.run_id, run.study, run.title, "", "", ())
    assert list(sections(nothing, "")) == []
