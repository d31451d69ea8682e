"""Reports on YAFFS2 images as lines of text and as JSON documents."""

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
from ffslab.model.units import format_size
from ffslab.yaffs2.check import Report
from ffslab.yaffs2.format import Layout
from ffslab.yaffs2.segregated.marks import POSITION_PAGES

_STATISTICS = ("bad", "erased", "data", "checkpoint", "ignored")


def summary_lines(report: Report) -> Iterator[str]:
    """What the image is and holds."""
    statistics = report.statistics
    segregated = report.layout is Layout.SEGREGATED
    layout = ", segregated layout" if segregated else ""
    yield from head_lines(report, f"YAFFS2{layout}", report.geometry.describe())
    size = format_size(report.blocks * report.geometry.block_bytes)
    first = f" from block {report.first_block} on" if report.first_block else ""
    names = (*_STATISTICS[:2], "metadata", *_STATISTICS[2:]) if segregated else _STATISTICS
    kinds = ", ".join(f"{statistics[f'blocks_{name}']} {name}" for name in names)
    yield from wrapped("blocks", f"{report.blocks}{first} ({size}): {kinds}")
    pages = f"{statistics['pages_written']} written, {statistics['pages_live']} in use"
    sequence = statistics["newest_sequence"]
    newest = f", newest block {sequence:#x}" if sequence else ""
    yield from wrapped("pages", f"{pages}; {statistics['summaries']} block summaries{newest}")
    if segregated:
        yield from wrapped("index", _index_text(statistics))
    yield from wrapped("objects", objects_text(statistics))
    checkpoint = report.checkpoint
    extent = ""
    if checkpoint.blocks:
        pages = counted(checkpoint.pages, "page", "pages")
        extent = f" ({pages} in {counted(checkpoint.blocks, 'block', 'blocks')})"
    yield from wrapped("checkpoint", f"{checkpoint.state}{extent}")
    yield from wrapped("result", result_text(report))


def _index_text(statistics: dict[str, int]) -> str:
    """What the segregated layout has beside the headers."""
    pages = counted(statistics["index_pages"], "index page", "index pages")
    newer = counted(statistics["pages_by_tags"], "data page", "data pages")
    sequence, page = divmod(statistics["horizon"], POSITION_PAGES)
    void = counted(statistics["pages_void"], "void page", "void pages")
    return f"{pages}, {void}; {newer} newer than the index; horizon {sequence:#x} page {page}"


def report_document(report: Report) -> dict[str, Any]:
    """The report as JSON; `docs/yaffs2-tools.md` describes it."""
    geometry = report.geometry
    tags = {
        "oob_offset": None if geometry.inband else geometry.oob_offset,
        "inband": geometry.inband,
        "tags_ecc": geometry.has_ecc,
    }
    layout = {"layout": report.layout.value} if report.layout is Layout.SEGREGATED else {}
    return image_document(report, tags, {**layout, "checkpoint": report.checkpoint.state})
