"""QEMU's machine `virt` with a Cortex-A15: how it is started, what it cannot, and its rig.

Time is counted in instructions of the guest, each of `INSTRUCTION_NS`, and in what the virtual chip
waits: nothing of the host's time is in it, as long as QEMU's threads take turns (`turns.c`). So
equal cases give equal bytes here as well, but what code costs does not come from the board's
prices.

Physical memory has a gibibyte from `_RAM_AT`, of which the kernel is given the board's RAM
(`mem=`), and behind it what the kernel leaves alone: the chip's file for vnand, and for a case
that begins with an image room for that (`ffslab.targets.qemu.romfs`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.model.case import Case
from ffslab.model.units import format_size
from ffslab.protocol.chip_file import flash_file_bytes
from ffslab.protocol.plan import step
from ffslab.targets.qemu.romfs import HEAD_BYTES, write_romfs
from ffslab.targets.qemu.turns import TURNS_NAME, put_turns
from ffslab.targets.target import (
    CONSOLE_NAME,
    FLASH_NAME,
    IMAGE_NAME,
    RECORDS_NAME,
    Capabilities,
    TargetKind,
)
from ffslab.targets.uml.directory import INITRAMFS_NAME, KERNEL_NAME
from ffslab.targets.uml.guests import Machine
from ffslab.targets.uml.launch import GuestCommand
from ffslab.targets.uml.scratch import SHARED_MEMORY
from ffslab.targets.virtual_flash import CHIP_COUNTERS, VirtualFlash, write_image_line
from ffslab.workloads.plans import guest_plans

PROGRAM = "/usr/bin/qemu-system-arm"
INSTRUCTION_NS = 4
_SHIFT = INSTRUCTION_NS.bit_length() - 1
_WALL_CLOCK_START = "2023-11-14T22:13:20"
_MIB = 2**20
_RAM_AT = 0x4000_0000
# More than any board has: QEMU puts the device tree 128 MiB behind the beginning, which must be
# nobody's; it is a hole but for what is used.
_RAM_BYTES = 2**30
_INITRAMFS_OFFSET_BYTES = 64 * _MIB
_FLASH_AT = _RAM_AT + _RAM_BYTES
_IMAGES = "/image"  # where a guest has the file system with its image
# What the kernel maps beside its RAM: the chip's file, modules, UBI's buffers.
_OTHER_MAPPINGS_BYTES = 64 * _MIB
# Of the kernel's gibibyte of addresses, behind its RAM and in front of its fixed mappings.
_MOST_MAPPED_BYTES = 1000 * _MIB
_LEAST_RAM_BYTES = 32 * _MIB


@dataclass(frozen=True, slots=True)
class QemuFlash(VirtualFlash):
    """The virtual chip with its contents at a physical address, and no trace."""

    @property
    def cutting(self) -> None:
        """None: the chip that logs is no module of this machine."""

    def store(self, _case: Case) -> str:
        """Where vnand finds the chip's file."""
        return f"iomem:{_FLASH_AT:#x}-{flash_file_bytes(_case.board.chip):#x}"

    def monitor_arguments(self) -> Mapping[str, str]:
        """A trace would need a quarter of the kernel's addresses."""
        return {}

    def write_image(self, case: Case, *, phase: str) -> list[str]:
        """Writes the image, which is in memory; its MTD device is there for that time only."""
        flash = flash_file_bytes(case.board.chip)
        where = f"phram={IMAGE_NAME},{_FLASH_AT + flash:#x},{_image_bytes(case):#x}"
        return [
            step("insmod", path=self.path_of("phram"), args=where),
            step("mount", type="romfs", source=f"mtd:{IMAGE_NAME}", target=_IMAGES, flags="ro"),
            write_image_line(case, f"{_IMAGES}/{IMAGE_NAME}", phase=phase),
            step("umount", target=_IMAGES),
            step("rmmod", name="phram"),
        ]

    def statistics(self) -> list[str]:
        """What the chip counted; there is no model of the CPU."""
        return [step("capture", path=CHIP_COUNTERS)]


RIG = QemuFlash()


def _image_bytes(case: Case) -> int:
    """The room for an image, OOB areas and all; none if the case does not begin with one."""
    if case.state.kind != "image":
        return 0
    chip = case.board.chip
    pages = case.partition_blocks * chip.pages_per_block
    return _whole_mib(pages * (chip.page_bytes + chip.oob_bytes) + HEAD_BYTES)


def _mapped_bytes(case: Case) -> int:
    flash = flash_file_bytes(case.board.chip)
    return _whole_mib(flash) + _image_bytes(case) + _OTHER_MAPPINGS_BYTES


def _whole_mib(size_bytes: int) -> int:
    return -(-size_bytes // _MIB) * _MIB


def kernel_arguments(case: Case, initramfs_bytes: int) -> tuple[str, ...]:
    """The guest's command line."""
    ram = case.board.ram_bytes
    return (
        f"mem={ram // _MIB}M",
        f"vmalloc={_mapped_bytes(case) // _MIB}M",
        "console=ttyAMA0",
        "quiet",
        "loglevel=7",
        f"initrd={_initramfs_at(case):#x},{initramfs_bytes}",
        "oops=panic",
        "panic=-1",
        "hung_task_panic=1",
        *case.kernel.arguments,
    )


def _initramfs_at(case: Case) -> int:
    """In the board's RAM, behind what the kernel unpacks itself into and before the device tree."""
    return int(_RAM_AT + min(case.board.ram_bytes // (2 * _MIB) * _MIB, _INITRAMFS_OFFSET_BYTES))


def machine_arguments(
    case: Case, initramfs_bytes: int, ram_place: str = str(SHARED_MEMORY)
) -> tuple[str, ...]:
    """What QEMU is told; `ram_place` is a directory for the nameless file of the guest's RAM."""
    flash, image = flash_file_bytes(case.board.chip), _image_bytes(case)
    append = " ".join(kernel_arguments(case, initramfs_bytes))
    return (
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-M", "virt,highmem=off,dtb-randomness=off", "-cpu", "cortex-a15", "-accel", "tcg"),
        # Time stands still while the host does something else, and jumps when the guest sleeps.
        *("-icount", f"shift={_SHIFT},sleep=off,align=off"),
        *("-rtc", f"base={_WALL_CLOCK_START},clock=vm"),
        *("-m", f"{_RAM_BYTES + flash + image}B"),
        *_memory("ram", _RAM_BYTES, ram_place),
        *_memory("flash", flash, FLASH_NAME, shared=True),
        *(_memory("image", image, IMAGE_NAME) if image else ()),
        *("-kernel", KERNEL_NAME, "-append", append),
        *("-device", f"loader,file={INITRAMFS_NAME},addr={_initramfs_at(case):#x},force-raw=on"),
        *("-chardev", f"file,id=console,path={CONSOLE_NAME},append=on"),
        *("-serial", "chardev:console"),
        *("-chardev", f"file,id=records,path={RECORDS_NAME},append=on"),
        *("-device", "pci-serial,chardev=records"),
    )


def _memory(name: str, size_bytes: int, place: str, *, shared: bool = False) -> tuple[str, ...]:
    """Memory behind what has been named before; what is written to it stays if it is `shared`."""
    backend = f"memory-backend-file,id={name},size={size_bytes},mem-path={place}"
    options = f"{backend},share=on" if shared else backend
    return ("-object", options, "-numa", f"node,memdev={name}")


def command(case: Case, directory: Path, host_cpu: int | None, ram_on_disk: bool) -> GuestCommand:
    """How the guest is started in its directory, which has the initramfs unless none is to run."""
    initramfs = directory / INITRAMFS_NAME
    size = initramfs.stat().st_size if initramfs.exists() else 0
    place = "." if ram_on_disk else str(SHARED_MEMORY)
    arguments = machine_arguments(case, size, place)
    return GuestCommand(arguments, host_cpu, ram_on_disk, PROGRAM, TURNS_NAME)


def put_image(image: Path, target: Path, case: Case) -> None:
    """Makes the file that a guest of the case has as memory; OSError if the disk does not."""
    write_romfs(image, target)
    os.truncate(target, _image_bytes(case))


def missing(case: Case) -> str:
    """Why no guest of the case can run here, or an empty string."""
    ram, mapped = case.board.ram_bytes, _mapped_bytes(case)
    if case.cpu_scale != 1:
        return "on target qemu an instruction takes what it takes: no cpu_scale"
    if case.perturbation:
        return "on target qemu the layout of a guest is not perturbed"
    if ram < _LEAST_RAM_BYTES:
        return f"target qemu needs a board with {format_size(_LEAST_RAM_BYTES)} of RAM"
    if ram + mapped > _MOST_MAPPED_BYTES:
        return (
            f"the kernel of target qemu cannot address {format_size(ram)} of RAM and a chip of "
            f"{format_size(case.board.chip.size_bytes)}"
        )
    if any("type=hostfs" in plan for plan in guest_plans(case, RIG)):
        return "a guest of target qemu sees no programs or files of the host"
    return ""


def _history(case: Case) -> dict[str, object]:
    """What beside the plan determines what happens in a guest.

    The machine has unaligned access whatever the board has, so kernels differ in what is named.
    """
    source = case.filesystem.module_source
    return {
        **({"kernel": case.kernel.aligned_variant} if case.kernel.is_named else {}),
        "machine": [*machine_arguments(case, 0)],
        "flash_bytes": flash_file_bytes(case.board.chip),
        "module_source": source.key if source else "",
    }


KIND = TargetKind(
    name="qemu",
    title="QEMU's ARM machine with a virtual chip, in the time of instructions",
    capabilities=Capabilities(
        virtual_time=True,
        flash_snapshot=True,
        images=True,
        fault_injection=True,
        trace=False,
    ),
    rig=RIG,
    history=_history,
    cpu_time=f"{INSTRUCTION_NS} ns for each instruction of a Cortex-A15 (QEMU)",
    limit_s=3600.0,  # twenty times as slow as the lab, and more
)
MACHINE = Machine(KIND, command, missing, put_image, put_turns)
