"""YAFFS2 on flash: numbers that every part shares, and the geometry that follows from the chip.

The facts stand in the format document that the kernel module is written from as well; this
package shares no code with the module, so that each can find the other's mistakes.

Numbering. `block` is an erase block counted from the partition's first one, from 0. YAFFS counts
from 1, because its chunk 0 means "none": the *internal* block number is `block + 1`, an internal
chunk number is internal block × pages per block + page. Internal numbers are on flash in three
places only: summaries, checkpoint contents, checkpoint hints.

All integers are little-endian. Images of big-endian machines are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from ffslab.fsimage.entry import TYPE_NAMES as TYPE_NAMES
from ffslab.fsimage.entry import ObjectType as ObjectType
from ffslab.fsimage.flashfile import PageSizes

SEQUENCE_UNUSED = 0xFFFFFFFF  # tags of a page that was not written
SEQUENCE_BAD_BLOCK = 0xFFFF0000  # a block that could not be marked bad
SEQUENCE_CHECKPOINT = 0x21
SEQUENCE_FIRST = 0x1000  # the lowest valid one; a mounted file system begins with 0x1001
SEQUENCE_OF_TOOLS = 0x1000  # of every block of an image by the original's image tool
SEQUENCE_LIMIT = 0xEFFFFF00  # the first that is not valid any more

ID_ROOT = 1
ID_LOST_FOUND = 2
ID_UNLINKED = 3
ID_DELETED = 4
ID_SUMMARY = 0x10
ID_CHECKPOINT = 0x20
ID_FIRST_ORDINARY = 256  # ids below are reserved
ID_MAX = 0x3FFFF
GRAVES = (ID_UNLINKED, ID_DELETED)

CHUNK_ID_MAX = (1 << 28) - 1
TAGS_BYTES = 16  # packed tags
ECC_BYTES = 12  # their ECC, outside the page only
EXTENDED_FILE_LIMIT = 1 << 31  # from this size on, a header has plain tags
NAME_BYTES_MAX = 254
TARGET_BYTES_MAX = 159
SUMMARY_ENTRY_BYTES = 12
SUMMARY_HEADER_BYTES = 16
SUMMARY_VERSION = 1
CHECKPOINT_VERSION = 8
CHECKPOINT_MAGIC = 0x5941FF53
CHECKPOINT_MIN_BLOCKS = 60
CHECKPOINT_HEADER_BYTES = 16
LEAF_ENTRIES = 16


class Layout(StrEnum):
    """Where headers and data lie: in one log, or in two (`segregated`)."""

    ORIGINAL = "original"
    SEGREGATED = "segregated"


@dataclass(frozen=True, slots=True)
class CheckpointForm:
    """What tells the checkpoint of one layout from that of another."""

    layout: Layout
    sequence: int  # in the tags of its pages
    version: int


CHECKPOINT_FORMS = {
    Layout.ORIGINAL: CheckpointForm(Layout.ORIGINAL, SEQUENCE_CHECKPOINT, CHECKPOINT_VERSION),
    Layout.SEGREGATED: CheckpointForm(Layout.SEGREGATED, 0xF8000021, 0x108),
}


class BlockState(IntEnum):
    """States of a block in a checkpoint."""

    UNKNOWN = 0
    SCANNING = 1
    NEEDS_SCAN = 2
    EMPTY = 3
    ALLOCATING = 4
    FULL = 5
    DIRTY = 6
    CHECKPOINT = 7
    COLLECTING = 8
    DEAD = 9


@dataclass(frozen=True, slots=True)
class Geometry(PageSizes):
    """The chip's pages and where the tags are in them.

    `oob_offset` is where the tags start in the OOB: the first free byte of the driver's
    layout. The free bytes must be in one piece.
    """

    oob_offset: int = 2
    inband: bool = False
    tags_ecc: bool = True

    @property
    def data_bytes(self) -> int:
        """Bytes of a file in one chunk: S in the format document."""
        return self.page_bytes - TAGS_BYTES if self.inband else self.page_bytes

    @property
    def has_ecc(self) -> bool:
        """Whether tags are stored with their ECC: outside the page only."""
        return self.tags_ecc and not self.inband

    @property
    def stored_tags_bytes(self) -> int:
        """Bytes that tags take in the OOB; 0 if they are in the page."""
        if self.inband:
            return 0
        return TAGS_BYTES + (ECC_BYTES if self.tags_ecc else 0)

    @property
    def summary_pages(self) -> int:
        """The last pages of a block, which hold its summary."""
        entries = SUMMARY_ENTRY_BYTES * self.pages_per_block
        return (entries + self.data_bytes - 1) // (self.data_bytes - SUMMARY_HEADER_BYTES)

    @property
    def max_file_bytes(self) -> int:
        return CHUNK_ID_MAX * self.data_bytes

    def describe(self) -> str:
        """For example "2048+64 bytes × 64 pages, tags with ECC at OOB byte 2"."""
        if self.inband:
            tags = "tags in the page"
        else:
            tags = f"tags {'with' if self.tags_ecc else 'without'} ECC at OOB byte "
            tags += str(self.oob_offset)
        sizes = f"{self.page_bytes}+{self.oob_bytes} bytes × {self.pages_per_block} pages"
        return f"{sizes}, {tags}"


def geometry_problem(geometry: Geometry) -> str:
    """Why YAFFS2 cannot use this geometry, or an empty string."""
    if not 512 <= geometry.page_bytes <= 65536:
        return f"a page of {geometry.page_bytes} bytes; 512 to 65536 are possible"
    if geometry.page_bytes & (geometry.page_bytes - 1):
        below = 1 << (geometry.page_bytes.bit_length() - 1)
        return (
            f"a page of {geometry.page_bytes} bytes; pages of NAND flash are powers of two: "
            f"{below} or {2 * below}"
        )
    if not 0 <= geometry.oob_bytes <= 8192:
        return f"an OOB of {geometry.oob_bytes} bytes; 0 to 8192 are possible"
    if not 2 <= geometry.pages_per_block <= 4096:
        return f"blocks of {geometry.pages_per_block} pages; 2 to 4096 are possible"
    if geometry.data_bytes < 1008:
        return f"pages of {geometry.page_bytes} bytes; YAFFS2 needs at least 1024"
    if geometry.summary_pages >= geometry.pages_per_block:
        return f"blocks of {geometry.pages_per_block} pages have no room beside their summary"
    if not geometry.inband:
        end = geometry.oob_offset + geometry.stored_tags_bytes
        if geometry.oob_offset < 0 or end > geometry.oob_bytes:
            return (
                f"tags at bytes {geometry.oob_offset} to {end - 1} of an OOB of "
                f"{geometry.oob_bytes} bytes"
            )
    return ""


def sequence_is_valid(sequence: int) -> bool:
    """Whether a block with this number holds file data."""
    return SEQUENCE_FIRST <= sequence < SEQUENCE_LIMIT
