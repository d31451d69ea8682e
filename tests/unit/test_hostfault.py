"""Guests that the host ended are told apart from those that their own kernel ended."""

from __future__ import annotations

import signal

import pytest
from host_support import golden

from ffslab.targets.uml.hostfault import GuestEnd, HostFault, RoomLeft, host_fault

ROOMY = (RoomLeft("/dev/shm", 2**30),)
FULL = (RoomLeft("/disk", 2**30), RoomLeft("/dev/shm", 4096))
BOOTED = "[    0.000000] Linux version 6.1\n"
BUS_ERROR = (
    f"{BOOTED}[    5.3] Bus error - the host /dev/shm or /tmp mount likely just ran out of space\n"
    "[    5.3] Kernel panic - not syncing: Kernel mode signal 7\n"
)


def fault(
    status: int | None, console: str, *, well: bool = False, room: tuple[RoomLeft, ...] = ROOMY
) -> HostFault | None:
    return host_fault(GuestEnd(status, console.split("\n"), lambda: well, room))


def said(status: int | None, console: str, room: tuple[RoomLeft, ...] = ROOMY) -> str:
    found = fault(status, console, room=room)
    assert found is not None and found.cause
    return found.what


@pytest.mark.parametrize(
    "name", ["panic", "bug", "hung", "warning", "lockdep", "real-panic", "rule-violation", "cut"]
)
@pytest.mark.parametrize("status", [-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, 0])
def test_what_the_guests_kernel_does_is_its_own(name: str, status: int) -> None:
    assert fault(status, BOOTED + golden(f"console/{name}.log").decode()) is None


def test_a_panic_is_its_own_even_with_the_status_of_a_signal_that_uml_handles() -> None:
    assert fault(1, BOOTED + golden("console/panic.log").decode()) is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGXFSZ, signal.SIGHUP])
def test_signals_that_uml_never_sends_itself(number: signal.Signals) -> None:
    assert number.name in said(-number, BOOTED)
    # Whatever the console and the agent say: it did not end by itself.
    assert fault(-number, BUS_ERROR, well=True)


def test_the_signals_that_uml_takes_for_an_exit() -> None:
    assert said(1, BOOTED) == "it was ended by SIGTERM or SIGINT"
    assert fault(0, BOOTED) is None


def test_a_guest_that_never_began() -> None:
    assert "setpriv: not found" in said(127, "/bin/sh: 1: exec: setpriv: not found\n")
    assert "it printed nothing" in said(2, "")
    assert "mmap" in said(1, "Core dump limits\nsetup_physmem - mmap failed\n")
    # UML's host side has both outputs of its process.
    both = host_fault(GuestEnd(1, ["one"], lambda: False, ROOMY, "a\nCannot map\n"))
    assert both is not None and both.what.endswith(": one / a / Cannot map")
    assert "mmap" in said(-signal.SIGSEGV, "setup_physmem - mmap failed\n")


@pytest.mark.parametrize(
    "message",
    [
        "userspace - ptrace set regs failed, errno = 3",
        "save_fp_registers returned -3",
        "get_skas_faultinfo : failed to continue stub, pid = 7, errno = 3",
        "userspace - child stopped with signal 15",
        "Attempted to relay unknown signal 7 (si_code = 0) with errno 0",
        "wait_stub_done : failed to wait for SIGTRAP, pid = 7, n = 7, errno = 0, status = 0x9",
        "wait_stub_done : failed to wait for SIGTRAP, pid = 7, n = 7, errno = 0, status = 0xf7f",
        "start_userspace : clone failed, errno = 11",
        "copy_context_skas0 - stub-parent reports error 11",
        "Mapping iomem region for driver 'flash0' failed",
        "Kernel panic - not syncing: map_memory(0x6, 5, 0x0, 4096, 1, 1, 1) failed, err = -12",
    ],
)
def test_what_umls_host_side_says(message: str) -> None:
    crash = "[    5.4] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n"
    assert message in said(-signal.SIGABRT, f"{BOOTED}[    5.3] {message}\n{crash}")


@pytest.mark.parametrize(
    "message",
    [
        "userspace - ptrace set regs failed, errno = 5",
        "wait_stub_done : failed to wait for SIGTRAP, pid = 7, n = 7, errno = 3, status = 0xb7f",
        "Attempted to relay unknown signal 11 (si_code = 128) with errno 0",
    ],
)
def test_what_the_guest_may_have_done_to_itself(message: str) -> None:
    assert fault(-signal.SIGABRT, f"{BOOTED}[    5.3] {message}\n") is None


def test_a_bus_error_counts_only_where_there_was_no_room() -> None:
    assert fault(-signal.SIGABRT, BUS_ERROR) is None
    assert "/dev/shm was full (4 KiB free)" in said(-signal.SIGABRT, BUS_ERROR, FULL)


def test_no_room_makes_every_end_doubtful_but_a_good_one() -> None:
    assert fault(0, BOOTED, well=True, room=FULL) is None
    assert fault(0, BOOTED, well=False, room=FULL)
    assert fault(None, BOOTED, room=FULL)  # ffslab killed it at its limit
    assert fault(None, BOOTED, room=ROOMY) is None
