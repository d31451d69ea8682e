"""A board as its user describes it: what it is, and what may be destroyed there.

The file is the user's, for a board stands on somebody's desk; docs/boards.md has its keys. Nothing
in it is guessed: a partition that is not named with its size is never written. A target adds how it
is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from ffslab.documents import document
from ffslab.errors import SpecError, UsageError
from ffslab.lab.cross import AGENT_ARCHITECTURES
from ffslab.loader import parse_toml, read_text
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.files import Name
from ffslab.model.strict import Size, Strict
from ffslab.model.units import parse_size
from ffslab.model.validation import validated

File = TypeVar("File", bound="PlaceFile")

MONITOR = "flashmon"
_MOST_UBI_DEVICES = 32  # UBI_MAX_DEVICES of the kernel
# No blank and no quote, for it goes into a shell command there; and it is no option of a program.
WORD = r"^[A-Za-z0-9_.:@%+][A-Za-z0-9_.:@%+-]*$"
PATH = r"^/[A-Za-z0-9_./+-]+$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One board; `path` is its file. Relative paths of the file are relative to it.

    `modules` is a directory of kernel modules for the board's kernel, None if it has all. `ubi` is
    the number of the UBI device that cases attach. `labgrid` names the place that its power is
    switched by; empty: nobody switches it. `restart_s`: how long it may take to come back.
    """

    path: Path
    name: str
    board: str
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

    name: str = Field(pattern=WORD)
    size: Size


class PlaceFile(Strict):
    """What every such file has; a relative path is relative to it."""

    schema_version: Literal[1] = Field(alias="schema")
    name: Name
    board: Name
    directory: str = Field(default="/tmp/ffslab", pattern=PATH)
    architecture: str = ""
    cross_compile: str = ""
    modules: str = ""
    ubi: int = Field(default=0, ge=0, lt=_MOST_UBI_DEVICES)
    partition: _PartitionFile


def read_file(kind: type[File], path: Path) -> File:
    """The file of a board; UsageError if there is none, SpecError for whatever is wrong in it."""
    if not path.is_file():
        raise UsageError(
            f"no file {path} that describes a board",
            cause="a mistyped path, or none was written yet",
            remedy=f"see {document('docs/boards.md')} for an example",
        )
    where = str(path)
    try:
        return validated(kind, parse_toml(read_text(path), where), where)
    except SpecError as error:
        remedy = f"see {document('docs/boards.md')}, which has every key"
        raise SpecError(error.message, cause=error.cause, remedy=remedy) from error


def arguments(stated: PlaceFile, path: Path) -> dict[str, Any]:
    """Those of a `Place`, from the file at `path`; SpecError for a value that cannot be."""
    if stated.architecture and stated.architecture not in AGENT_ARCHITECTURES:
        raise SpecError(
            f"{path}: the agent is not built for architecture {stated.architecture!r}",
            cause=f"it is one of: {', '.join(AGENT_ARCHITECTURES)}",
            remedy='the nearest of these, or cross_compile = "PREFIX-" of your own compiler',
        )
    try:
        size = parse_size(stated.partition.size)
    except ValueError as error:
        raise SpecError(f"{path}: partition.size: {error}") from error
    modules = beside(stated.modules, path)
    if modules is not None and not modules.is_dir():
        raise SpecError(f"{path}: modules: {modules} is no directory")
    return {
        "path": path,
        "name": stated.name,
        "board": stated.board,
        "directory": stated.directory.rstrip("/"),
        "architecture": stated.architecture,
        "cross_compile": stated.cross_compile,
        "modules": modules,
        "partition": stated.partition.name,
        "partition_bytes": size,
        "ubi": stated.ubi,
    }


def beside(stated: str, path: Path) -> Path | None:
    """A path that the file at `path` states; None if it states none."""
    return path.parent / Path(stated).expanduser() if stated else None
