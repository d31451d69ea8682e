"""What the report knows about a run: frozen values, free of any file format.

`ffslab.report.load` fills these from a run directory; the questions, findings and charts read
only these. Durations are virtual nanoseconds, sizes bytes, throughputs bytes per second of
virtual time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from ffslab.results.metrics import BUCKETS
from ffslab.results.result import ShortResult
from ffslab.results.shortfall import is_accepted

# The axes that the questions are about; every other axis of a study is "further".
FILESYSTEM, COMPRESSION, WRITING, STATE, SEED = (
    "filesystem",
    "compression",
    "write_mode",
    "state",
    "seed",
)
_TEXTS = ("part", "workload.steps")
CORE_AXES = (FILESYSTEM, COMPRESSION, WRITING, STATE, SEED)

SYNC, WRITE_BACK, WRITE_THROUGH = "sync", "write-back", "write-through"
NO_COMPRESSION = "none"
_PACKED = "Q"  # an array's type: 64 bits without sign
BETWEEN = " · "  # the parts of a configuration's name

FILESYSTEM_NAMES = {
    "jffs2": "JFFS2",
    "ubifs": "UBIFS",
    "yaffs": "YAFFS2",
    "yaffs2": "YAFFS2",
    "logfs": "LogFS",
    "f2fs": "F2FS",
    "squashfs": "SquashFS",
    "erofs": "EROFS",
    "mtd": "MTD",
}


@dataclass(frozen=True)
class Latency:
    """How long the operations of one kind took in a phase of a case. `slowest`: how long after the
    phase each of the slowest began, and how long it took.
    """

    phase: str
    op: str
    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    slowest: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Histogram:
    """Latencies of one operation in all cases that differ in the seed only.

    `packed` has their buckets in 16 bytes each: as tuples they would take ten times that, and most
    of the memory of a large report.
    """

    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    packed: bytes

    def buckets(self) -> Iterator[tuple[int, int]]:
        """Number (`ffslab.results.metrics.bucket_bounds`) and count of each bucket."""
        numbers = array(_PACKED)
        numbers.frombytes(self.packed)
        return zip(numbers[::2], numbers[1::2], strict=True)


def together(parts: Sequence[Latency | Histogram]) -> tuple[int, int, int, int]:
    """Count, sum, minimum and maximum of all."""
    return (
        sum(part.count for part in parts),
        sum(part.sum_ns for part in parts),
        min(part.min_ns for part in parts),
        max(part.max_ns for part in parts),
    )


def packed_buckets(buckets: Sequence[Sequence[int]]) -> bytes:
    """Buckets as a `Histogram` has them; ValueError for what is no bucket."""
    if not set(map(len, buckets)) <= {2}:
        raise ValueError("a bucket is a number and a count")
    try:
        numbers = array(_PACKED, chain.from_iterable(buckets))
    except OverflowError as error:
        raise ValueError("a bucket with a negative number, or one beyond all times") from error
    if max(numbers[::2], default=0) >= BUCKETS:
        raise ValueError("a bucket beyond all times")
    return numbers.tobytes()


@dataclass(frozen=True)
class Case:
    """One case of the run. `axes` has every core axis ("" where a file system has no such option)
    and the further ones. `parts`: time of the work by what it is made of, in ns; `own`: what its
    workload's sections need. `tallied`: it counts what goes wrong, and fails by that. `histograms`
    by operation are one object for all cases that differ in the seed only.
    """

    id: str
    axes: Mapping[str, str]
    outcome: str
    command: str
    reason: str = ""
    console: str = ""
    latencies: tuple[Latency, ...] = ()
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    erases: tuple[int, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    own: Any = None
    tallied: bool = False
    short: ShortResult | None = None

    @property
    def passed(self) -> bool:
        """Whether its figures are shown: also if they are of less than was asked for, as allowed.

        `short` says of how much they are.
        """
        return self.outcome == "pass" or is_accepted(self.outcome, self.short)

    @property
    def filesystem(self) -> str:
        return self.axes.get(FILESYSTEM, "")

    @property
    def compression(self) -> str:
        return self.axes.get(COMPRESSION, "")

    @property
    def writing(self) -> str:
        return self.axes.get(WRITING, "")

    @property
    def state(self) -> str:
        return self.axes.get(STATE, "")

    @property
    def seed(self) -> str:
        return self.axes.get(SEED, "")

    def scenario(self, ignoring: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """What two cases must share to be compared along the axes `ignoring`."""
        left_out = set(ignoring)
        return tuple(sorted((k, v) for k, v in self.axes.items() if k not in left_out))


@dataclass(frozen=True)
class Fact:
    """One line of the time model: `basis` says measured, stated by a source, or estimated and
    how.
    """

    name: str
    value: str
    basis: str = ""
    estimate: bool = False


@dataclass(frozen=True)
class FilesystemFact:
    """What a file system of the run is: whose code, and how it was mounted."""

    key: str
    code: str
    mounts: tuple[str, ...]

    @property
    def name(self) -> str:
        return filesystem_name(self.key)


@dataclass(frozen=True)
class Run:
    """A whole run; `path` is its directory."""

    run_id: str
    study: str
    title: str
    description: str
    date: str
    cases: tuple[Case, ...]
    facts: tuple[Fact, ...] = ()
    identity: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)
    filesystems: tuple[FilesystemFact, ...] = ()
    missing: int = 0
    path: Path = Path()

    @cached_property
    def passed(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.passed)

    @property
    def failures(self) -> tuple[Case, ...]:
        """Everything that neither passed nor was skipped on purpose, nor is short as allowed, nor
        has counted what went wrong.
        """
        return tuple(
            case
            for case in self.cases
            if not (case.passed or case.tallied or case.outcome == "skip")
        )

    @property
    def wrong(self) -> tuple[Case, ...]:
        """What counted something that went wrong; its figures are shown."""
        return tuple(case for case in self.cases if case.tallied and not case.passed)

    @property
    def short(self) -> tuple[Case, ...]:
        """What measured less than was asked for, as its study allows; a part of `passed`."""
        return tuple(case for case in self.passed if case.outcome == "short")

    @property
    def skipped(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.outcome == "skip")

    @property
    def seeds(self) -> tuple[str, ...]:
        return values_of(self.cases, SEED)

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """The axes with at least two values, in the order of the study."""
        return varying_axes(self.cases)


@dataclass(frozen=True)
class Group:
    """The cases that differ in the seed only: one bar of a chart."""

    axes: Mapping[str, str]
    cases: tuple[Case, ...]

    @property
    def first(self) -> Case:
        """The case of the lowest seed."""
        return min(self.cases, key=lambda case: _natural(case.seed))


def values_of(cases: Iterable[Case], axis: str) -> tuple[str, ...]:
    """The values of an axis in order of first appearance, without the empty one."""
    return tuple(dict.fromkeys(case.axes[axis] for case in cases if case.axes.get(axis)))


def varying_axes(cases: Sequence[Case]) -> tuple[str, ...]:
    """The axes with at least two values, in order of first appearance.

    A study's part and the steps of a tree are none where the others tell all cases apart.
    """
    values: dict[str, set[str]] = {}
    for case in cases:
        for name, value in case.axes.items():
            values.setdefault(name, set()).add(value)
    varying = tuple(name for name, distinct in values.items() if len(distinct - {""}) > 1)
    told: tuple[str, ...] = ()
    for text in (name for name in _TEXTS if name in varying):
        if len({case.scenario((*told, text)) for case in cases}) == len(cases):
            told = (*told, text)
    return tuple(name for name in varying if name not in told)


def group_by_seed(cases: Sequence[Case]) -> tuple[Group, ...]:
    """Groups in order of first appearance."""
    groups: dict[tuple[tuple[str, str], ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case.scenario((SEED,)), []).append(case)
    return tuple(Group(axes=dict(key), cases=tuple(members)) for key, members in groups.items())


def filesystem_name(key: str) -> str:
    """`yaffs2-no-cache` as "YAFFS2 no-cache": a variant is called after its file system."""
    name, dash, variant = key.partition("-")
    known = FILESYSTEM_NAMES.get(name)
    return key if known is None else f"{known} {variant}" if dash else known


def axis_name(axis: str) -> str:
    """A study's key as words: `workload.size_max` as "size max"."""
    return axis.rpartition(".")[2].replace("_", " ")


def compression_text(value: str) -> str:
    return "no compression" if value == NO_COMPRESSION else value


def group_label(axes: Mapping[str, str], show: Iterable[str]) -> str:
    """A label made of the axes in `show`: the file system first, then its options, then what else
    varies.
    """
    parts: list[str] = []
    for axis in show:
        value = axes.get(axis, "")
        if not value:
            continue
        if axis == FILESYSTEM:
            parts.append(filesystem_name(value))
        elif axis == COMPRESSION:
            parts.append(compression_text(value))
        elif axis == SEED:
            parts.append(f"seed {value}")
        elif axis in CORE_AXES:
            parts.append(value)
        else:
            parts.append(f"{axis_name(axis)} {value}")
    return BETWEEN.join(parts)


def _natural(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdigit() else (1 << 62, text)
