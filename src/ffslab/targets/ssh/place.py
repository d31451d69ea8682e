"""A board as its user describes it: how it is reached, and what may be destroyed there.

The file is the user's, for a board stands on somebody's desk; docs/boards.md has its keys. Nothing
in it is guessed: a partition that is not named with its size is never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from ffslab.documents import document
from ffslab.errors import SpecError, UsageError
from ffslab.lab.cross import AGENT_ARCHITECTURES
from ffslab.loader import parse_toml, read_text
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.files import Name, validated
from ffslab.model.strict import Size, Strict
from ffslab.model.units import parse_size

MONITOR = "flashmon"
_MOST_UBI_DEVICES = 32  # UBI_MAX_DEVICES of the kernel
# No blank and no quote, for it goes into a shell command there; and it is no option of ssh.
_WORD = r"^[A-Za-z0-9_.:@%+][A-Za-z0-9_.:@%+-]*$"
_PATH = r"^/[A-Za-z0-9_./+-]+$"


@dataclass(frozen=True, slots=True)
class Place:
    """One board; `path` is its file. Relative paths of the file are relative to it.

    `modules` is a directory of kernel modules for the board's kernel, None if it has all. `ubi` is
    the number of the UBI device that cases attach. `labgrid` names the place that its power is
    switched by; empty: nobody switches it. `restart_s`: how long it may take to come back.
    """

    path: Path
    name: str
    board: str
    host: str
    user: str
    port: int
    identity: Path | None
    ssh_options: tuple[str, ...]
    directory: str
    architecture: str
    cross_compile: str
    modules: Path | None
    partition: str
    partition_bytes: int
    ubi: int
    labgrid: str = ""
    restart_s: float = 90.0

    @property
    def mount_point(self) -> str:
        """Where file systems under test are mounted there."""
        return f"{self.directory}/mnt"

    @property
    def monitor(self) -> Path | None:
        """The flash monitor for the board's kernel, if there is one."""
        return self.module(MONITOR)

    def module(self, name: str) -> Path | None:
        """A module of the directory of modules."""
        path = self.modules / f"{name}.ko" if self.modules else None
        return path if path and path.is_file() else None

    @property
    def key(self) -> str:
        """A hash of what results can depend on; how the board is reached is not in it."""
        told = (self.name, self.board, self.partition, self.partition_bytes, self.ubi)
        return sha256_hex(canonical_json([*told, self.directory, self.architecture]))


class _PartitionFile(Strict):
    """The MTD partition that cases erase."""

    name: str = Field(pattern=_WORD)
    size: Size


class _PlaceFile(Strict):
    schema_version: Literal[1] = Field(alias="schema")
    name: Name
    board: Name
    host: str = Field(pattern=_WORD)
    user: str = Field(default="root", pattern=_WORD)
    port: int = Field(default=22, ge=1, le=65535)
    identity: str = ""
    ssh_options: list[str] = Field(default=[])
    directory: str = Field(default="/tmp/ffslab", pattern=_PATH)
    architecture: str = ""
    cross_compile: str = ""
    modules: str = ""
    ubi: int = Field(default=0, ge=0, lt=_MOST_UBI_DEVICES)
    labgrid: str = ""
    restart_s: int = Field(default=90, ge=1, le=3600)
    partition: _PartitionFile


def read_place(path: Path) -> Place:
    """The board that a file describes; SpecError for whatever is wrong in it."""
    if not path.is_file():
        raise UsageError(
            f"no file {path} that describes a board",
            cause="a mistyped path, or none was written yet",
            remedy=f"see {document('docs/boards.md')} for an example",
        )
    where = str(path)
    try:
        stated = validated(_PlaceFile, parse_toml(read_text(path), where), where)
    except SpecError as error:
        remedy = f"see {document('docs/boards.md')}, which has every key"
        raise SpecError(error.message, cause=error.cause, remedy=remedy) from error
    return _place(stated, path.resolve())


def _place(stated: _PlaceFile, path: Path) -> Place:
    if stated.architecture and stated.architecture not in AGENT_ARCHITECTURES:
        raise SpecError(
            f"{path}: architecture {stated.architecture!r} is not one that the agent can be "
            "built for",
            cause=f"it is one of: {', '.join(AGENT_ARCHITECTURES)}",
            remedy='the nearest of these, or cross_compile = "PREFIX-" of your own compiler',
        )
    if not stated.architecture and not stated.cross_compile:
        raise SpecError(
            f"{path}: it does not say for which processor to build the agent",
            remedy=f'architecture = "{AGENT_ARCHITECTURES[0]}" (or another), or cross_compile',
        )
    try:
        size = parse_size(stated.partition.size)
    except ValueError as error:
        raise SpecError(f"{path}: partition.size: {error}") from error
    modules = _path(stated.modules, path)
    if modules is not None and not modules.is_dir():
        raise SpecError(f"{path}: modules: {modules} is not a directory")
    return Place(
        path=path,
        name=stated.name,
        board=stated.board,
        host=stated.host,
        user=stated.user,
        port=stated.port,
        identity=_path(stated.identity, path),
        ssh_options=tuple(stated.ssh_options),
        directory=stated.directory.rstrip("/"),
        architecture=stated.architecture,
        cross_compile=stated.cross_compile,
        modules=modules,
        partition=stated.partition.name,
        partition_bytes=size,
        ubi=stated.ubi,
        labgrid=stated.labgrid,
        restart_s=stated.restart_s,
    )


def _path(stated: str, beside: Path) -> Path | None:
    return beside.parent / Path(stated).expanduser() if stated else None
