"""What the host does to guests: it kills them, it has no room. None of that is a result."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lab_support import ROOT, STUDY, cases, edited, ffslab, results, run_study

from ffslab.errors import GuestLostError
from ffslab.lab.lab_build import LabBuild
from ffslab.targets.target import GuestJob, GuestRun
from ffslab.targets.uml.guests import LocalTarget
from ffslab.targets.uml.scratch import largest_need, scratch_directory
from ffslab.targets.virtual_flash import plan_text

MIB = 2**20
CASE = "ubifs-aged-s1"


def guest_pid(directory: Path) -> int | None:
    """The lab kernel's leading process in `directory`."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            here = process.name.isdecimal() and (process / "cwd").readlink() == directory
            if here and (process / "comm").read_text() == "linux\n":
                found.append(int(process.name))
        except OSError:
            continue
    return min(found, default=None)


def contents(path: Path) -> bytes:
    """Of a file that a guest's end may remove at any moment."""
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


def disturbed(
    lab: LabBuild, tmp_path: Path, disturb: Callable[[int], bool], name: str = "case"
) -> GuestRun:
    """Runs a guest; `disturb` gets its process until it says that it has done its work."""
    # Far longer than a busy host needs to come to the disturbance.
    case = cases(edited(STUDY, [("transactions = 1500", "transactions = 30000")]))[CASE]
    case_dir = tmp_path / name
    case_dir.mkdir()
    ended = threading.Event()
    with scratch_directory(largest_need([case]), 1, tmp_path, tmp_path) as scratch:

        def work() -> None:
            records = scratch.directory / case.id / "records.jsonl"
            while not ended.wait(0.002):
                # In the middle: the file system is mounted.
                if not records.exists() or b'"settled"' not in contents(records):
                    continue
                pid = guest_pid(scratch.directory / case.id)
                if pid is not None and disturb(pid):
                    return

        thread = threading.Thread(target=work)
        thread.start()
        try:
            target = LocalTarget(lab, scratch, time.monotonic_ns)
            return target.run(GuestJob(case, plan_text(case), case_dir, 60))
        finally:
            ended.set()
            thread.join()


def sends(number: int) -> Callable[[int], bool]:
    def send(pid: int) -> bool:
        os.kill(pid, number)
        return True

    return send


def sends_to_child(number: int) -> Callable[[int], bool]:
    """To the process that the agent's plan runs in, the last that the kernel has begun; until the
    guest has ended, since that process may just be replaced by another.
    """

    def send(pid: int) -> bool:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if len(children) >= 2:
                os.kill(int(children[-1]), number)
        return False

    return send


@pytest.mark.parametrize(
    ("disturb", "told"),
    [
        (sends(signal.SIGKILL), "it was ended by SIGKILL"),
        (sends(signal.SIGTERM), "it was ended by SIGTERM or SIGINT"),
        (sends(signal.SIGQUIT), "it was ended by SIGQUIT"),
        (sends_to_child(signal.SIGKILL), "the host failed it: "),
        (sends_to_child(signal.SIGTERM), "the host failed it: "),
    ],
    ids=["kill", "term", "quit", "kill-child", "term-child"],
)
def test_a_guest_killed_from_outside_is_lost(
    lab: LabBuild, tmp_path: Path, disturb: Callable[[int], bool], told: str
) -> None:
    with pytest.raises(GuestLostError) as caught:
        disturbed(lab, tmp_path, disturb)
    assert caught.value.message.startswith(f"the host ended the guest of {CASE}: ")
    assert told in caught.value.message
    # What it printed until then is there.
    assert "UBIFS" in (tmp_path / "case" / "console.log").read_text()
    assert not list(tmp_path.glob("ffslab-scratch-*"))


def test_a_fault_of_the_kernel_is_a_result(lab: LabBuild, tmp_path: Path) -> None:
    run = disturbed(lab, tmp_path, sends(signal.SIGSEGV))
    assert run.exit_status == -signal.SIGABRT
    console = (tmp_path / "case" / "console.log").read_text()
    assert "Kernel panic - not syncing: " in console


def in_small_memory(
    size: str, words: Sequence[str], script: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs a shell command with a /dev/shm of its own; `"$@"` in it are the words."""
    namespace = ["unshare", "--mount"]
    if os.geteuid():
        namespace += ["--user", "--map-root-user"]
    mount = f"mount -t tmpfs -o size={size} none /dev/shm && "
    return subprocess.run(
        [*namespace, "/bin/sh", "-c", mount + (script or 'exec "$@"'), "sh", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80"},
        check=False,
        timeout=300,
    )


def run_words(study: Path, output: Path) -> list[str]:
    words = ["run", str(study), "--output", str(output), "--jobs", "2", "--no-report"]
    return [sys.executable, "-m", "ffslab", *words, "--set", "filesystem=ubifs", "--seeds", "2"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.usefixtures("lab")
def test_a_containers_shared_memory_is_too_small_and_the_bytes_are_the_same(
    study: Path, tmp_path: Path
) -> None:
    done = in_small_memory("64m", run_words(study, tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the guests' RAM is in" in " ".join(done.stdout.split())
    (run,) = (tmp_path / "out").glob("*/")
    whole = run_study(
        study, tmp_path / "whole", "--no-report", "--set", "filesystem=ubifs", "--seeds", "2"
    )
    assert (run / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


@pytest.mark.usefixtures("lab")
def test_too_small_a_place_is_told_before_a_guest_starts(study: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f'mount -t tmpfs -o size=32m none {small} && exec "$@" --scratch {small}'
    done = in_small_memory("64m", run_words(study, tmp_path / "out"), mount)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no space for one guest: /dev/shm has 64 MiB free" in " ".join(done.stderr.split())
    (run,) = (tmp_path / "out").glob("*/")
    assert not list((run / "cases").iterdir())


@pytest.mark.usefixtures("lab")
def test_fewer_guests_at_once_where_there_is_room_for_one(study: Path, tmp_path: Path) -> None:
    whole = run_study(
        study, tmp_path / "whole", "--no-report", "--set", "filesystem=ubifs", "--seeds", "2"
    )
    done = in_small_memory("240m", run_words(study, tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 guest(s) at once instead of 2: /dev/shm has 240 MiB free" in done.stdout
    (run,) = (tmp_path / "out").glob("*/")
    assert (run / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


FILLED = r"""
"$@" & ffslab=$!
# As soon as a second guest has begun another program takes all that is left. The guest, which leads
# its session, is held meanwhile.
held=
while [ -z "$held" ]; do
    kill -0 $ffslab || exit 9
    sleep 0.005
    cat /dev/shm/*/*-s2/records.jsonl 2>/dev/null | grep -q mounted || continue
    # One program for all processes: a guest does not wait for us.
    for process in $(ls -l /proc/[0-9]*/cwd 2>/dev/null |
            sed -n 's|.* \(/proc/[0-9]*\)/cwd -> /dev/shm/.*-s2$|\1|p'); do
        # One that has ended by now is not held, and the next one is waited for.
        set -- $(cat $process/stat 2>/dev/null) && [ "$1" = "$6" ] &&
            kill -STOP $1 2>/dev/null && held="$held $1"
    done
done
dd if=/dev/zero of=/dev/shm/fill bs=64k 2>/dev/null
kill -CONT $held
wait $ffslab
"""


@pytest.mark.usefixtures("lab")
def test_a_place_that_fills_up_gives_no_result_and_the_run_is_resumed(
    study: Path, tmp_path: Path
) -> None:
    # Long enough that the guest is still to use what the other program takes.
    longer = ("--set", "workload.number=400", "--set", "workload.transactions=12000")
    words = [*run_words(study, tmp_path / "out"), *longer]
    done = in_small_memory("240m", words, FILLED)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "/dev/shm was full" in done.stderr and "--resume" in done.stderr
    (run,) = (tmp_path / "out").glob("*/")
    assert [result["outcome"] for result in results(run)] == ["pass"] * len(results(run))
    assert len(results(run)) < 4
    resumed = ffslab("run", str(run), "--resume", "--no-report")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert [result["outcome"] for result in results(run)] == ["pass"] * 4
