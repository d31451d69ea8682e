"""YAFFS2 images: checked, read and written without a kernel.

`check_image` and `read_tree` are the library's interface for tests; see `check.py`.
"""

from ffslab.fsimage.node import Node
from ffslab.yaffs2.check import Report, check_image, read_tree
from ffslab.yaffs2.detect import ImageOptions

__all__ = ["ImageOptions", "Node", "Report", "check_image", "read_tree"]
