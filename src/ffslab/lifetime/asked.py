"""What `ffslab lifetime` was asked of a run last. It stands beside the results, so that the run's
report answers it too, whenever it is made.
"""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from ffslab.model.canonical import canonical_json
from ffslab.results.files import read_json_as, write_atomic

ASKED = "lifetime.json"


class Asked(TypedDict):
    """`daily_bytes`: written a day, for years; `endurance`: of the blocks. None: not asked."""

    daily_bytes: int | None
    endurance: int | None


NOTHING: Asked = {"daily_bytes": None, "endurance": None}


def keep_asked(run: Path, asked: Asked) -> None:
    """Keeps it; InfrastructureError if nothing can be written there."""
    write_atomic(run / ASKED, canonical_json(asked) + "\n")


def asked_of(run: Path) -> Asked:
    """What was asked; DamagedResultError for a file that ffslab did not write."""
    path = run / ASKED
    return read_json_as(path, Asked) if path.is_file() else NOTHING
