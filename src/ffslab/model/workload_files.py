"""The shape of a workload's table in a study, checked at the border.

One model per kind of workload; their keys are those of the agent's step of that name
(docs/plan-format.md). What a value means together with others is checked for a whole case
(`ffslab.model.settings`), since axes may change any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from ffslab.model.specs import Tree
from ffslab.model.trees import parse_distribution
from ffslab.model.units import parse_size

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Number = int | float | str  # or a distribution
Bias = Annotated[int, Field(ge=-1, le=10)]
PatternName = Literal["sequential-read", "random-read", "sequential-write", "random-write"]


class Strict(BaseModel):
    """No unknown keys, no conversion between types, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class FfsmarkFile(Strict):
    """FFSMark's parameters; the defaults are those of the published study."""

    kind: Literal["ffsmark"] = Field(default="ffsmark", description="the workload")
    number: Positive = Field(default=5000, description="files of the pool")
    subdirectories: Count = Field(default=50, description="directories they are spread over")
    size_min: Positive = Field(default=512, description="smallest file, bytes")
    size_max: Positive = Field(default=10240, description="largest file, bytes")
    transactions: Count = Field(default=15000, description="transactions after the creation")
    read_bytes: Positive = Field(default=4096, description="unit of read(), bytes")
    write_bytes: Positive = Field(default=4096, description="unit of write(), bytes")
    bias_read: Bias = Field(default=5, description="reads against appends: of ten; -1: neither")
    bias_create: Bias = Field(
        default=5, description="creations against deletions: of ten; -1: neither"
    )
    text: bool = Field(
        default=True, description="files of printable characters, as Postmark's, not any bytes"
    )
    buffering: bool = Field(default=False, description="stdio instead of read() and write()")
    drop_caches: bool = Field(
        default=True, description="drop the page cache before creation and transactions"
    )
    verify: bool = Field(default=False, description="read every file back and compare it")
    full: bool = Field(default=False, description="record every single latency")

    @model_validator(mode="after")
    def _sizes_in_order(self) -> FfsmarkFile:
        if self.size_min > self.size_max:
            raise ValueError(f"size_min {self.size_min} is above size_max {self.size_max}")
        return self


class MicroFile(Strict):
    """Parameters of the micro-benchmark: one stream of requests to one file."""

    kind: Literal["micro"] = Field(description="the workload")
    pattern: PatternName = Field(default="random-write", description="one of uFLIP's baselines")
    request_bytes: int | str = Field(default=4096, description="size of each request")
    volume_bytes: int | str = Field(
        default=20 * 2**20, description="bytes of all requests together"
    )
    file_bytes: int | str = Field(default=0, description="size of the test file; 0: the volume")
    existing: bool | None = Field(
        default=None, description="the file is there before; absent: if the pattern reads"
    )
    limit: bool = Field(
        default=True, description="cut file and volume to what the file system leaves usable"
    )
    random: Literal["shuffle", "uniform"] = Field(
        default="shuffle", description="random order: each place once, or with replacement"
    )
    shift_bytes: int | str = Field(default=0, description="alignment: added to every offset")
    target_bytes: int | str = Field(
        default=0, description="locality: requests go to so much of the file; 0: all of it"
    )
    partitions: Positive = Field(
        default=1, description="sequential streams, one request of each in turn"
    )
    increment: Annotated[int, Field(ge=-(2**31), le=2**31)] = Field(
        default=1, description="order: step of sequential patterns in requests; -1: backwards"
    )
    parallel: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="processes, each in its own part of the target"
    )
    mix_pattern: Literal[""] | PatternName = Field(
        default="", description="second pattern, in the second half of the target"
    )
    mix_ratio: Positive = Field(default=1, description="requests of the first for one of these")
    pause_us: Count = Field(default=0, description="sleep after every burst, microseconds")
    burst: Positive = Field(default=1, description="requests between two sleeps")
    cache: Literal["drop", "bypass", "keep"] = Field(
        default="drop", description="page cache of reads: dropped before, bypassed, or kept"
    )
    fsync_every: Count = Field(default=0, description="fsync() after every n-th write; 0: never")

    @field_validator("request_bytes", "volume_bytes", "file_bytes", "shift_bytes", "target_bytes")
    @classmethod
    def _size(cls, value: int | str) -> int:
        return parse_size(value)


class TreeFile(Strict):
    """Parameters of a list of steps on a file system with directory trees."""

    kind: Literal["tree"] = Field(description="the workload")
    steps: str = Field(
        default=Tree().steps, description="words separated by spaces, each a measured phase"
    )
    files: Number = Field(default="normal(4,1)", description="files of each directory")
    directories: Number = Field(
        default="normal(3,1)", description="sub-directories of each directory"
    )
    size: Number = Field(default="normal(1024,64)", description="size of a file, bytes")
    depth: Number = Field(default=5, description="levels of directories below the tree's top")
    contents: Literal["random", "text", "compressible"] = Field(
        default="random", description="what is in the files"
    )
    compressibility_percent: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0, description="contents = compressible: what a compressor can save"
    )
    write_bytes: Annotated[int, Field(ge=1, le=2**26)] = Field(
        default=4096, description="unit of write(), bytes; at most 64 MiB"
    )
    sync: bool = Field(default=False, description="fsync() of each created file")
    list_stat: bool = Field(
        default=True, description="list and find lstat() every entry, as those of busybox do"
    )
    find_name: str = Field(
        default="no-such-name", pattern=r"^[^/\x00]{1,255}$", description="what find looks for"
    )

    @field_validator("files", "directories", "size", "depth")
    @classmethod
    def _distribution(cls, value: Any) -> str:
        return str(parse_distribution(value))

    @field_validator("steps")
    @classmethod
    def _one_space(cls, value: str) -> str:
        return " ".join(value.split())


WORKLOAD_MODELS: Mapping[str, type[Strict]] = {
    "ffsmark": FfsmarkFile,
    "micro": MicroFile,
    "tree": TreeFile,
}
WORKLOAD_KINDS = tuple(WORKLOAD_MODELS)


def workload_kind(table: Any) -> str:
    """The kind that a workload's table names; FFSMark if it names none."""
    if isinstance(table, Mapping):
        return str(table.get("kind", "ffsmark"))
    return str(getattr(table, "kind", "ffsmark"))


WorkloadFile = Annotated[
    Annotated[FfsmarkFile, Tag("ffsmark")]
    | Annotated[MicroFile, Tag("micro")]
    | Annotated[TreeFile, Tag("tree")],
    Discriminator(
        workload_kind,
        custom_error_type="workload_kind",
        custom_error_message="kind must be one of: " + ", ".join(WORKLOAD_KINDS),
    ),
]
