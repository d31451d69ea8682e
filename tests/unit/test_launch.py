"""A guest never outlives ffslab, whenever ffslab is killed; and what is seen of its RAM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ffslab.targets.uml.launch import held_ram, kill_group, start_guest, with_parent

SOURCE = Path(__file__).resolve().parents[2] / "src"
OWNER = """
import os, signal, sys, time
from pathlib import Path
import ffslab.targets.uml.launch as launch
{before}
script = "echo $$ > leader; sleep 1000 & echo $! > child; sleep 1000"
process = launch.start_guest(script, Path("."))
time.sleep(1000)
"""


def owner(directory: Path, before: str = "") -> subprocess.Popen[bytes]:
    """A process that starts a guest which arms no death signal, and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", OWNER.format(before=before)],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )


def number_in(path: Path) -> int:
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(path.read_text())


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_leader_and_children_end_with_a_killed_owner(tmp_path: Path) -> None:
    with owner(tmp_path) as process:
        leader, child = number_in(tmp_path / "leader"), number_in(tmp_path / "child")
        assert is_running(leader) and is_running(child)
        process.kill()
    assert ends(leader) and ends(child)


def test_no_guest_begins_if_the_owner_is_killed_before_its_guard_is_there(tmp_path: Path) -> None:
    die = "launch._start_guard = lambda _: os.kill(os.getpid(), signal.SIGKILL)"
    with owner(tmp_path, die) as process:
        assert process.wait(20) == -signal.SIGKILL
    time.sleep(0.5)
    assert not (tmp_path / "leader").exists()


def test_status_and_limit(tmp_path: Path) -> None:
    process = start_guest("exit 7", tmp_path)
    assert process.wait_at_most(20) and process.returncode == 7
    kill_group(process)
    slow = start_guest("sleep 1000", tmp_path)
    started = time.monotonic()
    assert not slow.wait_at_most(0.2)
    assert 0.2 <= time.monotonic() - started < 5
    kill_group(slow)
    assert slow.wait() == -signal.SIGKILL
    kill_group(slow)


def test_the_guests_streams_are_closed_to_it(tmp_path: Path) -> None:
    process = start_guest("ls -l /proc/self/fd > fds", tmp_path)
    assert process.wait_at_most(20)
    kill_group(process)
    lines = (tmp_path / "fds").read_text()
    # Those of ls: /dev/null, its file, /dev/null, and the directory that it reads.
    assert lines.count("->") == 4 and "pipe" not in lines


def test_ram_is_held_beyond_the_guests_end(tmp_path: Path) -> None:
    script = (
        f'exec {sys.executable} -c \'import time,tempfile; f = tempfile.TemporaryFile(dir=".");'
        'f.write(b"ram" + bytes(1 << 20)); f.flush(); time.sleep(1000)\''
    )
    process = start_guest(script, tmp_path)
    descriptor = held_ram(process, 1 << 20, 20)
    kill_group(process)
    process.wait()
    assert descriptor is not None
    assert os.pread(descriptor, 3, 0) == b"ram" and os.fstat(descriptor).st_blocks
    os.close(descriptor)


def test_a_guest_without_ram_is_not_waited_for(tmp_path: Path) -> None:
    process = start_guest("exit 1", tmp_path)
    started = time.monotonic()
    assert held_ram(process, 1 << 20, 20) is None
    assert time.monotonic() - started < 10
    kill_group(process)
    asleep = start_guest("sleep 1000", tmp_path)
    assert held_ram(asleep, 1 << 20, 0.1) is None
    kill_group(asleep)
    asleep.wait()


def test_a_command_of_another_parent_does_not_begin(tmp_path: Path) -> None:
    words = with_parent(["touch", "begun"])
    # As if this process had been killed before the command could ask for its end with it.
    orphan = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *words]
    subprocess.run(orphan, cwd=tmp_path, check=True)
    assert not (tmp_path / "begun").exists()
    subprocess.run(words, cwd=tmp_path, check=True)
    assert (tmp_path / "begun").exists()
