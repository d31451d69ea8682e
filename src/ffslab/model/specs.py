"""What a case is made of, as frozen values with no input or output.

Chip → Board, Filesystem → MountSetup, LabKernel and InitialState; the case itself is in
`ffslab.model.case`. Units are the last word of a name; picoseconds are used where a nanosecond is
too coarse (per byte, per instruction).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.model.figures import BOARD_SPI_ROWS, CHIP_ROWS, CPU_PRICES, DRIVER_PRICES

WaitModel = Literal["polled", "interrupt"]
ChipKind = Literal["nand", "spi-nand", "spi-nor"]
VolumeType = Literal["dynamic", "static"]
StateKind = Literal["free", "aged", "saturated", "filled", "image"]
Scalar = str | int | float | bool
DEFAULT_VARIANT = "default"  # of the lab kernel
PERTURBATION = "perturbation"
REPEAT = "repeat"
FIRST_REPEAT = 1


def is_version(key: str, value: object) -> bool:
    """Whether a setting makes a case another version of one: a perturbed layout, a repeat.

    A case whose value is the first of these is that of a study without the setting.
    """
    return (key == PERTURBATION and bool(value)) or (key == REPEAT and value != FIRST_REPEAT)


def is_plain_version(key: str, value: object) -> bool:
    """Whether it is such a setting with the value of the case as it is."""
    return key in (PERTURBATION, REPEAT) and not is_version(key, value)


NOT_MOUNTED = "none"  # the type of a device without a file system
DEFAULT_BEB_PER1024 = 20  # the kernel's own, CONFIG_MTD_UBI_BEB_LIMIT


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a figure is from; an estimate is neither published nor measured.

    `origin`: a catalog file states its source; a user's file gives it without one; the study sets
    it over the board's; it is derived from the board's.
    """

    figure: str
    source: str
    estimate: bool
    origin: Literal["catalog", "user", "set", "derived"] = "catalog"


# Integer figures of a chip that a catalog file states; Chip has a field for each.
CHIP_FIGURES = tuple(row.name for row in CHIP_ROWS if not row.words)
# CPU prices of a board, which `cpu_scale` multiplies: those of kernel code, bytes and calls, which
# the lab's kernel takes under the same names, and the work of its flash driver per operation, which
# kmod/vnand takes likewise.
CPU_FIGURES = tuple(row.name for row in CPU_PRICES)
DRIVER_FIGURES = tuple(row.name for row in DRIVER_PRICES)
# Of a board with a chip on SPI; zero on others. A spec has them if they are not zero.
SPI_FIGURES = tuple(row.name for row in BOARD_SPI_ROWS)
# Of chips on SPI alone: a spec has them likewise.
CHIP_SPI_FIGURES = ("spi_clock_max_hz", "t_prog_byte_ns")
# How data on the chip age. They came later than the rest: a spec has them if they are not zero.
CHIP_AGE = ("rber_retention_e12", "worn_cycles", "shelf_hours")
# Rates of faults; kmod/vnand takes them under the same names. Zero means none.
CHIP_FAULT_RATES = (
    "program_fail_ppm",
    "erase_fail_ppm",
    "rber_e12",
    "rber_wear_e12",
    "rber_disturb_e12",
    *CHIP_AGE,
)


CPU_SCALE_MAX = 10**6
NAND, NOR = "NAND", "NOR"  # technologies of flash


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A chip and its path to memory: geometry, latencies, bus and ECC.

    A page read costs command + t_read + (page + OOB) bytes on the bus + ECC; a
    program likewise with t_prog; an erase command + t_erase. A chip on SPI has no bus times of
    its own: they are 0 until a board gives it a clock (`ffslab.model.spi`). Of SPI-NOR a page is
    the program buffer, and there is neither OOB nor ECC.
    """

    name: str
    title: str
    page_bytes: int
    oob_bytes: int
    subpages: int
    pages_per_block: int
    blocks: int
    planes: int
    t_command_ns: int
    t_read_ns: int
    t_prog_ns: int
    t_erase_ns: int
    bus_read_ps: int  # per byte
    bus_write_ps: int  # per byte
    ecc_read_ns: int  # per page
    ecc_write_ns: int  # per page
    ecc_strength_bits: int
    ecc_step_bytes: int
    nop: int  # programs of one page between two erases
    ordered: bool  # pages of a block must be programmed in order
    endurance_cycles: int  # 0: no limit
    kind: ChipKind = "nand"
    spi_clock_max_hz: int = 0  # 0: not on SPI
    t_prog_byte_ns: int = 0  # SPI-NOR: program of one byte
    # Faults: none by default; kmod/vnand/faults.c has the model. All are drawn from the seed.
    factory_bad: int = 0  # erase blocks that are bad from the factory
    program_fail_ppm: int = 0
    erase_fail_ppm: int = 0
    rber_e12: int = 0  # raw bit errors per 10^12 bits
    rber_wear_e12: int = 0  # added at the endurance limit
    rber_disturb_e12: int = 0  # added per 1,000 reads of the block
    rber_retention_e12: int = 0  # added per 1,000 hours without power, at the endurance limit
    worn_cycles: int = 0  # erases of every block before the case
    shelf_hours: int = 0  # without power before each of the case's guests
    provenance: tuple[Provenance, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_on_spi(self) -> bool:
        """Whether its bus times follow from the board's SPI clock."""
        return self.kind != "nand"

    @property
    def technology(self) -> str:
        """NAND or NOR."""
        return NOR if self.kind == "spi-nor" else NAND

    @property
    def is_nor(self) -> bool:
        """Whether bytes are programmed, and nothing is beside them: no OOB, no bad blocks."""
        return self.technology == NOR

    @property
    def block_bytes(self) -> int:
        """Data bytes of one erase block."""
        return self.page_bytes * self.pages_per_block

    @property
    def size_bytes(self) -> int:
        """Data bytes of the chip."""
        return self.block_bytes * self.blocks

    @property
    def has_faults(self) -> bool:
        """Whether blocks are bad from the factory, operations fail, or bits flip."""
        rates = (getattr(self, name) for name in CHIP_FAULT_RATES)
        return bool(self.factory_bad) or any(rates)

    def page_read_ns(self, *, moved: bool = True) -> float:
        """Time to read one page with its OOB area into memory, ECC checked.

        Not `moved`: no byte of it crosses the bus.
        """
        return self._page_ns(self.t_read_ns, self.bus_read_ps, self.ecc_read_ns, moved)

    def page_program_ns(self, *, moved: bool = True) -> float:
        """Time to compute the ECC of a page, transfer it with its OOB area and program it."""
        return self._page_ns(self.t_prog_ns, self.bus_write_ps, self.ecc_write_ns, moved)

    def _page_ns(self, array_ns: int, bus_ps: int, ecc_ns: int, moved: bool) -> float:
        moved_ns = (self.page_bytes + self.oob_bytes) * bus_ps / 1000 + ecc_ns if moved else 0
        return self.t_command_ns + array_ns + moved_ns

    def block_erase_ns(self) -> float:
        """Time to erase one block."""
        return float(self.t_command_ns + self.t_erase_ns)


@dataclass(frozen=True, slots=True)
class Partition:
    """A fixed partition in front of the one under test, in bytes."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A processor, its memory and its flash chip.

    `cpu_instruction_ps` is charged per instruction of kernel code, counted as a 32-bit ARM takes
    it; `cpu_byte_ps` per byte of memcpy and memmove, `cpu_set_byte_ps` per byte of memset, and
    `cpu_copy_ns`, `cpu_set_ns` per call of these; `cpu_syscall_ns` per system call. `driver_…_ns`
    are the CPU's work in the board's flash driver for a page read or programmed with its OOB area,
    or a block erased: interrupt, copy loops, verify. 0 makes each of them free. `unaligned`
    chooses the variant of the lab kernel. `spi_…` are of the bus to the chip.
    """

    name: str
    title: str
    chip: Chip
    ram_bytes: int
    cpu: str
    cpu_mhz: int
    cpu_instruction_ps: int
    cpu_byte_ps: int
    cpu_set_byte_ps: int
    cpu_copy_ns: int
    cpu_set_ns: int
    cpu_syscall_ns: int
    unaligned: bool  # access to unaligned words is efficient
    driver_read_ns: int
    driver_program_ns: int
    driver_erase_ns: int
    wait: WaitModel
    partitions: tuple[Partition, ...]
    calibrated: bool
    derivation: str
    spi_clock_hz: int = 0  # 0: the chip is not on SPI
    spi_rx_bits: int = 0
    spi_tx_bits: int = 0
    provenance: tuple[Provenance, ...] = field(default=(), compare=False, repr=False)

    def flash_ns(self, counts: Sequence[int], *, whole: bool) -> float:
        """The time of so many page reads, page programs and erases on chip and driver.

        `whole`: every page crosses the bus with its OOB area; else no byte does, and of the driver
        counts what it does for an operation without bytes.
        """

        def driver_ns(own_ns: int) -> int:
            return own_ns if whole else min(own_ns, self.driver_erase_ns)

        reads, programs, erases = counts
        read_ns = self.chip.page_read_ns(moved=whole) + driver_ns(self.driver_read_ns)
        program_ns = self.chip.page_program_ns(moved=whole) + driver_ns(self.driver_program_ns)
        erase_ns = self.chip.block_erase_ns() + self.driver_erase_ns
        return reads * read_ns + programs * program_ns + erases * erase_ns


@dataclass(frozen=True, slots=True)
class OptionValue:
    """What choosing a value of a file-system option adds to mount(2) and to the image's tool."""

    mount_options: tuple[str, ...] = ()
    mount_flags: tuple[str, ...] = ()
    image_options: tuple[str, ...] = ()
    ubi_volume_type: VolumeType | None = None  # of the image; None: says nothing about it
    jffs2_summaries: bool | None = None  # likewise
    ubi_max_beb_per1024: int | None = None  # of the attach; None: as the file system says
    kernel: str | None = None  # the variant that it needs; None: any
    kept_files: tuple[str, ...] = ()  # of the guest, at the end of the work

    @property
    def changes_mount(self) -> bool:
        return bool(self.mount_options or self.mount_flags or self.kernel)

    @property
    def changes_image(self) -> bool:
        typed = (self.ubi_volume_type, self.jffs2_summaries)
        return bool(self.image_options) or any(field is not None for field in typed)


@dataclass(frozen=True, slots=True)
class ImageTool:
    """How an image of the file system is built from a directory tree (`ffslab.images`)."""

    tool: str
    read_only: bool = False  # the file system is made by the tool alone, and never written

    @property
    def oob(self) -> bool:
        """Whether pages of the image have their OOB behind them."""
        return self.tool == "yaffs2"

    @property
    def in_place(self) -> bool:
        """Whether each erase block of the image has its place: LogFS names places on the device."""
        return self.tool == "logfs"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemOption:
    """One axis of a file system, e.g. compression: its values and its default."""

    name: str
    default: str
    values: Mapping[str, OptionValue]

    @property
    def is_of_image(self) -> bool:
        """Whether it makes a difference to images only, and none to a mount."""
        values = self.values.values()
        return any(value.changes_image for value in values) and not any(
            value.changes_mount for value in values
        )


UBI_VOLUME = "volume_bytes"  # of UbiSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class UbiSettings:
    """Parameters of the UBI attach and of the reserve for bad blocks."""

    vid_hdr_offset: int
    max_beb_per1024: int
    volume: str
    volume_bytes: int = 0  # what the volume is to hold; 0: as large as it can be
    block: bool = False  # the file system is on a read-only block device of the volume


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaySettings:
    """A read-only file system below the writable one; overlayfs joins them.

    It is on a volume of the same UBI device, which stands in front of the writable one's.
    """

    lower_type: str  # what mount(2) calls it
    lower_source: str  # the first argument of mount(2)
    lower_volume: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSource:
    """Sources of modules that neither Linux nor ffslab contains.

    A case's result depends on what is in the files and how they are built, not on where they are:
    `directory` and `stated_in`, the catalog file that names it, are no part of a spec.
    `sha256` is empty until the files were read (`ffslab.lab.outoftree`).
    """

    directory: str  # as stated; absolute when `ffslab.loader` has read the catalog
    stated_in: str
    config: tuple[str, ...] = ()  # CONFIG_NAME=VALUE
    make_arguments: tuple[str, ...] = ()  # NAME=VALUE
    cflags: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        """What determines the modules, as plain JSON values."""
        return {
            "sha256": self.sha256,
            "config": list(self.config),
            "make_arguments": list(self.make_arguments),
            "cflags": list(self.cflags),
        }

    @property
    def key(self) -> str:
        """Names what is built: equal for equal sources that are built alike."""
        return sha256_hex(canonical_json(self.spec))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    """A file system of the catalog, before its options are chosen."""

    name: str
    title: str
    type: str  # what mount(2) calls it
    source: str  # first argument of mount(2); {partition} is replaced
    ubi: UbiSettings | None
    min_blocks: int  # smallest number of erase blocks it can be formatted on
    modules: tuple[str, ...]  # in the order of loading
    options: Mapping[str, FilesystemOption]
    module_source: ModuleSource | None = None  # None: the modules are the lab's own
    image: ImageTool | None = None  # None: no image of it can be built
    mainline: str = ""  # since which version Linux has it
    overlay: OverlaySettings | None = None  # then type and source are those of the upper one

    @property
    def is_mounted(self) -> bool:
        """Whether there is a file system at all: the bare device has none."""
        return self.type != NOT_MOUNTED


@dataclass(frozen=True, slots=True, kw_only=True)
class MountSetup:
    """A file system with every option chosen: what the plan needs."""

    name: str
    type: str
    source: str
    ubi: UbiSettings | None
    modules: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    mount_options: tuple[str, ...]
    mount_flags: tuple[str, ...]
    module_source: ModuleSource | None = None
    image: ImageTool | None = None
    image_options: tuple[str, ...] = ()
    ubi_volume_type: VolumeType = "dynamic"  # of the image; one that UBI itself makes is dynamic
    jffs2_summaries: bool = False  # of the image
    overlay: OverlaySettings | None = None
    kept_files: tuple[str, ...] = ()  # as of OptionValue, each once

    @property
    def stack(self) -> str:
        """The type, and whether another file system is below it: `ubifs`, `overlay-ubifs`."""
        return f"overlay-{self.type}" if self.overlay else self.type

    @property
    def is_mounted(self) -> bool:
        """As `Filesystem.is_mounted`."""
        return self.type != NOT_MOUNTED


_UNALIGNED = "unaligned"


def variant_on_board(aligned: str, unaligned: bool) -> str:
    """The variant of the lab kernel that a board runs where a study or an option names `aligned`.

    A board with efficient unaligned access has one with CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS.
    """
    if not unaligned:
        return aligned
    return _UNALIGNED if aligned == DEFAULT_VARIANT else f"{_UNALIGNED}-{aligned}"


def variant_without_board(variant: str) -> str:
    """What a study or an option names: `variant` without the board's part of it."""
    if variant == _UNALIGNED:
        return DEFAULT_VARIANT
    return variant.removeprefix(f"{_UNALIGNED}-")


_VERSION_AND_KIND = re.compile(r"(\d+\.\d+)(?:-(.+))?")


def version_and_kind(variant: str) -> tuple[str, str]:
    """Of which Linux a variant is, "" for the usual one, and what it is beside that: `7.3` is the
    default of 7.3, `unaligned-7.3-fastmap` the kernel `fastmap` of it. The board's part is in
    neither.
    """
    named = variant_without_board(variant)
    versioned = _VERSION_AND_KIND.fullmatch(named)
    return (versioned[1], versioned[2] or DEFAULT_VARIANT) if versioned else ("", named)


def variant_of_version(version: str, kind: str) -> str:
    """The variant that `version_and_kind` takes apart."""
    return version if kind == DEFAULT_VARIANT else f"{version}-{kind}"


FASTMAP_VARIANT = "fastmap"
# UBI_FM_MAX_START in drivers/mtd/ubi/ubi-media.h: with no more, none is written.
FASTMAP_BLOCKS = 64
# Without it UBI writes no fastmap, and uses none that is on the flash only if it finds one.
_VARIANT_ARGUMENTS = {FASTMAP_VARIANT: ("ubi.fm_autoconvert=1",)}


@dataclass(frozen=True, slots=True)
class LabKernel:
    """A variant of the lab kernel; `switches` are those of `period`, empty for others.

    A study and the options of a file system name one without the board's part; a case has that of
    its board (`on_board`). `aligned_variant` is what they named.
    """

    variant: str = DEFAULT_VARIANT
    switches: tuple[tuple[str, bool], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether it is the plain one, of boards without unaligned access."""
        return self.variant == DEFAULT_VARIANT

    @property
    def aligned_variant(self) -> str:
        """The variant without the board's part, as a study names it."""
        return variant_without_board(self.variant)

    @property
    def kind(self) -> str:
        """What it is in whatever version of Linux: `default`, `period`, `fastmap`, …"""
        return version_and_kind(self.variant)[1]

    @property
    def is_named(self) -> bool:
        """Whether the study or an option asks for another kernel than a board has anyway."""
        return self.aligned_variant != DEFAULT_VARIANT

    def on_board(self, unaligned: bool) -> LabKernel:
        """The same kernel as a board runs it."""
        return replace(self, variant=variant_on_board(self.aligned_variant, unaligned))

    def has(self, switch: str) -> bool:
        """Whether the switch is on."""
        return dict(self.switches).get(switch, False)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it takes on its command line."""
        switches = tuple(f"{self.kind}.{name}={int(on)}" for name, on in self.switches)
        return (*_VARIANT_ARGUMENTS.get(self.kind, ()), *switches)

    @property
    def spec(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"variant": self.variant, "switches": dict(self.switches)}


DEFAULT_KERNEL = LabKernel()


@dataclass(frozen=True, slots=True)
class InitialState:
    """What the flash holds when a workload begins.

    free: all erased. aged: files of valid and of invalid data, in percent of the space that is
    available on the empty file system. saturated: everything invalid. filled: a file of valid
    data, in percent of the partition or of another size, and the space of the test file invalid.
    image: an image of a directory tree, as a flasher wrote it. `tree` says where the tree is from,
    `tree_sha256` what is in it; the hash is empty until the tree was looked at
    (`ffslab.campaign.images`).
    """

    name: str
    kind: StateKind
    valid_percent: int = 0
    invalid_percent: int = 0
    rate_percent: int = 0
    rate_of_bytes: int = 0  # what the rate is a share of; 0: the partition
    settle_ms: int = 0  # virtual time between making data invalid and the first request
    remount: bool = True  # prepared in a guest of its own and kept as a snapshot
    tree: str = ""
    tree_sha256: str = ""
