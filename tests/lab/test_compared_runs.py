"""Real runs compared: with themselves, a second run, another setting; the band of builds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab_support import STUDY, ffslab, results, run_study

from ffslab.results.files import MANIFEST

pytestmark = pytest.mark.usefixtures("lab")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A study, the same with its band measured, and on a board with slower programs."""
    folder = tmp_path_factory.mktemp("compare")
    study = folder / "study.toml"
    study.write_text(STUDY.replace("transactions = 1500", "transactions = 600"))
    slow = ("--set", "chip.t_prog_ns=240000")
    return (
        run_study(study, folder / "plain", "--no-report"),
        run_study(study, folder / "band", "--no-report", "--band", "2"),
        run_study(study, folder / "slow", "--no-report", *slow),
    )


def compared(*runs: Path, status: int = 0) -> dict[str, Any]:
    rules = ("--json", "--threshold", "0", "--fail-on", "change")
    ended = ffslab("compare", *map(str, runs), *rules)
    assert ended.returncode == status, ended.stderr
    (comparison,) = json.loads(ended.stdout)["comparisons"]
    return dict(comparison)


def test_equal_runs_report_nothing(runs: tuple[Path, Path, Path]) -> None:
    plain, band, _ = runs
    for other in (plain, band):
        found = compared(plain, other)
        assert found["case_counts"] == {"same": 4}
        assert list(found["figure_counts"]) == ["same"]
        assert found["figure_counts"]["same"] > 800
        assert found["differs"] == [] or other == band
        assert not any(case["not_deterministic"] for case in found["cases"])


def test_the_version_names_the_build_that_runs_have(runs: tuple[Path, Path, Path]) -> None:
    manifest = json.loads((runs[0] / MANIFEST).read_text())
    told = ffslab("--version").stdout
    assert f", build {manifest['build_id'][:12]}, kernel " in told


def test_cases_with_a_band_are_those_without(runs: tuple[Path, Path, Path]) -> None:
    plain, band, _ = runs
    found = {result["id"]: result for result in results(band)}
    assert len(found) == 12
    for result in results(plain):
        assert found[result["id"]] == result


def test_another_layout_moves_figures_and_leaves_the_work_as_it_is(
    runs: tuple[Path, Path, Path],
) -> None:
    _, band, _ = runs
    found = {result["id"]: result for result in results(band)}
    moved = 0
    for case_id in ("jffs2-aged", "ubifs-aged"):
        versions = [found[f"{case_id}{word}-s1"] for word in
                    ("", "-perturbation1", "-perturbation2")]  # fmt: skip
        assert {version["outcome"] for version in versions} == {"pass"}
        times = [version["virtual_ns"] for version in versions]
        moved += len(set(times)) > 1
        assert max(times) < 1.05 * min(times)
        for work in ("files_created", "files_deleted", "bytes_read", "bytes_written"):
            assert len({version["phases"][-1][work] for version in versions}) == 1, work
    assert moved


def test_slower_programs_are_worse_and_the_cause_is_the_flash(
    runs: tuple[Path, Path, Path],
) -> None:
    plain, _, slow = runs
    found = compared(plain, slow, status=1)
    assert [c["what"] for c in found["differs"]] == ["set by the command", "board.chip.t_prog_ns"]
    for case in found["cases"]:
        assert case["verdict"] in ("worse", "mixed")  # RAM moves a little, either way
        work = next(row for row in case["figures"] if row["figure"] == "workload.on_flash_ns")
        assert work["decides"] and work["verdict"] == "worse"
        of_time = next(
            row for row in case["figures"] if row["figure"] == "workload.flash_program_ns"
        )
        # 240 µs for 220 µs, beside ECC and commands; other pages may be programmed.
        assert 1.02 < of_time["ratio"] < 1.12
        assert any("program +" in cause for cause in case["causes"]), case["causes"]


def test_the_band_stands_beside_a_difference(runs: tuple[Path, Path, Path]) -> None:
    _, band, slow = runs
    found = compared(band, slow, status=1)
    rows = [row for case in found["cases"] for row in case["figures"]]
    assert any(row["band_low"] is not None for row in rows)
    shown = ffslab("compare", str(band))
    assert shown.returncode == 0 and "jffs2-aged: 2 perturbed" in shown.stdout
