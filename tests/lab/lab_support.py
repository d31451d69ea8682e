"""Guests for the lab tests: one boot with any plan, and what it left behind.

Every boot is checked for what the kernel reports on its console (oops, warning,
lockdep, rule violation); a test that expects one says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.specs import DRIVER_FIGURES
from ffslab.model.study import expand, study_from_document
from ffslab.protocol.record_order import RecordOrder
from ffslab.protocol.records import parse_records
from ffslab.results.console import scan_console
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, OUTPUT_NAME, RECORDS_NAME, TRACE_NAME
from ffslab.targets.uml.directory import write_guest_directory
from ffslab.targets.uml.guests import BATCH_CONSOLE, kernel_arguments
from ffslab.targets.uml.launch import GuestCommand, kill_group, start_guest
from ffslab.targets.virtual_flash import plan_text

ROOT = Path(__file__).resolve().parents[2]
BOOT_LIMIT_S = 120

# Small enough for a second, large enough that garbage is collected.
STUDY = """
schema = 1
name = "labtest"
title = "A workload of the lab's tests"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]

[base.workload]
kind = "ffsmark"
number = 300
subdirectories = 5
transactions = 1500
verify = true

[axes]
filesystem = ["jffs2", "ubifs"]
state = ["free", "aged"]
"options.compression" = ["none"]
"""


def cases(text: str = STUDY, **changes: Any) -> dict[str, Case]:
    """The cases of a study by their ids; `changes` replace fields of the chip."""
    catalog = load_catalog()
    expanded = expand(study_from_document(parse_toml(text, "test"), catalog, "test"), catalog)
    return {
        case.id: replace(case, board=replace(case.board, chip=replace(case.board.chip, **changes)))
        for case in expanded
    }


def with_free_driver(case: Case) -> Case:
    """The case on a board whose NAND driver costs nothing.

    For comparisons of two programs by what they ask of the flash: threads of the file systems work
    by the clock and ask too, and the longer a program takes, the more of that falls into it.
    """
    free = dict.fromkeys(DRIVER_FIGURES, 0)
    return replace(case, board=replace(case.board, **free))


@dataclass(frozen=True)
class Boot:
    """What one guest left behind."""

    directory: Path
    status: int
    console: str

    @property
    def output(self) -> str:
        """What programs printed, with the ends of lines that a terminal has."""
        return (self.directory / OUTPUT_NAME).read_text(errors="replace").replace("\r", "")

    @property
    def printed(self) -> str:
        """The end of what kernel and programs printed, for who wants to know why."""
        return f"{self.console[-4000:]}\n{self.output[-20_000:]}"

    @property
    def flash(self) -> Path:
        return self.directory / FLASH_NAME

    @property
    def trace(self) -> Path:
        return self.directory / TRACE_NAME

    @property
    def records(self) -> list[Any]:
        data = (self.directory / RECORDS_NAME).read_bytes()
        stream = parse_records(data, RecordOrder(once={}))  # plans of tests repeat phases
        assert not stream.damage, stream.damage
        return list(stream.records)

    def of_type(self, kind: str) -> list[Any]:
        return [record for record in self.records if record["type"] == kind]

    def flash_record(self, label: str) -> Any:
        return next(r for r in self.of_type("flash") if r["label"] == label)

    def captured(self, name: str) -> dict[str, int]:
        """The numbers of a captured statistics file whose path ends with `name`."""
        (text,) = [r["text"] for r in self.of_type("file") if r["path"].endswith(name)]
        pairs = (line.split() for line in text.splitlines())
        return {key: int(value) for key, value in pairs}

    def failed_step(self) -> Any:
        return next(r for r in self.of_type("step") if r["status"] == "error")


def boot(
    lab: LabBuild,
    directory: Path,
    case: Case,
    plan: str | None = None,
    *,
    flash: Path | None = None,
    files: Mapping[str, Path] | None = None,
    host_files: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    limit_s: float = BOOT_LIMIT_S,
    clean: bool = True,
) -> Boot:
    """Boots one guest. With `flash` it gets a copy of that chip instead of a new one.

    `files`: programs for the guest's root, host files by their guest paths; executable.
    `host_files`: contents of files in the guest's directory of the host, by their names.
    `arguments`: words behind those of the kernel's command line.
    `limit_s`: wall time after which the guest is killed and the test fails.
    `clean`: the guest must power off and its console must be without a report.
    """
    directory.mkdir()
    text = plan if plan is not None else plan_text(case)
    write_guest_directory(directory, lab, case, text, files)
    for name, contents in (host_files or {}).items():
        (directory / name).write_text(contents)
    if flash:
        shutil.copyfile(flash, directory / FLASH_NAME)
    command = GuestCommand((*kernel_arguments(case, BATCH_CONSOLE), *arguments))
    process = start_guest(command.script, directory)
    timed_out = False
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        # The whole group: the guest's processes, left alone, would go on as processes of the host.
        kill_group(process)
        process.wait()
    console = (directory / CONSOLE_NAME).read_text(errors="replace")
    assert not timed_out, f"the guest did not end within {limit_s} s:\n{console[-3000:]}"
    result = Boot(directory, process.returncode, console)
    if clean:
        assert process.returncode == 0, console[-3000:]
        assert not scan_console(console)
    return result


def ffslab(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line, as a user runs it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-m", "ffslab", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
    )


def run_study(study: str | Path, output: Path, *arguments: str, status: int = 0) -> Path:
    """Runs a study, shipped or a file, by the command line; its run directory."""
    done = ffslab("run", str(study), "--output", str(output), *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    (run,) = [entry for entry in output.iterdir() if entry.is_dir()]
    return run


def results(run: Path) -> list[Any]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]


def edited(plan: str, replacements: Sequence[tuple[str, str]]) -> str:
    """`plan` with texts replaced, each of which must be there."""
    for old, new in replacements:
        assert old in plan, (old, plan)
        plan = plan.replace(old, new)
    return plan
