"""Which images the catalog's file systems and compressions ask for; no input or output here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ffslab.errors import SpecError
from ffslab.images.spec import ImageSpec, image_spec
from ffslab.model.catalog import Catalog
from ffslab.model.settings import DEFAULT, mount_setup, partition_blocks
from ffslab.model.specs import Board, Filesystem

_OPTION = "compression"
_BELOW = "lower_compression"  # of what an overlay has below: that is its image


@dataclass(frozen=True, slots=True)
class NamedImage:
    """What is built for a file system with a compression; '' if it has no such option."""

    filesystem: str
    compression: str
    spec: ImageSpec


def _option(filesystem: Filesystem) -> str:
    """The option of a file system that says how its image is compressed."""
    return _OPTION if filesystem.overlay is None else _BELOW


def named_image(
    filesystem: Filesystem, board: Board, partition_bytes: int | str, compression: str = DEFAULT
) -> NamedImage:
    """The image of one file system.

    Raises SpecError if it has no image, no such compression, or if the chip is too small.
    """
    where = f"image of {filesystem.name}"
    name = _option(filesystem)
    option = filesystem.options.get(name)
    if compression != DEFAULT and (option is None or compression not in option.values):
        known = ", ".join(option.values) if option else "none at all"
        raise SpecError(
            f"{filesystem.name} has no compression {compression!r}", remedy=f"it has: {known}"
        )
    setup = mount_setup(filesystem, {f"options.{name}": compression}, where)
    blocks = partition_blocks(board, filesystem, setup, {"partition_bytes": partition_bytes}, where)
    spec = image_spec(board.chip, blocks, setup)
    if spec is None:
        raise SpecError(
            f"there is no tool that builds images of {filesystem.name}",
            cause="its file in the catalog has no table [image]",
        )
    return NamedImage(filesystem.name, dict(setup.options).get(name, ""), spec)


def all_images(catalog: Catalog, board: Board, partition_bytes: int | str) -> Iterator[NamedImage]:
    """The images of all file systems that have one, with each of their compressions.

    Of file systems that differ in the mount only, and so have the same image, the first is taken.
    An overlay is the last: its image is another's.
    """
    known: set[ImageSpec] = set()
    for filesystem in sorted(
        catalog.filesystems.values(),
        key=lambda filesystem: (filesystem.overlay is not None, filesystem.name),
    ):
        if filesystem.image is None:
            continue
        option = filesystem.options.get(_option(filesystem))
        for compression in option.values if option else (DEFAULT,):
            image = named_image(filesystem, board, partition_bytes, compression)
            if image.spec not in known:
                known.add(image.spec)
                yield image
