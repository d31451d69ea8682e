"""The lines that plans are made of: loading the chip, formatting, mounting, unmounting.

`ffslab.target.plantext` and `ffslab.target.treeplan` put them together; docs/plan-format.md
defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ffslab.model.specs import CHIP_FAULT_RATES, Board, Case

PARTITION = "data"
MOUNT_POINT = "/mnt"
FLASH_REGION = "flash0"
TRACE_REGION = "trace0"
CHIP_COUNTERS = f"/proc/vnand/{FLASH_REGION}/counters"
SETTLE_QUIET_MS = 2000
_OPTIONAL = ("endurance_cycles", *CHIP_FAULT_RATES)  # zero, the default, is left out
_HEX_ESCAPED = {code: f"%{code:02X}" for code in (*range(33), *b"%=\x7f")}


def plan_of(lines: list[str]) -> str:
    """The text of a plan. No name of case or study is in it: it is a function of the spec."""
    return "\n".join(["ffsplan 1", *lines]) + "\n"


def beginning(case: Case, *, trace: bool) -> list[str]:
    """Loads chip, monitor and file system, and begins to count."""
    return [
        *device_lines(case),
        monitor_line(),
        # Always there, so that a traced guest has the same history as another.
        step("trace", on=int(trace)),
    ]


def monitor_line() -> str:
    """Begins to count: what the partition is asked for, and what the chip does."""
    return step("monitor", mtd=PARTITION, chip=CHIP_COUNTERS)


def end_lines(case: Case) -> list[str]:
    """Unmounts, and counts for the last time."""
    return [
        step("umount", target=MOUNT_POINT),
        # UBI finishes its background work when it is detached.
        *([step("ubi-detach", ubi=0)] if case.filesystem.ubi else []),
        step("snapshot", label="unmounted"),
    ]


def required_modules(case: Case) -> tuple[str, ...]:
    """Modules a plan of this case loads, in order of loading."""
    return ("vnand", "flashmon", *case.filesystem.modules)


def vnand_chip(case: Case) -> str:
    """The value of vnand's `chip=` parameter: section 7 of docs/plan-format.md."""
    board, chip = case.board, case.board.chip
    values: dict[str, object] = {
        "name": FLASH_REGION,
        "page_bytes": chip.page_bytes,
        "oob_bytes": chip.oob_bytes,
        "subpages": chip.subpages,
        "pages_per_block": chip.pages_per_block,
        "blocks": chip.blocks,
        "planes": chip.planes,
        "t_read_ns": chip.t_read_ns,
        "t_prog_ns": chip.t_prog_ns,
        "t_erase_ns": chip.t_erase_ns,
        "t_command_ns": chip.t_command_ns,
        "bus_read_ps": chip.bus_read_ps,
        "bus_write_ps": chip.bus_write_ps,
        "ecc_read_ns": chip.ecc_read_ns,
        "ecc_write_ns": chip.ecc_write_ns,
        **case.driver_ns,
        "wait": board.wait,
        "store": f"iomem:{FLASH_REGION}",
        "parts": _partition_table(board, case.partition_blocks),
        "rules": "count",
        "nop": chip.nop,
        "ordered": int(chip.ordered),
        "ecc_strength_bits": chip.ecc_strength_bits,
        "ecc_step_bytes": chip.ecc_step_bytes,
        "seed": case.seed,
    }
    if chip.factory_bad:
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


def statistics_lines() -> list[str]:
    """Notes what the chip and the CPU model counted, at the end of a case's own guest."""
    return [
        step("capture", path=CHIP_COUNTERS),
        step("capture", path="/proc/cpu_model"),
    ]


def module_path(name: str) -> str:
    """Where a module is in the guest's initramfs."""
    return f"/lab/{name}.ko"


def device_lines(case: Case, path_of: Callable[[str], str] = module_path) -> list[str]:
    """Loads every module of the case; `path_of` gives a module's path as the guest sees it."""
    arguments = {
        "vnand": {"args": f"chip={vnand_chip(case)}"},
        "flashmon": {"args": f"trace_store=iomem:{TRACE_REGION}"},
    }
    return [
        step("insmod", path=path_of(module), **arguments.get(module, {}))
        for module in required_modules(case)
    ]


def format_lines(case: Case) -> list[str]:
    """Erases the partition and mounts an empty file system."""
    return [step("erase", mtd=PARTITION), *attach_lines(case, new=True)]


def write_image_line(case: Case, path: str, **further: object) -> str:
    """Writes the image at `path` in the guest to the erased partition, as a flasher does."""
    assert case.filesystem.image is not None
    oob = int(case.filesystem.image.tool == "yaffs2")
    return step("write-image", mtd=PARTITION, path=path, oob=oob, **further)


def attach_lines(case: Case, *, new: bool = False) -> list[str]:
    """Attaches UBI if the file system is on it, with a `new` volume, and mounts."""
    lines = [attach_line(case)] if case.filesystem.ubi else []
    if case.filesystem.ubi and new:
        lines.append(volume_line(case))
    return [*lines, mount_line(case)]


def attach_line(case: Case, **further: object) -> str:
    """Attaches UBI to the partition; `further` keys of the step go last."""
    ubi = case.filesystem.ubi
    assert ubi is not None
    if ubi.block:
        further = {"block": 0, **further}
    return step(
        "ubi-attach",
        mtd=PARTITION,
        ubi=0,
        vid_hdr_offset=ubi.vid_hdr_offset,
        max_beb_per1024=case.ubi_beb_per1024,
        **further,
    )


def volume_line(case: Case, **further: object) -> str:
    """Makes the volume that the file system is on, as large as it can be."""
    ubi = case.filesystem.ubi
    assert ubi is not None
    return step("ubi-mkvol", ubi=0, name=ubi.volume, volume=0, size="max", **further)


def mount_line(case: Case, **further: object) -> str:
    """Mounts the file system with the options of the case."""
    setup = case.filesystem
    mount: dict[str, object] = {
        "type": setup.type,
        "source": setup.source.replace("{partition}", PARTITION),
        "target": MOUNT_POINT,
    }
    flags = [*setup.mount_flags, *(["ro"] if setup.image and setup.image.read_only else [])]
    if setup.mount_options:
        mount["options"] = ",".join(setup.mount_options)
    if flags:
        mount["flags"] = ",".join(flags)
    return step("mount", **mount, **further)


def step(verb: str, **keys: object) -> str:
    """One line of a plan."""
    return " ".join([verb, *(f"{key}={encode(str(value))}" for key, value in keys.items())])


def encode(value: str) -> str:
    """Percent-encodes space, `%`, `=` and control characters of a plan's value."""
    return value.translate(_HEX_ESCAPED)


def decode(value: str) -> str:
    """The inverse of `encode`; ValueError for a broken escape."""
    parts = value.split("%")
    return parts[0] + "".join(chr(int(part[:2], 16)) + part[2:] for part in parts[1:])


def parse_step(line: str) -> tuple[str, Mapping[str, str]]:
    """Verb and decoded keys of one line of a plan."""
    verb, *fields = line.split(" ")
    pairs = (field.partition("=") for field in fields if field)
    return verb, {key: decode(value) for key, _, value in pairs}
