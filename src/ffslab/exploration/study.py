"""What is to be explored: a file, like that of a study, that names file systems, workloads, cuts.

Board, partition and file systems are those of a study's `[base]` and `[axes]`, and have the same
keys. Beside them stand the workloads, each a history with its size, and which cuts are made of it.

By default the chip takes no time and the CPU is free: a file system that survives a cut does so
whatever the time, and states are gone through ten times as fast. `timing = "board"` keeps the
board's times, of which the costs of recovery are then told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from ffslab.errors import SpecError, UsageError
from ffslab.loader import load_catalog, parse_toml, read_text
from ffslab.model.case import Case
from ffslab.model.catalog import Catalog
from ffslab.model.files import Name
from ffslab.model.limits import check_chip
from ffslab.model.names import suggestion
from ffslab.model.nor import refused_by_nor
from ffslab.model.specs import Board
from ffslab.model.strict import Count, Positive, Strict
from ffslab.model.study import expand, study_from_document
from ffslab.oracle.faults import KINDS, kinds_on
from ffslab.paths import data_dir
from ffslab.program import program

_IN_A_ROW = tuple(kind.name for kind in KINDS.values() if kind.in_a_row)
SERIES = "series"  # the name of such a workload
LOG_MIB = 256  # as much as the chip's log may take
SERIES_LOG_MIB = 768  # and of a series: JFFS2 may write its flash many times until it is full
_BESIDE_MIB = 64  # its tables, and the page cache of what is written
# Filling writes each page once, and the log has it as it was before and after.
FILLED_BYTES_MAX = (LOG_MIB - 64) // 2 * 2**20
# A workload of a study has to be there; guests of an exploration have none of it.
_NO_WORKLOAD = {"kind": "append-log", "lines": 1}
_TIMES = (
    *("t_command_ns", "t_read_ns", "t_prog_byte_ns", "t_prog_ns", "t_erase_ns"),
    *("bus_read_ps", "bus_write_ps", "ecc_read_ns", "ecc_write_ns"),
)


# Filling costs hundreds of times what all else of a state costs.
FILLED = 24


class _WorkloadFile(Strict):
    """A history: its kind, and what is other than the kind's own figures."""

    kind: Name
    name: Name | None = None
    parameters: dict[str, Count] = Field(default_factory=dict)


class _ChipFile(Strict):
    """What is changed of the board's chip."""

    factory_bad: Count | None = None
    program_fail_ppm: Annotated[int, Field(ge=0, le=10**6)] | None = None
    erase_fail_ppm: Annotated[int, Field(ge=0, le=10**6)] | None = None
    paired_distance_pages: Count | None = None


class _CutsFile(Strict):
    """Which cuts are made."""

    kinds: list[Literal[tuple(KINDS)]] = Field(default=list(KINDS))  # type: ignore[valid-type]
    variants: Positive = 1
    sample: Count = 0
    recovery_sample: Count = 0
    fill_sample: Count = FILLED
    random_sample: Count = 0
    check: Literal["full", "mount"] = "full"


class _SeriesFile(Strict):
    """One cut after the other on one flash."""

    cuts: Positive
    space_every: Count = 1000
    kinds: list[Literal[_IN_A_ROW]] = Field(  # type: ignore[valid-type]
        default=list(_IN_A_ROW), min_length=1
    )


class _File(Strict):
    """The whole file."""

    exploration: Literal[1]
    name: Name
    title: str
    description: str = ""
    timing: Literal["none", "board"] = "none"
    base: dict[str, Any]
    axes: dict[str, Any] = Field(default_factory=dict)
    exclude: list[dict[str, Any]] = Field(default_factory=list)
    chip: _ChipFile = Field(default_factory=_ChipFile)
    workload: list[_WorkloadFile] = Field(default_factory=list)
    series: _SeriesFile | None = None
    cuts: _CutsFile = Field(default_factory=_CutsFile)


@dataclass(frozen=True, slots=True)
class Cuts:
    """Which cuts are made of a history.

    `variants` are tried of each kind whose seed leaves something open. `sample` states are drawn
    from all, 0: none is left out. Of so many recoveries (`recovery_sample`) every cut is made, too.
    So many states (`fill_sample`) are filled until they are full. What became of so many
    (`random_sample`) is told by itself as well, as in an experiment that cuts at random.
    """

    kinds: tuple[str, ...]
    variants: int
    sample: int
    recovery_sample: int
    fill_sample: int
    check: str
    random_sample: int = 0


@dataclass(frozen=True, slots=True)
class HistoryChoice:
    """A workload: the kind of history, its name in results, what is other than usual."""

    kind: str
    name: str
    parameters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Series:
    """So many `cuts` of these `kinds` in a row on one flash, which is filled every so many."""

    cuts: int
    space_every: int
    kinds: tuple[str, ...]

    def on(self, case: Case) -> Series:
        """With the kinds that the case's chip has."""
        return replace(self, kinds=kinds_on([case.board.chip.technology], self.kinds))


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an exploration is of. `cases` are the file systems on their boards, in order.

    `boards` are these boards with their own times, which those of the cases have if it `is_timed`.
    """

    name: str
    title: str
    description: str
    text: str
    cases: tuple[Case, ...]
    boards: tuple[Board, ...]
    is_timed: bool
    workloads: tuple[HistoryChoice, ...]
    cuts: Cuts
    paired_distance_pages: int = 0
    series: Series | None = None

    @property
    def technologies(self) -> frozenset[str]:
        """NAND, NOR or both: what the boards' chips are."""
        return frozenset(board.chip.technology for board in self.boards)


def find_exploration(name_or_path: str) -> Path:
    """A shipped exploration by its name, or a file; UsageError if neither."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    known = shipped()
    if name_or_path not in known:
        raise UsageError(
            f"no exploration {name_or_path!r}{suggestion(name_or_path, known)}",
            cause="it is neither a shipped exploration nor a file",
            remedy=f"{program()} crash list",
        )
    return known[name_or_path]


def shipped() -> dict[str, Path]:
    """The explorations that come with ffslab, by name."""
    return {path.stem: path for path in sorted(data_dir("explorations").glob("*.toml"))}


def load_exploration(name_or_path: str, catalogs: Sequence[Path] = ()) -> Exploration:
    """Reads and checks an exploration; SpecError or UsageError for whatever is wrong."""
    path = find_exploration(name_or_path)
    return exploration_of(read_text(path), str(path), load_catalog(catalogs))


def exploration_of(text: str, where: str, catalog: Catalog) -> Exploration:
    """The exploration that a file's text describes."""
    parsed = _validated(parse_toml(text, where), where)
    cases, boards = _cases(parsed, where, catalog)
    workloads = tuple(
        HistoryChoice(one.kind, one.name or one.kind, one.parameters) for one in parsed.workload
    )
    names = [one.name for one in workloads]
    if parsed.series:
        names.append(SERIES)
    if not names:
        raise SpecError(
            f"{where}: nothing to explore",
            cause="it has neither a [[workload]] nor a [series]",
            remedy="add one; docs/power-cuts.md lists the keys",
        )
    if len(set(names)) < len(names):
        raise SpecError(
            f"{where}: two workloads have one name",
            cause="results tell them apart by it",
            remedy='give one of them another: name = "…"',
        )
    cuts = parsed.cuts
    kinds = _there(cuts.kinds, cases, where)
    largest = max(case.partition_bytes for case in cases)
    fills = parsed.workload and cuts.fill_sample and cuts.check == "full"
    measures = parsed.series and parsed.series.space_every
    if (fills or measures) and largest > FILLED_BYTES_MAX:
        raise SpecError(
            f"{where}: a partition of {largest // 2**20} MiB cannot be filled",
            cause=f"the chip's log has each page twice, and {LOG_MIB} MiB in all",
            remedy=f"{'fill_sample = 0' if fills else 'space_every = 0'}, "
            f"or at most {FILLED_BYTES_MAX // 2**20} MiB",
        )
    return Exploration(
        name=parsed.name,
        title=parsed.title,
        description=parsed.description.strip(),
        text=text,
        cases=cases,
        boards=boards,
        is_timed=parsed.timing == "board",
        workloads=workloads,
        cuts=Cuts(
            kinds,
            cuts.variants,
            cuts.sample,
            cuts.recovery_sample,
            cuts.fill_sample,
            cuts.check,
            cuts.random_sample,
        ),
        paired_distance_pages=parsed.chip.paired_distance_pages or 0,
        series=_series(parsed.series, cases, where),
    )


def _series(parsed: _SeriesFile | None, cases: Sequence[Case], where: str) -> Series | None:
    if parsed is None:
        return None
    return Series(parsed.cuts, parsed.space_every, _there(parsed.kinds, cases, where))


def _there(kinds: Sequence[str], cases: Sequence[Case], where: str) -> tuple[str, ...]:
    """Those of the kinds that the chips of the cases have; each chip has some."""
    for chip in (case.board.chip for case in cases):
        if not kinds_on([chip.technology], kinds):
            raise SpecError(
                f"{where}: chip {chip.name} has none of these kinds of cuts",
                cause=f"it is {chip.technology} flash",
                remedy=f"kinds: {', '.join(kinds_on([chip.technology]))}",
            )
    return kinds_on({case.board.chip.technology for case in cases}, kinds)


def _validated(document: Mapping[str, Any], where: str) -> _File:
    if "exploration" not in document and "schema" in document:
        raise SpecError(
            f"{where} is a study, not an exploration of power cuts",
            cause="it has `schema`, and no `exploration`",
            remedy=f"{program()} run {where}",
        )
    try:
        return _File.model_validate(dict(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SpecError(
            f"{where}: {place}: {first['msg']}",
            cause="a misspelt key, or a value of another kind",
            remedy=f"edit {where}; docs/power-cuts.md lists the keys",
        ) from error


def _cases(
    parsed: _File, where: str, catalog: Catalog
) -> tuple[tuple[Case, ...], tuple[Board, ...]]:
    """The cases that base and axes make, on the chip that cuts need; and their own boards."""
    free = {} if parsed.timing == "board" else {"cpu_scale": 0}
    document = {
        "schema": 1,
        "name": parsed.name,
        "title": parsed.title,
        "base": {**free, **parsed.base, "workload": dict(_NO_WORKLOAD)},
        "axes": parsed.axes,
        "exclude": parsed.exclude,
    }
    cases = expand(study_from_document(document, catalog, where), catalog)
    for case in cases:
        reason = refused_by_nor(case)
        if reason:
            raise SpecError(
                f"{where}: {case.filesystem.name} cannot be on board {case.board.name}",
                cause=reason,
                remedy=f"leave it out, or another board: {program()} list boards",
            )
    changes = {
        key: value
        for key, value in parsed.chip.model_dump(exclude_none=True).items()
        if key != "paired_distance_pages"
    }
    for case in cases:
        check_chip(replace(case.board.chip, **changes), f"{where}: chip")
    timed = parsed.timing == "board"
    boards = tuple(case.board for case in cases)
    log_mib = max(LOG_MIB if parsed.workload else 0, SERIES_LOG_MIB if parsed.series else 0)
    own = (replace(case, board=_board(case.board, changes, timed, log_mib)) for case in cases)
    return tuple(own), boards


def _board(board: Board, changes: Mapping[str, Any], timed: bool, log_mib: int) -> Board:
    times: dict[str, Any] = {} if timed else dict.fromkeys(_TIMES, 0)
    # The chip's log takes memory, which a small board has none of.
    ram_bytes = board.ram_bytes + (log_mib + _BESIDE_MIB) * 2**20
    return replace(board, ram_bytes=ram_bytes, chip=replace(board.chip, **{**times, **changes}))
