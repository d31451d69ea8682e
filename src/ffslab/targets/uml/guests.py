"""Runs one case in a User-Mode Linux guest in virtual time.

A guest is one boot: kernel, an initramfs with agent, modules and plan, a sparse
file as the chip's contents, three plain files as its channels (what the kernel prints,
what programs print, the agent's records). The kernel's is the standard error of its
process on the host (kernel/patches/0028), which no device of the guest leads to: a
program can print what looks like an oops, and it is its own line. Pipes and terminals are
not used: a full pipe would make the guest wait for the host, and that would be visible in
virtual time.

Everything that the guest can see of the host is fixed: it runs in its own
directory under relative names, with an environment of three variables, without
address randomisation, with a given seed and wall clock. The same case therefore
gives the same bytes in any directory of any machine.

A guest dies with ffslab and with its process group (`ffslab.targets.uml.launch`). It starts
when there is room for it (`ffslab.targets.uml.scratch`), and if the host ended it, it has no
result (`ffslab.targets.uml.hostfault`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.errors import GuestLostError, InfrastructureError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.nor import refused_by_nor
from ffslab.model.specs import PERTURBATION
from ffslab.program import program
from ffslab.protocol.chip_file import (
    copy_flash_file,
    flash_digest,
    flash_file_bytes,
)
from ffslab.protocol.profile import (
    KERNEL_PROFILE_NAME,
    PROFILE_NAME,
    profile_argument,
    read_kernel_profile,
    windows_of,
    write_profile,
)
from ffslab.protocol.records import read_records
from ffslab.protocol.trace import trim_trace
from ffslab.targets.bounds import bounds
from ffslab.targets.running import RunningGuests
from ffslab.targets.target import (
    CONSOLE_NAME,
    FLASH_NAME,
    OUTPUT_NAME,
    RECORDS_NAME,
    TRACE_NAME,
    Capabilities,
    GuestJob,
    GuestRun,
    TargetKind,
)
from ffslab.targets.uml.boot import BootEnd, fault_of, see_through, wait_for_room
from ffslab.targets.uml.directory import INITRAMFS_NAME, copy_image, write_guest_directory
from ffslab.targets.uml.launch import Guard, GuestCommand, GuestProcess, kill_group, start_guest
from ffslab.targets.uml.perturbation import guest_seed
from ffslab.targets.uml.scratch import Claim, Scratch, case_need
from ffslab.targets.virtual_flash import FLASH_REGION, RIG, TRACE_REGION, required_modules
from ffslab.workloads.rig import CUTTER

WALL_CLOCK_START_NS = 1_700_000_000 * 10**9
_PROFILER_TIMES = 30  # so many times as long a guest may take under the profiler
BATCH_CONSOLE = ("con=null", "con0=null,fd:1", "ssl=null", "ssl0=null,fd:3")


def kernel_arguments(case: Case, console: Sequence[str]) -> tuple[str, ...]:
    """The guest's command line, which is a function of the case alone."""
    return (
        f"mem={case.board.ram_bytes // 2**20}M",
        "time-travel=inf-cpu",
        f"time-travel-start={WALL_CLOCK_START_NS}",
        *console,
        # Nothing about the host on the console, but all that the kernel says.
        "quiet",
        "loglevel=7",
        f"iomem={FLASH_REGION},{FLASH_NAME}",
        f"iomem={TRACE_REGION},{TRACE_NAME}",
        f"initrd={INITRAMFS_NAME}",
        "umid=lab",
        "uml_dir=./",
        f"uml_seed={guest_seed(case)}",
        *(f"{name}={price}" for name, price in case.cpu_prices.items()),
        "oops=panic",
        "panic=-1",
        "hung_task_panic=1",
        # Last: the kernel's random numbers depend on what comes before.
        *case.kernel.arguments,
    )


def _history(case: Case) -> dict[str, object]:
    """What beside the plan determines what happens in a guest."""
    source = case.filesystem.module_source
    return {
        "kernel_arguments": list(kernel_arguments(case, BATCH_CONSOLE)),
        "flash_bytes": flash_file_bytes(case.board.chip),
        "module_source": source.key if source else "",
        **({} if case.kernel.is_default else {"kernel": case.kernel.variant}),
        **({PERTURBATION: case.perturbation} if case.perturbation else {}),
    }


KIND = TargetKind(
    name="uml",
    title="User-Mode Linux with a virtual chip, in virtual time",
    capabilities=Capabilities(
        virtual_time=True,
        flash_snapshot=True,
        images=True,
        fault_injection=True,
        trace=True,
        power_cut=True,
    ),
    rig=RIG,
    history=_history,
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What guests of a kind run on, as processes of this host.

    `command` is how the guest of a case is started in its directory, which may not be written yet:
    with the CPU it is pinned to, and whether its RAM is a file there. `missing` is why the machine
    cannot run a case, or empty. `put_image` makes of the image of a case the file in the guest's
    directory; `put_files` adds what the machine itself needs there. `profiled`: each guest runs
    once more, under its kernel's profiler.
    """

    kind: TargetKind
    command: Callable[[Case, Path, int | None, bool], GuestCommand]
    missing: Callable[[Case], str] = lambda _: ""
    put_image: Callable[[Path, Path, Case], None] = copy_image
    put_files: Callable[[Path], None] = lambda _: None
    profiled: bool = False


def batch_command(case: Case, host_cpu: int | None, ram_on_disk: bool = False) -> GuestCommand:
    """How a case's guest is started in its directory."""
    return GuestCommand(kernel_arguments(case, BATCH_CONSOLE), host_cpu, ram_on_disk)


UML = Machine(KIND, lambda case, _, host_cpu, on_disk: batch_command(case, host_cpu, on_disk))


class LocalTarget:
    """Guests in `scratch`, one directory for each; safe to use from several threads.

    `tell` is called with what a user is to know while guests run. `guard` is that of all guests;
    without it each has its own.
    """

    def __init__(
        self,
        lab: LabBuild,
        scratch: Scratch,
        clock_ns: Callable[[], int],
        tell: Callable[[str], None] = lambda _: None,
        guard: Guard | None = None,
        machine: Machine = UML,
    ) -> None:
        self._lab = lab
        self._machine = machine
        self._scratch = scratch
        self._clock_ns = clock_ns
        self._guard = guard
        self._guests = RunningGuests(tell)
        self._bounds = bounds()
        if not os.access(lab.kernel, os.X_OK):
            raise InfrastructureError(
                f"the lab kernel {lab.kernel} is missing or not executable",
                cause="the build was interrupted or its cache removed",
                remedy=f"{program()} setup",
            )

    @property
    def kind(self) -> TargetKind:
        """That of its machine."""
        return self._machine.kind

    def missing(self, case: Case) -> str:
        """A skip's reason: what chip or machine cannot, or what the lab build does not have."""
        refused = refused_by_nor(case) or self._machine.missing(case)
        if refused:
            return refused
        lab = self._lab.for_kernel(case.kernel)
        if lab is None:
            return f"the lab has no kernel {case.kernel.variant}"
        modules = lab.modules_for(case.filesystem)
        absent = [name for name in required_modules(case) if name not in modules]
        return f"the lab build has no module {absent[0]}" if absent else ""

    def run(self, job: GuestJob) -> GuestRun:
        """Boots a guest when there is room, waits for its end or the limit, collects its files.

        Raises GuestLostError if the host ended the guest.
        """
        directory = self._scratch.directory / job.case.id
        with _no_other_error(job, self._scratch.directory):
            need = case_need(job.case, job.image.stat().st_size if job.image else 0)
            claims = wait_for_room(self._scratch, need, job.case.id, self._guests)
        if claims is None:
            return GuestRun(-signal.SIGKILL, False, True, 0, self._command(job, directory).script)
        try:
            with _no_other_error(job, directory):
                run = self._run(job, directory, claims)
            if not run.killed:
                _collect(directory, job)
            if self._machine.profiled and not (run.killed or run.timed_out):
                self._profile(job, directory, claims)
            return run
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            for claim in claims:
                claim.release()

    def start_no_more(self) -> None:
        """No guest starts from here on; those that run go on."""
        self._guests.start_no_more()

    def kill_all(self) -> None:
        """Kills every guest's process group; no new guest starts afterwards."""
        self._guests.kill_all()

    def _command(self, job: GuestJob, directory: Path, further: Sequence[str] = ()) -> GuestCommand:
        on_disk = self._scratch.ram_on_disk
        command = self._machine.command(job.case, directory, job.host_cpu, on_disk)
        return replace(command, arguments=(*command.arguments, *further))

    def _profile(self, job: GuestJob, directory: Path, claims: Sequence[Claim]) -> None:
        """The same guest once more, under the profiler, which must not show in its records."""
        windows = windows_of(read_records(job.case_dir / RECORDS_NAME))
        slower = replace(job, timeout_s=_PROFILER_TIMES * job.timeout_s)
        with _no_other_error(job, directory):
            run = self._run(slower, directory, claims, [profile_argument(windows)])
            if run.killed:
                return
            again = (directory / RECORDS_NAME).read_bytes()
            if run.timed_out or again != (job.case_dir / RECORDS_NAME).read_bytes():
                raise InfrastructureError(
                    f"{job.case.id}: its guest did something else under the profiler",
                    cause="a mistake of ffslab's kernel, or a limit of the host",
                    remedy="the same command again; then please tell the developers",
                )
        profile = read_kernel_profile(directory / KERNEL_PROFILE_NAME, windows)
        write_profile(profile, job.case_dir / PROFILE_NAME)

    def _run(
        self,
        job: GuestJob,
        directory: Path,
        claims: Sequence[Claim],
        further: Sequence[str] = (),
    ) -> GuestRun:
        lab = self._lab.for_kernel(job.case.kernel)
        assert lab is not None  # `missing` has said so
        shutil.rmtree(directory, ignore_errors=True)
        write_guest_directory(
            directory,
            lab,
            job.case,
            job.plan,
            flash=job.flash,
            image=job.image,
            programs={CUTTER: lab.cutter} if job.cuts_power else None,
            files=job.files,
            rig=self._machine.kind.rig,
            put_image=self._machine.put_image,
        )
        self._machine.put_files(directory)
        job.begun(directory)
        command = self._command(job, directory, further)
        started_ns = self._clock_ns()
        end, killed = self._boot(command, directory, job, claims)
        wall_ns = self._clock_ns() - started_ns
        if killed:
            return GuestRun(end.status, end.timed_out, True, wall_ns, command.script)
        _raise_if_lost(job, end, directory)
        if end.too_much:
            return GuestRun(
                *(end.status, False, False, wall_ns, command.script), failure=end.too_much
            )
        digest = flash_digest(directory / FLASH_NAME)
        return GuestRun(end.status, end.timed_out, False, wall_ns, command.script, digest)

    def _boot(
        self, command: GuestCommand, directory: Path, job: GuestJob, claims: Sequence[Claim]
    ) -> tuple[BootEnd, bool]:
        """How the guest ended, and whether it was killed because ffslab is to stop."""

        def start() -> GuestProcess:
            return start_guest(command, directory, self._guard)

        with self._guests.started(start, kill_group) as process:
            if process is None:
                return BootEnd(-signal.SIGKILL), True
            ram_bytes = job.case.board.ram_bytes
            end = see_through(
                *(process, directory, self._scratch, claims, ram_bytes, job.timeout_s),
                self._bounds,
            )
        return end, self._guests.killed and end.status == -signal.SIGKILL


@contextmanager
def _no_other_error(job: GuestJob, place: Path) -> Iterator[None]:
    """What the host refuses where guests run is no error of the place that the results go to."""
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"cannot run the guest of {job.case.id}: {error.filename or place}: {error.strerror}",
            cause="a guest's file was removed, or a limit of the host (df, ulimit -a)",
            remedy="the same command again, or name another place with --scratch DIR",
        ) from error


def _raise_if_lost(job: GuestJob, end: BootEnd, directory: Path) -> None:
    """GuestLostError if the host ended the guest; what it printed is in the case's directory."""
    fault = fault_of(end, directory)
    if fault is None:
        return
    with contextlib.suppress(OSError):
        for name in (CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME):
            shutil.copyfile(directory / name, job.case_dir / name)
    raise GuestLostError(
        f"the host ended the guest of {job.case.id}: {fault.what}",
        cause=fault.cause,
        remedy=f"see that the host has memory and room; {program()} doctor reads the whole cache",
    )


def _collect(directory: Path, job: GuestJob) -> None:
    """Copies what the guest wrote into the case's directory; OSError if that is full."""
    wanted = [CONSOLE_NAME, RECORDS_NAME, *job.written]
    if (directory / OUTPUT_NAME).exists():
        wanted.append(OUTPUT_NAME)
    if job.case.trace:
        wanted.append(TRACE_NAME)
    if job.keep_flash:
        wanted.append(FLASH_NAME)
    for name in wanted:
        source = directory / name
        if not source.exists():
            source.touch()
        target = job.case_dir / name
        if name == TRACE_NAME:
            trim_trace(source)
        if name == FLASH_NAME:
            copy_flash_file(source, target)
        else:
            shutil.copyfile(source, target)
