"""What may happen to a file in the cache, and how often a test does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path


def flip(path: Path, offset: int | None = None, bit: int = 4) -> None:
    """One bit, by default in the middle, with the times of the file as they were."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if offset is None else offset] ^= 1 << bit
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


HARMS: Mapping[str, Callable[[Path], None]] = {
    "one bit": flip,
    "truncated": truncate,
    "empty": empty,
    "missing": Path.unlink,
}
