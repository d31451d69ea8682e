"""Directories of explorations that nobody ran: units, logs and records as their tests say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ffslab.workloads.cuts.explore.case import Directory, Request, begin
from ffslab.workloads.cuts.stored import StoredFinding, StoredUnit

EXPLORATION = """
exploration = 1
name = "made"
title = "Power cuts that were made up"
description = "A description <of> them."
{timing}
[base]
board = "apf27"
partition_bytes = "8 MiB"
[axes]
filesystem = [{filesystems}]
{axes}
[chip]
{chip}
[[workload]]
kind = "update-by-rename"
[[workload]]
kind = "append-log"
name = "log"
[cuts]
{cuts}
"""
SERIES_STUDY = """
exploration = 1
name = "row"
title = "In a row"
[base]
board = "apf27"
partition_bytes = "{partition}"
{options}
[axes]
filesystem = [{filesystems}]
[chip]
{chip}
[series]
{series}
"""
# Three calls: the first makes operations 0 and 1, the second none, the third 2; 3 is the unmount's.
HISTORY = "create a\nwrite a 0 10 1\nfsync a\n"
RECORD = "op 0 0 0 2\nop 1 0 2 2\nop 2 0 2 3\nend 3 3 3\n"
LOG = "0 program 7 0 0 2048 1\n1 erase 9\n2 program 7 1 0 2048 1\n3 mark 12\n"
TEXTS = {"history": HISTORY, "record": RECORD, "log": LOG}
OPERATIONS = 4
# Of each operation: pages read, pages programmed, blocks erased, nanoseconds.
CURVE = [[0, 10, 0, 0, 0], [1, 30, 2, 1, 0], [2, 20, 4, 0, 0], [3, 30, 0, 0, 0]]


def exploration_text(
    filesystems: Sequence[str] = ("jffs2", "ubifs"),
    *,
    timing: str = "",
    axes: str = "",
    chip: str = "",
    cuts: str = "",
) -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    return EXPLORATION.format(filesystems=named, timing=timing, axes=axes, chip=chip, cuts=cuts)


def series_study(
    series: str,
    filesystems: Sequence[str] = ("jffs2", "ubifs"),
    *,
    options: str = "",
    chip: str = "",
    partition: str = "16 MiB",
) -> str:
    named = ", ".join(f'"{name}"' for name in filesystems)
    return SERIES_STUDY.format(
        series=series, filesystems=named, options=options, chip=chip, partition=partition
    )


def new_exploration(
    folder: Path, text: str | None = None, units: tuple[str, ...] = ()
) -> Directory:
    """A directory of which no unit has been explored."""
    path = folder / "made.toml"
    path.write_text(text or exploration_text())
    request = Request(str(path), (), units, "ffslab crash run made.toml")
    return begin(request, folder / "results", datetime(2026, 11, 23, tzinfo=UTC))


def unit_of(identifier: str, **further: Any) -> StoredUnit:
    """A unit in which four operations were lost, and all is correct, but for what is said."""
    filesystem, _, workload = identifier.split("-", 2)
    whole: dict[str, Any] = {
        "v": 1,
        "id": identifier,
        "filesystem": filesystem,
        "workload": workload,
        "seed": 1,
        "calls": 3,
        "operations": OPERATIONS,
        "states_possible": OPERATIONS,
        "untouched": 0,
        "counts": {"lost": {"correct": OPERATIONS}},
        "random": {},
        "findings": [],
        "recovery": {"curve": CURVE, "worst": 1, "uncut": [5, 1, 0, 0]},
        **further,
    }
    states = sum(sum(counts.values()) for counts in whole["counts"].values())
    made: StoredUnit = {"states": states, **whole}  # type: ignore[typeddict-item]
    return made


def finding(identifier: str, state: str, outcome: str, **further: Any) -> StoredFinding:
    whole: dict[str, Any] = {
        "id": identifier,
        "state": state,
        "outcome": outcome,
        "kind": state.split(" ")[1],
        "detail": "nothing is there",
        "states": 1,
        "confirmed": True,
        "filled": False,
        "console": [],
        **further,
    }
    made: StoredFinding = whole  # type: ignore[assignment]
    return made


def keep(directory: Directory, unit: StoredUnit, texts: Mapping[str, str] = TEXTS) -> None:
    """Puts a unit into a directory as if it had been explored."""
    place = directory.unit_dir(unit["id"])
    place.mkdir(parents=True)
    for name, text in texts.items():
        (place / name).write_text(text)
    directory.finish(unit)


def kept(
    folder: Path, *units: StoredUnit, text: str | None = None, texts: Mapping[str, str] = TEXTS
) -> Directory:
    """A directory with these units; others of its exploration are missing."""
    directory = new_exploration(folder, text)
    for unit in units:
        keep(directory, unit, texts)
    return directory
