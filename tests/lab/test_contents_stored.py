"""What file systems store of contents: who compresses saves what can be saved, YAFFS2 nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab_support import results, run_study

from ffslab.lab.lab_build import LabBuild

STUDY = """
schema = 1
name = "contents"
title = "Contents"

[base]
board = "apf27"
partition_bytes = "16 MiB"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"workload.contents" = ["zeros", "text", "compressible", "random"]

[base.workload]
"""
KINDS = ("zeros", "text", "compressible", "random")  # from the smallest
WORKLOADS = {
    "micro": 'kind = "micro"\nvolume_bytes = "1 MiB"\n',
    "ffsmark": "number = 100\ntransactions = 200\nverify = true\n",
    "append-log": 'kind = "append-log"\nlines = 400\nverify = true\n',
    "database": 'kind = "database"\ntransactions = 60\nverify = true\n',
    "wear": 'kind = "wear"\nstatic_bytes = "1 MiB"\nfile_bytes = "1 MiB"\nvolumes = "4 MiB"\n',
    "tiobench": 'kind = "tiobench"\nfile_bytes = "2 MiB"\nrandom_bytes = "1 MiB"\n',
    "tree": 'kind = "tree"\nsteps = "mount create sync check unmount"\nsize = 3000\ndepth = 3\n',
}
# Shares of what the same work programs with random bytes, in which headers, indexes and padding
# are, too. UBIFS's LZO saves half as much of text as JFFS2's zlib.
SHARE = 30


def programmed(result: Any) -> tuple[int, int, int]:
    """Bytes and pages that all phases programmed, and how long they took."""
    phases = result["phases"]
    times = sum(phase["t_end_ns"] - phase["t_start_ns"] for phase in phases)
    pages = sum(phase["pages_programmed"] or 0 for phase in phases)
    return result["flash"][-1]["counters"]["bytes_programmed"], pages, times


def stored(tmp_path: Path, workload: str) -> dict[tuple[str, str], tuple[int, int, int]]:
    """By file system and contents: what a workload programmed; every case verified its data."""
    found: dict[tuple[str, str], tuple[int, int, int]] = {}
    path = tmp_path / "contents.toml"
    for contents in KINDS:
        share = f"compressibility_percent = {SHARE}\n" if contents == "compressible" else ""
        path.write_text(STUDY + WORKLOADS[workload] + share)
        narrow = ("--set", f"workload.contents={contents}")
        for result in results(run_study(path, tmp_path / contents, *narrow)):
            assert result["outcome"] == "pass", (result["id"], result["reason"])
            found[result["spec"]["filesystem"]["name"], contents] = programmed(result)
    return found


@pytest.mark.parametrize("workload", WORKLOADS)
def test_who_compresses_programs_less_of_what_can_be_compressed(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
    workload: str,
) -> None:
    found = stored(tmp_path, workload)
    for filesystem in ("jffs2", "ubifs"):
        amounts = [found[filesystem, contents][0] for contents in KINDS]
        assert amounts == sorted(set(amounts)), (filesystem, amounts)
    # It stores pages as they are: other contents change neither pages nor, but for the layout
    # of a guest whose plan is longer, the time.
    unchanged = [found["yaffs2", contents] for contents in KINDS]
    assert len({amounts[:2] for amounts in unchanged}) == 1, unchanged
    times = [nanoseconds for _, _, nanoseconds in unchanged]
    assert max(times) <= 1.005 * min(times)


def test_large_writes_are_shortened_by_the_stated_share(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    found = stored(tmp_path, "micro")
    for filesystem in ("jffs2", "ubifs"):
        share = found[filesystem, "compressible"][0] / found[filesystem, "random"][0]
        # A repeated byte is not free, and nodes have headers.
        assert 1 - SHARE / 100 < share < 1 - SHARE / 100 + 0.06, (filesystem, share)


def test_a_partition_holds_more_of_what_is_compressed(
    lab: LabBuild,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    path = tmp_path / "contents.toml"
    held: dict[tuple[str, str], int] = {}
    for contents in ("random", "text"):
        path.write_text(STUDY + 'kind = "capacity"\n')
        narrow = ("--set", f"workload.contents={contents}")
        for result in results(run_study(path, tmp_path / contents, *narrow)):
            assert result["outcome"] == "pass", (result["id"], result["reason"])
            name = result["spec"]["filesystem"]["name"]
            held[name, contents] = result["capacity"]["written_bytes"]
            # The file that comes after it has the same contents.
            again = result["capacity"]["again_bytes"]
            assert abs(again / held[name, contents] - 1) < 0.05, (name, contents, again, held)
    assert held["yaffs2", "text"] == held["yaffs2", "random"]
    assert held["jffs2", "text"] > 1.8 * held["jffs2", "random"]
    assert held["ubifs", "text"] > 1.2 * held["ubifs", "random"]
