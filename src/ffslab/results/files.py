"""Files that are either there in full or not at all.

A file is written next to its place and renamed into it: a reader, or the next
`--resume` after a kill -9, never sees half a file under the final name. What
says that a case has run is flushed to disk first, so that it is whole after a
power cut of the host, too; the rest can be made again from it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ffslab.errors import DamagedResultError, InfrastructureError, explained, full
from ffslab.model.canonical import utf8
from ffslab.program import program


def write_atomic(path: Path, text: str, *, durable: bool = False) -> None:
    """Replaces `path` by `text` in UTF-8; InfrastructureError if the disk is full or read-only.

    `durable` text is on the disk when this returns: some milliseconds.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.write(utf8(text))
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
    place = next((one for one in (path, *path.parents) if one.is_dir()), path)
    if full(error):
        cause, remedy = f"the disk is full (df {place})", "free some space there"
    else:
        cause = f"no right to write there (ls -ld {place}), or a failing disk"
        remedy = "a directory that you may write to"
    return InfrastructureError(
        f"cannot write {where}: {error.strerror}", cause=cause, remedy=remedy
    )


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; DamagedResultError if it is missing, cut or of another kind."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DamagedResultError(
            f"{path}: cannot be read: {error.strerror}",
            cause="the file was removed, or the run was interrupted before it was written",
            remedy=f"{program()} run RUN_DIRECTORY --resume",
        ) from error
    except ValueError as error:
        raise _damaged(path, 0, str(error)) from error
    if not isinstance(value, dict):
        raise _damaged(path, 0, "it is not a JSON object")
    return value


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """One JSON object per line; DamagedResultError names the first bad line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DamagedResultError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _damaged(path, 0, str(error)) from error
    values: list[dict[str, Any]] = []
    # No splitlines(): JSON texts may hold U+2028 and others that it takes for ends of lines.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        try:
            value = json.loads(line)
        except ValueError as error:
            raise _damaged(path, number, str(error)) from error
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            raise _damaged(path, number, "it is not a result of a case")
        values.append(value)
    return values


def _damaged(path: Path, line: int, what: str) -> DamagedResultError:
    place = f"{path}, line {line}" if line else str(path)
    return DamagedResultError(
        f"{place}: damaged: {what}",
        cause="the file was edited or cut after ffslab wrote it",
        remedy="repeat the case: remove its directory under cases/ and run with --resume",
    )
