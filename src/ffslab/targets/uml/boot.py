"""One boot of any guest, from room on the host to the evidence of how it ended."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ffslab.errors import GuestLostError
from ffslab.protocol.records import read_records
from ffslab.results.console import lines_of, tail_of
from ffslab.targets.bounds import Bounds, waited
from ffslab.targets.running import RunningGuests
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME
from ffslab.targets.uml.hostfault import GuestEnd, HostFault, RoomLeft, host_fault
from ffslab.targets.uml.launch import GuestProcess, held_ram, kill_group
from ffslab.targets.uml.scratch import Claim, Need, Refusal, Scratch, free_bytes

_BOOT_S = 10.0  # within which a guest has its RAM, or will never have it
_GRACE_S = 5.0
_LOOK_AGAIN_S = 0.25


@dataclass(frozen=True, slots=True)
class BootEnd:
    """How a guest's leader ended; `status` is negative for a signal. `room` is what was left.

    `too_much`: it was killed because it had printed or recorded more than it may, in words.
    """

    status: int
    timed_out: bool = False
    too_much: str = ""
    room: tuple[RoomLeft, ...] = ()


def wait_for_room(
    scratch: Scratch,
    need: Need,
    who: str,
    guests: RunningGuests,
) -> tuple[Claim, ...] | None:
    """Room for the guest called `who`, when there is any; None if none is to start.

    Raises GuestLostError if no guest is there whose end could give the room.
    """
    told = False
    # Processes of a guest that was killed may hold its memory for a moment.
    grace_ends_s = time.monotonic() + _GRACE_S
    while not guests.closed.is_set():
        claims = scratch.claim(need)
        if not isinstance(claims, Refusal):
            return claims
        if claims.guests:
            grace_ends_s = time.monotonic() + _GRACE_S
            if not told:
                guests.tell(f"{who} waits for room: {claims}")
                told = True
        elif time.monotonic() > grace_ends_s:
            raise GuestLostError(
                f"no room for the guest of {who}: {claims}",
                cause=f"another program has taken the room since ffslab began (df {claims.place})",
                remedy="free some space there",
            )
        guests.closed.wait(_LOOK_AGAIN_S)
    return None


def see_through(
    process: GuestProcess,
    directory: Path,
    scratch: Scratch,
    claims: Sequence[Claim],
    ram_bytes: int,
    limit_s: float,
    bounds: Bounds,
) -> BootEnd:
    """Waits for the end of the guest in `directory`, or kills it at its limit or its bounds.

    Nothing of it runs afterwards, and none of its files is longer than it may be.
    """
    ends_s = time.monotonic() + limit_s
    ram = None
    try:
        for claim in claims:
            claim.given_to(process.pid)
        ram = held_ram(process, ram_bytes, min(limit_s, _BOOT_S))
        exceeded = partial(bounds.exceeded, directory)
        ended, too_much = waited(process.wait_at_most, exceeded, ends_s)
        places = {scratch.files.path, scratch.ram.path}
        room = tuple(RoomLeft(str(place), free_bytes(place)) for place in sorted(places))
    finally:
        # The group may outlive its leader: a crashed kernel leaves its processes.
        kill_group(process)
        process.wait()
        if ram is not None:
            os.close(ram)
    bounds.cut(directory)
    return BootEnd(process.returncode, not ended and not too_much, too_much, room)


def fault_of(end: BootEnd, directory: Path) -> HostFault | None:
    """What the host did to the guest that ran in `directory`, if that ended it."""

    def ended_well() -> bool:
        records = directory / RECORDS_NAME
        last = read_records(records).end if records.exists() else None
        return last is not None and last.is_good and not end.timed_out

    return host_fault(
        GuestEnd(
            exit_status=None if end.timed_out or end.too_much else end.status,
            console=lines_of(directory / CONSOLE_NAME),
            output=tail_of(directory / OUTPUT_NAME),
            ended_well=ended_well,
            room=end.room,
        )
    )
