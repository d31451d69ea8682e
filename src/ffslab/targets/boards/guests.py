"""Runs cases on a board, one after the other: the agent there is an ordinary program.

A case begins with a partition that nobody uses: what an earlier one has left mounted or attached,
because the connection was lost or the board hung, is cleaned away first. The plan is copied, the
agent runs to its end or to the limit, its records and the kernel's messages come back. The agent
writes its records to a file of the board, not to the connection: sending them would take processor
time from what is measured.

What goes wrong on the board is the case's failure, with the reason, and never tried again. Only if
the board does not come back, or its partition is no longer the one, does the run stop; it can be
resumed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ffslab.errors import InfrastructureError
from ffslab.model.case import Case
from ffslab.process import command_line
from ffslab.protocol.plan import plan_of, step
from ffslab.targets.boards.board import LOOK, BoardFacts, board_facts, partition_fault, unlike
from ffslab.targets.boards.place import Place
from ffslab.targets.boards.power import cycle
from ffslab.targets.boards.shell import BoardLostError, Shell
from ffslab.targets.bounds import bounds, waited
from ffslab.targets.running import RunningGuests
from ffslab.targets.target import CONSOLE_NAME, RECORDS_NAME, GuestJob, GuestRun, TargetKind
from ffslab.workloads.plans import guest_files, guest_plans

_AGENT = "ffsagent"
_PID = "pid"
_CANNOT_RECORD = 3  # the agent's exit status
_LOOK_AGAIN_S = 3.0


@dataclass(frozen=True, slots=True)
class Ready:
    """A board with agent and modules; `modules` are those that were loaded there, in order."""

    facts: BoardFacts
    modules: tuple[str, ...]


class BoardTarget:
    """The board of a place; safe to use from several threads, though only one guest runs."""

    def __init__(
        self,
        kind: TargetKind,
        place: Place,
        connection: Shell,
        agent: Path,
        modules: tuple[str, ...],
        clock_ns: Callable[[], int] = time.monotonic_ns,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._kind = kind
        self._place = place
        self._connection = connection
        self._agent = agent
        self._modules = modules
        self._clock_ns = clock_ns
        self._guests = RunningGuests(tell)
        self._bounds = bounds()
        self._ready: Ready | None = None
        self._lock = threading.Lock()  # one guest at a time

    @property
    def kind(self) -> TargetKind:
        """That of its place."""
        return self._kind

    def missing(self, case: Case) -> str:
        """A skip's reason: what the board, its flash or its kernel does not have."""
        with self._lock:
            facts = self.made_ready().facts
        refused = not_on_boards(case, self._kind) or unlike(case, facts, self._place)
        if refused:
            return refused
        *before, _ = guest_plans(case, self._kind.rig)
        if not self._place.labgrid and any(map(ends_mounted, before)):
            return "it cuts the power, which nothing here can switch (labgrid, or --labgrid)"
        setup = case.filesystem
        if setup.is_mounted and setup.type not in facts.filesystems:
            return f"the board's kernel has no file system {setup.type}"
        return ""

    def run(self, job: GuestJob) -> GuestRun:
        """Runs a plan on the board, to its end or the limit, and brings back what it left."""
        with self._lock:
            facts = self.made_ready().facts
            if job.follows and self._is_mounted(self._facts()):
                facts = self._power_cut()
            self._clean()
            self._check()
            self._connection.put_text(job.plan, self._at("plan"))
            return self._run(job, facts)

    def start_no_more(self) -> None:
        """No guest starts from here on; the one that runs goes on."""
        self._guests.start_no_more()

    def kill_all(self) -> None:
        """Ends the agent's connection at once; the next run ends the agent itself."""
        self._guests.kill_all()

    def made_ready(self) -> Ready:
        """The board with all that cases need, put there again if it has started anew."""
        facts = self._facts()
        if self._ready is None or self._ready.facts.boot != facts.boot:
            self._connection.run(f"mkdir -p {self._place.directory}")
            self._connection.put(self._agent, self._at(_AGENT), executable=True)
            loaded = self._load_modules(facts)
            self._clean()
            self._ready = Ready(self._facts(), loaded)
        return self._ready

    def _at(self, name: str) -> str:
        return f"{self._place.directory}/{name}"

    def _facts(self) -> BoardFacts:
        printed = self._connection.run(LOOK, check=False)
        try:
            return board_facts(printed)
        except ValueError as error:
            raise InfrastructureError(
                f"{self._place.name}: {error}",
                cause="its login shell is no POSIX shell, or prints something on its own",
                remedy=f"look at what it prints: {self._connection.by_hand}, by hand",
            ) from error

    def _check(self) -> None:
        """InfrastructureError unless the partition is the one that may be destroyed, and free."""
        fault = partition_fault(self._facts(), self._place)
        if fault:
            raise wrong_partition(self._place, fault)

    def _load_modules(self, facts: BoardFacts) -> tuple[str, ...]:
        """Loads the modules that the place has for the board and that are not loaded."""
        lines = []
        loaded = []
        for name in self._modules:
            source = self._place.module(name)
            if source is None or name.replace("-", "_") in facts.modules:
                continue
            self._connection.put(source, self._at(source.name))
            lines.append(step("insmod", path=self._at(source.name)))
            loaded.append(name)
        debug = {"type": "debugfs", "source": "none", "target": "/sys/kernel/debug"}
        lines.append(step("mount", **debug, may_fail=1))
        told = self._carried_out(lines)
        if told:
            raise InfrastructureError(
                f"{self._place.name}: {told}",
                cause="a module of another kernel than the board's",
                remedy=f"build it against the kernel that runs there: {facts.uname}",
            )
        return tuple(loaded)

    def _clean(self) -> None:
        """Ends an agent that still runs, and takes away what hangs on the partition through it.

        Without an agent of ours nothing that is mounted or attached there is ours.
        """
        if not self._connection.succeeds(f"test -e {self._at(_PID)}"):
            return
        self._end_agent()
        facts = self._facts()
        mounted = self._is_mounted(facts)
        device = facts.device(self._place.partition)
        attached = device is not None and facts.ubi.get(self._place.ubi) == device.number
        lines = []
        if mounted:
            lines.append(step("umount", target=self._place.mount_point, may_fail=1))
        if attached:
            lines.append(step("ubi-detach", ubi=self._place.ubi, may_fail=1))
        self._carried_out(lines)
        self._connection.run(f"cd {self._place.directory} && rm -f {RECORDS_NAME} plan {_PID}")

    def _is_mounted(self, facts: BoardFacts) -> bool:
        return any(target == self._place.mount_point for _, target in facts.mounts)

    def _power_cut(self) -> BoardFacts:
        """Cuts the power while a file system is mounted, as its plan left it; the board after."""
        cycle(self._place.labgrid)
        self._awaited()
        return self.made_ready().facts

    def _end_agent(self) -> None:
        """Kills the agent with its processes, if it is there; another one may have its number."""
        self._connection.run(
            f"p=$(cat {self._at(_PID)}) && for i in 1 2 3 4 5; do "
            f"grep -q {_AGENT} /proc/$p/cmdline || break; kill -9 -$p || kill -9 $p; sleep 1; done",
            check=False,
        )

    def _carried_out(self, lines: list[str]) -> str:
        """Has the agent carry out some steps; what it says if one fails."""
        if not lines:
            return ""
        self._connection.put_text(plan_of(lines), self._at("plan"))
        command = f"cd {self._place.directory} && ./{_AGENT} run -o /dev/null plan"
        told = self._connection.run(f"{command} || echo FAILED", check=False, timeout_s=120)
        return told.strip() if told.rstrip().endswith("FAILED") else ""

    def _run(self, job: GuestJob, facts: BoardFacts) -> GuestRun:
        mark = f"ffslab: {job.case.id} {self._clock_ns()}"
        directory = self._place.directory
        command = (
            f"cd {directory} && echo '{mark}' >/dev/kmsg; echo $$ >{_PID}; "
            f"exec ./{_AGENT} run -o {RECORDS_NAME} plan"
        )
        shown = command_line([*self._connection.words, command])
        started_ns = self._clock_ns()
        with (job.case_dir / CONSOLE_NAME).open("wb") as console:

            def start() -> subprocess.Popen[bytes]:
                return self._connection.start(command, console)

            with self._guests.started(start, self._connection.end) as process:
                if process is None:
                    return GuestRun(-signal.SIGKILL, False, True, 0, shown)
                too_much = partial(self._bounds.exceeded, job.case_dir)
                end = self._connection.end
                timed_out = not ends_within(process, job.timeout_s, too_much, end)
            wall_ns = self._clock_ns() - started_ns
            if self._guests.killed and process.returncode == -signal.SIGKILL and not timed_out:
                return GuestRun(-signal.SIGKILL, False, True, wall_ns, shown)
            failure = self._collected(job, facts, mark, console, process.returncode, timed_out)
        return GuestRun(process.returncode, timed_out, False, wall_ns, shown, failure=failure)

    def _collected(
        self,
        job: GuestJob,
        facts: BoardFacts,
        mark: str,
        console: BinaryIO,
        status: int,
        timed_out: bool,
    ) -> str:
        """Brings back records and kernel messages; what went wrong on the board, or empty."""
        lost = status == self._connection.lost_status
        said = _last_line(job)  # by the agent, before the kernel's messages come behind it
        records = job.case_dir / RECORDS_NAME
        records.touch()
        too_much = self._bounds.exceeded(job.case_dir)
        self._bounds.cut(job.case_dir)
        try:
            now = self._awaited() if lost or timed_out else self._facts()
            self._end_agent()
            self._connection.get(
                self._at(RECORDS_NAME), records, self._bounds.records.most_bytes + 1
            )
            too_much = too_much or self._bounds.exceeded(job.case_dir)
            self._bounds.records.cut(job.case_dir)
            self._append_messages(console, mark)
        except BoardLostError as error:
            self._ready = None
            return (
                f"the connection to the board was lost, and it has not come back: {error.message}"
            )
        if now.boot != facts.boot:
            return "the board started anew while the case ran"
        if too_much:
            return too_much
        if lost:
            return "the connection to the board was lost while the case ran"
        if status == _CANNOT_RECORD:
            return f"the agent could not write its records there: {said}"
        return ""

    def _awaited(self) -> BoardFacts:
        """The board once it answers again; BoardLostError if it does not.

        It is switched off and on if it does not come back by itself.
        """
        switched = not self._place.labgrid
        ends_s = time.monotonic() + self._place.restart_s
        while True:
            try:
                return self._facts()
            except BoardLostError:
                if self._guests.killed:
                    raise
                if time.monotonic() > ends_s:
                    if switched:
                        raise
                    self._guests.tell(f"{self._place.name} hangs: its power is switched by labgrid")
                    cycle(self._place.labgrid)
                    switched, ends_s = True, time.monotonic() + self._place.restart_s
                time.sleep(_LOOK_AGAIN_S)

    def _append_messages(self, console: BinaryIO, mark: str) -> None:
        """What the kernel said since the mark; all that it kept if that is gone."""
        _, _, since = self._connection.run("dmesg", check=False).rpartition(mark)
        console.seek(0, os.SEEK_END)
        console.write(since.lstrip("\n").encode())
        console.flush()


def not_on_boards(case: Case, kind: TargetKind) -> str:
    """Why no board can run a case, whatever board; empty if one can."""
    if case.kernel.is_named:
        return f"a board has its own kernel, not the lab's {case.kernel.aligned_variant}"
    if case.cpu_scale != 1:
        return "a board's processor is as fast as it is: no cpu_scale"
    if case.perturbation:
        return "on a board the layout of a guest is not perturbed"
    if case.filesystem.overlay:
        return f"target {kind.name} does not mount overlays"
    plans = guest_plans(case, kind.rig)
    if any("type=hostfs" in plan for plan in plans):
        return "a board sees no programs or files of this computer"
    if guest_files(case, kind.rig, plans[-1]):
        return f"target {kind.name} does not copy a workload's files"
    return ""


def ends_mounted(plan: str) -> bool:
    """Whether a plan ends while a file system is mounted: what follows is a power cut."""
    verbs = [line.split(" ", 1)[0] for line in plan.splitlines()]
    mounts, unmounts = (
        [at for at, verb in enumerate(verbs) if verb == wanted] for wanted in ("mount", "umount")
    )
    return bool(mounts) and (not unmounts or unmounts[-1] < mounts[-1])


def wrong_partition(place: Place, fault: str) -> InfrastructureError:
    """The error of a partition that must not be written."""
    return InfrastructureError(
        f"{place.name}: nothing was written: {fault}",
        cause=f"another board than {place.path} describes, or something there uses the partition "
        "or one that overlaps it",
        remedy="see /proc/mtd, /proc/mounts and /sys/class/ubi there; correct the file, or free "
        "the partition",
    )


def ends_within(
    process: subprocess.Popen[bytes],
    limit_s: float,
    too_much: Callable[[], str],
    end: Callable[[subprocess.Popen[bytes]], None],
) -> bool:
    """Waits for the end; at the limit, or if there is too much, `end` is to end it at once.

    False if it was the limit.
    """

    def wait_at_most(seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None

    ended, _ = waited(wait_at_most, too_much, time.monotonic() + limit_s)
    if ended:
        return True
    end(process)
    process.wait()
    return bool(too_much())


def _last_line(job: GuestJob) -> str:
    text = (job.case_dir / CONSOLE_NAME).read_text("utf-8", "replace").strip()
    return text.splitlines()[-1] if text else "no room"
