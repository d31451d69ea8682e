"""Starts a guest as a process of the host, and sees to it that the guest ends.

A guest is the leader of a process group, made by one program of ours (launcher.c). It may outlive
neither its limit nor ffslab, however ffslab ends. The death signal that the launcher arms is not
enough for that: it reaches the leader only. So there is a *guard*, a shell that is told of every
group and waits at a pipe whose other end nobody has but ffslab. When ffslab is gone the guard reads
the end of the pipe and kills the groups. The guest itself waits at a second pipe until its guard
has been told: there is no moment at which ffslab could be killed and leave it behind.

Limit: whoever kills the guard as well as ffslab is left to the death signal.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME
from ffslab.targets.uml.launcher import launcher

GUEST_ENVIRONMENT = {"HOME": ".", "PATH": "/usr/bin:/bin", "TERM": "linux"}
# UML's file for the guest's RAM is in /dev/shm without it, with it in the guest's own directory.
_RAM_ON_DISK = {"TMPDIR": "."}
_KERNEL = "./linux"
# A line is "+ GROUP" or "- GROUP". What is left at the end of the input is killed.
_GUARD = """
groups=' '
while read -r sign group; do
	case $sign in
	+) groups="$groups$group " ;;
	-) groups="${groups%% $group *} ${groups#* $group }" ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


def guest_environment(ram_on_disk: bool) -> dict[str, str]:
    """All variables of a guest's process on the host."""
    return {**GUEST_ENVIRONMENT, **(_RAM_ON_DISK if ram_on_disk else {})}


@dataclass(frozen=True, slots=True)
class GuestCommand:
    """How a guest's kernel is started in the guest's directory: the channels in the usual files,
    one CPU, fixed addresses, death with the parent.

    `machine`: the program that is the machine, with its channels among its arguments; "": the
    kernel itself is a program, whose errors are what it prints as a kernel, and whose output is
    what its own programs print.
    `preloaded`: a library in the directory that is loaded into that program, or "".
    """

    arguments: tuple[str, ...]
    host_cpu: int | None = None
    ram_on_disk: bool = False
    machine: str = ""
    preloaded: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What the launcher is told."""
        cpu = "-" if self.host_cpu is None else str(self.host_cpu)
        output, records = ("-", "-") if self.machine else (OUTPUT_NAME, RECORDS_NAME)
        return (cpu, CONSOLE_NAME, output, records, self.machine or _KERNEL, *self.arguments)

    @property
    def environment(self) -> dict[str, str]:
        """All variables of the guest's process."""
        preload = {"LD_PRELOAD": f"./{self.preloaded}"} if self.preloaded else {}
        return {**guest_environment(self.ram_on_disk), **preload}

    @property
    def script(self) -> str:
        """A shell command that does the same with the programs that every host has.

        It can be pasted and run by hand.
        """
        variables = (f"{key}={value}" for key, value in self.environment.items())
        pin = ["taskset", "-c", str(self.host_cpu)] if self.host_cpu is not None else []
        words = [
            *("env", "-i", *variables),
            *("setpriv", "--pdeathsig", "KILL"),
            *pin,
            *("setarch", "x86_64", "-R"),
            *(self.machine or _KERNEL, *self.arguments),
        ]
        channels = f"</dev/null >>{OUTPUT_NAME} 2>>{CONSOLE_NAME} 3>>{RECORDS_NAME}"
        if self.machine:
            channels = f"</dev/null >>{CONSOLE_NAME} 2>&1"
        return f"ulimit -c 0; exec {shlex.join(words)} {channels}"


def with_parent(words: Sequence[str]) -> list[str]:
    """A command that ends with this process, for a guest on the user's own terminal.

    It has no group of its own and so no guard. That this process was killed before the death
    signal was armed shows in its parent, which is asked for afterwards.
    """
    check = '[ "$PPID" = "$0" ] && exec "$@"'
    return ["setpriv", "--pdeathsig", "KILL", "/bin/sh", "-c", check, str(os.getpid()), *words]


class Guard:
    """A process that kills the groups it knows when this process is gone; safe to use from several
    threads. It begins with the first group, and anew should somebody end it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects the rest
        self._groups: set[int] = set()
        self._shell: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """From here on the group ends with this process; OSError if no process can start."""
        with self._lock:
            self._groups.add(group)
            if not self._told(f"+ {group}\n"):
                self._end()
                self._shell = _start_guard()
                self._told("".join(f"+ {known}\n" for known in sorted(self._groups)))

    def dismiss(self, group: int) -> None:
        """The group has been killed: its number may soon be another's."""
        with self._lock:
            if group in self._groups:
                self._groups.remove(group)
                self._told(f"- {group}\n")

    def close(self) -> None:
        """Ends the guard; all groups must have been dismissed."""
        with self._lock:
            self._end()

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _told(self, line: str) -> bool:
        if self._shell is None:
            return False
        assert self._shell.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._shell.stdin.fileno(), line.encode())
            return True
        return False

    def _end(self) -> None:
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.kill()
            assert shell.stdin is not None
            shell.stdin.close()
            shell.wait()


def _start_guard() -> subprocess.Popen[bytes]:
    """In a session of its own: what a terminal or a guest sends to a group does not reach it."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "guard"],
        bufsize=0,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class GuestProcess(subprocess.Popen[bytes]):
    """The leader of a guest's process group; `kill_group` is to be called in any case."""

    def __init__(self, command: GuestCommand | str, directory: Path, guard: Guard | None) -> None:
        """Starts a guest's command, or any shell command, in its directory."""
        self._shares_guard = guard is not None
        self._guard = Guard() if guard is None else guard
        shell = ("-", os.devnull, "-", "-", "/bin/sh", "-c")
        words = (*shell, command) if isinstance(command, str) else command.words
        gate_read, gate_write = os.pipe()
        try:
            try:
                super().__init__(
                    [launcher(), *words],
                    cwd=directory,
                    env=None if isinstance(command, str) else command.environment,
                    stdin=gate_read,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            finally:
                os.close(gate_read)
            self._guard.watch(self.pid)
            # The launcher may have been killed already.
            with contextlib.suppress(BrokenPipeError):
                os.write(gate_write, b"\n")
        finally:
            os.close(gate_write)

    def wait_at_most(self, limit_s: float) -> bool:
        """Waits until the leader ends; False if it has not within the limit."""
        with contextlib.suppress(OSError):  # no such system call
            descriptor = os.pidfd_open(self.pid)
            try:
                # Unlike wait() with a limit this does not look again and again.
                ended = select.poll()
                ended.register(descriptor, select.POLLIN)
                if not ended.poll(limit_s * 1000):
                    return False
            finally:
                os.close(descriptor)
        try:
            self.wait(limit_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def dismiss_guard(self) -> None:
        """Tells the guard that the group has been killed."""
        self._guard.dismiss(self.pid)
        if not self._shares_guard:
            self._guard.close()


def start_guest(
    command: GuestCommand | str, directory: Path, guard: Guard | None = None
) -> GuestProcess:
    """Starts a guest in its directory, as leader of its own process group.

    `command` may be any shell command instead. Without a `guard` that it shares with others the
    guest gets its own. Raises InfrastructureError if the host lets no process start.
    """
    try:
        return GuestProcess(command, directory, guard)
    except OSError as error:
        raise InfrastructureError(
            f"cannot start a guest in {directory}: {error.strerror}",
            cause="a limit of the host on processes, memory or open files",
            remedy="ulimit -a, and free -m; with fewer --jobs it may work",
        ) from error


def held_ram(process: GuestProcess, ram_bytes: int, limit_s: float) -> int | None:
    """A descriptor of the file that a guest's RAM is in, once the guest has it.

    While it is open the RAM takes its room, even if the guest has ended: so the room that was left
    at the guest's end can be told. None if the guest ends before, or has none within the limit.
    """
    deadline = time.monotonic() + limit_s
    descriptors = f"/proc/{process.pid}/fd"
    pause_s = 0.002
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            for number in os.listdir(descriptors):  # noqa: PTH208  looked at often
                status = os.stat(f"{descriptors}/{number}")  # noqa: PTH116
                nameless = stat.S_ISREG(status.st_mode) and not status.st_nlink
                if nameless and status.st_size >= ram_bytes:
                    return os.open(f"{descriptors}/{number}", os.O_RDONLY | os.O_CLOEXEC)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.1)
    return None


def kill_group(process: GuestProcess) -> None:
    """Kills what `start_guest` started, with its children and guard; no error if it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.dismiss_guard()
