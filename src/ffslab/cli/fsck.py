"""`ffslab fsck`: checks the image of a flash file system without a kernel."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.program import command, program

if TYPE_CHECKING:
    from ffslab.yaffs2.check import CheckedImage, Report

_SHOWN_OF_A_RULE = 5


class Kind(StrEnum):
    """File systems that can be checked."""

    yaffs2 = "yaffs2"


PageBytes = Annotated[int | None, typer.Option(metavar="N", help="Bytes of a page, without OOB.")]
OobBytes = Annotated[
    int | None, typer.Option(metavar="N", help="Bytes of OOB behind each page; 0: none.")
]
PagesPerBlock = Annotated[int | None, typer.Option(metavar="N", help="Pages of an erase block.")]
OobOffset = Annotated[
    int | None, typer.Option(metavar="N", help="Where the tags begin in the OOB.")
]


def register(app: typer.Typer) -> None:
    """Adds the verb `fsck`."""

    @app.command("fsck")
    def fsck(
        kind: Annotated[Kind, typer.Argument(help="The file system.")],
        image: Annotated[Path, typer.Argument(help="Raw dump with OOB, or a lab flash file.")],
        page_bytes: PageBytes = None,
        oob_bytes: OobBytes = None,
        pages_per_block: PagesPerBlock = None,
        oob_offset: OobOffset = None,
        inband: Annotated[
            bool | None,
            typer.Option("--inband/--no-inband", help="Tags are in the page, or in the OOB."),
        ] = None,
        tags_ecc: Annotated[
            bool | None,
            typer.Option("--tags-ecc/--no-tags-ecc", help="Whether tags have an ECC."),
        ] = None,
        first_block: Annotated[
            int | None, typer.Option(metavar="N", help="First block of the partition.")
        ] = None,
        blocks: Annotated[
            int | None, typer.Option(metavar="N", help="Blocks of the partition.")
        ] = None,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print the report as JSON, for programs.")
        ] = False,
        listing: Annotated[
            bool, typer.Option("--list", help="Print the tree of files as well.")
        ] = False,
        extract: Annotated[
            Path | None,
            typer.Option(metavar="DIR", help="Write the files into DIR, which must not exist."),
        ] = None,
        everything: Annotated[
            bool, typer.Option("--all", help="Print every finding, not only some of each rule.")
        ] = False,
    ) -> None:
        """Check the image of a file system.

        What is not given is found out from the image. Exit code 1: there are errors.
        """
        from ffslab.errors import EXIT_FAILED
        from ffslab.yaffs2.check import examine
        from ffslab.yaffs2.detect import ImageOptions

        del kind  # there is only one so far
        options = ImageOptions(
            page_bytes,
            oob_bytes,
            pages_per_block,
            oob_offset,
            inband,
            tags_ecc,
            first_block,
            blocks,
        )
        checked = examine(image, options)
        if as_json:
            _print_json(checked, listing=listing)
        else:
            _print_report(checked.report, everything=everything)
            if listing:
                _print_listing(checked)
        if checked.report.shows_no_image:
            typer.echo(_no_image(image), err=True)
        if extract is not None:
            _extract(checked, extract)
        if checked.report.errors:
            raise typer.Exit(EXIT_FAILED)


def _no_image(image: Path) -> str:
    return (
        f"ffslab: {image} has no page that YAFFS2 wrote, as far as can be seen: probably it is no "
        "YAFFS2 image\n"
        "  likely cause: a file of another kind or file system, a dump without OOB, or pages of a "
        "size that is not tried\n"
        f"  next: {program()} fsck --help; --page-bytes, --oob-bytes and --oob-offset say how "
        "pages lie in it"
    )


def _print_json(checked: CheckedImage, *, listing: bool) -> None:
    import json

    from ffslab.fsimage.show import tree_document
    from ffslab.yaffs2.show import report_document

    document = report_document(checked.report)
    if listing:
        document["tree"] = tree_document(checked.nodes())
    typer.echo(json.dumps(document, indent=1))


def _print_report(report: Report, *, everything: bool) -> None:
    from ffslab.fsimage.show import finding_lines
    from ffslab.yaffs2.show import summary_lines

    for line in summary_lines(report):
        typer.echo(line)
    for line in finding_lines(report, 10**9 if everything else _SHOWN_OF_A_RULE):
        typer.echo(line)
    shown = _SHOWN_OF_A_RULE if not everything else 10**9
    if any(number > shown for number in report.counts.values()):
        typer.echo(f"all findings: {command('fsck', 'yaffs2', report.path, '--all')}")


def _print_listing(checked: CheckedImage) -> None:
    from ffslab.fsimage.show import listing_lines

    typer.echo("")
    for line in listing_lines(checked.nodes()):
        typer.echo(line)


def _extract(checked: CheckedImage, directory: Path) -> None:
    from ffslab.yaffs2.extract import extract_tree

    result = extract_tree(checked.tree, checked.image.flash, directory)
    typer.echo(f"extracted {result.written} names into {directory}", err=True)
    for message in result.problems:
        typer.echo(f"ffslab: {message}", err=True)
