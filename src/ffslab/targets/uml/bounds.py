"""How much a guest may print and record before it is ended.

A program of a guest's can write as fast as the host's memory takes it. So whoever waits for a guest
looks at its files meanwhile; one that is too long ends the guest, and is cut at its bound: what is
read afterwards is never longer.

Limit: between two looks a file grows beyond its bound, by some MiB.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.limits import mib_setting
from ffslab.model.units import format_size
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME

PRINTED, RECORDS = "FFSLAB_PRINTED_MIB", "FFSLAB_RECORDS_MIB"
_PRINTED_MIB, _RECORDS_MIB = 16, 256


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

    @property
    def reason(self) -> str:
        """What is told of a guest that exceeded it."""
        size = format_size(self.most_bytes)
        return f"{self.told} more than {size} ({self.variable} sets how many MiB it may)"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Those of all files that a guest makes longer."""

    files: tuple[Bound, ...]

    def exceeded(self, directory: Path) -> str:
        """Why the guest that runs in `directory` is to end, or empty."""
        return next((one.reason for one in self.files if one.exceeded(directory)), "")

    def cut(self, directory: Path) -> None:
        """Shortens what is too long; nothing writes there any more."""
        for bound in self.files:
            if bound.exceeded(directory):
                os.truncate(directory / bound.name, bound.most_bytes)


def bounds(environment: Mapping[str, str] | None = None) -> Bounds:
    """Those that the user set; UsageError if a variable is no number."""
    printed = mib_setting(PRINTED, _PRINTED_MIB, environment)
    records = mib_setting(RECORDS, _RECORDS_MIB, environment)
    return Bounds(
        (
            Bound(OUTPUT_NAME, printed, "its programs printed", PRINTED),
            Bound(CONSOLE_NAME, printed, "its console has", PRINTED),
            Bound(RECORDS_NAME, records, "its records have", RECORDS),
        )
    )
