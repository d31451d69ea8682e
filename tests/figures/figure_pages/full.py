"""The bindings of docs/answers/full.md."""

from __future__ import annotations

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, constant

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
        text("until a partition of {} MiB is full", FULL.of_spec("full-jffs2", "partition_bytes")),
        Table(
            "| MiB | promised by statfs() | written | back at once | when quiet | written again |",
            {label: [room(name, key) for key in KEYS] for label, name in NAMES.items()},
            unit="MiB",
        ),
        text("here by {} to {} MiB", overcommitted("yaffs2"), overcommitted("jffs2")),
        text("It takes {} % of the partition", constant(1) - room("ubifs", "file.partition_share")),
        text("Deleting the file takes {} s", room("logfs", "delete.duration_ns")),
    ),
    stated={
        "20 seconds": "wall time of two cores",
        "each block takes 28 bytes more than its data": "the format, docs/logfs-format.md",
        "whole blocks of 4 KiB": "the format",
    },
    elsewhere={"run power-cuts-all": "docs/answers/power-cut.md"},
)
