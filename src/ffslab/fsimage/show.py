"""Reports and trees as lines of text and as JSON documents.

Names are bytes on flash. In text, what cannot be printed is escaped (`\\x1b`), so that a name
cannot move the cursor; in JSON, bytes that are no UTF-8 are escaped in the same way.
"""

from __future__ import annotations

import stat
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ffslab.fsimage.node import Node
from ffslab.fsimage.problems import CheckResult, ImageReport, Problem, Severity, W

SCHEMA = 1
_WIDTH = 80
_OBJECTS = (
    ("file", "file", "files"),
    ("directory", "directory", "directories"),
    ("symlink", "symbolic link", "symbolic links"),
    ("hardlink", "hard link", "hard links"),
    ("special", "special file", "special files"),
)


def counted(number: int, singular: str, many: str) -> str:
    """For example "1 block", "2 blocks"."""
    return f"{number} {singular if number == 1 else many}"


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


def wrapped(label: str, text: str) -> Iterator[str]:
    """A line of a summary with its label, in as many lines as it takes."""
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {label:11}",
        subsequent_indent=" " * 13,
        break_long_words=False,
        break_on_hyphens=False,
    )


def objects_text(statistics: Mapping[str, int]) -> str:
    """How many objects of each kind there are, and what the files hold."""
    objects = ", ".join(
        counted(statistics[f"objects_{name}"], singular, many) for name, singular, many in _OBJECTS
    )
    return f"{objects}; {statistics['file_bytes']:,} bytes in files"


def result_text(report: CheckResult[W]) -> str:
    """How many problems there are of each grade."""
    return ", ".join(
        counted(report.count(severity), severity.value, f"{severity}s") for severity in Severity
    )


def head_lines(report: ImageReport[W], title: str, geometry: str) -> Iterator[str]:
    """Which file it is, and how its pages lie there."""
    kind = "lab flash file" if report.file_format == "lab" else "raw image"
    yield f"{report.path}: {title}, {kind}"
    yield from wrapped("geometry", f"{geometry} ({report.geometry_source})")


def problem_lines(report: CheckResult[W], of_a_rule: int) -> Iterator[str]:
    """The problems, at most so many of each rule."""
    shown: Counter[str] = Counter()
    for problem in report.problems:
        shown[problem.rule] += 1
        if shown[problem.rule] <= of_a_rule:
            yield from _problem(problem)
        elif shown[problem.rule] == of_a_rule + 1:
            more = report.counts[problem.rule] - of_a_rule
            yield f"{problem.severity}: {problem.rule}: and {more} more"


def _problem(problem: Problem[W]) -> Iterator[str]:
    location = printable(str(problem.where))
    middle = f"{location}: " if location else ""
    yield from textwrap.wrap(
        f"{problem.severity}: {problem.rule}: {middle}{printable(problem.message)}",
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
        size = "{},{}".format(*node.device)
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


def image_document(
    report: ImageReport[W], geometry: Mapping[str, object], further: Mapping[str, object]
) -> dict[str, Any]:
    """A report as JSON; `geometry` and `further` are what only its format has."""
    return {
        "schema": SCHEMA,
        "path": printable(str(report.path)),
        "format": report.file_format,
        "geometry": {
            "page_bytes": report.geometry.page_bytes,
            "oob_bytes": report.geometry.oob_bytes,
            "pages_per_block": report.geometry.pages_per_block,
            **geometry,
            "source": report.geometry_source,
        },
        "first_block": report.first_block,
        "blocks": report.blocks,
        **further,
        "statistics": report.statistics,
        **problems_document(report),
    }


def problems_document(report: CheckResult[W]) -> dict[str, Any]:
    """The problems as JSON, with their numbers."""
    return {
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
        "counts": report.counts,
        "findings": [
            {
                "severity": problem.severity.value,
                "rule": problem.rule,
                "rule_text": report.rules[problem.rule].text,
                "message": printable(problem.message),
                **{
                    name: printable(value) if isinstance(value, str) else value
                    for name, value in problem.where._asdict().items()
                },
            }
            for problem in report.problems
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
