"""What becomes of a case on a board, and who switches the power: without a board."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from test_ssh_place import case_of, place

from ffslab.errors import InfrastructureError
from ffslab.protocol.records import parse_records
from ffslab.results.outcome import judge
from ffslab.targets.boards.guests import ends_mounted, ends_within
from ffslab.targets.boards.power import cycle
from ffslab.targets.registry import target_kind
from ffslab.targets.ssh.connection import Connection
from ffslab.workloads.plans import guest_plans

LOST = "the connection to the board was lost while the case ran"
CUT_SHORT = (
    b'{"v":1,"type":"start","agent":"1","kernel":"6.1","clock":"monotonic","seed":1}\n{"v":1,'
)


def test_what_the_target_says_went_wrong_is_the_reason() -> None:
    outcome = judge(parse_records(CUT_SHORT), "", 255, None, failure=LOST)
    assert (outcome.kind, outcome.reason) == ("fail", LOST)


def test_without_a_word_of_it_records_that_end_anywhere_are_a_crash() -> None:
    outcome = judge(parse_records(CUT_SHORT), "", 255, None)
    assert outcome.kind == "crash"


def test_a_crash_of_the_kernel_there_is_graver() -> None:
    oops = (
        "[   12.0] Internal error: Oops: 5 [#1] ARM\n[   12.1] Kernel panic - not syncing: Fatal\n"
    )
    outcome = judge(parse_records(CUT_SHORT), oops, 255, None, failure=LOST)
    assert outcome.kind == "crash"


def test_a_limit_of_time_says_what_became_of_the_board() -> None:
    outcome = judge(parse_records(b""), "", -9, 60.0, failure="it has not come back")
    assert outcome.kind == "timeout"
    assert "within 60 s" in outcome.reason and "it has not come back" in outcome.reason


@pytest.mark.parametrize(
    ("verbs", "mounted"),
    [
        ("erase mount umount", False),
        ("erase mount umount mount", True),
        ("mount-overlay", False),
        ("erase", False),
        ("mount memory", True),
    ],
)
def test_a_plan_that_ends_mounted_cuts_the_power(verbs: str, mounted: bool) -> None:
    plan = "ffsplan 1\n" + "".join(f"{verb} key=1\n" for verb in verbs.split())
    assert ends_mounted(plan) is mounted


def test_plans_of_workloads_unmount_in_the_end() -> None:
    kind = target_kind("ssh")
    for filesystem in ("jffs2", "ubifs"):
        assert not any(map(ends_mounted, guest_plans(case_of(filesystem), kind.rig)))


def client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "labgrid-client"
) -> None:
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_labgrid_is_asked_for_a_place_or_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path, monkeypatch, f'echo "$@" >>{tmp_path}/asked')
    cycle("desk-3")
    cycle("/home/me/lab.yaml")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["-p desk-3 power cycle", "-c /home/me/lab.yaml power cycle"]


def test_what_labgrid_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(
        tmp_path, monkeypatch, "echo 'labgrid-client: error: place desk-3 is not acquired'; exit 1"
    )
    with pytest.raises(InfrastructureError, match="desk-3 is not acquired") as caught:
        cycle("desk-3")
    assert "acquire" in caught.value.remedy


def test_without_labgrid_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(InfrastructureError, match="labgrid-client") as caught:
        cycle("desk-3")
    assert "ffslab[boards]" in caught.value.remedy


def test_the_ssh_client_never_asks_and_notices_silence(tmp_path: Path) -> None:
    more = 'identity = "key"\nport = 2222\nuser = "me"\nssh_options = ["ProxyJump=gate"]'
    words = Connection(place(tmp_path, more=more), tmp_path / "socket").words
    assert words[-1] == "me@192.168.1.20" and words[-3:-1] == ["-p", "2222"]
    options = {words[at + 1] for at, word in enumerate(words) if word == "-o"}
    assert {"BatchMode=yes", "ServerAliveInterval=5", "ServerAliveCountMax=3"} <= options
    assert "ProxyJump=gate" in options
    assert words[words.index("-i") + 1] == str(tmp_path / "key")


def test_a_board_is_listened_to_until_it_ends_or_has_its_limit_or_too_much() -> None:
    def seen(command: str, limit_s: float, looks: int) -> tuple[bool, int, int]:
        """Whether it ended, its status, and how often was looked; too much at look `looks`."""
        count = 0

        def too_much() -> str:
            nonlocal count
            count += 1
            return "too much" * (count >= looks)

        process = subprocess.Popen(["/bin/sh", "-c", command])
        ended = ends_within(process, limit_s, too_much, subprocess.Popen.kill)
        return ended, process.returncode, count

    ended, status, _ = seen("sleep 0.2; exit 7", 60, 10**9)
    assert (ended, status) == (True, 7)
    ended, status, _ = seen("exec sleep 1000", 0.3, 10**9)
    assert (ended, status) == (False, -signal.SIGKILL)
    # That it was ended for this is no limit of time.
    assert seen("exec sleep 1000", 60, 3) == (True, -signal.SIGKILL, 4)


def test_no_more_of_a_file_comes_from_a_board_than_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is one that carries out here what it is to carry out there: its last word."""
    client(tmp_path, monkeypatch, 'for last; do :; done; exec /bin/sh -c "$last"', name="ssh")
    connection = Connection(place(tmp_path), tmp_path / "socket")
    there, here = tmp_path / "records", tmp_path / "here"
    there.write_bytes(b"0123456789")
    for most, expected in ((4, b"0123"), (10, b"0123456789"), (20, b"0123456789")):
        connection.get(str(there), here, most)
        assert here.read_bytes() == expected
    connection.get(str(tmp_path / "none"), here, 4)
    assert here.read_bytes() == b""
