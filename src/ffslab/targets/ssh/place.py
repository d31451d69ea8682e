"""The file of a board that is reached by ssh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from ffslab.errors import SpecError
from ffslab.lab.cross import AGENT_ARCHITECTURES
from ffslab.targets.boards.place import WORD, Place, PlaceFile, arguments, beside, read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class SshPlace(Place):
    """One board, and how its ssh server is reached."""

    host: str
    user: str
    port: int
    identity: Path | None
    ssh_options: tuple[str, ...]


class _SshFile(PlaceFile):
    host: str = Field(pattern=WORD)
    user: str = Field(default="root", pattern=WORD)
    port: int = Field(default=22, ge=1, le=65535)
    identity: str = ""
    ssh_options: list[str] = Field(default=[])
    labgrid: str = ""
    restart_s: int = Field(default=90, ge=1, le=3600)


def read_place(path: Path) -> SshPlace:
    """The board that a file describes; SpecError for whatever is wrong in it."""
    stated = read_file(_SshFile, path)
    path = path.resolve()
    if not stated.architecture and not stated.cross_compile:
        raise SpecError(
            f"{path}: it does not say for which processor to build the agent",
            remedy=f'architecture = "{AGENT_ARCHITECTURES[0]}" (or another), or cross_compile',
        )
    return SshPlace(
        **arguments(stated, path),
        host=stated.host,
        user=stated.user,
        port=stated.port,
        identity=beside(stated.identity, path),
        ssh_options=tuple(stated.ssh_options),
        labgrid=stated.labgrid,
        restart_s=stated.restart_s,
    )
