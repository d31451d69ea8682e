"""Guests that run programs of the host for ffslab itself: the same bytes on each computer.

Entropy comes from a fixed seed and the clock is virtual, as in the guest of a case; code is free.
"""

from __future__ import annotations

import signal
from pathlib import Path

from ffslab.errors import GuestLostError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.specs import CPU_FIGURES
from ffslab.program import program
from ffslab.targets.bounds import bounds
from ffslab.targets.running import GuestSlot
from ffslab.targets.target import ToolEnd, ToolGuest
from ffslab.targets.uml.boot import BootEnd, fault_of, see_through, wait_for_room
from ffslab.targets.uml.directory import INITRAMFS_NAME, preparing, write_kernel_and_root
from ffslab.targets.uml.guests import BATCH_CONSOLE, WALL_CLOCK_START_NS
from ffslab.targets.uml.initramfs import regular_file
from ffslab.targets.uml.launch import GuestCommand, kill_group, start_guest
from ffslab.targets.uml.scratch import Need, scratch_directory


def arguments(ram_bytes: int) -> tuple[str, ...]:
    """The guest's command line."""
    return (
        f"mem={ram_bytes >> 20}M",
        "time-travel=inf-cpu",
        f"time-travel-start={WALL_CLOCK_START_NS}",
        *BATCH_CONSOLE,
        f"initrd={INITRAMFS_NAME}",
        *("umid=tools", "uml_dir=./", "uml_seed=1"),
        *(f"{name}=0" for name in CPU_FIGURES),
        *("oops=panic", "panic=-1", "hung_task_panic=1"),
    )


def run(guest: ToolGuest, lab: LabBuild, directory: Path, slot: GuestSlot) -> ToolEnd:
    """Runs the guest when it has room; GuestLostError if it can have none, or the host ended it."""
    prepare(guest, lab, directory)
    end = _boot(guest, directory, slot)
    if end is None or (slot.guests.killed and end.status == -signal.SIGKILL):
        return ToolEnd(killed=True)
    fault = fault_of(end, directory)
    if fault is not None:
        raise GuestLostError(
            f"the host ended the guest that {guest.who}: {fault.what}",
            cause=fault.cause,
            remedy=f"see that the host has memory and room; {program()} doctor reads the whole "
            "cache; then repeat the command",
        )
    return ToolEnd(end.timed_out, too_much=end.too_much)


def prepare(guest: ToolGuest, lab: LabBuild, directory: Path) -> None:
    """What the guest is made of, and what it reads."""
    with preparing(f"the guest that {guest.who}", directory, "set XDG_CACHE_HOME=DIRECTORY"):
        guest.begun(directory)
        files = [regular_file(file.path, file.data, executable=True) for file in guest.files]
        write_kernel_and_root(directory, lab, guest.plan, behind=files)


def _boot(guest: ToolGuest, directory: Path, slot: GuestSlot) -> BootEnd | None:
    """How the guest ended; None if none is to start."""
    guests = slot.guests
    need = Need(guest.scratch_bytes, guest.touched_ram_bytes)
    with scratch_directory(need, 1, directory, directory) as scratch:
        claims = wait_for_room(scratch, need, f"the guest that {guest.who}", guests)
        if claims is None:
            return None
        command = GuestCommand(arguments(guest.ram_bytes), slot.host_cpu, scratch.ram_on_disk)
        try:
            with guests.started(lambda: start_guest(command, directory), kill_group) as process:
                if process is None:
                    return None
                return see_through(
                    *(process, directory, scratch, claims, guest.ram_bytes, guest.limit_s),
                    bounds(),
                )
        finally:
            for claim in claims:
                claim.release()
