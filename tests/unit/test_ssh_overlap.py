"""Which MTD devices share flash with the one that may be destroyed, from what boards print."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_ssh_place import PRINTED, place

from ffslab.targets.boards.board import board_facts, partition_fault
from ffslab.targets.boards.guests import wrong_partition
from ffslab.targets.boards.overlap import sharing
from ffslab.targets.boards.place import Place

NAND = "/sys/devices/platform/soc/d8000000.nand-controller/mtd"
# By MTD number: name, size in hexadecimal and what sysfs says of the place; each as recorded.
TABLES = {
    # Partitions side by side: "tail" begins in the last erase block of "test", "next" behind it.
    "flat": (
        ("rootfs", "04000000", f"0 4 {NAND}/mtd0"),
        ("test", "01000000", f"67108864 4 {NAND}/mtd1"),
        ("tail", "00100000", f"83755008 4 {NAND}/mtd2"),
        ("next", "00100000", f"83886080 4 {NAND}/mtd3"),
    ),
    # The chip itself is there too, and "part" is in "test": its offset is from there.
    "master": (
        ("nand0", "10000000", f"- 4 {NAND}/mtd0"),
        ("test", "01000000", f"67108864 4 {NAND}/mtd0/mtd1"),
        ("part", "00100000", f"1048576 4 {NAND}/mtd0/mtd1/mtd2"),
        ("low", "00100000", f"1048576 4 {NAND}/mtd0/mtd3"),
        ("wide", "08000000", f"0 4 {NAND}/mtd0/mtd4"),
    ),
    # Two chips: of one driver but with other pages (see `printed`), and of another driver.
    "chips": (
        ("test", "01000000", f"0 4 {NAND}/mtd0"),
        ("boot", "01000000", f"0 4 {NAND}/mtd1"),
        ("nor", "01000000", "0 0 /sys/devices/platform/soc/spi0/spi0.0/mtd/mtd2"),
    ),
}


def printed(name: str) -> str:
    """What a board with that table prints; nothing is mounted or attached."""
    rows = list(enumerate(TABLES[name]))
    pages = ["4096 224" if one == "boot" else "2048 64" for _, (one, _, _) in rows]
    sections = {
        "mtd": [f'mtd{n}: {size} 00020000 "{one}"' for n, (one, size, _) in rows],
        "geometry": [f"mtd{n} nand 0x400 131072 {pages[n]}" for n, _ in rows],
        "where": [f"mtd{n} {text}" for n, (_, _, text) in rows],
        "ubi": [],
        "mounts": ["proc /proc proc rw 0 0"],
        "command": ["console=ttymxc0 root=/dev/mtdblock2 rw"],
    }
    found = []
    for part in PRINTED.split("=== ffslab ")[1:]:
        title, *lines = part.splitlines()
        found += [f"=== ffslab {title}", *sections.get(title, lines)]
    return "\n".join(found) + "\n"


def shared(text: str) -> set[str]:
    """The names of what shares flash with "test"."""
    found = board_facts(text)
    device = found.device("test")
    assert device is not None
    others = {one.name for one in sharing(device, found.devices)}
    for other in map(found.device, others):
        assert other is not None and device in sharing(other, found.devices)
    return others


def fault(tmp_path: Path, text: str) -> str:
    return partition_fault(board_facts(text), there(tmp_path))


def there(tmp_path: Path) -> Place:
    return place(tmp_path, more="ubi = 3")


@pytest.mark.parametrize(
    ("table", "names"),
    [("flat", {"tail"}), ("master", {"nand0", "part", "wide"}), ("chips", set())],
)
def test_what_shares_flash(tmp_path: Path, table: str, names: set[str]) -> None:
    """83,755,008 is 131,072 below the end of "test", which is 67,108,864 + 16,777,216."""
    assert shared(printed(table)) == names
    assert fault(tmp_path, printed(table)) == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("proc /proc", "mtd2 /data", "which is mounted on /data"),
        ("proc /proc", "mtd:tail /data", "which is mounted on /data"),
        ("proc /proc", "/dev/mtdblock2 /data", "which is mounted on /data"),
        ("proc /proc", "/dev/root /", "which is mounted on /"),
        ("=== ffslab mounts", "ubi1 2\n=== ffslab mounts", "which is attached to UBI as ubi1"),
    ],
)
def test_one_that_overlaps_and_is_in_use_forbids_it(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = printed("flat")
    assert old in text
    found = fault(tmp_path, text.replace(old, new))
    assert found == f"partition test overlaps 'tail' (mtd2, 1 MiB), {told}"
    error = wrong_partition(there(tmp_path), found)
    assert error.exit_code == 3 and found in error.message
    assert "overlaps" in (error.cause or "") and "/sys/class/ubi" in (error.remedy or "")


def test_a_name_with_a_space_is_escaped_in_mounts(tmp_path: Path) -> None:
    text = (
        printed("flat").replace('"tail"', '"my data"').replace("proc /proc", "mtd:my\\040data /d")
    )
    assert "overlaps 'my data'" in fault(tmp_path, text)


@pytest.mark.parametrize("number", [0, 3])
def test_a_neighbour_in_use_forbids_nothing(tmp_path: Path, number: int) -> None:
    text = printed("flat").replace("proc /proc", f"/dev/mtdblock{number} /data")
    assert fault(tmp_path, text) == ""


def test_the_whole_chip_and_what_is_inside_are_in_use_with_it(tmp_path: Path) -> None:
    for number, name in enumerate(("nand0", "", "part", "", "wide")):
        text = printed("master").replace("=== ffslab mounts", f"ubi1 {number}\n=== ffslab mounts")
        found = fault(tmp_path, text)
        assert (f"overlaps '{name}'" in found) if name else ("overlaps" not in found)


def test_a_board_that_gives_no_offsets_is_taken_as_it_is(tmp_path: Path) -> None:
    """Linux before 4.1, a shell without sysfs, or lines that are damaged: nothing is known."""
    text = printed("flat").replace("proc /proc", "/dev/mtdblock2 /data")
    assert "overlaps" in fault(tmp_path, text)
    of_tail = f"mtd2 83755008 4 {NAND}/mtd2"
    for damaged in (
        f"mtd2 - 4 {NAND}/mtd2",
        f"mtd2 - - {NAND}/mtd2",
        f"mtd2 -5 4 {NAND}/mtd2",
        f"mtd2 0x4fe0000 4 {NAND}/mtd2",
        "mtd2 83755008 4 /sys/class/mtd/mtd2",
        f"mtd2 83755008 4 {NAND}/mtd9/mtd2",
        f"mtd2 83755008 4 {NAND}",
        f"mtd2 83755008 {NAND}/mtd2",
        "mtd2 83755008 4",
        "mtd2",
        "",
    ):
        assert of_tail in text
        assert fault(tmp_path, text.replace(of_tail, damaged)) == "", damaged


def test_inside_another_it_shares_flash_without_any_offset(tmp_path: Path) -> None:
    text = printed("master").replace("1048576 4", "- -").replace("proc /proc", "mtd:part /data")
    assert "overlaps 'part'" in fault(tmp_path, text)
    assert "low" not in shared(text)


def test_a_board_says_whether_it_tells_of_its_ecc() -> None:
    text = printed("flat")
    for old, told in (("mtd1 67108864 4", True), ("mtd1 67108864 -", False), ("mtd1", False)):
        device = board_facts(text.replace("mtd1 67108864 4", old)).device("test")
        assert device is not None and device.tells_ecc is told
