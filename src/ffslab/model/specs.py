"""What a case is made of, as frozen values with no input or output.

Chip → Board → Case, plus Filesystem, InitialState and Workload. A case is a
pure function of `case_spec()`: everything that can change its result is in
there, and its hash names it. Units are the last word of a name; picoseconds
are used where a nanosecond is too coarse (per byte, per basic block).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ffslab.model.canonical import canonical_json, sha256_hex

WaitModel = Literal["polled", "interrupt"]
VolumeType = Literal["dynamic", "static"]
StateKind = Literal["free", "aged", "saturated", "filled", "image"]
Pattern = Literal["sequential-read", "random-read", "sequential-write", "random-write"]
Scalar = str | int | float | bool
DEFAULT_VARIANT = "default"  # of the lab kernel
DEFAULT_BEB_PER1024 = 20  # the kernel's own, CONFIG_MTD_UBI_BEB_LIMIT


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a figure of the catalog is from; an estimate is neither published nor measured."""

    figure: str
    source: str
    estimate: bool


# Figures of a chip that a catalog file states; Chip has a field for each.
CHIP_FIGURES = (
    "page_bytes",
    "oob_bytes",
    "subpages",
    "pages_per_block",
    "blocks",
    "planes",
    "t_command_ns",
    "t_read_ns",
    "t_prog_ns",
    "t_erase_ns",
    "bus_read_ps",
    "bus_write_ps",
    "ecc_read_ns",
    "ecc_write_ns",
    "ecc_strength_bits",
    "ecc_step_bytes",
    "nop",
    "endurance_cycles",
)
# CPU prices of a board, which `cpu_scale` multiplies: picoseconds per basic block and per byte,
# and the work of its flash driver per operation; kmod/vnand takes the latter under the same names.
CPU_FIGURES = ("cpu_block_ps", "cpu_byte_ps", "cpu_set_byte_ps")
DRIVER_FIGURES = ("driver_read_ns", "driver_program_ns", "driver_erase_ns")
# Rates of faults; kmod/vnand takes them under the same names. Zero means none.
CHIP_FAULT_RATES = (
    "program_fail_ppm",
    "erase_fail_ppm",
    "rber_e12",
    "rber_wear_e12",
    "rber_disturb_e12",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A NAND chip and its path to memory: geometry, latencies, bus and ECC.

    A page read costs command + t_read + (page + OOB) bytes on the bus + ECC; a
    program likewise with t_prog; an erase command + t_erase.
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
    # Faults: none by default; kmod/vnand/faults.c has the model. All are drawn from the seed.
    factory_bad: int = 0  # erase blocks that are bad from the factory
    program_fail_ppm: int = 0
    erase_fail_ppm: int = 0
    rber_e12: int = 0  # raw bit errors per 10^12 bits
    rber_wear_e12: int = 0  # added at the endurance limit
    rber_disturb_e12: int = 0  # added per 1,000 reads of the block
    provenance: tuple[Provenance, ...] = field(default=(), compare=False, repr=False)

    @property
    def block_bytes(self) -> int:
        """Data bytes of one erase block."""
        return self.page_bytes * self.pages_per_block

    @property
    def size_bytes(self) -> int:
        """Data bytes of the chip."""
        return self.block_bytes * self.blocks

    def page_read_ns(self) -> float:
        """Time to read one page with its OOB area into memory, ECC checked."""
        bus_ns = (self.page_bytes + self.oob_bytes) * self.bus_read_ps / 1000
        return self.t_command_ns + self.t_read_ns + bus_ns + self.ecc_read_ns

    def page_program_ns(self) -> float:
        """Time to compute the ECC of a page, transfer it with its OOB area and program it."""
        bus_ns = (self.page_bytes + self.oob_bytes) * self.bus_write_ps / 1000
        return self.t_command_ns + self.t_prog_ns + bus_ns + self.ecc_write_ns

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

    `cpu_block_ps` is charged per executed basic block of kernel code, `cpu_byte_ps` per byte of
    memcpy and memmove, `cpu_set_byte_ps` per byte of memset. `driver_…_ns` are the CPU's work in
    the board's flash driver for a page read or programmed with its OOB area, or a block erased:
    interrupt, copy loops, verify. 0 makes each of them free.
    """

    name: str
    title: str
    chip: Chip
    ram_bytes: int
    cpu: str
    cpu_mhz: int
    cpu_block_ps: int
    cpu_byte_ps: int
    cpu_set_byte_ps: int
    driver_read_ns: int
    driver_program_ns: int
    driver_erase_ns: int
    wait: WaitModel
    partitions: tuple[Partition, ...]
    calibrated: bool
    derivation: str
    provenance: tuple[Provenance, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OptionValue:
    """What choosing a value of a file-system option adds to mount(2) and to the image's tool."""

    mount_options: tuple[str, ...] = ()
    mount_flags: tuple[str, ...] = ()
    image_options: tuple[str, ...] = ()
    ubi_volume_type: VolumeType | None = None  # of the image; None: says nothing about it
    jffs2_summaries: bool | None = None  # likewise
    ubi_max_beb_per1024: int | None = None  # of the attach; None: as the file system says

    @property
    def changes_mount(self) -> bool:
        return bool(self.mount_options or self.mount_flags)

    @property
    def changes_image(self) -> bool:
        typed = (self.ubi_volume_type, self.jffs2_summaries)
        return bool(self.image_options) or any(field is not None for field in typed)


@dataclass(frozen=True, slots=True)
class ImageTool:
    """How an image of the file system is built from a directory tree (`ffslab.images`)."""

    tool: str
    read_only: bool = False  # the file system is made by the tool alone, and never written


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UbiSettings:
    """Parameters of the UBI attach and of the reserve for bad blocks."""

    vid_hdr_offset: int
    max_beb_per1024: int
    volume: str
    block: bool = False  # the file system is on a read-only block device of the volume


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSource:
    """Sources of modules that neither Linux nor ffslab contains.

    A case's result depends on what is in the files and how they are built, not on where they are:
    `directory` and `stated_in`, the catalog file that names it, are no part of a spec.
    `sha256` is empty until the files were read (`ffslab.kernel.outoftree`).
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


@dataclass(frozen=True, slots=True)
class LabKernel:
    """A variant of the lab kernel; `switches` are those of `period`, empty for others."""

    variant: str = DEFAULT_VARIANT
    switches: tuple[tuple[str, bool], ...] = ()

    @property
    def is_default(self) -> bool:
        return self.variant == DEFAULT_VARIANT

    def has(self, switch: str) -> bool:
        """Whether the switch is on."""
        return dict(self.switches).get(switch, False)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it takes on its command line."""
        return tuple(f"{self.variant}.{name}={int(on)}" for name, on in self.switches)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ffsmark:
    """FFSMark; the keys are those of the agent's step (docs/plan-format.md, section 4)."""

    kind: Literal["ffsmark"] = "ffsmark"
    number: int = 5000
    subdirectories: int = 50
    size_min: int = 512
    size_max: int = 10240
    transactions: int = 15000
    read_bytes: int = 4096
    write_bytes: int = 4096
    bias_read: int = 5
    bias_create: int = 5
    text: bool = True
    buffering: bool = False
    drop_caches: bool = True
    verify: bool = False
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Micro:
    """A stream of requests to one file; the keys are those of the agent's step `micro`."""

    kind: Literal["micro"] = "micro"
    pattern: Pattern = "random-write"
    request_bytes: int = 4096
    volume_bytes: int = 20 * 2**20
    file_bytes: int = 0  # 0: as the volume
    existing: bool = False  # requests go to a file that the preparation wrote
    limit: bool = True
    random: Literal["shuffle", "uniform"] = "shuffle"
    shift_bytes: int = 0
    target_bytes: int = 0  # 0: the whole file
    partitions: int = 1
    increment: int = 1
    parallel: int = 1
    mix_pattern: Pattern | Literal[""] = ""
    mix_ratio: int = 1
    pause_us: int = 0
    burst: int = 1
    cache: Literal["drop", "bypass", "keep"] = "drop"
    fsync_every: int = 0

    @property
    def test_file_bytes(self) -> int:
        """Size of the test file before it is cut to what is available."""
        return self.file_bytes or self.volume_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A list of measured steps on a file system with directory trees.

    `steps` are words (`ffslab.model.trees`). `files` and `directories` of each directory, `size`
    of a file in bytes and `depth` are distributions as in the agent's step `tree-create`.
    """

    kind: Literal["tree"] = "tree"
    steps: str = "mount create unmount mount list find delete unmount"
    files: str = "normal(4,1)"
    directories: str = "normal(3,1)"
    size: str = "normal(1024,64)"
    depth: str = "constant(5)"
    contents: Literal["random", "text", "compressible"] = "random"
    compressibility_percent: int = 0
    write_bytes: int = 4096
    sync: bool = False
    list_stat: bool = True
    find_name: str = "no-such-name"


Workload = Ffsmark | Micro | Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One point of a study. `axes` are the settings that tell it from its siblings.

    `trace` does not determine the result: a traced guest has the same history.
    """

    id: str
    study: str
    axes: tuple[tuple[str, Scalar], ...]
    board: Board
    cpu_scale: float
    filesystem: MountSetup
    partition_blocks: int
    state: InitialState
    workload: Workload
    seed: int
    kernel: LabKernel = DEFAULT_KERNEL
    trace: bool = False

    @property
    def partition_bytes(self) -> int:
        """Size of the partition under test."""
        return self.partition_blocks * self.board.chip.block_bytes

    @property
    def ubi_beb_per1024(self) -> int:
        """What the attach of UBI asks for; 0 leaves its reserve to the kernel.

        The period kernel has another one of its own, so the default is not stated to it.
        """
        assert self.filesystem.ubi is not None
        stated = self.filesystem.ubi.max_beb_per1024
        of_period = self.kernel.has("ubi_reserve") and stated == DEFAULT_BEB_PER1024
        return 0 if of_period else stated

    @property
    def is_prepared_apart(self) -> bool:
        """Whether a guest of its own prepares the flash, and the case's guest gets a copy."""
        if isinstance(self.workload, Tree):
            words = self.workload.steps.split()
            return self.state.kind == "image" or "crash" in words or "restart" in words
        return isinstance(self.workload, Micro) and self.state.remount

    @property
    def cpu_block_ps(self) -> int:
        """Charge per basic block after scaling."""
        return round(self.board.cpu_block_ps * self.cpu_scale)

    @property
    def cpu_byte_ps(self) -> int:
        """Charge per byte that memory routines copy, after scaling."""
        return round(self.board.cpu_byte_ps * self.cpu_scale)

    @property
    def cpu_set_byte_ps(self) -> int:
        """Charge per byte that memory routines set, after scaling."""
        return round(self.board.cpu_set_byte_ps * self.cpu_scale)

    @property
    def driver_ns(self) -> dict[str, int]:
        """The driver's CPU work per operation after scaling, by the names of the board."""
        return {key: round(getattr(self.board, key) * self.cpu_scale) for key in DRIVER_FIGURES}

    @property
    def spec_hash(self) -> str:
        """SHA-256 of what determines the result; the id and the study's name do not."""
        return sha256_hex(canonical_json(case_spec(self)))


def case_spec(case: Case) -> dict[str, Any]:
    """Everything that determines the result of a case, as plain JSON values.

    Sources of figures, titles and names of axes are left out: they say where a
    value is from, not what it is.
    """
    board = _plain(case.board, without=("provenance", "title", "derivation", "calibrated", "chip"))
    board["chip"] = _plain(case.board.chip, without=("provenance", "title"))
    board["partitions"] = [_plain(partition) for partition in case.board.partitions]
    of_images = ("image", "image_options", "ubi_volume_type", "jffs2_summaries")
    filesystem = _plain(case.filesystem, without=("ubi", "module_source", *of_images))
    filesystem["options"] = dict(case.filesystem.options)
    filesystem["mount_options"] = list(case.filesystem.mount_options)
    filesystem["mount_flags"] = list(case.filesystem.mount_flags)
    filesystem["modules"] = list(case.filesystem.modules)
    filesystem["ubi"] = _plain(case.filesystem.ubi) if case.filesystem.ubi else None
    if case.filesystem.module_source:
        filesystem["module_source"] = case.filesystem.module_source.spec
    state = _plain(case.state, without=("tree", "tree_sha256"))
    if case.state.kind == "image":
        state["tree_sha256"] = case.state.tree_sha256
        filesystem["image"] = _plain(case.filesystem.image) if case.filesystem.image else None
        filesystem["image_options"] = list(case.filesystem.image_options)
        filesystem["ubi_volume_type"] = case.filesystem.ubi_volume_type
        if case.filesystem.jffs2_summaries:
            filesystem["jffs2_summaries"] = True
    # A default kernel is not named, so that specs are what they were before there was another.
    kernel = {} if case.kernel.is_default else {"kernel": case.kernel.spec}
    return {
        "schema": 1,
        **kernel,
        "board": board,
        "cpu_scale": case.cpu_scale,
        "cpu_block_ps": case.cpu_block_ps,
        "cpu_byte_ps": case.cpu_byte_ps,
        "cpu_set_byte_ps": case.cpu_set_byte_ps,
        **case.driver_ns,
        "filesystem": filesystem,
        "partition_bytes": case.partition_bytes,
        "state": state,
        "workload": _plain(case.workload),
        "seed": case.seed,
    }


def _plain(value: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value) if f.name not in without}
