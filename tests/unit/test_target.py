"""Guests without a kernel: archives, flash files, scratch, and the UML target with a stand-in."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from host_support import FakeSite, FakeTarget, cases_of

from ffslab.errors import InfrastructureError, UsageError
from ffslab.lab.lab_build import LabBuild
from ffslab.model.specs import CPU_FIGURES
from ffslab.protocol.chip_file import CHUNK_BYTES, create_flash_file, flash_digest, flash_file_bytes
from ffslab.targets.bounds import bounds
from ffslab.targets.registry import site_module, target_names
from ffslab.targets.target import GuestJob
from ffslab.targets.uml.guests import LocalTarget, batch_command, kernel_arguments
from ffslab.targets.uml.initramfs import (
    build_archive,
    character_device,
    regular_file,
    symbolic_link,
)
from ffslab.targets.uml.scratch import Need, Place, Scratch, scratch_directory
from ffslab.targets.uml.shell import run_shell
from ffslab.targets.virtual_flash import plan_text

MIB = 2**20


def _members(archive: bytes) -> dict[str, tuple[list[int], bytes]]:
    """A reader of newc archives written from the format's description."""
    members: dict[str, tuple[list[int], bytes]] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name_end = at + 110 + fields[11]
        name = archive[at + 110 : name_end - 1].decode()
        data_at = -(-name_end // 4) * 4
        data = archive[data_at : data_at + fields[6]]
        if name == "TRAILER!!!":
            return members
        members[name] = (fields, data)
        at = -(-(data_at + fields[6]) // 4) * 4


def test_archive_holds_files_parents_and_links() -> None:
    archive = build_archive(
        [
            character_device("/dev/console", 5, 1),
            regular_file("/init", b"agent", executable=True),
            regular_file("/lab/vnand.ko", b"12345"),
            symbolic_link("/lab/link", "vnand.ko"),
        ]
    )
    members = _members(archive)
    assert list(members) == ["dev", "dev/console", "init", "lab", "lab/vnand.ko", "lab/link"]
    assert members["init"][0][1] == 0o100755
    assert members["init"][1] == b"agent"
    assert members["lab/link"][1] == b"vnand.ko"
    assert members["dev/console"][0][9:11] == [5, 1]
    inodes = [fields[0] for fields, _ in members.values()]
    assert inodes == [1, 2, 3, 4, 5, 6]
    assert {(fields[2], fields[3], fields[5]) for fields, _ in members.values()} == {(0, 0, 0)}


def test_archive_refuses_a_path_twice() -> None:
    with pytest.raises(ValueError, match="/a appears twice"):
        build_archive([regular_file("/a", b""), regular_file("/a", b"")])


def test_flash_digest_ignores_how_holes_are_stored(tmp_path: Path) -> None:
    sparse, full = tmp_path / "sparse", tmp_path / "full"
    create_flash_file(sparse, 5 * CHUNK_BYTES + 100)
    with sparse.open("r+b") as file:
        file.seek(2 * CHUNK_BYTES + 5)
        file.write(b"x")
    full.write_bytes(sparse.read_bytes())
    assert flash_digest(sparse) == flash_digest(full)
    with full.open("r+b") as file:
        file.seek(2 * CHUNK_BYTES + 6)
        file.write(b"x")
    assert flash_digest(sparse) != flash_digest(full)


def test_flash_digest_is_what_the_document_says(tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    size = 3 * CHUNK_BYTES + 5000  # the last page has 904 bytes
    full, page, short = b"f" * CHUNK_BYTES, b"\0" * 4095 + b"p", b"\0" * 903 + b"s"
    create_flash_file(flash, size)
    with flash.open("r+b") as file:
        for position, contents in (
            (0, full),
            (CHUNK_BYTES + 2 * 4096, page + page),
            (CHUNK_BYTES + 15 * 4096, page),
            (3 * CHUNK_BYTES + 4096, short),
        ):
            file.seek(position)
            file.write(contents)

    def number(value: int, size: int) -> bytes:
        return value.to_bytes(size, "little")

    told = [
        number(size, 8),
        *(number(0, 8), number(0xFFFF, 2), full),
        *(number(CHUNK_BYTES, 8), number(0b1000_0000_0000_1100, 2), page * 3),
        *(number(3 * CHUNK_BYTES, 8), number(0b10, 2), short),
    ]
    assert flash_digest(flash) == "pages:" + hashlib.sha256(b"".join(told)).hexdigest()


@pytest.mark.parametrize("tail", [b"", b"\0" * 904, b"x" + b"\0" * 4999])
def test_flash_digest_takes_a_shorter_last_page_for_what_it_is(tmp_path: Path, tail: bytes) -> None:
    sparse, full = tmp_path / "sparse", tmp_path / "full"
    create_flash_file(sparse, 5000)
    with sparse.open("r+b") as file:
        file.write(tail)
    full.write_bytes(tail.ljust(5000, b"\0"))
    assert flash_digest(sparse) == flash_digest(full)
    first = b"" if not tail.strip(b"\0") else bytes(8) + b"\1\0" + tail[:4096]
    told = (5000).to_bytes(8, "little") + first
    assert flash_digest(full) == "pages:" + hashlib.sha256(told).hexdigest()


def test_flash_file_is_sparse_and_holds_the_chip(tmp_path: Path) -> None:
    chip = cases_of()[0].board.chip
    size = flash_file_bytes(chip)
    pages = chip.blocks * chip.pages_per_block
    assert size >= pages * (chip.page_bytes + chip.oob_bytes + 4) + chip.blocks * 24 + 4 * 4096
    create_flash_file(tmp_path / "flash", size)
    assert (tmp_path / "flash").stat().st_blocks * 512 < MIB
    with pytest.raises(InfrastructureError, match="cannot create the flash file"):
        create_flash_file(tmp_path / "absent" / "flash", size)


def test_scratch_without_room_is_refused(tmp_path: Path) -> None:
    huge = Need(2**60, 0)
    with (
        pytest.raises(InfrastructureError, match=r"no space for one guest"),
        scratch_directory(huge, 1, tmp_path, tmp_path / "wanted"),
    ):
        pass


def test_scratch_of_a_dead_owner_is_removed_and_of_a_living_one_kept(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from ffslab.targets.uml.scratch import Need, Place, Scratch, scratch_directory\n"
        "with scratch_directory(Need(1, 0), 1, Path(sys.argv[1]), Path(sys.argv[1])) as d:\n"
        "    print(d.directory, flush=True); time.sleep(60)\n"
    )
    source = Path(__file__).resolve().parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    ) as owner:
        assert owner.stdout is not None
        left = Path(owner.stdout.readline().strip())
        with scratch_directory(Need(1, 0), 1, tmp_path, tmp_path):
            assert left.exists()
        owner.kill()
        owner.wait()
    with scratch_directory(Need(1, 0), 1, tmp_path, tmp_path):
        assert not left.exists()


def _lab(tmp_path: Path, kernel_script: str) -> LabBuild:
    kernel = tmp_path / "kernel.sh"
    kernel.write_text(f"#!/bin/sh\n{kernel_script}\n")
    kernel.chmod(0o755)
    agent = tmp_path / "ffsagent"
    agent.write_bytes(b"agent")
    modules = {}
    for name in ("vnand", "flashmon"):
        modules[name] = tmp_path / f"{name}.ko"
        modules[name].write_bytes(name.encode())
    return LabBuild(kernel, modules, agent, "test", Path("ffscrash"))


@pytest.mark.parametrize(
    ("step", "agent"),
    [
        ("my-files dir=/mnt", "ffsagent-my_files"),
        ("my-files-read", "ffsagent-my_files"),
        ("my-filesystem dir=/mnt", "ffsagent"),
        ("append-log dir=/my-files", "ffsagent"),
    ],
)
def test_a_plan_gets_the_agent_that_has_its_verbs(tmp_path: Path, step: str, agent: str) -> None:
    lab = _lab(tmp_path, "")
    (tmp_path / "ffsagent-my_files").write_bytes(b"another")
    (tmp_path / "ffsagent-my_files_too").write_bytes(b"a third")
    assert lab.agent_for(f"ffsplan 1\n{step}\nsync\n").name == agent


def _job(tmp_path: Path, timeout_s: float = 20, **changes: object) -> GuestJob:
    case = replace(cases_of()[0], **changes)  # type: ignore[arg-type]
    directory = tmp_path / "case"
    directory.mkdir()
    return GuestJob(case, plan_text(case), directory, timeout_s)


def _target(tmp_path: Path, kernel_script: str) -> LocalTarget:
    """A target whose kernel is a shell script; it says first what a kernel says."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    place = Place(scratch)
    lab = _lab(tmp_path, f"echo Linux version 0 >&2\n{kernel_script}")
    return LocalTarget(lab, Scratch(place, place, 1), time.monotonic_ns)


def test_guest_sees_a_fixed_environment_and_its_channels_are_kept(tmp_path: Path) -> None:
    script = 'env | grep -v ^_= | grep -v PWD; echo "$0 $*"; echo \'{"v":1}\' >&3; ls; echo k >&2'
    guest = _target(tmp_path, script).run(_job(tmp_path))
    assert guest.exit_status == 0
    assert (tmp_path / "case" / "console.log").read_text() == "Linux version 0\nk\n"
    output = (tmp_path / "case" / "output.log").read_text().splitlines()
    assert sorted(output[:3]) == ["HOME=.", "PATH=/usr/bin:/bin", "TERM=linux"]
    assert str(tmp_path) not in " ".join(output)
    assert output[3].startswith("./linux mem=128M time-travel=inf-cpu time-travel-start=")
    assert {"flash.img", "initrd.cpio", "linux"} <= set(output[4:])
    assert (tmp_path / "case" / "records.jsonl").read_text() == '{"v":1}\n'
    assert list((tmp_path / "scratch").iterdir()) == []
    assert guest.flash_sha256 is not None


def test_only_the_place_of_the_results_gives_an_error_of_the_system(tmp_path: Path) -> None:
    """Whoever runs a guest takes an OSError for one of the directory that it gave."""
    target = _target(tmp_path, "exit 0")
    job = _job(tmp_path)
    job.case_dir.rmdir()
    with pytest.raises(FileNotFoundError, match=str(job.case_dir)):
        target.run(job)
    job.case_dir.mkdir()
    with pytest.raises(InfrastructureError, match=r"cannot run the guest of .*gone: No such file"):
        target.run(replace(job, image=tmp_path / "gone"))
    lost = _target(tmp_path / "case", "rm flash.img")
    with pytest.raises(InfrastructureError, match=r"cannot run the guest of .*flash.img: No such"):
        lost.run(job)


@pytest.mark.parametrize(
    ("channel", "name", "variable", "told"),
    [
        (1, "output.log", "FFSLAB_PRINTED_MIB", "its programs printed more than 1 MiB"),
        (2, "console.log", "FFSLAB_PRINTED_MIB", "its console has more than 1 MiB"),
        (3, "records.jsonl", "FFSLAB_RECORDS_MIB", "its records have more than 1 MiB"),
    ],
)
@pytest.mark.parametrize(
    "flood", ["exec tr '\\0' x </dev/zero", "sleep 0.2; head -c 1048577 /dev/zero"]
)
def test_a_guest_that_floods_a_channel_ends(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flood: str,
    channel: int,
    name: str,
    variable: str,
    told: str,
) -> None:
    """Whether or not it would have ended by itself; what is kept is not longer than it may be."""
    monkeypatch.setenv(variable, "1")
    ram = "exec 9<>ram; truncate -s 128M ram; rm ram"  # as UML has it
    target = _target(tmp_path, f"{ram}\n{flood} >&{channel}")
    guest = target.run(_job(tmp_path, timeout_s=60))
    assert guest.failure == f"{told} ({variable} sets how many MiB it may)"
    assert not guest.timed_out and not guest.killed and guest.flash_sha256 is None
    assert (tmp_path / "case" / name).stat().st_size == 2**20


def test_a_guest_may_print_as_much_as_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FFSLAB_PRINTED_MIB", "1")
    guest = _target(tmp_path, "head -c 1048576 /dev/zero").run(_job(tmp_path))
    assert not guest.failure and guest.flash_sha256 is not None
    own = bounds({})
    assert [one.most_bytes // 2**20 for one in (own.output, own.console, own.records)] == [
        16,
        16,
        256,
    ]
    with pytest.raises(UsageError, match="'many' is not a size"):
        bounds({"FFSLAB_RECORDS_MIB": "many"})


def test_hanging_guest_and_its_children_end_at_the_limit(tmp_path: Path) -> None:
    script = "sleep 1000 & echo $! >&3; sleep 1000"
    guest = _target(tmp_path, script).run(_job(tmp_path, timeout_s=0.5))
    assert guest.timed_out
    child = (tmp_path / "case" / "records.jsonl").read_text().strip()
    _wait_for(lambda: not _is_running(child))


def _is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def test_guest_dies_with_a_killed_parent(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from test_target import _job, _target\n"
        "_target(Path(sys.argv[1]), 'echo $$ >&2; exec sleep 1000').run(_job(Path(sys.argv[1])))\n"
    )
    tests = Path(__file__).resolve().parent
    path = f"{tests}:{tests.parents[1] / 'src'}"
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], env={**os.environ, "PYTHONPATH": path}
    )
    console = tmp_path / "scratch" / cases_of()[0].id / "console.log"
    try:
        _wait_for(lambda: console.exists() and console.read_text().count("\n") == 2)
        guest = console.read_text().split()[-1]
        assert _is_running(guest)
    finally:
        parent.kill()
        parent.wait()
    _wait_for(lambda: not _is_running(guest))


def _wait_for(condition: Callable[[], bool], limit_s: float = 20) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_kill_all_ends_guests_and_starts_no_more(tmp_path: Path) -> None:
    target = _target(tmp_path, "sleep 1000")
    timer = threading.Timer(0.3, target.kill_all)
    timer.start()
    started = time.monotonic()
    assert target.run(_job(tmp_path)).killed
    assert time.monotonic() - started < 500  # it would sleep for twice as long
    (tmp_path / "case").rename(tmp_path / "first")
    assert target.run(_job(tmp_path)).killed


def test_power_can_be_cut_where_a_target_says_so_and_nowhere_else() -> None:
    """A rig without the steps would fail in the middle of a run; one with them would be skipped."""
    kinds = {name: site_module(name).KIND for name in target_names()}
    assert {"uml", "qemu", "ssh"} <= set(kinds)
    for name, kind in kinds.items():
        assert (kind.rig.cutting is not None) == kind.capabilities.power_cut, name
    assert any(kind.capabilities.power_cut for kind in kinds.values())


def test_missing_kernel_is_an_infrastructure_error(tmp_path: Path) -> None:
    lab = replace(_lab(tmp_path, ""), kernel=tmp_path / "absent")
    place = Place(tmp_path)
    with pytest.raises(InfrastructureError, match=r"the lab kernel .*absent is missing"):
        LocalTarget(lab, Scratch(place, place, 1), time.monotonic_ns)


def test_missing_module_is_a_reason_to_skip(tmp_path: Path) -> None:
    lab = replace(_lab(tmp_path, ""), modules={})
    place = Place(tmp_path)
    target = LocalTarget(lab, Scratch(place, place, 1), time.monotonic_ns)
    assert target.missing(cases_of()[0]) == "the lab build has no module vnand"


def test_command_line_is_a_function_of_the_case_alone() -> None:
    case = cases_of()[0]
    assert batch_command(case, None).script == batch_command(case, None).script
    arguments = kernel_arguments(case, ())
    assert "uml_seed=1" in arguments
    at = arguments.index("cpu_instruction_ps=3750")
    assert arguments[at + 1 : at + 6] == (
        "cpu_byte_ps=7000",
        "cpu_set_byte_ps=3500",
        "cpu_copy_ns=150",
        "cpu_set_ns=375",
        "cpu_syscall_ns=281",
    )
    half = kernel_arguments(replace(case, cpu_scale=0.5), ())
    # 937.5, rounded to an even number.
    assert {"cpu_instruction_ps=1875", "cpu_copy_ns=75", "cpu_syscall_ns=140"} <= set(half)
    free = kernel_arguments(replace(case, cpu_scale=0.0), ())
    assert {f"{name}=0" for name in CPU_FIGURES} <= set(free)
    assert "taskset -c 3" in batch_command(case, 3).script
    assert kernel_arguments(replace(case, trace=True), ()) == arguments


def test_shell_refuses_a_lab_that_the_guest_cannot_see() -> None:
    hidden = Path("/dev/shm")
    with pytest.raises(InfrastructureError, match="the guest cannot see"):
        run_shell(FakeSite(FakeTarget()), cases_of()[0], hidden, "/bin/sh")
