"""The plans of an exploration's guests."""

from __future__ import annotations

from dataclasses import replace

from ffslab.workloads.cuts.explore.guest import Explored, plan
from ffslab.workloads.cuts.explore.case import explored_of, history_of, units_of
from ffslab.workloads.cuts.kind import exploration_of
from ffslab.loader import load_catalog

EXPLORATION = """
exploration = 1
name = "x"
title = "x"

[base]
board = "apf27"
partition_bytes = "8 MiB"

[axes]
filesystem = ["ubifs", "jffs2"]

[[workload]]
kind = "wear"

[[workload]]
kind = "wear"
name = "even"
parameters.worn_erases = 0

[[workload]]
kind = "overwrite"
"""


def guests() -> dict[str, Explored]:
    exploration = exploration_of(EXPLORATION, "x.toml", load_catalog())
    return {
        f"{unit.case.filesystem.name} {unit.choice.name}": explored_of(
            exploration, unit, history_of(unit)
        )
        for unit in units_of(exploration)
    }


def test_blocks_are_worn_where_ubi_and_the_workload_want_it() -> None:
    found = {name: plan(guest, "last") for name, guest in guests().items()}
    worn = [name for name, text in found.items() if "args=wear" in text]
    assert worn == ["ubifs wear"]
    lines = found["ubifs wear"].splitlines()
    at = next(at for at, line in enumerate(lines) if "args=wear%20data%205000" in line)
    # UBI has to be there before, for its headers, and gone, for it keeps counters in memory.
    # Before the first program the files of the host are mounted, which cannot be done later.
    verbs = [line.split()[0] for line in lines]
    assert verbs[at - 4 : at + 3] == [
        *("mount", "ubi-attach", "sleep", "ubi-detach"),
        *("exec", "ubi-attach", "ubi-mkvol"),
    ]
    guest = guests()["ubifs wear"]
    plain = plan(replace(guest, worn_erases=0), "last").splitlines()
    host_files = lines[at - 4]
    assert "type=hostfs" in host_files
    assert sorted(plain) == sorted([host_files, *lines[: at - 4], *lines[at + 1 :]])
    assert [line for line in plain if line != host_files] == lines[: at - 4] + lines[at + 1 :]
