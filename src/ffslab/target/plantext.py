"""The agent's plan for a case: pure text, as docs/plan-format.md defines it.

The order is the experiment's: load the chip and the monitor, erase the
partition, attach and mount, wait until the file system has formatted it, run
the workload, unmount. Everything between
`monitor` and the last snapshot is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

from ffslab.model.specs import CHIP_FAULT_RATES, Board, Case

PARTITION = "data"
MOUNT_POINT = "/mnt"
SETTLE_QUIET_MS = 2000
_OPTIONAL = ("endurance_cycles", *CHIP_FAULT_RATES)  # zero, the default, is left out
FLASH_REGION = "flash0"
TRACE_REGION = "trace0"
_HEX_ESCAPED = frozenset("%= \t\n\r\x7f") | {chr(code) for code in range(32)}


def plan_text(case: Case) -> str:
    """The plan that runs `case`."""
    lines = [
        # No name of the case or study: a plan is a function of the case's spec.
        "ffsplan 1",
        *_device_lines(case),
        _step("monitor", mtd=PARTITION),
        # Always there, so that a traced guest has the same history as another.
        _step("trace", on=int(case.trace)),
        *_format_lines(case),
        _step("snapshot", label="mounted"),
        # The background formatting of an empty file system is not the workload's cost.
        _step("settle", quiet_ms=SETTLE_QUIET_MS),
        _step("snapshot", label="settled"),
        _workload_step(case),
        _step("umount", target=MOUNT_POINT),
        # UBI finishes its background work when it is detached.
        *([_step("ubi-detach", ubi=0)] if case.filesystem.ubi else []),
        _step("snapshot", label="unmounted"),
        _step("capture", path=f"/proc/vnand/{FLASH_REGION}/counters"),
        _step("capture", path="/proc/cpu_model"),
    ]
    return "\n".join(lines) + "\n"


def shell_plan_text(case: Case, program: str, path_of: Callable[[str], str]) -> str:
    """The plan of an interactive shell with the case's file system mounted.

    `path_of` gives the path of a module as the guest sees it.
    """
    return (
        "\n".join(
            [
                "ffsplan 1",
                *_device_lines(case, path_of),
                _step("monitor", mtd=PARTITION),
                *_format_lines(case),
                _step("shell", path=program),
            ]
        )
        + "\n"
    )


def required_modules(case: Case) -> tuple[str, ...]:
    """Modules a plan of this case loads, in order of loading."""
    return ("vnand", "flashmon", *case.filesystem.modules)


def vnand_chip(board: Board, partition_blocks: int, seed: int) -> str:
    """The value of vnand's `chip=` parameter: section 7 of docs/plan-format.md."""
    chip = board.chip
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
        "wait": board.wait,
        "store": f"iomem:{FLASH_REGION}",
        "parts": _partition_table(board, partition_blocks),
        "rules": "count",
        "nop": chip.nop,
        "ordered": int(chip.ordered),
        "ecc_strength_bits": chip.ecc_strength_bits,
        "ecc_step_bytes": chip.ecc_step_bytes,
        "seed": seed,
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


def module_path(name: str) -> str:
    """Where a module is in the guest's initramfs."""
    return f"/lab/{name}.ko"


def _device_lines(case: Case, path_of: Callable[[str], str] = module_path) -> list[str]:
    arguments = {
        "vnand": {"args": f"chip={vnand_chip(case.board, case.partition_blocks, case.seed)}"},
        "flashmon": {"args": f"trace_store=iomem:{TRACE_REGION}"},
    }
    return [
        _step("insmod", path=path_of(module), **arguments.get(module, {}))
        for module in required_modules(case)
    ]


def _format_lines(case: Case) -> list[str]:
    setup = case.filesystem
    lines = [_step("erase", mtd=PARTITION)]
    if setup.ubi:
        lines += [
            _step(
                "ubi-attach",
                mtd=PARTITION,
                ubi=0,
                vid_hdr_offset=setup.ubi.vid_hdr_offset,
                max_beb_per1024=setup.ubi.max_beb_per1024,
            ),
            _step("ubi-mkvol", ubi=0, name=setup.ubi.volume, volume=0, size="max"),
        ]
    mount: dict[str, object] = {
        "type": setup.type,
        "source": setup.source.replace("{partition}", PARTITION),
        "target": MOUNT_POINT,
    }
    if setup.mount_options:
        mount["options"] = ",".join(setup.mount_options)
    if setup.mount_flags:
        mount["flags"] = ",".join(setup.mount_flags)
    lines.append(_step("mount", **mount))
    return lines


def _workload_step(case: Case) -> str:
    keys: dict[str, object] = {
        key: int(value) if isinstance(value, bool) else value
        for key, value in asdict(case.workload).items()
        if key != "kind"
    }
    return _step(
        case.workload.kind,
        dir=MOUNT_POINT,
        **keys,
        valid_percent=case.state.valid_percent,
        invalid_percent=case.state.invalid_percent,
        seed=case.seed,
    )


def _step(verb: str, **keys: object) -> str:
    return " ".join([verb, *(f"{key}={encode(str(value))}" for key, value in keys.items())])


def encode(value: str) -> str:
    """Percent-encodes space, `%`, `=` and control characters of a plan's value."""
    return "".join(
        f"%{ord(character):02X}" if character in _HEX_ESCAPED else character for character in value
    )


def decode(value: str) -> str:
    """The inverse of `encode`; ValueError for a broken escape."""
    parts = value.split("%")
    return parts[0] + "".join(chr(int(part[:2], 16)) + part[2:] for part in parts[1:])


def parse_step(line: str) -> tuple[str, Mapping[str, str]]:
    """Verb and decoded keys of one line of a plan."""
    verb, *fields = line.split(" ")
    pairs = (field.partition("=") for field in fields if field)
    return verb, {key: decode(value) for key, _, value in pairs}
