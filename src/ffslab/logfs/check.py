"""Checking and reading whole images: what the command line and tests use.

    report = check_image(Path("flash"), ImageOptions(first_block=16, blocks=64))
    assert not report.errors, report.text()
    tree = read_tree(Path("flash"))
    assert tree["/a/b"].content == b"..."

The tree is what a mount shows after its recovery.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ffslab.fsimage.flashfile import ImageOptions
from ffslab.fsimage.node import Node, by_path
from ffslab.fsimage.problems import ImageReport, Rule
from ffslab.logfs.check_segments import check_segments, is_bad, reserved_segments
from ffslab.logfs.check_tree import check_tree
from ffslab.logfs.format import Superblock
from ffslab.logfs.image import OpenedImage, PageGeometry, open_image
from ffslab.logfs.mount import Mounted, mount, read_superblock
from ffslab.logfs.problems import RULES, Problems, Where
from ffslab.logfs.tree import Tree

_COUNTED = (
    *("segments", "segments_bad", "segments_reserved", "segments_in_use", "segments_free"),
    *("used_bytes", "objects", "gec", "commits", "aliases", "areas", "objects_uncommitted"),
    *("objects_file", "objects_directory", "objects_symlink", "objects_hardlink"),
    *("objects_special", "file_bytes"),
)


@dataclass(frozen=True, slots=True)
class Report(ImageReport[Where]):
    """What a check found. `statistics` are counts by name; `superblock` is None without one."""

    rules: ClassVar[Mapping[str, Rule]] = RULES
    geometry: PageGeometry
    superblock: Superblock | None

    @property
    def shows_no_image(self) -> bool:
        """Whether nothing in the file speaks for a LogFS image."""
        return self.superblock is None


@dataclass(frozen=True, slots=True)
class CheckedImage:
    """An opened image with everything that was learned of it; `tree` is None without a mount."""

    image: OpenedImage
    report: Report
    tree: Tree | None

    def nodes(self) -> list[Node]:
        return self.tree.nodes() if self.tree else []


def check_image(path: Path, options: ImageOptions | None = None) -> Report:
    """Verifies every rule of the format.

    Raises UsageError for a file that does not exist or options that cannot be, and
    InfrastructureError for one that cannot be read. Damage is never an exception.
    """
    return examine(path, options).report


def read_tree(path: Path, options: ImageOptions | None = None) -> dict[str, Node]:
    """Everything that a mount finds below "/", by absolute path; "/" is the root directory.

    Of two names with the same path (a violation) the later one is missing. Exceptions are those
    of `check_image`.
    """
    return by_path(examine(path, options).nodes())


def examine(path: Path, options: ImageOptions | None = None) -> CheckedImage:
    """Checks, and keeps the tree."""
    image = open_image(path, options)
    device = image.device
    problems = Problems()
    for rule, message in image.problems:
        problems.add(rule, message)
    superblock = read_superblock(device, image.superblock, problems)
    mounted = mount(device, superblock, problems) if superblock else None
    tree = None
    if mounted is not None:
        tree = Tree(mounted)
        check_tree(mounted, tree, problems)
        check_segments(device, mounted, problems)
    report = Report(
        path=path,
        file_format="lab" if device.pages.is_lab else "raw",
        geometry=device.geometry,
        geometry_source=image.source,
        first_block=device.pages.first_block,
        blocks=device.pages.blocks,
        superblock=image.superblock,
        statistics=_statistics(mounted, tree),
        problems=problems.sorted(),
        counts=dict(problems.counts),
    )
    return CheckedImage(image, report, tree)


def _statistics(mounted: Mounted | None, tree: Tree | None) -> dict[str, int]:
    counts = dict.fromkeys(_COUNTED, 0)
    if mounted is None or tree is None:
        return counts
    in_use = {*mounted.store.valid_bytes, *(area.segno for area in mounted.store.areas)}
    counts["segments"] = mounted.superblock.segments
    counts["segments_bad"] = sum(map(is_bad, mounted.entries))
    counts["segments_reserved"] = len(reserved_segments(mounted))
    counts["segments_in_use"] = len(in_use)
    counts["segments_free"] = counts["segments"] - sum(
        counts[f"segments_{name}"] for name in ("bad", "reserved", "in_use")
    )
    counts["used_bytes"] = sum(mounted.store.valid_bytes.values())
    counts["objects"] = mounted.store.objects
    counts["gec"] = mounted.dynamic.gec
    counts["commits"] = mounted.journal.commits
    counts["aliases"] = len(mounted.journal.aliases)
    counts["areas"] = len(mounted.store.areas)
    counts["objects_uncommitted"] = mounted.tail_objects
    kinds: Counter[str] = Counter()
    for node in tree.nodes():
        kinds["hardlink" if node.link_of else node.type] += 1
        if stat.S_ISREG(node.mode) and not node.link_of:
            counts["file_bytes"] += node.size
    for kind, number in kinds.items():
        counts[f"objects_{kind}"] = number
    return counts
