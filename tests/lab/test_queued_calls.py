"""Calls that the agent puts off: made together or one by one, everything is the same bytes.

The digit at the end of a text in the agent's program says whether the agent uses the kernel's
queue. Changing it changes no size, no address and no other instruction.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from guest_programs import JFFS2, SOURCES, UBIFS, YAFFS2, Subject, device_steps, mount_step
from lab_support import STUDY, Boot, boot, cases, edited

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.targets.target import CONSOLE_NAME, FLASH_NAME, RECORDS_NAME
from ffslab.targets.uml.guests import KIND
from ffslab.targets.virtual_flash import plan_text
from ffslab.workloads.plans import guest_plans

SWITCH = b"ffsagent.calls.together="
FILES = STUDY.replace('"ubifs"]', '"ubifs", "yaffs2"]')
TREES = """
schema = 1
name = "labtest"
title = "Trees of many small files, and of some that are larger than the agent's reserve"

[base]
board = "apf27"
partition_bytes = "32 MiB"
seeds = [1]

[base.workload]
kind = "tree"
steps = "mount create unmount mount list find check delete unmount"
depth = 2
directories = 2
files = {files}
size = "uniform(0, {size})"

[axes]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"""

MICRO = """
schema = 1
name = "labtest"
title = "Requests with and without reads, syncs and a second stream beside them"

[base]
board = "apf27"
partition_bytes = "16 MiB"
state = { valid_percent = 30, invalid_percent = 20, remount = false }
filesystem = "{filesystem}"
seeds = [1]

[base.workload]
kind = "micro"
volume_bytes = "512 KiB"
file_bytes = "2 MiB"

[[part]]
name = "small"
[part.axes]
"workload.pattern" = ["random-write", "random-read"]
"workload.request_bytes" = [700]

[[part]]
name = "synced"
[part.axes]
"workload.pattern" = ["random-write"]
"workload.fsync_every" = [3]

[[part]]
name = "mixed"
[part.axes]
"workload.pattern" = ["sequential-read"]
"workload.mix_pattern" = ["random-write"]
"workload.mix_ratio" = [3]
"workload.cache" = ["bypass"]
"""


@pytest.fixture(scope="session")
def apart(lab: LabBuild, tmp_path_factory: pytest.TempPathFactory) -> LabBuild:
    """The same lab, whose agent makes calls one by one."""
    program = lab.agent.read_bytes()
    assert program.count(SWITCH + b"1") == 1
    changed = tmp_path_factory.mktemp("agent") / lab.agent.name
    changed.write_bytes(program.replace(SWITCH + b"1", SWITCH + b"0"))
    changed.chmod(0o755)
    return replace(lab, agent=changed)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("calls")
    subprocess.run(["make", "-s", "-C", SOURCES / "calls", f"O={directory}"], check=True)
    return directory / "calls"


def assert_alike(one: Boot, other: Boot) -> None:
    for name in (RECORDS_NAME, CONSOLE_NAME, FLASH_NAME):
        assert (one.directory / name).read_bytes() == (other.directory / name).read_bytes(), name


def both(lab: LabBuild, apart: LabBuild, directory: Path, case: Case, plan: str) -> Boot:
    together = boot(lab, directory / "together", case, plan)
    assert_alike(together, boot(apart, directory / "apart", case, plan))
    return together


@pytest.mark.parametrize("name", list(cases(FILES)))
def test_files_of_the_pool(lab: LabBuild, apart: LabBuild, tmp_path: Path, name: str) -> None:
    case = cases(FILES)[name]
    guest = both(lab, apart, tmp_path, case, plan_text(case))
    assert guest.of_type("end")[0]["status"] == "ok"


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
@pytest.mark.parametrize(("files", "size"), [(300, 3_000), (3, 900_000)])
def test_trees(
    lab: LabBuild, apart: LabBuild, tmp_path: Path, filesystem: str, files: int, size: int
) -> None:
    text = TREES.replace("{files}", str(files)).replace("{size}", str(size))
    case = cases(text)[f"{filesystem}-s1"]
    guest = both(lab, apart, tmp_path, case, plan_text(case))
    assert guest.of_type("end")[0]["status"] == "ok"


def test_a_chip_with_bad_blocks(lab: LabBuild, apart: LabBuild, tmp_path: Path) -> None:
    """The step that erases leaves them out, wherever in its queue they are."""
    case = cases(FILES, factory_bad=40)["jffs2-free-s1"]
    guest = both(lab, apart, tmp_path, case, plan_text(case))
    assert guest.of_type("end")[0]["status"] == "ok"
    (bad,) = {record["bad_blocks"] for record in guest.of_type("mtd")}
    assert bad


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
def test_requests(lab: LabBuild, apart: LabBuild, tmp_path: Path, filesystem: str) -> None:
    """With what each of them asked of the flash."""
    chosen = cases(MICRO.replace("{filesystem}", filesystem))
    assert len(chosen) == 4
    for name, case in chosen.items():
        (plan,) = guest_plans(case, KIND.rig)
        (tmp_path / name).mkdir()
        guest = both(lab, apart, tmp_path / name, case, plan)
        assert guest.of_type("end")[0]["status"] == "ok"
        assert guest.of_type("requests")


def test_one_file_of_many_requests(lab: LabBuild, apart: LabBuild, tmp_path: Path) -> None:
    """An operation of more calls than the queue has room for."""
    case = cases(FILES)["yaffs2-free-s1"]
    plan = edited(
        plan_text(case),
        [
            ("number=300", "number=3"),
            ("transactions=1500", "transactions=4"),
            ("size_min=512 size_max=10240", "size_min=400000 size_max=600000"),
            ("read_bytes=4096 write_bytes=4096", "read_bytes=700 write_bytes=512"),
        ],
    )
    guest = both(lab, apart, tmp_path, case, plan)
    (created,) = [p for p in guest.of_type("phase") if p["phase"] == "creation"]
    assert created["files_created"] == 3 and created["bytes_written"] > 1_200_000


@pytest.mark.parametrize("name", ["jffs2-free-s1", "ubifs-free-s1", "yaffs2-free-s1"])
def test_a_full_partition(lab: LabBuild, apart: LabBuild, tmp_path: Path, name: str) -> None:
    """The failure is that of the same file, after the same number of files."""
    case = cases(FILES)[name]
    plan = edited(plan_text(case), [("number=300", "number=9000")])
    guest = both(lab, apart, tmp_path, case, plan)
    message = guest.failed_step()["message"]
    assert "cannot create /mnt/s" in message and "No space left" in message
    (created,) = [p for p in guest.of_type("phase") if p["phase"] == "creation"]
    assert 1000 < created["files_created"] < 9000


def test_a_file_that_is_there(
    lab: LabBuild, apart: LabBuild, tmp_path: Path, program: Path
) -> None:
    """It stays, and what the workload made before it is tidied up."""
    case = cases(FILES)["yaffs2-free-s1"]
    plan = edited(
        plan_text(case),
        [
            (" subdirectories=5", " subdirectories=0"),
            ("settle quiet_ms=2000", "exec path=/test/calls args=touch%20/mnt/200"),
        ],
    )
    files = {"/test/calls": program}
    guests = [
        boot(part, tmp_path / name, case, plan, files=files)
        for name, part in (("together", lab), ("apart", apart))
    ]
    assert_alike(*guests)
    message = guests[0].failed_step()["message"]
    assert "cannot create /mnt/200 (left over from an earlier run?" in message


@pytest.mark.parametrize("subject", [JFFS2, UBIFS, YAFFS2], ids=lambda s: s.name)
def test_the_kernels_side(lab: LabBuild, tmp_path: Path, program: Path, subject: Subject) -> None:
    """Results, times, failures, what is refused: tests/lab/guest/calls/main.c."""
    case = subject.case()
    plan = "\n".join(
        [
            *device_steps(case),
            mount_step(case),
            "exec path=/test/calls args=/mnt",
            "umount target=/mnt",
        ]
    )
    guest = boot(lab, tmp_path / "guest", case, plan + "\n", files={"/test/calls": program})
    assert guest.of_type("end")[0]["status"] == "ok", guest.printed
