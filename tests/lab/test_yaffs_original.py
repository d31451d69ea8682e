"""Images that our writers do not make: of the original YAFFS2, of its image tool, and with faults.

`tests/golden/yaffs2-images` has images that the original wrote, and what it showed of them. The
others here are put together page by page, as the original would have written them or as a damaged
one looks. Whatever a mount makes of an image, it must not lose what can be read.
"""

from __future__ import annotations

import ast
import json
import lzma
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from fstree import LOST_FOUND, Listing, Script, assert_same
from yaffs_guest import (
    CHIP,
    CHIP_COUNTERS,
    LIST,
    STATE,
    UMOUNT,
    Chip,
    Guest,
    flash_contents,
    load,
    mount,
    no_violations,
    run,
    start,
    write_flash,
)

from ffslab.lab.lab_build import LabBuild
from ffslab.yaffs2 import ImageOptions, read_tree
from ffslab.yaffs2.format import ObjectType
from ffslab.yaffs2.header import HeaderFields, pack_header
from ffslab.yaffs2.tags import Tags, header_tags
from ffslab.yaffs2.writer import LogWriter, raw_page

IMAGES = Path(__file__).resolve().parents[1] / "golden" / "yaffs2-images"
NAMES = ["dir256-clean", "rich-clean", "rich-inband"]
CLOCK_S = 1_700_000_000
# What truncate made longer last: the original keeps such a size in its checkpoint only.
GROWN = ("/holes/only", "/holes/regrown", "/holes/4g")

FILE, DIRECTORY = ObjectType.FILE, ObjectType.DIRECTORY
FORMAT = {
    FILE: stat.S_IFREG | 0o640,
    DIRECTORY: stat.S_IFDIR | 0o750,
    ObjectType.SYMLINK: stat.S_IFLNK | 0o777,
    ObjectType.SPECIAL: stat.S_IFIFO | 0o600,
    ObjectType.HARD_LINK: 0,
}


# --- what the original wrote ---


def original_listing(name: str) -> Listing:
    """The tree as the original showed it, in the words of our listings, as far as it is on flash.

    It stamps headers with the time since boot, not with that of the wall clock, which began at
    `CLOCK_S`; it stores no times of special files, and does not show the attributes they have.
    """
    listing: dict[str, dict[str, Any]] = {}
    for path, entry in json.loads((IMAGES / f"{name}.json").read_text()).items():
        kind = stat.S_IFMT(entry["mode"])
        entry["device"] = tuple(entry["device"])
        xattrs = entry.get("xattrs", {}).items()
        entry["xattrs"] = {key: ast.literal_eval(value) for key, value in xattrs}
        entry.pop("unreadable", None)
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            del entry["size"]
            for key in ("atime", "mtime", "ctime", "xattrs") if kind != stat.S_IFDIR else ():
                entry.pop(key, None)
        if kind == stat.S_IFDIR:
            del entry["nlink"]
        times = ("atime", "mtime", "ctime")
        if path == LOST_FOUND and not any(entry[key] for key in times):
            continue  # has no header
        for key in times:
            if CLOCK_S <= entry.get(key, 0) < CLOCK_S + 1000:
                del entry[key]
        listing[path] = entry
    return listing


def original_flash(name: str, tmp_path: Path) -> Path:
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    raw.write_bytes(lzma.decompress((IMAGES / f"{name}.raw.xz").read_bytes()))
    write_flash(flash, CHIP, raw)
    return flash


@pytest.mark.parametrize("name", NAMES)
def test_the_module_reads_what_the_original_wrote(
    lab: LabBuild, tmp_path: Path, fstree: Path, name: str
) -> None:
    """By checkpoint and by scan, read-only and writable, and what a writable mount leaves."""
    expected = original_listing(name)
    tags = "inband-tags" if "inband" in name else ""
    scan = f"{tags},no-checkpoint-read".strip(",")
    flash = original_flash(name, tmp_path)
    steps = load()
    for options in (tags, scan, f"{scan},lazy-loading-off"):
        steps += [mount(options, flags="ro"), STATE, *LIST, UMOUNT]
    change = Script()
    change.write("/new", 0, 5000, 1)
    steps += [mount(tags), STATE, *LIST, run(0), UMOUNT, mount(scan), STATE, *LIST, UMOUNT]
    steps += [mount(tags), STATE, *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[change], flash=flash)
    assert [state["mounted_by_checkpoint"] for state in guest.states] == [1, 0, 0, 1, 0, 1]
    for number in (0, 3):
        assert_same(expected, guest.listings[number])
    for number in (1, 2, 4, 5):
        found = {path: dict(entry) for path, entry in guest.listings[number].items()}
        after_scan = {path: dict(entry) for path, entry in expected.items()}
        for path in {*GROWN} & {*found}:
            assert found[path].pop("size") <= after_scan[path].pop("size")
            del found[path]["crc"]
        found.pop("/new", None)
        for path in ("/", "/lost+found"):  # they changed, or have no header
            found.pop(path, None)
        assert_same(after_scan, found)
    assert no_violations(guest.counters)
    guest.assert_sound()


# --- put together page by page ---


@dataclass(frozen=True)
class Header:
    """A header and its tags; they agree unless `tags_type` or `tags_parent` say otherwise."""

    object_id: int
    fields: HeaderFields
    tags_type: ObjectType | None = None
    tags_parent: int = 0

    def write(self, log: LogWriter) -> None:
        fields = self.fields
        kind = self.tags_type or fields.object_type
        size = fields.target_id if kind is ObjectType.HARD_LINK else fields.size
        parent = self.tags_parent or fields.parent_id
        tags = header_tags(0, self.object_id, kind, parent, size_or_target=size)
        log.write(tags.words, pack_header(fields))


def header(
    object_id: int, name: str, kind: ObjectType = FILE, parent: int = 1, **fields: Any
) -> Header:
    words = {"mode": FORMAT[kind], "uid": 7, "gid": 8, "atime": 9, "mtime": 9, "ctime": 9}
    if kind is ObjectType.HARD_LINK:
        words = {}
    return Header(object_id, HeaderFields(kind, parent, name.encode(), **(words | fields)))


def file_with(object_id: int, name: str, content: bytes, parent: int = 1) -> list[Any]:
    data = ((object_id, 1, len(content)), content)
    return [data, header(object_id, name, parent=parent, size=len(content))]


def image(tmp_path: Path, parts: list[Any]) -> Path:
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    with raw.open("wb") as file:
        log = LogWriter(file, CHIP.geometry())
        for part in parts:
            if isinstance(part, Header):
                part.write(log)
            else:
                log.write(*part)
        log.pad()
    write_flash(flash, CHIP, raw)
    return flash


def mounted_every_way(
    lab: LabBuild, tmp_path: Path, fstree: Path, flash: Path, options: str = ""
) -> Guest:
    """Listings: by scan, read-only; by scan, lazy loading off; writable; by checkpoint; by scan."""
    scan = f"{options},no-checkpoint-read".strip(",")
    steps = [*load(), mount(options, flags="ro"), *LIST, UMOUNT]
    steps += [mount(f"{options},lazy-loading-off".strip(","), flags="ro"), *LIST, UMOUNT]
    steps += [mount(options), *LIST, UMOUNT]
    steps += [mount(options), STATE, *LIST, UMOUNT, mount(scan), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, flash=flash)
    assert guest.states[0]["mounted_by_checkpoint"] == 1
    assert no_violations(guest.counters)
    return guest


KINDS_OF_256: dict[str, list[Any]] = {
    "file": file_with(256, "first", b"contents"),
    "directory": [
        header(256, "first", DIRECTORY),
        *file_with(300, "inside", b"in", parent=256),
        *file_with(301, "other", b"other", parent=256),
    ],
    "link-target": [
        *file_with(256, "first", b"linked"),
        header(300, "second", ObjectType.HARD_LINK, target_id=256),
    ],
    "link": [
        *file_with(300, "target", b"linked"),
        header(256, "first", ObjectType.HARD_LINK, target_id=300),
    ],
    "symlink": [header(256, "first", ObjectType.SYMLINK, alias=b"else/where")],
    "fifo": [header(256, "first", ObjectType.SPECIAL)],
}


@pytest.mark.parametrize("kind", KINDS_OF_256)
def test_object_256_is_an_ordinary_object(
    lab: LabBuild, tmp_path: Path, fstree: Path, kind: str
) -> None:
    """The lowest id that the original gives out, after some 255 creations."""
    flash = image(tmp_path, KINDS_OF_256[kind])
    guest = mounted_every_way(lab, tmp_path, fstree, flash)
    for listing in guest.listings:
        assert_same(guest.image_listing(), listing)
        first = listing["/first"]
        assert first["ino"] == (300 if kind == "link" else 256)
        if kind == "file":
            assert (first["size"], first["uid"], first["mtime"]) == (8, 7, 9)
        if kind == "directory":
            assert {path: entry["size"] for path, entry in listing.items() if "first/" in path} == {
                "/first/inside": 2,
                "/first/other": 5,
            }
        if "link" in kind and kind != "symlink":
            other = listing["/second" if kind == "link-target" else "/target"]
            assert first["nlink"] == other["nlink"] == 2 and first["ino"] == other["ino"]
        assert not any(path.startswith("/lost+found/") for path in listing)
    guest.assert_sound()


def test_the_module_gives_out_object_256(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    script = Script()
    script.write("/a", 0, 10, 1)
    script.write("/b", 0, 10, 2)
    steps = [*load(), mount(), run(0), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, scripts=[script])
    assert [guest.listings[0][path]["ino"] for path in ("/a", "/b")] == [256, 257]
    assert "reserved-id" not in guest.assert_sound().counts


# --- what has no parent ---


@pytest.mark.parametrize("options", ["", "empty-lost-and-found-on"])
def test_what_merely_has_no_parent_is_kept(
    lab: LabBuild, tmp_path: Path, fstree: Path, options: str
) -> None:
    """No directory, one whose header is gone, or one that was deleted: the file was not."""
    parts = [
        header(300, "deleted", DIRECTORY, parent=4),
        *file_with(301, "of-deleted", b"1", parent=300),
        *file_with(302, "of-nobody", b"22", parent=999),
        header(303, "dir", DIRECTORY, parent=998),
        *file_with(304, "below", b"333", parent=303),
        *file_with(305, "of-itself", b"4444", parent=305),
        ((306, 1, 5), b"55555"),  # never had a header
        *file_with(307, "gone", b"666666", parent=3),
        *file_with(308, "kept", b"7777777"),
    ]
    guest = mounted_every_way(lab, tmp_path, fstree, image(tmp_path, parts), options)
    lost = {
        "/lost+found/of-deleted": 1,
        "/lost+found/of-nobody": 2,
        "/lost+found/dir": None,
        "/lost+found/dir/below": 3,
        "/lost+found/of-itself": 4,
        "/lost+found/obj306": 5,
    }
    for number, listing in enumerate(guest.listings):
        emptied = options and number >= 2
        found = {path: entry for path, entry in listing.items() if path not in ("/", "/lost+found")}
        assert {*found} == {"/kept"} | (set() if emptied else {*lost})
        assert found["/kept"]["size"] == 7
        sizes = {} if emptied else {path: size for path, size in lost.items() if size}
        assert {path: found[path]["size"] for path in sizes} == sizes


# --- headers against their tags ---


@pytest.mark.parametrize(
    "wrong",
    [
        replace(header(300, "name", DIRECTORY, size=8), tags_type=FILE),
        replace(header(300, "name", ObjectType.SYMLINK, alias=b"x", size=8), tags_type=FILE),
        replace(header(300, "name", parent=0x40000, size=8), tags_parent=1),
        replace(header(300, "name", parent=777, size=8), tags_parent=1),
    ],
    ids=["directory", "symlink", "impossible-parent", "other-parent"],
)
def test_a_header_that_contradicts_its_tags(
    lab: LabBuild, tmp_path: Path, fstree: Path, wrong: Header
) -> None:
    """Name, attributes and data are there, can be changed, moved by the collector and removed."""
    flash = image(tmp_path, [((300, 1, 8), b"contents"), wrong])
    guest = mounted_every_way(lab, tmp_path, fstree, flash)
    for listing in guest.listings:
        entry = listing["/name"]
        assert (entry["size"], entry["uid"], entry["gid"], entry["mtime"]) == (8, 7, 8, 9)
        assert stat.S_ISREG(entry["mode"]) and "error" not in entry
    change = Script()
    change.line("chmod", "/mnt/name", "600")
    change.write("/more", 0, 9000, 1)
    steps = [*load(), mount(), run(0), *LIST, UMOUNT, CHIP_COUNTERS]
    second = start(lab, tmp_path / "second", fstree, steps, scripts=[change], flash=guest.flash)
    assert stat.S_IMODE(second.listings[0]["/name"]["mode"]) == 0o600
    assert_same(second.image_listing(), second.listings[0])


def test_a_header_without_contents_keeps_its_place(
    lab: LabBuild, tmp_path: Path, fstree: Path
) -> None:
    """Nothing in it can be believed: the object has a number for a name."""
    tags = header_tags(0, 300, FILE, 1, size_or_target=8)
    flash = image(tmp_path, [((300, 1, 8), b"contents"), (tags.words, b"\xa5" * 2048)])
    steps = [*load(), mount(flags="ro"), *LIST, UMOUNT]
    guest = start(lab, tmp_path / "guest", fstree, steps, flash=flash)
    assert "/obj300" in guest.listings[0]


# --- the original's image tool ---


def write_tool_image(file: BinaryIO) -> None:
    """As mkyaffs2image writes: every block has the sequence number 0x1000."""
    geometry = CHIP.geometry()
    sequence = 0x1000
    for number in range(100):
        content = b"%d" % number * 1500
        fields = HeaderFields(FILE, 1, b"f%d" % number, mode=0o100644, size=len(content))
        tags = header_tags(sequence, 257 + number, FILE, 1, size_or_target=len(content))
        file.write(raw_page(geometry, tags, pack_header(fields)))
        for chunk in range(-(-len(content) // 2048)):
            data = content[chunk * 2048 : (chunk + 1) * 2048]
            file.write(raw_page(geometry, Tags(sequence, 257 + number, chunk + 1, len(data)), data))
    pages = file.tell() // geometry.raw_page_bytes
    file.write(b"\xff" * (-pages % geometry.pages_per_block) * geometry.raw_page_bytes)


def test_images_of_the_originals_tool(lab: LabBuild, tmp_path: Path, fstree: Path) -> None:
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    with raw.open("wb") as file:
        write_tool_image(file)
    write_flash(flash, CHIP, raw)
    guest = mounted_every_way(lab, tmp_path, fstree, flash)
    for listing in guest.listings:
        files = {path: entry for path, entry in listing.items() if path.startswith("/f")}
        assert {path: entry["size"] for path, entry in files.items()} == {
            f"/f{number}": 1500 * len(str(number)) for number in range(100)
        }
        assert_same(guest.image_listing(), listing)
    guest.assert_sound()


# --- the other tag mode ---


@pytest.mark.parametrize("inband", [True, False], ids=["inband", "oob"])
@pytest.mark.parametrize("at", [0, 20, 100, 232])
def test_another_tag_mode_is_not_written_over_wherever_the_data_are(
    lab: LabBuild, tmp_path: Path, fstree: Path, at: int, inband: bool
) -> None:
    """Two blocks of an otherwise erased partition.

    A mount looks at the first blocks and at some of the others. What it does not see so is found
    before a block is written, and left alone.
    """
    chip = Chip(2048, 64, 16, 256)
    raw, flash = tmp_path / "raw", tmp_path / "flash"
    geometry = chip.geometry(inband=inband)
    with raw.open("wb") as file:
        file.write(b"\xff" * at * geometry.raw_block_bytes)
        log = LogWriter(file, geometry)
        for number in range(20):
            header(257 + number, f"file{number}").write(log)
        log.pad()
    write_flash(flash, chip, raw)
    options = "" if inband else "inband-tags"
    script = Script()
    script.write("/new", 0, 6_500_000, 1)
    for _ in range(40):
        script.write("/again", 0, 60_000, 2)
        script.unlink("/again")
    steps = [*load(chip), mount(options, may_fail=True), run(0), *LIST, UMOUNT, CHIP_COUNTERS]
    guest = start(lab, tmp_path / "guest", fstree, steps, chip=chip, scripts=[script], flash=flash,
                  passes=False)  # fmt: skip
    if guest.step_errors("mount") == ["EUCLEAN"]:
        assert flash_contents(flash) == flash_contents(guest.flash)
        return
    assert at, "an unmounted image has something in its first block"
    assert guest.console.count("is left alone") == 2
    assert_same(script.listing(), guest.listings[0])
    assert no_violations(guest.counters)
    tree = read_tree(
        guest.flash,
        ImageOptions(first_block=at, blocks=2, pages_per_block=16, inband=inband),
    )
    assert {*tree} >= {f"/file{number}" for number in range(20)}
