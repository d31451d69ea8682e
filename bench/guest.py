"""Runs one guest and measures it: wall time and the host CPU time of its process tree.

The guest is booted with the same files and the same command as a case of a study
(`ffslab.targets.uml.guests`), but is waited for with wait4(2), whose resource usage has
the user and system time of the kernel process and of every process it has reaped:
the guest's programs are its children under ptrace.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream, read_records
from ffslab.results.console import Printed
from ffslab.results.outcome import judge
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, OUTPUT_NAME, RECORDS_NAME
from ffslab.targets.uml.directory import INITRAMFS_NAME, write_guest_directory
from ffslab.targets.uml.guests import batch_command
from ffslab.targets.uml.initramfs import build_archive, regular_file
from ffslab.targets.uml.launch import GuestCommand, kill_group, start_guest

TIMEOUT_S = 300.0
_POLL_S = 0.0002


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run cost the host, in seconds. `first_record_s` only if it was waited for."""

    wall_s: float
    cpu_s: float
    virtual_s: float = 0.0
    first_record_s: float | None = None


@dataclass(frozen=True, slots=True)
class Guest:
    """What is booted: `case` gives board, chip and CPU prices; `programs` come as /bench/NAME."""

    lab: LabBuild
    case: Case
    plan: str
    programs: Mapping[str, bytes] = field(default_factory=dict)


class Runner:
    """Runs guests in a scratch directory, pinned to one host CPU as in a study."""

    def __init__(self, scratch: Path, host_cpu: int) -> None:
        self._directory = scratch / "guest"
        self._host_cpu = host_cpu

    def run(self, guest: Guest, *, watch_first_record: bool = False) -> Sample:
        """Boots, waits, checks that the guest passed; InfrastructureError if it did not."""
        stream, sample = self._boot(guest, watch_first_record, None, None)
        virtual_s = stream.end.t_ns / 1e9 if stream.end else 0.0
        return Sample(sample.wall_s, sample.cpu_s, virtual_s, sample.first_record_s)

    def records(
        self, guest: Guest, *, flash: Path | None = None, keep_flash: Path | None = None
    ) -> RecordStream:
        """The records of a guest that passed; InfrastructureError if it did not.

        `flash` is the chip it starts with, a file that it takes; `keep_flash` is where the chip
        goes at the end. Both are on the file system of the scratch directory.
        """
        return self._boot(guest, False, flash, keep_flash)[0]

    def _boot(
        self, guest: Guest, watch_first_record: bool, flash: Path | None, keep_flash: Path | None
    ) -> tuple[RecordStream, Sample]:
        self._prepare(guest)
        try:
            if flash is not None:
                flash.replace(self._directory / FLASH_NAME)
            records = self._directory / RECORDS_NAME
            command = batch_command(guest.case, self._host_cpu)
            status, sample = measure(
                command, self._directory, records if watch_first_record else None
            )
            stream = read_records(records)
            self._require_pass(stream, status)
            if keep_flash is not None:
                (self._directory / FLASH_NAME).replace(keep_flash)
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)
        return stream, sample

    def run_true(self) -> Sample:
        """A process that does nothing."""
        status, sample = measure("exec /bin/true", Path("/"), None)
        if status != 0:
            raise InfrastructureError("cannot run /bin/true")
        return sample

    def _prepare(self, guest: Guest) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir()
        write_guest_directory(self._directory, guest.lab, guest.case, guest.plan)
        if guest.programs:
            # The kernel unpacks archives that follow one another.
            extra = build_archive(
                regular_file(f"/bench/{name}", data, executable=True)
                for name, data in sorted(guest.programs.items())
            )
            with (self._directory / INITRAMFS_NAME).open("ab") as initramfs:
                initramfs.write(extra)
        for name in (CONSOLE_NAME, RECORDS_NAME):
            (self._directory / name).touch()

    def _require_pass(self, stream: RecordStream, status: int) -> None:
        printed = Printed.of(self._directory / CONSOLE_NAME, self._directory / OUTPUT_NAME)
        outcome = judge(stream, printed, status, None)
        if outcome.kind != "pass":
            raise InfrastructureError(
                f"a guest of the benchmark ended with {outcome.kind}: {outcome.reason}\n"
                + "\n".join(f"    {line}" for line in outcome.excerpt[-15:]),
                cause="the lab does not work, or a figure was asked for that it cannot give",
                remedy="ffslab run quick",
            )


def measure(
    command: GuestCommand | str, directory: Path, records: Path | None
) -> tuple[int, Sample]:
    """Runs a guest or a shell command; its exit status (negative: signal) and what it cost.

    With `records`, also the time until that file is no longer empty; waiting for it
    takes a little of another CPU.
    """
    started = time.monotonic()
    process = start_guest(command, directory)
    watchdog = threading.Timer(TIMEOUT_S, lambda: kill_group(process))
    watchdog.daemon = True
    watchdog.start()
    try:
        first_s = _await_first(process.pid, records, started) if records is not None else None
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        watchdog.cancel()
        kill_group(process)
    cpu_s = usage.ru_utime + usage.ru_stime
    return process.returncode, Sample(wall_s, cpu_s, first_record_s=first_s)


def _await_first(pid: int, records: Path, started: float) -> float | None:
    """Seconds from `started` to the first byte in `records`; None if the process ends before."""
    while records.stat().st_size == 0:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return None
        time.sleep(_POLL_S)
    return time.monotonic() - started


def interleave(
    runs: Mapping[str, Callable[[], Sample]], repeats: int, tell: Callable[[str], None]
) -> dict[str, list[Sample]]:
    """Every run once per repeat, side by side; every other repeat in reverse order.

    The first run is done once more before all others and not counted: it brings the
    kernel into the page cache.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in runs}
    tell("warming up")
    next(iter(runs.values()))()
    for repeat in range(repeats):
        names = list(runs) if repeat % 2 == 0 else list(runs)[::-1]
        for name in names:
            tell(f"repeat {repeat + 1}/{repeats}: {name}")
            samples[name].append(runs[name]())
    return samples
