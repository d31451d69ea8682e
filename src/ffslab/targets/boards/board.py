"""What a board says of itself, and whether its partition is the one that may be destroyed. Pure.

The board is asked once, by one command whose output has sections; so that what was checked is what
was so at one moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ffslab.model.case import Case
from ffslab.model.units import format_size
from ffslab.targets.boards.overlap import MtdDevice, sharing
from ffslab.targets.boards.place import Place

_MARK = "=== ffslab "
_EACH_MTD = "for d in /sys/class/mtd/mtd[0-9]*; do case $d in *ro) continue;; esac; "
# Each line names a section and prints it; what a board lacks is empty.
_SECTIONS: Mapping[str, str] = {
    "boot": "cat /proc/sys/kernel/random/boot_id",
    "uname": "uname -srvm",
    "memory": "grep MemTotal: /proc/meminfo",
    "mtd": "cat /proc/mtd",
    "geometry": (
        f"{_EACH_MTD}"
        'echo "${d##*/} $(cat $d/type) $(cat $d/flags) $(cat $d/erasesize) $(cat $d/writesize) '
        '$(cat $d/oobsize)"; done'
    ),
    "where": (
        f"{_EACH_MTD}"
        'echo "${d##*/} $(cat $d/offset || echo -) $(cat $d/ecc_strength || echo -) '
        '$(cd $d && pwd -P)"; done'
    ),
    "ubi": (
        "for d in /sys/class/ubi/ubi*; do "
        '[ -e $d/mtd_num ] && echo "${d##*/} $(cat $d/mtd_num)"; done'
    ),
    "mounts": "cat /proc/mounts",
    "filesystems": "cat /proc/filesystems",
    "modules": "cut -d' ' -f1 /proc/modules",
    "command": "cat /proc/cmdline",
}
LOOK = "; ".join(
    f"echo '{_MARK}{name}'; {{ {what}; }} 2>/dev/null" for name, what in _SECTIONS.items()
)
_MTD_LINE = re.compile(r'^mtd(\d+): ([0-9a-f]+) ([0-9a-f]+) "(.*)"$')
_ESCAPED = re.compile(r"\\([0-7]{3})")  # a space in /proc/mounts
_ROOT = "/dev/root"  # what the kernel calls the block device that it mounted itself
_WRITEABLE = 0x400  # MTD_WRITEABLE of mtd-abi.h


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """A board at one moment. `boot` changes with each start; `ubi` has MTD numbers by device."""

    boot: str
    uname: str
    memory: str
    devices: tuple[MtdDevice, ...]
    ubi: Mapping[int, int]
    mounts: tuple[tuple[str, str], ...]
    filesystems: frozenset[str]
    modules: frozenset[str]

    def device(self, name: str) -> MtdDevice | None:
        """The MTD device with that name; None if there is none, or not one alone."""
        found = [device for device in self.devices if device.name == name]
        return found[0] if len(found) == 1 else None


def board_facts(printed: str) -> BoardFacts:
    """What `LOOK` printed. ValueError if that is not what it is."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in printed.splitlines():
        if line.startswith(_MARK):
            lines = sections.setdefault(line.removeprefix(_MARK).strip(), [])
        else:
            lines.append(line)
    if list(sections) != list(_SECTIONS) or not sections["boot"] or not sections["uname"]:
        raise ValueError("the board's shell did not follow its commands")
    return BoardFacts(
        boot=sections["boot"][0],
        uname=sections["uname"][0],
        memory=" ".join(" ".join(sections["memory"]).split()[1:]),
        devices=_devices(sections["mtd"], sections["geometry"], sections["where"]),
        ubi={
            int(name.removeprefix("ubi")): int(number)
            for name, number in map(str.split, sections["ubi"])
        },
        mounts=_mounts(sections["mounts"], " ".join(sections["command"])),
        filesystems=frozenset(line.split()[-1] for line in sections["filesystems"] if line.strip()),
        modules=frozenset(sections["modules"]),
    )


def _mounts(table: list[str], command: str) -> tuple[tuple[str, str], ...]:
    """Source and target of each mount; the kernel's command line names the source of the root."""
    roots = [word.removeprefix("root=") for word in command.split() if word.startswith("root=")]
    found = []
    for words in map(str.split, table):
        if len(words) > 1:
            source = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), words[0])
            found.append((roots[-1] if roots and source == _ROOT else source, words[1]))
    return tuple(found)


def _devices(table: list[str], geometry: list[str], where: list[str]) -> tuple[MtdDevice, ...]:
    further = {words[0]: words[1:] for words in map(str.split, geometry) if len(words) == 6}
    placed = {words[0]: words[1:] for words in (line.split(None, 3) for line in where) if words[3:]}
    found = []
    for line in table:
        match = _MTD_LINE.match(line)
        if match is None:
            continue
        number, size, erase, name = match.groups()
        _, flags, _, page, oob = further.get(f"mtd{number}", ("", "0x400", "0", "0", "0"))
        offset, ecc, path = placed.get(f"mtd{number}", ("-", "-", ""))
        found.append(
            MtdDevice(
                number=int(number),
                name=name,
                size_bytes=int(size, 16),
                erase_bytes=int(erase, 16),
                page_bytes=int(page),
                oob_bytes=int(oob),
                is_writeable=bool(int(flags, 16) & _WRITEABLE),
                offset_bytes=int(offset) if offset.isdecimal() else None,
                path=path,
                tells_ecc=ecc.isdecimal(),
            )
        )
    return tuple(found)


def partition_fault(facts: BoardFacts, place: Place) -> str:
    """Why nothing may be written to the partition that the place names; empty if it may.

    What hangs there from an earlier case of ours is cleaned away before this is asked.
    """
    name = place.partition
    named = [device for device in facts.devices if device.name == name]
    if len(named) != 1:
        there = ", ".join(device.name for device in facts.devices) or "none"
        return f"{len(named) or 'no'} MTD partition is called {name!r} (there: {there})"
    (device,) = named
    if device.size_bytes != place.partition_bytes:
        return (
            f"partition {name} has {format_size(device.size_bytes)} ({device.size_bytes} bytes), "
            f"not {format_size(place.partition_bytes)} ({place.partition_bytes} bytes)"
        )
    if not device.is_writeable:
        return f"partition {name} is read-only"
    use = _use_of(device, facts)
    if use:
        return f"partition {name} is {use}"
    for other in sharing(device, facts.devices):
        use = _use_of(other, facts)
        if use:
            size = format_size(other.size_bytes)
            return (
                f"partition {name} overlaps {other.name!r} (mtd{other.number}, {size}), "
                f"which is {use}"
            )
    if place.ubi in facts.ubi:
        return f"ubi{place.ubi}, which cases would attach, is the board's own"
    return ""


def _use_of(device: MtdDevice, facts: BoardFacts) -> str:
    """What uses a device; empty if nothing does that the board tells of."""
    sources = {
        *(f"/dev/mtdblock{device.number}", f"mtd{device.number}", f"/dev/mtd{device.number}"),
        *(f"mtd:{device.name}", f"/dev/mtdblock/{device.number}"),
    }
    for source, target in facts.mounts:
        if source in sources:
            return f"mounted on {target}"
    for ubi, number in facts.ubi.items():
        if number == device.number:
            return f"attached to UBI as ubi{ubi}"
    return ""


def unlike(case: Case, facts: BoardFacts, place: Place) -> str:
    """Why a case is of another flash than the board's (a skip's reason); empty if it fits."""
    chip = case.board.chip
    device = facts.device(place.partition)
    assert device is not None  # `partition_fault` was asked before
    if case.board.name != place.board:
        return f"the board is {place.board}, and the case is of {case.board.name}"
    there = (device.page_bytes, device.oob_bytes, device.erase_bytes)
    wanted = (chip.page_bytes, chip.oob_bytes, chip.block_bytes)
    if there != wanted:
        return (
            "pages, OOB areas and erase blocks there have {} B, {} B and {} B, "
            "in the case {} B, {} B and {} B".format(*there, *wanted)
        )
    if device.size_bytes != case.partition_bytes:
        return (
            f"the board's partition has {format_size(device.size_bytes)} "
            f"(partition_bytes = {device.size_bytes}), that of the case "
            f"{format_size(case.partition_bytes)}"
        )
    return ""
