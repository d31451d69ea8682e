"""Images: what the tools are told, what of an image counts, the cache, errors; without a guest."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from ffslab import logfs
from ffslab.errors import InfrastructureError, SpecError, UsageError
from ffslab.images import build, builders, toolguest
from ffslab.images.build import (
    BuiltImage,
    ImageSpec,
    build_image,
    image_key,
    image_spec,
    missing_tools,
)
from ffslab.images.pages import programmed_pages, programmed_raw_pages
from ffslab.images.source import SourceTree
from ffslab.images.toolguest import Tool, ToolFailedError, ToolJob
from ffslab.images.tools import Command, recipe, tool_names
from ffslab.images.ubifs_uuid import UUID, fix_uuid
from ffslab.lab import packages
from ffslab.lab.cache import file_sha256
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.progress import SilentProgress
from ffslab.loader import load_catalog
from ffslab.model.settings import mount_setup
from ffslab.targets.running import GuestSlot
from ffslab.yaffs2 import check_image

PAGE_BYTES = 2048
BLOCK_BYTES = 64 * PAGE_BYTES
SPEC = ImageSpec(
    tool="jffs2",
    options=("-m", "none"),
    page_bytes=PAGE_BYTES,
    oob_bytes=64,
    subpages=1,
    pages_per_block=64,
    partition_blocks=100,
)


def with_tool(tool: str, *options: str, **changes: Any) -> ImageSpec:
    return replace(SPEC, tool=tool, options=options, **changes)


def option(command: Command, name: str) -> str:
    """The word behind an option."""
    return command.words[command.words.index(name) + 1]


# --- what the tools are told ---


@pytest.mark.parametrize(
    ("page", "subpages", "pages", "vid_hdr_offset", "leb_bytes"),
    [
        # Both headers have a page of their own where there are no sub-pages.
        (2048, 1, 64, 0, 126976),
        # The volume header is in the second of four sub-pages, the data begin at the next page.
        (2048, 4, 64, 0, 129024),
        (2048, 4, 64, 2048, 126976),
        (512, 1, 32, 0, 15360),
        (4096, 1, 64, 0, 253952),
        (4096, 4, 64, 1024, 258048),
    ],
)
def test_a_logical_erase_block_is_what_the_headers_leave(
    page: int, subpages: int, pages: int, vid_hdr_offset: int, leb_bytes: int
) -> None:
    spec = with_tool(
        "ubifs",
        page_bytes=page,
        subpages=subpages,
        pages_per_block=pages,
        ubi_vid_hdr_offset=vid_hdr_offset,
    )
    mkfs, ubinize = recipe(spec).commands
    assert option(mkfs, "-e") == str(leb_bytes)
    assert option(mkfs, "-m") == option(ubinize, "-m") == str(page)
    assert option(ubinize, "-p") == str(page * pages)
    assert option(ubinize, "-s") == str(page // subpages)
    assert ("-O" in ubinize.words) == bool(vid_hdr_offset)


def test_jffs2_for_nand_has_no_clean_markers_and_nodes_of_a_memory_page() -> None:
    (command,) = recipe(SPEC).commands
    assert {"--no-cleanmarkers", "--little-endian", "--pagesize=4096"} <= set(command.words)
    assert f"--eraseblock={BLOCK_BYTES}" in command.words
    assert not any(word.startswith(("-p", "--pad=")) or word == "--pad" for word in command.words)
    assert command.words[-2:] == ("-m", "none")


def test_summaries_are_put_into_what_mkfs_wrote() -> None:
    (alone,) = recipe(SPEC).commands
    steps = recipe(replace(SPEC, summaries=True))
    mkfs, sumtool = steps.commands
    assert steps.programs == ("mkfs.jffs2", "sumtool")
    assert mkfs.words == tuple(word.replace("flash.img", "plain.img") for word in alone.words)
    assert set(sumtool.words) == {
        *("--input=/out/plain.img", "--output=/out/flash.img"),
        *(f"--eraseblock={BLOCK_BYTES}", "--no-cleanmarkers", "--littleendian"),
    }
    # What goes to the flash is the image: it is not padded.
    assert steps.image_name == "flash.img"


def test_summaries_are_an_option_of_jffs2_and_no_word_of_the_tool() -> None:
    catalog = load_catalog()
    jffs2 = catalog.filesystem("jffs2")
    assert jffs2.options["summary"].default == "off"
    setups = {
        value: mount_setup(jffs2, {"options.summary": value}, "test")
        for value in ("off", "on", "default")
    }
    assert len({setup.image_options for setup in setups.values()}) == 1
    for value, setup in setups.items():
        spec = image_spec(catalog.boards["apf27"].chip, 100, setup)
        assert spec is not None
        assert spec.summaries == (value == "on")


def test_ubifs_may_grow_to_the_partition() -> None:
    steps = recipe(with_tool("ubifs", "-x", "lzo"))
    assert option(steps.commands[0], "-c") == "100"
    ((_, text),) = steps.files
    assert "vol_type=dynamic" in text
    assert "vol_flags=autoresize" in text


@pytest.mark.parametrize("tool", ["squashfs", "erofs"])
def test_a_read_only_file_system_is_in_a_volume_of_either_type(tool: str) -> None:
    texts = {}
    for changes in ({}, {"volume_type": "dynamic"}, {"volume_type": "static"}):
        steps = recipe(with_tool(tool, volume="rootfs", **changes))
        ((_, texts[changes.get("volume_type", "")]),) = steps.files
    assert texts[""] == texts["dynamic"] == texts["static"].replace("static", "dynamic")
    for kind in ("dynamic", "static"):
        lines = texts[kind].splitlines()
        assert f"vol_type={kind}" in lines
        assert "vol_name=rootfs" in lines
        # ubinize takes the erase blocks that the image needs, and UBI adds none.
        assert not [line for line in lines if line.startswith(("vol_size", "vol_flags"))]


@pytest.mark.parametrize("tool", ["ubifs", "squashfs", "erofs"])
def test_ubinize_draws_no_image_sequence(tool: str) -> None:
    assert option(recipe(with_tool(tool)).commands[-1], "-Q").isdigit()


def test_mksquashfs_uses_one_processor_and_no_clock() -> None:
    command = recipe(with_tool("squashfs", "-comp", "xz")).commands[0]
    assert option(command, "-processors") == "1"
    assert option(command, "-mkfs-time").isdigit()
    assert command.words[-2:] == ("-comp", "xz")


def test_an_unknown_tool_is_named_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match="no image tool 'ext4'") as raised:
        missing_tools("ext4")
    assert all(name in raised.value.remedy for name in tool_names())


def test_every_file_system_of_the_catalog_with_an_image_has_a_tool() -> None:
    catalog = load_catalog()
    chip = catalog.boards["apf27"].chip
    with_image = [one for one in catalog.filesystems.values() if one.image]
    assert {one.image.tool for one in with_image if one.image} == set(tool_names())
    for filesystem in with_image:
        setup = mount_setup(filesystem, {}, "test")
        spec = image_spec(chip, 100, setup)
        assert spec is not None
        assert spec.options == setup.image_options
        assert spec.block_bytes == chip.block_bytes
        assert spec.volume_type == "dynamic"


@pytest.mark.parametrize("name", ["squashfs", "erofs"])
def test_the_volumes_type_is_an_option_and_no_word_of_the_tool(name: str) -> None:
    catalog = load_catalog()
    setups = {
        kind: mount_setup(catalog.filesystem(name), {"options.volume": kind}, "test")
        for kind in catalog.filesystem(name).options["volume"].values
    }
    assert list(setups) == ["dynamic", "static"]
    assert setups["dynamic"].image_options == setups["static"].image_options
    for kind, setup in setups.items():
        spec = image_spec(catalog.boards["apf27"].chip, 100, setup)
        assert spec is not None
        assert spec.volume_type == kind


# --- what the guest is told ---


def job_of(*commands: Command) -> ToolJob:
    tools = tuple(
        Tool(name, Path(f"/usr/bin/{name}"), (Path("/lib/libz.so.1"),), "", name)
        for name in ("sh", "tar", *(command.program for command in commands))
    )
    return ToolJob(tools, commands, (), 1 << 20)


def test_the_guest_sees_the_tools_directories_read_only() -> None:
    plan = job_of(Command("mkfs.jffs2", ())).plan.splitlines()
    assert plan[0] == "ffsplan 1"
    for name in ("/usr", "/lib"):
        (line,) = [line for line in plan if f"target={name} " in line]
        assert "type=hostfs" in line
        assert line.endswith("flags=ro")


def test_words_reach_the_tool_as_they_are() -> None:
    script = job_of(Command("mkfs.erofs", ("$(reboot)", "-zlz4"), ("A=1",))).script
    assert "A=1 /usr/bin/mkfs.erofs '$(reboot)' -zlz4" in script.splitlines()


def test_a_larger_tree_gets_a_larger_guest() -> None:
    job = job_of(Command("mkfs.jffs2", ()))
    small = replace(job, tree_bytes=14 << 20).arguments
    large = replace(job, tree_bytes=1 << 30).arguments
    assert small[0] == f"mem={768 + 42}M"
    assert large[0] == f"mem={768 + 3072}M"


def test_a_tool_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InfrastructureError, match=r"mkfs\.nothing"):
        toolguest.find_tool("mkfs.nothing")


def test_a_tool_is_examined_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "mkfs.own"
    monkeypatch.setattr(toolguest, "clean_environment", lambda: {"PATH": f"{tmp_path}:/bin"})
    printed = toolguest._printed
    asked: list[str] = []

    def counted(words: list[str]) -> str:
        asked.append(Path(words[0]).name)
        return printed(words)

    def install(version: str) -> None:
        new = tool.with_suffix(".new")
        new.write_text(f"#!/bin/sh\necho mkfs.own {version}\n")
        new.chmod(0o755)
        os.utime(new, (1, 1))
        new.replace(tool)

    monkeypatch.setattr(toolguest, "_printed", counted)
    install("1.0")
    first = toolguest.find_tool("mkfs.own", "--version")
    assert first.version == "mkfs.own 1.0" and asked == ["ldd", "mkfs.own"]
    assert toolguest.find_tool("mkfs.own", "--version") == first and len(asked) == 2
    # Of the same name, size and time.
    install("1.1")
    second = toolguest.find_tool("mkfs.own", "--version")
    assert second.version == "mkfs.own 1.1" and second.identity != first.identity
    assert asked == ["ldd", "mkfs.own"] * 2


# --- what counts of an image ---


def test_pages_behind_the_last_data_of_a_block_are_not_programmed(tmp_path: Path) -> None:
    image = tmp_path / "image"
    page, blank = b"\0" * 512, b"\xff" * 512
    # An erased page between data is programmed; so is a page that is not full.
    image.write_bytes(page + blank + page + blank + blank * 4 + page + b"\0")
    assert programmed_pages(image, 512, 4) == 3 + 0 + 2


def test_raw_pages_count_if_data_or_oob_is_written(tmp_path: Path) -> None:
    image = tmp_path / "image"
    blank = b"\xff" * 528
    image.write_bytes(blank + b"\0" + blank[1:] + blank[1:] + b"\0" + blank)
    assert programmed_raw_pages(image, 528) == 2


def superblock(uuid: bytes) -> bytes:
    """A UBIFS superblock node as fs/ubifs/ubifs-media.h has it."""
    head = struct.pack("<QIBB2x", 0, 4096, 6, 0)
    rest = (head + b"\0" * (108 - 8 - len(head)) + uuid).ljust(4096 - 8, b"\0")
    return struct.pack("<II", 0x06101831, zlib.crc32(rest) ^ 0xFFFFFFFF) + rest


def test_the_uuid_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    image = tmp_path / "image"
    front, behind = b"\x11" * (2 * BLOCK_BYTES + 4096), b"\x22" * 8192
    image.write_bytes(front + superblock(b"\x33" * 16) + behind)
    fix_uuid(image, BLOCK_BYTES, 4096)
    assert image.read_bytes() == front + superblock(UUID) + behind


@pytest.mark.parametrize("content", [b"", b"\xff" * (3 * BLOCK_BYTES)])
def test_no_superblock_is_an_error(content: bytes, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(content)
    with pytest.raises(InfrastructureError, match="no UBIFS superblock"):
        fix_uuid(image, BLOCK_BYTES, 4096)


# --- building, with a tool that is a function ---


@dataclass
class Fakes:
    """Stands for the guest: writes `content`, or fails; counts."""

    lab: LabBuild
    tree: SourceTree
    content: bytes = b"\0" * 5000
    identity: str = "one"
    error: Exception | None = None
    wait: threading.Barrier | None = None
    runs: list[ToolJob] = field(default_factory=list)

    def run(self, job: ToolJob, tree: Path, lab: LabBuild, directory: Path, slot: GuestSlot) -> str:
        assert isinstance(slot, GuestSlot)
        assert tree == self.tree.tar
        assert lab is self.lab
        self.runs.append(job)
        if self.error:
            raise self.error
        out = directory / toolguest.OUT_NAME
        out.mkdir()
        (out / "flash.img").write_bytes(self.content)
        (out / "volume.img").write_bytes(self.content[:1000])
        return "$ the tool\nfine\n"

    def image(self, spec: ImageSpec = SPEC) -> BuiltImage:
        return build_image(self.tree, spec, self.lab, SilentProgress())


def tree_of(path: Path, name: str = "small", text: bytes = b"hello") -> SourceTree:
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("greeting")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    # The shape is of no interest to a builder.
    return SourceTree(name, path, file_sha256(path), None, "0" * 16)  # type: ignore[arg-type]


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("linux", "ffsagent"):
        (tmp_path / name).write_bytes(name.encode())
    lab = LabBuild(tmp_path / "linux", {}, tmp_path / "ffsagent", "build", Path("ffscrash"))
    made = Fakes(lab, tree_of(tmp_path / "tree.tar"))

    def find(name: str, _word: str = "") -> Tool:
        return Tool(name, Path(f"/usr/bin/{name}"), (), f"{name} 1.0", made.identity)

    monkeypatch.setattr(builders, "run_tools", made.run)
    monkeypatch.setattr(builders, "find_tool", find)
    monkeypatch.setattr(builders, "helper_tools", lambda: (find("sh"), find("tar")))
    monkeypatch.setattr(builders, "fix_uuid", lambda *_: None)
    monkeypatch.setattr(build, "missing_packages", lambda _: [])
    return made


def test_an_image_is_built_once(fakes: Fakes) -> None:
    first = fakes.image()
    assert first.path.read_bytes() == fakes.content
    assert first.sha256 == file_sha256(first.path)
    assert (first.image_bytes, first.flash_bytes, first.oob) == (5000, 3 * PAGE_BYTES, False)
    assert first.tool == "mkfs.jffs2 1.0"
    assert first.command.startswith("mkfs.jffs2 --root=/tree")
    assert fakes.image() == first
    assert len(fakes.runs) == 1


def test_the_key_is_there_before_the_image(fakes: Fakes) -> None:
    key = image_key(fakes.tree, SPEC, fakes.lab, SilentProgress())
    assert not fakes.runs
    assert fakes.image().key == key
    assert image_key(fakes.tree, with_tool("jffs2"), fakes.lab, SilentProgress()) != key


def test_an_image_with_summaries_is_another_and_names_its_tools(fakes: Fakes) -> None:
    plain, image = fakes.image(), fakes.image(replace(SPEC, summaries=True))
    assert image.path != plain.path
    assert image.image_bytes == 5000
    assert image.tool == "mkfs.jffs2 1.0, sumtool 1.0"
    assert " && sumtool " in image.command


def test_on_ubi_the_image_is_what_mkfs_wrote(fakes: Fakes) -> None:
    image = fakes.image(with_tool("squashfs"))
    assert (image.image_bytes, image.flash_bytes) == (1000, 3 * PAGE_BYTES)
    assert image.tool == "mksquashfs 1.0, ubinize 1.0"


def damage(path: Path) -> None:
    path.write_bytes(b"\1" + path.read_bytes()[1:])


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("harm", [damage, cut, Path.unlink])
def test_a_damaged_image_is_built_again(harm: Callable[[Path], None], fakes: Fakes) -> None:
    first = fakes.image()
    harm(first.path)
    assert fakes.image() == first
    assert first.path.read_bytes() == fakes.content
    assert len(fakes.runs) == 2


@pytest.mark.parametrize("text", ["", "{}", '{"sha256": 3}', "[]"])
def test_damaged_facts_are_built_again(text: str, fakes: Fakes) -> None:
    first = fakes.image()
    (first.path.parent / "complete.json").write_text(text)
    assert fakes.image() == first
    assert len(fakes.runs) == 2


def test_what_determines_the_bytes_names_the_image(fakes: Fakes, tmp_path: Path) -> None:
    paths = {fakes.image().path, fakes.image(with_tool("jffs2")).path}
    paths.add(fakes.image(replace(SPEC, pages_per_block=32)).path)
    fakes.identity = "another"  # the program, or a library of its
    paths.add(fakes.image().path)
    fakes.lab.kernel.write_bytes(b"another kernel")
    paths.add(fakes.image().path)
    fakes.tree = tree_of(tmp_path / "other.tar", text=b"other")
    paths.add(fakes.image().path)
    assert len(paths) == len(fakes.runs) == 6


def test_what_does_not_determine_the_bytes_builds_nothing(fakes: Fakes) -> None:
    path = fakes.image().path
    fakes.lab.agent.write_bytes(b"another agent")
    assert fakes.image(replace(SPEC, partition_blocks=500)).path == path
    assert len(fakes.runs) == 1


def test_a_failure_leaves_nothing_and_the_next_try_works(fakes: Fakes, tmp_path: Path) -> None:
    fakes.error = InfrastructureError("no space")
    with pytest.raises(InfrastructureError, match="no space"):
        fakes.image()
    left = [path for path in (tmp_path / "cache/ffslab/image").iterdir() if path.is_dir()]
    assert not left
    fakes.error = None
    assert fakes.image().path.exists()


def test_two_that_want_one_image_build_it_once(fakes: Fakes) -> None:
    built: list[BuiltImage] = []
    threads = [threading.Thread(target=lambda: built.append(fakes.image())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 4
    assert len(set(built)) == 1
    assert len(fakes.runs) == 1


def test_leftovers_of_a_killed_build_are_removed(fakes: Fakes) -> None:
    first = fakes.image()
    entry = first.path.parent
    leftover = entry.parent / f"tmp-{entry.name}"
    entry.rename(leftover)
    assert fakes.image() == first
    assert not leftover.exists()


# --- errors ---


def test_an_image_that_just_fits_and_one_that_does_not(fakes: Fakes) -> None:
    fakes.content = b"\0" * (3 * BLOCK_BYTES + 1)
    assert fakes.image(replace(SPEC, partition_blocks=4)).path.exists()
    with pytest.raises(SpecError) as raised:
        fakes.image(replace(SPEC, partition_blocks=3))
    assert "the image of small is larger than the partition of 384 KiB" in raised.value.message
    assert "needs 4 erase blocks of 128 KiB, the partition has 3" in raised.value.message


def test_an_image_without_a_byte_is_an_error(fakes: Fakes) -> None:
    fakes.content = b""
    for _ in range(2):  # when it is built, and when it is known
        with pytest.raises(SpecError, match="the image of small is empty") as raised:
            fakes.image()
        assert "no entries" in raised.value.cause


def test_ubi_needs_two_blocks_more(fakes: Fakes) -> None:
    fakes.content = b"\0" * (20 * BLOCK_BYTES)
    assert fakes.image(with_tool("squashfs", partition_blocks=22)).path.exists()
    with pytest.raises(SpecError, match="the partition has 21, of which UBI keeps 2\n"):
        fakes.image(with_tool("squashfs", partition_blocks=21))


def test_ubifs_refuses_a_small_partition_itself(fakes: Fakes) -> None:
    fakes.error = ToolFailedError("mkfs.ubifs", ["Error: max_leb_cnt too low (112 needed)"])
    with pytest.raises(SpecError, match=r"larger than the partition of 12\.5 MiB: .*needs 112"):
        fakes.image(with_tool("ubifs"))


def test_a_refusal_shows_what_the_tool_said_first_and_last(fakes: Fakes) -> None:
    lines = [f"line {number}" for number in range(20)]
    fakes.error = ToolFailedError("mkfs.jffs2 -x bogus", [*lines, "Unknown compressor name bogus"])
    with pytest.raises(SpecError) as raised:
        fakes.image(with_tool("jffs2", "-x", "bogus"))
    assert "mkfs.jffs2 -x bogus" in raised.value.message
    assert raised.value.message.endswith("    Unknown compressor name bogus")
    assert "    line 2\n    […]\n    line 16\n" in raised.value.message


@pytest.mark.parametrize("word", ["", "a b", "a\nb"])
def test_an_option_is_one_word(word: str, fakes: Fakes) -> None:
    with pytest.raises(SpecError, match="cannot be given to a tool"):
        fakes.image(with_tool("jffs2", word))
    assert not fakes.runs


def test_missing_programs_are_named_where_there_is_no_apt(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "is_debian", lambda: False)
    monkeypatch.setattr(packages, "_witness_exists", lambda witness: witness != "mksquashfs")
    monkeypatch.setattr(build, "missing_packages", packages.missing_packages)
    assert [package.name for package in missing_tools("squashfs")] == ["squashfs-tools"]
    assert missing_tools("jffs2") == []
    with pytest.raises(InfrastructureError) as raised:
        fakes.image(with_tool("squashfs"))
    assert "mksquashfs (builds images of SquashFS)" in raised.value.message
    assert "squashfs-tools" in raised.value.remedy
    assert not fakes.runs


# --- YAFFS2, which needs no guest ---


def test_yaffs2_is_pages_with_oob(fakes: Fakes) -> None:
    image = fakes.image(with_tool("yaffs2"))
    assert image.oob
    assert image.path.stat().st_size == 64 * (PAGE_BYTES + 64)
    # Headers of the root directory and of the file, and the file's page.
    assert image.image_bytes == image.flash_bytes == 3 * PAGE_BYTES
    assert image.tool.startswith("ffslab mkfs yaffs2")
    assert not fakes.runs


def test_yaffs2_has_options_of_its_own(fakes: Fakes) -> None:
    paths = {
        fakes.image(with_tool("yaffs2", *words)).path
        for words in ((), ("--inband",), ("--no-tags-ecc",), ("--inband", "--no-summary"))
    }
    assert len(paths) == 4
    with pytest.raises(SpecError, match="unknown image option '-x'"):
        fakes.image(with_tool("yaffs2", "-x", "lzo"))


def test_the_layout_of_yaffs2_is_an_option_with_a_value(fakes: Fakes) -> None:
    filesystem = load_catalog().filesystems["yaffs2-improved"]
    setup = mount_setup(filesystem, {"options.layout": "segregated"}, "here")
    assert setup.image_options == ("--layout", "segregated")
    assert "layout=segregated" in setup.mount_options
    image = fakes.image(with_tool("yaffs2", *setup.image_options))
    assert image.command.endswith("--layout segregated")
    assert check_image(image.path).layout == "segregated"
    assert fakes.image(with_tool("yaffs2")).sha256 != image.sha256
    original = fakes.image(with_tool("yaffs2", "--layout", "original"))
    assert original.sha256 == fakes.image(with_tool("yaffs2")).sha256
    for words in (("--layout",), ("--layout", "other")):
        with pytest.raises(SpecError, match="is not a layout"):
            fakes.image(with_tool("yaffs2", *words))


def test_yaffs2_larger_than_the_partition(fakes: Fakes, tmp_path: Path) -> None:
    fakes.tree = tree_of(tmp_path / "large.tar", text=b"x" * 3 * BLOCK_BYTES)
    with pytest.raises(SpecError, match="needs 4 erase blocks of 128 KiB, the partition has 3"):
        fakes.image(with_tool("yaffs2", partition_blocks=3))


# --- LogFS, likewise ---


def test_logfs_is_as_long_as_the_partition(fakes: Fakes) -> None:
    image = fakes.image(with_tool("logfs"))
    assert not image.oob
    assert image.path.stat().st_size == 100 * BLOCK_BYTES
    # In pages of 2 KiB: superblocks 2 and 2, a commit 2; data, dentry and segment file of
    # 24 + 4124 + 294 + 4124 bytes 5; three inodes, 24 + 3 * 228, 1; the indirect block that
    # leads to inode 17, 24 + 4124, 3.
    assert image.image_bytes == image.flash_bytes == 15 * PAGE_BYTES
    assert image.tool.startswith("ffslab mkfs logfs")
    assert not logfs.check_image(image.path).problems
    assert not fakes.runs
    # The tool is told how large the partition is.
    other = fakes.image(with_tool("logfs", partition_blocks=101))
    assert other.path.stat().st_size == 101 * BLOCK_BYTES
    assert f"--partition-bytes={101 * BLOCK_BYTES}" in other.command


def test_logfs_compresses_if_the_catalog_says_so(fakes: Fakes, tmp_path: Path) -> None:
    fakes.tree = tree_of(tmp_path / "text.tar", text=b"the same again " * 10_000)
    filesystem = load_catalog().filesystems["logfs"]
    images = {}
    for value in ("none", "zlib"):
        setup = mount_setup(filesystem, {"options.compression": value}, "here")
        images[value] = fakes.image(with_tool("logfs", *setup.image_options))
        content = logfs.read_tree(images[value].path)["/greeting"].content
        assert content == b"the same again " * 10_000
    assert images["zlib"].image_bytes < images["none"].image_bytes / 4
    with pytest.raises(SpecError, match="logfs: unknown image option '-x'"):
        fakes.image(with_tool("logfs", "-x"))


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (26, "the partition has 26 good segments of 128 KiB; LogFS needs 27"),
        (30, "the tree does not fit into the partition"),
    ],
)
def test_logfs_larger_than_the_partition(
    blocks: int, reason: str, fakes: Fakes, tmp_path: Path
) -> None:
    fakes.tree = tree_of(tmp_path / "large.tar", text=b"x" * 30 * BLOCK_BYTES)
    with pytest.raises(
        SpecError, match="the image of small is larger than the partition"
    ) as raised:
        fakes.image(with_tool("logfs", partition_blocks=blocks))
    assert reason in raised.value.message


# --- what is refused ---


def test_words_that_reach_no_tool_are_refused_when_the_image_is_built(fakes: Fakes) -> None:
    spec = with_tool("jffs2", "-x zlib")
    assert len(image_key(fakes.tree, spec, fakes.lab, SilentProgress())) == 64
    with pytest.raises(SpecError, match="'-x zlib' cannot be given to a tool"):
        fakes.image(spec)


def test_what_yaffs2_cannot_store_is_refused_like_another_tools_word(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("a name is too long for YAFFS2", remedy="a shorter one")

    monkeypatch.setattr("ffslab.yaffs2.mkfs.make_image", refuse)
    with pytest.raises(SpecError, match="too long for YAFFS2") as raised:
        fakes.image(with_tool("yaffs2"))
    assert raised.value.remedy == "a shorter one"


def test_a_name_that_mkfs_erofs_cannot_store_is_the_reason_given(
    fakes: Fakes, tmp_path: Path
) -> None:
    fakes.error = ToolFailedError("mkfs.erofs", ["No such file or directory"])
    with pytest.raises(SpecError, match="a tool failed"):
        fakes.image(with_tool("erofs"))
    with tarfile.open(tmp_path / "long.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("d/" + "n" * 255))
    fakes.tree = replace(fakes.tree, tar=tmp_path / "long.tar")
    with pytest.raises(SpecError, match="names of at most 254 bytes, and one is longer: nnn"):
        fakes.image(with_tool("erofs"))
