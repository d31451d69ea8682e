"""`ffslab mkfs`: builds the image of a flash file system from a directory or a tar archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    INBAND,
    PAGE_BYTES,
    PAGES_PER_BLOCK,
    PARTITION_BYTES,
    TAGS_ECC,
    parse_bytes,
)
from ffslab.errors import UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from ffslab.yaffs2.mkfs import MkfsOptions


class Kind(StrEnum):
    """File systems that can be made."""

    yaffs2 = "yaffs2"
    logfs = "logfs"


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
        kind: Annotated[
            Kind, typer.Argument(metavar="FILESYSTEM", help="The file system: yaffs2 or logfs.")
        ],
        source: Annotated[
            Path, typer.Argument(metavar="TREE", help="A tree of files: directory, or tar archive.")
        ],
        image: Annotated[
            Path, typer.Argument(metavar="IMAGE", help="An image: the file to write.")
        ],
        page_bytes: Annotated[int, PAGE_BYTES] = 2048,
        oob_bytes: Annotated[
            int | None,
            typer.Option(
                metavar="N", help="Bytes of OOB behind each page; 64, and none for LogFS."
            ),
        ] = None,
        pages_per_block: Annotated[int, PAGES_PER_BLOCK] = 64,
        oob_offset: Annotated[
            int | None,
            typer.Option(metavar="N", help="Where the tags begin in the OOB; usually 2."),
        ] = None,
        inband: Annotated[bool, INBAND] = False,
        tags_ecc: Annotated[bool, TAGS_ECC] = True,
        no_summary: Annotated[
            bool, typer.Option("--no-summary", help="Write no block summaries.")
        ] = False,
        layout: Annotated[
            LayoutName,
            typer.Option(help="Layout of YAFFS2."),
        ] = LayoutName.original,
        partition_bytes: Annotated[str | None, PARTITION_BYTES] = None,
        checkpoint: Annotated[
            bool, typer.Option(help="Write a checkpoint; it needs --partition-bytes.")
        ] = False,
        compress: Annotated[
            bool, typer.Option("--compress", help="Compress data: of LogFS.")
        ] = False,
        bad_block: Annotated[
            list[int] | None,
            typer.Option(metavar="N", help="A bad block: of LogFS; may be repeated."),
        ] = None,
        squash_owners: Annotated[
            bool, typer.Option("--squash-owners", help="Everything belongs to root.")
        ] = False,
        fixed_time: Annotated[
            int | None, typer.Option(metavar="SECONDS", help="All times, seconds since 1970.")
        ] = None,
        file_format: Annotated[
            Format,
            typer.Option("--format", "-f", help="The format: each page with its OOB behind it."),
        ] = Format.raw,
    ) -> None:
        """Make the image of a file system.

        The same tree gives the same image.
        """
        del file_format  # there is only one so far
        if fixed_time is not None and not 0 <= fixed_time < 1 << 40:
            raise UsageError(f"--fixed-time {fixed_time} is not a time since 1970")
        sizes = (page_bytes, oob_bytes, pages_per_block)
        size_bytes = (
            None if partition_bytes is None else parse_bytes("--partition-bytes", partition_bytes)
        )
        common = _Common(source, image, size_bytes, squash_owners, fixed_time)
        yaffs2_words = {
            "--oob-offset": oob_offset is not None,
            "--inband": inband,
            "--no-tags-ecc": not tags_ecc,
            "--no-summary": no_summary,
            "--checkpoint": checkpoint,
            "--layout": layout is not LayoutName.original,
        }
        if kind is Kind.logfs:
            _refuse(kind, yaffs2_words)
            _make_logfs(common, sizes, compress=compress, bad_blocks=tuple(bad_block or ()))
            return
        _refuse(kind, {"--compress": compress, "--bad-block": bool(bad_block)})
        from ffslab.yaffs2.format import Geometry, Layout
        from ffslab.yaffs2.mkfs import MkfsOptions

        offset = 2 if oob_offset is None else oob_offset
        geometry = Geometry(
            page_bytes,
            64 if oob_bytes is None else oob_bytes,
            pages_per_block,
            0 if inband else offset,
            inband,
            tags_ecc=tags_ecc,
        )
        options = MkfsOptions(
            geometry=geometry,
            summaries=not no_summary,
            checkpoint=checkpoint,
            partition_bytes=common.partition_bytes,
            squash_owners=squash_owners,
            fixed_time=fixed_time,
            layout=Layout(layout.value),
        )
        _make_yaffs2(common, options)


@dataclass(frozen=True, slots=True)
class _Common:
    """What all file systems are told."""

    source: Path
    image: Path
    partition_bytes: int | None
    squash_owners: bool
    fixed_time: int | None


def _refuse(kind: Kind, given: Mapping[str, bool]) -> None:
    """UsageError for an option that has no meaning for this file system."""
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"{name} is not for {kind.value}")


def _make_yaffs2(common: _Common, options: MkfsOptions) -> None:
    from ffslab.fsimage.show import counted
    from ffslab.model.units import format_size
    from ffslab.yaffs2.mkfs import make_image

    result = make_image(common.source, common.image, options)
    _print_warnings(result.warnings)
    objects = counted(result.objects, "object", "objects")
    blocks = counted(result.blocks, "block", "blocks")
    size = format_size(result.image_bytes)
    typer.echo(f"{common.image}: {objects} in {blocks}, {size} with OOB")
    if result.checkpoint_blocks:
        blocks = counted(result.checkpoint_blocks, "block", "blocks")
        typer.echo(f"checkpoint in {blocks} behind them")
    typer.echo(f"check it: {command('fsck', 'yaffs2', common.image)}")


def _make_logfs(
    common: _Common,
    sizes: tuple[int, int | None, int],
    *,
    compress: bool,
    bad_blocks: tuple[int, ...],
) -> None:
    from ffslab.fsimage.show import counted
    from ffslab.logfs.image import PageGeometry
    from ffslab.logfs.mkfs import MkfsOptions, make_image
    from ffslab.model.units import format_size

    if common.partition_bytes is None:
        raise UsageError(
            "LogFS has a superblock at the end of the partition, so its size must be known",
            remedy="--partition-bytes SIZE",
        )
    page_bytes, oob_bytes, pages_per_block = sizes
    options = MkfsOptions(
        partition_bytes=common.partition_bytes,
        geometry=PageGeometry(page_bytes, oob_bytes or 0, pages_per_block),
        compress=compress,
        squash_owners=common.squash_owners,
        fixed_time=common.fixed_time,
        bad_blocks=bad_blocks,
    )
    result = make_image(common.source, common.image, options)
    _print_warnings(result.warnings)
    objects = counted(result.objects, "object", "objects")
    segments = f"{result.segments_used} of {result.segments} segments"
    size = format_size(result.segment_bytes)
    typer.echo(f"{common.image}: {objects} in {segments} of {size}")
    typer.echo(f"check it: {command('fsck', 'logfs', common.image)}")


def _print_warnings(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        typer.echo(f"ffslab: {warning}", err=True)
