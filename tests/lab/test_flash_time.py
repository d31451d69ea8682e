"""The flash time of results and reports, against the chip and against who waits for it.

The chip adds up what each operation takes. The monitor measures with the clock what its callers
wait. With code that is free and a CPU that waits for each operation, both are the same time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import Boot, results, run_study

from ffslab.report.kept import OUTSIDE
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


def reported(run: Path) -> dict[str, dict[tuple[str, ...], float]]:
    """Per case: the flash time that the report has for phases together."""
    loaded = {result["id"]: result for result in results(run)}
    if next(iter(loaded.values()))["tree"] is not None:
        return {
            case: {
                tuple(part["phase"] for part in step["parts"]): sum(
                    ns for name, ns in seen.parts.items() if name != OUTSIDE
                )
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
        case.id: {WORKLOAD_PHASES: sum(ns for name, ns in case.parts.items() if name != OUTSIDE)}
        for case in load_run(run).cases
    }
