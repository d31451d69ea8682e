"""How much a guest may print and record before it is ended.

A program of a guest's can write as fast as the host's memory takes it. So whoever waits for a guest
looks at its files meanwhile; one that is too long ends the guest, and is cut at its bound: what is
read afterwards is never longer.

Limit: between two looks a file grows beyond its bound, by some MiB. The kernel's messages of a
board come behind its console, whatever their length.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.limits import mib_setting
from ffslab.model.units import format_size
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME

PRINTED, RECORDS = "FFSLAB_PRINTED_MIB", "FFSLAB_RECORDS_MIB"
_PRINTED_MIB, _RECORDS_MIB = 16, 256
_LOOK_AT_FILES_S = 0.05


@dataclass(frozen=True, slots=True)
class Bound:
    """The length of a file, whose excess is `told`; `variable` sets it."""

    name: str
    most_bytes: int
    told: str
    variable: str

    def exceeded(self, directory: Path) -> bool:
        """Whether the file in that directory is longer."""
        path = directory / self.name
        try:
            return path.stat().st_size > self.most_bytes
        except OSError:  # the guest has not begun
            return False

    def cut(self, directory: Path) -> None:
        """Shortens the file if it is longer; nothing writes there any more."""
        if self.exceeded(directory):
            os.truncate(directory / self.name, self.most_bytes)

    @property
    def reason(self) -> str:
        """What is told of a guest that exceeded it."""
        size = format_size(self.most_bytes)
        return f"{self.told} more than {size} ({self.variable} sets how many MiB it may)"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Those of all files that a guest makes longer."""

    output: Bound
    console: Bound
    records: Bound

    @property
    def _files(self) -> tuple[Bound, ...]:
        return self.output, self.console, self.records

    def exceeded(self, directory: Path) -> str:
        """Why the guest whose files are in `directory` is to end, or empty."""
        return next((one.reason for one in self._files if one.exceeded(directory)), "")

    def cut(self, directory: Path) -> None:
        """Shortens what is too long; nothing writes there any more."""
        for bound in self._files:
            bound.cut(directory)


def bounds(environment: Mapping[str, str] | None = None) -> Bounds:
    """Those that the user set; UsageError if a variable is no number."""
    printed = mib_setting(PRINTED, _PRINTED_MIB, environment)
    records = mib_setting(RECORDS, _RECORDS_MIB, environment)
    return Bounds(
        output=Bound(OUTPUT_NAME, printed, "its programs printed", PRINTED),
        console=Bound(CONSOLE_NAME, printed, "its console has", PRINTED),
        records=Bound(RECORDS_NAME, records, "its records have", RECORDS),
    )


def waited(
    wait_at_most: Callable[[float], bool], exceeded: Callable[[], str], ends_s: float
) -> tuple[bool, str]:
    """Waits for a guest's end and looks at its files meanwhile.

    Whether it has ended, and why it is to end, or empty; neither if the monotonic clock came to
    `ends_s`. `wait_at_most` waits so many seconds, and says whether the guest has ended.
    """
    ended, too_much = wait_at_most(0), exceeded()
    while not ended and not too_much and time.monotonic() < ends_s:
        ended = wait_at_most(_LOOK_AT_FILES_S)
        too_much = exceeded()
    return ended, too_much
