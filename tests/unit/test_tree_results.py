"""The results of workload `tree`: steps, image, and records that are cut or damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from host_support import cases_of, stream_of
from made_records import lines_of, task
from tree_support import (
    COUNTERS,
    IMAGE_FACTS,
    Memory,
    Phase,
    results,
    tree_case,
    tree_records,
    with_written,
)

from ffslab.model.specs import OverlaySettings
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome, judge
from ffslab.results.preparation import Preparation
from ffslab.workloads.results import asked_of
from ffslab.workloads.tree.keys import Tree
from ffslab.workloads.tree.records import load_tree_records
from ffslab.workloads.tree.result import (
    compared_times_ns,
    image_results,
    result_keys,
    tree_results,
)

ASKED = asked_of(Tree(), own=True)

ROOT = Path(__file__).resolve().parents[2]
FLASH = {"pages_read": 3, "pages_programmed": 2, "blocks_erased": 1, "oob_reads": 4, "read_ns": 30}


def by_phase(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["phase"]: step for step in found["steps"]}


def test_a_mount_on_ubi_is_attach_volume_and_mount() -> None:
    case = tree_case("mount list unmount mount unmount", "ubifs")
    parts = [
        Phase("attach", 100, FLASH),
        Phase("volume", 20, {"pages_programmed": 5, "program_ns": 7}),
        Phase("mount", 3, FLASH, [task("ffsagent", pages_read=3, busy_ns=30)]),
        Phase("list", 50, tree={"found": 1377}),
        Phase("unmount", 4, {"erase_ns": 9}),
        Phase("detach", 5),
        Phase("attach-2", 60),
        Phase("mount-2", 7),
        Phase("unmount-2", 8),
        Phase("detach-2", 9),
    ]
    steps = results(case, tree_records(parts))["steps"]
    assert [(s["index"], s["phase"], s["number"], s["duration_ns"]) for s in steps] == [
        (0, "mount", 1, 123),
        (1, "list", 1, 50),
        (2, "unmount", 1, 9),
        (3, "mount-2", 2, 67),
        (4, "unmount-2", 2, 17),
    ]
    mount = steps[0]
    assert [part["phase"] for part in mount["parts"]] == ["attach", "volume", "mount"]
    assert (mount["pages_programmed"], mount["in_driver_ns"], mount["flash_ns"]) == (9, 67, None)
    assert mount["t_start_ns"] < steps[1]["t_start_ns"]
    assert mount["tasks"][0]["pages_read"] == 3
    assert all(s["status"] == "ok" and not s["prepared"] for s in steps)
    assert (steps[1]["found"], steps[1]["files"], mount["files"]) == (1377, 1122, None)


def test_without_ubi_a_mount_is_one_phase() -> None:
    found = results(tree_case("mount unmount"), tree_records([Phase("mount"), Phase("unmount")]))
    assert [step["status"] for step in found["steps"]] == ["ok", "ok"]
    assert [len(step["parts"]) for step in found["steps"]] == [1, 1]


MOUNTED = ("attach", "lower-volume", "volume", "lower", "upper", "mount")
UNMOUNTED = ("unmount", "upper-unmount", "lower-unmount", "detach")


def overlaid(filesystem: str, left_out: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Mount and unmount of an overlay, which take 1 ns, 2, 4 and so on in their parts."""
    case = tree_case("mount unmount", filesystem)
    below = OverlaySettings(lower_type="squashfs", lower_source="/dev/ubi0_0", lower_volume="below")
    case = replace(case, filesystem=replace(case.filesystem, overlay=below))
    parts = [Phase(part, 2**n) for n, part in enumerate((*MOUNTED, *UNMOUNTED))]
    found = results(case, tree_records(part for part in parts if part.name not in left_out))
    steps: list[dict[str, Any]] = found["steps"]
    return steps


def test_a_mount_of_an_overlay_is_that_of_what_is_below_and_above() -> None:
    for step, names, duration_ns in zip(
        overlaid("ubifs"), (MOUNTED, UNMOUNTED), (63, 1023 - 63), strict=True
    ):
        assert [part["phase"] for part in step["parts"]] == list(names)
        assert (step["status"], step["duration_ns"]) == ("ok", duration_ns)
    # Volumes are there when new ones are made; what is UBI's, where UBI is; all else always.
    for number, names in enumerate((MOUNTED, UNMOUNTED)):
        for name in names:
            with_ubi, without = (overlaid(one, (name,))[number] for one in ("ubifs", "jffs2"))
            is_volume, is_ubi = name.endswith("volume"), name in ("attach", "detach")
            assert with_ubi["status"] == ("ok" if is_volume else "missing"), name
            assert without["status"] == ("ok" if is_volume or is_ubi else "missing"), name


def test_times_that_verdicts_are_about_are_those_of_steps_that_do_something() -> None:
    named = {"mount": 5, "create-2": 7, "list": None, "find": 0}
    named |= {f"{word}{number}": 9 for word in NOT_TIMED for number in ("", "-2")}
    steps = [{"phase": name, "duration_ns": ns} for name, ns in named.items()]
    found: Any = {"tree": {"steps": steps}}
    assert compared_times_ns(found) == {"mount": 5.0, "create-2": 7.0}
    nothing: Any = {"tree": None}
    assert compared_times_ns(nothing) == {}


# They prepare for what is measured, check it, or end a guest.
NOT_TIMED = ("settle", "drop", "warm", "check", "crash", "restart")


@pytest.mark.parametrize("word", ["crash", "restart"])
def test_what_is_before_a_crash_is_the_preparing_guest_s(word: str) -> None:
    case = tree_case(f"mount create {word} mount list unmount")
    before = tree_records([Phase("mount", 1), Phase("create", 2, tree={"files": 5})])
    after = tree_records([Phase("mount-2", 3), Phase("list", 4), Phase("unmount", 5)])
    found = results(case, after, before)
    assert [(s["phase"], s["prepared"], s["duration_ns"]) for s in found["steps"]] == [
        ("mount", True, 1),
        ("create", True, 2),
        (word, True, None),
        ("mount-2", False, 3),
        ("list", False, 4),
        ("unmount", False, 5),
    ]
    assert all(step["status"] == "ok" for step in found["steps"])
    # Nothing of the other guest is taken for a step's, whatever its phases are called.
    swapped = results(case, before, after)
    assert {step["status"] for step in swapped["steps"] if step["step"] != word} == {"missing"}
    cut = results(case, b"", tree_records([Phase("mount", 1)], end=False))
    assert [step["status"] for step in cut["steps"]] == ["ok", *["missing"] * 5]


def test_without_a_preparing_guest_its_steps_are_missing() -> None:
    case = tree_case("mount create crash mount")
    found = tree_results(case, parse_records(tree_records([Phase("mount-2", 3)])), [])
    assert [(step["phase"], step["status"]) for step in found["steps"]] == [
        ("mount", "missing"),
        ("create", "missing"),
        ("crash", "missing"),
        ("mount-2", "ok"),
    ]


def test_the_image_is_what_the_first_guest_wrote() -> None:
    written = parse_records(with_written(tree_records([Phase("write-image", 5)])))
    empty = parse_records(tree_records([]))
    passed = Outcome("pass")
    first, second = (
        Preparation("7" * 64, passed, written, image=IMAGE_FACTS),
        Preparation("8" * 64, passed, empty),
    )
    case = tree_case("mount")
    keys = result_keys(case, empty, (first, second))
    assert keys["image"] == image_results(IMAGE_FACTS, written) and keys["tree"] is not None
    for prepared in ((second, first), ()):
        assert result_keys(case, empty, prepared)["image"] is None


def test_a_failed_step_keeps_what_was_measured() -> None:
    case = tree_case("mount create unmount", "ubifs")
    parts = [Phase("attach", 5), Phase("mount", 6), Phase("create", 7, FLASH, error="ENOSPC")]
    steps = by_phase(results(case, tree_records(parts)))
    assert (steps["create"]["status"], steps["create"]["errno_name"]) == ("error", "ENOSPC")
    assert (steps["create"]["duration_ns"], steps["create"]["pages_read"]) == (7, 3)
    assert (steps["unmount"]["status"], steps["unmount"]["duration_ns"]) == ("missing", None)
    stream = parse_records(tree_records(parts))
    reason = judge(stream, "", 0, None, ASKED).reason
    assert reason == "phase create: no space left on the partition (ENOSPC): why"
    failed = results(case, tree_records([Phase("attach", 5, error="EINVAL")]))["steps"][0]
    assert (failed["status"], failed["errno_name"], failed["duration_ns"]) == ("error", "EINVAL", 5)


def test_a_guest_cut_between_attach_and_mount_has_no_time_of_mount() -> None:
    case = tree_case("mount unmount", "ubifs")
    mount = results(case, tree_records([Phase("attach", 5)], end=False))["steps"][0]
    assert (mount["status"], mount["duration_ns"]) == ("missing", None)
    assert mount["parts"] == [{"phase": "attach", "duration_ns": 5}]


def test_wrong_data_found_by_check_are_corruption() -> None:
    stream = parse_records(tree_records([Phase("check", error="EBADMSG")]))
    outcome = judge(stream, "", 0, None, ASKED)
    assert (outcome.kind, outcome.reason) == ("corrupt", "phase check: why")


def test_time_in_the_driver_is_that_of_reads_programs_and_erases() -> None:
    """2 + 30 + 400 and 1,000 + 20,000 + 300,000 in two phases; counts as they are added up."""
    first = {"read_ns": 2, "program_ns": 30, "erase_ns": 400, "pages_read": 5, "oob_reads": 7}
    second = {"read_ns": 1000, "program_ns": 20_000, "erase_ns": 300_000, "oob_programs": 9}
    second |= {"pages_programmed": 11, "blocks_erased": 13, "pages_read": 50}
    first |= {"read_calls": 1}
    second |= {"read_calls": 20, "write_calls": 300, "erase_calls": 4000}
    parts = [Phase("unmount", 10, first, bytes_written=3), Phase("detach", 100, second)]
    step = results(tree_case("mount unmount", "ubifs"), tree_records(parts))["steps"][1]
    assert (step["in_driver_ns"], step["mtd_calls"]) == (321_432, 4321)
    names = ("pages_read", "pages_programmed", "blocks_erased", "oob_reads", "oob_programs")
    assert [step[name] for name in names] == [55, 11, 13, 7, 9]
    assert (step["duration_ns"], step["bytes_written"], step["errno_name"]) == (110, 3, "")
    assert (
        step["t_start_ns"]
        == load_tree_records(parse_records(tree_records(parts))).phases["unmount"].t_start_ns
    )


def test_flash_time_is_what_the_chip_counted() -> None:
    """1 + 20 + 300 + 4,000 and 50,000 + 600,000 in two phases."""
    kinds = ("read", "program", "erase", "transfer")

    def chip(*times: int) -> dict[str, int]:
        return {f"chip_{kind}_ns": time for kind, time in zip(kinds, times, strict=True)}

    parts = [
        Phase("unmount", 10, {"read_ns": 7, **chip(1, 20, 300, 4_000)}),
        Phase("detach", 100, chip(0, 50_000, 600_000, 0)),
    ]
    case = tree_case("mount unmount", "ubifs")
    step = results(case, tree_records(parts))["steps"][1]
    found = [step[f"flash_{kind}_ns"] for kind in kinds]
    assert (found, step["flash_ns"]) == ([1, 50_020, 600_300, 4_000], 654_321)
    assert step["in_driver_ns"] == 7


def test_a_counter_that_one_phase_lacks_is_nothing() -> None:
    def phase(name: str, **counts: int) -> dict[str, Any]:
        return {
            "type": "phase",
            "workload": "tree",
            "phase": name,
            "status": "ok",
            "t_start_ns": 1,
            "t_end_ns": 2,
            "flash_start": dict.fromkeys(counts, 0),
            "flash_end": counts,
        }

    records = (phase("unmount", read_ns=4, pages_read=2), phase("detach", erase_ns=8))
    found = tree_results(tree_case("mount unmount", "ubifs"), stream_of(*records), [])
    step = found["steps"][1]
    assert (step["in_driver_ns"], step["pages_read"], step["blocks_erased"]) == (12, 2, 0)
    chip = {f"chip_{kind}_ns": 5 for kind in ("read", "program", "erase", "transfer")}
    rare = {"corrected_bitflips": 3, "read_errors": 2}
    one, other = phase("unmount", **chip, **rare), phase("detach", corrected_bitflips=4)
    for records, flash_ns, corrected in (((one,), 20, 3), ((one, other), None, 7)):
        case = tree_case("unmount", "ubifs" if len(records) == 2 else "jffs2")
        step = tree_results(case, stream_of(*records), [])["steps"][0]
        assert (step["flash_ns"], step["flash_erase_ns"]) == (flash_ns, flash_ns and 5)
        assert (step["corrected_bitflips"], step["read_errors"]) == (corrected, 2)


def test_what_a_task_did_in_two_phases_is_added_up() -> None:
    names = ("pages_read", "pages_programmed", "blocks_erased", "busy_ns", "oob_pages")
    first = task("ffsagent", **dict(zip(names, (1, 20, 300, 4000, 50_000), strict=True)))
    second = task("ffsagent", **dict(zip(names, (5, 40, 300, 2000, 10_000), strict=True)))
    parts = [Phase("unmount", tasks=[first, task("gc")]), Phase("detach", tasks=[second])]
    found = results(tree_case("mount unmount", "ubifs"), tree_records(parts))["steps"][1]["tasks"]
    assert [tuple(one[name] for name in names) for one in found] == [
        (6, 60, 600, 6000, 60_000),
        (0, 0, 0, 0, 0),
    ]


def test_tasks_of_one_name_are_one_and_the_longest_is_first() -> None:
    tasks = [
        task("kworker/0:1", busy_ns=5),
        task("ffsagent", busy_ns=6),
        task("kworker/0:1", busy_ns=2),
    ]
    found = results(tree_case("mount unmount"), tree_records([Phase("mount", tasks=tasks)]))
    assert [(one["name"], one["busy_ns"]) for one in found["steps"][0]["tasks"]] == [
        ("kworker/0:1", 7),
        ("ffsagent", 6),
    ]
    # Of as long a time, by name.
    tasks = [task(name, busy_ns=5 + (name == "z")) for name in ("c", "a", "b", "z")]
    found = results(tree_case("mount unmount"), tree_records([Phase("mount", tasks=tasks)]))
    assert [one["name"] for one in found["steps"][0]["tasks"]] == ["z", "a", "b", "c"]


def test_without_a_monitor_there_are_times_only() -> None:
    data = tree_records([Phase("mount", 9, monitor=False)])
    mount = results(tree_case("mount unmount"), data)["steps"][0]
    assert (mount["duration_ns"], mount["flash_ns"], mount["pages_read"]) == (9, None, None)
    assert mount["tasks"] == []


def test_missing_records_leave_gaps_and_no_more() -> None:
    whole = tree_records(
        [
            Memory("start"),
            Phase("mount", 1, FLASH, [task("a", busy_ns=1)], tree={}),
            Memory("mount"),
        ]
    )
    lines = whole.splitlines(keepends=True)
    for kind in ("tasks", "tree", "memory", "phase"):
        kept = b"".join(line for line in lines if json.loads(line)["type"] != kind)
        found = results(tree_case("mount unmount"), kept)
        mount = found["steps"][0]
        assert (mount["tasks"] == []) == (kind in ("tasks", "phase"))
        assert (mount["files"] is None) == (kind == "tree")
        assert (found["memory"] == []) == (kind == "memory")
        assert mount["status"] == ("missing" if kind == "phase" else "ok")


def test_other_workloads_have_none() -> None:
    nothing = parse_records(b"")
    result = case_result(cases_of()[0], Outcome("pass"), nothing, None)
    assert (result["tree"], result["image"]) == (None, None)
    assert image_results(None, nothing) is None


# Damage.

WHOLE = tree_records(
    [
        Memory("start", slabs={"jffs2_i": 100}, vmalloc={"load_module": 50}),
        Phase("mount", 5, FLASH, [task("ffsagent", busy_ns=3)]),
        Memory("mount", slabs={"jffs2_i": 4096}),
        Phase("create", 6, FLASH, tree={}),
        Phase("unmount", 7),
    ]
)


def _changed(kind: str, change: Mapping[str, Any]) -> RecordStream:
    """WHOLE with the last record of one type changed."""
    records = [json.loads(line) for line in WHOLE.splitlines()]
    [record for record in records if record["type"] == kind][-1].update(change)
    return parse_records(lines_of(records))


@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        ("phase", {"t_end_ns": 5}, "phase unmount ends before it begins"),
        (
            "phase",
            {"flash_end": dict.fromkeys(COUNTERS, 0)},
            "counter pages_read falls from 6 to 0",
        ),
        ("phase", {"phase": 7}, "phase of phase 7 twice, or without a name"),
        ("tree", {"files": 1.5}, "tree of phase create: files is 1.5"),
        ("tree", {"digest": 5}, "its digest is no text"),
        ("memory", {"mem_free_bytes": 2**63}, "mem_free_bytes is 9223372036854775808"),
        ("memory", {"slabs": [["a", 1]]}, "a row is not a name and 3 numbers"),
        ("memory", {"slabs": 0}, "memory mount: slabs: no list"),
        ("memory", {"vmalloc": [["a", "b"]]}, "a row is not a name and 1 numbers"),
        ("memory", {"label": None}, "its label is no text"),
    ],
)
def test_contradictions_are_a_crash(kind: str, change: Mapping[str, Any], why: str) -> None:
    stream = _changed(kind, change)
    assert not stream.damage
    outcome = judge(stream, "", 0, None, ASKED)
    assert outcome.kind == "crash"
    assert why in outcome.reason
    plain, crashing = tree_case("mount create unmount"), tree_case("mount crash mount unmount")
    assert case_result(plain, outcome, stream, None)["tree"] is None
    prepared = [Preparation("7" * 64, outcome, stream)]
    assert case_result(crashing, outcome, parse_records(b""), None, prepared)["tree"] is None


def test_what_is_there_twice_is_a_crash() -> None:
    outcome = judge(_changed("phase", {"phase": "mount"}), "", 0, None, ASKED)
    assert (outcome.kind, "a second phase tree mount" in outcome.reason) == ("crash", True)
    lines = WHOLE.splitlines(keepends=True)
    twice = b"".join(2 * line if json.loads(line)["type"] == "tree" else line for line in lines)
    outcome = judge(parse_records(twice), "", 0, None, ASKED)
    assert (outcome.kind, "tree of phase 'create' twice" in outcome.reason) == ("crash", True)


@pytest.mark.parametrize("value", [None, True, -1, 1.5, 2**63, "5", []])
def test_a_time_that_is_none_is_damage(value: Any) -> None:
    for kind, name in (("phase", "t_start_ns"), ("phase", "t_end_ns"), ("end", "t_ns")):
        stream = _changed(kind, {name: value})
        assert re.search(f"a {kind} record whose {name} is ", stream.damage[0])
        assert judge(stream, "", 0, None, ASKED).kind == "crash"
        case_result(tree_case("mount unmount"), judge(stream, "", 0, None), stream, None)


def test_a_record_without_a_key_is_damage() -> None:
    for kind in ("phase", "tasks", "tree", "memory"):
        records = [json.loads(line) for line in WHOLE.splitlines()]
        record = next(record for record in records if record["type"] == kind)
        for key in set(record) - {"v", "type"}:
            part = {name: value for name, value in record.items() if name != key}
            damaged = parse_records(lines_of([part]))
            optional = kind == "phase" and key.startswith(("files_", "bytes_", "flash_"))
            assert bool(damaged.damage) != optional, (kind, key)


def test_cut_records_still_give_results() -> None:
    case = tree_case("mount create unmount")
    whole = [step["duration_ns"] for step in results(case, WHOLE)["steps"]]
    for length in range(len(WHOLE)):
        found = results(case, WHOLE[:length])
        durations = [step["duration_ns"] for step in found["steps"]]
        done = [duration for duration in durations if duration is not None]
        assert durations == [*whole[: len(done)], *[None] * (3 - len(done))]
        assert len(found["memory"]) <= 1


def test_no_change_of_a_value_raises() -> None:
    """Whatever a record holds, there is a result or none, and the judge agrees."""
    case = tree_case("mount create unmount")
    values: list[Any] = [None, True, -1, 1.5, 2**70, "x", [], {}, [[]], {"a": "b"}]
    for number, line in enumerate(WHOLE.splitlines()):
        for key in set(json.loads(line)) - {"v", "type"}:
            for value in values:
                records = [json.loads(one) for one in WHOLE.splitlines()]
                records[number][key] = value
                stream = parse_records(lines_of(records))
                found = result_keys(case, stream, ())["tree"]
                if found is None:
                    assert judge(stream, "", 0, None, ASKED).kind == "crash", (key, value)


# The image.


def test_an_image_is_written_by_its_phase_or_else_by_its_step() -> None:
    def step(verb: str, start: int, end: int, status: str = "ok") -> dict[str, Any]:
        times = {"t_start_ns": start, "t_end_ns": end}
        return {"type": "step", "verb": verb, "status": status, **times}

    def written_ns(*records: dict[str, Any]) -> Any:
        image = image_results(IMAGE_FACTS, stream_of(*records))
        return image and image["write_ns"]

    mount = {
        "type": "phase",
        "workload": "tree",
        "phase": "mount",
        "status": "ok",
        "t_start_ns": 0,
        "t_end_ns": 99,
    }
    write = {**mount, "phase": "write-image", "t_end_ns": 70}
    steps = (step("erase", 1, 4), step("write-image", 10, 25))
    assert written_ns(mount, write, *steps) == 70
    assert written_ns(mount, *steps) == 15
    assert written_ns(mount, steps[0]) is None
    assert written_ns(mount, {**write, "status": "error"}, *steps) is None
    assert written_ns(mount, step("write-image", 10, 25, "error")) is None


def test_image() -> None:
    stream = parse_records(with_written(tree_records([Phase("write-image", 8_000_000)])))
    assert image_results(IMAGE_FACTS, stream) == {
        **IMAGE_FACTS,
        "ratio": 2.0,
        "write_ns": 8_000_000,
        "pages": 3584,
        "blocks": 56,
    }


def test_image_that_was_not_written() -> None:
    failed = parse_records(tree_records([Phase("write-image", error="ENOSPC")]))
    for stream in (parse_records(b""), failed):
        image = image_results(IMAGE_FACTS, stream)
        assert image is not None
        assert (image["write_ns"], image["pages"], image["ratio"]) == (None, None, 2.0)
    empty = image_results({**IMAGE_FACTS, "image_bytes": 0}, parse_records(b""))
    assert empty is not None
    assert empty["ratio"] is None


def test_writing_without_a_phase_is_timed_by_its_step() -> None:
    step = {"type": "step", "index": 0, "verb": "write-image", "status": "ok"}
    stream = parse_records(lines_of([step | {"t_start_ns": 5, "t_end_ns": 12}]))
    image = image_results(IMAGE_FACTS, stream)
    assert image is not None
    assert image["write_ns"] == 7


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("## Steps of the workload tree", "steps"),
        ("## Memory", "memory"),
        ("## Image", "image"),
    ],
)
def test_every_key_is_documented(heading: str, keys: str) -> None:
    text = (ROOT / "docs" / "result-format.md").read_text()
    body = text.split(f"{heading}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in body.splitlines() if line.startswith("| `")]
    documented = [name for row in rows for name in re.findall(r"`([a-z0-9_]+)`", row)]
    case = tree_case("mount unmount")
    found = {**results(case, WHOLE), "image": [image_results(IMAGE_FACTS, parse_records(b""))]}
    assert set(found[keys][0]) <= set(documented)
    if keys != "memory":  # its section has the table of groups
        assert len(documented) == len(found[keys][0])
