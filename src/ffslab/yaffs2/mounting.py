"""The mount scan of a partition, by its layout."""

from __future__ import annotations

from ffslab.yaffs2.format import Layout
from ffslab.yaffs2.image import FlashImage
from ffslab.yaffs2.mount import Mounted, mount_scan
from ffslab.yaffs2.scan import FlashScan
from ffslab.yaffs2.segregated.mount import mount_segregated


def mount_flash(flash: FlashImage, scan: FlashScan) -> Mounted:
    """The objects that a mount without checkpoint finds."""
    if scan.layout is Layout.SEGREGATED:
        return mount_segregated(flash, scan)
    return mount_scan(flash, scan)
