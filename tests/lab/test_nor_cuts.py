"""Power cuts on NOR flash: a sample of nor-cuts, and what it is to find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cut_guests import run_of

from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.faults import kinds_on
from ffslab.paths import data_dir
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.states import parse_log
from ffslab.workloads.cuts.stored import cuts_result
from ffslab.workloads.results import results_of
from findings import finding

SHIPPED = (data_dir("studies") / "nor-cuts.toml").read_text(encoding="utf-8")
TORN_KINDS = ("torn-prefix", "torn-bits")
KNOWN = {finding("F-UBIFS-06", ("ubifs", "mount-fails"))}
TORN = """
schema = 1
name = "torn"
title = "Torn programs of files that stay open, on NOR flash"

[base]
board = "v3s-licheepi"
partition_bytes = "1536 KiB"

[base.workload]
kind = "cuts"
history = "open-files"
kinds = "torn-bits"
check = "mount"

[axes]
filesystem = ["ubifs", "ubifs-aligned"]
"""


def wrong(run: RunDirectory) -> set[tuple[str, str]]:
    found = set()
    for result in results_of(run):
        cuts = cuts_result(result)
        assert cuts is not None
        name = str(result["spec"]["filesystem"]["name"])
        found |= {(name, finding["outcome"]) for finding in cuts["findings"]}
    return found


@pytest.mark.parametrize(
    ("cuts", "least", "kinds"),
    [
        ("sample = 40", 24 * 35, kinds_on(["NOR"], ["lost", *TORN_KINDS, "weak-bits"])),
        ('kinds = "erase-zeros erase-bits"', 200, ("erase-zeros", "erase-bits")),
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
    run = run_of(text, tmp_path)
    results = list(results_of(run))
    assert len(results) == 24
    every = [found for result in results if (found := cuts_result(result)) is not None]
    assert len(every) == 24 and sum(found["states"] for found in every) > least
    assert {kind for found in every for kind in found["counts"]} >= set(kinds)
    assert wrong(run) <= KNOWN
    pages: dict[str, set[int]] = {}
    for result, found in zip(results, every, strict=True):
        log = parse_log((run.case_dir(result["id"]) / "log").read_text())
        assert found["operations"] == len(log) > 100
        programmed = {entry.page for entry in log if entry.page is not None}
        pages.setdefault(str(result["spec"]["filesystem"]["name"]), set()).update(programmed)
        assert not {entry.verb for entry in log} - {"program", "erase"}  # nothing is marked bad
    # Sectors of 4 KiB have 16 pages, those of 64 KiB 256.
    assert all(16 < max(numbers) <= 255 for numbers in pages.values())


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
    run = run_of(TORN, tmp_path / "run", catalogs=(own.parent,))
    assert wrong(run) == KNOWN
