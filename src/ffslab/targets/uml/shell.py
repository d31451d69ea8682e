"""An interactive guest: the lab's kernel with the file system mounted, and the host's programs.

The guest's root is the host's own `/`, read-only through hostfs, so that every
program of the host (mtd-utils, fio, a shell) runs in it unchanged. The agent,
started from its place on the host, mounts /proc, /sys, /dev and /tmp over it,
loads the modules, formats and mounts, and starts the shell on the console.

Time is real here, not virtual: a guest in virtual time would spin while it
waits for a key. Latencies of the chip are kept; CPU time is the host's.

Without a terminal the shell reads its commands from a file, to which standard input is copied to
its end. A pipe would not do for what comes back either: what finds it full is lost (guests.py).
So output, errors and the exit status go to files, through a serial line each.

Limits: the guest's files must not be under /dev, /proc, /sys or /tmp, over which
the guest mounts its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ffslab.errors import InfrastructureError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.program import program
from ffslab.protocol.chip_file import create_flash_file, flash_file_bytes
from ffslab.targets.target import FLASH_NAME, IMAGE_NAME, RECORDS_NAME, TRACE_NAME, Site
from ffslab.targets.uml.launch import guest_environment, with_parent
from ffslab.targets.uml.scratch import TRACE_BYTES, case_need, scratch_directory
from ffslab.targets.virtual_flash import FLASH_REGION, TRACE_REGION, shell_plan_text

_HIDDEN = ("/dev/", "/proc/", "/sys/", "/tmp/")
_CONSOLE = ("con0=fd:0,fd:1",)
_LOOK_S = 0.1  # how often new output is passed on
_TOLD_BYTES = 1000  # of the console, if the guest ended early
_INPUT, _OUTPUT, _ERRORS, _STATUS, _MESSAGES = "input", "output", "errors", "status", "messages"
# A serial line would end lines with a carriage return as well.
_BATCH = """#!/bin/sh
exec 3>/dev/console 4>/dev/ttyS3 5>/dev/ttyS1 6>/dev/ttyS2
stty -opost <&5 2>&3
stty -opost <&6 2>&3
{program} <{commands} >&5 2>&6 3>&- 4>&- 5>&- 6>&-
echo $? >&4
"""


def run_shell(
    site: Site,
    case: Case,
    parent: Path,
    program: str,
    image: Path | None = None,
    commands: BinaryIO | None = None,
) -> int:
    """Boots the guest on this terminal and returns its exit status when it powers off.

    `parent` is a directory on the host where the guest's files are put while it
    runs; `image` is what the flash gets, None for a new file system. With `commands` no terminal
    is needed, and what is returned is the shell's own exit status. Raises InfrastructureError if
    the guest could not see its files, or ended before the shell.
    """
    if f"{parent.resolve()}/".startswith(_HIDDEN):
        raise InfrastructureError(
            f"the guest cannot see {parent}",
            cause="it mounts its own /dev, /proc, /sys and /tmp",
            remedy="name another directory",
        )
    parent.mkdir(parents=True, exist_ok=True)
    _end_in_order()
    lab = site.lab_of_images().for_kernel(case.kernel)
    assert lab is not None  # the site was made for the case
    directory = Path(tempfile.mkdtemp(prefix="shell-", dir=parent)).resolve()
    try:
        lab = _staged(lab, case, directory)
        if commands is not None:
            program = _batch(directory, program, commands)
        plan = directory / "plan"
        written = str(shutil.copy(image, directory / IMAGE_NAME)) if image else ""
        text = shell_plan_text(case, program, lambda name: str(lab.modules[name]), written)
        plan.write_text(text, "utf-8")
        create_flash_file(directory / FLASH_NAME, flash_file_bytes(case.board.chip))
        create_flash_file(directory / TRACE_NAME, TRACE_BYTES)
        # For its room alone, and where that is for the RAM.
        with scratch_directory(case_need(case), 1, directory, directory) as scratch:
            boot = _boot if commands is None else _boot_batch
            status = boot(case, lab, directory, guest_environment(scratch.ram_on_disk))
        _raise_failure(directory / RECORDS_NAME)
        return _batch_status(directory) if commands is not None else status
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _end_in_order() -> None:
    """Whoever ends this process, or closes its terminal, leaves no files of the guest behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))


def _staged(lab: LabBuild, case: Case, directory: Path) -> LabBuild:
    """The lab with agent and modules where the guest sees them, wherever the cache is."""

    def copied(path: Path) -> Path:
        return Path(shutil.copy(path, directory))

    modules = {name: copied(path) for name, path in lab.modules_for(case.filesystem).items()}
    return replace(lab, agent=copied(lab.agent), modules=modules)


def _batch(directory: Path, program: str, commands: BinaryIO) -> str:
    """Puts down what the shell is to read; returns the program that starts it."""
    with (directory / _INPUT).open("wb") as file:
        shutil.copyfileobj(commands, file)
    start = directory / "start"
    words = {"program": shlex.quote(program), "commands": shlex.quote(str(directory / _INPUT))}
    start.write_text(_BATCH.format(**words), "utf-8")
    start.chmod(0o755)
    return str(start)


def _command(case: Case, lab: LabBuild, directory: Path, channels: Sequence[str]) -> list[str]:
    words = [
        *("setarch", "x86_64", "-R"),
        str(lab.kernel),
        f"mem={case.board.ram_bytes // 2**20}M",
        *("con=null", "ssl=null", *channels),
        f"iomem={FLASH_REGION},{FLASH_NAME}",
        f"iomem={TRACE_REGION},{TRACE_NAME}",
        *("root=none", "rootfstype=hostfs", "rootflags=/", "ro"),
        f"init={lab.agent}",
        f"ffsplan={directory / 'plan'}",
        # Whoever types here may load a module, or mount more of his own host.
        "host=open",
        *case.kernel.arguments,
        "uml_dir=./",
        "quiet",
    ]
    return with_parent(words)


def _boot(case: Case, lab: LabBuild, directory: Path, environment: Mapping[str, str]) -> int:
    terminal = {"TERM": os.environ.get("TERM", "linux")}
    with _terminal_restored(), (directory / RECORDS_NAME).open("wb") as records:
        channel = records.fileno()
        finished = subprocess.run(
            _command(case, lab, directory, (*_CONSOLE, f"ssl0=null,fd:{channel}")),
            cwd=directory,
            env={**environment, **terminal},
            pass_fds=(channel,),
            check=False,
        )
    return finished.returncode


def _boot_batch(case: Case, lab: LabBuild, directory: Path, environment: Mapping[str, str]) -> int:
    """Boots the guest without a terminal, and passes on what the shell writes as it comes."""
    with ExitStack() as stack:

        def opened(name: str, mode: str = "wb") -> BinaryIO:
            file: BinaryIO = stack.enter_context((directory / name).open(mode))  # type: ignore[assignment]
            return file

        messages = opened(_MESSAGES)
        lines = [opened(name) for name in (RECORDS_NAME, _OUTPUT, _ERRORS, _STATUS)]
        passed = [(opened(_OUTPUT, "rb"), 1), (opened(_ERRORS, "rb"), 2)]
        channels = [f"ssl{n}=null,fd:{line.fileno()}" for n, line in enumerate(lines)]
        guest = subprocess.Popen(
            _command(case, lab, directory, ("con0=null,fd:1", *channels)),
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
            pass_fds=[line.fileno() for line in lines],
        )
        try:
            while guest.poll() is None:
                _pass_on(passed)
                time.sleep(_LOOK_S)
            _pass_on(passed)
        finally:
            guest.kill()
            guest.wait()
        return guest.returncode


def _pass_on(files: Sequence[tuple[BinaryIO, int]]) -> None:
    for file, descriptor in files:
        found = memoryview(file.read())
        while found:
            found = found[os.write(descriptor, found) :]


def _batch_status(directory: Path) -> int:
    told = (directory / _STATUS).read_text("ascii", "replace").strip()
    if told.isdecimal():
        return int(told)
    messages = (directory / _MESSAGES).read_text("utf-8", "replace")[-_TOLD_BYTES:].strip()
    raise InfrastructureError(
        "the guest ended before its shell",
        cause=f"its console ends with: {messages}" if messages else "its console is empty",
        remedy=f"{program()} doctor",
    )


def _raise_failure(records: Path) -> None:
    """The agent's own words if a step before the shell failed."""
    from ffslab.protocol.records import read_records

    for step in read_records(records).steps:
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
