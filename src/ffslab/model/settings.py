"""One case's settings by dotted name, and what they mean.

A study, its axes, its rules and `--set` all speak of the same names:
`filesystem`, `options.compression`, `state.valid_percent`, `board.ram_bytes`,
`chip.t_prog_ns`, … Here are the list of valid names, the flattening of nested
tables into them, and the step from a complete set of settings to a Case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ffslab.documents import document
from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.model.catalog import Catalog, initial_state
from ffslab.model.estimates import ESTIMATE
from ffslab.model.figures import BOARD_ROWS, BOARD_SPI_ROWS, FigureRow, refuse_former
from ffslab.model.files import StateFile
from ffslab.model.kernels import KERNEL, PERIOD, SWITCHES, kernel_of_options, lab_kernel
from ffslab.model.limits import check_board, check_chip
from ffslab.model.names import suggestion
from ffslab.model.perturbation import perturbation_of
from ffslab.model.provenance import SET_BY_STUDY, at_clock, set_marks, with_marks
from ffslab.model.repeats import repeat_of
from ffslab.model.specs import (
    CHIP_FAULT_RATES,
    CHIP_FIGURES,
    CPU_SCALE_MAX,
    DEFAULT_KERNEL,
    FASTMAP_BLOCKS,
    FASTMAP_VARIANT,
    FIRST_REPEAT,
    PERTURBATION,
    REPEAT,
    SPI_FIGURES,
    Board,
    Chip,
    Filesystem,
    InitialState,
    LabKernel,
    MountSetup,
    OptionValue,
    Scalar,
    VolumeType,
    is_plain_version,
)
from ffslab.model.spi import with_bus
from ffslab.model.units import format_size, parse_size
from ffslab.model.validation import validated
from ffslab.model.workload import Setting, Workload, Workloads
from ffslab.model.workload_file import file_of
from ffslab.program import program

Settings = Mapping[str, Any]

PART = "part"
VOLUME_BYTES = "ubi_volume_bytes"
_PLAIN = (
    PART,
    KERNEL,
    "board",
    "filesystem",
    "partition_bytes",
    VOLUME_BYTES,
    "state",
    "seed",
    "cpu_scale",
    ESTIMATE,
    PERTURBATION,
    REPEAT,
)
_STATE = tuple(name for name in StateFile.model_fields if name != "name")
_OTHER_CHIP = "board.chip"
_BOARD = ("chip", *(row.name for row in (*BOARD_ROWS, *BOARD_SPI_ROWS)))
_OF_WORDS = tuple(row.name for row in BOARD_ROWS if row.words)
_CHIP_FIXED = ("planes", "ecc_step_bytes", "nop")  # what a study cannot change
_CHIP = (
    *(name for name in CHIP_FIGURES if name not in _CHIP_FIXED),
    "t_prog_byte_ns",
    "factory_bad",
    *CHIP_FAULT_RATES,
)
DEFAULT = "default"  # an option's value that stands for the file system's own default


def valid_keys(catalog: Catalog) -> tuple[str, ...]:
    """Every name that an axis, a rule or `--set` may use."""
    options = {name for fs in catalog.filesystems.values() for name in fs.options}
    return (
        *_PLAIN,
        *(f"options.{name}" for name in sorted(options)),
        *(f"state.{name}" for name in _STATE),
        *(f"workload.{name}" for name in workload_keys(catalog.workloads)),
        *(f"board.{name}" for name in _BOARD),
        *(f"chip.{name}" for name in _CHIP),
        *(f"{PERIOD}.{name}" for name in SWITCHES),
    )


def workload_keys(workloads: Workloads) -> tuple[str, ...]:
    """The keys of all kinds of workload."""
    return tuple(dict.fromkeys(name for kind in workloads.values() for name in kind.keys))


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted names; the value of `state` may be a table and stays one."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def check_keys(keys: Iterable[str], catalog: Catalog, where: str) -> None:
    """SpecError for a name that does not exist."""
    valid = valid_keys(catalog)
    for key in keys:
        if key.startswith("board."):
            refuse_former([key.removeprefix("board.")], where, "board.")
        if key not in valid:
            raise SpecError(
                f"{where}: unknown axis {key!r}{suggestion(key, valid)}",
                cause="a misspelt name, or one without the table that it is in",
                remedy=f"see “Axes” in {document('docs/study-format.md')}, which lists them all",
            )


def option_value(filesystem: Filesystem, name: str, settings: Settings) -> str:
    """The value of an option with the default put in; not yet checked to exist."""
    value = str(settings.get(f"options.{name}", DEFAULT))
    return filesystem.options[name].default if value == DEFAULT else value


def resolve(case_id: str, study: str, axes: Settings, settings: Settings, catalog: Catalog) -> Case:
    """The Case of a complete set of settings; SpecError says which one is wrong."""
    where = f"case {case_id}"
    board = _board(settings, catalog, where)
    filesystem = catalog.filesystem(_text(settings, "filesystem", where))
    setup = mount_setup(filesystem, _applicable(settings, axes, filesystem), where)
    chosen = (filesystem.options[name].values[value] for name, value in setup.options)
    named = kernel_of_options(lab_kernel(settings, where), chosen, where)
    kernel = named.on_board(board.unaligned)
    state = stated_state(settings, catalog, where)
    blocks = partition_blocks(board, filesystem, setup, settings, where, kernel)
    table = {
        key.removeprefix("workload."): value
        for key, value in settings.items()
        if key.startswith("workload.")
    }
    setting = Setting(state, setup, board.chip, blocks * board.chip.block_bytes, where)
    workload = _workload(table, setting, catalog)
    if VOLUME_BYTES in settings:
        setup = _with_volume(setup, settings, setting)
    if state.kind != "image":
        setup = _without_image(setup, filesystem, where)
    resolved_axes: dict[str, Scalar] = {}
    for key, value in axes.items():
        if is_plain_version(key, value):
            continue  # the case is that of a study without this axis, to its last byte
        if key.startswith("options."):
            name = key.removeprefix("options.")
            value = dict(setup.options).get(name, "")
        elif key == "state":
            value = state.name
        elif key.startswith("workload."):
            value = workload.axis_value(key.removeprefix("workload."))
        resolved_axes[key] = value
    return Case(
        id=case_id,
        study=study,
        axes=tuple(resolved_axes.items()),
        board=board,
        cpu_scale=_number(settings, "cpu_scale", where),
        filesystem=setup,
        partition_blocks=blocks,
        state=state,
        workload=workload,
        seed=_integer(settings, "seed", where),
        kernel=kernel,
        perturbation=perturbation_of(settings.get(PERTURBATION, 0), where),
        repeat=repeat_of(settings.get(REPEAT, FIRST_REPEAT), where),
    )


def _workload(table: Mapping[str, Any], setting: Setting, catalog: Catalog) -> Workload:
    """The workload of a case; SpecError for keys that contradict each other."""
    kind = str(table.get("kind", catalog.assumed_workload))
    _check_keys_of_kind(table, kind, catalog.workloads, setting.where)
    if kind not in catalog.workloads:
        raise SpecError(
            f"{setting.where}: unknown workload {kind!r}{suggestion(kind, catalog.workloads)}",
            cause=f"a misspelt name; the workloads are: {', '.join(catalog.workloads)}",
            remedy="change workload.kind",
        )
    stated = catalog.workloads[kind]
    values = dict(validated(file_of(stated), table, f"{setting.where}: workload"))
    workload: Workload = stated.resolve(values, setting)
    return workload


def _check_keys_of_kind(
    table: Mapping[str, Any], kind: str, workloads: Workloads, where: str
) -> None:
    """SpecError for a key of another workload: it is not misspelt, but means nothing here."""
    own = workloads[kind].keys if kind in workloads else table
    for key in (key for key in table if key not in own):
        others = [name for name, other in workloads.items() if key in other.keys]
        if others:
            raise SpecError(
                f"{where}: workload.{key} is a setting of workload {' and '.join(others)}, "
                f"not of {kind}",
                cause=f"the case's workload is {kind}, which has no {key}",
                remedy=f'leave it out, or workload.kind = "{others[0]}" before it',
            )


def _board(settings: Settings, catalog: Catalog, where: str) -> Board:
    board = catalog.board(_text(settings, "board", where))
    if _OTHER_CHIP in settings:
        board = _with_chip(board, catalog.chip(_text(settings, _OTHER_CHIP, where)), where)
    chip_changes: dict[str, Any] = {}
    board_changes: dict[str, Any] = {}
    for key in (key for key in settings if key != _OTHER_CHIP):
        group, _, name = key.partition(".")
        if group == "board" and name in _OF_WORDS:
            board_changes[name] = settings[key]
        elif group == "chip" or (group == "board" and name):
            is_size = name.endswith("_bytes")
            changes = chip_changes if group == "chip" else board_changes
            changes[name] = (_size_of if is_size else _integer)(settings, key, where)
    _check_range(board_changes, (*BOARD_ROWS, *BOARD_SPI_ROWS), f"{where}: board")
    board = _with_changes(board, board_changes, where)
    chip = board.chip
    if chip_changes:
        marks = set_marks(chip, chip_changes, SET_BY_STUDY)
        chip = replace(chip, **chip_changes, provenance=with_marks(chip.provenance, marks))
        # Before anything is computed from it.
        check_chip(chip, f"{where}: chip {chip.name}")
    return replace(board, chip=chip)


def _with_chip(board: Board, chip: Chip, where: str) -> Board:
    """The board with another chip of the same kind: its driver's prices are for that kind."""
    if chip.kind != board.chip.kind:
        raise SpecError(
            f"{where}: {_OTHER_CHIP}: chip {chip.name} is of kind {chip.kind}, and that of board "
            f"{board.name} of kind {board.chip.kind}",
            cause="what the board's driver costs, and its bus, are for chips of one kind",
            remedy=f"a chip of that kind: {program()} list chips; or another board",
        )
    return replace(board, chip=chip)


def _check_range(changes: Mapping[str, Any], rows: Iterable[FigureRow], where: str) -> None:
    for row in rows:
        if row.name in changes and not row.accepts(changes[row.name]):
            raise SpecError(
                f"{where}.{row.name} must be {row.range}, not {changes[row.name]!r}",
                cause=f"a value in another unit than {row.unit}" if row.unit else "",
            )


def _with_changes(board: Board, changes: Mapping[str, Any], where: str) -> Board:
    """The board with figures that the study sets; prices that it does not set follow the clock."""
    if not changes:
        return with_bus(board)
    of_spi = [name for name in SPI_FIGURES if name in changes]
    if of_spi and not board.chip.is_on_spi:
        raise SpecError(
            f"{where}: board.{of_spi[0]}: chip {board.chip.name} of board {board.name} is not on "
            "an SPI bus",
            cause="its bus times are figures of the chip: chip.bus_read_ps, chip.bus_write_ps",
            remedy=f"leave it out for this board; {program()} list chips",
        )
    marks = set_marks(board, changes, SET_BY_STUDY)
    derived: dict[str, Any] = {}
    if "cpu_mhz" in changes:
        derived, entries = at_clock(board, changes["cpu_mhz"], changes, f"{where}: board")
        marks += entries
    provenance = with_marks(board.provenance, marks)
    changed = with_bus(replace(board, **derived, **changes, provenance=provenance))
    check_board(changed, where)
    return changed


def _applicable(settings: Settings, axes: Settings, filesystem: Filesystem) -> Settings:
    """The settings without options that only other file systems of the study have.

    An axis of such an option is a mistake: it would make several cases of one.
    """
    return {
        key: value
        for key, value in settings.items()
        if key in axes or key.removeprefix("options.") in (key, *filesystem.options)
    }


def mount_setup(filesystem: Filesystem, settings: Settings, where: str) -> MountSetup:
    """The file system with its options chosen; SpecError for an option that it does not have."""
    for key, value in settings.items():
        name = key.removeprefix("options.")
        if name != key and name not in filesystem.options and value != DEFAULT:
            raise SpecError(
                f"{where}: file system {filesystem.name} has no option {name!r}"
                f"{suggestion(name, filesystem.options)}",
                cause="an axis that only another file system has",
                remedy=f'leave it out: an [[exclude]] with filesystem = "{filesystem.name}" and '
                f'"{key}" = "{value}"',
            )
    chosen: dict[str, str] = {}
    values: list[OptionValue] = []
    volume_type: VolumeType = "dynamic"
    summaries = False
    ubi = filesystem.ubi
    for name, option in filesystem.options.items():
        value = option_value(filesystem, name, settings)
        if value not in option.values:
            raise SpecError(
                f"{where}: options.{name} = {value!r}: {filesystem.name} has no such value"
                f"{suggestion(value, option.values)}",
                cause=f"a misspelt value; valid: {', '.join(option.values)}",
                remedy="change it, or leave the combination out with [[exclude]]",
            )
        chosen[name] = value
        values.append(option.values[value])
        volume_type = option.values[value].ubi_volume_type or volume_type
        summaries = option.values[value].jffs2_summaries or summaries
        reserve = option.values[value].ubi_max_beb_per1024
        if ubi and reserve:
            ubi = replace(ubi, max_beb_per1024=reserve)
    return MountSetup(
        name=filesystem.name,
        type=filesystem.type,
        source=filesystem.source,
        ubi=ubi,
        modules=filesystem.modules,
        module_source=filesystem.module_source,
        options=tuple(chosen.items()),
        mount_options=tuple(word for value in values for word in value.mount_options),
        mount_flags=tuple(word for value in values for word in value.mount_flags),
        image=filesystem.image,
        image_options=tuple(word for value in values for word in value.image_options),
        ubi_volume_type=volume_type,
        jffs2_summaries=summaries,
        overlay=filesystem.overlay,
        kept_files=tuple(dict.fromkeys(path for value in values for path in value.kept_files)),
    )


def _with_volume(setup: MountSetup, settings: Settings, setting: Setting) -> MountSetup:
    """The file system on a volume that leaves blocks of the partition to UBI alone."""
    size_bytes = _size_of(settings, VOLUME_BYTES, setting.where)
    what = f"{setting.where}: {VOLUME_BYTES}"
    if setup.ubi is None:
        raise SpecError(
            f"{what}: file system {setup.name} is not on UBI",
            cause="it is on the partition itself, whose size is partition_bytes",
            remedy="leave it out for this file system, in a part of its own",
        )
    if setting.state.kind == "image":
        raise SpecError(
            f"{what}: an image has the size of its volume in it",
            cause="at its first attach it grows to the partition",
            remedy='another state than "image"',
        )
    if not 0 < size_bytes < setting.partition_bytes:
        raise SpecError(
            f"{what}: a volume of {format_size(size_bytes)} is to be within a partition of "
            f"{format_size(setting.partition_bytes)}",
            cause="UBI needs blocks beside it: two for its table, two for its own work, a reserve",
            remedy="a smaller one, or without it: as large as it can be",
        )
    return replace(setup, ubi=replace(setup.ubi, volume_bytes=size_bytes))


def _without_image(setup: MountSetup, filesystem: Filesystem, where: str) -> MountSetup:
    """The file system of a case that begins without an image: options of images do not apply to it.

    SpecError if one of them has another value than its default, which would change nothing.
    """
    kept: list[tuple[str, str]] = []
    for name, value in setup.options:
        option = filesystem.options[name]
        if not option.is_of_image:
            kept.append((name, value))
        elif value != option.default:
            raise SpecError(
                f"{where}: options.{name} = {value!r} affects images only, "
                "and the case begins without one",
                cause=f"it changes what is in an image of {filesystem.name}, and not how it is "
                "mounted",
                remedy='state = "image", or leave the option out',
            )
    return replace(setup, options=tuple(kept))


def stated_state(settings: Settings, catalog: Catalog, where: str) -> InitialState:
    """The initial state that `state` names or describes, with what `state.KEY` changes of it."""
    value = settings.get("state", "free")
    changes = {key: settings[f"state.{key}"] for key in _STATE if f"state.{key}" in settings}
    if isinstance(value, Mapping):
        table = dict(value)
    else:
        state = catalog.state(str(value))
        table = {name: getattr(state, name) for name in ("name", *_STATE)}
    if changes:
        # Another state than the one that the name belongs to.
        table |= {"name": "", **changes}
        if not {"kind"} & set(changes) and table.get("kind") in ("free", "aged"):
            table["kind"] = ""
    return initial_state(validated(StateFile, table, f"{where}: state"))


def partition_blocks(
    board: Board,
    filesystem: Filesystem,
    setup: MountSetup,
    settings: Settings,
    where: str,
    kernel: LabKernel = DEFAULT_KERNEL,
) -> int:
    """Erase blocks of the partition; SpecError if chip or partition is too small for it."""
    chip = board.chip
    block_bytes = chip.block_bytes
    in_front = sum(-(-part.size_bytes // block_bytes) for part in board.partitions)
    available = chip.blocks - in_front
    wanted = settings.get("partition_bytes")
    size_bytes = (
        available * block_bytes if wanted is None else _size(wanted, "partition_bytes", where)
    )
    blocks = size_bytes // block_bytes
    if blocks > available:
        raise SpecError(
            f"{where}: the partition of {blocks} erase blocks is larger than chip {chip.name}, "
            f"which has {available} of {format_size(block_bytes)}",
            cause="partition_bytes is above the chip's size",
            remedy=f"at most partition_bytes = {available * block_bytes}",
        )
    # What is below an overlay has at least one block.
    needed = filesystem.min_blocks + int(filesystem.overlay is not None)
    if setup.ubi:
        # UBI keeps two blocks for its volume table, one for wear leveling and one
        # for atomic changes, and a reserve that it sizes by the whole chip, or in the
        # period kernel by the partition. NOR flash has no bad blocks, and UBI no reserve there.
        reserve = 0 if chip.is_nor else -(-chip.blocks * setup.ubi.max_beb_per1024 // 1024)
        needed += 4
        of_period = kernel.has("ubi_reserve") and not chip.is_nor
        needed += max(blocks // 100, 2) if of_period else reserve
    if kernel.kind == FASTMAP_VARIANT and blocks <= FASTMAP_BLOCKS:
        raise SpecError(
            f"{where}: UBI writes no fastmap on a partition of {blocks} erase blocks",
            cause=f"it does so with more than {FASTMAP_BLOCKS} only (UBI_FM_MAX_START)",
            remedy=f"partition_bytes = {(FASTMAP_BLOCKS + 1) * block_bytes} or more, or without "
            "the option",
        )
    if blocks < needed:
        raise SpecError(
            f"{where}: a partition of {blocks} erase blocks is too small for {filesystem.name}, "
            f"which needs at least {needed} of {format_size(block_bytes)}",
            cause="it is below what the file system can be formatted on",
            remedy=f"at least {format_size(needed * block_bytes)}; in a study partition_bytes = "
            f"{needed * block_bytes}",
        )
    return blocks


def _size(value: Any, key: str, where: str) -> int:
    try:
        return parse_size(value)
    except (ValueError, TypeError) as error:
        raise SpecError(f"{where}: {key}: {error}") from error


def _size_of(settings: Settings, key: str, where: str) -> int:
    return _size(settings[key], key, where)


def _text(settings: Settings, key: str, where: str) -> str:
    value = settings.get(key, "")
    if not isinstance(value, str) or not value:
        raise SpecError(f"{where}: {key} must be a name" + (f", not {value!r}" if value else ""))
    return value


def _integer(settings: Settings, key: str, where: str) -> int:
    value = settings[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SpecError(f"{where}: {key} must be an integer ≥ 0, not {value!r}")
    return value


def _number(settings: Settings, key: str, where: str) -> float:
    value = settings.get(key, 1.0)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 <= value <= CPU_SCALE_MAX
    ):
        raise SpecError(f"{where}: {key} must be a number from 0 to 1e6, not {value!r}")
    return float(value)
