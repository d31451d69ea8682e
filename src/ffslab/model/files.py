"""The shape of the TOML files: studies and the catalog, checked at the border.

pydantic is used here only; the rest of ffslab sees the frozen values of
`ffslab.model.specs`. Every model refuses unknown keys; `ffslab.model.validation`
holds a document against one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    field_validator,
    model_validator,
)

from ffslab.model.bounds import LimitFile
from ffslab.model.figures import ALL_CHIP_ROWS, BOARD_ROWS, BOARD_SPI_ROWS, FigureRow
from ffslab.model.rating import RatingFile
from ffslab.model.specs import CPU_SCALE_MAX
from ffslab.model.strict import Count, Positive, Size, Strict
from ffslab.model.units import parse_size
from ffslab.model.workload import Workloads, WorkloadType
from ffslab.model.workload_file import file_of

Percent = Annotated[int, Field(ge=0, le=100)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
# With the time in front of it a study's name names a directory: 255 bytes.
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)]
Integer = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]  # rows of figures narrow it
Scale = (
    Annotated[float, Field(ge=0, le=CPU_SCALE_MAX)] | Annotated[int, Field(ge=0, le=CPU_SCALE_MAX)]
)
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
_OWN_MODULES = (
    *("vnand", "flashmon", "flashmon_below"),
    *("vnor", "flashmon_nor", "flashmon_nor_below"),
)
# Variables of make by which ffslab says where and how a module is built.
_OWN_VARIABLES = ("ARCH", "CC", "KCFLAGS", "M", "O")


class Figure(Strict):
    """A number or word of the catalog with where it is from.

    A value alone, without table and source, is an estimate by the user.
    """

    value: Integer | bool | str = Field(description="the figure in the unit its key names")
    source: str | None = Field(
        default=None,
        min_length=3,
        description="publication, data sheet or derivation; without it: an estimate by the user",
    )
    estimate: bool | None = Field(
        default=None, description="true: neither published nor measured; goes with a source"
    )

    @model_validator(mode="before")
    @classmethod
    def _value_alone(cls, value: Any) -> Any:
        return value if isinstance(value, (Mapping, Figure)) else {"value": value}

    @field_validator("value", mode="before")
    @classmethod
    def _kind(cls, value: Any) -> Any:
        if not isinstance(value, (int, str)):
            raise ValueError("a figure is a whole number, true or false, or a word")
        return value

    @model_validator(mode="after")
    def _has_a_source(self) -> Figure:
        if self.source is None and self.estimate is False:
            raise ValueError("a figure that is not an estimate needs its source")
        if self.source is not None and self.estimate is None:
            raise ValueError("beside a source, say whether it is an estimate: estimate = …")
        return self


def _figures_schema(rows: Sequence[FigureRow]) -> Callable[[dict[str, Any]], None]:
    """What makes the JSON Schema of `figures` name each of them, for editors."""

    def described(row: FigureRow, figure: Any) -> dict[str, Any]:
        alone: dict[str, Any] = {"type": "integer", "minimum": row.least, "maximum": row.most}
        if row.words:
            alone = {"enum": list(row.words)}
        return {"description": row.described, "anyOf": [figure, alone]}

    def change(schema: dict[str, Any]) -> None:
        figure = schema.pop("additionalProperties")
        schema["properties"] = {row.name: described(row, dict(figure)) for row in rows}
        schema["additionalProperties"] = False

    return change


class _ExtendingFile(Strict):
    """What chips and boards have in common."""

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    name: Name = Field(description="the name of the file, without .toml")
    extends: Name | None = Field(
        default=None, description="the source of all figures that it does not state itself"
    )


class ChipFile(_ExtendingFile):
    """catalog/chips/NAME.toml."""

    title: str | None = Field(default=None, description="one line; required without extends")
    kind: Literal["nand", "spi-nand", "spi-nor"] | None = Field(
        default=None, description="absent: nand, or with extends the kind of the other chip"
    )
    figures: dict[str, Figure] = Field(
        default={},
        description="all figures of a chip of its kind, or with extends those that differ",
        json_schema_extra=_figures_schema(ALL_CHIP_ROWS),
    )

    @model_validator(mode="after")
    def _whole(self) -> ChipFile:
        return _whole_or_extending(self, ("title",))


class PartitionFile(Strict):
    """A partition in front of the one under test."""

    name: Name
    size: Size


class BoardFile(_ExtendingFile):
    """catalog/boards/NAME.toml."""

    title: str | None = Field(default=None, description="one line; required without extends")
    chip: Name | None = Field(default=None, description="a chip; required without extends")
    cpu: str | None = Field(default=None, description="processor; required without extends")
    calibrated: bool | None = Field(
        default=None,
        description="measured on the board itself; required without extends, else false",
    )
    derivation: str | None = Field(
        default=None,
        min_length=10,
        description="how the CPU's figures were found; required without extends",
    )
    figures: dict[str, Figure] = Field(
        default={},
        description="all of them, or with extends those that differ",
        json_schema_extra=_figures_schema((*BOARD_ROWS, *BOARD_SPI_ROWS)),
    )
    partitions: list[PartitionFile] | None = Field(
        default=None, description="partitions in front of the one under test; absent: none"
    )

    @model_validator(mode="after")
    def _whole(self) -> BoardFile:
        return _whole_or_extending(self, ("title", "chip", "cpu", "calibrated", "derivation"))


E = TypeVar("E", bound=_ExtendingFile)


def _whole_or_extending(file: E, keys: Sequence[str]) -> E:
    missing = [key for key in keys if getattr(file, key) is None]
    if file.extends is None and missing:
        named = ", ".join(repr(key) for key in missing)
        raise ValueError(
            f"{named} {'is' if len(missing) == 1 else 'are'} missing, and it extends nothing"
        )
    return file


class OptionValueFile(Strict):
    """What a value of an option adds to mount(2), and to the tool that builds an image."""

    mount_options: list[str] = Field(default=[])
    image_options: list[str] = Field(default=[])
    mount_flags: list[Literal["sync", "dirsync", "noatime", "nodiratime", "ro"]] = Field(default=[])
    ubi_volume_type: Literal["dynamic", "static"] | None = Field(
        default=None,
        description="type of the UBI volume of a read-only image; dynamic if no "
        "option says otherwise",
    )
    jffs2_summaries: bool | None = Field(
        default=None,
        description="whether each erase block of a JFFS2 image ends with a summary of its nodes; "
        "false if no option says otherwise",
    )
    ubi_max_beb_per1024: Annotated[int, Field(ge=1, le=768)] | None = Field(
        default=None,
        description="blocks that UBI reserves for bad ones, per 1,024 of the whole chip; "
        "[ubi] max_beb_per1024 if no option says otherwise",
    )
    kernel: Literal["fastmap", "ubi-wear"] | None = Field(
        default=None,
        description="the variant of the lab kernel that it needs; fastmap: UBI writes a fastmap; "
        "ubi-wear: its threshold of wear leveling is 80",
    )
    kept_files: list[Annotated[str, Field(pattern=r"^/proc/[a-z0-9_/{}-]+$")]] = Field(
        default=[],
        description="files of the file system's own below /proc, kept at the end of the work; "
        "{number} is the number of the MTD device",
    )


class OptionFile(Strict):
    """An option of a file system: its default and its values."""

    default: str
    values: dict[str, OptionValueFile]

    @model_validator(mode="after")
    def _default_is_a_value(self) -> OptionFile:
        if self.default not in self.values:
            raise ValueError(f"default {self.default!r} is not one of its values")
        return self


class UbiFile(Strict):
    """How UBI is attached below a file system."""

    vid_hdr_offset: Count = 0
    max_beb_per1024: Annotated[int, Field(ge=0, le=768)] = 20
    volume: Name = "data"
    block: bool = Field(default=False, description="mounted from a block device of the volume")


class ImageFile(Strict):
    """How an image of a file system is built."""

    tool: Literal["jffs2", "ubifs", "yaffs2", "logfs", "squashfs", "squashfs-mtd", "erofs"]
    read_only: bool = False


class OverlayFile(Strict):
    """A read-only file system below the writable one, which overlayfs joins with it."""

    lower_type: str = Field(description="what mount(2) gets for the lower file system")
    lower_source: str = Field(
        description="likewise; a block device of the UBI volume, or /dev/mtdblock{lower}"
    )
    lower_volume: Name = Field(
        default="rootfs",
        description="volume 0, with `ubi.volume` as volume 1; without UBI the MTD partition's name",
    )


class ModuleSourceFile(Strict):
    """Sources of modules that neither Linux nor ffslab contains, and how they are built."""

    directory: str = Field(
        min_length=1,
        description="has a Kbuild file or a Makefile for kbuild; relative to this file",
    )
    config: list[str] = Field(
        default=[], description="the sources' own Kconfig symbols: CONFIG_NAME=y, =m or a value"
    )
    make_arguments: list[str] = Field(
        default=[], description="further variables for make: NAME=VALUE"
    )
    cflags: list[str] = Field(
        default=[], description="further flags for the compiler; {source} is the directory"
    )

    @field_validator("config")
    @classmethod
    def _symbols(cls, value: list[str]) -> list[str]:
        for symbol in value:
            if not re.fullmatch(r"CONFIG_\w+=\S+", symbol):
                raise ValueError(f"{symbol!r} is not CONFIG_NAME=VALUE")
        return value

    @field_validator("make_arguments")
    @classmethod
    def _assignments(cls, value: list[str]) -> list[str]:
        for argument in value:
            name, equals, _ = argument.partition("=")
            if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise ValueError(f"{argument!r} is not NAME=VALUE")
            if name in _OWN_VARIABLES or name.startswith("KBUILD_"):
                raise ValueError(f"{name} is set by ffslab itself")
        return value

    @field_validator("cflags")
    @classmethod
    def _flags(cls, value: list[str]) -> list[str]:
        for flag in value:
            if "$" in flag:
                raise ValueError(f"{flag!r}: no $ is expanded; {{source}} is the directory")
        return value


class FilesystemFile(Strict):
    """catalog/filesystems/NAME.toml."""

    schema_version: Literal[1] = Field(alias="schema")
    name: Name
    title: str
    type: str = Field(
        description="what mount(2) gets: a file system of Linux for flash, or one from `modules`"
    )
    source: str
    min_blocks: Positive
    modules: list[ModuleName] = Field(default=[])
    module_source: ModuleSourceFile | None = None
    ubi: UbiFile | None = None
    image: ImageFile | None = None
    overlay: OverlayFile | None = None
    options: dict[str, OptionFile] = Field(default={})
    mainline: str = Field(
        default="", description="since which version Linux has it; empty: it does not"
    )

    @field_validator("modules")
    @classmethod
    def _no_own_module(cls, value: list[str]) -> list[str]:
        for name in value:
            if name in _OWN_MODULES or value.count(name) > 1:
                raise ValueError(f"module {name!r} would be loaded twice")
        return value

    @model_validator(mode="after")
    def _parts_fit(self) -> FilesystemFile:
        values = [value for option in self.options.values() for value in option.values.values()]
        read_only_on_ubi = self.ubi is not None and self.image is not None and self.image.read_only
        if any(value.ubi_volume_type for value in values) and not read_only_on_ubi:
            raise ValueError(
                "ubi_volume_type needs [ubi], and [image] with read_only = true: "
                "the volume of a file system that is written to is dynamic"
            )
        if self.overlay is not None and self.ubi is not None and not self.ubi.block:
            raise ValueError("overlay needs [ubi] with block = true: the lower one is on volume 0")
        divides = {"mtdblock", "mtdsplit"} <= set(self.modules) and self.source.startswith("mtd:")
        if self.overlay is not None and self.ubi is None and not divides:
            raise ValueError(
                "overlay needs [ubi] with block = true, or "
                'modules = ["overlay", "mtdblock", "mtdsplit"] and source = "mtd:NAME"'
            )
        if self.overlay is not None and "overlay" not in self.modules:
            raise ValueError('overlay needs modules = ["overlay"]')
        if any(value.ubi_max_beb_per1024 for value in values) and self.ubi is None:
            raise ValueError("ubi_max_beb_per1024 needs [ubi]")
        of_jffs2 = self.image is not None and self.image.tool == "jffs2"
        if any(value.jffs2_summaries is not None for value in values) and not of_jffs2:
            raise ValueError('jffs2_summaries needs [image] with tool = "jffs2"')
        if self.module_source is not None and not self.modules:
            raise ValueError(
                "module_source needs `modules`: what is built there, in the order of loading"
            )
        return self


class StateFile(Strict):
    """An initial state; also catalog/states/NAME.toml."""

    name: str = Field(default="", pattern=r"^$|^[a-z0-9][a-z0-9._-]*$", description="its name")
    kind: Literal["", "free", "aged", "saturated", "filled", "image"] = Field(
        default="",
        description="absent: filled with a rate, aged with shares, image with a tree, else free",
    )
    valid_percent: Percent = Field(default=0, description="valid data, of the space available")
    invalid_percent: Percent = Field(default=0, description="invalid data, likewise")
    rate_percent: Percent = Field(default=0, description="filled: valid data, of rate_of_bytes")
    rate_of_bytes: Size = Field(
        default=0, description="filled: what rate_percent is a share of; 0: the partition"
    )
    settle_ms: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0, description="virtual time between making data invalid and the first request"
    )
    remount: bool = Field(
        default=True,
        description="prepare in a guest of its own, keep a snapshot, mount that; "
        "false: the workload's guest prepares and goes on",
    )
    tree: str = Field(
        default="",
        description="image: the tree that it is built from: one of `ffslab list trees`, a "
        "directory, or a tar archive; absent: embedded-rootfs",
    )

    @field_validator("rate_of_bytes")
    @classmethod
    def _size(cls, value: int | str) -> int:
        return parse_size(value) if value else 0


class BaseFile(Strict):
    """What all cases of a study share unless an axis says otherwise."""

    board: Name = Field(description="a board of the catalog")
    filesystem: Name = Field(default="", pattern=r"^$|^[a-z0-9]", description="a file system")
    options: dict[str, str] = Field(default={}, description="file-system options by name")
    kernel: str = Field(
        default="default",
        description="the lab kernel: default, period (as kernels of 2009 to 2011 were), or "
        "period: with the switches that are on, joined by +, or none",
    )
    period: dict[str, bool] = Field(
        default={}, description="single switches of the period kernel by name"
    )
    partition_bytes: Size | None = Field(
        default=None, description="size of the partition under test; absent: all of the chip"
    )
    ubi_volume_bytes: Size | None = Field(
        default=None, description="size of the file system's UBI volume; absent: all there is"
    )
    state: str | StateFile = Field(default="free", description="initial state: name or table")
    workload: Any = Field(default=None, description="the workload")  # see `study_shape`
    seeds: list[Seed] = Field(default=[1], min_length=1, description="one case for each")
    cpu_scale: Scale = Field(
        default=1.0, description="multiplies the board's CPU costs; 0: the CPU is free"
    )

    @field_validator("partition_bytes", "ubi_volume_bytes")
    @classmethod
    def _size(cls, value: int | str | None) -> int | None:
        return None if value is None else parse_size(value)


class PartFile(Strict):
    """A part of a study: settings and axes that the rest does not have."""

    name: Name = Field(description="the part's name, first in the ids of its cases")
    title: str = Field(default="", description="one line")
    chapter: str = Field(
        default="",
        description="the chapter of the report that shows it; without one, its workload's chapter",
    )
    settings: dict[str, Any] = Field(
        default={}, alias="set", description="settings instead of those of the base"
    )
    axes: dict[str, Any] = Field(
        default={}, description="further axes, or others in place of the study's"
    )


class CompareFile(Strict):
    """The table `[compare]`."""

    figures: list[str] = Field(
        min_length=1,
        max_length=8,
        description="the deciding figures, instead of those of the scoreboard",
    )


class SizesFile(Strict):
    """[sizes] of a study: the code of its file systems is measured, and stands in the report."""

    architectures: list[Literal["um", "arm"]] = Field(
        default=["um", "arm"],
        min_length=1,
        description="what it is compiled for: the lab kernel, an ARM board",
    )


class StudyFile(Strict):
    """studies/NAME.toml: docs/study-format.md describes every key."""

    model_config = ConfigDict(title="ffslab study", defer_build=False)

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    name: Name = Field(description="short name, the second half of a run's name")
    title: str = Field(description="one line")
    description: str = Field(default="", description="what the study asks and where it is from")
    base: BaseFile = Field(description="what all cases share")
    axes: dict[str, Any] = Field(
        default={}, description="lists of values; the cases are their product"
    )
    part: list[PartFile] = Field(
        default=[], description="if present, the cases are those of all parts, one after the other"
    )
    include: list[dict[str, Any]] = Field(
        default=[], description="if present, a case must match one of these rules"
    )
    exclude: list[dict[str, Any]] = Field(
        default=[], description="a case that matches one of these rules is left out"
    )
    rating: RatingFile | None = Field(
        default=None, description="rules that rate the file systems in words"
    )
    limits: list[LimitFile] = Field(
        default=[], description="what figures of the cases may be at most, or are at least"
    )
    compare: CompareFile | None = Field(
        default=None, description="the figures that decide when runs are compared"
    )
    sizes: SizesFile | None = Field(
        default=None, description="the size of the file systems' code, beside the cases"
    )


@lru_cache(maxsize=4)
def _study_shape(kinds: tuple[WorkloadType[Any], ...]) -> type[StudyFile]:
    assumed = next(kind for kind in kinds if kind.assumed)

    def named(table: Any) -> str:
        if isinstance(table, Mapping):
            return str(table.get("kind", assumed.kind))
        return str(getattr(table, "kind", assumed.kind))

    tagged: list[Any] = [Annotated[file_of(kind), Tag(kind.kind)] for kind in kinds]
    shapes: Any = reduce(or_, tagged)
    known = ", ".join(kind.kind for kind in kinds)
    workload: Any = Annotated[
        shapes,
        Discriminator(
            named,
            custom_error_type="workload_kind",
            custom_error_message=f"kind must be one of: {known}",
        ),
    ]
    default = Field(default=file_of(assumed)(), description="the workload")
    base = create_model("BaseFile", __base__=BaseFile, workload=(workload, default))
    stated = Field(description="what all cases share")
    return create_model("StudyFile", __base__=StudyFile, base=(base, stated))


def study_shape(workloads: Workloads) -> type[StudyFile]:
    """The shape of a study whose workloads may be of these kinds."""
    return _study_shape(tuple(workloads.values()))
