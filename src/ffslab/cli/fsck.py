"""`ffslab fsck`: checks the image of a flash file system without a kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ffslab.cli.parse import INBAND, PAGE_BYTES, PAGES_PER_BLOCK, TAGS_ECC, AsJson
from ffslab.errors import EXIT_FAILED, UsageError
from ffslab.program import command, program

if TYPE_CHECKING:
    from ffslab.fsimage.extract import NamedTree
    from ffslab.fsimage.node import Node
    from ffslab.fsimage.problems import CheckResult

_SHOWN_OF_A_RULE = 5


class Kind(StrEnum):
    """File systems that can be checked."""

    yaffs2 = "yaffs2"
    logfs = "logfs"


# What an image has if it is one, and the name of the file system.
_NOT_SEEN = {
    Kind.yaffs2: ("page that YAFFS2 wrote", "YAFFS2"),
    Kind.logfs: ("superblock of LogFS", "LogFS"),
}


OobBytes = Annotated[
    int | None, typer.Option(metavar="N", help="Bytes of OOB behind each page; 0: none.")
]
OobOffset = Annotated[
    int | None, typer.Option(metavar="N", help="Where the tags begin in the OOB.")
]


def register(app: typer.Typer) -> None:
    """Adds the verb `fsck`."""

    @app.command("fsck")
    def fsck(
        kind: Annotated[
            Kind, typer.Argument(metavar="FILESYSTEM", help="The file system: yaffs2 or logfs.")
        ],
        image: Annotated[
            Path, typer.Argument(metavar="IMAGE", help="An image: raw dump, or a lab flash file.")
        ],
        page_bytes: Annotated[int | None, PAGE_BYTES] = None,
        oob_bytes: OobBytes = None,
        pages_per_block: Annotated[int | None, PAGES_PER_BLOCK] = None,
        oob_offset: OobOffset = None,
        inband: Annotated[bool | None, INBAND] = None,
        tags_ecc: Annotated[bool | None, TAGS_ECC] = None,
        first_block: Annotated[
            int | None, typer.Option(metavar="N", help="First block of the partition.")
        ] = None,
        blocks: Annotated[
            int | None, typer.Option(metavar="N", help="Blocks of the partition.")
        ] = None,
        as_json: AsJson = False,
        listing: Annotated[
            bool, typer.Option("--list", help="Print the tree of files as well.")
        ] = False,
        extract: Annotated[
            Path | None,
            typer.Option(metavar="DIR", help="Write the files into DIR, which must not exist."),
        ] = None,
        everything: Annotated[
            bool,
            typer.Option("--all", help="Print all: every finding, not only some of each rule."),
        ] = False,
    ) -> None:
        """Check the image of a file system.

        Finds out from the image what you do not give. Exit code 1: there are errors.
        """
        position = {
            "page_bytes": page_bytes,
            "oob_bytes": oob_bytes,
            "pages_per_block": pages_per_block,
            "first_block": first_block,
            "blocks": blocks,
        }
        tags = {"oob_offset": oob_offset, "inband": inband, "tags_ecc": tags_ecc}
        if kind is Kind.logfs:
            _refuse(kind, tags)
            shown = _examined_logfs(image, position)
        else:
            shown = _examined_yaffs2(image, {**position, **tags})
        if as_json:
            _print_json(shown, listing=listing)
        else:
            _print_report(shown, everything=everything)
            if listing:
                _print_listing(shown)
        if shown.shows_no_image:
            typer.echo(_no_image(image, kind), err=True)
        if extract is not None:
            _extract(shown, extract)
        if shown.report.errors:
            raise typer.Exit(EXIT_FAILED)


@dataclass(frozen=True, slots=True)
class _Examined:
    """What the verb shows of an image, whatever its file system.

    `document` is the report as JSON; `names` is the tree, None if no mount would find one.
    """

    kind: Kind
    path: Path
    report: CheckResult[Any]
    shows_no_image: bool
    summary: tuple[str, ...]
    document: dict[str, Any]
    nodes: list[Node]
    names: NamedTree | None

    @classmethod
    def of(
        cls, kind: Kind, path: Path, checked: Any, show: Any, names: NamedTree | None
    ) -> _Examined:
        """Of what a file system's `check` found, in the words of its `show`."""
        report = checked.report
        summary, document = tuple(show.summary_lines(report)), show.report_document(report)
        shows_none = report.shows_no_image
        return cls(kind, path, report, shows_none, summary, document, checked.nodes(), names)


def _examined_yaffs2(image: Path, known: Mapping[str, Any]) -> _Examined:
    from ffslab.yaffs2 import show
    from ffslab.yaffs2.check import examine
    from ffslab.yaffs2.detect import ImageOptions

    checked = examine(image, ImageOptions(**known))
    return _Examined.of(Kind.yaffs2, image, checked, show, checked.names())


def _examined_logfs(image: Path, known: Mapping[str, int | None]) -> _Examined:
    from ffslab.fsimage.flashfile import ImageOptions
    from ffslab.logfs import show
    from ffslab.logfs.check import examine

    checked = examine(image, ImageOptions(**known))
    return _Examined.of(Kind.logfs, image, checked, show, checked.tree)


def _refuse(kind: Kind, options: Mapping[str, object]) -> None:
    """UsageError for an option that has no meaning for this file system."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')} is not for {kind.value}")


def _no_image(image: Path, kind: Kind) -> str:
    lacks, title = _NOT_SEEN[kind]
    return (
        f"ffslab: {image} has no {lacks}, it seems: it is probably not a {title} image\n"
        "  likely cause: a file of another kind or file system, a dump without OOB, or an "
        "unusual page size\n"
        f"  next: {program()} fsck --help; --page-bytes, --oob-bytes and --oob-offset say how "
        "pages lie in it"
    )


def _print_json(shown: _Examined, *, listing: bool) -> None:
    from ffslab.fsimage.show import tree_document

    document = dict(shown.document)
    if listing:
        document["tree"] = tree_document(shown.nodes)
    typer.echo(json.dumps(document, indent=1))


def _print_report(shown: _Examined, *, everything: bool) -> None:
    from ffslab.fsimage.show import problem_lines

    most = 10**9 if everything else _SHOWN_OF_A_RULE
    for line in (*shown.summary, *problem_lines(shown.report, most)):
        typer.echo(line)
    if any(number > most for number in shown.report.counts.values()):
        typer.echo(f"all findings: {command('fsck', shown.kind.value, shown.path, '--all')}")


def _print_listing(shown: _Examined) -> None:
    from ffslab.fsimage.show import listing_lines

    typer.echo("")
    for line in listing_lines(shown.nodes):
        typer.echo(line)


def _extract(shown: _Examined, directory: Path) -> None:
    from ffslab.fsimage.extract import extract_tree

    if shown.names is None:
        typer.echo("ffslab: nothing is extracted: a mount would find no tree", err=True)
        return
    result = extract_tree(shown.names, directory)
    typer.echo(f"extracted {result.written} names into {directory}", err=True)
    for message in result.problems:
        typer.echo(f"ffslab: {message}", err=True)
