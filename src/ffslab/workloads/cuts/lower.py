"""What is on the lower file system of an overlay before a history: its tree as an image."""

from __future__ import annotations

from ffslab.fsimage.squashfs import Inode, squashfs
from ffslab.oracle.files import FileLog
from ffslab.oracle.history import History
from ffslab.oracle.world import World


def lower_image(history: History) -> bytes:
    """SquashFS with the tree of the lower operations; b"" if there are none.

    The tree is the one that the oracle begins with.
    """
    if not history.lower:
        return b""
    world = World(root_links=2)
    world.put_below(history.lower)
    return squashfs(
        [
            Inode(
                tree_object.kind, _data(tree_object.log), tree_object.target, tree_object.children
            )
            for tree_object in world.objects
        ]
    )


def _data(log: FileLog | None) -> bytes:
    return log.bytes_of(log.last, 0, log.last.size_bytes) if log else b""
