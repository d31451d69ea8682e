"""The needs file: what a product asks of its flash, as people state it, and what contradicts it.

`docs/advise.md` describes the keys. Nothing here knows a file system: which of them can meet the
needs is what the rest of the package finds out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, model_validator

from ffslab.documents import document
from ffslab.errors import SpecError, UsageError
from ffslab.loader import catalog_files, parse_toml, read_text
from ffslab.model.catalog import Catalog
from ffslab.model.files import Name, Percent
from ffslab.model.names import suggestion
from ffslab.model.specs import Board, Chip
from ffslab.model.strict import Count, Size, Strict
from ffslab.model.units import format_size, parse_size
from ffslab.paths import data_dir
from ffslab.program import command, program

Pattern = Literal["log", "database", "stream"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
SECONDS_A_DAY = 86_400
DAYS_A_YEAR = 365.25
_NS_A_SECOND = 1_000_000_000
_NS_A_MS = 1_000_000
_PERCENT = 100
# What a candidate may vary; `ffslab.advise.candidates` has the values.
Option = Literal[
    "compression", "lower_compression", "summary", "fastmap", "beb_per1024", "write_mode"
]
OPTIONS: tuple[Option, ...] = get_args(Option)
CUT_STATES = 1000  # a minute for all candidates of a usual needs file

# Above 0 and up to a bound that no product comes near.
Seconds = Annotated[float, Field(gt=0, le=1e6)]
Milliseconds = Annotated[float, Field(gt=0, le=1e9)]
Years = Annotated[float, Field(gt=0, le=1000)]
Files = Annotated[int, Field(ge=1, le=10**7)]


class ContentFile(Strict):
    """[content]: what is on the flash and is there at each boot."""

    tree: str = Field(default="", description="a tree of the catalog, a directory, a tar archive")
    size: Size = Field(default=0, description="all its files together")
    files: Files = Field(default=1, description="without a tree: how many files")
    compressible_percent: Percent = Field(default=0, description="what a compressor saves of it")
    free: Size = Field(default=0, description="space that must be left beside it")


class LimitsFile(Strict):
    """[limits]: each that is absent is no need."""

    boot_s: Seconds | None = Field(default=None, description="from mount to the end of ls")
    ram: Size | None = Field(default=None, description="RAM that the file system may take")
    write_ms: Milliseconds | None = Field(
        default=None, description="the longest write, with its sync"
    )


class WritesFile(Strict):
    """[writes]: what the product writes."""

    pattern: Pattern = Field(
        description="log: lines appended; database: records anywhere in a "
        "file; stream: a file written over from its beginning"
    )
    per_day: Size = Field(description="bytes written a day")
    years: Years | None = Field(default=None, description="how long the flash must live")
    record: Size = Field(default=128, description="bytes of a line, a record or a request")
    sync_every: Count = Field(default=1, description="a sync after so many; 0: never")
    file: Size = Field(default=0, description="log: rotated at that size; else the file's size")


class ConsiderFile(Strict):
    """[consider]: what may be chosen from; all by default."""

    filesystems: list[Name] = Field(default=[], description="only these")
    options: list[Option] = Field(
        default=list(OPTIONS), description="options that may differ from their defaults"
    )
    partitions: list[Size] = Field(default=[], description="other possible sizes")
    mainline: bool = Field(default=False, description="only what Linux contains")


class NeedsFile(Strict):
    """A needs file."""

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    # Not `Name = Field(max_length=60)`: pydantic lets the bound of Name itself stand.
    name: Annotated[Name, Field(max_length=60)] = Field(description="short name")
    title: str = Field(default="", description="one line")
    board: Name | None = Field(default=None, description="a board of the catalog")
    chip: Name | None = Field(default=None, description="instead: a chip that one board has")
    partition: Size = Field(description="the partition's size")
    power_cuts: bool = Field(description="whether power may fail at any time")
    cut_states: Count = Field(
        default=CUT_STATES,
        description="states after a power cut that are gone through for each file system and "
        "history; 0: all",
    )
    as_promised_percent: Annotated[float, Field(gt=0, le=100)] = Field(
        default=100.0, description="how many of its states must be as the file system promises"
    )
    content: ContentFile = Field(default=ContentFile(), description="what is on the flash")
    limits: LimitsFile = Field(default=LimitsFile(), description="what must not be exceeded")
    writes: WritesFile | None = Field(default=None, description="what is written")
    consider: ConsiderFile = Field(default=ConsiderFile(), description="what to choose from")

    @model_validator(mode="after")
    def _board_or_chip(self) -> NeedsFile:
        if (self.board is None) == (self.chip is None):
            raise ValueError("state either board or chip")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """What is written; sizes in bytes, `years` None: for as long as it lasts."""

    pattern: Pattern
    per_day_bytes: int
    years: float | None
    record_bytes: int
    sync_every: int
    file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """A checked needs file. A limit that is None is no need.

    `content_bytes` is the size of all files that stand there, `free_bytes` what must be left
    beside them; `partitions` are other possible sizes.
    """

    name: str
    title: str
    board: Board
    partition_bytes: int
    power_cuts: bool
    cut_states: int
    as_promised_percent: float
    tree: str
    content_bytes: int
    files: int
    compressible_percent: int
    free_bytes: int
    boot_ns: float | None
    ram_bytes: int | None
    write_ns: float | None
    writes: Writes | None
    filesystems: tuple[str, ...]
    options: tuple[str, ...]
    partitions: tuple[int, ...]
    mainline: bool

    @property
    def chip(self) -> Chip:
        """The chip under the partition."""
        return self.board.chip

    @property
    def packed_bytes(self) -> int:
        """The content as a compressor would leave it; an estimate from what the file says."""
        return self.content_bytes * (_PERCENT - self.compressible_percent) // _PERCENT


def find_needs(named: str, own: Sequence[Path] = ()) -> Path:
    """The file of needs that a command names: a path, or the name of a shipped or own one.

    UsageError for a name that there is not.
    """
    path = Path(named)
    if path.suffix or os.sep in named or path.is_file():
        return path
    files = catalog_files(data_dir("examples"), "needs", own)
    if named in files:
        return files[named]
    raise UsageError(
        f"no needs are called {named!r}{suggestion(named, files)}",
        cause=f"neither a file nor one of: {', '.join(sorted(files))}",
        remedy=f"{program()} new needs {named}",
    )


def load_needs(path: Path, catalog: Catalog) -> Needs:
    """The needs of a file; SpecError for what cannot be right."""
    text = read_text(path)
    return needs_of(parse_toml(text, str(path)), catalog, str(path))


def needs_of(parsed: Mapping[str, Any], catalog: Catalog, where: str) -> Needs:
    """The needs of a document; SpecError for unknown keys, unknown names, contradictions."""
    file = _shaped(parsed, where)
    try:
        needs = Needs(
            name=file.name,
            title=file.title or file.name,
            board=_board(file, catalog, where),
            partition_bytes=parse_size(file.partition),
            power_cuts=file.power_cuts,
            cut_states=file.cut_states,
            as_promised_percent=file.as_promised_percent,
            tree=_tree(file.content.tree, where),
            content_bytes=parse_size(file.content.size),
            files=file.content.files,
            compressible_percent=file.content.compressible_percent,
            free_bytes=parse_size(file.content.free),
            boot_ns=None if file.limits.boot_s is None else file.limits.boot_s * _NS_A_SECOND,
            ram_bytes=None if file.limits.ram is None else parse_size(file.limits.ram),
            write_ns=None if file.limits.write_ms is None else file.limits.write_ms * _NS_A_MS,
            writes=_writes(file.writes),
            filesystems=tuple(dict.fromkeys(file.consider.filesystems)),
            options=tuple(dict.fromkeys(file.consider.options)),
            partitions=tuple(dict.fromkeys(map(parse_size, file.consider.partitions))),
            mainline=file.consider.mainline,
        )
    except ValueError as error:  # of parse_size
        raise SpecError(f"{where}: {error}", cause="a size", remedy=f"edit {where}") from error
    _check_names(needs, catalog, where)
    for check in _CONTRADICTIONS:
        refusal = check(needs)
        if refusal is not None:
            what, cause = refusal
            raise SpecError(f"{where}: {what}", cause=cause, remedy=f"edit {where}")
    return needs


def _shaped(parsed: Mapping[str, Any], where: str) -> NeedsFile:
    try:
        return NeedsFile.model_validate(dict(parsed))
    except ValidationError as error:
        raise SpecError(
            f"{where}: " + "; ".join(_problem(dict(item)) for item in error.errors()),
            cause="a misspelt key or a value of the wrong kind",
            remedy=f"see {document('docs/advise.md')}",
        ) from error


def _problem(item: Mapping[str, Any]) -> str:
    # What pydantic calls the two ways to write a size is no part of the place.
    path = ".".join(str(part) for part in item["loc"] if part not in ("constrained-int", "str"))
    if item["type"] == "extra_forbidden":
        known = {**NeedsFile.model_fields}
        for key in item["loc"][:-1]:
            shape = _TABLES.get(str(key))
            known = {**shape.model_fields} if shape else {}
        names = [field.alias or name for name, field in known.items()]
        return f"unknown key {path!r}{suggestion(str(item['loc'][-1]), names)}"
    if item["type"] == "missing":
        return f"key {path!r} is missing"
    return f"{path or 'document'}: {str(item['msg']).removeprefix('Value error, ')}"


_TABLES: Mapping[str, type[Strict]] = {
    "content": ContentFile,
    "limits": LimitsFile,
    "writes": WritesFile,
    "consider": ConsiderFile,
}


def _tree(stated: str, where: str) -> str:
    """A tree of the catalog, or a path, which is relative to the needs file."""
    path = Path(where).parent / stated
    return str(path.resolve()) if stated and ("/" in stated or path.exists()) else stated


def _writes(file: WritesFile | None) -> Writes | None:
    if file is None:
        return None
    return Writes(
        pattern=file.pattern,
        per_day_bytes=parse_size(file.per_day),
        years=file.years,
        record_bytes=parse_size(file.record),
        sync_every=file.sync_every,
        file_bytes=parse_size(file.file),
    )


def _board(file: NeedsFile, catalog: Catalog, where: str) -> Board:
    if file.board is not None:
        return catalog.board(file.board)
    chip = catalog.chip(str(file.chip))
    having = [board for board in catalog.boards.values() if board.chip.name == chip.name]
    if len(having) == 1:
        return having[0]
    names = ", ".join(board.name for board in having)
    raise SpecError(
        f"{where}: {'several boards have' if having else 'no board has'} the chip {chip.name}"
        + (f": {names}" if having else ""),
        cause="a time needs a processor and a driver beside the chip, and a board states them",
        remedy=f'board = "{having[0].name}" in {where}'
        if having
        else command("new", "board", "my-board", "--extends", "apf27", "--chip", chip.name),
    )


def _check_names(needs: Needs, catalog: Catalog, where: str) -> None:
    for name in needs.filesystems:
        if name not in catalog.filesystems:
            raise SpecError(
                f"{where}: no file system {name!r}{suggestion(name, catalog.filesystems)}",
                cause="a misspelt name in consider.filesystems",
                remedy=command("list", "filesystems"),
            )


# What contradicts what: a sentence, and the likely cause.
_Found = tuple[str, str] | None


def _nothing_asked(needs: Needs) -> _Found:
    years = needs.writes is not None and needs.writes.years is not None
    limits = (needs.boot_ns, needs.ram_bytes, needs.write_ns)
    if (
        years
        or needs.power_cuts
        or needs.content_bytes
        or any(limit is not None for limit in limits)
    ):
        return None
    return "it states no need", "no [limits], no [content], no years of writing, no power cuts"


def _beyond_the_chip(needs: Needs) -> _Found:
    for size in (needs.partition_bytes, *needs.partitions):
        if size > needs.chip.size_bytes:
            chip = f"{needs.chip.name} has {format_size(needs.chip.size_bytes)}"
            return f"a partition of {format_size(size)} on a chip that is smaller: {chip}", (
                "another board is meant, or a unit is wrong"
            )
        if size < needs.chip.block_bytes:
            return f"a partition of {format_size(size)} has no whole erase block", "a unit"
    return None


def _content_without_size(needs: Needs) -> _Found:
    if needs.tree and not needs.content_bytes:
        return "content.tree without content.size", (
            "the cases that write need to know how much of the flash never changes: du -sb"
        )
    return None


def _too_much_content(needs: Needs) -> _Found:
    largest = max((needs.partition_bytes, *needs.partitions))
    needed = needs.packed_bytes + needs.free_bytes
    if needed <= largest:
        return None
    packed = f"{format_size(needs.packed_bytes)} even when compressed as stated"
    return (
        f"content of {packed}, and {format_size(needs.free_bytes)} free beside it, do not fit "
        f"into {format_size(largest)}",
        "the partition is too small, or compressible_percent too low",
    )


def _too_large_a_file(needs: Needs) -> _Found:
    if needs.writes is None:
        return None
    room = max((needs.partition_bytes, *needs.partitions)) - needs.packed_bytes
    if needs.writes.file_bytes > room:
        return (
            f"the written file of {format_size(needs.writes.file_bytes)} does not fit beside the "
            f"content: {format_size(room)} are left"
        ), "the partition is too small for both"
    if needs.writes.pattern != "log" and not needs.writes.file_bytes:
        return f"writes.pattern {needs.writes.pattern!r} without writes.file", (
            "where the records are written depends on how large their file is"
        )
    return None


def _writes_without_volume(needs: Needs) -> _Found:
    writes = needs.writes
    if writes is None:
        if needs.write_ns is not None:
            return "limits.write_ms without [writes]", "the pattern of the writes is not stated"
        return None
    if writes.per_day_bytes < writes.record_bytes or not writes.record_bytes:
        return (
            f"{format_size(writes.per_day_bytes)} a day are less than one record of "
            f"{format_size(writes.record_bytes)}"
        ), "a unit is wrong"
    if writes.pattern == "log" and not 16 <= writes.record_bytes <= 64 * 1024:
        return "a line of a log has 16 B to 64 KiB", "a unit, or the pattern stream is meant"
    return None


def _faster_than_the_chip(needs: Needs) -> _Found:
    """More a day than the chip can program, whatever the file system."""
    if needs.writes is None:
        return None
    chip = needs.chip
    day_ns = SECONDS_A_DAY * _NS_A_SECOND
    per_day = needs.writes.per_day_bytes * (_PERCENT - needs.compressible_percent) / _PERCENT
    if per_day * chip.t_prog_ns > chip.page_bytes * day_ns:
        fastest = chip.page_bytes * day_ns / chip.t_prog_ns
        return (
            f"{format_size(needs.writes.per_day_bytes)} a day are more than {chip.name} programs "
            f"in a day without a pause: {format_size(int(fastest))}"
        ), "a unit is wrong, or it is the volume of a year"
    return None


def _longer_than_the_chip(needs: Needs) -> _Found:
    """More than the partition can take, were each byte programmed once and all blocks alike."""
    writes = needs.writes
    if writes is None or writes.years is None:
        return None
    endurance = needs.chip.endurance_cycles
    if not endurance:
        return (
            f"writes.years on the chip {needs.chip.name}, which states no endurance",
            "the chip's file has endurance_cycles = 0, which means: no limit",
        )
    packed = (_PERCENT - needs.compressible_percent) / _PERCENT
    wanted = writes.per_day_bytes * DAYS_A_YEAR * writes.years * packed
    most = max((needs.partition_bytes, *needs.partitions)) * endurance
    if wanted > most:
        return (
            f"{format_size(int(wanted))} in {writes.years:g} years are more than the "
            f"partition's blocks endure, even if all wear alike: {format_size(most)}"
        ), "the volume a day, the years, or the partition's size"
    return None


def _more_ram_than_there_is(needs: Needs) -> _Found:
    if needs.ram_bytes is not None and needs.ram_bytes > needs.board.ram_bytes:
        return (
            f"{format_size(needs.ram_bytes)} of RAM on the board {needs.board.name}, which has "
            f"{format_size(needs.board.ram_bytes)}"
        ), "limits.ram is what the file system may take, not what the board has"
    return None


_CONTRADICTIONS: tuple[Callable[[Needs], _Found], ...] = (
    _nothing_asked,
    _beyond_the_chip,
    _content_without_size,
    _too_much_content,
    _writes_without_volume,
    _too_large_a_file,
    _faster_than_the_chip,
    _longer_than_the_chip,
    _more_ram_than_there_is,
)
