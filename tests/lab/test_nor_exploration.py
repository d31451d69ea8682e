"""Explorations of power cuts on NOR flash: a sample of nor-cuts, and what it is to find."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_exploration import finish, wrong

from ffslab.exploration.run import Directory, Request, begin
from ffslab.exploration.states import parse_log
from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.faults import kinds_on
from ffslab.paths import data_dir

SHIPPED = (data_dir("explorations") / "nor-cuts.toml").read_text(encoding="utf-8")
TORN_KINDS = ("torn-prefix", "torn-bits")
# UBIFS where a torn page has parts of two of its units (docs/findings.md).
KNOWN = {("ubifs", "mount-fails")}
TORN = """
exploration = 1
name = "torn"
title = "Torn programs of files that stay open, on NOR flash"

[base]
board = "v3s-licheepi"
partition_bytes = "1536 KiB"

[axes]
filesystem = ["ubifs", "ubifs-aligned"]

[[workload]]
kind = "open-files"

[cuts]
kinds = ["torn-bits"]
check = "mount"
"""


def explored(directory: Path, text: str, catalogs: tuple[Path, ...] = ()) -> Directory:
    path = directory / "cuts.toml"
    path.write_text(text)
    request = Request(str(path), catalogs, (), "ffslab crash run cuts.toml")
    run = begin(request, directory, datetime(2026, 1, 1, tzinfo=UTC))
    finish(run)
    return run


@pytest.mark.parametrize(
    ("cuts", "least", "kinds"),
    [
        ("sample = 40", 27 * 35, kinds_on(["NOR"], ["lost", *TORN_KINDS, "weak-bits"])),
        ('kinds = ["erase-zeros", "erase-bits"]', 200, ("erase-zeros", "erase-bits")),
    ],
    ids=["any", "erases"],
)
def test_a_part_of_nor_cuts(
    lab: LabBuild, tmp_path: Path, cuts: str, least: int, kinds: Sequence[str]
) -> None:
    """A draw from all states, and all of the rarer ones: erases that were cut off."""
    del lab
    assert "recovery_sample = 3" in SHIPPED
    text = SHIPPED.replace("recovery_sample = 3", f"{cuts}\nfill_sample = 1")
    run = explored(tmp_path, text)
    units = list(run.units())
    assert len(units) == 27
    assert sum(unit["states"] for unit in units) > least
    assert {kind for unit in units for kind in unit["counts"]} >= set(kinds)
    assert wrong(units) <= KNOWN
    sectors = {unit["filesystem"]: set[int]() for unit in units}
    for unit in units:
        log = parse_log((run.unit_dir(unit["id"]) / "log").read_text())
        assert unit["operations"] == len(log) > 100
        sectors[unit["filesystem"]] |= {one.page for one in log if one.page is not None}
        assert not {one.verb for one in log} - {"program", "erase"}  # nothing is marked bad
    # Sectors of 4 KiB have 16 pages, those of 64 KiB 256.
    assert all(max(pages) == 255 for pages in sectors.values())


def test_torn_programs_across_two_units_of_ubifs_are_told(lab: LabBuild, tmp_path: Path) -> None:
    """UBI's blocks begin at byte 128 of a sector; where they begin with a page nothing is found."""
    del lab
    own = tmp_path / "catalog" / "filesystems"
    own.mkdir(parents=True)
    described = (data_dir("catalog") / "filesystems" / "ubifs.toml").read_text(encoding="utf-8")
    described = described.replace('name = "ubifs"', 'name = "ubifs-aligned"', 1)
    aligned = described.replace("vid_hdr_offset = 0", "vid_hdr_offset = 192")
    assert aligned != described
    (own / "ubifs-aligned.toml").write_text(aligned, encoding="utf-8")
    run = explored(tmp_path, TORN, (own.parent,))
    assert wrong(list(run.units())) == {("ubifs", "mount-fails")}
