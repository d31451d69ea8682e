"""What the model knows of workloads: a workload is a value with keys, and a kind of workload says
which keys there are, and which values cannot be together.

No kind is named in `ffslab.model`: each is a package of `ffslab.workloads`, and the catalog has
them. A kind's settings are a frozen dataclass. A key's default, its bounds, its meaning and what it
needs to matter are stated once, with `key`; the shape of the table in a study, its JSON Schema, the
table in docs/study-format.md, the checks and the agent's step all follow from that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

from ffslab.errors import SpecError
from ffslab.model.specs import Chip, InitialState, MountSetup, Scalar
from ffslab.model.units import SIZE_MAX, parse_size

Changes = Literal["work", "setting", "machine"]


@dataclass(frozen=True, slots=True)
class Form:
    """How a file writes a value: any of `types`; `read` turns what is written into the value.

    Numbers among them are from 0 to `highest`.
    """

    types: Any
    read: Callable[[Any], Any]
    highest: int | None = None


SIZE = Form(int | str, parse_size, SIZE_MAX)  # bytes, or a size with a unit


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What is stated of a key beside its type and its default.

    `derived`: the value where the file has none, from those of the other keys. `needs`: without
    what the key means nothing. `changes`: how much is done, or only how (`setting`): figures of two
    amounts of work are not compared as they are. `said`: what a spec has for a value, where that
    is not the key with the value; so specs stay what they were before there was the key.
    """

    meaning: str
    needs: str = ""
    form: Form | None = None
    lowest: int | None = None
    highest: int | None = None
    pattern: str | None = None
    derived: Callable[[Mapping[str, Any]], Any] | None = None
    changes: Changes = "work"
    said: Callable[[Any], Mapping[str, Any]] | None = None


def key(
    default: Any,
    meaning: str,
    *,
    needs: str = "",
    form: Form | None = None,
    lowest: int | None = None,
    highest: int | None = None,
    pattern: str | None = None,
    derived: Callable[[Mapping[str, Any]], Any] | None = None,
    changes: Changes = "work",
    said: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Any:
    """A key of a workload: a dataclass field with its `KeyFacts`."""
    facts = KeyFacts(meaning, needs, form, lowest, highest, pattern, derived, changes, said)
    return field(default=default, metadata={"key": facts})


@dataclass(frozen=True, slots=True)
class GuestFile:
    """A file that a workload puts into the root of its own guest; all can be executed."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What a case runs: the base of every kind's settings, which have `kind` with a default."""

    kind: str

    @property
    def spec(self) -> dict[str, Any]:
        """As plain JSON values."""
        spec: dict[str, Any] = {}
        for f, value in zip(fields(self), asdict(self).values(), strict=True):
            said = f.metadata["key"].said
            spec |= {f.name: value} if said is None else said(value)
        return spec

    @property
    def is_final(self) -> bool:
        """Whether all is known that only the disk can tell (`loaded`)."""
        return True

    @property
    def told(self) -> Hashable:
        """What reaches the guest beside the plan; contents of files by their names."""
        return ()

    @property
    def runs_programs(self) -> bool:
        """Whether programs of others run in the guest, which may do to the flash what they like."""
        return False

    @property
    def guest_files(self) -> tuple[GuestFile, ...]:
        """The user's files that the guest is given."""
        return ()

    def loaded(self, directory: Path) -> Workload:  # noqa: ARG002  (of those that name files)
        """The workload with the contents of the files that it names, from the study's directory."""
        return self

    def axis_value(self, name: str) -> Scalar:
        """A key's value as a point of an axis."""
        value: Scalar = getattr(self, name)
        return value

    def without_idle_keys(self) -> Self:
        """The workload with those keys at their defaults that mean nothing beside the others."""
        return self


@dataclass(frozen=True, slots=True)
class Setting:
    """What a workload's keys are checked against."""

    state: InitialState
    setup: MountSetup
    chip: Chip
    partition_bytes: int
    where: str  # for messages


W = TypeVar("W", bound=Workload)


class WorkloadType(ABC, Generic[W]):
    """A kind of workload; it has no state of its own.

    `assumed`: what a table without a kind means; one kind has it. `mounts`: it needs a file system;
    False: it is for the bare device; None: it is for both. `state_keys`: keys of an initial state
    that matter to this kind only. `cuts_power`: its guests lose power in the middle of an operation
    of the flash.
    """

    settings: type[W]
    assumed = False
    mounts: bool | None = True
    state_keys: tuple[str, ...] = ()
    cuts_power = False

    @abstractmethod
    def check(self, workload: W, setting: Setting) -> None:
        """SpecError for keys that contradict each other, the state or the file system."""

    @cached_property
    def kind(self) -> str:
        """Its name."""
        return str(next(f.default for f in fields(self.settings) if f.name == "kind"))

    @cached_property
    def keys(self) -> dict[str, KeyFacts]:
        """What is stated of each key, `kind` included."""
        return {f.name: f.metadata["key"] for f in fields(self.settings)}

    def resolve(self, values: Mapping[str, Any], setting: Setting) -> W:
        """The workload of a case from the checked values of its table; SpecError (`check`)."""
        derived = {
            name: facts.derived(values)
            for name, facts in self.keys.items()
            if facts.derived is not None and values[name] is None
        }
        workload = self.settings(**{**values, **derived})
        self._check_mounted(setting)
        self.check(workload, setting)
        return workload

    def _check_mounted(self, setting: Setting) -> None:
        name = setting.setup.name
        if self.mounts and not setting.setup.is_mounted:
            raise SpecError(
                f"{setting.where}: {name} is not a file system, and {self.kind} needs one",
                cause="the bare device can be erased, written and read as a whole only",
                remedy='workload.kind = "raw", or another file system',
            )
        if self.mounts is False and setting.setup.is_mounted:
            raise SpecError(
                f"{setting.where}: {self.kind} is about the device; it mounts no {name}",
                cause="a file system plays no part in the measurement",
                remedy='filesystem = "mtd"',
            )


Workloads = Mapping[str, WorkloadType[Any]]  # by kind


def assumed_kind(workloads: Workloads) -> str:
    """The kind that a table without one means."""
    return next(name for name, workload in workloads.items() if workload.assumed)
