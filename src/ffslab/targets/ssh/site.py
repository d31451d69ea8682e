"""Boards by ssh: a target has what all boards have, and this way to reach one."""

from __future__ import annotations

from pathlib import Path

from ffslab.lab.cache import cache_root
from ffslab.lab.cross import ensure_agent
from ffslab.lab.packages import ensure_packages
from ffslab.lab.progress import ConsoleProgress
from ffslab.targets.boards.kind import Boards
from ffslab.targets.ssh.connection import connected
from ffslab.targets.ssh.packages import PACKAGES
from ffslab.targets.ssh.place import SshPlace, read_place
from ffslab.targets.target import SiteOptions

__all__ = ["KIND", "kind_for", "site_for"]


def _agent(place: SshPlace) -> Path:
    """Built here for the board's processor."""
    return ensure_agent(place.architecture, place.cross_compile, ConsoleProgress())


def _check(_options: SiteOptions) -> None:
    ensure_packages(PACKAGES, cache_root() / "packages.log", ConsoleProgress())


_BOARDS = Boards(
    *("ssh", "A board by ssh, in the time of its clock", read_place, connected, _agent, _check)
)
KIND = _BOARDS.kind
kind_for = _BOARDS.kind_for
site_for = _BOARDS.site_for
