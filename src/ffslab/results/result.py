"""A case's result as it is written and read: the types of its keys, checked when it is read.

docs/result-format.md describes them. A result is a plain JSON object; these types say what is in
it, so that the type checker finds a misspelt key, and the reader a damaged file. Keys that no type
has are let through: those of newer versions, and each workload's own, whose package types them in
a module `stored`. What the agent recorded and the result has alike is typed with the records, and
figures where they are computed (`ffslab.results.metrics`). What runs of older versions lack is
`NotRequired`, as is what a guest without a monitor has no figure of.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from ffslab.protocol.records import (
    Mtd,
    PhaseCounts,
    Prepared,
    Snapshot,
    Space,
    TaskRecord,
    TaskTime,
)
from ffslab.reading import json_as, json_object, json_value, usual_kind
from ffslab.results.collector import Collector
from ffslab.results.erase_counters import EraseCounters
from ffslab.results.metrics import LatencyMetrics, PhaseMetrics
from ffslab.results.mtd_statistics import MtdStatistics

if TYPE_CHECKING:
    from msgspec.json import Decoder
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails, SchemaValidator

Shape = TypeVar("Shape", bound=Mapping[str, object])
OutcomeKind = Literal["pass", "short", "fail", "skip", "crash", "stuck", "timeout", "corrupt"]


class ShortResult(TypedDict):
    """How much less was measured than asked for (`ffslab.results.shortfall`)."""

    what: str
    measured: int
    asked: int | None
    stopped: str
    accepted: bool


class KernelResult(TypedDict):
    """The lab kernel, and the switches of the period kernel."""

    variant: str
    switches: dict[str, bool]


class StepResult(TypedDict):
    """A step of the plan; times in virtual nanoseconds."""

    index: int
    verb: str
    label: str
    t_start_ns: int
    duration_ns: int
    status: str
    errno_name: str


class TaskTimes(TypedDict, total=False):
    """Whose the time of a phase was; there if the guest's kernel tells."""

    task_times: list[TaskTime]


class PhaseResult(PhaseCounts, PhaseMetrics, TaskTimes):
    """The figures of a phase."""

    phase: str
    status: str
    errno_name: str
    t_start_ns: int
    t_end_ns: int
    duration_ns: int
    flash: dict[str, int]


class SlowestResult(TypedDict, total=False):
    """When the slowest requests began and how long they took, the slowest first; there if kept."""

    slowest: list[list[int]]


class LatencyResult(LatencyMetrics, SlowestResult):
    """Latencies of one kind of request in a phase; buckets as counted."""

    phase: str
    op: str
    buckets: list[list[int]]


class PhaseTask(TaskRecord):
    """What a task asked of the flash in a phase."""

    phase: str


class PreparationResult(TypedDict):
    """What became of the guests that prepared the flash (`ffslab.results.preparation`)."""

    key: str | None
    outcome: OutcomeKind
    reason: str
    excerpt: list[str]
    virtual_ns: int | None
    phases: list[PhaseResult]
    prepared: Prepared | None
    space: list[Space]
    reserve_bytes: int | None
    before: NotRequired[list[PreparationResult]]


class CaseHead(TypedDict):
    """What a case is and what became of it, without its figures."""

    id: str
    axes: dict[str, Any]
    spec: dict[str, Any]
    outcome: OutcomeKind
    reason: str
    excerpt: list[str]
    short: NotRequired[ShortResult | None]


class CaseResult(CaseHead):
    """One line of results.jsonl, without the keys of single workloads."""

    v: int
    study: str
    spec_hash: str
    kernel: NotRequired[KernelResult]
    virtual_ns: int | None
    flash_sha256: str | None
    mtd: Mtd | None
    steps: list[StepResult]
    space: list[Space]
    phases: list[PhaseResult]
    latencies: list[LatencyResult]
    flash: list[Snapshot]
    preparation: NotRequired[PreparationResult | None]
    collector: NotRequired[Collector]
    erase_counters: NotRequired[EraseCounters]
    mtd_statistics: NotRequired[MtdStatistics]


def head_of(result: CaseResult) -> CaseHead:
    """What is to be kept of the results of a run of thousands of cases."""
    head = {key: result[key] for key in CaseHead.__annotations__ if key in result}  # type: ignore[literal-required]
    return cast(CaseHead, head)


class WallResult(TypedDict):
    """One line of wall.jsonl."""

    id: str
    wall_ns: int
    virtual_ns: int | None
    virtual_per_wall: float | None
    host_cpu: NotRequired[int | None]


class WrongShapeError(ValueError):
    """What was read is not of its type: where in it, and what is wrong there."""


# pydantic's kinds of errors in words.
_WANTED: Mapping[str, str] = {
    "int_type": "an integer",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
}


def with_own_keys(result: CaseResult, keys: Mapping[str, object]) -> CaseResult:
    """A result with the keys of its workload, of which this type knows nothing."""
    return cast(CaseResult, {**result, **keys})


def checked(value: object, shape: type[Shape]) -> Shape:
    """`value` itself as what it is; WrongShapeError if it is not of the TypedDict `shape`.

    All of it is kept, keys that `shape` does not have among it.
    """
    error = _wrong(value, _adapter(shape))
    if error is not None:
        raise WrongShapeError(_told(value, error))
    return cast(Shape, value)


def parsed(text: bytes, shape: type[Shape]) -> Shape:
    """What `checked` makes of a JSON text; ValueError or, if it is not of that shape,
    WrongShapeError.

    Nearly all of a CaseResult are lists of integers. msgspec reads and checks these at once, and
    pydantic the rest; what they do not find right is read again, by what says why.
    """
    if shape is CaseResult:
        value = json_object(text, _readers_of_integers())
        if value is not None and not _wrong(value, _adapter(CaseResult, integers=False)):
            return cast(Shape, value)
    return checked(json_value(text), shape)


def parsed_as_shown(text: bytes, own_keys: frozenset[str]) -> CaseResult:
    """What `parsed` makes of a result, in half the time and without what no page shows: `programs`
    and `reads` of snapshots, and keys that neither CaseResult nor a workload (`own_keys`) has.

    What is not found right goes to `parsed`, which has the words for it.
    """
    value = json_as(text, _reader_of_shown(own_keys))
    if value is not None and not _wrong(value, _adapter(CaseResult, integers=False, flash=False)):
        return cast(CaseResult, value)
    return parsed(text, CaseResult)


@cache
def _reader_of_shown(own_keys: frozenset[str]) -> Decoder[Any]:
    from msgspec.json import Decoder

    typed: Any = TypedDict  # its keys are known when this runs
    integer: Any = _integer()
    counted = {"counters": dict[str, integer], "erases": list[integer]}
    snapshot: Any = typed("snapshot", {"label": str, "t_ns": integer, **counted})
    kinds = dict.fromkeys((*CaseResult.__annotations__, *own_keys), usual_kind())
    latency: Any = str | integer | float | list[tuple[integer, integer]]
    lists = {"latencies": list[dict[str, latency]], "flash": list[snapshot]}
    return Decoder(typed("shown", {**kinds, **lists}, total=False))


@cache
def _readers_of_integers() -> Mapping[str, Decoder[Any]]:
    from msgspec.json import Decoder

    return {key: Decoder(kind) for key, kind in _kinds_with_integers().items()}


def _kinds_with_integers() -> Mapping[str, Any]:
    """The types of keys with lists of many integers, which let through no other lists: what
    pydantic does not look at again.
    """
    integer: Any = _integer()
    flash: Any = str | integer | dict[str, integer] | list[integer]
    latency: Any = str | integer | float | list[list[integer]]
    return {"flash": list[dict[str, flash]], "latencies": list[dict[str, latency]]}


def _integer() -> Any:
    from msgspec import Meta

    return Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


def _wrong(value: object, adapter: SchemaValidator) -> ValidationError | None:
    from pydantic import ValidationError

    try:
        adapter.validate_python(value, strict=True)
    except ValidationError as error:
        return error
    return None


@cache
def _adapter(shape: type[Shape], *, integers: bool = True, flash: bool = True) -> SchemaValidator:
    """Without `integers`: what is in lists of them in the keys that have many is not looked at;
    without `flash`: nor is anything in this key.
    """
    # Loaded where something is read only: it takes a while.
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    schema: Any = _with_ranges(TypeAdapter(shape).core_schema)
    if not integers:
        fields = schema["schema"]["fields"]
        for key in _kinds_with_integers():
            fields[key] = _without_integers(fields[key])
        if not flash:
            fields["flash"] = {**fields["flash"], "schema": _ANY_LIST}
    return SchemaValidator(schema)


def _without_integers(schema: Any) -> Any:
    """The schema with any list in place of a list of integers, or of lists of them."""
    if not isinstance(schema, dict):
        return schema
    without = {key: _without_integers(value) for key, value in schema.items()}
    items = without.get("items_schema", {})
    of_integers = items.get("type") == "int" or items == _ANY_LIST
    return _ANY_LIST if without.get("type") == "list" and of_integers else without


_ANY_LIST = {"type": "is-instance", "cls": list}  # "list" would copy it


def _with_ranges(schema: Any) -> Any:
    """The schema whose numbers are finite, and no larger than anything counts."""
    if isinstance(schema, list):
        return [_with_ranges(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    ranges = _RANGES.get(schema["type"], {}) if isinstance(schema.get("type"), str) else {}
    return {**ranges, **{key: _with_ranges(value) for key, value in schema.items()}}


_LARGEST = 2**64  # numbers of inodes have 64 bits, and no other figure comes near
_RANGES: Mapping[str, Mapping[str, Any]] = {
    "float": {"allow_inf_nan": False, "ge": -1e30, "le": 1e30},
    "int": {"ge": -_LARGEST, "le": _LARGEST},
}


def _told(value: object, error: ValidationError) -> str:
    """The first place that is wrong: `phases.2.duration_ns: not an integer`."""
    problems = [(_path(value, item["loc"], item["type"]), item) for item in error.errors()]
    path, first = problems[0]
    if first["type"] == "missing":
        return f"{path}: missing"
    # Of a place that may be of several types there is a problem for each.
    wanted = " or ".join(_wanted(item) for where, item in problems if where == path)
    return f"{path}: not {wanted}" if path else f"not {wanted}"


def _wanted(item: ErrorDetails) -> str:
    """What should be there: a type, or one of some texts."""
    expected = item.get("ctx", {}).get("expected", f"valid ({item['msg']})")
    return _WANTED.get(item["type"], str(expected))


def _path(value: Any, location: tuple[int | str, ...], kind: str) -> str:
    """The keys that lead to a place; pydantic also names the types that it tried there."""
    if kind == "missing":
        return ".".join(map(str, location))
    keys = []
    for key in location:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            break
        keys.append(str(key))
    return ".".join(keys)
