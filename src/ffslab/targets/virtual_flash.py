"""The rig of guests with a virtual chip: the steps that bring flash and file system into being.

docs/plan-format.md defines the steps. The chip is kmod/vnand, its monitor kmod/flashmon, and of NOR
flash kmod/vnor and kmod/flashmon_nor; the file system is on the partition `data` of the chip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ffslab.model.case import Case
from ffslab.model.specs import CHIP_FAULT_RATES, NAND, NOR, Board, OverlaySettings
from ffslab.protocol.plan import plan_of, step
from ffslab.targets.empty_squashfs import EMPTY_BYTES, EMPTY_LOWER
from ffslab.targets.target import IMAGE_NAME
from ffslab.workloads.plans import guest_plans
from ffslab.workloads.rig import Cutting, Layer, Named

PARTITION = "data"
MOUNT_POINT = "/mnt"
# Where OpenWrt has the two parts of its root file system.
LOWER_POINT, UPPER_POINT = "/rom", "/overlay"
# Loaded when what it divides is on the flash: kmod/mtdsplit.
SPLITTER = "mtdsplit"
FLASH_REGION = "flash0"
TRACE_REGION = "trace0"
FLASH_STORE = f"iomem:{FLASH_REGION}"
CHIP_COUNTERS = f"/proc/vnand/{FLASH_REGION}/counters"  # of vnor too


@dataclass(frozen=True, slots=True)
class ChipModules:
    """The modules of a technology of flash: the chip, its monitor, the chip that logs and cuts.

    `below`: the monitor that tells apart what programs do to the flash below the file system.
    """

    chip: str
    monitor: str
    below: str
    cutting: str


_MODULES: Mapping[str, ChipModules] = {
    NAND: ChipModules("vnand", "flashmon", "flashmon_below", "vnand_crash"),
    NOR: ChipModules("vnor", "flashmon_nor", "flashmon_nor_below", "vnor_crash"),
}
_TIMES = ("t_prog_ns", "t_erase_ns", "t_command_ns", "bus_read_ps", "bus_write_ps")
# What a chip module is told, in the order of its keys: geometry and times, then the ECC's rules.
_FIGURES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    NAND: (
        (
            *("page_bytes", "oob_bytes", "subpages", "pages_per_block", "blocks", "planes"),
            *("t_read_ns", *_TIMES, "ecc_read_ns", "ecc_write_ns"),
        ),
        ("nop", "ordered", "ecc_strength_bits", "ecc_step_bytes"),
    ),
    NOR: (("page_bytes", "pages_per_block", "blocks", "t_prog_byte_ns", *_TIMES), ()),
}
_OPTIONAL = ("endurance_cycles", *CHIP_FAULT_RATES)  # zero, the default, is left out
HOST = "/host"
# Where a distribution has its programs and their libraries; through the last, `awk` and others.
_PROGRAMS = ("/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc/alternatives")
_HOST_FILES = {
    "type": "hostfs",
    "source": "none",
    "target": HOST,
    "options": "/proc/self/cwd",  # of the guest as the host runs it
}


def module_path(name: str) -> str:
    """Where a module is in the guest's initramfs."""
    return f"/lab/{name}.ko"


@dataclass(frozen=True, slots=True)
class CutFlash:
    """The steps of a virtual chip whose power is cut: `ffslab.workloads.rig.Cutting`."""

    rig: VirtualFlash
    chip: str = FLASH_REGION
    log: str = f"/proc/vnand/{FLASH_REGION}/log"
    host: str = HOST

    @property
    def partition(self) -> str:
        """That of the rig."""
        return self.rig.partition

    def devices(self, case: Case, paired_distance_pages: int) -> list[str]:
        """The chip and the modules of the file system; nobody counts beside the chip's log."""
        parameters = f"chip={vnand_chip(case)}"
        if paired_distance_pages:
            parameters += f" paired_distance_pages={paired_distance_pages}"
        path_of = self.rig.path_of
        return [
            step("insmod", path=path_of(cutting_module(case)), args=parameters),
            *(
                step("insmod", path=path_of(name))
                for name in case.filesystem.modules
                if name != SPLITTER
            ),
        ]

    def host_files(self) -> list[str]:
        """The directory of the guest, to be written."""
        return [step("mount", **_HOST_FILES)]

    def attach(self, case: Case) -> list[str]:
        """As the rig does it."""
        return self.rig.attach(case)

    def detach(self, case: Case) -> list[str]:
        """As the rig does it."""
        return self.rig.detach(case)

    def mount_new(self, case: Case, lower: str, lower_bytes: int) -> list[str]:
        """As the rig does it, with that file of the guest below an overlay."""
        rig = self.rig
        if lower_bytes:
            rig = replace(rig, lower_image=lower, lower_bytes=lower_bytes)
        return rig.mount(case, new=True)

    def unmount(self, case: Case) -> list[str]:
        """As the rig does it; what divides the partition stays."""
        return self.rig.staying().unmount(case)

    def layers(self, case: Case) -> tuple[Layer, ...]:
        """As the rig mounts them."""
        return self.rig.layers(case)


@dataclass(frozen=True, slots=True)
class VirtualFlash:
    """The steps around a workload's; `path_of` gives a module's path as the guest sees it.

    `directory` is where the file system is mounted, `partition` the name of the MTD partition,
    `ubi` the number of UBI's device on it. `lower_image` is the guest's file with what is below a
    new overlay, `lower_bytes` long. `stays_divided`: unmounting leaves the partitions of SquashFS
    and JFFS2, so that `layers` can be mounted by another program.
    """

    path_of: Callable[[str], str] = module_path
    directory: str = MOUNT_POINT
    partition: str = PARTITION
    ubi: int = 0
    lower_image: str = EMPTY_LOWER
    lower_bytes: int = EMPTY_BYTES
    stays_divided: bool = False

    @property
    def cutting(self) -> Cutting | None:
        """The chip has a twin that loses power."""
        return CutFlash(self)

    def devices(self, case: Case) -> list[str]:
        """Loads every module of the case."""
        chip, monitor = chip_modules(case)
        arguments = {
            chip: {"args": f"chip={vnand_chip(case, self.store(case))}"},
            monitor: self.monitor_arguments(),
        }
        return [
            step("insmod", path=self.path_of(module), **arguments.get(module, {}))
            for module in required_modules(case)
            if module != SPLITTER
        ]

    def store(self, _case: Case) -> str:
        """Where the module finds the contents of the case's chip."""
        return FLASH_STORE

    def monitor_arguments(self) -> Mapping[str, str]:
        """The keys of the step that loads flashmon: where a trace would go."""
        return {"args": f"trace_store=iomem:{TRACE_REGION}"}

    def monitor(self) -> list[str]:
        """Begins to count: what the partition is asked for, and what the chip does."""
        return [step("monitor", mtd=self.partition, chip=CHIP_COUNTERS)]

    def begin(self, case: Case, *, trace: bool) -> list[str]:
        """Loads chip, monitor and file system, and begins to count."""
        # The step `trace` is always there, so that a traced guest has the same history as another.
        return [*self.devices(case), *self.monitor(), step("trace", on=int(trace))]

    def erase(self, **keys: object) -> list[str]:
        """Erases the partition under test."""
        return [step("erase", mtd=self.partition, **keys)]

    def write_device(self, **keys: object) -> list[str]:
        """Writes every block of the erased partition, without a file system."""
        return [step("raw-write", mtd=self.partition, **keys)]

    def read_device(self, **keys: object) -> list[str]:
        """Reads every block of the partition, without a file system."""
        return [step("raw-read", mtd=self.partition, **keys)]

    def probe_device(self, **keys: object) -> list[str]:
        """Single operations of the partition, without a file system."""
        return [step("probe-flash", mtd=PARTITION, **keys)]

    def write_image(self, case: Case, *, phase: str) -> list[str]:
        """Writes the image, which is in the host's directory of the guest."""
        return [
            step("mount", **_HOST_FILES, flags="ro"),
            write_image_line(case, f"{HOST}/{IMAGE_NAME}", self.partition, phase=phase),
            step("umount", target=HOST),
        ]

    def attach(self, case: Case, *, new: bool = False, **further: object) -> list[str]:
        """Attaches UBI if the file system is on it; `further` keys of the step go last."""
        return [self._attach_line(case, new=new, **further)] if case.filesystem.ubi else []

    def detach(self, case: Case, **further: object) -> list[str]:
        """Detaches UBI if the file system is on it."""
        return [step("ubi-detach", ubi=self.ubi, **further)] if case.filesystem.ubi else []

    def mount(self, case: Case, *, new: bool = False, named: Named | None = None) -> list[str]:
        """Attaches UBI if the file system is on it, with a `new` volume, and mounts."""
        lines = self.attach(case, new=new, **_phase(named, "attach"))
        overlay = case.filesystem.overlay
        if overlay and not case.filesystem.ubi and (new or not self.stays_divided):
            lines += self._split(case, new=new, named=named)
        elif new and overlay:
            lines.append(self._lower_volume_line(overlay, **_phase(named, "lower-volume")))
        if new and case.filesystem.ubi:
            lines.append(_volume_line(case, self.ubi, **_phase(named, "volume")))
        label = {"label": named("mount")} if named else {}
        if overlay is None:
            mounted = self._mount_line(case, self.directory, **_phase(named, "mount"), **label)
            return [*lines, mounted]
        joined = {"lower": LOWER_POINT, "upper": UPPER_POINT, "target": self.directory}
        label = label or {"label": "mount"}
        return [
            *lines,
            _lower_mount_line(case, overlay, **_phase(named, "lower")),
            self._mount_line(case, UPPER_POINT, **_phase(named, "upper")),
            step("mount-overlay", **joined, **_phase(named, "mount"), **label),
        ]

    def unmount(self, case: Case, *, named: Named | None = None) -> list[str]:
        """Unmounts; UBI finishes its background work when it is detached."""
        below = (("upper-unmount", UPPER_POINT), ("lower-unmount", LOWER_POINT))
        return [
            step("umount", target=self.directory, **_phase(named, "unmount")),
            *(
                step("umount", target=place, **_phase(named, part))
                for part, place in (below if case.filesystem.overlay else ())
            ),
            *([step("rmmod", name=SPLITTER)] if _is_split(case) and not self.stays_divided else []),
            *self.detach(case, **_phase(named, "detach")),
        ]

    def staying(self) -> Self:
        """Unmounting leaves the flash divided, and mounting finds it so."""
        return replace(self, stays_divided=True)

    def layers(self, case: Case) -> tuple[Layer, ...]:
        """What `mount` mounts once UBI is attached, the lowest first."""
        setup, overlay = case.filesystem, case.filesystem.overlay
        source = self._source(setup.source)
        options = (*setup.mount_flags, *setup.mount_options)
        if overlay is None:
            return (Layer(setup.type, source, self.directory, options),)
        upper, work = f"{UPPER_POINT}/upper", f"{UPPER_POINT}/work"
        joined = (f"lowerdir={LOWER_POINT}", f"upperdir={upper}", f"workdir={work}")
        return (
            Layer(overlay.lower_type, _lower_source(case, overlay), LOWER_POINT, ("ro",)),
            Layer(setup.type, source, UPPER_POINT, options),
            Layer("", "", upper),
            Layer("", "", work),
            Layer("overlay", "overlay", self.directory, joined),
        )

    def _lower_volume_line(self, overlay: OverlaySettings, **further: object) -> str:
        """Makes volume 0, no larger than its image, and its block device."""
        return step(
            "ubi-mkvol",
            ubi=self.ubi,
            name=overlay.lower_volume,
            volume=0,
            size=self.lower_bytes,
            contents=self.lower_image,
            block=1,
            **further,
        )

    def _split(self, case: Case, *, new: bool, named: Named | None) -> list[str]:
        """Divides the partition behind SquashFS, which is written before if the flash is new."""
        overlay = case.filesystem.overlay
        assert overlay is not None
        lines = []
        if new:
            phase = _phase(named, "lower-volume")
            lines.append(
                step("write-image", mtd=self.partition, path=self.lower_image, oob=0, **phase)
            )
        upper = case.filesystem.source.removeprefix("mtd:")
        names = f"mtd={self.partition} lower={overlay.lower_volume} upper={upper}"
        return [*lines, step("insmod", path=self.path_of(SPLITTER), args=names)]

    def _attach_line(self, case: Case, *, new: bool = False, **further: object) -> str:
        """Attaches UBI to the partition; `further` keys of the step go last.

        A `new` device has no volume yet that could have a block device.
        """
        ubi = case.filesystem.ubi
        assert ubi is not None
        if ubi.block and not new:
            further = {"block": 0, **further}
        return step(
            "ubi-attach",
            mtd=self.partition,
            ubi=self.ubi,
            vid_hdr_offset=ubi.vid_hdr_offset,
            max_beb_per1024=case.ubi_beb_per1024,
            **further,
        )

    def _mount_line(self, case: Case, target: str, **further: object) -> str:
        """Mounts the file system with the options of the case; under an overlay, the upper one."""
        setup = case.filesystem
        mount: dict[str, object] = {
            "type": setup.type,
            "source": self._source(setup.source),
            "target": target,
        }
        if case.filesystem.overlay:
            mount["label"] = "upper"
        flags = [*setup.mount_flags, *(["ro"] if setup.image and setup.image.read_only else [])]
        if setup.mount_options:
            mount["options"] = ",".join(setup.mount_options)
        if flags:
            mount["flags"] = ",".join(flags)
        return step("mount", **mount, **further)

    def _source(self, stated: str) -> str:
        """What a file system of the catalog is mounted from; it calls UBI's device 0."""
        if self.ubi:
            stated = stated.replace("ubi0:", f"ubi{self.ubi}:")
            stated = stated.replace("ubiblock0_", f"ubiblock{self.ubi}_")
        return stated.replace("{partition}", self.partition)

    def settle(self, **keys: object) -> list[str]:
        """Waits until the monitor has seen no request for a while."""
        return [step("settle", **keys)]

    def snapshot(self, label: str) -> list[str]:
        """Notes what the monitor counted of every block."""
        return [step("snapshot", label=label)]

    def host_programs(self) -> list[str]:
        """The host's programs and libraries, read-only, and what they need of a guest."""
        found = [Path(name) for name in _PROGRAMS if Path(name).is_dir()]
        mounts = [
            step(
                "mount",
                type="hostfs",
                source="none",
                target=str(place),
                options=str(place.resolve()),
                flags="ro",
            )
            for place in found
        ]
        return [*mounts, step("userland")]

    def kept_files(self, case: Case) -> list[str]:
        """Notes what the file system says of itself; the partition comes behind the fixed ones."""
        number = len(case.board.partitions)
        files = (path.replace("{number}", str(number)) for path in case.filesystem.kept_files)
        return [step("capture", path=path) for path in files]

    def statistics(self) -> list[str]:
        """Notes what the chip and the CPU model counted."""
        return [
            step("capture", path=CHIP_COUNTERS),
            step("capture", path="/proc/cpu_model"),
        ]


def _phase(named: Named | None, part: str) -> dict[str, object]:
    """The key of a step that is measured as this part; none if nothing is measured."""
    return {"phase": named(part)} if named else {}


def _is_split(case: Case) -> bool:
    """Whether SquashFS and the writable file system share the MTD partition, without UBI."""
    return case.filesystem.overlay is not None and case.filesystem.ubi is None


def required_modules(case: Case) -> tuple[str, ...]:
    """Modules a plan of this case loads, in order of loading."""
    return (*chip_modules(case), *case.filesystem.modules)


def chip_modules(case: Case) -> tuple[str, str]:
    """Those of the chip and of its monitor."""
    modules = _MODULES[case.board.chip.technology]
    monitor = modules.below if case.workload.runs_programs else modules.monitor
    return modules.chip, monitor


def cutting_module(case: Case) -> str:
    """That of the chip which logs what it changes, in the place of the chip's."""
    return _MODULES[case.board.chip.technology].cutting


def vnand_chip(case: Case, store: str = FLASH_STORE) -> str:
    """The value of the chip module's `chip=` parameter: section 7 of docs/plan-format.md."""
    board, chip = case.board, case.board.chip
    costs, rules = _FIGURES[chip.technology]
    values: dict[str, object] = {
        "name": FLASH_REGION,
        **{key: getattr(chip, key) for key in costs},
        **case.driver_ns,
        "wait": board.wait,
        "store": store,
        "parts": _partition_table(board, case.partition_blocks),
        "rules": "count",
        **{key: int(getattr(chip, key)) for key in rules},
        "seed": case.seed,
    }
    if chip.factory_bad and not chip.is_nor:
        values["factory_bad"] = f"count:{chip.factory_bad}"
    values |= {key: getattr(chip, key) for key in _OPTIONAL if getattr(chip, key)}
    return ";".join(f"{key}={value}" for key, value in values.items())


def _partition_table(board: Board, partition_blocks: int) -> str:
    parts: list[str] = []
    start = 0
    for partition in board.partitions:
        blocks = -(-partition.size_bytes // board.chip.block_bytes)
        parts.append(f"{partition.name}@{start}+{blocks}")
        start += blocks
    parts.append(f"{PARTITION}@{start}+{partition_blocks}")
    start += partition_blocks
    if start < board.chip.blocks:
        parts.append(f"rest@{start}+{board.chip.blocks - start}")
    return "/".join(parts)


def write_image_line(case: Case, path: str, partition: str = PARTITION, **further: object) -> str:
    """Writes the image at `path` in the guest to the erased partition, as a flasher does."""
    image = case.filesystem.image
    assert image is not None
    place = {"in_place": 1} if image.in_place else {}
    return step("write-image", mtd=partition, path=path, oob=int(image.oob), **place, **further)


def _volume_line(case: Case, device: int, **further: object) -> str:
    """Makes the volume that the file system is on."""
    ubi = case.filesystem.ubi
    assert ubi is not None
    number = 1 if case.filesystem.overlay else 0
    size = ubi.volume_bytes or "max"
    return step("ubi-mkvol", ubi=device, name=ubi.volume, volume=number, size=size, **further)


def _lower_mount_line(case: Case, overlay: OverlaySettings, **further: object) -> str:
    source = _lower_source(case, overlay)
    keys = {"type": overlay.lower_type, "source": source, "target": LOWER_POINT}
    return step("mount", **keys, flags="ro", label="lower", **further)


def _lower_source(case: Case, overlay: OverlaySettings) -> str:
    # The partitions of a division get the numbers behind those of the chip's table.
    number = _partition_table(case.board, case.partition_blocks).count("/") + 1
    return overlay.lower_source.replace("{lower}", str(number))


RIG = VirtualFlash()


def plans(case: Case) -> tuple[str, ...]:
    """The plans of the case's guests in order, on a virtual chip; the last is of its own."""
    return guest_plans(case, RIG)


def plan_text(case: Case) -> str:
    """The plan of the guest that runs the case's workload."""
    return plans(case)[-1]


def shell_plan_text(
    case: Case, program: str, path_of: Callable[[str], str], image: str = ""
) -> str:
    """The plan of an interactive shell with the case's file system mounted.

    `path_of` gives the path of a module as the guest sees it; `image` is that of the image which
    the flash gets, empty for a new file system.
    """
    rig = VirtualFlash(path_of)
    written = [write_image_line(case, image)] if image else []
    return plan_of(
        [
            *rig.devices(case),
            *rig.monitor(),
            *rig.erase(),
            *written,
            *rig.mount(case, new=not image),
            step("shell", path=program),
        ]
    )
