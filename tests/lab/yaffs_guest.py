"""Guests with the YAFFS2 module: see module_guest.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import module_guest
from module_guest import (
    CHIP_COUNTERS,
    LIST,
    LISTING,
    MONITOR,
    PROGRAM,
    UMOUNT,
    bad_blocks,
    erase_counts,
    failed_blocks,
    flash_contents,
    listing_steps,
    no_violations,
    run,
    write_flash,
)

import ffslab.yaffs2
from ffslab.yaffs2 import ImageOptions
from ffslab.yaffs2.format import Geometry

__all__ = [
    "CHIP",
    "CHIP_COUNTERS",
    "LIST",
    "LISTING",
    "MONITOR",
    "PROC",
    "PROGRAM",
    "STATE",
    "UMOUNT",
    "Chip",
    "Guest",
    "bad_blocks",
    "erase_counts",
    "failed_blocks",
    "flash_contents",
    "listing_steps",
    "load",
    "mount",
    "no_violations",
    "run",
    "start",
    "write_flash",
]

PROC = "/proc/yaffs2/mtd0"
STATE = f"capture path={PROC}"


class Chip(module_guest.Chip):
    def geometry(self, *, inband: bool = False, tags_ecc: bool = True) -> Geometry:
        return Geometry(
            self.page_bytes,
            self.oob_bytes,
            self.pages_per_block,
            oob_offset=2,
            inband=inband,
            tags_ecc=tags_ecc,
        )

    def image_options(self, **known: Any) -> ImageOptions:
        return ImageOptions(first_block=0, blocks=self.blocks, **known)


class Guest(module_guest.Guest):
    images = ffslab.yaffs2
    proc = PROC


CHIP = Chip()
mount = partial(module_guest.mount_type, "yaffs2")
start = partial(module_guest.start, guest=Guest, chip=CHIP)


def load(chip: Chip = CHIP, yaffs: str = "") -> list[str]:
    """Loads chip and file system; `yaffs` are parameters of the module."""
    return module_guest.load_module(chip, "yaffs", yaffs)
