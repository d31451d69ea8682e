"""Reports on LogFS images as lines of text and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ffslab.fsimage.show import (
    counted,
    head_lines,
    image_document,
    objects_text,
    result_text,
    wrapped,
)
from ffslab.logfs.check import Report
from ffslab.model.units import format_size

_SEGMENTS = ("bad", "reserved", "in_use", "free")


def summary_lines(report: Report) -> Iterator[str]:
    """What the image is and holds."""
    statistics, superblock = report.statistics, report.superblock
    yield from head_lines(report, "LogFS", report.geometry.describe())
    if superblock is not None:
        size = format_size(1 << superblock.segment_shift)
        first = f" from block {report.first_block} on" if report.first_block else ""
        kinds = ", ".join(
            f"{statistics[f'segments_{name}']} {name.replace('_', ' ')}" for name in _SEGMENTS
        )
        total = format_size(superblock.fs_bytes)
        yield from wrapped("segments", f"{superblock.segments} of {size} ({total}){first}: {kinds}")
    journal = ", ".join(
        (
            counted(statistics["commits"], "commit", "commits"),
            counted(statistics["aliases"], "alias", "aliases"),
            counted(statistics["areas"], "open area", "open areas"),
            f"global erase count {statistics['gec']}",
        )
    )
    yield from wrapped("journal", journal)
    live = counted(statistics["objects"], "live object", "live objects")
    yield from wrapped(
        "flash",
        f"{live} of {statistics['used_bytes']:,} bytes; "
        f"{statistics['objects_uncommitted']} not committed",
    )
    yield from wrapped("objects", objects_text(statistics))
    yield from wrapped("result", result_text(report))


def report_document(report: Report) -> dict[str, Any]:
    """The report as JSON; `docs/logfs-tools.md` describes it."""
    superblock = report.superblock
    segment_bytes = superblock and 1 << superblock.segment_shift
    return image_document(report, {"segment_bytes": segment_bytes}, {})
