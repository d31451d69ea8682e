"""What a workload asks of a target: the steps with which a guest gets at its file system.

A workload knows what it measures, a target how its guests come to a flash with a file system on it:
which modules they load, how the partition is called, what they count. So a plan is made by both:
the workload puts the steps of its own between those of the target's rig. A rig has no state; what
it returns are lines of a plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ffslab.model.case import Case

Named = Callable[[str], str]  # the phase as which a part is measured: attach, volume, mount, …
CUTTER = "/ffscrash"  # the program of a guest that loses power (guest/cutter)


@dataclass(frozen=True, slots=True)
class Layer:
    """One mount of a stack, as of mount(8); without a type, a directory that has to be there.

    Of the options `ro` and `sync` come first.
    """

    type: str
    source: str
    target: str
    options: tuple[str, ...] = ()


class Cutting(Protocol):
    """The steps of a target that can cut power in the middle of a flash operation."""

    @property
    def chip(self) -> str:
        """What the cutter calls the chip."""
        ...

    @property
    def partition(self) -> str:
        """The MTD partition under test."""
        ...

    @property
    def log(self) -> str:
        """The file that has the chip's log."""
        ...

    @property
    def host(self) -> str:
        """Where `host_files` mounts the guest's directory on the host."""
        ...

    def devices(self, case: Case, paired_distance_pages: int) -> list[str]:
        """Loads the chip that logs what it changes, and the modules of the file system."""
        ...

    def host_files(self) -> list[str]:
        """Mounts the directory of the guest on the host, to be written."""
        ...

    def attach(self, case: Case) -> list[str]:
        """Attaches UBI."""
        ...

    def detach(self, case: Case) -> list[str]:
        """Detaches UBI."""
        ...

    def mount_new(self, case: Case, lower: str, lower_bytes: int) -> list[str]:
        """Mounts a new file system; an overlay with the guest's file `lower` below, if it has some
        bytes.
        """
        ...

    def unmount(self, case: Case) -> list[str]:
        """Unmounts it, so that what `layers` names can be mounted again."""
        ...

    def layers(self, case: Case) -> tuple[Layer, ...]:
        """What is mounted once UBI is attached, the lowest first."""
        ...


class Rig(Protocol):
    """The steps of one target around those of a workload."""

    @property
    def directory(self) -> str:
        """Where the file system under test is mounted."""
        ...

    @property
    def cutting(self) -> Cutting | None:
        """The steps of guests that lose power; None where power cannot be cut."""
        ...

    def begin(self, case: Case, *, trace: bool) -> list[str]:
        """Brings the flash into being, and begins to count."""
        ...

    def erase(self, **keys: object) -> list[str]:
        """Erases the partition under test; keys as those of the agent's step."""
        ...

    def write_device(self, **keys: object) -> list[str]:
        """Writes every block of the erased partition, without a file system."""
        ...

    def read_device(self, **keys: object) -> list[str]:
        """Reads every block of the partition, without a file system."""
        ...

    def probe_device(self, **keys: object) -> list[str]:
        """Single operations of the partition; keys as those of the agent's step `probe-flash`."""
        ...

    def write_image(self, case: Case, *, phase: str) -> list[str]:
        """Writes the guest's image to the erased partition, as a flasher does."""
        ...

    def mount(self, case: Case, *, new: bool = False, named: Named | None = None) -> list[str]:
        """Mounts the file system, a `new` one on an erased partition; `named`: as phases."""
        ...

    def staying(self) -> Rig:
        """The same for a guest that mounts a second time: no module comes or goes between."""
        ...

    def unmount(self, case: Case, *, named: Named | None = None) -> list[str]:
        """Unmounts it, until its background work has ended."""
        ...

    def settle(self, **keys: object) -> list[str]:
        """Waits until nothing is asked of the flash; keys as those of the agent's step."""
        ...

    def snapshot(self, label: str) -> list[str]:
        """Notes the counters of every block; nothing where nobody counts."""
        ...

    def host_programs(self) -> list[str]:
        """Makes the programs of the host visible in the guest."""
        ...

    def kept_files(self, case: Case) -> list[str]:
        """Notes what the file system says of itself, while it is mounted."""
        ...

    def statistics(self) -> list[str]:
        """Notes what was counted beside the phases, at the end of a case's own guest."""
        ...
