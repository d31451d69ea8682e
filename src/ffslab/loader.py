"""Reads the TOML files of the catalog and of studies.

The model gives them their meaning; here is only the disk, and what can go wrong
with it: a missing file, bad TOML (reported with its line), a name that differs
from the file's.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from ffslab.errors import SpecError, UsageError
from ffslab.model.catalog import (
    Catalog,
    board_from_document,
    chip_from_document,
    filesystem_from_document,
    state_from_document,
)
from ffslab.model.known import Known, known_from_document
from ffslab.model.names import suggestion
from ffslab.model.specs import Board, Filesystem
from ffslab.model.where import Where
from ffslab.paths import CATALOG_KINDS, data_dir, has_user_catalog, user_catalog
from ffslab.program import program
from ffslab.reading import TOML_BYTES_MAX, UnreadableError, read_bounded, toml_value
from ffslab.workloads.registry import workloads

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StudySource:
    """A study before it is understood: where it came from, its text, its document.

    `is_made`: of a verb that makes one; a run of it writes it to its path, for whoever repeats a
    case.
    """

    path: Path
    text: str
    document: Mapping[str, Any]
    is_made: bool = False

    @property
    def where(self) -> Where:
        """Its file, whose lines messages tell."""
        return Where(str(self.path), self.text)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The TOML document; SpecError, with line and column if it is malformed."""
    try:
        return toml_value(text)
    except UnreadableError as error:
        raise SpecError(
            f"{where}: {error}",
            cause="a typing mistake, or a file that a program made",
            remedy=f"edit {where}",
        ) from error
    except ValueError as error:
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
        return read_bounded(path, TOML_BYTES_MAX).decode("utf-8-sig").replace("\r\n", "\n")
    except UnreadableError as error:
        raise SpecError(
            f"{path}: {error}", cause="it is the wrong file", remedy=f"ls -l {path}"
        ) from error
    except UnicodeDecodeError as error:
        raise SpecError(
            f"{path}: not UTF-8 text: byte {error.start + 1} is {error.object[error.start]:#04x}",
            cause="an editor has saved it in another encoding, or it is no text",
            remedy=f"iconv -f latin1 -t utf-8 {shlex.quote(str(path))}",
        ) from error
    except OSError as error:
        raise SpecError(
            f"{path}: cannot be read: {error.strerror}",
            cause="a mistyped path, or another directory",
            remedy=f"ls {shlex.quote(str(path.parent))}",
        ) from error


def load_catalog(own: Sequence[Path] = ()) -> Catalog:
    """The catalog shipped with ffslab, what the user keeps, and the directories `own`.

    What the user keeps (`ffslab.paths.user_catalog`) is found without being asked for, so it must
    not take the place of what is shipped; files of `own` may, and a later directory overrides an
    earlier one. UsageError for a directory that is no catalog, and for two files of one name.
    """
    for directory in own:
        if not any((directory / kind).is_dir() for kind in CATALOG_KINDS):
            kinds = ", ".join(f"{kind}/" for kind in CATALOG_KINDS)
            raise UsageError(
                f"{directory} is not a catalog: it has no {kinds}",
                cause="a mistyped path, or files beside these directories instead of in them",
                remedy=f"for example: mkdir -p {directory}/chips",
            )
    if own or has_user_catalog():
        return _catalog_of(data_dir("catalog"), own)
    return _shipped(data_dir("catalog"))


@lru_cache(maxsize=1)
def _shipped(root: Path) -> Catalog:
    """The catalog that nobody edits while ffslab runs: it is read once."""
    return _catalog_of(root, ())


def _catalog_of(root: Path, own: Sequence[Path]) -> Catalog:
    chips = _Shelf("chip", catalog_files(root, "chips", own), chip_from_document)
    chips.load()

    def board(document: Mapping[str, Any], where: str, base: Board | None) -> Board:
        broken = chips.broken.get(str(document.get("chip")))
        if broken is not None:
            raise broken
        return board_from_document(document, chips.items, where, base)

    boards = _Shelf("board", catalog_files(root, "boards", own), board)
    filesystems = _Shelf(
        "filesystem",
        catalog_files(root, "filesystems", own),
        lambda document, where, _base: _filesystem(document, where),
    )
    states = _Shelf(
        "state",
        catalog_files(root, "states", own),
        lambda document, where, _base: state_from_document(document, where),
    )
    shelves: tuple[_Shelf[Any], ...] = (chips, boards, filesystems, states)
    for shelf in shelves:
        shelf.load()
    broken = {(s.kind, name): error for s in shelves for name, error in s.broken.items()}
    return Catalog(
        chips=chips.items,
        boards=boards.items,
        filesystems=filesystems.items,
        states=states.items,
        workloads=workloads(),
        broken=broken,
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


def catalog_files(root: Path, kind: str, own: Sequence[Path] = ()) -> dict[str, Path]:
    """The files of one kind by name: shipped, the user's, those of `own`.

    UsageError if the user keeps one with the name of a shipped one.
    """
    shipped = _named(root / kind)
    users = _named(user_catalog() / kind)
    for name in users:
        if name in shipped:
            raise UsageError(
                f"two files of {kind} are called {name}: {users[name]} and {shipped[name]}",
                cause="a file of your own must not replace a shipped one unnoticed",
                remedy=f"give yours another name, inside the file too: mv {users[name]} "
                f"{users[name].with_stem(f'my-{name}')}",
            )
    files = shipped | users
    for directory in own:
        files |= _named(directory / kind)
    return files


def _named(directory: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(directory.glob("*.toml"))}


@dataclass(slots=True)
class _Shelf(Generic[T]):
    """All of one kind of the catalog, each built after the one that it extends.

    A file of the user's own catalog that has no meaning is put into `broken`: it is found without
    being asked for, so it must not be in the way of what does not need it.
    """

    kind: str
    files: Mapping[str, Path]
    build: Callable[[Mapping[str, Any], str, T | None], T]
    items: dict[str, T] = field(default_factory=dict)
    broken: dict[str, SpecError] = field(default_factory=dict)

    def load(self) -> None:
        for name, path in self.files.items():
            try:
                self._item(name, ())
            except SpecError as error:
                if not path.is_relative_to(user_catalog()):
                    raise
                self.broken[name] = error

    def _item(self, name: str, above: tuple[str, ...]) -> T:
        """The item called `name`; `above` are those that extend it, the first of them first."""
        if name in self.items:
            return self.items[name]
        path = self.files[name]
        if name in above:
            raise SpecError(
                f"{path}: {self.kind}s extend each other in a circle: "
                f"{' → '.join((*above[above.index(name) :], name))}",
                cause="each of them waits for the figures of the next",
                remedy="let one of them extend another, or state all its figures",
            )
        text = read_text(path)
        document = parse_toml(text, str(path))
        base = document.get("extends")
        where = Where(str(path), text)
        item = self.build(document, where, self._base(base, path, (*above, name)))
        if getattr(item, "name", "") != path.stem:
            raise SpecError(
                f"{path}: its name is {getattr(item, 'name', '')!r}, "
                f"but the file is called {path.stem!r}",
                cause="the file was copied or renamed",
                remedy=f'name = "{path.stem}" in {path}',
            )
        self.items[name] = item
        return item

    def _base(self, base: Any, path: Path, above: tuple[str, ...]) -> T | None:
        """What `extends` names; None for what only the check of the file's shape can refuse."""
        if not isinstance(base, str):
            return None
        if base not in self.files:
            raise SpecError(
                f"{path}: extends the unknown {self.kind} {base!r}{suggestion(base, self.files)}",
                cause="a misspelt name, or a catalog that is not given",
                remedy=f"{program()} list {self.kind}s",
            )
        return self._item(base, above)


def study_names() -> dict[str, Path]:
    """The studies shipped with ffslab and those of the user's own catalog, by name.

    UsageError if one of the user's has the name of a shipped one.
    """
    return catalog_files(data_dir("studies").parent, "studies")


def find_study(name_or_path: str) -> StudySource:
    """A study by its name, or a path to a TOML file; UsageError if neither."""
    path = Path(name_or_path)
    if not path.is_file():
        known = study_names()
        if name_or_path not in known:
            raise UsageError(
                f"no study {name_or_path!r}{suggestion(name_or_path, known)}",
                cause="it is neither a shipped study, nor one of yours, nor a file",
                remedy=f"{program()} list studies",
            )
        path = known[name_or_path]
    text = read_text(path)
    return StudySource(path, text, parse_toml(text, str(path)))


def known_beside(study: Path) -> Path | None:
    """What is known of a study's findings: `known/NAME.toml` beside its file; None without one."""
    beside = study.parent / "known" / study.name
    return beside if beside.is_file() else None


def load_known(path: Path) -> tuple[Known, ...]:
    """The known findings of a file; SpecError for what is wrong with it."""
    return known_from_document(parse_toml(read_text(path), str(path)), str(path))
