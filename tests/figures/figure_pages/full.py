"""The bindings of docs/answers/full.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity

FULL = Command("run celf --set part=full")
KEYS = (
    "file.promised_bytes",
    "file.written_bytes",
    "returned.deleted_bytes",
    "returned.settled_bytes",
    "returned.again_bytes",
)
NAMES = {"JFFS2": "jffs2", "UBIFS": "ubifs", "YAFFS2": "yaffs2", "LogFS": "logfs"}


def room(name: str, key: str) -> Quantity:
    return FULL.figure(f"full-{name}", key)


def overcommitted(name: str) -> Quantity:
    """How much more statfs() promises than one file takes."""
    return room(name, "file.promised_bytes") - room(name, "file.written_bytes")


PAGE = Page(
    document="docs/answers/full.md",
    commands=(FULL,),
    bindings=(
        text("{} cases, 20 seconds.", FULL.case_count),
        Table(
            "| MiB | promised by statfs() | written | back at once | when quiet | written again |",
            {label: [room(name, key) for key in KEYS] for label, name in NAMES.items()},
            unit="MiB",
        ),
    ),
    stated={},
)
