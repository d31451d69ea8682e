"""`ffslab image`: images of a directory tree, one as a file or all of them as a table of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import PARTITION_BYTES, Catalogs, parse_bytes
from ffslab.errors import SpecError, UsageError, explained
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ffslab.images.build import BuiltImage
    from ffslab.images.catalogue import NamedImage
    from ffslab.images.source import SourceTree
    from ffslab.lab.lab_build import LabBuild
    from ffslab.lab.progress import Progress


def register(app: typer.Typer) -> None:
    """Adds the verb `image`."""

    @app.command("image")
    def image(
        tree: Annotated[
            str,
            typer.Argument(
                metavar="TREE",
                help="A tree of files: recipe of the catalog, directory, or tar archive.",
            ),
        ] = "embedded-rootfs",
        filesystem: Annotated[
            str | None, typer.Option("--fs", metavar="NAME", help="Which file system [all].")
        ] = None,
        compression: Annotated[
            str | None,
            typer.Option(metavar="NAME", help="One of its compressions [its default]."),
        ] = None,
        board: Annotated[
            str,
            typer.Option(metavar="NAME", help="A board of the catalog: its chip's geometry."),
        ] = "apf27-2012",
        partition_bytes: Annotated[str, PARTITION_BYTES] = "100 MiB",
        output: Annotated[
            Path | None,
            typer.Option("--to", metavar="PATH", help="Where to write it [the cache]."),
        ] = None,
        catalogs: Catalogs = None,
    ) -> None:
        """Build the image of a file system from a directory tree.

        Without --fs: a table of the sizes that all file systems and compressions give.
        """
        from ffslab.images.catalogue import all_images, named_image
        from ffslab.images.source import source_tree
        from ffslab.lab import ensure_lab
        from ffslab.lab.progress import ConsoleProgress
        from ffslab.loader import load_catalog
        from ffslab.model.settings import DEFAULT

        if filesystem is None and (output or compression):
            raise UsageError(
                "one image has one file system",
                cause="without --fs the sizes of all are shown",
                remedy=f"--fs NAME; `{program()} list filesystems` has the names",
            )
        catalog = load_catalog(catalogs or ())
        size = parse_bytes("--partition-bytes", partition_bytes)
        chosen = catalog.board(board)
        progress = ConsoleProgress()
        if filesystem is None:
            # What an overlay has below is another's image, and is a line of that.
            wanted = [
                image
                for image in all_images(catalog, chosen, size)
                if catalog.filesystems[image.filesystem].overlay is None
            ]
            source = source_tree(tree, progress)
            _print_tree(source)
            _print_table(source, wanted, ensure_lab(progress=progress), progress)
        else:
            named = named_image(
                catalog.filesystem(filesystem), chosen, size, compression or DEFAULT
            )
            source = source_tree(tree, progress)
            _print_tree(source)
            _build_one(source, named, ensure_lab(progress=progress), progress, output)


def _print_tree(tree: SourceTree) -> None:
    shape = tree.shape
    typer.echo(
        f"{tree.name}: {shape.directories:,} directories, {shape.files:,} files of {shape.bytes:,} "
        f"bytes, {shape.links:,} links, {shape.others:,} others"
    )


def _build_one(
    tree: SourceTree, wanted: NamedImage, lab: LabBuild, progress: Progress, output: Path | None
) -> None:
    from ffslab.images.build import build_image

    built = build_image(tree, wanted.spec, lab, progress)
    path = built.path if output is None else _copied(built, output)
    pages = built.flash_bytes // wanted.spec.page_bytes
    title = f"{wanted.filesystem} {wanted.compression}".rstrip()
    typer.echo(f"{title}: {built.image_bytes:,} bytes, ratio {_ratio(tree, built)}")
    typer.echo(f"flash:   {built.flash_bytes:,} bytes in {pages:,} pages")
    size = path.stat().st_size  # UBI adds headers and its volume table, a page its OOB area
    more = f", {size:,} bytes with UBI" if wanted.spec.on_ubi else ""
    more += f", {size:,} bytes, pages with OOB" if built.oob else ""
    typer.echo(f"file:    {path}{more}")
    typer.echo(f"sha256:  {built.sha256}")
    typer.echo(f"tool:    {built.tool}")
    typer.echo(f"command: {built.command}")


def _copied(built: BuiltImage, output: Path) -> Path:
    import shutil

    try:
        return Path(shutil.copyfile(built.path, output))
    except OSError as error:
        raise explained(error) or UsageError(
            f"cannot write {output}: {error.strerror or error}",
            cause="its directory is not there or not writable, or the disk is full",
            remedy="--to PATH in another directory; the image itself is kept and not built again",
        ) from error


def _print_table(
    tree: SourceTree, images: Iterable[NamedImage], lab: LabBuild, progress: Progress
) -> None:
    """One line per image; of one that cannot be built, why."""
    from ffslab.cli.screen import terminal
    from ffslab.images.build import build_image

    rows: list[tuple[str, ...]] = []
    problems: list[str] = []
    for wanted in images:
        try:
            built = build_image(tree, wanted.spec, lab, progress)
        except SpecError as error:
            rows.append((wanted.filesystem, wanted.compression, "none", "", ""))
            problems.append(f"{wanted.filesystem} {wanted.compression}: {error.message}")
            continue
        sizes = (f"{built.image_bytes:,}", f"{built.flash_bytes:,}", _ratio(tree, built))
        rows.append((wanted.filesystem, wanted.compression, *sizes))
    terminal().print(_table(rows))
    for problem in problems:
        typer.echo(problem)


def _table(rows: Iterable[tuple[str, ...]]) -> object:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("file system", "compression"):
        table.add_column(heading, no_wrap=True)
    for heading in ("image bytes", "flash bytes", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _ratio(tree: SourceTree, built: BuiltImage) -> str:
    """Bytes of the tree's files for each of the image's."""
    return f"{tree.shape.bytes / built.image_bytes:.2f}" if built.image_bytes else ""
