"""An interactive guest: the lab's kernel with the file system mounted, and the host's programs.

The guest's root is the host's own `/`, read-only through hostfs, so that every
program of the host (mtd-utils, fio, a shell) runs in it unchanged. The agent,
started from its place on the host, mounts /proc, /sys, /dev and /tmp over it,
loads the modules, formats and mounts, and starts the shell on the console.

Time is real here, not virtual: a guest in virtual time would spin while it
waits for a key. Latencies of the chip are kept; CPU time is the host's.

Limits: the guest's files must not be under /dev, /proc, /sys or /tmp, over which
the guest mounts its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.kernel.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.program import program
from ffslab.protocol.chip_file import create_flash_file, flash_file_bytes
from ffslab.targets.target import FLASH_NAME, IMAGE_NAME, RECORDS_NAME, TRACE_NAME
from ffslab.targets.uml.launch import guest_environment, with_parent
from ffslab.targets.uml.scratch import TRACE_BYTES, case_need, scratch_directory
from ffslab.targets.virtual_flash import FLASH_REGION, TRACE_REGION, shell_plan_text

_HIDDEN = ("/dev/", "/proc/", "/sys/", "/tmp/")


def run_shell(
    case: Case, lab: LabBuild, parent: Path, program: str, image: Path | None = None
) -> int:
    """Boots the guest on this terminal and returns its exit status when it powers off.

    `parent` is a directory on the host where the guest's files are put while it
    runs; `image` is what the flash gets, None for a new file system. Raises
    InfrastructureError if the guest could not see them.
    """
    if f"{parent.resolve()}/".startswith(_HIDDEN):
        raise InfrastructureError(
            f"the guest cannot see {parent}",
            cause="it mounts its own /dev, /proc, /sys and /tmp",
            remedy="name another directory",
        )
    parent.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="shell-", dir=parent))
    try:
        lab = _staged(lab, case, directory)
        plan = directory / "plan"
        written = str(shutil.copy(image, directory / IMAGE_NAME)) if image else ""
        text = shell_plan_text(case, program, lambda name: str(lab.modules[name]), written)
        plan.write_text(text, "utf-8")
        create_flash_file(directory / FLASH_NAME, flash_file_bytes(case.board.chip))
        create_flash_file(directory / TRACE_NAME, TRACE_BYTES)
        with (
            # For its room alone, and where that is for the RAM.
            scratch_directory(case_need(case), 1, directory, directory) as scratch,
            _terminal_restored(),
            (directory / RECORDS_NAME).open("wb") as records,
        ):
            environment = guest_environment(scratch.ram_on_disk)
            command = _command(case, lab, plan, records.fileno())
            status = _boot(command, directory, environment, records.fileno())
        _raise_failure(directory / RECORDS_NAME)
        return status
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _staged(lab: LabBuild, case: Case, directory: Path) -> LabBuild:
    """The lab with agent and modules where the guest sees them, wherever the cache is."""

    def copied(path: Path) -> Path:
        return Path(shutil.copy(path, directory))

    modules = {name: copied(path) for name, path in lab.modules_for(case.filesystem).items()}
    return replace(lab, agent=copied(lab.agent), modules=modules)


def _command(case: Case, lab: LabBuild, plan: Path, channel: int) -> list[str]:
    words = [
        *("setarch", "x86_64", "-R"),
        str(lab.kernel),
        f"mem={case.board.ram_bytes // 2**20}M",
        *("con=null", "con0=fd:0,fd:1", "ssl=null", f"ssl0=null,fd:{channel}"),
        f"iomem={FLASH_REGION},{FLASH_NAME}",
        f"iomem={TRACE_REGION},{TRACE_NAME}",
        *("root=none", "rootfstype=hostfs", "rootflags=/", "ro"),
        f"init={lab.agent}",
        f"ffsplan={plan.resolve()}",
        *case.kernel.arguments,
        "uml_dir=./",
        "quiet",
    ]
    return with_parent(words)


def _boot(command: list[str], directory: Path, environment: dict[str, str], channel: int) -> int:
    terminal = {"TERM": os.environ.get("TERM", "linux")}
    finished = subprocess.run(
        command, cwd=directory, env={**environment, **terminal}, pass_fds=(channel,), check=False
    )
    return finished.returncode


def _raise_failure(records: Path) -> None:
    """The agent's own words if a step before the shell failed."""
    from ffslab.protocol.records import parse_records

    for step in parse_records(records.read_bytes()).steps:
        if step.failed:
            raise InfrastructureError(
                f"the guest's step {step.verb} failed: {step.message}",
                cause="see the kernel's messages above",
                remedy=f"{program()} doctor",
            )


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """The guest puts the terminal into raw mode; give it back as it was."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
