"""Guests of target qemu: studies pass there, twice alike, and do to the flash what the lab's do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from guest_programs import NIGHTLY
from lab_support import ROOT, STUDY, cases

from ffslab.errors import GuestLostError
from ffslab.protocol.records import parse_records
from ffslab.targets.qemu.site import site_for
from ffslab.targets.target import CONSOLE_NAME, RECORDS_NAME, GuestJob, Opening, SiteOptions
from ffslab.targets.uml.site import LocalSite
from ffslab.workloads.plans import guest_plans

HALF_A_MINUTE_S = 30


@pytest.fixture(scope="module")
def site() -> LocalSite:
    """The lab for ARM, and QEMU."""
    return site_for(list(cases().values()), SiteOptions())


def run(study: Path, output: Path, *words: str) -> tuple[int, bytes]:
    """Exit code and results of a run."""
    done = subprocess.run(
        [sys.executable, "-m", "ffslab", "run", study, "--no-report", "-o", output, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = sorted(output.glob("*/results.jsonl"))
    assert found, done.stderr
    return done.returncode, found[-1].read_bytes()


def rows(results: bytes) -> dict[str, Any]:
    return {row["id"]: row for row in map(json.loads, results.splitlines())}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.toml"
    all_four = STUDY.replace('["jffs2", "ubifs"]', '["jffs2", "ubifs", "yaffs2", "logfs"]')
    path.write_text(all_four, "utf-8")
    return path


@pytest.fixture(scope="module")
def there(site: LocalSite, study: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What it measures with QEMU; the contents of all files are verified."""
    assert site.kind.name == "qemu"
    code, results = run(study, tmp_path_factory.mktemp("qemu"), "--target", "qemu")
    assert code == 0, results
    return results


def test_file_systems_and_prepared_states_work(there: bytes) -> None:
    outcomes = {name: row["outcome"] for name, row in rows(there).items()}
    assert set(outcomes.values()) == {"pass"}
    assert len(outcomes) == 8


def test_a_second_run_gives_the_same_bytes(there: bytes, study: Path, tmp_path: Path) -> None:
    case = "ubifs-aged-s1"
    code, again = run(study, tmp_path, "--target", "qemu", "--case", case)
    assert code == 0
    assert rows(again)[case] == rows(there)[case]


def test_the_flash_is_asked_for_what_the_lab_asks(
    there: bytes, study: Path, tmp_path: Path
) -> None:
    """Threads work by the clock, which moves work between phases: a few percent of all at most."""
    _, here = run(study, tmp_path)
    for name, row in rows(there).items():
        pages, of_lab = (
            next(
                phase["pages_programmed"] for phase in one["phases"] if phase["phase"] == "workload"
            )
            for one in (row, rows(here)[name])
        )
        assert of_lab > 0
        assert abs(pages - of_lab) <= 0.05 * of_lab, name


IMAGES = """
schema = 1
name = "images"
title = "Images, on three file systems"

[base]
board = "apf27"
partition_bytes = "24 MiB"
state = "image"
seeds = [1]

[base.workload]
kind = "tree"
steps = "mount list unmount"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2", "squashfs"]
"""


def test_a_flash_begins_with_the_image_that_the_lab_writes(tmp_path: Path) -> None:
    """It is built on this computer, and a guest finds it on its flash as in the lab."""
    study = tmp_path / "images.toml"
    study.write_text(IMAGES, "utf-8")
    code, there = run(study, tmp_path / "there", "--target", "qemu")
    assert code == 0, there
    _, here = run(study, tmp_path / "here")
    for name, row in rows(there).items():
        expected = rows(here)[name]
        assert row["outcome"] == "pass"
        assert row["image"]["sha256"] == expected["image"]["sha256"]
        assert [phase["phase"] for phase in row["phases"]] == [
            phase["phase"] for phase in expected["phases"]
        ]
        pages, of_lab = (
            sum(phase["pages_read"] for phase in one["phases"]) for one in (row, expected)
        )
        assert abs(pages - of_lab) <= max(3, 0.05 * of_lab), name


@pytest.mark.usefixtures("site")
def test_a_worn_chip_has_as_many_wrong_bits_there(tmp_path: Path) -> None:
    """YAFFS2 reads the same pages of both, after five years without power."""
    case = ("--case", "once-yaffs2-worncycles50000-shelfhours43800-s1")
    found = {}
    for target in ("uml", "qemu"):
        code, results = run(Path("bitflips"), tmp_path / target, "--target", target, *case)
        assert code == 0, results
        (row,) = rows(results).values()
        (check,) = (phase for phase in row["phases"] if phase["phase"] == "check")
        found[target] = check["pages_read"], check["flash"]["chip_bitflips_corrected"]
    (pages, here), (pages_there, there) = found["uml"], found["qemu"]
    assert pages_there == pages
    assert here > 1000 and there == pytest.approx(here, rel=0.05)


@pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 executes a minute of busy waiting")
def test_jffs2_on_nor_asks_for_what_the_lab_asks(tmp_path: Path) -> None:
    """The driver polls, so QEMU executes the chip's time, 65 s: minutes of the host's. Most is that
    of the programs, whose number hardly depends on when threads work.
    """
    case = "normount-jffs2-spirxbits4-spitxbits4-s1"
    code, results = run(Path("spi"), tmp_path / "there", "--case", case, "--target", "qemu")
    assert code == 0, results
    there = rows(results)[case]["phases"]
    here = rows(run(Path("spi"), tmp_path / "here", "--case", case)[1])[case]["phases"]
    for name in ("pages_programmed", "blocks_erased"):
        found, of_lab = (sum(phase[name] for phase in phases) for phases in (there, here))
        assert of_lab > 100
        assert found == pytest.approx(of_lab, rel=0.01), name
    taken, of_lab = (
        next(phase["duration_ns"] for phase in phases if phase["phase"] == "create")
        for phases in (there, here)
    )
    assert taken == pytest.approx(of_lab, rel=0.05)


def test_what_it_cannot_is_skipped_with_the_reason(
    site: LocalSite, study: Path, tmp_path: Path
) -> None:
    assert site.build_id
    words = ("--set", "cpu_scale=0.5", "--case", "jffs2-free-s1", "--target", "qemu")
    _, results = run(study, tmp_path, *words)
    (row,) = rows(results).values()
    assert row["outcome"] == "skip"
    assert "cpu_scale" in row["reason"]


def job(tmp_path: Path, plan: str, timeout_s: float = HALF_A_MINUTE_S) -> GuestJob:
    case = cases()["jffs2-free-s1"]
    directory = tmp_path / "case"
    directory.mkdir()
    return GuestJob(case, plan, directory, timeout_s)


def test_a_guest_that_does_not_end_is_ended_at_its_limit(site: LocalSite, tmp_path: Path) -> None:
    # An hour of busy waiting for the chip: more than a second of the host's.
    wanted = job(tmp_path, guest_plans(cases()["jffs2-free-s1"], site.kind.rig)[-1], 0.6)
    with site.open(Opening([wanted.case], 1, tmp_path)) as opened:
        ended = opened.target.run(wanted)
    assert ended.timed_out
    assert parse_records((wanted.case_dir / RECORDS_NAME).read_bytes()).end is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_guest_that_somebody_ends_has_no_result(
    site: LocalSite, tmp_path: Path, number: signal.Signals
) -> None:
    # Hours of computing: it cannot be at its end before it is ended, however busy the host is.
    wanted = job(tmp_path, "ffsplan 1\nprobe-cpu what=user-crc32 phase=long count=100000000\n")

    def end_it() -> None:
        for _ in range(HALF_A_MINUTE_S * 20):
            time.sleep(0.05)
            found = subprocess.run(
                ["pgrep", "-f", f"qemu-system-arm.*{CONSOLE_NAME}"],
                capture_output=True,
                text=True,
                check=False,
            )
            own = [pid for pid in map(int, found.stdout.split()) if _is_ours(pid)]
            if own and "Linux version" in _console(own[0]):
                os.kill(own[0], number)
                return

    killer = threading.Thread(target=end_it)
    with site.open(Opening([wanted.case], 1, tmp_path)) as opened:
        killer.start()
        with pytest.raises(GuestLostError, match="ended the guest"):
            opened.target.run(wanted)
    killer.join()


def _is_ours(pid: int) -> bool:
    """Other processes of the tests have guests of their own."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return False
    return f"PPid:\t{os.getpid()}\n" in status


def _console(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cwd/{CONSOLE_NAME}").read_text("utf-8", "replace")
    except OSError:
        return ""
