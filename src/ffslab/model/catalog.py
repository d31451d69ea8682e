"""The catalog: parsed TOML documents → frozen boards, chips, file systems, states.

Pure: `ffslab.loader` reads the files, this module gives them their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeVar

from ffslab.errors import SpecError
from ffslab.model.files import (
    BoardFile,
    ChipFile,
    Figure,
    FilesystemFile,
    ModuleSourceFile,
    StateFile,
    validated,
)
from ffslab.model.limits import check_board, check_chip
from ffslab.model.mountable import check_image_words, check_type
from ffslab.model.names import suggestion
from ffslab.model.specs import (
    CHIP_FIGURES,
    CPU_FIGURES,
    DRIVER_FIGURES,
    Board,
    Chip,
    Filesystem,
    FilesystemOption,
    ImageTool,
    InitialState,
    ModuleSource,
    OptionValue,
    Partition,
    Provenance,
    StateKind,
    UbiSettings,
)
from ffslab.model.units import parse_size
from ffslab.model.workload import Workloads, assumed_kind
from ffslab.program import program

_AT_LEAST_ONE = ("page_bytes", "subpages", "pages_per_block", "blocks", "planes", "nop")
DEFAULT_TREE = "embedded-rootfs"  # catalog/trees
_BOARD_INTEGERS = ("ram_bytes", "cpu_mhz", *CPU_FIGURES, *DRIVER_FIGURES)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything a study can name."""

    chips: Mapping[str, Chip]
    boards: Mapping[str, Board]
    filesystems: Mapping[str, Filesystem]
    states: Mapping[str, InitialState]
    workloads: Workloads

    def board(self, name: str) -> Board:
        """The board called `name`; SpecError with the valid names."""
        return _lookup(self.boards, name, "board")

    def filesystem(self, name: str) -> Filesystem:
        """The file system called `name`; SpecError with the valid names."""
        return _lookup(self.filesystems, name, "filesystem")

    def state(self, name: str) -> InitialState:
        """The initial state called `name`; SpecError with the valid names."""
        return _lookup(self.states, name, "state")

    @property
    def assumed_workload(self) -> str:
        """The kind of workload that a table without one means."""
        return assumed_kind(self.workloads)


T = TypeVar("T")


def _lookup(table: Mapping[str, T], name: str, kind: str) -> T:
    try:
        return table[name]
    except KeyError:
        raise SpecError(
            f"unknown {kind} {name!r}{suggestion(name, table)}",
            cause="a misspelt name, or a catalog of your own that --catalog does not name",
            remedy=f"{program()} list {kind}s",
        ) from None


def chip_from_document(document: Mapping[str, Any], where: str) -> Chip:
    """A chip file's contents as a Chip."""
    parsed = validated(ChipFile, document, where)
    keys = (*CHIP_FIGURES, "ordered")
    values = _figure_values(parsed.figures, keys, where)
    for key in CHIP_FIGURES:
        _require_integer(values[key], key, where, minimum=1 if key in _AT_LEAST_ONE else 0)
    if not isinstance(values["ordered"], bool):
        raise SpecError(f"{where}: figures.ordered must be true or false")
    chip = Chip(
        name=parsed.name,
        title=parsed.title,
        provenance=_provenance(parsed.figures, keys),
        **values,
    )
    check_chip(chip, f"{where}: figures")
    return chip


def board_from_document(
    document: Mapping[str, Any], chips: Mapping[str, Chip], where: str
) -> Board:
    """A board file's contents as a Board with its chip looked up."""
    parsed = validated(BoardFile, document, where)
    keys = (*_BOARD_INTEGERS, "wait")
    values = _figure_values(parsed.figures, keys, where)
    for key in _BOARD_INTEGERS:
        _require_integer(values[key], key, where, minimum=0)
    if values["wait"] not in ("polled", "interrupt"):
        raise SpecError(f'{where}: figures.wait must be "polled" or "interrupt"')
    if parsed.chip not in chips:
        raise SpecError(f"{where}: unknown chip {parsed.chip!r}{suggestion(parsed.chip, chips)}")
    board = Board(
        name=parsed.name,
        title=parsed.title,
        chip=chips[parsed.chip],
        cpu=parsed.cpu,
        partitions=tuple(Partition(p.name, parse_size(p.size)) for p in parsed.partitions),
        calibrated=parsed.calibrated,
        derivation=parsed.derivation,
        provenance=_provenance(parsed.figures, keys),
        **values,
    )
    check_board(board, where)
    return board


def filesystem_from_document(document: Mapping[str, Any], where: str) -> Filesystem:
    """A file-system file's contents as a Filesystem; SpecError for one that no case may mount."""
    parsed = validated(FilesystemFile, document, where)
    check_type(parsed.type, parsed.modules, where)
    for option in parsed.options.values():
        for value in option.values.values():
            check_image_words(value.image_options, where)
    ubi = parsed.ubi
    return Filesystem(
        name=parsed.name,
        title=parsed.title,
        type=parsed.type,
        source=parsed.source,
        min_blocks=parsed.min_blocks,
        modules=tuple(parsed.modules),
        module_source=_module_source(parsed.module_source, where),
        ubi=None
        if ubi is None
        else UbiSettings(
            vid_hdr_offset=ubi.vid_hdr_offset,
            max_beb_per1024=ubi.max_beb_per1024,
            volume=ubi.volume,
            block=ubi.block,
        ),
        image=ImageTool(parsed.image.tool, parsed.image.read_only) if parsed.image else None,
        options={
            name: FilesystemOption(
                name=name,
                default=option.default,
                values={
                    key: OptionValue(
                        tuple(value.mount_options),
                        tuple(value.mount_flags),
                        tuple(value.image_options),
                        value.ubi_volume_type,
                        value.jffs2_summaries,
                        value.ubi_max_beb_per1024,
                    )
                    for key, value in option.values.items()
                },
            )
            for name, option in parsed.options.items()
        },
    )


def _module_source(parsed: ModuleSourceFile | None, where: str) -> ModuleSource | None:
    if parsed is None:
        return None
    return ModuleSource(
        directory=parsed.directory,
        stated_in=where,
        config=tuple(parsed.config),
        make_arguments=tuple(parsed.make_arguments),
        cflags=tuple(parsed.cflags),
    )


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


def _figure_values(
    figures: Mapping[str, Figure], keys: tuple[str, ...], where: str
) -> dict[str, Any]:
    for name in figures:
        if name not in keys:
            raise SpecError(f"{where}: unknown key 'figures.{name}'{suggestion(name, keys)}")
    missing = [key for key in keys if key not in figures]
    if missing:
        raise SpecError(f"{where}: figures.{missing[0]} is missing")
    return {key: figures[key].value for key in keys}


def _require_integer(value: Any, key: str, where: str, *, minimum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise SpecError(f"{where}: figures.{key} must be an integer ≥ {minimum}, not {value!r}")


def _provenance(figures: Mapping[str, Figure], keys: tuple[str, ...]) -> tuple[Provenance, ...]:
    return tuple(Provenance(key, figures[key].source, figures[key].estimate) for key in keys)
