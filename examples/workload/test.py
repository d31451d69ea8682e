"""sample-files: its plan, its refusals, its figures, with values worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ffslab.campaign.run import prepare
from ffslab.errors import DamagedResultError, SpecError
from ffslab.protocol.records import parse_records
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.sample_files.result import RECORD, check_records, result_keys

CASE = prepare("sample-files", []).cases[0]


def records(**changed: Any) -> Any:
    """Three files of 4 KiB; writing took 5 µs and the sync 1 µs."""
    record = {"type": RECORD, "files": 3, "files_done": 3, "bytes": 12288, "stopped": ""}
    phase = {"type": "phase", "workload": RECORD, "status": "ok", "files_created": 3}
    phase |= {"files_deleted": 0, "files_read": 0, "files_appended": 0, "bytes_read": 0}
    rows: list[dict[str, Any]] = [
        phase | {"phase": "write", "bytes_written": 12288, "t_start_ns": 0, "t_end_ns": 5000},
        phase | {"phase": "sync", "bytes_written": 0, "t_start_ns": 5000, "t_end_ns": 6000},
        record | changed,
    ]
    return parse_records(b"".join(json.dumps({"v": 1, **row}).encode() + b"\n" for row in rows))


def example_result() -> Any:
    """As a run has it: the tests that look at results of all workloads take it."""
    return case_result(CASE, Outcome("pass"), records(), "f" * 64)


def test_the_plan_has_the_keys_of_the_study() -> None:
    assert "sample-files dir=/mnt files=100 file_bytes=4096 seed=1" in plan_text(CASE)


@pytest.mark.parametrize("wrong", ["workload.file_bytes=0", "state=aged", "workload.files=0"])
def test_what_cannot_be_measured_is_refused(wrong: str) -> None:
    name, _, value = wrong.partition("=")
    with pytest.raises(SpecError):
        prepare("sample-files", [(name, (int(value) if value.isdigit() else value,))])


def test_a_file_takes_its_part_of_both_phases() -> None:
    found: Any = result_keys(CASE, records(), ())["sample_files"]
    assert found["sample_files_mean_ns"] == 2000  # 6 µs ÷ 3
    assert (found["files_done"], found["bytes"]) == (3, 12288)


@pytest.mark.parametrize("changed", [{"files_done": 4}, {"bytes": -1}, {"stopped": "EIO"}])
def test_a_record_that_contradicts_itself_is_no_result(changed: dict[str, Any]) -> None:
    with pytest.raises(DamagedResultError):
        check_records(records(**changed))
    assert result_keys(CASE, records(**changed), ()) == {"sample_files": None}
