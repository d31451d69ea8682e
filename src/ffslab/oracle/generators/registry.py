"""The workloads of power cuts by name, and a history of one with some of its parameters set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Protocol

from ffslab.errors import UsageError
from ffslab.model.names import suggestion
from ffslab.oracle.generators.kinds import (
    Appends,
    Directories,
    Firmware,
    Full,
    MovedBlocks,
    Overwrite,
    Transactions,
    UpdateByRename,
)
from ffslab.oracle.generators.open_files import OpenFiles
from ffslab.oracle.generators.overlay import Overlay
from ffslab.oracle.history import History


class Generator(Protocol):
    """A kind with its parameters."""

    def history(self, seed: int) -> History: ...


Kind = (
    Transactions
    | Overwrite
    | Directories
    | Appends
    | UpdateByRename
    | Full
    | Firmware
    | MovedBlocks
    | OpenFiles
    | Overlay
)
KINDS: Mapping[str, Kind] = {
    "transactions": Transactions(),
    "overwrite": Overwrite(),
    "directories": Directories(),
    "appends": Appends(),
    "update-by-rename": UpdateByRename(),
    "full": Full(),
    "firmware": Firmware(),
    "moved-blocks": MovedBlocks(),
    "open-files": OpenFiles(),
    "overlay": Overlay(),
}


def parameters(kind: str) -> dict[str, int]:
    """The parameters of a kind with their defaults."""
    generator = _kind(kind)
    return {field.name: getattr(generator, field.name) for field in fields(generator)}


def worn_erases_of_kind(kind: str, settings: Mapping[str, int] | None = None) -> int:
    """How much more than the others some of UBI's blocks are worn before the history begins."""
    return {**parameters(kind), **(settings or {})}.get("worn_erases", 0)


def history_of_kind(kind: str, seed: int, settings: Mapping[str, int] | None = None) -> History:
    """A history; UsageError for a kind or a parameter that there is not, or a bad value."""
    generator = _kind(kind)
    known = {field.name for field in fields(generator)}
    for name, value in (settings or {}).items():
        if name not in known:
            raise UsageError(
                f"{kind} has no parameter {name!r}{suggestion(name, known)}",
                remedy=f"parameters: {', '.join(sorted(known))}",
            )
        if value < 0:
            raise UsageError(f"{name} of {kind} is {value}, less than 0")
    made: Generator = replace(generator, **dict(settings or {}))  # type: ignore[arg-type]
    return made.history(seed)


def _kind(name: str) -> Kind:
    kind = KINDS.get(name)
    if kind is None:
        raise UsageError(f"no history {name!r}{suggestion(name, KINDS)}")
    return kind
