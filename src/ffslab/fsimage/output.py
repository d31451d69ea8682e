"""Writing an image file: it appears when it is complete, and replaces only a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ffslab.errors import InfrastructureError, UsageError


@contextmanager
def new_image(image: Path, source: Path) -> Iterator[BinaryIO]:
    """A file that becomes `image` if nothing is raised meanwhile; it can be read too.

    Raises UsageError if `image` would be a part of the tree `source` or is not an ordinary file,
    InfrastructureError if it cannot be written.
    """
    if source.is_dir() and image.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{image} would be a part of {source}", remedy="write it elsewhere")
    if image.exists() and not image.is_file():
        raise UsageError(f"{image} is not an ordinary file, so it is not replaced")
    part = image.with_name(image.name + ".part")
    try:
        with part.open("w+b") as file:
            yield file
        part.replace(image)
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {image}: {error.strerror or error}",
            cause="no space, or no permission to write there",
        ) from error
    finally:
        part.unlink(missing_ok=True)
