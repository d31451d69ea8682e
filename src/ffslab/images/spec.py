"""What an image is built for, and what came of it; no input or output here.

An `ImageSpec` has the flash's geometry and the words for the tool, and nothing that a tool does not
need: so cases that differ in other things share an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ffslab.images.source import SourceTree
    from ffslab.model.specs import Chip, MountSetup, VolumeType

_UBI_HEADER_BYTES = 64  # UBI_EC_HDR_SIZE and UBI_VID_HDR_SIZE of drivers/mtd/ubi/ubi-media.h
# Blocks of a partition that UBI keeps for itself besides its two of the volume table, which are in
# the image: one to move data to (wear leveling), one to change a block atomically.
_UBI_SPARE_BLOCKS = 2
_BEHIND_BLOCKS = 5  # that JFFS2 needs behind SquashFS on MTD (fs/jffs2/fs.c)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSpec:
    """An image's file system, the tool's options, the flash it is for. Sizes are in bytes."""

    tool: str  # jffs2, ubifs, yaffs2, logfs, squashfs, squashfs-mtd or erofs
    options: tuple[str, ...]  # words for the tool, added to ffslab's own
    page_bytes: int
    oob_bytes: int
    subpages: int
    pages_per_block: int
    partition_blocks: int
    ubi_vid_hdr_offset: int = 0  # 0: UBI's own choice
    volume: str = "data"  # the UBI volume's name
    volume_type: VolumeType = "dynamic"  # of SquashFS and EROFS; the volume of UBIFS is dynamic
    upper_volume: str = ""  # an empty one behind it, which grows to the partition; "": none
    summaries: bool = False  # of JFFS2: each erase block ends with a summary of its nodes

    @property
    def block_bytes(self) -> int:
        return self.page_bytes * self.pages_per_block

    @property
    def partition_bytes(self) -> int:
        return self.block_bytes * self.partition_blocks

    @property
    def on_ubi(self) -> bool:
        """Whether the flash gets a UBI image with the file system in a volume."""
        return self.tool in ("ubifs", "squashfs", "erofs")

    @property
    def subpage_bytes(self) -> int:
        """What UBI's headers are aligned to."""
        return self.page_bytes // self.subpages

    @property
    def ubi_data_offset(self) -> int:
        """Where a block's data begin: behind both headers, at a page (io_init() in UBI)."""
        volume_header = self.ubi_vid_hdr_offset or _aligned(_UBI_HEADER_BYTES, self.subpage_bytes)
        return _aligned(volume_header + _UBI_HEADER_BYTES, self.page_bytes)

    @property
    def leb_bytes(self) -> int:
        """Bytes of a logical erase block: what UBI's headers leave of a physical one."""
        return self.block_bytes - self.ubi_data_offset

    @property
    def usable_blocks(self) -> int:
        """How many blocks of the partition an image may have."""
        behind = _BEHIND_BLOCKS if self.tool == "squashfs-mtd" else 0
        return self.partition_blocks - (_UBI_SPARE_BLOCKS if self.on_ubi else behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """An image in the cache; docs/images.md defines its two sizes.

    `path` is what goes to the flash: data pages, or with `oob` each page with its OOB area. `key`
    is a hash of all that determines its bytes.
    """

    key: str
    path: Path
    sha256: str
    image_bytes: int
    flash_bytes: int
    oob: bool
    tool: str  # name and version, as it prints them
    command: str
    log: str
    tree: SourceTree


def image_spec(chip: Chip, partition_blocks: int, setup: MountSetup) -> ImageSpec | None:
    """The image of a mounted file system; None if there is no tool that builds one."""
    if setup.image is None:
        return None
    return ImageSpec(
        tool=setup.image.tool,
        options=setup.image_options,
        page_bytes=chip.page_bytes,
        oob_bytes=chip.oob_bytes,
        subpages=chip.subpages,
        pages_per_block=chip.pages_per_block,
        partition_blocks=partition_blocks,
        ubi_vid_hdr_offset=setup.ubi.vid_hdr_offset if setup.ubi else 0,
        volume=_image_volume(setup),
        upper_volume=setup.ubi.volume if setup.ubi and setup.overlay else "",
        volume_type=setup.ubi_volume_type,
        summaries=setup.jffs2_summaries,
    )


def _image_volume(setup: MountSetup) -> str:
    if setup.overlay:
        return setup.overlay.lower_volume
    return setup.ubi.volume if setup.ubi else "data"


def _aligned(value: int, unit: int) -> int:
    return -(-value // unit) * unit
