"""Files that are either there in full or not at all.

A file is written next to its place and renamed into it: a reader, or the next
`--resume` after a kill -9, never sees half a file under the final name. What
says that a case has run is flushed to disk first, so that it is whole after a
power cut of the host, too; the rest can be made again from it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from pathlib import Path

from ffslab.errors import DamagedResultError, InfrastructureError, explained, full
from ffslab.model.canonical import canonical_json, utf8
from ffslab.program import command
from ffslab.reading import DOCUMENT_BYTES_MAX, UnreadableError, read_bounded
from ffslab.results.result import Shape, WrongShapeError, parsed

MANIFEST = "manifest.json"
CASES = "cases"
_BUFFER_BYTES = 1 << 20  # several lines of results


def write_atomic(path: Path, text: str | Iterable[str], *, durable: bool = False) -> None:
    """Replaces `path` by `text` in UTF-8; InfrastructureError if the disk is full or read-only.

    Of a text in pieces no more than one is held in memory. `durable` text is on the disk when this
    returns: some milliseconds.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.writelines(map(utf8, (text,) if isinstance(text, str) else text))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise disk_error(error, path) from error


def disk_error(error: OSError, path: Path) -> InfrastructureError:
    """An operating-system error on a file of results in the user's words."""
    where = error.filename or path
    known = explained(OSError(error.errno, error.strerror, str(where)))
    if known is not None and not full(error):
        return InfrastructureError(known.message, cause=known.cause, remedy=known.remedy)
    directory = next((folder for folder in (path, *path.parents) if folder.is_dir()), path)
    if full(error):
        cause, remedy = f"the disk is full (df {directory})", "free some space there"
    elif isinstance(error, (FileExistsError, NotADirectoryError)):
        cause = "a file is where a directory is wanted"
        remedy = "another path, or remove the file"
    else:
        cause = f"no permission to write there (ls -ld {directory}), or a failing disk"
        remedy = "a directory that you may write to"
    return InfrastructureError(
        f"cannot write {where}: {error.strerror}", cause=cause, remedy=remedy
    )


def nothing_more(_value: object) -> None:
    """No check but that of the shape."""


def read_json_as(
    path: Path, shape: type[Shape], check: Callable[[Shape], None] = nothing_more
) -> Shape:
    """A JSON object that is of the TypedDict `shape`; `check` may find more: WrongShapeError.

    DamagedResultError if it is missing, cut or of another kind.
    """
    return _read_as(path, shape, check)[1]


def _read_as(path: Path, shape: type[Shape], check: Callable[[Shape], None]) -> tuple[bytes, Shape]:
    try:
        text = read_bounded(path)
        document = parsed(text, shape)
        check(document)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise damaged(path, 0, error) from error
    return text, document


def read_json_text_as(path: Path, shape: type[Shape]) -> tuple[str, Shape]:
    """The same, behind the line that it is in the file; one that was edited into several is joined.

    The line is what was written, and need not be put together again.
    """
    text, document = _read_as(path, shape, nothing_more)
    if text.find(b"\n") == len(text) - 1:
        return text.decode("utf-8"), document
    return canonical_json(document) + "\n", document


def read_json_lines(
    path: Path,
    shape: type[Shape],
    check: Callable[[Shape], None] = nothing_more,
    read: Callable[[bytes], None] = lambda _: None,
    parse: Callable[[bytes], Shape] | None = None,
) -> Iterator[Shape]:
    """The same of each line; DamagedResultError names the first bad one. `read` gets the lines;
    `parse` makes values of them in place of `parsed`.
    """

    def value_of(number: int, line: bytes) -> Shape:
        read(line)
        try:
            if len(line) > DOCUMENT_BYTES_MAX:
                raise UnreadableError("it is too long")
            with no_search_for_cycles():
                value = parsed(line, shape) if parse is None else parse(line)
                check(value)
        except ValueError as error:
            raise damaged(path, number, error) from error
        return value

    try:
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            # Lines of bytes end with a line feed alone: JSON texts may hold U+2028 and others.
            lines = iter(partial(file.readline, DOCUMENT_BYTES_MAX + 1), b"")
            # A value is not held here while the next is read, which then has its memory.
            yield from starmap(value_of, enumerate(lines, start=1))
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def no_search_for_cycles() -> Iterator[None]:
    """Values of JSON hold no cycles; Python would look for some in each large line, ten times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def damaged(path: Path, line: int, error: ValueError) -> DamagedResultError:
    """The error of a file that is not what ffslab wrote there; line 0: all of it."""
    where = f"{path}, line {line}" if line else str(path)
    cause = "the file was edited or cut after ffslab wrote it"
    if isinstance(error, WrongShapeError):
        cause += ", or another version of ffslab wrote it"
    return DamagedResultError(
        f"{where}: damaged: {error}",
        cause=cause,
        remedy=_repaired_by(path),
    )


def _unreadable(path: Path, error: OSError) -> DamagedResultError:
    cause = "the file was removed, or the run was interrupted before it was written"
    if isinstance(error, PermissionError):
        cause = "it belongs to another user (ls -l)"
    return DamagedResultError(
        f"{path}: cannot be read: {error.strerror}", cause=cause, remedy=_repaired_by(path)
    )


def _repaired_by(path: Path) -> str:
    """How a file of a run directory is had again: all but the manifest and cases can be made anew.

    A case whose result cannot be read counts as one that has not run.
    """
    if path.name == MANIFEST:
        return (
            "a copy of the file, or a new run of the study: nothing says what belongs to this one"
        )
    run = path.parents[2] if path.parent.parent.name == CASES else path.parent
    return f"make it again: {command('run', run, '--resume')}"
