"""Guests that the host ended: told apart from those that their own kernel ended.

A guest is a process of the host. When the host kills it, or has no memory for it, its end says
nothing about the file system: it is no result of its case. The evidence must be such that no crash
of the guest's own making can give it, since that is a result, and the next run would show it again:

- The leader ended by a signal that UML never sends itself. (It ends itself with SIGABRT after a
  panic. SIGSEGV, SIGILL, SIGFPE and SIGBUS may be its own faults.)
- The leader exited with status 1 and its kernel said no word of a crash: that is what UML does on
  SIGTERM and SIGINT. A panic aborts instead.
- The guest's kernel never spoke: launcher, memory or channels failed before there was a guest.
- A message of UML's host side: a process of the guest is gone or was stopped from outside, or the
  host refused a process or a mapping.
- A guest that did not end well, and no room where its RAM or its flash file is. What is mapped from
  there is a bus error then, in the kernel ("Kernel mode signal 7") or in the agent. The message
  alone is no evidence: a wild pointer can give the same signal.

Limits. SIGSEGV or SIGBUS sent from outside is taken for the guest's own, and a guest that is
stopped from outside ends at its limit, as `timeout`.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ffslab.model.units import format_size
from ffslab.results.console import KernelLog, last_lines, read_log

# Signals that the lab kernel's process gets from others only.
_FOREIGN_SIGNALS = frozenset(
    (
        *(signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT),
        *(signal.SIGXCPU, signal.SIGXFSZ, signal.SIGSYS, signal.SIGUSR1, signal.SIGUSR2),
    )
)
_BOOTED = "Linux version "
_EXIT_ON_SIGNAL = 1
# With less room a page, or the next line of a console, could not be stored.
_FULL_BYTES = 256 * 1024
_KILLER = "somebody or the host's OOM killer killed it (free -m; dmesg | grep -i oom)"

# What UML's host side prints, and the likely cause. ESRCH is 3, EAGAIN 11, ENOMEM 12; a status is
# that of waitpid(): 0x9 is killed, 0xf7f stopped by SIGTERM.
_HOST_MESSAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"^(?!.*wait_stub_done).*\berrno = 3\b|_fp_registers returned -3$|"
            r"wait_stub_done : .* status = 0x(9|f|[123f]7f)$"
        ),
        "one of the guest's processes was killed from outside, perhaps by the host's OOM killer",
    ),
    (
        re.compile(r"userspace - child stopped with signal \d+|unknown signal \d+ \(si_code = 0\)"),
        "somebody sent a signal to one of the guest's processes",
    ),
    (
        re.compile(
            r"start_userspace : (clone|mmap|wait|munmap|PTRACE_OLDSETOPTIONS) failed|"
            r"stub-(parent|child \d+) reports error -?(11|12)$"
        ),
        "the host lets no further process start: a limit on processes or memory (ulimit -a)",
    ),
    (
        re.compile(r"Mapping iomem region for driver '.*' failed|do_syscall_stub : ret = -12\b"),
        "the host refuses memory: a limit (ulimit -v), or vm.max_map_count",
    ),
    (
        re.compile(r"map_memory\(.*\) failed, err = -(11|12)\b"),
        "the host refuses memory: a limit (ulimit -v), or vm.max_map_count",
    ),
    (
        # In the middle of a line, if the guest was printing one.
        re.compile(r"^qemu-system-\w+: |qemu-system-\w+: terminating on signal \d"),
        "QEMU gave up, or somebody ended it",
    ),
)
_ANY_HOST_MESSAGE = re.compile("|".join(pattern.pattern for pattern, _ in _HOST_MESSAGES))


@dataclass(frozen=True, slots=True)
class RoomLeft:
    """What was free where a guest's files or RAM are, at the moment of its end."""

    place: str
    free_bytes: int


@dataclass(frozen=True, slots=True)
class GuestEnd:
    """What is known of a guest's end.

    `console` is what its kernel printed, line by line; `output`, the end of what went to its
    process's standard output.
    `exit_status` is negative for a signal; None if ffslab killed it at its limit. `ended_well`:
    whether the agent came to its end and says that all went well. It is asked only where a place is
    full, since the answer is behind all records.
    """

    exit_status: int | None
    console: Iterable[str]
    ended_well: Callable[[], bool]
    room: tuple[RoomLeft, ...] = ()
    output: str = ""


@dataclass(frozen=True, slots=True)
class HostFault:
    """What the host did to a guest, and the likely cause."""

    what: str
    cause: str


def host_fault(end: GuestEnd) -> HostFault | None:
    """What the host did that ended the guest; None if the guest's end is its own."""
    full = next((room for room in end.room if room.free_bytes < _FULL_BYTES), None)
    if full is not None and not end.ended_well():
        return HostFault(
            f"it ended when {full.place} was full ({format_size(full.free_bytes)} free)",
            "another program took the room there, or the disk is too small (df)",
        )
    status = end.exit_status
    if status is None:
        return None
    if -status in _FOREIGN_SIGNALS:
        return HostFault(f"it was ended by {_name(-status)}", _cause_of_signal(-status))
    told = _told(end.console)
    if not told.booted:
        lines = (*told.log.last[-2:], *last_lines(end.output, 2))
        last = " / ".join(line.strip() for line in lines if line)
        return HostFault(
            f"it ended before its kernel began ({_how(status)}): {last or 'it printed nothing'}",
            "a limit of the host (ulimit -a), a missing program, a place that is full (df), or a "
            "damaged kernel in the cache",
        )
    crashed = any(message.is_end for message in told.log.messages)
    if told.said is None and status == _EXIT_ON_SIGNAL and not crashed:
        return HostFault("it was ended by SIGTERM or SIGINT", _KILLER)
    return told.said


@dataclass(slots=True)
class _Told:
    """What a console says: that the kernel began, the first message of UML's host side, the log."""

    booted: bool
    said: HostFault | None
    log: KernelLog


def _told(console: Iterable[str]) -> _Told:
    told = _Told(False, None, KernelLog())

    def looked_at() -> Iterator[str]:
        for line in console:
            told.booted = told.booted or _BOOTED in line
            told.said = told.said or _said_by_host_side(line)
            yield line

    told.log = read_log(looked_at())
    return told


def _said_by_host_side(line: str) -> HostFault | None:
    if not _ANY_HOST_MESSAGE.search(line):
        return None
    cause = next(cause for pattern, cause in _HOST_MESSAGES if pattern.search(line))
    return HostFault(f"the host failed it: {line.partition('] ')[2] or line}", cause)


def _name(number: int) -> str:
    return signal.Signals(number).name


def _how(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {-status}"


def _cause_of_signal(number: int) -> str:
    if number == signal.SIGXFSZ:
        return "a limit on the size of files (ulimit -f)"
    if number == signal.SIGXCPU:
        return "a limit on processor time (ulimit -t)"
    return _KILLER
