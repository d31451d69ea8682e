"""The same case gives the same bytes: alone, under load, with one job and with four,
traced and not. tests/lab/test_host.py has other hosts."""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import STUDY, boot, cases, results, run_study

from ffslab.lab.lab_build import LabBuild


def _spin() -> None:
    while True:
        pass


@contextmanager
def load_on_every_core() -> Iterator[None]:
    """More runnable processes than cores while the guests run."""
    burners = [
        multiprocessing.Process(target=_spin, daemon=True)
        for _ in range(2 * multiprocessing.cpu_count())
    ]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


@pytest.mark.usefixtures("lab")
def test_alone_and_under_load_with_one_and_four_jobs(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace('"ubifs"]', '"ubifs", "yaffs2"]'))
    options = ("--trace", "--keep-flash")
    alone = run_study(study, tmp_path / "alone", "--jobs", "1", *options)
    with load_on_every_core():
        loaded = run_study(study, tmp_path / "loaded", "--jobs", "4", *options)

    assert (alone / "results.jsonl").read_bytes() == (loaded / "results.jsonl").read_bytes()
    names = [result["id"] for result in results(alone)]
    assert len(names) == 6
    for name in names:
        for file in ("records.jsonl", "console.log", "trace.bin", "flash.img"):
            one, other = (run / "cases" / name / file for run in (alone, loaded))
            assert one.stat().st_size > 1000, one
            assert one.read_bytes() == other.read_bytes(), (name, file)


def test_the_seed_matters(lab: LabBuild, tmp_path: Path) -> None:
    """A lab that always gave the same bytes would pass the test above, too."""
    case = next(iter(cases().values()))
    one = boot(lab, tmp_path / "one", case)
    two = boot(lab, tmp_path / "two", replace(case, seed=2))
    assert one.records != two.records


def test_a_trace_takes_no_virtual_time(lab: LabBuild, tmp_path: Path) -> None:
    for name, case in cases().items():
        plain = boot(lab, tmp_path / f"{name}-plain", case)
        traced = boot(lab, tmp_path / f"{name}-traced", replace(case, trace=True))
        assert plain.records == traced.records
        assert plain.flash.read_bytes() == traced.flash.read_bytes()
        count = [struct.unpack_from("<Q", b.trace.read_bytes(), 16)[0] for b in (plain, traced)]
        assert count[0] == 0 and count[1] > 1000
