"""`ffslab mkfs`: builds the image of a flash file system from a directory or a tar archive."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ffslab.program import command


class Kind(StrEnum):
    """File systems that can be made."""

    yaffs2 = "yaffs2"


class LayoutName(StrEnum):
    """Layouts of YAFFS2."""

    original = "original"
    segregated = "segregated"


class Format(StrEnum):
    """Formats of the image file."""

    raw = "raw"


def register(app: typer.Typer) -> None:
    """Adds the verb `mkfs`."""

    @app.command("mkfs")
    def mkfs(
        kind: Annotated[Kind, typer.Argument(help="The file system.")],
        source: Annotated[Path, typer.Argument(metavar="DIR", help="Directory or tar archive.")],
        image: Annotated[Path, typer.Argument(help="The file to write.")],
        page_bytes: Annotated[int, typer.Option(help="Bytes of a page, without OOB.")] = 2048,
        oob_bytes: Annotated[int, typer.Option(help="Bytes of OOB behind each page.")] = 64,
        pages_per_block: Annotated[int, typer.Option(help="Pages of an erase block.")] = 64,
        oob_offset: Annotated[int, typer.Option(help="Where the tags begin in the OOB.")] = 2,
        inband: Annotated[
            bool, typer.Option("--inband", help="Put the tags into the page.")
        ] = False,
        no_tags_ecc: Annotated[
            bool, typer.Option("--no-tags-ecc", help="Write tags without their ECC.")
        ] = False,
        no_summary: Annotated[
            bool, typer.Option("--no-summary", help="Write no block summaries.")
        ] = False,
        layout: Annotated[
            LayoutName,
            typer.Option(help="segregated: headers and data in different blocks."),
        ] = LayoutName.original,
        partition_bytes: Annotated[
            str | None,
            typer.Option(metavar="SIZE", help='Size of the partition without OOB: "32 MiB".'),
        ] = None,
        checkpoint: Annotated[
            bool, typer.Option(help="Write a checkpoint; it needs --partition-bytes.")
        ] = False,
        squash_owners: Annotated[
            bool, typer.Option("--squash-owners", help="Everything belongs to root.")
        ] = False,
        fixed_time: Annotated[
            int | None, typer.Option(metavar="SECONDS", help="All times, seconds since 1970.")
        ] = None,
        file_format: Annotated[
            Format, typer.Option("--format", help="raw: each page with its OOB behind it.")
        ] = Format.raw,
    ) -> None:
        """Make the image of a file system.

        The same tree gives the same image.
        """
        from ffslab.errors import UsageError
        from ffslab.fsimage.show import counted
        from ffslab.model.units import format_size
        from ffslab.yaffs2.format import Geometry, Layout
        from ffslab.yaffs2.mkfs import MkfsOptions, make_image

        del kind, file_format  # there is only one of each so far
        offset = 0 if inband else oob_offset
        geometry = Geometry(
            page_bytes, oob_bytes, pages_per_block, offset, inband, tags_ecc=not no_tags_ecc
        )
        if fixed_time is not None and not 0 <= fixed_time < 1 << 40:
            raise UsageError(f"--fixed-time {fixed_time} is not a time since 1970")
        options = MkfsOptions(
            geometry=geometry,
            summaries=not no_summary,
            checkpoint=checkpoint,
            partition_bytes=_size(partition_bytes),
            squash_owners=squash_owners,
            fixed_time=fixed_time,
            layout=Layout(layout.value),
        )
        result = make_image(source, image, options)
        for warning in result.warnings:
            typer.echo(f"ffslab: {warning}", err=True)
        objects = counted(result.objects, "object", "objects")
        blocks = counted(result.blocks, "block", "blocks")
        typer.echo(f"{image}: {objects} in {blocks}, {format_size(result.image_bytes)} with OOB")
        if result.checkpoint_blocks:
            blocks = counted(result.checkpoint_blocks, "block", "blocks")
            typer.echo(f"checkpoint in {blocks} behind them")
        typer.echo(f"check it: {command('fsck', 'yaffs2', image)}")


def _size(text: str | None) -> int | None:
    """A size such as "32 MiB"; UsageError if it is none."""
    from ffslab.errors import UsageError
    from ffslab.model.units import parse_size

    if text is None:
        return None
    try:
        return parse_size(int(text) if text.isdecimal() else text)
    except ValueError as error:
        raise UsageError(f"--partition-bytes {text!r}: {error}") from error
