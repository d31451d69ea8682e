"""Boards as a target: from a user's file to a board that can run cases."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from ffslab.errors import UsageError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.case import Case
from ffslab.model.units import format_size
from ffslab.targets.boards.board import partition_fault
from ffslab.targets.boards.guests import BoardTarget, wrong_partition
from ffslab.targets.boards.place import MONITOR, Place
from ffslab.targets.boards.rig import BoardFlash
from ffslab.targets.boards.shell import Shell
from ffslab.targets.target import Capabilities, Opened, Opening, SiteOptions, TargetKind

P = TypeVar("P", bound=Place)

_CAPABILITIES = Capabilities(
    virtual_time=False,
    flash_snapshot=False,
    images=False,
    fault_injection=False,
    trace=False,
    flash_in_place=True,
    most_at_once=1,
)


_ABSENT = (
    ("how long the chip itself was busy", "only the virtual chip counts that"),
    (
        "the processor's time apart from the flash's",
        "a board has one clock, which tells both alike",
    ),
)
_UNCOUNTED = (
    "pages read and programmed, blocks erased, and wear",
    f"there is no {MONITOR}.ko for the board's kernel among its modules; what UBI counted of "
    "erases is kept (erase_counters), and what MTD counted of corrected bits and bad blocks "
    "(mtd_statistics)",
)
_NO_ECC = (
    "how strong the flash's ECC is, and how many wrong bits in a page are too many",
    "the board's kernel does not tell (ecc_strength in /sys/class/mtd)",
)


def _history(case: Case) -> dict[str, object]:
    """What beside the plan tells guests apart: their file system's own module."""
    source = case.filesystem.module_source
    return {"module_source": source.key if source else ""}


_LIMIT_S = 3600.0  # a board is as slow as it is


@dataclass(frozen=True, slots=True)
class Boards(Generic[P]):
    """The boards of a target: how one is described and reached, and who builds its agent.

    `check` raises UsageError for options that these boards do not have.
    """

    name: str
    title: str
    read: Callable[[Path], P]
    connected: Callable[[P], AbstractContextManager[Shell]]
    agent: Callable[[P], Path]
    check: Callable[[SiteOptions], None] = lambda _: None

    @property
    def kind(self) -> TargetKind:
        """That of a board that nobody has described: its cases can be listed."""
        return TargetKind(
            *(self.name, self.title, _CAPABILITIES, BoardFlash(), _history), limit_s=_LIMIT_S
        )

    def kind_for(self, place: Path) -> TargetKind:
        """The kind of the board that the file `place` describes."""
        return self._kind(self.read(place))

    def _kind(self, place: P) -> TargetKind:
        rig = BoardFlash(
            directory=place.mount_point,
            partition=place.partition,
            ubi=place.ubi,
            monitored=place.monitor is not None,
        )

        def history(case: Case) -> dict[str, object]:
            return {**_history(case), "place": place.key}

        return TargetKind(
            name=self.name,
            title=f"{self.title}: {place.name}",
            capabilities=_CAPABILITIES,
            rig=rig,
            history=history,
            cpu_time=f"that of the board {place.name}; all times are of its clock",
            absent=_ABSENT if place.monitor is not None else (*_ABSENT, _UNCOUNTED),
            limit_s=_LIMIT_S,
            board=place.board,
            partition_bytes=place.partition_bytes,
        )

    def site_for(self, cases: Sequence[Case], options: SiteOptions) -> BoardSite:
        """The board of a place, once it was asked whether its partition may be destroyed."""
        if options.place is None:
            raise UsageError(
                f"target {self.name} needs a file that describes the board",
                cause="--access was not given",
                remedy="--access FILE; docs/boards.md has an example",
            )
        self.check(options)
        place = self.read(options.place)
        place = replace(place, labgrid=options.labgrid or place.labgrid)
        agent = self.agent(place)
        wanted = dict.fromkeys(name for case in cases for name in case.filesystem.modules)
        modules = tuple(name for name in (MONITOR, *wanted) if place.module(name) is not None)
        kind = self._kind(place)
        with self.connected(place) as shell:
            target = BoardTarget(kind, place, shell, agent, modules)
            facts = target.made_ready().facts
            where = shell.where
        fault = partition_fault(facts, place)
        if fault:
            raise wrong_partition(place, fault)
        options.confirm(
            f"Everything in MTD partition {place.partition!r} "
            f"({format_size(place.partition_bytes)}) of {place.name} "
            f"({where}, {facts.uname}) will be destroyed."
        )
        device = facts.device(place.partition)
        if place.monitor is None and device is not None and not device.tells_ecc:
            kind = replace(kind, absent=(*kind.absent, _NO_ECC))
        files = [agent, *(path for name in modules if (path := place.module(name)))]
        told = [
            place.key,
            facts.uname,
            *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files),
        ]
        build_id = sha256_hex(canonical_json(told))[:16]
        reached = partial(self.connected, place)
        return BoardSite(kind, place, reached, agent, modules, build_id)


@dataclass(frozen=True, slots=True)
class BoardSite:
    """A board, an agent for it, and the modules that its cases load."""

    kind: TargetKind
    place: Place
    connected: Callable[[], AbstractContextManager[Shell]]
    agent: Path
    modules: tuple[str, ...]
    build_id: str
    clock_ns: Callable[[], int] = time.monotonic_ns

    @property
    def variant_ids(self) -> Mapping[str, str]:
        """A board has one kernel."""
        return {}

    @property
    def linux_of(self) -> Mapping[str, str]:
        """Its owner built it."""
        return {}

    def lab_of_images(self) -> LabBuild:
        """Not asked for: no image is written to a board."""
        raise AssertionError(f"target {self.kind.name} says that it takes no image")

    @contextmanager
    def open(self, opening: Opening) -> Iterator[Opened]:
        """The board, with agent and modules on it."""
        with self.connected() as shell:
            target = BoardTarget(
                *(self.kind, self.place, shell, self.agent, self.modules),
                *(self.clock_ns, opening.tell),
            )
            target.made_ready()
            yield Opened(target, 1)
