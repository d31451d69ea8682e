"""Which MTD devices of a board are on the same flash as another one. Pure.

A device's directory in sysfs is below that of what it is on: a partition in a partition, or in the
whole chip where the kernel shows that (CONFIG_MTD_PARTITIONED_MASTER), is below an MTD device; else
partitions of one chip are side by side below its driver's device. Where in that a partition begins
says its file `offset`, which Linux has since 4.1.

Limits: older kernels tell only of partitions in others. Where a driver names no device, or has two
chips, chips are told apart by pages and OOB areas alone. Devices that are joined of others
(mtdconcat) or made of UBI's volumes (gluebi) are taken for chips of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_DEVICES = "/sys/devices/"  # elsewhere sysfs does not show what a device is on
_MTD = re.compile(r"mtd(\d+)")


@dataclass(frozen=True, slots=True)
class MtdDevice:
    """A row of /proc/mtd with what sysfs says of it; sizes in bytes, 0 where sysfs is silent.

    `path` is its directory in sysfs, empty if that is not known; `offset_bytes` where a partition
    begins in what it is on; `tells_ecc`: sysfs says how strong its ECC is.
    """

    number: int
    name: str
    size_bytes: int
    erase_bytes: int
    page_bytes: int = 0
    oob_bytes: int = 0
    is_writeable: bool = True
    offset_bytes: int | None = None
    path: str = ""
    tells_ecc: bool = False


@dataclass(frozen=True, slots=True)
class _Extent:
    """From where to where a device is on which chip: bytes, the end not included."""

    chip: tuple[str, int, int]
    begin: int
    end: int


def sharing(device: MtdDevice, devices: Iterable[MtdDevice]) -> tuple[MtdDevice, ...]:
    """The other devices that have flash in common with `device`, as far as the board tells."""
    by_number = {one.number: one for one in devices}
    return tuple(
        other
        for other in by_number.values()
        if other.number != device.number and _share(device, other, by_number)
    )


def _share(one: MtdDevice, other: MtdDevice, by_number: Mapping[int, MtdDevice]) -> bool:
    if one.number in _chain(other) or other.number in _chain(one):
        return True
    first, second = _extent(one, by_number), _extent(other, by_number)
    if first is None or second is None or first.chip != second.chip:
        return False
    return first.begin < second.end and second.begin < first.end


def _chain(device: MtdDevice) -> Sequence[int]:
    """The numbers of the MTD devices that a device is in, from the outermost to itself."""
    found: list[int] = []
    for word in reversed(device.path.split("/")):
        match = _MTD.fullmatch(word)
        if match is None:
            break
        found.insert(0, int(match[1]))
    return found


def _extent(device: MtdDevice, by_number: Mapping[int, MtdDevice]) -> _Extent | None:
    """Where a device is; None if the board does not say."""
    chain = [by_number.get(number) for number in _chain(device)]
    if not chain or not device.path.startswith(_DEVICES):
        return None
    below = device.path.rsplit("/", len(chain))[0]
    begin = 0
    for depth, one in enumerate(chain):
        if one is None or (one.offset_bytes is None and depth > 0):
            return None
        if one.offset_bytes is None:
            below = f"{below}/mtd{one.number}"  # the chip itself
        begin += one.offset_bytes or 0
    chip = (below, device.page_bytes, device.oob_bytes)
    return _Extent(chip, begin, begin + device.size_bytes)
