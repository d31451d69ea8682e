"""The rules of LogFS images, and problems with their places in them."""

from __future__ import annotations

from typing import NamedTuple

from ffslab.fsimage.problems import Collector, Severity, place_of, rules

_FILE = (
    *rules(
        Severity.ERROR,
        ("image-header", "the header of a lab flash file is whole"),
        ("image-truncated", "the file has all segments of the file system"),
        ("superblock-none", "a copy of the superblock is valid"),
        ("superblock-fields", "sizes, levels and places of a superblock are possible"),
        ("superblock-features", "no feature is asked for that we do not know"),
    ),
    *rules(
        Severity.WARNING,
        ("superblock-copy", "both copies of the superblock are valid"),
        ("superblock-differ", "both copies of the superblock say the same"),
    ),
)

_JOURNAL = (
    *rules(
        Severity.ERROR,
        ("journal-none", "a segment of the journal has a valid header or commit"),
        ("journal-commit", "a segment of the journal has a commit"),
        ("journal-entry", "all entries of the last commit are valid, in its segment before it"),
        ("journal-missing", "a commit has one anchor and one dynamic superblock"),
        ("anchor-fields", "size, height and pointers of the inode file are possible"),
        ("alias-fields", "an alias is of an inode, an indirect block or the segment file"),
        ("alias-target", "the block that an alias changes exists"),
        ("area-fields", "an area is an open segment with a level, a length and a write unit"),
        ("area-twice", "no two areas have one level or one segment"),
        ("area-buffer", "the journal has nothing behind the end of an open write unit"),
    ),
    *rules(
        Severity.WARNING,
        ("journal-erase-count", "erase counts in the journal are those of its segments"),
        ("journal-header", "a segment of the journal with commits has a valid header"),
        ("journal-segno", "a header of a journal segment has its number"),
    ),
    *rules(
        Severity.NOTE,
        (
            "journal-begun",
            "a newer segment of the journal without a commit: its first was interrupted",
        ),
        ("journal-tail", "entries behind the last commit: a commit was interrupted"),
        ("area-torn", "an open write unit was programmed in part: the journal has what counts"),
        ("area-tail", "objects that were written and not committed"),
        ("victim-pending", "a mount drops a link of an inode, and the inode with its last one"),
        ("rename-pending", "a mount removes the old name of a rename"),
    ),
)

_OBJECTS = (
    *rules(
        Severity.ERROR,
        ("object-place", "a pointer leads into a segment of objects"),
        ("object-header", "a pointer leads to an object with a valid CRC of its header"),
        ("object-identity", "an object has the inode number and index of its pointer"),
        ("object-type", "data, inodes and dentries have their types"),
        ("object-length", "an object has the length of its type and ends in its segment"),
        ("object-data", "the CRC of an object's payload is right"),
        ("object-compression", "only data are compressed, and can be uncompressed"),
        ("object-shared", "no two pointers lead to one object"),
        ("object-level", "an object is in a segment of its level"),
        ("pointer-full", "bit 63 of a pointer says whether there are holes below"),
    ),
)

_INODES = (
    *rules(
        Severity.ERROR,
        ("inode-missing", "root directory and segment file exist, with their types"),
        ("inode-mode", "an inode has the type of a file"),
        ("inode-height", "a height is one that the superblock has levels for"),
        ("inode-used", "used bytes are those of all its objects"),
        ("inode-size", "a size is possible; a link has the size of its target"),
        ("inode-links", "there are as many links as names"),
        ("inode-orphan", "every inode has a name, or is the victim"),
        ("inode-reserved", "inodes 4 to 15, 0 and 1 do not exist"),
        ("data-behind-end", "no block is behind the end of its file"),
    ),
    *rules(
        Severity.WARNING,
        ("data-after-end", "bytes of a block behind the end of its file are 0"),
        ("inode-last", "the last inode number of the anchor is a possible one"),
    ),
)

_NAMES = (
    *rules(
        Severity.ERROR,
        ("dentry-name", "a name has 1 to 255 bytes, is no path, and is padded with zeros"),
        ("dentry-place", "a name is at one of its 20 places"),
        ("dentry-duplicate", "no two names of a directory are equal"),
        ("dentry-inode", "a name leads to an inode that exists"),
        ("dentry-type", "a name repeats the type of its inode"),
        ("dentry-directory", "a directory has one name and is not below itself"),
        ("victim-missing", "an inode that is to be deleted exists"),
    ),
    *rules(
        Severity.WARNING,
        ("rename-missing", "the old name of an interrupted rename is there"),
    ),
)

_SEGMENTS = (
    *rules(
        Severity.ERROR,
        ("segment-header", "a segment in use has a valid header with its number"),
        ("segment-file", "the segment file has an entry for every segment"),
        ("segment-valid", "the valid bytes of a segment are those of its live objects"),
        ("segment-level", "segment file and header have the same level"),
        ("segment-erase-count", "segment file and header have the same erase count"),
        ("segment-reserved", "superblocks and journal are reserved, nothing else is"),
        ("segment-bad", "nothing in use is in a bad segment"),
        ("used-bytes", "the used bytes of the device are those of all live objects"),
    ),
    *rules(
        Severity.WARNING,
        ("segment-gec", "no segment in use is newer than the global erase count"),
        ("segment-marked", "a segment with a bad block is marked in the segment file"),
    ),
)

RULES = {rule.name: rule for rule in (*_FILE, *_JOURNAL, *_OBJECTS, *_INODES, *_NAMES, *_SEGMENTS)}


class Where(NamedTuple):
    """A place in the image: a segment, an offset on the device, a block of a file."""

    segment: int | None = None
    offset: int | None = None
    ino: int | None = None
    level: int | None = None
    bix: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        """For example "offset 0x41020 inode 17 level 0 block 3"; empty if the image as a whole."""
        offset = None if self.offset is None else f"{self.offset:#x}"
        return place_of(
            ("segment ", self.segment),
            ("offset ", offset),
            ("inode ", self.ino),
            ("level ", self.level),
            ("block ", self.bix),
            ("", self.path),
        )


class Problems(Collector[Where]):
    """Collects problems of LogFS's rules."""

    def __init__(self, keep: int = 1000) -> None:
        super().__init__(RULES, Where(), keep)
