"""Images on the flash: the step `write-image` puts what the usual tools make onto a chip, the file
systems mount it, and the flash holds what mtd-utils' nandwrite would have put there.

The trees come back through the kernel's file systems, whose listings are compared with what was
packed; the pages are compared with the image's bytes and, byte for byte, with a flash written by
nandwrite in a guest of its own.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fio_support import host_steps
from fstree import Listing, Script, assert_same, parse_listing
from guest_programs import DEBUG
from lab_support import Boot, boot, cases
from yaffs_guest import LIST, LISTING, PROGRAM, no_violations, run

from ffslab.fsimage.flashfile import map_file
from ffslab.lab.commands import clean_environment
from ffslab.lab.lab_build import LabBuild
from ffslab.logfs import mkfs as logfs
from ffslab.model.case import Case
from ffslab.protocol.chip_layout import parse_lab_header
from ffslab.protocol.plan import encode
from ffslab.targets.virtual_flash import RIG
from ffslab.yaffs2.format import Geometry
from ffslab.yaffs2.mkfs import MkfsOptions, make_image
from findings import finding

PAGE, OOB, PAGES_PER_BLOCK, BLOCKS = 2048, 64, 64, 128
BLOCK = PAGE * PAGES_PER_BLOCK
LEB = BLOCK - PAGE  # UBI's headers take one page of four sub-pages
BAD = 30  # so many that every image meets some
CHIP = "/proc/vnand/flash0/counters"
IMAGES = "/images"
IN_PLACE_BAD = "logfs-bad"  # the image of LogFS for the chip with bad blocks
SHOW_IMAGES = "mount type=hostfs source=none target={} options={} flags=ro"
# Each with the module that Linux lacks; the other file systems are in the kernel.
STUDY = """
schema = 1
name = "imagetest"
title = "A chip for images"

[base]
board = "apf27"
partition_bytes = "16 MiB"

[base.workload]
kind = "ffsmark"

[axes]
filesystem = ["yaffs2", "logfs"]
"""
UBI_IMAGE = """[volume]
mode=ubi
image={image}
vol_id=0
vol_type={type}
vol_name=data
"""


def chip_case(module: str = "yaffs2", **changes: Any) -> Case:
    """A case whose partition is all of a chip of 16 MiB; changes of the chip."""
    found = cases(STUDY, blocks=BLOCKS, **changes).values()
    (case,) = [case for case in found if case.filesystem.name == module]
    return replace(case, partition_blocks=BLOCKS)


def packed_tree() -> Script:
    """What the images hold; only its tree is used."""
    script = Script()
    for directory in ("/bin", "/etc", "/etc/deep", "/etc/deep/deeper", "/empty"):
        script.mkdir(directory)
    for number, size in enumerate((0, 1, 511, 2048, 4096, 4097, 100_000, 700_001)):
        script.write(f"/bin/program-{size}", 0, size, seed=number)
        script.chmod(f"/bin/program-{size}", 0o755)
    for number in range(60):
        script.write(f"/etc/file{number}", 0, 50 * number, seed=100 + number)
    script.write("/etc/deep/deeper/secret", 0, 300, seed=5)
    script.chmod("/etc/deep/deeper/secret", 0o600)
    script.link("/bin/program-4096", "/etc/deep/another-name")
    script.symlink("../bin/program-2048", "/etc/link")
    for number, inode in enumerate(script.tree.values()):
        inode.mtime = 1_600_000_000 + number
    return script


def changed_tree(packed: Script) -> Script:
    """The same after a guest has used it."""
    script = Script()
    script.tree = packed.tree
    script.write("/etc/new", 0, 300_000, seed=7)
    script.unlink("/etc/file7")
    script.write("/bin/program-4097", 100, 5000, seed=8)
    script.mkdir("/empty/full")
    script.write("/empty/full/file", 0, 10, seed=9)
    return script


def without_directories_times(listing: Listing) -> Listing:
    """JFFS2 takes a directory's time from the newest of its entries."""
    return {
        path: {k: v for k, v in entry.items() if k != "mtime" or not stat.S_ISDIR(entry["mode"])}
        for path, entry in listing.items()
    }


def tool(*words: object) -> None:
    """Runs a program of the host; fails with what it printed."""
    done = subprocess.run(
        [str(word) for word in words],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)


def unpacked(script: Script, directory: Path) -> Path:
    archive = directory / "tree.tar"
    script.archive(archive)
    source = directory / "source"
    source.mkdir()
    tool("tar", "-x", "-p", "--no-same-owner", "-f", archive, "-C", source)
    return source


def ubinized(image: Path, volume: str) -> Path:
    config = image.with_suffix(".ini")
    grows = "vol_flags=autoresize\n" if volume == "dynamic" else ""
    config.write_text(UBI_IMAGE.format(image=image, type=volume) + grows)
    result = image.with_suffix(".ubi")
    words = ("-p", BLOCK, "-m", PAGE, "-s", PAGE // 4, "-Q", 1)
    tool("ubinize", "-o", result, *words, config)
    return result


def logfs_image(source: Path, image: Path, bad_blocks: Iterable[int] = ()) -> Path:
    options = logfs.MkfsOptions(
        partition_bytes=BLOCKS * BLOCK, squash_owners=True, bad_blocks=tuple(bad_blocks)
    )
    logfs.make_image(source, image, options)
    return image


def made_image(kind: str, source: Path) -> Path:
    """The image that a flasher would be given, beside `source`."""
    image = source.with_name(f"{kind}.image")
    if kind == "jffs2":
        tool("mkfs.jffs2", "-n", "-l", "-q", "-m", "none", "-e", BLOCK, "-r", source, "-o", image)
    elif kind == "yaffs2":
        make_image(
            source,
            image,
            MkfsOptions(geometry=Geometry(PAGE, OOB, PAGES_PER_BLOCK, 2), squash_owners=True),
        )
    elif kind == "logfs":
        return logfs_image(source, image)
    elif kind == "ubifs":
        words = ("-m", PAGE, "-e", LEB, "-c", BLOCKS, "--squash-uids")
        tool("mkfs.ubifs", *words, "-r", source, "-o", image)
        return ubinized(image, "dynamic")
    elif kind == "squashfs":
        tool("mksquashfs", source, image, "-all-root", "-noappend", "-no-progress")
        return ubinized(image, "static")
    else:
        assert kind == "erofs"
        tool("mkfs.erofs", "--all-root", "-zlz4", image, source)
        return ubinized(image, "static")
    return image


@dataclass(frozen=True)
class Kind:
    """How an image of a file system is written and mounted."""

    name: str
    source: str
    oob: bool = False
    attach: str = ""
    read_only: bool = False
    in_place: bool = False

    @property
    def module(self) -> str:
        """The file system whose module the guest loads."""
        return "logfs" if self.name == "logfs" else "yaffs2"

    @property
    def mount(self) -> str:
        line = f"mount type={self.name} source={self.source}"
        return line + (" flags=ro" if self.read_only else "")


KINDS = [
    Kind("jffs2", "mtd:data"),
    Kind("yaffs2", "mtd:data", oob=True),
    Kind("logfs", "mtd:data", in_place=True),
    Kind("ubifs", "ubi0:data", attach="ubi-attach mtd=data"),
    Kind("squashfs", "/dev/ubiblock0_0", False, "ubi-attach mtd=data block=0", True),
    Kind("erofs", "/dev/ubiblock0_0", False, "ubi-attach mtd=data block=0", True),
]


@pytest.fixture(scope="module")
def bad_blocks(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> frozenset[int]:
    """Which blocks are bad of a chip that has some; its seed says so."""
    directory = tmp_path_factory.mktemp("bad") / "guest"
    bad = Flash.read(started(lab, directory, chip_case(factory_bad=BAD), []).flash).bad
    assert len(bad) == BAD
    return bad


@pytest.fixture(scope="module")
def images(
    tmp_path_factory: pytest.TempPathFactory, bad_blocks: frozenset[int]
) -> Mapping[str, Path]:
    """One image of each kind, all in one directory; one more of LogFS that knows bad blocks."""
    directory = tmp_path_factory.mktemp("images")
    source = unpacked(packed_tree(), directory)
    made = {kind.name: made_image(kind.name, source) for kind in KINDS}
    return {**made, IN_PLACE_BAD: logfs_image(source, directory / "logfs-bad", bad_blocks)}


def image_of(images: Mapping[str, Path], kind: Kind, bad: int) -> Path:
    """The image for a chip with so many bad blocks: one that is written in place knows them."""
    return images[IN_PLACE_BAD if kind.in_place and bad else kind.name]


def shown(directory: Path) -> str:
    """A step that shows the guest a directory of the host."""
    return SHOW_IMAGES.format(IMAGES, directory)


def write_step(image: Path, oob: bool = False, in_place: bool = False, phase: str = "write") -> str:
    line = f"write-image mtd=data path={IMAGES}/{image.name} oob={int(oob)} phase={phase}"
    return line + (" in_place=1" if in_place else "")


def started(lab: LabBuild, directory: Path, case: Case, steps: Sequence[str], **more: Any) -> Boot:
    plan = "\n".join(["ffsplan 1", *RIG.begin(case, trace=False), "erase mtd=data", *steps]) + "\n"
    return boot(lab, directory, case, plan, **more)


def end(guest: Boot) -> Any:
    return guest.of_type("end")[0]


def written(guest: Boot) -> Any:
    (record,) = guest.of_type("written")
    return record


def delta(phase: Any, counter: str) -> int:
    return int(phase["flash_end"][counter] - phase["flash_start"][counter])


@dataclass(frozen=True)
class Flash:
    """What a chip's file holds: programmed pages by number, data and OOB; bad blocks."""

    pages: Mapping[int, bytes]
    bad: frozenset[int]

    @classmethod
    def read(cls, path: Path) -> Flash:
        contents = map_file(path)
        lab = parse_lab_header(contents)
        assert lab and not lab.problem
        assert (lab.page_bytes, lab.oob_bytes, lab.blocks) == (PAGE, OOB, BLOCKS)
        pages = {}
        for page in range(BLOCKS * PAGES_PER_BLOCK):
            if contents[lab.pages_offset + 4 * page : lab.pages_offset + 4 * page + 1] != b"\0":
                at = lab.data_offset + page * (PAGE + OOB)
                pages[page] = contents[at : at + PAGE + OOB]
        flags = (lab.blocks_offset + lab.block_state_bytes * block + 20 for block in range(BLOCKS))
        bad = {block for block, at in enumerate(flags) if contents[at : at + 1][0] & 1}
        return cls(pages, frozenset(bad))

    def image(self, kind: Kind) -> bytes:
        """All good blocks' pages in order; 0xff where nothing was programmed.

        Of an image that was written in place, those of bad blocks too.
        """
        oob = kind.oob
        unit = PAGE + (OOB if oob else 0)
        blank = b"\xff" * unit
        return b"".join(
            self.pages[page][:unit] if page in self.pages else blank
            for page in range(BLOCKS * PAGES_PER_BLOCK)
            if kind.in_place or page // PAGES_PER_BLOCK not in self.bad
        )


# --- file systems ---


BLOCK_LOCKS = pytest.mark.skipif(
    DEBUG, reason=finding("F-UBI-01", "lockdep reports the locks of Linux's ubiblock")
)
ON_BLOCK = ("squashfs", "erofs")
ALL_KINDS = [
    pytest.param(kind, id=kind.name, marks=BLOCK_LOCKS if kind.name in ON_BLOCK else ())
    for kind in KINDS
]


@pytest.mark.parametrize("bad", [0, BAD])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_an_image_mounts_and_holds_the_tree(
    lab: LabBuild,
    tmp_path: Path,
    images: Mapping[str, Path],
    fstree: Path,
    kind: Kind,
    bad: int,
) -> None:
    """And goes on to be used, where it can be written; each part is a phase."""
    image = image_of(images, kind, bad)
    packed = packed_tree()
    one_link = kind.name == "logfs"
    expected = [packed.listing(one_link=one_link)]
    changes = tmp_path / "changes"
    changes.write_text(changed_tree(packed).text)
    steps = [shown(image.parent), write_step(image, kind.oob, kind.in_place)]
    for number, run_it in enumerate([[], [], [run(0)]]):
        steps += [f"{kind.attach} phase=attach-{number}"] if kind.attach else []
        steps += [f"{kind.mount} phase=mount-{number}"]
        steps += [] if kind.read_only else run_it
        steps += [*LIST, f"drop-caches phase=drop-{number}", f"sync phase=sync-{number}"]
        steps += [f"umount phase=unmount-{number}"]
        steps += [f"ubi-detach phase=detach-{number}"] if kind.attach else []
    steps += [f"capture path={CHIP}"]
    guest = started(
        lab,
        tmp_path / "guest",
        chip_case(kind.module, factory_bad=bad),
        steps,
        files={PROGRAM: fstree, "/test/script0": changes},
    )
    assert end(guest)["status"] == "ok", end(guest)
    assert no_violations(guest.captured("flash0/counters"))

    expected += [expected[0], expected[0] if kind.read_only else packed.listing(one_link=one_link)]
    found = [parse_listing(r["text"]) for r in guest.of_type("file") if r["path"] == LISTING]
    for want, have in zip(expected, found, strict=True):
        loses_times = kind.name == finding("F-JFFS2-12", "jffs2")
        assert_same(without_directories_times(want) if loses_times else want, have)

    record, phases = written(guest), {r["phase"]: r for r in guest.of_type("phase")}
    unit = PAGE + (OOB if kind.oob else 0)
    assert record["image_bytes"] == image.stat().st_size
    blocks = -(-record["image_bytes"] // (unit * PAGES_PER_BLOCK))
    assert record["blocks"] == blocks - (bad if kind.in_place else 0)
    assert record["pages"] == delta(phases["write"], "pages_programmed")
    assert (record["bad_blocks_skipped"] > 0) == (bad > 0)
    assert delta(phases["write"], "blocks_erased") == 0
    assert {phase["workload"] for phase in phases.values()} == {"tree"}
    assert {phase["status"] for phase in phases.values()} == {"ok"}
    names = {"mount", "unmount", "drop", "sync", *(("attach", "detach") if kind.attach else ())}
    per_mount = {f"{name}-{number}" for name in names for number in range(3)}
    assert {*phases} == {"write", *per_mount}
    # A file system that is on UBI may find all that it needs at the attach.
    assert delta(phases["attach-0" if kind.attach else "mount-0"], "pages_read") > 0


@pytest.mark.parametrize("bad", [0, BAD])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_the_flash_holds_the_image(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path], kind: Kind, bad: int
) -> None:
    """Page by page in the good blocks; the record's figures are what is found there."""
    image = image_of(images, kind, bad)
    written_to = write_step(image, kind.oob, kind.in_place)
    steps = [shown(image.parent), written_to, "umount target=/images"]
    guest = started(lab, tmp_path / "guest", chip_case(factory_bad=bad), steps)
    flash, record = Flash.read(guest.flash), written(guest)
    assert len(flash.bad) == bad
    assert len(flash.pages) == record["pages"]
    content = image.read_bytes()
    held = flash.image(kind)
    assert held[: len(content)] == content
    assert not held[len(content) :].strip(b"\xff")
    last = BLOCKS if kind.in_place else max(flash.pages) // PAGES_PER_BLOCK
    assert record["bad_blocks_skipped"] == len([block for block in flash.bad if block < last])
    (tasks,) = guest.of_type("tasks")
    assert sum(task["pages_programmed"] for task in tasks["tasks"]) == record["pages"]


@BLOCK_LOCKS
def test_block_devices_go_with_ubi(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path]
) -> None:
    image = images["squashfs"]
    steps = [
        shown(image.parent),
        write_step(image),
        "ubi-attach mtd=data",
        "mount type=squashfs source=/dev/ubiblock0_0 flags=ro may_fail=1",
        "ubi-detach",
        "ubi-attach mtd=data block=0",
        "mount type=squashfs source=/dev/ubiblock0_0 flags=ro",
        "ubi-detach may_fail=1",
        "umount",
        "ubi-detach",
        "mount type=squashfs source=/dev/ubiblock0_0 flags=ro may_fail=1",
        "ubi-attach mtd=data block=1 phase=attach may_fail=1",
    ]
    guest = started(lab, tmp_path / "guest", chip_case(), steps)
    assert end(guest)["status"] == "ok", end(guest)
    failed = [r for r in guest.of_type("step") if r["status"] == "error"]
    assert [(r["verb"], r["errno_name"]) for r in failed] == [
        ("mount", "ENOENT"),
        ("ubi-detach", "EBUSY"),
        ("mount", "ENOENT"),
        ("ubi-attach", "ENOENT"),
    ]
    assert "/dev/ubi0_1 (there is no such volume)" in failed[3]["message"]
    # A phase that failed is recorded as such.
    assert guest.of_type("phase")[-1]["errno_name"] == "ENOENT"


# --- what nandwrite does ---


def by_nandwrite(
    lab: LabBuild, directory: Path, case: Case, image: Path, *words: str
) -> Mapping[int, bytes]:
    """The pages that nandwrite programs in a guest of its own."""
    program = shutil.which("nandwrite", path=clean_environment()["PATH"])
    arguments = encode(" ".join(["-q", *words, "/dev/mtd0", f"{IMAGES}/{image.name}"]))
    nandwrite = f"exec path={program} args={arguments}"
    guest = started(lab, directory, case, [shown(image.parent), *host_steps(), nandwrite])
    assert end(guest)["status"] == "ok", guest.printed
    return Flash.read(guest.flash).pages


def by_agent(
    lab: LabBuild, directory: Path, case: Case, image: Path, oob: bool
) -> Mapping[int, bytes]:
    guest = started(lab, directory, case, [shown(image.parent), write_step(image, oob)])
    return Flash.read(guest.flash).pages


def data_with_gaps(path: Path) -> Path:
    """Pages with and without data in every order, a blank block, an end within a page."""
    blank = b"\xff" * PAGE
    blocks = []
    for block, used in enumerate(("0", "63", "0-5,7,9", "", "0-63", "62", "1")):
        wanted = set()
        for part in filter(None, used.split(",")):
            first, _, last = part.partition("-")
            wanted |= {*range(int(first), int(last or first) + 1)}
        blocks += [
            hashlib.shake_128(b"%d %d" % (block, page)).digest(PAGE) if page in wanted else blank
            for page in range(PAGES_PER_BLOCK)
        ]
    path.write_bytes(b"".join(blocks) + b"the end is not that of a page")
    return path


@pytest.mark.parametrize("kind", ["jffs2", "ubifs", "gaps"])
def test_nandwrite_writes_the_same_data(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path], kind: str
) -> None:
    """The pages that differ are blank ones: nandwrite programs all of them, or with -k none; a
    flasher leaves out those at the end of a block."""
    (tmp_path / "data").mkdir()
    image = data_with_gaps(tmp_path / "data" / "gaps") if kind == "gaps" else images[kind]
    case = chip_case(factory_bad=BAD)
    ours = by_agent(lab, tmp_path / "agent", case, image, oob=False)
    all_of_it = by_nandwrite(lab, tmp_path / "all", case, image, "-p")
    skipped = by_nandwrite(lab, tmp_path / "skipped", case, image, "-p", "-k")
    blank = b"\xff" * (PAGE + OOB)
    assert ours == {page: all_of_it[page] for page in ours}
    assert skipped == {page: data for page, data in ours.items() if data != blank}
    for page in {*all_of_it} - {*ours}:
        block = range(page, (page // PAGES_PER_BLOCK + 1) * PAGES_PER_BLOCK)
        assert all(all_of_it.get(later, blank) == blank for later in block)
    assert {*ours} != {*all_of_it} or kind == "jffs2"
    assert {*ours} != {*skipped} or kind != "gaps"


def test_nandwrite_writes_the_same_pages_with_oob(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path]
) -> None:
    case = chip_case(factory_bad=BAD)
    ours = by_agent(lab, tmp_path / "agent", case, images["yaffs2"], oob=True)
    theirs = by_nandwrite(lab, tmp_path / "nandwrite", case, images["yaffs2"], "-o", "-k")
    assert ours == theirs and len(ours) > 400


# --- what does not fit ---


@pytest.mark.parametrize("oob", [False, True], ids=["data", "oob"])
def test_an_image_that_is_larger_is_refused_before_a_page_is_written(
    lab: LabBuild, tmp_path: Path, oob: bool
) -> None:
    """With numbers; one that fits exactly is written."""
    unit = PAGE + (OOB if oob else 0)
    good = BLOCKS - BAD
    data = tmp_path / "data"
    data.mkdir()
    fits, larger = data / "fits", data / "larger"
    page = hashlib.shake_128(b"page").digest(unit)
    for path, units in ((fits, good * PAGES_PER_BLOCK), (larger, good * PAGES_PER_BLOCK + 1)):
        with path.open("wb") as file:
            file.truncate(units * unit)  # zeros are data
            file.seek((units - 1) * unit)
            file.write(page)
    case = chip_case(factory_bad=BAD)
    guest = started(
        lab,
        tmp_path / "guest",
        case,
        [
            shown(data),
            f"{write_step(larger, oob, phase='large')} may_fail=1",
            write_step(fits, oob),
        ],
    )
    failed, fitted = guest.of_type("phase")
    assert failed["errno_name"] == "ENOSPC"
    assert delta(failed, "pages_programmed") == 0
    message = guest.failed_step()["message"]
    size = larger.stat().st_size
    assert f"of {size} bytes takes {good + 1} erase blocks" in message
    assert f"'data' has {good} good ones ({good * BLOCK} bytes) and {BAD} bad ones" in message
    assert delta(fitted, "pages_programmed") == good * PAGES_PER_BLOCK
    assert written(guest)["blocks"] == good and written(guest)["bad_blocks_skipped"] <= BAD
    assert end(guest)["status"] == "ok"


def test_other_files_are_refused(lab: LabBuild, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "empty").touch()
    (data / "odd").write_bytes(bytes(10 * (PAGE + OOB) + 1))
    (data / "directory").mkdir()
    files = (("missing", 0), ("empty", 0), ("directory", 0), ("odd", 1))
    steps = [f"{write_step(data / name, bool(oob), phase=name)} may_fail=1" for name, oob in files]
    steps.append(f"write-image mtd=other path={IMAGES}/odd may_fail=1")
    guest = started(lab, tmp_path / "guest", chip_case(), [shown(data), *steps])
    failed = [r for r in guest.of_type("step") if r["verb"] == "write-image"]
    assert [r["errno_name"] for r in failed] == ["ENOENT", "EINVAL", "EINVAL", "EINVAL", "ENODEV"]
    assert f"not whole pages of {PAGE} bytes with {OOB} bytes of OOB" in failed[3]["message"]
    assert not guest.of_type("written")
    assert not Flash.read(guest.flash).pages


# --- blocks that fail ---


@pytest.mark.parametrize("kind", KINDS[:2], ids=["jffs2", "yaffs2"])
def test_a_block_that_fails_is_replaced(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path], kind: Kind
) -> None:
    image = images[kind.name]
    steps = [shown(image.parent), write_step(image, kind.oob), f"capture path={CHIP}"]
    case = chip_case(program_fail_ppm=20_000)
    guest = started(lab, tmp_path / "guest", case, steps)
    assert end(guest)["status"] == "ok", end(guest)
    counters = guest.captured("flash0/counters")
    flash, record = Flash.read(guest.flash), written(guest)
    assert 2 < counters["program_failures"] == record["bad_blocks_skipped"] == len(flash.bad)
    content = image.read_bytes()
    assert flash.image(kind)[: len(content)] == content
    assert no_violations(counters)


def test_a_chip_that_fails_too_often_is_full(
    lab: LabBuild, tmp_path: Path, images: Mapping[str, Path]
) -> None:
    image = images["jffs2"]
    case = chip_case(program_fail_ppm=200_000)
    guest = started(lab, tmp_path / "guest", case, [shown(image.parent), write_step(image)])
    assert end(guest)["errno_name"] == "ENOSPC"
    assert "so many blocks of 'data' failed" in end(guest)["message"]
    assert f"{BLOCKS} bad" in end(guest)["message"]


def test_host_has_the_tools() -> None:
    """They come with `ffslab test`; a machine without them fails here, in words."""
    path = clean_environment()["PATH"]
    tools = ("mkfs.jffs2", "mkfs.ubifs", "ubinize", "nandwrite", "mksquashfs", "mkfs.erofs")
    missing = [name for name in tools if not shutil.which(name, path=path)]
    assert not missing, f"apt-get install mtd-utils squashfs-tools erofs-utils: {missing}"
