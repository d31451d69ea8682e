"""Small needs through the whole of `ffslab advise`, in guests; and again, without a guest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab_support import ffslab

from ffslab.lab.lab_build import LabBuild
from findings import finding

NEEDS = """
schema = 1
name = "small"
title = "A small one"
board = "apf27"
partition = "16 MiB"
power_cuts = true

[content]
size = "1 MB"
files = 20
compressible_percent = 50
free = "{free}"

[limits]
boot_s = 0.5
ram = "4 MiB"
write_ms = 100

[writes]
pattern = "log"
per_day = "100 kB"
years = 5

[consider]
filesystems = ["jffs2", "ubifs", "yaffs2"]
options = ["beb_per1024"]
"""


def advised(place: Path, free: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON and progress of an advice."""
    (place / "needs.toml").write_text(NEEDS.format(free=free))
    words = ("advise", str(place / "needs.toml"), "--json", "--output", str(place / "results"))
    done = ffslab(*words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def place(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001
    return tmp_path_factory.mktemp("advice")


@pytest.fixture(scope="module")
def first(place: Path) -> tuple[int, dict[str, Any], str]:
    return advised(place, "2 MiB")


def needs_of(advice: dict[str, Any], filesystem: str) -> dict[str, Any]:
    found = next(one for one in advice["candidates"] if one["title"] == filesystem)
    needs: dict[str, Any] = found["needs"]
    return needs


def test_every_need_of_every_candidate_is_measured(
    first: tuple[int, dict[str, Any], str],
) -> None:
    _, advice, told = first
    assert "4 candidates, 30 cases, 30 of them to run" in told
    assert advice["cases_missing"] == 0 and not advice["failures"]
    for name in ("jffs2", "ubifs", "yaffs2"):
        needs = needs_of(advice, name)
        unknown = {key for key, cell in needs.items() if cell["standing"] == "not measured"}
        assert not unknown, (name, needs)
        assert 99 < needs["power"]["value"] <= 100
        # It hangs, or brings removed names back: F-JFFS2-05, F-JFFS2-08.
        is_kept = name != finding("F-JFFS2-08", "jffs2")
        assert needs["kept"]["standing"] == ("met" if is_kept else "missed")
        # 16 MiB hold the files, compressed or not, and something of the file system's own.
        assert 2**20 < needs["space"]["value"] < 16 * 2**20
        assert 1e6 < needs["boot"]["value"] < 10e9
        assert needs["life"]["value"] > 1


def test_verdicts_follow_from_values_and_limits(first: tuple[int, dict[str, Any], str]) -> None:
    _, advice, _ = first
    limits = {one["key"]: one for one in advice["asked"]}
    higher = {"space", "life", "power", "kept"}
    for one in advice["candidates"]:
        for key, cell in one["needs"].items():
            if cell["value"] is not None:
                good = (
                    cell["value"] >= limits[key]["limit"]
                    if key in higher
                    else cell["value"] <= limits[key]["limit"]
                )
                assert cell["standing"] == ("met" if good else "missed"), (one["title"], key)
    missed = [
        sum(cell["standing"] == "missed" for cell in one["needs"].values())
        for one in advice["candidates"]
    ]
    assert missed == sorted(missed)


def test_ubifs_and_yaffs2_boot_within_half_a_second_from_16_mib(
    first: tuple[int, dict[str, Any], str],
) -> None:
    """128 blocks are attached in a quarter of what 512 take; a cut costs UBIFS its journal."""
    _, advice, _ = first
    for name in ("ubifs", "yaffs2"):
        needs = needs_of(advice, name)
        assert needs["boot"]["standing"] == "met"
        assert needs["boot-cut"]["value"] >= needs["boot"]["value"]


def test_another_limit_runs_nothing_and_changes_the_verdict(
    place: Path, first: tuple[int, dict[str, Any], str]
) -> None:
    code, advice, told = advised(place, "9 MiB")
    assert "4 candidates, 30 cases, 0 of them to run" in told
    # UBI keeps 40 of 128 blocks for bad ones of the whole chip, and 10 with another reserve.
    for name, standing in (("ubifs", "missed"), ("ubifs, reserve 5/1024", "met")):
        before, now = needs_of(first[1], name)["space"], needs_of(advice, name)["space"]
        assert (before["standing"], now["standing"]) == ("met", standing)
        assert before["value"] == now["value"]
    titles = [one["title"] for one in advice["candidates"]]
    assert titles.index("ubifs, reserve 5/1024") < titles.index("ubifs")
    best = advice["candidates"][0]
    missed = any(cell["standing"] == "missed" for cell in best["needs"].values())
    assert code == (1 if missed else 0)


def test_the_page_stands_in_the_run(place: Path, first: tuple[int, dict[str, Any], str]) -> None:
    page = (Path(first[1]["run"]) / "advice.html").read_text()
    assert "A small one" in page and str(place) in page
