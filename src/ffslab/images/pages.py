"""What of an image file is programmed: which pages a flasher leaves out.

Writing the erased value is not only useless: a page that was programmed with 0xFF may not be
programmed again before an erase, although the file system takes it for free. So of data pages those
at the end of each erase block that are all 0xFF are left out, as UBI wants it (and mtd-utils'
ubiformat does); of pages with their OOB area, and of an image that is written in place, all that
are 0xFF throughout.
"""

from __future__ import annotations

from pathlib import Path


def programmed_pages(image: Path, page_bytes: int, pages_per_block: int) -> int:
    """Pages that a flasher programs for a file of data pages."""
    pages = 0
    with image.open("rb") as file:
        while block := file.read(page_bytes * pages_per_block):
            pages += -(-len(block.rstrip(b"\xff")) // page_bytes)
    return pages


def programmed_raw_pages(image: Path, raw_page_bytes: int) -> int:
    """Pages that a flasher programs for a file of pages with their OOB areas, or in place."""
    blank = b"\xff" * raw_page_bytes
    pages = 0
    with image.open("rb") as file:
        while page := file.read(raw_page_bytes):
            pages += page != blank
    return pages
