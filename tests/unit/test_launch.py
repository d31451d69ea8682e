"""A guest never outlives ffslab, whenever ffslab is killed; what its process is like; its RAM."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ffslab.targets.uml.launch import (
    Guard,
    GuestCommand,
    held_ram,
    kill_group,
    start_guest,
    with_parent,
)
from ffslab.targets.uml.launcher import launcher

SOURCE = Path(__file__).resolve().parents[2] / "src"
OWNER = """
import os, signal, sys, time
from pathlib import Path
import ffslab.targets.uml.launch as launch
{before}
script = "echo $$ > leader; sleep 1000 & echo $! > child; sleep 1000"
process = launch.start_guest(script, Path("."))
{after}
time.sleep(1000)
"""
# A kernel that tells what the host has made of it.
TELLTALE = """#!/bin/sh
env | sort
cat /proc/$$/personality
grep -E '^(Cpus_allowed|SigIgn|NoNewPrivs|Cap|Umask)' /proc/$$/status
grep core /proc/$$/limits
for fd in /proc/$$/fd/[0-3]; do readlink $fd; grep flags /proc/$$/fdinfo/${fd##*/}; done
echo "$PWD $0 $*"
echo records >&3
echo errors >&2
"""


def owner(directory: Path, before: str = "", after: str = "") -> subprocess.Popen[bytes]:
    """A process that starts a guest which arms no death signal, and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", OWNER.format(before=before, after=after)],
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
    die = "launch._start_guard = lambda: os.kill(os.getpid(), signal.SIGKILL)"
    with owner(tmp_path, die) as process:
        assert process.wait(20) == -signal.SIGKILL
    time.sleep(0.5)
    assert not (tmp_path / "leader").exists()


def test_the_leader_ends_with_an_owner_that_is_killed_together_with_the_guard(
    tmp_path: Path,
) -> None:
    unguarded = "process._guard._shell.kill(); process._guard._shell.wait()"
    with owner(tmp_path, after=unguarded + "; Path('unguarded').touch()") as process:
        leader, child = number_in(tmp_path / "leader"), number_in(tmp_path / "child")
        while not (tmp_path / "unguarded").exists():
            time.sleep(0.01)
        process.kill()
    assert ends(leader)
    os.kill(child, signal.SIGKILL)


def sleepers(count: int) -> list[subprocess.Popen[bytes]]:
    """Processes that lead groups of their own, and end with nobody."""
    return [subprocess.Popen(["sleep", "1000"], start_new_session=True) for _ in range(count)]


def end_of_input(guard: Guard) -> None:
    """What a guard sees when its process has been killed."""
    shell = guard._shell
    assert shell is not None and shell.stdin is not None
    shell.stdin.close()
    shell.wait(20)


def test_a_guard_kills_those_that_it_watches_and_nobody_else() -> None:
    guard = Guard()
    groups = sleepers(5)
    for process in groups:
        guard.watch(process.pid)
    for index in (0, 2, 4):
        guard.dismiss(groups[index].pid)
        guard.dismiss(groups[index].pid)
    end_of_input(guard)
    assert [groups[index].wait(20) for index in (1, 3)] == [-signal.SIGKILL] * 2
    time.sleep(0.2)
    for index in (0, 2, 4):
        assert groups[index].poll() is None
        groups[index].kill()
        groups[index].wait()


def test_a_guard_that_somebody_ended_begins_anew() -> None:
    guard = Guard()
    one, two = sleepers(2)
    guard.watch(one.pid)
    assert guard._shell is not None
    guard._shell.kill()
    guard._shell.wait()
    guard.watch(two.pid)
    end_of_input(guard)
    assert [process.wait(20) for process in (one, two)] == [-signal.SIGKILL] * 2


def told(directory: Path, command: GuestCommand, *, by_hand: bool) -> str:
    """What a telltale says of itself, started by the launcher or by the shell command."""
    (directory / "linux").write_text(TELLTALE)
    (directory / "linux").chmod(0o755)
    if by_hand:
        subprocess.run(["/bin/sh", "-c", command.script], cwd=directory, check=True)
    else:
        process = start_guest(command, directory)
        assert process.wait_at_most(20) and process.returncode == 0
        kill_group(process)
    assert (directory / "records.jsonl").read_text() == "before\nrecords\n"
    assert (directory / "console.log").read_text() == "before\nerrors\n"
    return (directory / "output.log").read_text()


@pytest.mark.parametrize("ram_on_disk", [False, True])
def test_the_launcher_does_what_the_command_that_users_are_shown_does(
    tmp_path: Path, ram_on_disk: bool
) -> None:
    cpu = max(os.sched_getaffinity(0))
    command = GuestCommand(("mem=1M", "a b"), cpu, ram_on_disk)
    texts = []
    for by_hand in (True, False):
        directory = tmp_path / "guest"
        directory.mkdir()
        for name in ("console.log", "output.log", "records.jsonl"):
            (directory / name).write_text("before\n")
        texts.append(told(directory, command, by_hand=by_hand))
        shutil.rmtree(directory)
    assert texts[0] == texts[1]
    lines = texts[0].splitlines()
    assert lines[0] == "before" and f"{tmp_path}/guest ./linux mem=1M a b" == lines[-1]
    assert "00040000" in lines  # ADDR_NO_RANDOMIZE
    assert f"Cpus_allowed_list:\t{cpu}" in lines
    assert re.search(r"core file size +0 +0 ", texts[0])
    assert ("TMPDIR=." in lines) == ram_on_disk


def test_what_the_host_refuses_is_told_in_the_console(tmp_path: Path) -> None:
    process = start_guest(GuestCommand(("mem=1M",)), tmp_path)
    assert process.wait_at_most(20) and process.returncode == 127
    kill_group(process)
    console = tmp_path / "console.log"
    assert console.read_text() == "launcher: ./linux: No such file or directory\n"
    process = start_guest(GuestCommand(("mem=1M",), 1023), tmp_path)
    assert process.wait_at_most(20) and process.returncode == 1
    kill_group(process)
    assert "launcher: cannot use the processor: Invalid argument\n" in console.read_text()


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


def test_nothing_begins_without_the_word_of_the_caller(tmp_path: Path) -> None:
    words = [launcher(), "-", os.devnull, "-", "-", "/usr/bin/touch", "begun"]
    for word, status in ((b"", 1), (b"\n", 0)):
        assert not (tmp_path / "begun").exists()
        assert subprocess.run(words, cwd=tmp_path, input=word, check=False).returncode == status
    assert (tmp_path / "begun").exists()
