"""Switching a board off and on, by labgrid: what exists there is labgrid's business, not ours.

labgrid's own client is asked (extra `boards`), so that everything that it can switch can be used,
and that its reservations hold: the place is to be acquired before.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.process import run_command

_CLIENT = "labgrid-client"
_SWITCH_S = 120.0


def cycle(place: str) -> None:
    """Cuts the power of a labgrid place and gives it back; `place` may be an environment file.

    InfrastructureError if labgrid is not installed, or refuses.
    """
    chosen = ["-c", place] if Path(place).suffix in (".yaml", ".yml") else ["-p", place]
    words = [_client(), *chosen, "power", "cycle"]
    result = run_command(words, check=False, timeout_s=_SWITCH_S, own_session=True)
    if result.returncode:
        said = result.output.strip().splitlines()
        raise InfrastructureError(
            f"labgrid did not switch the power of {place}: {said[-1] if said else 'no word'}",
            cause="the place is not acquired, or has no power that labgrid can switch",
            remedy=f"{_CLIENT} {' '.join(chosen)} acquire, and the same command again",
        )


def _client() -> str:
    """labgrid's client: in the path, or beside this Python."""
    beside = Path(sys.executable).parent
    found = shutil.which(_CLIENT) or shutil.which(_CLIENT, path=str(beside))
    if found is None:
        raise InfrastructureError(
            f"the program {_CLIENT} is missing",
            cause="ffslab was installed without its `boards` extra",
            remedy="pip install 'ffslab[boards]'",
        )
    return found
