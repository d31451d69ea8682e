"""The agent's plans for a case: pure text, as docs/plan-format.md defines it.

The order is the experiment's: load the chip and the monitor, erase the
partition, attach and mount, wait until the file system has formatted it, run
the workload, unmount. Everything between `monitor` and the last snapshot is
counted.

A case whose state is prepared apart has two plans: that of the guest which
prepares the flash and unmounts it, and that of its own guest, which mounts a
copy. `preparation_plan_text` takes nothing from the case but what determines
the state, so that cases which differ in their requests share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

from ffslab.model.specs import CHIP_FAULT_RATES, Board, Case, Micro

PARTITION = "data"
MOUNT_POINT = "/mnt"
SETTLE_QUIET_MS = 2000
# After the mount of a prepared flash. Shorter than the pace of YAFFS2's background collector (a
# block in 2 s), which would otherwise undo the state before the workload begins.
MOUNTED_QUIET_MS = 1000
MOUNTED_MAX_MS = 60_000
_OPTIONAL = ("endurance_cycles", *CHIP_FAULT_RATES)  # zero, the default, is left out
FLASH_REGION = "flash0"
TRACE_REGION = "trace0"
_HEX_ESCAPED = frozenset("%= \t\n\r\x7f") | {chr(code) for code in range(32)}


def plan_text(case: Case) -> str:
    """The plan of the guest that runs `case`'s workload."""
    apart = case.is_prepared_apart
    prepare = [] if apart or case.workload.kind != "micro" else [_prepare_step(case)]
    return _text(
        _beginning(case, trace=case.trace)
        + (_attach_lines(case) if apart else _format_lines(case))
        + [
            _step("snapshot", label="mounted"),
            # The background formatting of an empty file system is not the workload's cost; nor is
            # the check of all nodes that some make after a mount. A collector that never rests is
            # no failure: the step's end is in the result.
            _step("settle", quiet_ms=MOUNTED_QUIET_MS, max_ms=MOUNTED_MAX_MS, may_fail=1)
            if apart
            else _step("settle", quiet_ms=SETTLE_QUIET_MS),
            _step("snapshot", label="settled"),
            *prepare,
            _workload_step(case),
        ]
        + _end_lines(case)
        + [
            _step("capture", path=f"/proc/vnand/{FLASH_REGION}/counters"),
            _step("capture", path="/proc/cpu_model"),
        ]
    )


def preparation_plan_text(case: Case) -> str:
    """The plan of the guest that brings the flash to `case`'s initial state."""
    return _text(
        _beginning(case, trace=False)
        + _format_lines(case)
        + [
            _step("snapshot", label="mounted"),
            _step("settle", quiet_ms=SETTLE_QUIET_MS),
            _step("snapshot", label="settled"),
            _prepare_step(case),
        ]
        + _end_lines(case)
    )


def _text(lines: list[str]) -> str:
    # No name of the case or study: a plan is a function of the case's spec.
    return "\n".join(["ffsplan 1", *lines]) + "\n"


def _beginning(case: Case, *, trace: bool) -> list[str]:
    return [
        *_device_lines(case),
        _step("monitor", mtd=PARTITION),
        # Always there, so that a traced guest has the same history as another.
        _step("trace", on=int(trace)),
    ]


def _end_lines(case: Case) -> list[str]:
    return [
        _step("umount", target=MOUNT_POINT),
        # UBI finishes its background work when it is detached.
        *([_step("ubi-detach", ubi=0)] if case.filesystem.ubi else []),
        _step("snapshot", label="unmounted"),
    ]


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
    return [_step("erase", mtd=PARTITION), *_attach_lines(case, new=True)]


def _attach_lines(case: Case, *, new: bool = False) -> list[str]:
    """Attaches UBI if the file system is on it, with a `new` volume, and mounts."""
    setup = case.filesystem
    lines: list[str] = []
    if setup.ubi:
        lines.append(
            _step(
                "ubi-attach",
                mtd=PARTITION,
                ubi=0,
                vid_hdr_offset=setup.ubi.vid_hdr_offset,
                max_beb_per1024=setup.ubi.max_beb_per1024,
            )
        )
        if new:
            lines.append(
                _step("ubi-mkvol", ubi=0, name=setup.ubi.volume, volume=0, size="max"),
            )
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


def _prepare_step(case: Case) -> str:
    """What a preparation depends on: the state, and whether there must be a test file."""
    workload, state = case.workload, case.state
    assert isinstance(workload, Micro)
    shares: dict[str, int] = {}
    if state.kind == "aged":
        shares = {
            "valid_percent": state.valid_percent,
            "invalid_percent": state.invalid_percent,
        }
    elif state.kind == "filled":
        shares = {"rate_percent": state.rate_percent, "partition_bytes": case.partition_bytes}
    if workload.existing or state.kind == "filled":
        shares |= {"file_bytes": workload.test_file_bytes, "limit": int(workload.limit)}
    return _step(
        "prepare",
        dir=MOUNT_POINT,
        state=state.kind,
        **shares,
        test_file=int(workload.existing),
        seed=case.seed,
    )


def _workload_step(case: Case) -> str:
    keys: dict[str, object] = {
        key: int(value) if isinstance(value, bool) else value
        for key, value in asdict(case.workload).items()
        if key != "kind" and value != ""
    }
    state = case.state
    if isinstance(case.workload, Micro):
        # What a preparation with a test file has made invalid is gone already, but for aged's.
        left = state.kind == "aged" and state.invalid_percent > 0
        fresh = state.kind in ("saturated", "filled") and not case.workload.existing
        keys |= {"remove": int(left or fresh), "settle_ms": state.settle_ms}
    else:
        keys |= {
            "valid_percent": state.valid_percent,
            "invalid_percent": state.invalid_percent,
        }
    return _step(case.workload.kind, dir=MOUNT_POINT, **keys, seed=case.seed)


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
