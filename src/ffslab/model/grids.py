"""Which settings a study's cases have, and who stated them: pure.

Statements come in layers: the base, the study's axes, a part's settings, a part's axes, and the
command line in the order given. A later statement takes the place of an earlier one of the same
setting. One of a whole (`board`, `state`, another `workload.kind`) also takes the place of all
that was said of the parts of it before; what is said of a part afterwards changes the new whole.
So `state = aged` and then `state.valid_percent = 40` is an aged state of 40 %, whoever stated
either; the other way round nothing would be left of the 40 %, which is an error on a command line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.kernels import KERNEL, PERIOD
from ffslab.model.settings import PART

Axes = tuple[tuple[str, tuple[Any, ...]], ...]
COMMAND_LINE = "--set"
UNSTATED = ""  # the origin of a default that the file does not mention
SEED = "seed"
_WHOLES: Mapping[str, str] = {  # and how its parts begin
    "board": "board.",
    "state": "state.",
    KERNEL: f"{PERIOD}.",
}
_KIND = "workload.kind"


@dataclass(frozen=True, slots=True)
class Statement:
    """The values of one setting, and who said so: `[base]`, `[axes]`, a part, the command line."""

    key: str
    values: tuple[Any, ...]
    origin: str


@dataclass(slots=True)
class Grid:
    """A product of axes over settings: a whole study, or one part of it.

    `stated` has what is in force, `axes` the names of the axes in their order, the first varying
    slowest. `replaced` is what a setting of the command line took the place of.
    """

    stated: dict[str, Statement] = field(default_factory=dict)
    axes: list[str] = field(default_factory=list)
    replaced: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def combinations(self) -> int:
        """How many points there are."""
        return math.prod(len(self.stated[name].values) for name in self.axes)

    def settings(self) -> Iterator[dict[str, Any]]:
        """The settings of every point, in order."""
        fixed = {
            key: statement.values[0]
            for key, statement in self.stated.items()
            if key not in self.axes
        }
        for point in itertools.product(*(self.stated[name].values for name in self.axes)):
            yield fixed | dict(zip(self.axes, point, strict=True))

    def state(self, statement: Statement, *, axis: bool) -> None:
        """Puts a statement over all before; SpecError if it makes one of the command line idle."""
        key = statement.key
        for name in self._replaced_by(statement):
            before = self.stated.pop(name)
            if before.origin == COMMAND_LINE:
                raise _comes_too_early(before, statement)
            if name == key:
                self.replaced[key] = before.values
            elif name in self.axes:
                self.axes.remove(name)
        self.stated[key] = statement
        if axis and key not in self.axes:
            self.axes.append(key)
        elif not axis and key in self.axes:
            self.axes.remove(key)

    def override(self, key: str, values: tuple[Any, ...]) -> None:
        """A setting of the command line: it makes an axis, narrows one, or changes a setting."""
        axis = key in self.axes or len(values) > 1
        self.state(Statement(key, values, COMMAND_LINE), axis=axis)

    def _replaced_by(self, statement: Statement) -> list[str]:
        key = statement.key
        parts = _WHOLES.get(key)
        if key == _KIND and key in self.stated and self.stated[key].values != statement.values:
            parts = "workload."
        if parts is None:
            return [key] if key in self.stated else []
        return [name for name in self.stated if name == key or name.startswith(parts)]

    def seeds_last(self) -> None:
        """Seeds vary fastest, whoever stated them: they are neighbours in every table."""
        if SEED in self.axes:
            self.axes.remove(SEED)
        self.axes.append(SEED)


def grid_of(
    layers: Iterable[tuple[str, Mapping[str, tuple[Any, ...]], bool]],
    overrides: Iterable[tuple[str, tuple[Any, ...]]],
    part: str = "",
) -> Grid:
    """The grid of `layers`, each an origin, its settings, and whether these are axes."""
    grid = Grid()
    if part:
        grid.state(Statement(PART, (part,), UNSTATED), axis=True)
    for origin, settings, are_axes in layers:
        if are_axes:
            grid.axes += [key for key in settings if key not in grid.axes]
        # Within a layer there is no order: the whole comes before its parts.
        for key in sorted(settings, key=lambda name: "." in name and name != _KIND):
            grid.state(Statement(key, settings[key], origin), axis=are_axes)
    grid.replaced.clear()
    for key, values in overrides:
        grid.override(key, values)
    grid.seeds_last()
    return grid


def _comes_too_early(before: Statement, by: Statement) -> SpecError:
    whole = by.key.removesuffix(".kind")
    return SpecError(
        f"--set {before.key} has no effect: --set {by.key}, which comes after it, replaces it",
        cause=f"settings apply in the order given, and {by.key} sets all of the {whole}",
        remedy=f"put --set {before.key}=… after --set {by.key}=…, or leave it out",
    )
