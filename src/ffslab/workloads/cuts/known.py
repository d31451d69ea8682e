"""Which entry of docs/findings.md a fault looks like: rows of what tells it from others.

A row says no more than that the fault has its signs; who wants to know replays it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """An entry by its number. `detail`, `state`: patterns of a finding's; "": any. A state is
    `OPERATION KIND VARIANT`.
    """

    number: str
    filesystem: str
    outcome: str
    detail: str = ""
    state: str = ""


KNOWN = (
    Known("F-JFFS2-01", "jffs2", "mount-fails", "Input/output error", "^0 torn"),
    Known("F-JFFS2-08", "jffs2", "guest-died", "stuck", " none "),
    Known("F-JFFS2-21", "jffs2", "not-atomic", "the directory has both names"),
    Known("F-JFFS2-22", "jffs2", "bad-attributes"),
    Known("F-JFFS2-23", "jffs2", "changed-by-use", r"new: file \.ffscrash-synced"),
    Known("F-OVERLAY-04", "overlay-jffs2", "read-only"),
    Known("F-UBIFS-07", "ubifs", "mount-fails", state=" paired "),
)


def known_as(filesystem: str, outcome: str, state: str, detail: str) -> str:
    """The number of the entry; "" for none."""
    return next(
        (
            row.number
            for row in KNOWN
            if (row.filesystem, row.outcome) == (filesystem, outcome)
            and re.search(row.detail, detail)
            and re.search(row.state, state)
        ),
        "",
    )
