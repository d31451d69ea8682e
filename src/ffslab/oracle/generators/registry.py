"""The workloads of power cuts by name, and a history of one with some of its parameters set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Protocol

from ffslab.errors import UsageError
from ffslab.model.names import suggestion
from ffslab.oracle.generators.kinds import (
    AppendLog,
    Ffsmark,
    Firmware,
    Full,
    Overwrite,
    Tree,
    UpdateByRename,
    Wear,
)
from ffslab.oracle.generators.open_files import OpenFiles
from ffslab.oracle.generators.overlay import Overlay
from ffslab.oracle.generators.sequences import Sequences
from ffslab.oracle.history import History


class Generator(Protocol):
    """A kind with its parameters."""

    def history(self, seed: int) -> History: ...


Kind = (
    Ffsmark
    | Overwrite
    | Tree
    | AppendLog
    | UpdateByRename
    | Full
    | Firmware
    | Wear
    | Sequences
    | OpenFiles
    | Overlay
)
KINDS: Mapping[str, Kind] = {
    "ffsmark": Ffsmark(),
    "overwrite": Overwrite(),
    "tree": Tree(),
    "append-log": AppendLog(),
    "update-by-rename": UpdateByRename(),
    "full": Full(),
    "firmware": Firmware(),
    "wear": Wear(),
    "sequences": Sequences(),
    "open-files": OpenFiles(),
    "overlay": Overlay(),
}


def parameters(kind: str) -> dict[str, int]:
    """The parameters of a kind with their defaults."""
    found = _kind(kind)
    return {one.name: getattr(found, one.name) for one in fields(found)}


def worn_erases_of_kind(kind: str, settings: Mapping[str, int] | None = None) -> int:
    """How much more than the others some of UBI's blocks are worn before the history begins."""
    return {**parameters(kind), **(settings or {})}.get("worn_erases", 0)


def history_of_kind(kind: str, seed: int, settings: Mapping[str, int] | None = None) -> History:
    """A history; UsageError for a kind or a parameter that there is not, or a bad value."""
    found = _kind(kind)
    known = {one.name for one in fields(found)}
    for name, value in (settings or {}).items():
        if name not in known:
            raise UsageError(
                f"{kind} has no parameter {name!r}{suggestion(name, known)}",
                remedy=f"parameters: {', '.join(sorted(known))}",
            )
        if value < 0:
            raise UsageError(f"{name} of {kind} is {value}, less than 0")
    made: Generator = replace(found, **dict(settings or {}))  # type: ignore[arg-type]
    return made.history(seed)


def _kind(name: str) -> Kind:
    found = KINDS.get(name)
    if found is None:
        raise UsageError(f"no workload {name!r} for power cuts{suggestion(name, KINDS)}")
    return found
