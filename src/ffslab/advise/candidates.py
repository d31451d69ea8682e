"""File systems with options that may meet the needs: each default, and one step away from it.

A candidate of the first round differs from its file system's defaults in one option at most, or in
the partition's size. So their number stays small, and what a difference is due to is known. Where
none of them meets all needs, pairs of steps follow (`ffslab.advise.pairs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ffslab.advise.needs import Needs
from ffslab.errors import SpecError
from ffslab.model.catalog import Catalog
from ffslab.model.specs import FASTMAP_BLOCKS, Filesystem
from ffslab.model.units import format_size
from ffslab.program import command

# They are there for comparison, nobody ships them: variants of YAFFS2 that leave out a mechanism,
# and LogFS, which Linux has no longer. A needs file that names them gets them.
_FOR_COMPARISON = ("yaffs2-", "logfs")
# Values of each option that are tried; those of the catalog that are missing here serve studies.
# Compressors that only images have, or that the mount does not keep, are no choice of a product's.
VALUES: Mapping[str, tuple[str, ...]] = {
    "compression": ("none", "lzo", "zlib", "zstd"),
    "lower_compression": ("lz4", "xz"),
    "summary": ("on",),
    "fastmap": ("on",),
    "beb_per1024": ("5",),
    "write_mode": ("sync",),
}
# What costs something that no need measures: bad blocks that are borne, code that Linux calls
# experimental. Of candidates that meet the needs alike those without come first.
RISKS = frozenset({("beb_per1024", "5"), ("fastmap", "on")})
WORDS: Mapping[tuple[str, str], str] = {
    ("fastmap", "on"): "fastmap",
    ("summary", "on"): "image summary",
    ("beb_per1024", "5"): "reserve 5/1024",
    ("write_mode", "sync"): "mount -o sync",
    ("compression", "none"): "uncompressed",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file system with what differs from its defaults; `partition_bytes` None: as needed."""

    filesystem: str
    options: tuple[tuple[str, str], ...] = ()
    partition_bytes: int | None = None

    @property
    def key(self) -> str:
        """Names it in parts and ids: letters, digits and dots, no two alike."""
        words = [self.filesystem, *(f"{name}.{value}" for name, value in self.options)]
        if self.partition_bytes is not None:
            words.append(f"part.{self.partition_bytes}")
        return ".".join(re.sub(r"[^a-z0-9.]", "", word.lower()) for word in words)

    @property
    def title(self) -> str:
        """As a reader calls it."""
        words = [option_words(name, value) for name, value in self.options]
        if self.partition_bytes is not None:
            words.append(format_size(self.partition_bytes))
        return ", ".join((self.filesystem, *words))

    @property
    def risks(self) -> int:
        """In how many ways it costs something that no need measures; another partition does."""
        return sum(option in RISKS for option in self.options) + (self.partition_bytes is not None)

    @property
    def settings(self) -> dict[str, Any]:
        """As a part of a study sets them."""
        size = {} if self.partition_bytes is None else {"partition_bytes": self.partition_bytes}
        options = {f"options.{name}": value for name, value in self.options}
        return {"filesystem": self.filesystem, **size, **options}


def option_words(name: str, value: str) -> str:
    """An option that is not at its default, in words."""
    known = WORDS.get((name, value))
    return known or (f"below {value}" if name == "lower_compression" else value)


def candidates(needs: Needs, catalog: Catalog) -> tuple[Candidate, ...]:
    """All candidates, each file system's default first; SpecError if none is left."""
    all_candidates = tuple(
        candidate
        for filesystem in catalog.filesystems.values()
        if _possible(needs, filesystem)
        for candidate in _of(needs, filesystem)
    )
    if not all_candidates:
        raise SpecError(
            "no file system is left to choose from",
            cause="consider.filesystems names only file systems that are read-only, or not in "
            "Linux with mainline = true; or the partition has too few blocks",
            remedy=f"edit [consider] of the needs file; {command('list', 'filesystems')}",
        )
    return all_candidates


def _possible(needs: Needs, filesystem: Filesystem) -> bool:
    if needs.filesystems:
        asked = filesystem.name in needs.filesystems
    else:
        asked = not filesystem.name.startswith(_FOR_COMPARISON)
    read_only = filesystem.image is not None and filesystem.image.read_only
    writes = needs.writes is not None or not needs.tree or needs.free_bytes
    return (
        filesystem.is_mounted
        and asked
        and not (read_only and writes)
        and not (needs.mainline and not filesystem.mainline)
        and needs.partition_bytes >= filesystem.min_blocks * needs.chip.block_bytes
    )


def _of(needs: Needs, filesystem: Filesystem) -> Iterator[Candidate]:
    yield Candidate(filesystem.name)
    for name in needs.options:
        option = filesystem.options.get(name)
        if option is None or not _matters(needs, name):
            continue
        for value in VALUES[name]:
            if value in option.values and value != option.default:
                yield Candidate(filesystem.name, ((name, value),))
    for size in needs.partitions:
        if size != needs.partition_bytes:
            yield Candidate(filesystem.name, (), size)


def _matters(needs: Needs, name: str) -> bool:
    """Whether the option can change anything under these needs."""
    if name in ("summary", "lower_compression"):
        return bool(needs.tree)  # both are of images
    if name == "fastmap":
        return needs.partition_bytes // needs.chip.block_bytes > FASTMAP_BLOCKS
    if name == "write_mode":
        return needs.writes is not None
    return True
