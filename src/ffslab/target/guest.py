"""What every target offers: run one case, and say how the guest ended.

The judgement (pass, crash, …) is not made here but in `ffslab.results.outcome`,
from the files that the guest left behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ffslab.model.specs import Case


@dataclass(frozen=True, slots=True)
class GuestJob:
    """One case to run. The guest's files end up in `case_dir`, which exists."""

    case: Case
    plan: str
    case_dir: Path
    timeout_s: float
    keep_flash: bool = False
    host_cpu: int | None = None  # pin the guest there; None: the host decides
    flash: Path | None = None  # the chip begins with a copy of this file; None: erased
    image: Path | None = None  # the guest finds it in its directory, as `IMAGE_NAME`


@dataclass(frozen=True, slots=True)
class GuestRun:
    """How a guest ended. `exit_status` is negative for a signal, as in subprocess."""

    exit_status: int
    timed_out: bool
    killed: bool
    wall_ns: int
    command: str
    flash_sha256: str | None = None


CONSOLE_NAME = "console.log"
RECORDS_NAME = "records.jsonl"
TRACE_NAME = "trace.bin"
FLASH_NAME = "flash.img"
IMAGE_NAME = "image.bin"


class Target(Protocol):
    """A place where cases run; used by several threads at once."""

    def missing(self, case: Case) -> str:
        """Why this target cannot run `case` (a skip's reason), or an empty string."""
        ...

    def run(self, job: GuestJob) -> GuestRun:
        """Runs a case to its end; raises InfrastructureError only for the host's faults.

        GuestLostError if the host ended the guest: then there is no result.
        """
        ...

    def start_no_more(self) -> None:
        """No guest starts from here on; `run` of one that has not returns with `killed`."""
        ...

    def kill_all(self) -> None:
        """Ends every running guest at once; their `run` returns with `killed`."""
        ...
