"""The flash time of results and reports, against the chip and against who waits for it; whose all
other time is.

The chip adds up what each operation takes. The monitor measures with the clock what its callers
wait. With code that is free and a CPU that waits for each operation, both are the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, results, run_study

from ffslab.protocol.record_values import TASK_TIMES
from ffslab.report.spent import FLASH_PARTS, parts_of
from ffslab.results.metrics import FLASH_TIMES
from ffslab.workloads.ffsmark.result import PHASES as WORKLOAD_PHASES
from ffslab.workloads.tree.report import figures_of
from loaded_support import load_run

HEAD = """
schema = 1
name = "flash-time"
title = "How long the chip is busy"
description = "Every kind of workload on every file system that writes."
[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]
"""
WORKLOADS = {
    "ffsmark": """state = "aged"
[base.workload]
kind = "ffsmark"
number = 60
transactions = 200
""",
    "micro": """state = "saturated"
[base.workload]
kind = "micro"
pattern = "random-write"
request_bytes = 1000
volume_bytes = "1 MiB"
""",
    "tree": """[base.workload]
kind = "tree"
files = 40
directories = 3
depth = 2
size = 3000
steps = "mount create sync unmount mount list check delete unmount"
""",
}
AXES = """
[axes]
"board.wait" = ["polled"]
filesystem = ["jffs2", "ubifs", "yaffs2"]
cpu_scale = [0, 1]
"""

# kernel/patches/0004-um-cpu-model.patch
SPIN_NS = 10_000
# Counters are read after the end of a phase, when a background task may have begun an erase or two.
LATE_NS = 5_000_000
DUE_NS = 100_000


@pytest.fixture(scope="module", params=WORKLOADS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp(request.param)
    study = directory / "study.toml"
    study.write_text(HEAD + WORKLOADS[request.param] + AXES)
    return run_study(study, directory / "out")


def pieces(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The phases or steps that have flash figures, without the sum over all."""
    found = result["tree"]["steps"] if result["tree"] else result["phases"]
    return [one for one in found if one.get("flash_ns") is not None and one["phase"] != "workload"]


def after_its_end_ns(piece: dict[str, Any]) -> int:
    """The driver's time that tasks had by when the counters were read, and not at the end."""
    if not piece.get("tasks"):
        return 0
    return int(piece["in_driver_ns"]) - sum(task["busy_ns"] for task in piece["tasks"])


def test_with_free_code_a_phase_lasts_as_long_as_the_chip_is_busy(run: Path) -> None:
    """The clock and the chip's counters agree to the nanosecond, but for what else a mount waits
    for: 768 ns in each of its parts, and for the 10 µs that even a free CPU takes for a million
    blocks. Tasks that wait while another is served make the time in the driver longer; and what
    they do between the end of the phase and the reading of the counters is the chip's, too.
    """
    free = [result for result in results(run) if result["axes"]["cpu_scale"] == 0]
    assert len(free) == 3
    for result in free:
        assert result["outcome"] == "pass"
        for piece in pieces(result):
            others = 2 * 768 if piece["phase"].startswith("mount") else 0
            spare_ns = piece["duration_ns"] - piece["flash_ns"]
            assert -after_its_end_ns(piece) <= spare_ns <= others + SPIN_NS, (result["id"], piece)
            assert spare_ns < 0 or spare_ns % SPIN_NS <= others, (result["id"], piece)
            assert piece["in_driver_ns"] >= piece["flash_ns"]
        assert sum(piece["flash_ns"] for piece in pieces(result)) > 10**8


def test_the_parts_are_the_chips_own_sum_and_leave_room_for_code(run: Path) -> None:
    for result in results(run):
        for piece in pieces(result):
            assert sum(piece[name] for name in FLASH_TIMES[:-1]) == piece["flash_ns"]
        if result["axes"]["cpu_scale"]:
            flash = sum(piece["flash_ns"] for piece in pieces(result))
            assert flash < 0.9 * sum(piece["duration_ns"] for piece in pieces(result))


@pytest.fixture(scope="module")
def sleeping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver that sleeps while the chip works, so that other tasks work meanwhile."""
    directory = tmp_path_factory.mktemp("sleeping")
    study = directory / "study.toml"
    study.write_text(HEAD + WORKLOADS["ffsmark"] + AXES.replace("polled", "interrupt"))
    return run_study(study, directory / "out")


def check_times(run: Path) -> int:
    """Of each phase: all of its time is somebody's; the driver has what vnand says, and the chip
    what it counted until the end of the phase. The number of phases.
    """
    checked = 0
    for result in results(run):
        for phase in result["phases"]:
            if phase["phase"] == "workload" or not phase["duration_ns"]:
                continue
            assert "task_times" in phase, (result["id"], phase["phase"])
            tasks = phase["task_times"]
            sums = {key: sum(task[key] for task in tasks) for key in TASK_TIMES}
            # What a system call leaves to be done on its way back is executed and not yet charged.
            sum_ns = sum(sums.values())
            assert 0 <= sum_ns - phase["duration_ns"] <= DUE_NS, (result["id"], phase["phase"])
            late_ns = phase["flash_ns"] - sums["chip_ns"]
            late_driver_ns = phase["flash"]["chip_driver_ns"] - sums["driver_ns"]
            assert 0 <= late_ns <= LATE_NS
            assert 0 <= late_driver_ns <= LATE_NS
            parts = parts_of(phase, phase["duration_ns"], tasks)
            whole_ns = max(phase["duration_ns"], phase["flash_ns"])
            assert sum(parts.values()) == pytest.approx(whole_ns)
            checked += 1
    return checked


def test_all_time_is_somebodys(run: Path, sleeping: Path) -> None:
    assert check_times(run) > 6 < check_times(sleeping)


def test_the_works_own_task_has_the_time_of_code_that_is_not_free(sleeping: Path) -> None:
    """A free processor leaves none but what a charge at its own pace takes."""
    for result in results(sleeping):
        (phase,) = [phase for phase in result["phases"] if phase["phase"] == "transactions"]
        code = {task["name"]: task["code_ns"] for task in phase["task_times"]}
        if result["axes"]["cpu_scale"]:
            assert code["init"] > 0.05 * phase["duration_ns"], (result["id"], code)
        else:
            assert sum(code.values()) < 0.01 * phase["duration_ns"], (result["id"], code)


def test_the_report_shows_what_the_chip_counted(run: Path) -> None:
    """Against `busy_ns`, which the chip adds up itself; after the last snapshot nothing is done."""
    shown = reported(run)
    for result in results(run):
        guest = Boot(run / "cases" / result["id"], 0, "")
        busy = {
            phase["phase"]: phase["flash_end"]["chip_busy_ns"]
            - phase["flash_start"]["chip_busy_ns"]
            for phase in guest.of_type("phase")
        }
        for names, flash_ns in shown[result["id"]].items():
            assert flash_ns == sum(busy[name] for name in names), (result["id"], names)
        whole = guest.captured("flash0/counters")["busy_ns"]
        assert whole == guest.of_type("flash")[-1]["counters"]["chip_busy_ns"]
        assert sum(busy.values()) <= whole


def flash_of(parts: Mapping[str, float]) -> float:
    return sum(parts[name] for name in FLASH_PARTS)


def reported(run: Path) -> dict[str, dict[tuple[str, ...], float]]:
    """Per case: the flash time that the report has for phases together."""
    loaded = {result["id"]: result for result in results(run)}
    if next(iter(loaded.values()))["tree"] is not None:
        return {
            case: {
                tuple(part["phase"] for part in step["parts"]): flash_of(seen.parts)
                for step, seen in zip(
                    result["tree"]["steps"], figures_of(result).steps, strict=True
                )
                if seen.parts
            }
            for case, result in loaded.items()
        }
    if "measure" in {phase["phase"] for phase in next(iter(loaded.values()))["phases"]}:
        return {
            case: {
                (phase["phase"],): phase["flash_ns"]
                for phase in result["phases"]
                if phase["phase"] != "workload"
            }
            for case, result in loaded.items()
        }
    return {
        case.id: {
            WORKLOAD_PHASES: sum(ns for name, ns in case.parts.items() if name in FLASH_PARTS)
        }
        for case in load_run(run).cases
    }
