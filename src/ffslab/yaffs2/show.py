"""Reports and trees as lines of text and as JSON documents.

Names are bytes on flash. In text, what cannot be printed is escaped (`\\x1b`), so that a name
cannot move the cursor; in JSON, bytes that are no UTF-8 are escaped in the same way.
"""

from __future__ import annotations

import stat
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ffslab.model.units import format_size
from ffslab.yaffs2.check import Report
from ffslab.yaffs2.findings import RULES, Finding, Severity
from ffslab.yaffs2.format import Layout
from ffslab.yaffs2.segregated.marks import POSITION_PAGES
from ffslab.yaffs2.tree import Node

SCHEMA = 1
_WIDTH = 80
_OBJECTS = (
    ("file", "file", "files"),
    ("directory", "directory", "directories"),
    ("symlink", "symbolic link", "symbolic links"),
    ("hardlink", "hard link", "hard links"),
    ("special", "special file", "special files"),
)
_STATISTICS = ("bad", "erased", "data", "checkpoint", "ignored")


def counted(number: int, one: str, many: str) -> str:
    """For example "1 block", "2 blocks"."""
    return f"{number} {one if number == 1 else many}"


def printable(text: str) -> str:
    """The text with escapes for what a terminal should not see."""
    if text.isprintable():
        return text
    parts = []
    for character in text:
        code = ord(character)
        if character.isprintable():
            parts.append(character)
        elif 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
            parts.append(f"\\x{code - 0xDC00:02x}")
        else:
            parts.append(character.encode("unicode_escape").decode("ascii"))
    return "".join(parts)


def summary_lines(report: Report) -> Iterator[str]:
    """What the image is and holds."""
    statistics = report.statistics
    kind = "lab flash file" if report.file_format == "lab" else "raw image"
    segregated = report.layout is Layout.SEGREGATED
    layout = ", segregated layout" if segregated else ""
    yield f"{report.path}: YAFFS2{layout}, {kind}"
    yield from _wrapped("geometry", f"{report.geometry.describe()} ({report.geometry_source})")
    size = format_size(report.blocks * report.geometry.block_bytes)
    first = f" from block {report.first_block} on" if report.first_block else ""
    names = (*_STATISTICS[:2], "metadata", *_STATISTICS[2:]) if segregated else _STATISTICS
    kinds = ", ".join(f"{statistics[f'blocks_{name}']} {name}" for name in names)
    yield from _wrapped("blocks", f"{report.blocks}{first} ({size}): {kinds}")
    pages = f"{statistics['pages_written']} written, {statistics['pages_live']} in use"
    sequence = statistics["newest_sequence"]
    newest = f", newest block {sequence:#x}" if sequence else ""
    yield from _wrapped("pages", f"{pages}; {statistics['summaries']} block summaries{newest}")
    if segregated:
        yield from _wrapped("index", _index_text(statistics))
    objects = ", ".join(
        counted(statistics[f"objects_{name}"], one, many) for name, one, many in _OBJECTS
    )
    yield from _wrapped("objects", f"{objects}; {statistics['file_bytes']:,} bytes in files")
    checkpoint = report.checkpoint
    place = ""
    if checkpoint.blocks:
        pages = counted(checkpoint.pages, "page", "pages")
        place = f" ({pages} in {counted(checkpoint.blocks, 'block', 'blocks')})"
    yield from _wrapped("checkpoint", f"{checkpoint.state}{place}")
    counts = [report.count(severity) for severity in Severity]
    words = [
        counted(number, severity.value, f"{severity}s")
        for number, severity in zip(counts, Severity, strict=True)
    ]
    yield from _wrapped("result", ", ".join(words))


def _index_text(statistics: dict[str, int]) -> str:
    """What the segregated layout has beside the headers."""
    pages = counted(statistics["index_pages"], "index page", "index pages")
    newer = counted(statistics["pages_by_tags"], "data page", "data pages")
    sequence, page = divmod(statistics["horizon"], POSITION_PAGES)
    void = counted(statistics["pages_void"], "void page", "void pages")
    return f"{pages}, {void}; {newer} newer than the index; horizon {sequence:#x} page {page}"


def _wrapped(label: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {label:11}",
        subsequent_indent=" " * 13,
        break_long_words=False,
        break_on_hyphens=False,
    )


def finding_lines(report: Report, of_a_rule: int) -> Iterator[str]:
    """The findings, at most so many of each rule."""
    shown: Counter[str] = Counter()
    for finding in report.findings:
        shown[finding.rule] += 1
        if shown[finding.rule] <= of_a_rule:
            yield from _finding(finding)
        elif shown[finding.rule] == of_a_rule + 1:
            more = report.counts[finding.rule] - of_a_rule
            yield f"{finding.severity}: {finding.rule}: and {more} more"


def _finding(finding: Finding) -> Iterator[str]:
    place = printable(finding.place())
    middle = f"{place}: " if place else ""
    yield from textwrap.wrap(
        f"{finding.severity}: {finding.rule}: {middle}{printable(finding.message)}",
        _WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def listing_lines(nodes: Sequence[Node]) -> Iterator[str]:
    """One line for each name, like `ls -lR`, with the whole path and times in UTC."""
    rows = [(*_columns(node), printable(_shown_path(node))) for node in nodes]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    for mode, links, owner, size, moment, path in rows:
        columns = (
            mode,
            links.rjust(widths[1]),
            owner.ljust(widths[2]),
            size.rjust(widths[3]),
            moment.ljust(widths[4]),
            path,
        )
        yield " ".join(columns)


def _columns(node: Node) -> tuple[str, str, str, str, str]:
    size = str(node.size)
    if stat.S_ISCHR(node.mode) or stat.S_ISBLK(node.mode):
        size = f"{node.rdev >> 8},{node.rdev & 0xFF}"
    return (
        stat.filemode(node.mode),
        str(node.links),
        f"{node.uid}:{node.gid}",
        size,
        _moment(node.mtime),
    )


def _moment(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _shown_path(node: Node) -> str:
    if node.target:
        return f"{node.path} -> {node.target}"
    return f"{node.path} = {node.link_of}" if node.link_of else node.path


def report_document(report: Report) -> dict[str, Any]:
    """The report as JSON; `docs/yaffs2-tools.md` describes it."""
    geometry = report.geometry
    return {
        "schema": SCHEMA,
        "path": printable(str(report.path)),
        "format": report.file_format,
        "geometry": {
            "page_bytes": geometry.page_bytes,
            "oob_bytes": geometry.oob_bytes,
            "pages_per_block": geometry.pages_per_block,
            "oob_offset": None if geometry.inband else geometry.oob_offset,
            "inband": geometry.inband,
            "tags_ecc": geometry.tags_ecc and not geometry.inband,
            "source": report.geometry_source,
        },
        "first_block": report.first_block,
        "blocks": report.blocks,
        **({"layout": report.layout.value} if report.layout is Layout.SEGREGATED else {}),
        "checkpoint": report.checkpoint.state,
        "statistics": report.statistics,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
        "counts": report.counts,
        "findings": [
            {
                "severity": finding.severity.value,
                "rule": finding.rule,
                "rule_text": RULES[finding.rule].text,
                "message": printable(finding.message),
                "block": finding.block,
                "page": finding.page,
                "object_id": finding.object_id,
                "path": None if finding.path is None else printable(finding.path),
            }
            for finding in report.findings
        ],
    }


def tree_document(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """The tree as JSON, one element for each name; values of attributes in hexadecimal."""
    return [
        {
            "path": printable(node.path),
            "object_id": node.object_id,
            "type": node.type,
            "mode": node.mode,
            "uid": node.uid,
            "gid": node.gid,
            "size": node.size,
            "atime": node.atime,
            "mtime": node.mtime,
            "ctime": node.ctime,
            "rdev": node.rdev,
            "target": printable(node.target),
            "link_of": None if node.link_of is None else printable(node.link_of),
            "links": node.links,
            "xattrs": {printable(name): value.hex() for name, value in node.xattrs.items()},
        }
        for node in nodes
    ]
