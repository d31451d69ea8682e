"""Checking and reading whole images: what the command line and tests use.

    report = check_image(Path("flash"), ImageOptions(first_block=16, blocks=64))
    assert not report.errors, report.text()
    tree = read_tree(Path("flash"))
    assert tree["/a/b"].content == b"..."

The tree is what a mount finds, before anything is deleted. It comes from a scan; of a checkpoint
that a mount would accept it has the sizes of files that grew without data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ffslab.fsimage.node import Node, by_path
from ffslab.fsimage.problems import ImageReport, Rule
from ffslab.yaffs2.check_checkpoint import CheckpointState, check_checkpoint
from ffslab.yaffs2.check_headers import check_headers
from ffslab.yaffs2.check_pages import check_pages
from ffslab.yaffs2.check_tree import check_tree
from ffslab.yaffs2.checkpoint_read import FoundCheckpoint, read_checkpoint
from ffslab.yaffs2.detect import ImageOptions, OpenedImage, open_image
from ffslab.yaffs2.format import TYPE_NAMES, Geometry, Layout, ObjectType
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import Mounted, grow_files
from ffslab.yaffs2.mounting import mount_flash
from ffslab.yaffs2.problems import RULES, Problems, Where
from ffslab.yaffs2.scan import LOG_KINDS, BlockKind, FlashScan, scan_flash
from ffslab.yaffs2.segregated.check import check_refusal, check_segregated
from ffslab.yaffs2.segregated.check_checkpoint import SegregatedCheckpointCheck
from ffslab.yaffs2.segregated.mount import SegregatedMounted
from ffslab.yaffs2.tree import NamedNodes, Tree, build_tree, nodes


@dataclass(frozen=True, slots=True)
class Report(ImageReport[Where]):
    """What a check found.

    `statistics` are counts by name; `checkpoint.state` is none, incomplete, invalid or valid;
    `geometry_source` says how the geometry was found.
    """

    rules: ClassVar[Mapping[str, Rule]] = RULES
    geometry: Geometry
    checkpoint: CheckpointState
    layout: Layout = Layout.ORIGINAL

    @property
    def shows_no_image(self) -> bool:
        """Whether nothing in the file speaks for a YAFFS2 image: no tags, and no erased block."""
        if self.file_format == "lab":
            return False
        nothing_erased = not self.statistics["blocks_erased"]
        return "image-no-tags" in self.counts or (
            "image-erased" in self.counts and (nothing_erased or not self.blocks)
        )


@dataclass(frozen=True, slots=True)
class CheckedImage:
    """An opened image with everything that was learned of it."""

    image: OpenedImage
    report: Report
    tree: Tree

    def nodes(self) -> list[Node]:
        return list(nodes(self.tree, self.image.flash))

    def names(self) -> NamedNodes:
        """The tree as it is extracted."""
        return NamedNodes(self.tree, self.image.flash)


def check_image(path: Path, options: ImageOptions | None = None) -> Report:
    """Verifies every rule of the format.

    Raises UsageError for a file that does not exist or options that cannot be, and
    InfrastructureError for one that cannot be read. Damage is never an exception.
    """
    return examine(path, options).report


def read_tree(path: Path, options: ImageOptions | None = None) -> dict[str, Node]:
    """Everything that a mount finds below "/", by absolute path; "/" is the root directory.

    Of two objects with the same path (a violation) the later one is missing. Exceptions are
    those of `check_image`.
    """
    image = open_image(path, options)
    scan = scan_flash(image.flash, image.layout)
    tree = build_tree(_mount(image.flash, scan, read_checkpoint(image.flash, image.layout)))
    return by_path(nodes(tree, image.flash))


def examine(path: Path, options: ImageOptions | None = None) -> CheckedImage:
    """Checks, and keeps the tree."""
    image = open_image(path, options)
    flash = image.flash
    problems = Problems()
    for rule, message in image.problems:
        problems.add(rule, message)
    scan = scan_flash(flash, image.layout)
    stored = read_checkpoint(flash, image.layout)
    mounted = _mount(flash, scan, stored)
    tree = build_tree(mounted)
    checkpoint = _check(flash, scan, stored, mounted, tree, problems)
    report = Report(
        path=path,
        file_format="lab" if flash.is_lab else "raw",
        geometry=flash.geometry,
        geometry_source=image.source,
        first_block=flash.first_block,
        blocks=flash.blocks,
        checkpoint=checkpoint,
        statistics=_statistics(scan, mounted, tree),
        problems=problems.sorted(),
        counts=dict(problems.counts),
        layout=image.layout,
    )
    return CheckedImage(image, report, tree)


def _check(
    flash: FlashImage,
    scan: FlashScan,
    stored: FoundCheckpoint,
    mounted: Mounted,
    tree: Tree,
    problems: Problems,
) -> CheckpointState:
    """All checks of what was read."""
    checker = None
    if isinstance(mounted, SegregatedMounted):
        if check_refusal(scan, mounted, problems):
            return CheckpointState("none")
        checker = SegregatedCheckpointCheck
    _check_any_tags(scan, problems)
    check_pages(flash, scan, mounted, problems)
    check_headers(flash, scan, problems)
    if isinstance(mounted, SegregatedMounted):
        check_segregated(flash, scan, mounted, problems)
    check_tree(flash, mounted, tree, problems)
    return check_checkpoint(scan, stored, mounted, tree, problems, checker)


def _mount(flash: FlashImage, scan: FlashScan, checkpoint: FoundCheckpoint) -> Mounted:
    mounted = mount_flash(flash, scan)
    if checkpoint.parsed is not None:
        grow_files(mounted, checkpoint.parsed, flash.geometry)
    return mounted


def _check_any_tags(scan: FlashScan, problems: Problems) -> None:
    written = [record for record in scan.blocks if record.pages]
    if not written:
        problems.add("image-erased", "no page is written")
    elif not any(scanned.readable for record in written for scanned in record.pages):
        problems.add("image-no-tags", "no written page has tags that can be read")


def _statistics(scan: FlashScan, mounted: Mounted, tree: Tree) -> dict[str, int]:
    kinds = Counter(record.kind for record in scan.blocks)
    written = sum(len(record.pages) for record in scan.blocks)
    shown = [tree.objects[object_id] for object_id in tree.rooted()]
    types = Counter(obj.object_type for obj in shown)
    segregated = isinstance(mounted, SegregatedMounted)
    statistics = {
        f"blocks_{kind.value}": kinds[kind]
        for kind in BlockKind
        if segregated or kind is not BlockKind.METADATA
    }
    statistics["blocks_partial"] = sum(
        0 <= record.last_page < scan.geometry.pages_per_block - 1
        for record in scan.of_kind(*LOG_KINDS)
    )
    statistics["summaries"] = sum(record.summary_valid for record in scan.blocks)
    statistics["pages_written"] = written
    statistics["pages_live"] = len(mounted.live) + len(mounted.summary_pages)
    statistics["newest_sequence"] = scan.newest_sequence
    for kind in ObjectType:
        if kind is not ObjectType.UNKNOWN:
            statistics[f"objects_{TYPE_NAMES[kind]}"] = types[kind]
    statistics["file_bytes"] = sum(obj.size for obj in shown if obj.object_type is ObjectType.FILE)
    if isinstance(mounted, SegregatedMounted):
        pieces = [piece for file in mounted.files.values() for piece in file.pieces.values()]
        statistics["index_pages"] = sum(not piece.in_header for piece in pieces)
        statistics["pages_by_tags"] = sum(len(file.newer) for file in mounted.files.values())
        statistics["pages_void"] = len(mounted.void_pages)
        statistics["horizon"] = mounted.horizon
    return statistics
