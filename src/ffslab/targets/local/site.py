"""Boards that ffslab runs on: a target has what all boards have, and no way to go."""

from __future__ import annotations

import os
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.lab.cross import ensure_agent
from ffslab.lab.progress import ConsoleProgress
from ffslab.targets.boards.kind import Boards
from ffslab.targets.local.here import connected
from ffslab.targets.local.place import LocalPlace, read_place
from ffslab.targets.target import SiteOptions

__all__ = ["KIND", "kind_for", "site_for"]


def _agent(place: LocalPlace) -> Path:
    """The one that the file names, or one that is compiled here."""
    return place.agent or ensure_agent(place.architecture, place.cross_compile, ConsoleProgress())


def _check(options: SiteOptions) -> None:
    if options.labgrid:
        raise UsageError(
            "target local cannot have its power switched",
            cause="ffslab runs on the board that it would switch off",
            remedy="leave --labgrid out, or run it elsewhere with --target ssh",
        )
    if os.geteuid():
        raise UsageError(
            "target local needs the rights of root",
            cause="it erases flash, loads modules and mounts",
            remedy="the same command as root",
        )


_BOARDS = Boards(
    *("local", "This computer, in the time of its clock", read_place, connected, _agent, _check)
)
KIND = _BOARDS.kind
kind_for = _BOARDS.kind_for
site_for = _BOARDS.site_for
