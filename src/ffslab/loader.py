"""Reads the TOML files of the catalog and of studies.

The model gives them their meaning; here is only the disk, and what can go wrong
with it: a missing file, bad TOML (reported with its line), a name that differs
from the file's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ffslab.errors import SpecError, UsageError
from ffslab.model.catalog import (
    Catalog,
    board_from_document,
    chip_from_document,
    filesystem_from_document,
    state_from_document,
)
from ffslab.model.names import suggestion
from ffslab.model.specs import Filesystem
from ffslab.paths import data_dir
from ffslab.program import program
from ffslab.workloads.registry import workloads

T = TypeVar("T")
_KINDS = ("chips", "boards", "filesystems", "states")


@dataclass(frozen=True, slots=True)
class StudySource:
    """A study before it is understood: where it came from, its text, its document."""

    path: Path
    text: str
    document: Mapping[str, Any]


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The TOML document; SpecError with line and column if it is malformed."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"{where}: not valid TOML: {error}",
            cause="a missing quote, bracket or equals sign near that place",
            remedy=f"edit {where}",
        ) from error


def read_text(path: Path) -> str:
    """A UTF-8 text file, or SpecError. A byte order mark, as editors of Windows put one, is none
    of it.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text: {error}") from error
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error


def load_catalog(own: Sequence[Path] = ()) -> Catalog:
    """The catalog shipped with ffslab; files of the directories `own` are added and override it.

    A later directory overrides an earlier one. UsageError for one that is no catalog.
    """
    for directory in own:
        if not any((directory / kind).is_dir() for kind in _KINDS):
            raise UsageError(
                f"{directory} is not a catalog: it has no {', '.join(f'{k}/' for k in _KINDS)}",
                cause="a mistyped path, or files beside these directories instead of in them",
                remedy=f"for example: mkdir -p {directory}/chips",
            )
    return _catalog_of((data_dir("catalog"), *own)) if own else _shipped(data_dir("catalog"))


@lru_cache(maxsize=1)
def _shipped(root: Path) -> Catalog:
    """The catalog that nobody edits while ffslab runs: it is read once."""
    return _catalog_of((root,))


def _catalog_of(roots: Sequence[Path]) -> Catalog:
    chips = _load_all(roots, "chips", chip_from_document)
    return Catalog(
        chips=chips,
        boards=_load_all(
            roots, "boards", lambda document, where: board_from_document(document, chips, where)
        ),
        filesystems=_load_all(roots, "filesystems", _filesystem),
        states=_load_all(roots, "states", state_from_document),
        workloads=workloads(),
    )


def _filesystem(document: Mapping[str, Any], where: str) -> Filesystem:
    """A file system; the sources of its modules are found from the file that names them."""
    filesystem = filesystem_from_document(document, where)
    source = filesystem.module_source
    if source is None:
        return filesystem
    try:
        stated = Path(source.directory).expanduser()
    except RuntimeError as error:
        raise SpecError(f"{where}: module_source.directory: {error}") from error
    directory = (Path(where).parent / stated).resolve()
    return replace(filesystem, module_source=replace(source, directory=str(directory)))


def _load_all(
    roots: Sequence[Path], kind: str, build: Callable[[Mapping[str, Any], str], T]
) -> dict[str, T]:
    paths: dict[str, Path] = {}
    for root in roots:
        paths.update({path.stem: path for path in sorted((root / kind).glob("*.toml"))})
    items: dict[str, T] = {}
    for path in paths.values():
        item = build(parse_toml(read_text(path), str(path)), str(path))
        name = str(getattr(item, "name", ""))
        if name != path.stem:
            raise SpecError(f"{path}: its name is {name!r}, but the file is called {path.stem!r}")
        items[name] = item
    return items


def study_names() -> dict[str, Path]:
    """The studies shipped with ffslab, by name."""
    return {path.stem: path for path in sorted(data_dir("studies").glob("*.toml"))}


def find_study(name_or_path: str) -> StudySource:
    """A study by its shipped name, or a path to a TOML file; UsageError if neither."""
    path = Path(name_or_path)
    if not path.is_file():
        shipped = study_names()
        if name_or_path not in shipped:
            raise UsageError(
                f"no study {name_or_path!r}{suggestion(name_or_path, shipped)}",
                cause="it is neither a shipped study nor a file",
                remedy=f"{program()} list studies",
            )
        path = shipped[name_or_path]
    text = read_text(path)
    return StudySource(path, text, parse_toml(text, str(path)))
