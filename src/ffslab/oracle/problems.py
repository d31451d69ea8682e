"""What can be wrong with a tree after a cut: the classes of problems, the gravest first."""

from __future__ import annotations

from dataclasses import dataclass

FOREIGN_BYTES = "foreign-bytes"
CORRUPT_CONTENTS = "corrupt-contents"
SYNCED_DATA_LOST = "synced-data-lost"
STALE_DATA = "stale-data"
NAME_LOST = "name-lost"
NAME_KEPT = "name-kept"
NOT_ATOMIC = "not-atomic"
UNREADABLE = "unreadable"
WRONG_KIND = "wrong-kind"
WRONG_SIZE = "wrong-size"
DISCONNECTED = "disconnected"
UNKNOWN_NAME = "unknown-name"
BAD_LINKS = "bad-links"
BAD_ATTRIBUTES = "bad-attributes"
WRONG_ORDER = "wrong-order"
CLASSES = (
    FOREIGN_BYTES,
    CORRUPT_CONTENTS,
    SYNCED_DATA_LOST,
    STALE_DATA,
    NAME_LOST,
    NAME_KEPT,
    NOT_ATOMIC,
    UNREADABLE,
    WRONG_KIND,
    WRONG_SIZE,
    DISCONNECTED,
    UNKNOWN_NAME,
    BAD_LINKS,
    BAD_ATTRIBUTES,
    WRONG_ORDER,
)
# What a fault that spoils durable data excuses: all that its absence can lead to.
LOSSES = frozenset(CLASSES) - {FOREIGN_BYTES, CORRUPT_CONTENTS, UNKNOWN_NAME}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: its class, where, and a sentence.

    `operation`: the call of the history that it is about, None if there is no such call.
    """

    kind: str
    path: str
    sentence: str
    operation: int | None = None
