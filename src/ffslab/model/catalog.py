"""The catalog: parsed TOML documents → frozen boards, chips, file systems, states.

Pure: `ffslab.loader` reads the files, this module gives them their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeVar

from ffslab.errors import SpecError
from ffslab.model.figures import BOARD_ROWS, BOARD_SPI_ROWS, BUS_FIGURES, ROWS_OF_KIND
from ffslab.model.files import (
    BoardFile,
    ChipFile,
    FilesystemFile,
    StateFile,
)
from ffslab.model.inheritance import figures_of
from ffslab.model.limits import check_board, check_chip
from ffslab.model.mountable import check_image_words, check_type
from ffslab.model.names import suggestion
from ffslab.model.specs import (
    Board,
    Chip,
    Filesystem,
    FilesystemOption,
    ImageTool,
    InitialState,
    ModuleSource,
    OptionValue,
    OverlaySettings,
    Partition,
    StateKind,
    UbiSettings,
)
from ffslab.model.spi import with_bus
from ffslab.model.strict import Strict
from ffslab.model.units import parse_size
from ffslab.model.validation import validated
from ffslab.model.workload import Workloads, assumed_kind
from ffslab.program import program

DEFAULT_TREE = "embedded-rootfs"  # catalog/trees
# What no file of a chip of the kind states: 0 until a board gives it a clock, and what NOR lacks.
_NO_BUS = dict.fromkeys(BUS_FIGURES, 0)
_OF_NAND_ONLY = ("oob_bytes", "t_read_ns", "ecc_read_ns", "ecc_write_ns", "ecc_strength_bits")
_FIXED_OF_KIND: Mapping[str, dict[str, Any]] = {
    "nand": {},
    "spi-nand": _NO_BUS,
    "spi-nor": {
        **_NO_BUS,
        **dict.fromkeys(_OF_NAND_ONLY, 0),
        **dict.fromkeys(("subpages", "planes", "ecc_step_bytes"), 1),
        "nop": 0,
        "ordered": False,
    },
}


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything a study can name.

    `broken`: why a file of the user's own catalog, found without being asked for, has no meaning;
    by kind and name. It is an error when it is named, and not in the way of anything else.
    """

    chips: Mapping[str, Chip]
    boards: Mapping[str, Board]
    filesystems: Mapping[str, Filesystem]
    states: Mapping[str, InitialState]
    workloads: Workloads
    broken: Mapping[tuple[str, str], SpecError] = field(default_factory=dict)

    def board(self, name: str) -> Board:
        """The board called `name`; SpecError with the valid names."""
        return self._named(self.boards, name, "board")

    def filesystem(self, name: str) -> Filesystem:
        """The file system called `name`; SpecError with the valid names."""
        return self._named(self.filesystems, name, "filesystem")

    def state(self, name: str) -> InitialState:
        """The initial state called `name`; SpecError with the valid names."""
        return self._named(self.states, name, "state")

    def chip(self, name: str) -> Chip:
        """The chip called `name`; SpecError with the valid names."""
        return self._named(self.chips, name, "chip")

    def _named(self, table: Mapping[str, T], name: str, kind: str) -> T:
        if (kind, name) in self.broken:
            raise self.broken[kind, name]
        return _lookup(table, name, kind)

    @property
    def assumed_workload(self) -> str:
        """The kind of workload that a table without one means."""
        return assumed_kind(self.workloads)


def _lookup(table: Mapping[str, T], name: str, kind: str) -> T:
    try:
        return table[name]
    except KeyError:
        raise SpecError(
            f"unknown {kind} {name!r}{suggestion(name, table)}",
            cause="a misspelt name, or a catalog of your own that --catalog does not name",
            remedy=f"{program()} list {kind}s",
        ) from None


def chip_from_document(document: Mapping[str, Any], where: str, base: Chip | None = None) -> Chip:
    """A chip file's contents as a Chip; `base` is the one that it extends."""
    parsed = validated(ChipFile, document, where)
    kind = base.kind if base else parsed.kind or "nand"
    if parsed.kind not in (None, kind):
        raise SpecError(
            f"{where}: kind {parsed.kind!r}, and it extends a chip of kind {kind!r}",
            cause="chips of two kinds have other figures",
            remedy="extend a chip of its kind, or none",
        )
    values, provenance = figures_of(parsed.figures, ROWS_OF_KIND[kind], base, where, "chip")
    chip = Chip(
        name=parsed.name,
        title=parsed.title or f"{parsed.name}, which extends {parsed.extends}",
        kind=kind,
        provenance=provenance,
        **_FIXED_OF_KIND[kind] | values,
    )
    check_chip(chip, f"{where}: figures")
    return chip


def board_from_document(
    document: Mapping[str, Any], chips: Mapping[str, Chip], where: str, base: Board | None = None
) -> Board:
    """A board file's contents as a Board with its chip looked up; `base`: which it extends."""
    parsed = validated(BoardFile, document, where)
    if parsed.chip is not None and parsed.chip not in chips:
        raise SpecError(
            f"{where}: unknown chip {parsed.chip!r}{suggestion(parsed.chip, chips)}",
            cause="a misspelt name, or a chip of a catalog that is not given",
            remedy=f"{program()} list chips",
        )
    chip = chips[parsed.chip] if parsed.chip is not None else base and base.chip
    rows = (*BOARD_ROWS, *(BOARD_SPI_ROWS if chip and chip.is_on_spi else ()))
    values, provenance = figures_of(parsed.figures, rows, base, where, "board")
    stated: dict[str, Any] = {"name": parsed.name, "provenance": provenance, **values}
    for key in ("title", "cpu", "derivation"):
        if getattr(parsed, key) is not None:
            stated[key] = getattr(parsed, key)
    if parsed.chip is not None:
        stated["chip"] = chips[parsed.chip]
    if parsed.partitions is not None or base is None:
        stated["partitions"] = tuple(
            Partition(p.name, parse_size(p.size)) for p in parsed.partitions or ()
        )
    # A board that was measured says nothing about one that differs from it.
    stated["calibrated"] = bool(parsed.calibrated)
    said = {} if base is None else _said_of(parsed, base)
    board = Board(**stated) if base is None else replace(base, **(said | stated))
    board = with_bus(board)
    check_board(board, where)
    return board


def _said_of(parsed: BoardFile, base: Board) -> dict[str, str]:
    """Title and derivation of a board that extends another and states none itself."""
    own = (["the chip"] if parsed.chip else []) + list(parsed.figures)
    but = f", but for {', '.join(own)}" if own else ""
    return {
        "title": f"{parsed.name}, which extends {base.name}",
        "derivation": f"As board {base.name}{but}. Of {base.name}: {base.derivation.strip()}",
    }


def filesystem_from_document(document: Mapping[str, Any], where: str) -> Filesystem:
    """A file-system file's contents as a Filesystem; SpecError for one that no case may mount."""
    parsed = validated(FilesystemFile, document, where)
    check_type(parsed.type, parsed.modules, where)
    if parsed.overlay is not None:
        check_type(parsed.overlay.lower_type, (), where)
    for option in parsed.options.values():
        for value in option.values.values():
            check_image_words(value.image_options, where)
    source = parsed.module_source
    return Filesystem(
        name=parsed.name,
        title=parsed.title,
        type=parsed.type,
        source=parsed.source,
        min_blocks=parsed.min_blocks,
        modules=tuple(parsed.modules),
        module_source=ModuleSource(**_stated(source), stated_in=where) if source else None,
        mainline=parsed.mainline,
        ubi=UbiSettings(**_stated(parsed.ubi)) if parsed.ubi else None,
        image=ImageTool(parsed.image.tool, parsed.image.read_only) if parsed.image else None,
        overlay=OverlaySettings(**_stated(parsed.overlay)) if parsed.overlay else None,
        options={
            name: FilesystemOption(
                name=name,
                default=option.default,
                values={key: OptionValue(**_stated(value)) for key, value in option.values.items()},
            )
            for name, option in parsed.options.items()
        },
    )


def _stated(parsed: Strict) -> dict[str, Any]:
    """The keys of a table, for a value that calls them alike."""
    keys = parsed.model_dump().items()
    return {key: tuple(value) if isinstance(value, list) else value for key, value in keys}


def state_from_document(document: Mapping[str, Any], where: str) -> InitialState:
    """An initial state of the catalog or of a study."""
    return initial_state(validated(StateFile, document, where))


def initial_state(parsed: StateFile) -> InitialState:
    """A checked InitialState; without a name it is called by its shares, e.g. `v50i25`.

    SpecError for shares that its kind does not have, or whose sum is above 100 %.
    """
    shares = {"valid_percent": parsed.valid_percent, "invalid_percent": parsed.invalid_percent}
    kind = parsed.kind or _kind(parsed, any(shares.values()))
    called = f"state {parsed.name or kind}"
    total = sum(shares.values())
    if total > 100:
        raise SpecError(
            f"{called}: valid {parsed.valid_percent} % + "
            f"invalid {parsed.invalid_percent} % is {total} %, over 100 %",
            cause="both are shares of the space available on the empty partition",
            remedy="lower valid_percent or invalid_percent",
        )
    rate = "rate_percent" if parsed.rate_percent else "rate_of_bytes" * bool(parsed.rate_of_bytes)
    if (total and kind != "aged") or (rate and kind != "filled"):
        wrong = rate or "valid_percent or invalid_percent"
        raise SpecError(
            f"{called}: the kind {kind!r} has no {wrong}",
            cause="aged has valid_percent and invalid_percent, filled has rate_percent",
            remedy="change the kind, or leave the share out",
        )
    if parsed.tree and kind != "image":
        raise SpecError(
            f"{called}: the kind {kind!r} has no tree",
            cause="only an image is built from a directory tree",
            remedy='kind = "image", or leave the tree out',
        )
    if kind == "filled" and not parsed.rate_percent:
        raise SpecError(f"{called}: the kind 'filled' needs rate_percent, from 1 to 100")
    return InitialState(
        name=parsed.name or _state_name(kind, parsed),
        kind=kind,
        valid_percent=parsed.valid_percent,
        invalid_percent=parsed.invalid_percent,
        rate_percent=parsed.rate_percent,
        rate_of_bytes=int(parsed.rate_of_bytes),
        settle_ms=parsed.settle_ms,
        remount=parsed.remount,
        tree=(parsed.tree or DEFAULT_TREE) if kind == "image" else "",
    )


def _kind(parsed: StateFile, shares: bool) -> StateKind:
    if parsed.rate_percent:
        return "filled"
    return "image" if parsed.tree else "aged" if shares else "free"


def _state_name(kind: str, parsed: StateFile) -> str:
    base = {
        "image": "-".join(["image", *re.findall("[a-z0-9]+", PurePath(parsed.tree).stem.lower())]),
        "aged": f"v{parsed.valid_percent}i{parsed.invalid_percent}",
        "filled": f"filled{parsed.rate_percent}"
        + (f"of{parsed.rate_of_bytes}" if parsed.rate_of_bytes else ""),
    }.get(kind, kind)
    settled = f"-settled{parsed.settle_ms}" if parsed.settle_ms else ""
    return base + settled + ("" if parsed.remount else "-live")
