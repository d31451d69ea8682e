"""QEMU's threads take turns, however late one of them is: `src/ffslab/targets/qemu/turns.c`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_support import ROOT, cases

from ffslab.protocol.records import parse_records
from ffslab.targets.qemu.machine import MACHINE, RIG
from ffslab.targets.qemu.site import site_for
from ffslab.targets.qemu.turns import TURNS_NAME, put_turns
from ffslab.targets.target import RECORDS_NAME, SiteOptions
from ffslab.targets.uml.directory import write_guest_directory
from ffslab.targets.uml.site import LocalSite
from ffslab.workloads.plans import guest_plans

LATE = "late_count.so"
LIMIT_S = 300
# Threads of UBI and UBIFS, and a chip that takes its time: the processor halts often.
STUDY = """
schema = 1
name = "halts"
title = "A guest that halts often"

[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "ubifs"
state = "free"
seeds = [1]

[base.workload]
kind = "ffsmark"
number = 50
transactions = 100

[axes]
"options.compression" = ["none"]
"""


@pytest.fixture(scope="module")
def site() -> LocalSite:
    return site_for(list(cases(STUDY).values()), SiteOptions())


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes a thread late."""
    made = tmp_path_factory.mktemp("late") / LATE
    source = ROOT / "tests/lab/late_count.c"
    words = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source]
    subprocess.run(words, check=True)
    return made


def records(site: LocalSite, late: Path, directory: Path, *libraries: str) -> bytes:
    """What a guest says if QEMU has these libraries loaded into it."""
    (case,) = cases(STUDY).values()
    write_guest_directory(directory, site.lab, case, guest_plans(case, RIG)[-1], rig=RIG)
    put_turns(directory)
    (directory / LATE).symlink_to(late)
    command = MACHINE.command(case, directory, None, False)
    preloaded = {"LD_PRELOAD": ":".join(f"./{name}" for name in libraries)}
    subprocess.run(
        [command.machine, *command.arguments],
        cwd=directory,
        env={**command.environment, **preloaded},
        timeout=LIMIT_S,
        check=True,
    )
    found = (directory / RECORDS_NAME).read_bytes()
    end = parse_records(found).end
    assert end and end.is_good
    return found


def test_a_thread_that_counts_late_changes_nothing(
    site: LocalSite, late: Path, tmp_path: Path
) -> None:
    usual = records(site, late, tmp_path / "usual", TURNS_NAME)
    assert records(site, late, tmp_path / "late", TURNS_NAME, LATE) == usual
    # No control without it: whether the threads meet then depends on the host's load.


def test_guests_of_the_target_have_it(tmp_path: Path) -> None:
    (case,) = cases(STUDY).values()
    command = MACHINE.command(case, tmp_path, None, False)
    assert command.environment["LD_PRELOAD"] == f"./{TURNS_NAME}"
    assert f"LD_PRELOAD=./{TURNS_NAME}" in command.script
