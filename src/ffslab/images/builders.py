"""The two ways to build an image: tools in a guest, and ffslab's own mkfs for YAFFS2 and LogFS.

A builder says first what determines the bytes that it will write, so that the cache can be asked.
"""

from __future__ import annotations

import os
import re
import tarfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffslab import __version__
from ffslab.errors import SpecError, UsageError
from ffslab.images.cache import unchanged_sha256
from ffslab.images.pages import programmed_pages, programmed_raw_pages
from ffslab.images.toolguest import (
    OUT_NAME,
    ToolFailedError,
    ToolJob,
    find_tool,
    helper_tools,
    run_tools,
)
from ffslab.images.tools import FLASH_FILE, VERSION_WORDS, Recipe, recipe
from ffslab.images.ubifs_uuid import UUID, fix_uuid
from ffslab.lab.cache import hash_files
from ffslab.model.units import format_size

if TYPE_CHECKING:
    from ffslab.images.source import SourceTree
    from ffslab.images.spec import ImageSpec
    from ffslab.lab.lab_build import LabBuild
    from ffslab.logfs import mkfs as logfs_mkfs
    from ffslab.targets.running import GuestSlot
    from ffslab.yaffs2.format import Layout
    from ffslab.yaffs2.mkfs import MkfsOptions

_LOG_CHARACTERS = 16_384  # of a tool's output that is kept; its end
_FIRST_LINES, _LAST_LINES = 3, 5  # of a tool's output that are shown if it fails
_EROFS_NAME_BYTES = 254  # of mkfs.erofs 1.5: one less than EROFS itself could
_YAFFS2_WORDS = ("--inband", "--no-summary", "--no-tags-ecc")
_YAFFS2_LAYOUT = "--layout"  # a word with the layout's name follows
_LOGFS_COMPRESS = "--compress"


@dataclass(frozen=True, slots=True)
class Output:
    """What a builder wrote; sizes in bytes, as docs/images.md defines them."""

    flash_file: Path
    image_bytes: int
    flash_bytes: int
    log: str


@dataclass(frozen=True, slots=True)
class Builder:
    """A way to build one image. `inputs` determine its bytes, together with the tree.

    `build` writes into the empty directory that it is given. It raises SpecError if the tool
    refuses its options or the tree, InfrastructureError if the guest or the disk fails,
    BuildStoppedError if the guest was killed.
    """

    inputs: dict[str, Any]
    tool: str
    command: str
    oob: bool
    build: Callable[[SourceTree, Path, GuestSlot], Output]


def builder_for(tree: SourceTree, spec: ImageSpec, lab: LabBuild) -> Builder:
    """How the image of `tree` is built; the programs must be there."""
    own = {"yaffs2": _yaffs2_builder, "logfs": _logfs_builder}.get(spec.tool)
    return own(spec) if own else _guest_builder(tree, spec, lab)


def larger_than_partition(name: str, spec: ImageSpec, needed_blocks: int) -> SpecError:
    """The error of an image that needs so many erase blocks."""
    kept = spec.partition_blocks - spec.usable_blocks
    ubi = f", of which UBI keeps {kept}" if kept else ""
    return _too_large(
        name,
        spec,
        f"{spec.tool} needs {needed_blocks} erase blocks of {format_size(spec.block_bytes)}, the "
        f"partition has {spec.partition_blocks}{ubi}",
    )


def _too_large(name: str, spec: ImageSpec, reason: str) -> SpecError:
    size = format_size(spec.partition_bytes)
    return SpecError(
        f"the image of {name} is larger than the partition of {size}: {reason}",
        remedy="a larger partition, stronger compression, or a smaller tree",
    )


def check_words(spec: ImageSpec) -> None:
    """SpecError for options that would not reach the tool as they are."""
    for word in (*spec.options, spec.volume):
        if not word or not word.isprintable() or " " in word:
            raise SpecError(
                f"{spec.tool}: {word!r} cannot be given to a tool",
                cause="image_options is a list of words, each without spaces",
            )


# --- tools in a guest ---


def _guest_builder(tree: SourceTree, spec: ImageSpec, lab: LabBuild) -> Builder:
    steps = recipe(spec)
    tools = tuple(find_tool(name, VERSION_WORDS[name]) for name in steps.programs)
    job = ToolJob(
        tools=(*tools, *helper_tools()),
        commands=steps.commands,
        files=steps.files,
        tree_bytes=tree.tar.stat().st_size,
    )
    return Builder(
        inputs={
            "arguments": list(job.arguments),
            "plan": job.plan,
            "script": job.script,
            "files": [list(file) for file in job.files],
            "tools": [tool.identity for tool in job.tools],
            # The kernel has an order in which a directory is read; the agent only starts things.
            "kernel": unchanged_sha256(lab.kernel),
            "uuid": UUID.hex(),
            # The image does not depend on it, but what is counted in it does.
            "pages": [spec.page_bytes, spec.pages_per_block],
        },
        tool=", ".join(tool.version for tool in tools),
        command=steps.text,
        oob=False,
        build=lambda source, scratch, slot: _output(
            lambda directory: run_tools(job, source.tar, lab, directory, slot),
            steps,
            source,
            spec,
            scratch / "guest",
        ),
    )


def _output(
    run: Callable[[Path], str], steps: Recipe, tree: SourceTree, spec: ImageSpec, directory: Path
) -> Output:
    directory.mkdir()
    try:
        log = run(directory)
    except ToolFailedError as error:
        raise _refused(error, tree, spec) from error
    out = directory / OUT_NAME
    if spec.tool == "ubifs":
        fix_uuid(out / FLASH_FILE, spec.block_bytes, spec.ubi_data_offset)
    pages = programmed_pages(out / FLASH_FILE, spec.page_bytes, spec.pages_per_block)
    return Output(
        flash_file=out / FLASH_FILE,
        image_bytes=(out / steps.image_name).stat().st_size,
        flash_bytes=pages * spec.page_bytes,
        log=log[-_LOG_CHARACTERS:],
    )


def _refused(error: ToolFailedError, tree: SourceTree, spec: ImageSpec) -> SpecError:
    """What a tool that failed has to say; one failure has a name of ours."""
    text = "\n".join(error.lines)
    too_many = re.search(r"max_leb_cnt too low \((\d+) needed\)", text)
    if too_many:
        return larger_than_partition(tree.name, spec, int(too_many[1]))
    too_long = _long_name(tree.tar) if spec.tool == "erofs" else ""
    if too_long:
        return SpecError(
            f"no image of {tree.name}: mkfs.erofs stores names of at most {_EROFS_NAME_BYTES} "
            f"bytes, and one is longer: {too_long[:40]}…",
            cause="a limit of that tool; its own words say only that a file is missing",
            remedy="a shorter name, or another file system",
        )
    lines = error.lines
    if len(lines) > _FIRST_LINES + _LAST_LINES:
        # Some say what is wrong and then how they are used.
        lines = (*lines[:_FIRST_LINES], "[…]", *lines[-_LAST_LINES:])
    shown = "\n".join("    " + line for line in lines)
    return SpecError(
        f"no image of {tree.name}: a tool failed: {error.command}\n{shown}",
        cause="an option that this version of the tool does not have, a tree that the file system "
        "cannot hold, or a partition that is too small for it",
        remedy="see the tool's own words above; the catalog's image_options are its options",
    )


def _long_name(archive: Path) -> str:
    """A name in the tree that mkfs.erofs cannot store; empty if there is none."""
    with tarfile.open(archive) as members:
        for member in members:
            name = member.name.rpartition("/")[2]
            if len(os.fsencode(name)) > _EROFS_NAME_BYTES:
                return name
    return ""


# --- ffslab's own mkfs ---


def _own_inputs(spec: ImageSpec, *further: str) -> dict[str, Any]:
    """The command, with words of the file system's own, and the sources of what carries it out."""
    package = Path(__file__).resolve().parents[1]
    sources = (path for part in ("fsimage", spec.tool) for path in (package / part).rglob("*.py"))
    words = [
        *("ffslab", "mkfs", spec.tool, "TREE", "IMAGE", f"--page-bytes={spec.page_bytes}"),
        *(*further, f"--pages-per-block={spec.pages_per_block}", *spec.options),
    ]
    return {"command": words, "program": hash_files(package, sources)}


def _check_known(spec: ImageSpec, words: Sequence[str], known: Sequence[str]) -> None:
    """SpecError for a word that mkfs does not take from a catalog."""
    unknown = [word for word in words if word not in known]
    if unknown:
        raise SpecError(
            f"{spec.tool}: unknown image option {unknown[0]!r}",
            remedy=f"one of: {', '.join(known)}",
        )


def _own_output(file: Path, page_bytes: int, raw_bytes: int, warnings: Sequence[str]) -> Output:
    programmed = programmed_raw_pages(file, raw_bytes) * page_bytes
    return Output(file, programmed, programmed, "\n".join(warnings))


# --- YAFFS2 ---


def _yaffs2_builder(spec: ImageSpec) -> Builder:
    inputs = _own_inputs(spec, f"--oob-bytes={spec.oob_bytes}")
    return Builder(
        inputs=inputs,
        tool=f"ffslab mkfs yaffs2 {__version__}",
        command=" ".join(inputs["command"]),
        oob=True,
        build=lambda tree, scratch, _: _make_yaffs2(tree, _yaffs2_options(spec), scratch),
    )


def _yaffs2_options(spec: ImageSpec) -> MkfsOptions:
    from ffslab.yaffs2.format import Geometry
    from ffslab.yaffs2.mkfs import MkfsOptions

    layout, words = _yaffs2_layout(spec.options)
    _check_known(spec, words, (*_YAFFS2_WORDS, _YAFFS2_LAYOUT))
    inband = "--inband" in spec.options
    geometry = Geometry(
        page_bytes=spec.page_bytes,
        oob_bytes=spec.oob_bytes,
        pages_per_block=spec.pages_per_block,
        oob_offset=0 if inband else Geometry().oob_offset,
        inband=inband,
        tags_ecc="--no-tags-ecc" not in spec.options,
    )
    summaries = "--no-summary" not in spec.options
    return MkfsOptions(geometry=geometry, summaries=summaries, layout=layout)


def _yaffs2_layout(options: Sequence[str]) -> tuple[Layout, list[str]]:
    """The layout that the word behind --layout names, and the other words."""
    from ffslab.yaffs2.format import Layout

    words = list(options)
    if _YAFFS2_LAYOUT not in words:
        return Layout.ORIGINAL, words
    at = words.index(_YAFFS2_LAYOUT)
    name = "".join(words[at + 1 : at + 2])
    if name not in list(Layout):
        raise SpecError(
            f"yaffs2: {_YAFFS2_LAYOUT} {name!r} is not a layout",
            remedy=f"one of: {', '.join(Layout)}",
        )
    return Layout(name), words[:at] + words[at + 2 :]


def _make_yaffs2(tree: SourceTree, options: MkfsOptions, scratch: Path) -> Output:
    from ffslab.yaffs2.mkfs import make_image

    try:
        result = make_image(tree.tar, scratch / FLASH_FILE, options)
    except UsageError as error:
        raise SpecError(error.message, cause=error.cause, remedy=error.remedy) from error
    geometry = options.geometry
    raw_bytes = geometry.raw_page_bytes
    return _own_output(scratch / FLASH_FILE, geometry.page_bytes, raw_bytes, result.warnings)


# --- LogFS ---


def _logfs_builder(spec: ImageSpec) -> Builder:
    """An image as long as the partition, at whose end it has a superblock; no block of it is bad.

    What the flasher does with bad blocks is in docs/images.md.
    """
    inputs = _own_inputs(spec, f"--partition-bytes={spec.partition_bytes}")
    return Builder(
        inputs={**inputs, "zlib": zlib.ZLIB_RUNTIME_VERSION},
        tool=f"ffslab mkfs logfs {__version__}, zlib {zlib.ZLIB_RUNTIME_VERSION}",
        command=" ".join(inputs["command"]),
        oob=False,
        build=lambda tree, scratch, _: _make_logfs(tree, spec, scratch),
    )


def _logfs_options(spec: ImageSpec) -> logfs_mkfs.MkfsOptions:
    from ffslab.logfs.image import PageGeometry
    from ffslab.logfs.mkfs import MkfsOptions

    _check_known(spec, spec.options, (_LOGFS_COMPRESS,))
    return MkfsOptions(
        partition_bytes=spec.partition_bytes,
        geometry=PageGeometry(spec.page_bytes, 0, spec.pages_per_block),
        compress=_LOGFS_COMPRESS in spec.options,
    )


def _make_logfs(tree: SourceTree, spec: ImageSpec, scratch: Path) -> Output:
    from ffslab.logfs.mkfs import make_image
    from ffslab.logfs.writer import PartitionTooSmallError

    file = scratch / FLASH_FILE
    try:
        result = make_image(tree.tar, file, _logfs_options(spec))
    except PartitionTooSmallError as error:
        raise _too_large(tree.name, spec, error.message) from error
    except UsageError as error:
        raise SpecError(error.message, cause=error.cause, remedy=error.remedy) from error
    return _own_output(file, spec.page_bytes, spec.page_bytes, result.warnings)
