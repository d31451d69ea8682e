"""What a report says of directory trees: names of steps, what people decide by, sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from result_support import stub
from test_report_support import by_key, plain, rows_of

from ffslab.protocol.records import TaskRecord
from ffslab.report.data import Case, Run
from ffslab.report.sections.section import Section
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.workloads.tree.metrics import IMAGE_METRICS, criteria, figures
from ffslab.workloads.tree.report import Own, figures_of, sections
from ffslab.workloads.tree.result import OK
from ffslab.workloads.tree.stored import MemoryResult, TreeStep
from ffslab.workloads.tree.words import roles_of
from loaded_support import load_run, unpacked

S = 10**9
TWICE = "mount list list create unmount mount list list create unmount"


PLACES = {
    TWICE: "mount, list, list again, create, unmount",
    "mount settle warm create unmount mount find delete unmount": "first mount, settle, warm, "
    "create, unmount after create, mount after create, find, delete, unmount after delete",
    "mount create sync crash mount list unmount": "first mount, create, sync, crash, mount, list, "
    "unmount",
    "mount list list list unmount": "mount, list, list again, list 3, unmount",
    "crash mount crash mount": "crash, first mount, crash again, mount",
    "mount unmount": "mount, unmount",
    "list list": "list, list again",
    "mount create crash mount restart mount list": "first mount, create, crash, "
    "mount after create, restart, mount, list",
    "mount unmount mount unmount": "mount, unmount",
}


@pytest.mark.parametrize("words", PLACES)
def test_words_are_told_apart(words: str) -> None:
    """What is done twice is two runs."""
    once = PLACES[words].split(", ")
    runs = [f"{place}, run {run}" for run in (1, 2) for place in once]
    twice = len(words.split()) > len(once)
    assert [role.place for role in roles_of(words.split())] == (runs if twice else once)


def result_of(words: str, *, prepared: int = 0, unit_ns: int = S, **of_steps: Any) -> CaseResult:
    """A case whose n-th step takes n units, with the memory after each mount; `of_steps` is in
    all of them.
    """
    counts: dict[str, int] = {}
    steps = []
    for index, word in enumerate(words.split()):
        counts[word] = counts.get(word, 0) + 1
        phase = word if counts[word] == 1 else f"{word}-{counts[word]}"
        own = {"index": index, "step": word, "number": counts[word], "phase": phase, "status": OK}
        own |= {"prepared": index < prepared, "duration_ns": (index + 1) * unit_ns, **of_steps}
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
    (idle,) = figures_of(result_of("mount", flash_ns=0)).steps
    assert list(idle.parts.values()) == [0, 0, 0, 0, 10**9]
    bare = result_of("mount", flash_ns=None)
    assert [step.parts for step in figures_of(bare).steps] == [{}]
    broken = result_of("mount", status="error")
    assert figures_of(broken).steps == ()
    assert figures_of(cast(CaseResult, {"tree": None, "image": None})) == Own()


def test_whose_time_a_step_was_is_known_if_each_of_its_phases_says_it() -> None:
    """Of 1 s the flash has 100 ms, the driver 30, the agent 50 and the rest waits."""

    def task(name: str, driver_ms: int, code_ms: int) -> dict[str, Any]:
        return {"name": name, "driver_ns": driver_ms * 10**6, "code_ns": code_ms * 10**6}

    def parts(*phases: tuple[str, list[dict[str, Any]] | None]) -> dict[str, float]:
        own = [{"phase": "attach", "duration_ns": 1}, {"phase": "mount", "duration_ns": 1}]
        result = result_of("mount", flash_ns=S // 10, flash_read_ns=S // 10, parts=own)
        told = [{"phase": name, "task_times": tasks} for name, tasks in phases]
        (step,) = figures_of(cast(CaseResult, {**result, "phases": told})).steps
        return {name: ns / 10**6 for name, ns in step.parts.items() if ns}

    attach, mount = ("attach", [task("ubi", 10, 0)]), ("mount", [task("init", 20, 50)])
    other = ("list", [task("init", 400, 0)])
    known = {"flash, reads": 100, "driver": 30, "CPU, the work itself": 50, "waiting": 820}
    assert parts(attach, mount, other) == known
    unknown = {"flash, reads": 100, "outside the flash": 900}
    assert parts(attach, ("mount", None), other) == parts(("mount", []), attach) == unknown
    assert parts(other) == unknown


# --- sections ---


def case(
    filesystem: str, words: str, place: str = "1", *, seed: int = 1, scale: str = "", **told: Any
) -> Case:
    """A case at a place; `told` is what `result_of` takes."""
    axes = {"filesystem": filesystem, "workload.files": place, "seed": str(seed)}
    axes |= {"cpu_scale": scale} if scale else {}
    own = figures_of(result_of(words, **told))
    return Case("-".join(axes.values()), axes, "pass", "", own=own)


def shown(cases: Sequence[Case], prefix: str = "") -> dict[str, Section]:
    run = Run("r", "s", "t", "", "", tuple(cases))
    return by_key(replace(one, sentence=plain(one.sentence)) for one in sections(run, prefix))


def bars(section: Section, number: int) -> dict[str, dict[str, float]]:
    """The parts of each bar of a chart, by the bar's name and its place, if it has one."""
    found: dict[str, dict[str, float]] = {}
    for row in rows_of(section.charts[number].drawing):
        name = f"{row['label']} @ {row['place']}".removesuffix(" @ ")
        own = found.setdefault(name, {})
        own |= {row["part"]: row["value"]} if row["value"] else {}
    return found


def table_words(section: Section, number: int = 0) -> list[list[str]]:
    table = section.tables[number]
    return [[plain(cell) for cell in row] for row in (table.head, *table.rows)]


FLASH = {"flash_read_ns": S // 5, "flash_program_ns": S // 2, "flash_erase_ns": S // 5}
FLASH |= {"flash_transfer_ns": S // 10, "flash_ns": S}
PARTS = {"flash, reads": 0.2, "flash, programs": 0.5, "flash, erases": 0.2, "flash, transfers": 0.1}


def test_a_bar_is_a_configuration_where_it_takes_longest() -> None:
    """The flash takes a second of each step. Of UBIFS the mean of two seeds, 3 s and 5 s, is as
    long as at the place behind; JFFS2's longest steps, 4 s and 12 s, have 14 of 16 s outside.
    """
    ubifs = [case("ubifs", "mount", seed=n, unit_ns=n * S, **FLASH) for n in (3, 5)]
    found = shown(
        [
            case("jffs2", "mount settle create", **FLASH),
            case("jffs2", "mount settle create", "2", unit_ns=4 * S, **FLASH),
            case("jffs2", "mount settle create", "3", unit_ns=3 * S, **FLASH),
            *(*ubifs, case("ubifs", "mount", "2", unit_ns=4 * S, **FLASH)),
            # With a free processor there is no bar unless there are no others.
            case("jffs2", "mount", scale="0", unit_ns=9 * S, **FLASH),
            replace(case("jffs2", "mount", unit_ns=99 * S, **FLASH), outcome="fail"),
        ],
        "p-",
    )
    assert list(found) == ["steps", "ram"]
    section = found["steps"]
    assert [(chart.title, chart.meaning) for chart in section.charts] == [
        ("Mount", ""),
        ("Create", "Files per directory 2."),
    ]
    assert bars(section, 0) == {
        "JFFS2 @ files per directory 2": {**PARTS, "outside the flash": 3},
        "UBIFS @ files per directory 1": {**PARTS, "outside the flash": 3},
    }
    assert 'id="p-steps-1"' in section.charts[1].drawing
    assert table_words(section) == [
        *(["configuration", "mount", "create"], ["JFFS2", "4.00 s", "12.0 s"]),
        ["UBIFS", "4.00 s", "–"],
    ]
    assert section.sentence == (
        "Outside the flash goes up to 88 % of the time: **JFFS2**; UBIFS: 75 %."
    )
    # Who is alone has no other beside; a second is no milliseconds.
    free = [case("jffs2", "mount", scale=scale, unit_ns=S // 2, **FLASH) for scale in ("0", "0")]
    (alone, _) = shown(free).values()
    assert alone.sentence == "Outside the flash goes up to 0 % of the time: **JFFS2**."
    assert bars(alone, 0) == {"JFFS2": PARTS}
    assert shown([case("jffs2", "mount", flash_ns=None)]).keys() == {"ram"}


def test_a_mount_with_ubi_is_told_by_its_pieces() -> None:
    attach = [{"phase": "attach", "duration_ns": S}, {"phase": "mount", "duration_ns": S // 4}]
    volume = [*attach, {"phase": "lower-volume", "duration_ns": S // 2}]
    cases = [
        case("jffs2", "mount list", parts=attach[1:], **FLASH),
        case("ubifs", "mount list", parts=volume, **FLASH),
    ]
    section = shown(cases)["steps"]
    assert [chart.title for chart in section.charts] == ["Mount", "List", "Mount with UBI"]
    pieces = {"attaching UBI": 1, "making the volume": 0.5, "mount": 0.25}
    assert bars(section, 2) == {"UBIFS": pieces}


def test_the_trees_are_told_where_they_differ() -> None:
    sizes = {"files": 1_500, "directories": 3, "bytes": 9_000}
    same = [case(name, "mount create", **sizes, **FLASH) for name in ("jffs2", "ubifs")]
    assert len(shown(same)["steps"].tables) == 1
    other = case("jffs2", "mount create", "9", **{**sizes, "files": 7}, **FLASH)
    assert table_words(shown([*same, other])["steps"], 1) == [
        ["at", "directories", "files", "bytes"],
        ["files per directory 1", "3", "1,500", "9,000"],
        ["files per directory 9", "3", "7", "9,000"],
    ]


def test_which_task_works_while_unmounting() -> None:
    """The first seed has the table; what the step itself does is no background work."""

    def did(agent: int, worker: int, pages: int = 1) -> list[Any]:
        own = stub(TaskRecord, name="init", busy_ns=agent * 10**6, pages_read=2)
        other = stub(TaskRecord, name="kworker/0:1", busy_ns=worker * 10**6)
        return [own, {**other, "pages_programmed": 1_000 * pages, "blocks_erased": 3}]

    section = shown(
        [
            case("jffs2", "mount unmount", tasks=did(900, 30)),
            case("ubifs", "mount unmount", seed=2, tasks=did(10, 60, 7)),
            case("ubifs", "mount unmount", tasks=did(10, 20)),
        ]
    )["tasks"]
    assert section.sentence == "Of background work, kworker does most, 40.0 ms: **UBIFS**."
    assert [chart.title for chart in section.charts] == ["Unmount"]
    assert bars(section, 0) == {
        "JFFS2": {"the step itself": 900, "kworker": 30},
        "UBIFS": {"the step itself": 10, "kworker": 40},
    }
    assert table_words(section) == [
        ["configuration", "step", "task", "in the driver", "pages read", "programmed", "erases"],
        ["JFFS2", "unmount", "the step itself", "900 ms", "2", "0", "0"],
        ["JFFS2", "unmount", "kworker", "30.0 ms", "0", "1,000", "3"],
        ["UBIFS", "unmount", "the step itself", "10.0 ms", "2", "0", "0"],
        ["UBIFS", "unmount", "kworker", "20.0 ms", "0", "1,000", "3"],
    ]
    assert section.tables[0].text_columns == 3
    idle = shown([case("jffs2", "mount unmount", tasks=did(5, 0)[:1])])["tasks"]
    assert (idle.sentence, len(idle.charts)) == ("", 1)


def with_memory(one: Case, **kib: Sequence[float]) -> Case:
    """The case with RAM in KiB by groups after these steps."""
    names = ("the file system’s caches", "kmalloc", "inodes")
    memory = {
        step: {name: size * 1024 for name, size in zip(names, sizes, strict=False)}
        for step, sizes in kib.items()
    }
    return replace(one, own=replace(one.own, memory=memory))


def test_what_ram_is_made_of() -> None:
    section = shown(
        [
            with_memory(case("jffs2", "mount"), mount=(10, 2), find=(99,)),
            with_memory(case("jffs2", "mount", "2"), mount=(5, 8), list=(1, 3)),
            with_memory(case("ubifs", "mount"), mount=(6, 1.5)),
        ]
    )["ram"]
    assert section.sentence == "The largest part is 8.00 KiB of kmalloc: **JFFS2**."
    assert [chart.title for chart in section.charts] == ["After mount", "After list"]
    assert bars(section, 0) == {
        "JFFS2 @ files per directory 2": {"the file system’s caches": 5, "kmalloc": 8},
        "UBIFS @ files per directory 1": {"the file system’s caches": 6, "kmalloc": 1.5},
    }
    assert table_words(section) == [
        ["configuration", "mount", "find", "list"],
        *(["JFFS2", "13.0 KiB", "99.0 KiB", "4.00 KiB"], ["UBIFS", "7.50 KiB", "–", "–"]),
    ]


def test_what_is_in_an_image() -> None:
    """The last case of a configuration tells its image; one without a ratio has no dot."""

    def imaged(filesystem: str, place: str, kib: int, **more: Any) -> Case:
        image = {metric.name: None for metric in IMAGE_METRICS} | {"tree": "t", "command": "mkfs"}
        image |= {"image_bytes": kib * 1024, "tree_bytes": 8 * 1024, **more}
        one = case(filesystem, "mount", place)
        return replace(one, own=Own(image=cast(Any, image)))

    cases = [
        imaged("jffs2", "1", 1, ratio=0.5),
        imaged("jffs2", "2", 6, ratio=0.75, write_ns=S),
        imaged("squashfs", "1", 4),
    ]
    found = shown(cases)
    section = found.pop("images")
    assert not found
    assert section.sentence == (
        "The smallest image has 4.00 KiB for 8.00 KiB of files: **SquashFS**."
    )
    ratio, writing = section.charts
    assert [(row["label"], row["value"]) for row in rows_of(ratio.drawing)] == [("JFFS2", 0.75)]
    assert [row["label"] for row in rows_of(writing.drawing)] == ["JFFS2"]
    sizes, made = section.tables
    assert made.rows == (("JFFS2", "t", "mkfs"), ("SquashFS", "t", "mkfs"))
    # All are texts, and a command may be long.
    assert (made.head, made.wrapped) == (("configuration", "tree", "command"), (2,))
    assert (made.text_columns, sizes.text_columns, sizes.head[0]) == (3, 1, "configuration")
    told = dict(zip(sizes.head, sizes.rows[0], strict=True))
    assert told[ratio.title] == "0.750" and "6.00 KiB" in map(plain, told.values())
    assert sizes.rows[1].count("–") == len(sizes.head) - 3


@pytest.mark.parametrize("part", ["boot", "ram-files"])
def test_sections_of_a_real_run(part: str, tmp_path: Path) -> None:
    run = load_run(unpacked("celf", tmp_path))
    cases = tuple(one for one in run.cases if one.axes["part"] == part)
    found = shown(cases)
    assert list(found) == ["steps", "tasks", "ram"]
    assert [chart.title for chart in found["ram"].charts] == ["After mount", "After list"]
    for section in found.values():
        assert section.sentence and all(bars(section, n) for n in range(len(section.charts)))
    assert shown([replace(one, outcome="crash") for one in cases]) == {}
