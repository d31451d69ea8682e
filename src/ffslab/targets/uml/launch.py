"""Starts a guest as a process of the host, and sees to it that the guest ends.

A guest is the leader of a process group. It may outlive neither its limit nor ffslab, however
ffslab ends. The launcher's death signal (setpriv) is not enough for that: it is armed some
milliseconds after the fork, and it reaches the leader only. So each guest has a *guard*, a shell
that waits at a pipe whose other end nobody has but ffslab. When ffslab is gone the guard reads the
end of the pipe and kills the group. The guest itself waits at a second pipe until its guard is
there: there is no moment at which ffslab could be killed and leave it behind.

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
import time
from collections.abc import Sequence
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.targets.target import CONSOLE_NAME, RECORDS_NAME

GUEST_ENVIRONMENT = {"HOME": ".", "PATH": "/usr/bin:/bin", "TERM": "linux"}
# UML's file for the guest's RAM is in /dev/shm without it, with it in the guest's own directory.
_RAM_ON_DISK = {"TMPDIR": "."}
# The guest starts when its standard input has a line; without one ffslab has ended already.
_GATE = 'read -r _ && exec /bin/sh -c "$1" </dev/null'
_GUARD = 'read -r _; kill -s KILL -- "-$1"'


def guest_environment(ram_on_disk: bool) -> dict[str, str]:
    """All variables of a guest's process on the host."""
    return {**GUEST_ENVIRONMENT, **(_RAM_ON_DISK if ram_on_disk else {})}


def guest_words(
    host_cpu: int | None, arguments: Sequence[str], ram_on_disk: bool = False
) -> list[str]:
    """The guest's whole command: death with the parent, one CPU, fixed addresses."""
    environment = guest_environment(ram_on_disk)
    pin = ["taskset", "-c", str(host_cpu)] if host_cpu is not None else []
    return [
        *("env", "-i", *(f"{key}={value}" for key, value in environment.items())),
        *("setpriv", "--pdeathsig", "KILL"),
        *pin,
        *("setarch", "x86_64", "-R"),
        "./linux",
        *arguments,
    ]


def guest_script(host_cpu: int | None, arguments: Sequence[str], ram_on_disk: bool = False) -> str:
    """A shell command for any guest's directory, its channels in the usual files.

    It can be pasted and run by hand.
    """
    words = shlex.join(guest_words(host_cpu, arguments, ram_on_disk))
    return f"ulimit -c 0; exec {words} </dev/null >>{CONSOLE_NAME} 2>&1 3>>{RECORDS_NAME}"


def with_parent(words: Sequence[str]) -> list[str]:
    """A command that ends with this process, for a guest on the user's own terminal.

    It has no group of its own and so no guard. That this process was killed before the death
    signal was armed shows in its parent, which is asked for afterwards.
    """
    check = '[ "$PPID" = "$0" ] && exec "$@"'
    return ["setpriv", "--pdeathsig", "KILL", "/bin/sh", "-c", check, str(os.getpid()), *words]


class GuestProcess(subprocess.Popen[bytes]):
    """The leader of a guest's process group; `kill_group` is to be called in any case."""

    def __init__(self, script: str, directory: Path) -> None:
        """Starts a guest's shell command in its directory."""
        self._guard: subprocess.Popen[bytes] | None = None
        gate_read, gate_write = os.pipe()
        try:
            try:
                super().__init__(
                    ["/bin/sh", "-c", _GATE, "guest", script],
                    cwd=directory,
                    stdin=gate_read,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            finally:
                os.close(gate_read)
            self._guard = _start_guard(self.pid)
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
        """Ends the guard; the group must have been killed."""
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.kill()
            assert guard.stdin is not None
            guard.stdin.close()
            guard.wait()


def _start_guard(group: int) -> subprocess.Popen[bytes]:
    """A process that kills the group when this process is gone.

    In a session of its own: what a terminal or the guest sends to a group does not reach it.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "guard", str(group)],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def start_guest(script: str, directory: Path) -> GuestProcess:
    """Starts a guest's shell command in its directory, as leader of its own process group.

    Raises InfrastructureError if the host lets no process start.
    """
    try:
        return GuestProcess(script, directory)
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
    pause_s = 0.002
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{process.pid}/fd").iterdir():
                status = entry.stat()
                nameless = stat.S_ISREG(status.st_mode) and not status.st_nlink
                if nameless and status.st_size >= ram_bytes:
                    return os.open(entry, os.O_RDONLY | os.O_CLOEXEC)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.1)
    return None


def kill_group(process: GuestProcess) -> None:
    """Kills what `start_guest` started, with its children and guard; no error if it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.dismiss_guard()
