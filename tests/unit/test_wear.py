"""The workload wear: its rule on synthetic counts, its settings, what its records mean."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from host_support import study_of
from made_records import flash_record

from ffslab.errors import DamagedResultError, SpecError
from ffslab.loader import load_catalog
from ffslab.model.case import Case
from ffslab.model.specs import Partition
from ffslab.model.study import expand
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome, judge
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.results import asked_of
from ffslab.workloads.wear import leveling
from ffslab.workloads.wear.keys import Wear
from ffslab.workloads.wear.report import bins_of
from ffslab.workloads.wear.result import (
    check_records,
    compared_times_ns,
    failure,
    first_block,
    result_keys,
    shortfall,
)

STUDY = """
schema = 1
name = "worn"
title = "Wear"

[base]
board = "celf-mips"
filesystem = "jffs2"
partition_bytes = "128 MiB"

[base.workload]
kind = "wear"
"""


def case_of(more: str = "") -> Case:
    catalog = load_catalog()
    (case,) = expand(study_of(STUDY + more, catalog), catalog)
    return case


def test_the_plan_has_every_setting() -> None:
    assert (
        "wear dir=/mnt static_bytes=53687091 file_bytes=50000000 unit_bytes=131072 "
        "volumes=1000000000,3000000000,5000000000 seed=1"
    ) in plan_text(case_of())
    assert "volumes=2000000 " in plan_text(case_of("volumes = '2 MB'"))
    assert "pattern" not in plan_text(case_of()) and "may_fail=1" not in wear_line(case_of())
    assert " pattern=append" in wear_line(case_of("pattern = 'append'"))
    assert " may_fail=1" in wear_line(case_of("to_death = true"))


def wear_line(case: Case) -> str:
    return next(line for line in plan_text(case).splitlines() if line.startswith("wear "))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("volumes = '3 GB, 1 GB'", "do not rise"),
        ("volumes = '1 GB, 1 GB'", "do not rise"),
        ("volumes = '1 GO'", "is not a size"),
        ("volumes = '0'", "entries, or one that is 0"),
        ("volumes = '0, 1 GB'", "entries, or one that is 0"),
        ("volumes = ''", "is not a size"),
        (f"volumes = '{', '.join(map(str, range(1, 18)))}'", "17 entries"),
        ("unit_bytes = 0", "out of bounds"),
        ("unit_bytes = '65 MiB'", "out of bounds"),
        ("file_bytes = 0", "out of bounds"),
        ("pattern = 'overwrite'\nfile_bytes = 9\nunit_bytes = 10", "overwrite needs"),
        ("pattern = 'overwrite'\nvolumes = '49999999'", "overwrite needs"),
        ("pattern = 'overwrite'\nvolumes = '49999999, 60000000'", "overwrite needs"),
        # 128 MiB are 134,217,728 bytes: 84,217,728 of static data and 50,000,000 fill them.
        ("static_bytes = 84_217_729", "on a partition of 128 MiB"),
        ("[base.state]\nkind = 'aged'\nvalid_percent = 10", "begins on an empty file system"),
        ("[base.state]\nkind = 'saturated'", "prepares its own state"),
        ("[base.state]\nkind = 'free'\nremount = false", "prepares its own state"),
    ],
)
def test_settings_that_contradict_each_other(more: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        case_of(more)
    assert case_of("static_bytes = 84_217_728").workload.spec["static_bytes"] == 84_217_728


@pytest.mark.parametrize(
    "more",
    [
        # 16 volumes, of which the first is a byte.
        f"volumes = '{', '.join(map(str, range(1, 17)))}'",
        "unit_bytes = 1",
        "unit_bytes = '64 MiB'",
        "file_bytes = 1",
        # A piece as large as the file, which is as large as the first volume.
        "pattern = 'overwrite'\nunit_bytes = 100\nfile_bytes = 100\nvolumes = '100, 200'",
        # Other patterns write files that are larger than that.
        "pattern = 'append'\nunit_bytes = 300\nfile_bytes = 200\nvolumes = '100'",
    ],
)
def test_the_bounds_of_settings_are_allowed(more: str) -> None:
    assert case_of(more).workload.kind == "wear"


def test_a_file_system_that_is_never_written_does_not_wear() -> None:
    catalog = load_catalog()
    study = study_of(STUDY.replace("jffs2", "squashfs"), catalog)
    with pytest.raises(SpecError, match="squashfs is read-only"):
        expand(study, catalog)


def test_a_block_is_static_from_half_of_its_pages_on() -> None:
    assert leveling.static_blocks([64, 32, 31, 0, 66], 64) == (0, 1, 4)


def test_the_rule_of_static_wear_leveling() -> None:
    # Of 20 static blocks n have been erased, however often.
    found = {}
    for moved in (0, 1, 9, 10, 20):
        erases = [7] * moved + [0] * (20 - moved) + [99]
        share = leveling.moved_share(erases, range(20))
        assert share == moved / 20
        found[moved] = leveling.static_verdict(share)
    assert found == {0: "no", 1: "partly", 9: "partly", 10: "yes", 20: "yes"}
    # 1 of 21 is less than a twentieth.
    share = leveling.moved_share([1] + [0] * 20, range(21))
    assert leveling.static_verdict(share) == "no"
    assert leveling.moved_share([1, 2], ()) is None and leveling.static_verdict(None) is None


def test_the_rule_of_global_wear_leveling() -> None:
    assert leveling.global_verdict([0, 0, 1]) == "yes"
    assert leveling.global_verdict([0, 0]) == "no" and leveling.global_verdict([]) is None


def test_spread() -> None:
    # Mean (0 + 2 + 4) ÷ 3 = 2; variance (4 + 0 + 4) ÷ 3.
    assert leveling.spread([0, 2, 4]) == {
        "blocks": 3, "erased": 2, "mean": 2.0, "std": math.sqrt(8 / 3), "min": 0, "max": 4,
    }  # fmt: skip


def test_bins_of_a_histogram() -> None:
    assert bins_of([0, 0, 3], 1) == [(0, 2), (3, 1)]
    assert bins_of([80, 2, 3], 3) == [(0, 1), (3, 1), (78, 1)]


# --- records: four blocks of 2 MiB between partitions of one block in front and the rest behind


def snapshot(label: str, t_ns: int, pages: int, erases: list[int], programs: list[int]) -> Any:
    flash = flash_record(label, {"pages_programmed": pages}, erases, t_ns)
    return {**flash, "programs": programs}


def chip(label: str, erases: list[int]) -> Any:
    return {"type": "chip-blocks", "label": label, "erases": erases}


def grown(written: list[int], bad_blocks: list[int], before: int = 1) -> Any:
    return {"type": "grown", "before": before, "written": written, "bad_blocks": bad_blocks}


def stream_of(*more: Any, **wear: Any) -> RecordStream:
    told = {"asked": 5000, "written": 4096, "files": 2, "stopped": "ENOSPC", **wear}
    records = (
        snapshot("static:start", 1, 10, [1, 1, 1, 1], [0, 0, 0, 0]),
        snapshot("static:end", 5, 100, [1, 1, 1, 1], [64, 33, 2, 0]),
        chip("static", [1, 1, 1, 1, 0, 0]),
        snapshot("written:2048", 9, 102, [1, 1, 4, 3], [64, 33, 2, 0]),
        chip("written:2048", [1, 1, 4, 3, 0, 0]),
        snapshot("write:end", 20, 106, [1, 3, 4, 3], [64, 33, 2, 0]),
        chip("end", [1, 3, 4, 3, 0, 1]),
        {"v": 1, "type": "wear", **told},
        *more,
    )
    return RecordStream(records, (), False)


def small_case(more: str = "") -> Case:
    return replace(case_of(more), partition_blocks=4)


def test_what_the_records_mean() -> None:
    found = result_keys(small_case(), stream_of(), ())["wear"]
    assert found is not None
    assert (found["written"], found["files"], found["stopped"]) == (4096, 2, "ENOSPC")
    assert found["static_blocks"] == [0, 1] and found["first_block"] == 0
    first, last = found["volumes"]
    assert first["erases"] == [0, 0, 3, 2] and first["time_ns"] == 4
    # Two pages of 2,048 bytes were programmed for 2,048 bytes, then six for 4,096.
    assert first["write_amplification"] == 2.0 and last["write_amplification"] == 3.0
    assert (first["static_moved"], first["static_leveling"], first["global_leveling"]) == (
        *(0.0, "no", "no"),
    )
    # One of two static blocks; and the last block outside of the partition.
    assert last["written_bytes"] == 4096 and last["erases"] == [0, 2, 3, 2]
    assert (last["static_moved"], last["static_leveling"], last["global_leveling"]) == (
        *(0.5, "yes", "yes"),
    )
    assert last["outside"] is not None and last["outside"]["blocks"] == 2


def test_the_partition_is_behind_those_of_the_board() -> None:
    case = case_of()
    assert first_block(case) == 0
    # Blocks of 128 KiB: one, and three, of which the last is not whole.
    front = (Partition(name="a", size_bytes=131_072), Partition(name="b", size_bytes=262_145))
    assert first_block(replace(case, board=replace(case.board, partitions=front))) == 4


def test_grown_bad_blocks() -> None:
    case = small_case()
    assert result_keys(case, stream_of(), ())["wear"]["grown"] is None  # type: ignore[index]
    more = (snapshot("grown:3000", 12, 103, [1, 2, 4, 3], [0] * 4), grown([3000, 4000], [2, 4]))
    found = result_keys(case, stream_of(*more), ())["wear"]
    assert found is not None and found["grown"] == {
        "before": 1,
        "written": [3000, 4000],
        "bad_blocks": [2, 4],
        "erases": [0, 1, 3, 2],
    }
    # A grown block is no volume.
    assert [one["written_bytes"] for one in found["volumes"]] == [2048, 4096]
    check_records(stream_of(grown([], [])))
    for wrong in (
        grown([1], [1]),
        grown([1, 2], [3, 3]),
        grown([2, 1], [2, 3]),
        grown([1], [2, 3]),
        grown([-1], [2]),
        grown([1], [2], before=-1),
        grown([1], [2.5]),  # type: ignore[list-item]
        {**grown([1], [2]), "written": 1},
    ):
        with pytest.raises(DamagedResultError, match="grown bad blocks"):
            check_records(stream_of(wrong))


def without(stream: RecordStream, label: str, kind: str = "flash") -> RecordStream:
    """As if this was never noted."""
    rest = tuple(one for one in stream.records if (one["type"], one.get("label")) != (kind, label))
    assert len(rest) == len(stream.records) - 1
    return RecordStream(rest, (), False)


def test_what_was_not_noted_is_not_known() -> None:
    case = small_case()

    def found(stream: RecordStream) -> Any:
        return result_keys(case, stream, ())["wear"]

    # Which blocks are static is known from both ends of their writing.
    assert found(without(stream_of(), "static:start"))["static_blocks"] == []
    none = found(without(stream_of(), "static:end"))
    assert (none["static_blocks"], none["volumes"]) == ([], [])
    # The other blocks of the chip, from before and after.
    for label in ("static", "written:2048"):
        first, _ = found(without(stream_of(), label, "chip-blocks"))["volumes"]
        assert (first["outside"], first["global_leveling"]) == (None, None)
    # The volume at which it was stopped, from that and from the blocks at the end.
    assert [one["written_bytes"] for one in found(stream_of(stopped=""))["volumes"]] == [2048]
    ended = found(without(stream_of(), "write:end"))
    assert [one["written_bytes"] for one in ended["volumes"]] == [2048]
    # When the first block was bad: without either end its erases are not known.
    rise = grown([3000], [2])
    assert found(stream_of(rise))["grown"]["erases"] is None
    noted = stream_of(rise, snapshot("grown:3000", 12, 103, [1, 2, 4, 3], [0] * 4))
    assert found(noted)["grown"]["erases"] == [0, 1, 3, 2]
    assert found(without(noted, "static:end"))["grown"]["erases"] is None


def test_without_static_data_no_block_is_static() -> None:
    """What a file system programs between two snapshots anyhow is none."""
    found = result_keys(small_case("static_bytes = 0"), stream_of(), ())["wear"]
    assert found is not None and found["static_blocks"] == []
    assert found["volumes"][0]["static_leveling"] is None


def test_blocks_in_front_of_the_partition_are_outside() -> None:
    case = small_case()
    front = (Partition(name="a", size_bytes=131_072),)
    found = result_keys(
        replace(case, board=replace(case.board, partitions=front)), stream_of(), ()
    )["wear"]
    assert found is not None and found["first_block"] == 1
    # Of six blocks the first is in front, the last behind. Since the static data: 0 and 1 erases,
    # and inside 0, 2, 3, 2 of a mean of 1.75.
    outside, inside = found["volumes"][1]["outside"], found["volumes"][1]["inside"]
    assert outside is not None and (outside["blocks"], outside["max"]) == (2, 1)
    assert (inside["blocks"], inside["mean"], inside["erased"]) == (4, 1.75, 3)


# What a guest says whose flash is worn out.
_READ_ONLY = "[ 1.0] UBIFS error (ubi0:0 pid 18): make_reservation: cannot reserve, error -30\n"
_WARNING = "[ 1.0] WARNING: CPU: 0 PID: 1 at fs/ubifs/lprops.c:1 f+0x1/0x2\n"


def dead(verified: bool) -> RecordStream:
    error = {"errno": 30, "errno_name": "EROFS", "message": "cannot sync /mnt/ffslab.wear"}
    write = phase("write", "error", **error)
    wrong = {"errno": 74, "errno_name": "EBADMSG", "message": "not what was written"}
    verify = phase("verify", "ok") if verified else phase("verify", "error", **wrong)
    step = {"v": 1, "type": "step", "index": 0, "verb": "wear", "label": "", "t_start_ns": 0,
            "t_end_ns": 9, "status": "error", **error, "may_fail": True}  # fmt: skip
    end = {"v": 1, "type": "end", "status": "ok", "steps_run": 1, "steps_total": 1, "t_ns": 9}
    return RecordStream((write, verify, step, end), (), False)


def phase(name: str, status: str, **error: Any) -> Any:
    return {"v": 1, "type": "phase", "workload": "wear", "phase": name, "t_start_ns": 0,
            "t_end_ns": 1, "status": status, **error, "flash_start": {},
            "flash_end": {}}  # fmt: skip


def test_the_end_of_life_is_no_failure_if_it_is_what_is_measured() -> None:
    asked = asked_of(Wear(to_death=True), own=True)
    assert judge(dead(True), _READ_ONLY, 0, None, asked).kind == "pass"
    assert judge(dead(True), _READ_ONLY + _WARNING, 0, None, asked).kind == "fail"
    assert failure(dead(True), "") == "" and failure(RecordStream((), (), False), "") == ""
    lost = judge(dead(False), _READ_ONLY, 0, None, asked)
    assert (lost.kind, lost.reason) == ("fail", "phase verify: not what was written")
    assert judge(dead(True), _READ_ONLY, 0, None, asked_of(Wear(), own=True)).kind == "fail"


@pytest.mark.parametrize(
    ("wear", "words"),
    [
        ({"written": 5001}, "more was written"),
        ({"files": -1}, "lacks a number"),
        ({"asked": None}, "lacks a number"),
        ({"written": True}, "lacks a number"),
        ({"stopped": None}, "what stopped it"),
    ],
)
def test_records_that_contradict_themselves(wear: dict[str, Any], words: str) -> None:
    check_records(stream_of())
    with pytest.raises(DamagedResultError, match=words):
        check_records(stream_of(**wear))
    assert result_keys(case_of(), stream_of(**wear), ()) == {"wear": None}


def test_all_that_was_asked_for_may_be_written() -> None:
    check_records(stream_of(written=5000))
    for erases in (None, 3, [1, -1], [1, "2"]):
        with pytest.raises(DamagedResultError, match="no list of counts"):
            check_records(
                stream_of({"v": 1, "type": "chip-blocks", "label": "x", "erases": erases})
            )


def test_a_full_partition_leaves_a_part_of_what_was_asked_for() -> None:
    workload = Wear()
    none: Any = {}
    full = Phase("wear", "write", 0, 1, "error", "ENOSPC", "", none, {}, {})
    found = shortfall(workload, stream_of(), full)
    assert found is not None
    assert (found.what, found.measured, found.asked) == ("bytes", 4096, workload.asked)
    assert (found.stopped, found.accepted) == ("ENOSPC", False)
    assert found.told.startswith("phase write: no space left on the partition (ENOSPC) after 4,096")
    assert shortfall(workload, stream_of(), None) is None
    assert shortfall(workload, RecordStream((), (), False), full) is None


def test_the_verdict_goes_by_the_time_of_the_whole_writing() -> None:
    rows = [{"phase": "write", "duration_ns": 3}, {"phase": "workload", "duration_ns": 7}]
    result: Any = {"phases": rows}
    assert compared_times_ns(result) == {"time of the writing": 7.0}
    result["phases"] = rows[:1]
    assert compared_times_ns(result) == {}


def test_the_whole_writing_is_the_phase_write_alone() -> None:
    """Of 5 ns; making sure of the static data took 7 more."""
    phases = (
        {**phase("write", "ok"), "t_end_ns": 5},
        {**phase("verify", "ok"), "t_start_ns": 5, "t_end_ns": 12},
    )
    result = case_result(case_of(), Outcome("pass"), RecordStream(phases, (), False), "f" * 64)
    assert compared_times_ns(result) == {"time of the writing": 5.0}


def test_only_what_happened_since_the_static_data_counts() -> None:
    """Counters do not begin at 0: programs before the static data make no block static, and erases
    before the writing level nothing.
    """
    case = small_case()
    records = (
        snapshot("static:start", 1, 10, [1, 1, 1, 1], [64, 0, 0, 0]),
        snapshot("static:end", 5, 100, [1, 1, 1, 1], [80, 64, 0, 0]),
        chip("static", [1, 1, 1, 1, 5, 5]),
        snapshot("written:2048", 9, 102, [1, 1, 4, 3], [80, 64, 0, 0]),
        chip("written:2048", [1, 1, 4, 3, 5, 5]),
        {**snapshot("written:4096", 12, 0, [1, 1, 4, 3], [80, 64, 0, 0]), "counters": {}},
        chip("written:4096", [1, 1, 4, 3, 5, 7]),
        {"v": 1, "type": "wear", "asked": 5000, "written": 4096, "files": 2, "stopped": ""},
    )
    found = result_keys(case, RecordStream(records, (), False), ())["wear"]
    assert found is not None and found["asked"] == 5000
    # 16 of 64 pages of the first block are static data, and all of the second.
    assert found["static_blocks"] == [1]
    first, last = found["volumes"]
    assert (first["global_leveling"], last["global_leveling"]) == ("no", "yes")
    assert last["outside"] is not None and last["outside"]["max"] == 2
    # Without a count of pages there is no amplification.
    assert (first["write_amplification"], last["write_amplification"]) == (2.0, None)
