"""Sizes as people write them in a study ("100 MiB"), and back."""

from __future__ import annotations

import re
from typing import TypeVar

N = TypeVar("N", int, float)
SIZE_FACTORS = {
    "": 1,
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
SIZE_MAX = 2**50  # bytes: 1,024 TiB, many times what flash has
_PATTERN = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$")


def parse_size(value: int | str) -> int:
    """Bytes of `value`: an integer, or a number with B, kB, MB, GB, KiB, MiB or GiB.

    Raises ValueError with the accepted units, also for a fraction of a byte and beyond SIZE_MAX.
    """
    if isinstance(value, bool):
        raise ValueError("a size is a number of bytes, not true or false")
    if isinstance(value, int):
        if value < 0:
            raise ValueError("a size cannot be negative")
        return _possible(value)
    match = _PATTERN.match(value)
    if match is None or match[2] not in SIZE_FACTORS:
        raise ValueError(
            f"{value!r} is not a size: write bytes, or a number with "
            "B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024)"
        )
    size = _possible(float(match[1]) * SIZE_FACTORS[match[2]])
    if size != int(size):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def _possible(size: N) -> N:
    if size > SIZE_MAX:
        raise ValueError(f"a size is at most {SIZE_MAX // 2**40:,} TiB")
    return size


def format_size(size_bytes: int) -> str:
    """A short exact or rounded form in powers of 1024: 104857600 → "100 MiB"."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= factor:
            value = size_bytes / factor
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"
    return f"{size_bytes} B"


def format_duration_ns(duration_ns: float) -> str:
    """Three significant figures and a fitting unit: 1234567 → "1.23 ms"."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(duration_ns) >= factor:
            value = duration_ns / factor
            digits = 0 if value >= 100 else 1 if value >= 10 else 2
            return f"{value:.{digits}f} {unit}"
    return f"{duration_ns:.0f} ns"
