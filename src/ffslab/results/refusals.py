"""What file systems log as an error and mean as an answer: data.

UBIFS and UBI report with `ubifs_err()` and `ubi_err()` what they refuse, as they do what is broken.
Who asked gets an errno and decides; the case does not fail by the line. A line that says that
something is wrong is not here, whatever its errno.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """`text` is a part of the line, `call` what was asked, `answer` its errno, `function` who says
    it, of Linux 5.10 to 7.3.
    """

    text: str
    call: str
    answer: str
    function: str


REFUSALS = (
    Refusal("already has too many xattrs (", "setxattr(2)", "ENOSPC", "create_xattr()"),
    Refusal("cannot add one more xattr name to inode", "setxattr(2)", "ENOSPC", "create_xattr()"),
    Refusal("unrecognized mount option", "mount(2)", "EINVAL", "ubifs_parse_options()"),
    Refusal('unknown compressor "', "mount(2)", "EINVAL", "ubifs_parse_options()"),
    Refusal('unknown assert action "', "mount(2)", "EINVAL", "ubifs_parse_options()"),
    Refusal("not enough PEBs, only", "UBI_IOCMKVOL", "ENOSPC", "ubi_create_volume()"),
    Refusal("not enough PEBs: requested", "UBI_IOCRSVOL", "ENOSPC", "ubi_resize_volume()"),
    Refusal("out of volume IDs", "UBI_IOCMKVOL", "ENFILE", "ubi_create_volume()"),
    Refusal("bad volume creation request", "UBI_IOCMKVOL", "EINVAL", "verify_mkvol_req()"),
    Refusal(" LEBs contain data", "UBI_IOCRSVOL", "EINVAL", "ubi_resize_volume()"),
)


def is_refusal(line: str) -> bool:
    """Whether an error that a kernel logged is an answer to who asked."""
    return any(refusal.text in line for refusal in REFUSALS)
