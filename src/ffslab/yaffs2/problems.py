"""The rules of YAFFS2 images, and problems with their places in them."""

from __future__ import annotations

from typing import NamedTuple

from ffslab.fsimage.problems import Collector, Severity, place_of, rules

_FILE = (
    *rules(
        Severity.ERROR,
        ("image-header", "the header of a lab flash file is whole"),
        ("image-truncated", "an image consists of whole blocks"),
        ("image-no-tags", "an image that is not erased has readable tags"),
    ),
    *rules(
        Severity.NOTE,
        ("image-erased", "an erased partition is an empty file system"),
        ("image-unpadded", "the file ends inside a block, behind its last written page"),
        ("image-block-size", "nothing in the image says how many pages a block has"),
    ),
)

_PAGES = (
    *rules(
        Severity.ERROR,
        ("tags-uncorrectable", "the ECC of tags verifies or corrects"),
        ("tags-missing", "a page that holds something has tags"),
        ("tags-object-id", "object ids are 1 to 0x3FFFF"),
        ("tags-chunk-id", "chunk ids are at most 2^28 - 1"),
        ("tags-byte-count", "a chunk holds at most S bytes"),
        ("tags-type", "extended tags have a type from 1 to 5"),
        ("tags-spare-bit", "bit 28 of an extended chunk word is 0"),
        ("sequence-range", "sequence numbers are 0x1000 to 0xEFFFFEFF"),
        ("sequence-mixed", "all pages of a block have its sequence number"),
        ("sequence-duplicate", "no two blocks have the same sequence number, except 0x1000"),
        ("page-order", "pages of a block are written in order, without gaps"),
        ("reserved-object", "ids below 256 have no data chunks"),
    ),
    *rules(
        Severity.WARNING,
        ("tags-corrected", "the tags had one wrong bit, which the ECC corrected"),
        ("page-torn", "the last page of a block was interrupted while it was written"),
        ("erase-interrupted", "a block without live data was interrupted while it was erased"),
        ("data-empty", "a data chunk has at least one byte"),
        ("reserved-id", "ordinary object ids start at 256"),
    ),
    *rules(
        Severity.NOTE,
        ("erased-bitflips", "a few bits of an erased page are 0"),
        ("block-retired", "a block is marked as bad by its sequence number"),
    ),
)

_SUMMARIES = (
    *rules(
        Severity.ERROR,
        ("summary-place", "object 0x10 is in the last pages of a block only"),
        ("summary-tags", "chunk id and byte count of a summary page fit its place"),
        ("summary-header", "version, sequence and sum of a summary are right"),
        ("summary-entry", "the entries of a summary repeat the tags of the pages"),
    ),
    *rules(
        Severity.WARNING,
        ("summary-block", "a summary has the internal number of its block"),
    ),
    *rules(
        Severity.NOTE,
        ("summary-missing", "a block whose data pages are all written has a summary"),
    ),
)

_HEADERS = (
    *rules(
        Severity.ERROR,
        ("header-type", "a header has a type from 1 to 5"),
        ("header-tags-type", "tags and header have the same type"),
        ("header-tags-parent", "tags and header have the same parent"),
        ("header-tags-size", "tags repeat a file's size or a hard link's target, else 0"),
        ("header-shrink", "the shrink mark is the same in tags and header"),
        ("header-shadow", "the shadow mark and a shadowed id come together"),
        ("header-parent", "the parent is an object id, not the object itself; 0 for the root"),
        ("header-checksum", "the obsolete name checksum is 0xFFFF"),
        ("header-name", "a name has 1 to 254 bytes, is padded with zeros, is not a path"),
        ("header-mode", "the mode has the file type of the object's type"),
        ("header-times", "32-bit and 64-bit times agree"),
        ("header-size", "a file's size is possible, and 0 under the parents 3 and 4"),
        ("header-target", "a hard link names an object; no other type does"),
        ("header-alias", "a symbolic link has a target of 1 to 159 bytes"),
        ("header-rdev", "a device number has 16 bits"),
        ("header-unset", "fields that a type does not use are 0xFF, the device number 0"),
        ("header-reserved-id", "objects 3 and 4 have no header, 0x10 and 0x20 neither"),
        ("xattr", "extended attributes are records with a length and a name"),
    ),
    *rules(
        Severity.WARNING,
        ("header-tags-plain", "a header has extended tags unless its file has 2 GiB or more"),
        ("header-deleted", "headers under 3 and 4 are named unlinked and deleted"),
        ("header-shrink-type", "only files and deleted objects have the shrink mark"),
        ("header-rdev-unset", "what is not a device has device number 0"),
        ("xattr-prefix", "an attribute's name begins with a name space"),
    ),
)

_TREE = (
    *rules(
        Severity.ERROR,
        ("object-no-header", "an object with data has a header"),
        ("object-type-change", "an object with newer data than its header is a file"),
        ("object-orphan", "every object reaches the root directory"),
        ("object-cycle", "no directory is below itself"),
        ("object-parent-type", "a parent is a directory"),
        ("object-in-deleted", "a deleted directory is empty"),
        ("name-duplicate", "no two objects of a directory have the same name"),
        ("name-missing", "an object has a name, except the root and lost+found"),
        ("link-target-missing", "the target of a hard link exists"),
        ("link-target-type", "the target of a hard link is neither a directory nor a hard link"),
        ("data-behind-end", "a chunk's bytes do not reach behind the end of its file"),
        ("root-type", "objects 1 and 2 are directories at their places"),
    ),
    *rules(
        Severity.WARNING,
        ("data-after-count", "bytes of a file behind a chunk's byte count are 0"),
        ("name-link-interrupted", "an object and its hard link have one name: a rename was cut"),
    ),
    *rules(
        Severity.NOTE,
        ("data-unflushed", "data are newer than the header and go beyond its size"),
        ("object-unlinked", "an unlinked object waits to be deleted"),
        ("object-shadowed", "a rename over an object was not finished"),
        ("path-long", "paths have at most 4096 bytes"),
    ),
)

_CHECKPOINT = (
    *rules(
        Severity.ERROR,
        ("checkpoint-device", "the device record fits the flash"),
        ("checkpoint-block", "states and sequence numbers of blocks fit the flash"),
        ("checkpoint-bitmap", "the chunks in use are those that objects refer to"),
        ("checkpoint-counts", "the counts of a block fit its bitmap"),
        ("checkpoint-object", "the objects are those that a scan finds"),
        ("checkpoint-leaf", "the chunks of a file are those that a scan finds"),
        ("checkpoint-hint", "the hint leads to the next checkpoint block"),
    ),
    *rules(
        Severity.WARNING,
        ("checkpoint-invalid", "a checkpoint that is there completely is readable"),
        ("checkpoint-free", "the number of free chunks is the number of pages not in use"),
        ("checkpoint-flags", "the summary and shrink marks of blocks fit the flash"),
        ("checkpoint-order", "objects are in the order of their hash buckets"),
    ),
    *rules(
        Severity.NOTE,
        ("checkpoint-incomplete", "a part of the checkpoint is missing: it is not used"),
        ("checkpoint-place", "a checkpoint takes the lowest empty blocks"),
        ("checkpoint-size", "a file grew without data: only the checkpoint has its size"),
    ),
)

_SEGREGATED = (
    *rules(
        Severity.ERROR,
        ("layout-mixed", "all blocks and pages of a partition are of one layout"),
        ("layout-version", "headers and index pages have version 1: others are refused"),
        ("layout-pages", "a block of the segregated layout has at most 1023 pages"),
        ("block-kind", "headers and index pages are in metadata blocks, data in data blocks"),
        ("tags-piece", "the tags of an index page have a piece that a file can have"),
        ("head-magic", "headers and index pages have the magic number"),
        ("head-crc", "the CRC of headers and index pages is right"),
        ("head-fields", "counts, flags and positions of a header or index page are possible"),
        (
            "head-cuts",
            "the cuts of a file ascend in positions and chunks, up to now; only files have cuts",
        ),
        ("index-entry", "an entry names a written page of a data block, older than the index"),
        ("index-twice", "no two entries name one page"),
        ("index-tags", "the tags of a page say the object and chunk that its entry says"),
        ("index-stale", "an entry names the newest page of its chunk"),
        ("index-missing", "live data older than the horizon are in an index"),
        ("ids-part", "the summary of a metadata block has a part of the ids, with the right CRC"),
        (
            "ids-fields",
            "a part begins at a multiple of its ids, is one of 32, has a possible position",
        ),
        ("ids-missing", "an object that a part does not have was deleted before"),
        ("checkpoint-piece", "the index pages of a file are those that a scan finds"),
        ("checkpoint-ids", "the parts of the ids and the highest id are those that a scan finds"),
    ),
    *rules(
        Severity.WARNING,
        ("head-padding", "behind the last entry that is used there is only 0xFF"),
        ("index-lost", "a piece that names a chunk that was lost says so"),
        ("horizon-far", "at most half of the blocks (at least 8) and two are looked at"),
        ("ids-deleted", "an object that was deleted before a part was written is not in it"),
    ),
)

RULES = {
    rule.name: rule
    for rule in (*_FILE, *_PAGES, *_SUMMARIES, *_HEADERS, *_TREE, *_CHECKPOINT, *_SEGREGATED)
}


class Where(NamedTuple):
    """A place in the image. `block` counts from the partition's first block."""

    block: int | None = None
    page: int | None = None
    object_id: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        """For example "block 3 page 7 object 260 /a/b"; empty if the image as a whole."""
        return place_of(
            ("block ", self.block),
            ("page ", self.page),
            ("object ", self.object_id),
            ("", self.path),
        )


class Problems(Collector[Where]):
    """Collects problems of YAFFS2's rules."""

    def __init__(self, keep: int = 1000) -> None:
        super().__init__(RULES, Where(), keep)
