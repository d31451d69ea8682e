"""Guests with the LogFS module: see module_guest.py."""

from __future__ import annotations

from functools import partial

import module_guest
from module_guest import (
    CHIP_COUNTERS,
    LIST,
    MONITOR,
    UMOUNT,
    Chip,
    bad_blocks,
    erase_counts,
    fail_blocks,
    failed_blocks,
    flash_contents,
    no_violations,
    run,
    run_file,
    spoil_pages,
    write_flash,
)

import ffslab.logfs

__all__ = [
    "CHIP",
    "CHIP_COUNTERS",
    "LIST",
    "MONITOR",
    "PROC",
    "STATE",
    "UMOUNT",
    "Chip",
    "Guest",
    "bad_blocks",
    "erase_counts",
    "fail_blocks",
    "failed_blocks",
    "flash_contents",
    "load",
    "mount",
    "no_violations",
    "run",
    "run_file",
    "spoil_pages",
    "start",
    "write_flash",
]

PROC = "/proc/logfs/mtd0"
STATE = f"capture path={PROC}"
CHIP = Chip()


class Guest(module_guest.Guest):
    images = ffslab.logfs
    proc = PROC


mount = partial(module_guest.mount_type, "logfs")
start = partial(module_guest.start, guest=Guest, chip=CHIP)


def load(chip: Chip = CHIP, vnand: str = "vnand") -> list[str]:
    """Loads chip and file system; `vnand` is the chip's module."""
    return module_guest.load_module(chip, "logfs", vnand=vnand)
