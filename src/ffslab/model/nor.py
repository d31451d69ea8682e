"""What cannot be done on NOR flash, with the reason: a case of it is skipped.

NOR has no OOB area and no pages that are written as a whole, so a study of several chips has cases
that only some of them can run. They stay in its results, as skipped, with these words.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.model.units import format_size

# UBIFS_MIN_LEB_SZ in fs/ubifs/ubifs-media.h; UBI keeps two headers of 64 bytes in front.
_UBIFS_LEB_BYTES_MIN = 15 * 1024
_UBI_HEADERS_BYTES = 128


def refused_by_nor(case: Case) -> str:
    """Why the case cannot run on its chip; empty if it can, or if the chip is NAND."""
    chip, setup = case.board.chip, case.filesystem
    if not chip.is_nor:
        return ""
    if setup.type == "yaffs2":
        return (
            "YAFFS2 writes pages of 1 KiB or more with tags in their OOB area; NOR flash has none"
        )
    if case.state.kind == "image" or setup.overlay or (setup.image and setup.image.read_only):
        return "images are written page by page, and NOR flash has no pages (not done here yet)"
    if setup.ubi and chip.block_bytes < _UBIFS_LEB_BYTES_MIN + _UBI_HEADERS_BYTES:
        return (
            f"UBIFS needs erase blocks of 15 KiB and UBI's headers, and chip {chip.name} is erased "
            f"by {format_size(chip.block_bytes)}"
        )
    return ""
