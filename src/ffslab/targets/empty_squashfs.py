"""An empty SquashFS image: what is below an overlay if the case begins without an image.

A case of any workload then finds an empty file system, and what it costs to have another one below
it is all that is added.
"""

from __future__ import annotations

import hashlib

from ffslab.fsimage.squashfs import DIRECTORY, Inode, squashfs


def empty_squashfs() -> bytes:
    """The image: a root without names."""
    return squashfs([Inode(DIRECTORY)])


EMPTY_BYTES = len(empty_squashfs())
# Its place in a guest has its digest: a plan, by which flashes are kept, names what it writes.
EMPTY_LOWER = f"/lab/empty-{hashlib.sha256(empty_squashfs()).hexdigest()[:12]}.squashfs"
