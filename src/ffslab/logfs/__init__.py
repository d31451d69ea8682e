"""LogFS images: checked, read and written without a kernel.

`check_image` and `read_tree` are the library's interface for tests; see `check.py`.
"""

from ffslab.fsimage.flashfile import ImageOptions
from ffslab.fsimage.node import Node
from ffslab.logfs.check import Report, check_image, read_tree

__all__ = ["ImageOptions", "Node", "Report", "check_image", "read_tree"]
