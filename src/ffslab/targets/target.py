"""What every target offers: run one guest, and say how it ended; and what it can do.

The judgement (pass, crash, …) is not made here but in `ffslab.results.outcome`, from the files that
the guest left behind.

A *kind* of target is known before anything runs: how its guests get a flash with a file system,
what beside the plan determines what happens in them, and what can be asked of them. A *site* is a
kind with all that it needs: a built lab, or a board. A site that is opened is a *target*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.workloads.rig import Rig

CONSOLE_NAME = "console.log"
OUTPUT_NAME = "output.log"  # of programs; absent where they print on the console
RECORDS_NAME = "records.jsonl"
TRACE_NAME = "trace.bin"
FLASH_NAME = "flash.img"
IMAGE_NAME = "image.bin"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target can do; a case that needs what it cannot is skipped with the reason.

    `most_at_once`: guests that may run at the same time; None: as many as the host has room for.
    """

    virtual_time: bool  # equal cases have equal results; else time is a real clock's
    flash_snapshot: bool  # a guest can begin with the flash that another one left
    images: bool  # a guest can be given an image to write to its flash
    fault_injection: bool  # the chip can have factory bad blocks, failures and bit errors
    trace: bool  # each flash operation can be recorded
    power_cut: bool = False  # a guest can be ended in the middle of a flash operation
    # Without snapshots: the guests of a case follow each other on the one flash that there is.
    flash_in_place: bool = False
    most_at_once: int | None = None


@dataclass(frozen=True, slots=True)
class TargetKind:
    """What is known of a target before there is one.

    `history`: what beside plan and image determines what happens in a case's guest, as plain JSON
    values; equal for two cases only if nothing but these tells their guests apart. `cpu_time` says
    where the time of code is from; empty: from the board's prices. `absent`: what results there
    lack, and why. `limit_s` is the wall time that a case may take if nothing else was said.
    """

    name: str
    title: str
    capabilities: Capabilities
    rig: Rig
    history: Callable[[Case], Mapping[str, Any]]
    cpu_time: str = ""
    absent: tuple[tuple[str, str], ...] = ()
    limit_s: float = 300.0
    # Of a place: what of the catalog the user says that it is, and how much of it may be destroyed.
    board: str = ""
    partition_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GuestJob:
    """One guest to run. Its files end up in `case_dir`, which exists."""

    case: Case
    plan: str
    case_dir: Path
    timeout_s: float
    keep_flash: bool = False
    host_cpu: int | None = None  # pin the guest there; None: the host decides
    flash: Path | None = None  # the chip begins with a copy of this file; None: erased
    image: Path | None = None  # the guest finds it in its directory, as `IMAGE_NAME`
    files: tuple[GuestFile, ...] = ()  # of its root, beside those of the workload; executable
    written: tuple[str, ...] = ()  # files in its directory that it writes, and that are wanted
    begun: Callable[[Path], None] = lambda _: None  # is told where it runs, and writes these
    cuts_power: bool = False  # it has the cutter, and its flash the chip that logs
    follows: bool = False  # it begins with the flash, in place, as the job before left it


@dataclass(frozen=True, slots=True)
class GuestRun:
    """How a guest ended. `exit_status` is negative for a signal, as in subprocess.

    `failure`: what went wrong with what it ran on, if that is the case's failure, in words.
    """

    exit_status: int
    timed_out: bool
    killed: bool
    wall_ns: int
    command: str
    flash_sha256: str | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ToolGuest:
    """A guest that runs programs of this computer for ffslab itself: no case's, and not measured.

    `who` is what messages call it. `begun` writes into its directory what it reads there.
    `touched_ram_bytes`: what of its RAM it may use.
    """

    who: str
    plan: str
    files: tuple[GuestFile, ...]
    begun: Callable[[Path], None]
    ram_bytes: int
    touched_ram_bytes: int
    scratch_bytes: int
    limit_s: float


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """How such a guest ended; `killed`: because ffslab is to stop, or it has not even started."""

    timed_out: bool = False
    killed: bool = False
    too_much: str = ""


class Target(Protocol):
    """A place where guests run; used by several threads at once."""

    @property
    def kind(self) -> TargetKind:
        """What it can do, and how its guests are prepared."""
        ...

    def missing(self, case: Case) -> str:
        """Why this target cannot run `case` (a skip's reason), or an empty string."""
        ...

    def run(self, job: GuestJob) -> GuestRun:
        """Runs a guest to its end; raises InfrastructureError only for the host's faults.

        GuestLostError if the host ended the guest: then there is no result. OSError only if the
        job's `case_dir` does not take its files: the caller knows what that is.
        """
        ...

    def start_no_more(self) -> None:
        """No guest starts from here on; `run` of one that has not returns with `killed`."""
        ...

    def kill_all(self) -> None:
        """Ends every running guest at once; their `run` returns with `killed`."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """What a run asks of a site: guests of these cases, `jobs` at once, beside its directory."""

    cases: Sequence[Case]
    jobs: int
    run_dir: Path
    tell: Callable[[str], None] = lambda _: None  # what a user is to know, while guests run too


@dataclass(frozen=True, slots=True)
class Opened:
    """A target, and how many guests may run at once: not more than was asked for."""

    target: Target
    jobs: int


class Site(Protocol):
    """A kind of target with all that its guests are made of."""

    @property
    def kind(self) -> TargetKind:
        """What kind of target it is."""
        ...

    @property
    def build_id(self) -> str:
        """Names what its guests are made of: equal builds give equal results."""
        ...

    @property
    def variant_ids(self) -> Mapping[str, str]:
        """The build ids of other kernels than the default one, by variant."""
        ...

    @property
    def linux_of(self) -> Mapping[str, str]:
        """What the kernels of its guests were built of, by variant, where that is known."""
        ...

    def lab_of_images(self) -> LabBuild:
        """The lab in whose guests images are built; asked for if a case needs one."""
        ...

    def open(self, opening: Opening) -> AbstractContextManager[Opened]:
        """The target, with room for its guests; InfrastructureError if there is none for one."""
        ...


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What the command line says of where guests run.

    `place` is a file that describes a board. `confirm` is told what will be destroyed there, and
    raises UsageError unless that is allowed.
    """

    scratch: Path | None = None
    kernel_source: Path | None = None  # what the lab is built from; None: the environment decides
    place: Path | None = None
    labgrid: str = ""  # what switches its power, instead of what the file says
    confirm: Callable[[str], None] = lambda _: None
    profile: bool = False  # tell where time goes by function: each guest runs twice
    further: Mapping[str, str] = field(default_factory=dict)
