"""`ffslab shell` without a terminal: commands from standard input, as a job of a CI has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import ROOT

pytestmark = pytest.mark.usefixtures("lab")
_LINES = 100_000  # more than a pipe holds


def shell(commands: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Not in text mode, where a carriage return would be lost.
    done = subprocess.run(
        [sys.executable, "-m", "ffslab", "shell", "quick", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        input=commands.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_output_errors_and_status_are_the_shells() -> None:
    done = shell("cd /mnt; echo one >a; ls; grep -c jffs2 /proc/mounts; echo bad >&2; exit 7\n")
    assert (done.returncode, done.stdout) == (7, "a\n1\n")
    head, warning, *rest = done.stderr.splitlines()
    assert "jffs2 at /mnt" in head and "Not for measuring" in warning
    assert rest == ["bad"]


def test_all_of_a_long_output_comes() -> None:
    done = shell(f"seq 1 {_LINES}")
    assert done.returncode == 0
    assert done.stdout == "".join(f"{number}\n" for number in range(1, _LINES + 1))


def test_no_commands_are_no_failure() -> None:
    done = shell("")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_program_that_is_not_there() -> None:
    done = shell("exit 0", "--program", "/bin/no such")
    assert done.returncode == 127
    assert "/bin/no such: not found" in done.stderr


def test_what_is_left_behind_ends_with_the_shell() -> None:
    done = shell("echo x >/mnt/f; exec 9</mnt/f; sleep 1000 & kill -9 $$")
    assert done.returncode == 128 + 9


def test_a_guest_that_ends_early_is_no_success() -> None:
    power_off = "import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)"
    done = shell(f"python3 -c '{power_off}'; sleep 60")
    assert done.returncode == 3
    assert "the guest ended before its shell" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_it_leaves_nothing_behind(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "ffslab", "shell", "quick"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"cat /proc/cmdline; sleep 1000\n")
        process.stdin.close()
        words = process.stdout.readline().decode().split()
        plan = next(Path(word[8:]) for word in words if word.startswith("ffsplan="))
        assert plan.is_file()
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    assert not plan.parent.exists()
