"""Trees that the patches do not apply to as they are: merged, or without the CPU model.

FFSLAB_NIGHTLY=1 compiles a kernel of each.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from guest_programs import NIGHTLY
from lab_support import ffslab, results, run_study

from ffslab.lab.archives import FURTHER, VERSION
from ffslab.lab.lab import kernel_inputs, known_source
from ffslab.lab.lab_build import LabBuild
from ffslab.lab.patches import Applied, Series, apply_series
from ffslab.lab.progress import SilentProgress
from ffslab.lab.source import ensure_source
from ffslab.model.kernels import FLASH_TIME_ONLY
from ffslab.results.rundir import MANIFEST, RESULTS

TIME = "arch/um/kernel/time.c"
# A comment beside a line that patch 0004 changes, and a line that it changes.
BESIDE = "/* userspace - relay signal, results in correct userspace timers */"
CHANGED = "return time_travel_time / TIMER_MULTIPLIER;"
SYSTEMS = 'filesystem=["jffs2", "ubifs", "yaffs2", "logfs"]'


@pytest.fixture
def tree(lab: LabBuild, tmp_path: Path) -> Path:  # noqa: ARG001
    """The source of the lab, of links: who changes a file replaces it."""
    source = known_source(None)
    assert source is not None
    copy = tmp_path / "linux"
    shutil.copytree(source.tree, copy, symlinks=True, copy_function=os.link)
    return copy


def change(tree: Path, old: str, new: str) -> Path:
    path = tree / TIME
    text = path.read_text()
    assert text.count(old) == 1
    path.unlink()
    path.write_text(text.replace(old, new))
    return tree


def usual() -> tuple[Series, Path]:
    source = known_source(None)
    assert source is not None
    return kernel_inputs("default").series, source.tree


def test_a_comment_beside_a_patched_line_is_merged(tree: Path) -> None:
    series, source = usual()
    change(tree, BESIDE, "/* relay the signal */")
    assert apply_series(tree, series, lambda: source) == Applied(merged=True)
    assert BESIDE in (source / TIME).read_text(), "the source is only read"


def test_a_patched_line_that_is_another_one_costs_the_cpu_model(tree: Path) -> None:
    series, source = usual()
    change(tree, CHANGED, "return div_u64(time_travel_time, TIMER_MULTIPLIER);")
    applied = apply_series(tree, series, lambda: source)
    assert applied.flash_only and not applied.merged and "0004-um-cpu-model" in applied.left_out
    assert not {path.stem for path in series.essential | series.alone} & set(applied.left_out)


@pytest.mark.parametrize(
    "version",
    [
        VERSION,
        *(
            pytest.param(
                version, marks=pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 fetches it")
            )
            for version in FURTHER
        ),
    ],
)
def test_what_a_lab_needs_applies_without_the_rest(tmp_path: Path, version: str) -> None:
    source = ensure_source(SilentProgress(), version=version).tree
    series = kernel_inputs("default", version).series
    needed = series.of(series.essential | series.alone)
    copy = tmp_path / "linux"
    shutil.copytree(source, copy, symlinks=True, copy_function=os.link)
    assert needed and apply_series(copy, Series(needed, version)) == Applied()


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds other kernels")
def test_a_merged_kernel_gives_the_same(tree: Path, tmp_path: Path) -> None:
    change(tree, BESIDE, "/* relay the signal */")
    merged = run_study("quick", tmp_path / "merged", "--set", SYSTEMS, "--kernel-source", str(tree))
    plain = run_study("quick", tmp_path / "plain", "--set", SYSTEMS)
    assert (merged / RESULTS).read_bytes() == (plain / RESULTS).read_bytes()
    assert "merged patches of 6.1" in (merged / MANIFEST).read_text()


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds other kernels")
def test_without_the_cpu_model_the_flash_takes_time(tree: Path, tmp_path: Path) -> None:
    """Everything passes, twice the same; all time is the flash's, and compare says so."""
    change(tree, CHANGED, "return div_u64(time_travel_time, TIMER_MULTIPLIER);")
    words = ("--set", SYSTEMS, "--kernel-source", str(tree))
    runs = [run_study("quick", tmp_path / name, *words) for name in ("one", "two")]
    assert (runs[0] / RESULTS).read_bytes() == (runs[1] / RESULTS).read_bytes()
    assert FLASH_TIME_ONLY in (runs[0] / MANIFEST).read_text()
    plain = run_study("quick", tmp_path / "plain", "--set", SYSTEMS)
    for bare, result in zip(results(runs[0]), results(plain), strict=True):
        assert bare["outcome"] == "pass"
        for phase, usual in zip(bare["phases"], result["phases"], strict=True):
            assert phase["phase"] == usual["phase"]
            assert phase["duration_ns"] <= usual["duration_ns"]
    told = ffslab("compare", str(plain), str(runs[0]))
    assert "code takes time on one side only" in told.stdout, told.stdout
    cuts = run_study("crash-quick", tmp_path / "cuts", "--kernel-source", str(tree))
    assert {result["outcome"] for result in results(cuts)} <= {"pass"}
