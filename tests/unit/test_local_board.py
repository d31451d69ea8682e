"""Target local without a flash: commands of this computer, its file, and what is refused."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from test_ssh_place import PLACE, case_of

from ffslab.errors import InfrastructureError, SpecError, UsageError
from ffslab.targets.local.here import Here, connected
from ffslab.targets.local.place import LocalPlace, read_place
from ffslab.targets.local.site import site_for
from ffslab.targets.registry import site_module, target_kind
from ffslab.targets.target import SiteOptions

OWN = PLACE.replace('host = "192.168.1.20"\narchitecture = "armv5te"\n', "")


def place(tmp_path: Path, more: str = "") -> LocalPlace:
    path = tmp_path / "here.toml"
    path.write_text(OWN.replace("[partition]", f"{more}\n[partition]"), "utf-8")
    return read_place(path)


def test_commands_are_carried_out_here(tmp_path: Path) -> None:
    with connected(place(tmp_path)) as shell:
        assert shell.run("echo one; echo two >&2") == "one\ntwo\n"
        assert shell.succeeds("test -d /proc") and not shell.succeeds("false")
        with pytest.raises(InfrastructureError, match="desk: exit status 7 of: exit 7"):
            shell.run("exit 7")
        # No status means that nobody answers: 255 is ssh's.
        assert shell.run("echo said; exit 255", check=False) == "said\n"
        shell.put_text("#!/bin/sh\necho $0\n", str(tmp_path / "a"))
        shell.put(tmp_path / "a", str(tmp_path / "b"), executable=True)
        assert shell.run(str(tmp_path / "b")) == f"{tmp_path}/b\n"
        shell.get(str(tmp_path / "b"), tmp_path / "c", 9)
        assert (tmp_path / "c").read_bytes() == b"#!/bin/sh"
        with pytest.raises(InfrastructureError, match="cannot copy a to desk:/proc/none"):
            shell.put(tmp_path / "a", "/proc/none")


def test_what_is_ended_leaves_no_children(tmp_path: Path) -> None:
    """The process is no client: what it has started would go on to write to the flash."""
    shell = Here("desk")
    command = f"sleep 1000 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait"
    with (tmp_path / "output").open("wb") as output:
        process = shell.start(command, output)
    while not (tmp_path / "child").exists():
        time.sleep(0.01)
    shell.end(process)
    process.wait()
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    ends_s = time.monotonic() + 10
    state = ""
    while time.monotonic() < ends_s and state not in ("gone", "Z"):
        state = "gone"
        with suppress(OSError):
            state = child.read_text().rpartition(") ")[2][:1]
    assert state in ("gone", "Z")
    shell.end(process)  # once more is no error


def test_its_file_needs_no_address(tmp_path: Path) -> None:
    there = place(tmp_path)
    assert (there.name, there.partition, there.directory) == ("desk", "test", "/run/ffslab")
    assert there.agent is None and not there.labgrid
    (tmp_path / "ffsagent").write_bytes(b"agent")
    assert place(tmp_path, 'agent = "ffsagent"').agent == tmp_path / "ffsagent"
    with pytest.raises(SpecError, match="agent: there is no file"):
        place(tmp_path, 'agent = "none"')
    with pytest.raises(SpecError, match="host"):
        place(tmp_path, 'host = "192.168.1.20"')


def test_it_is_a_board_of_its_own_kind(tmp_path: Path) -> None:
    kind = target_kind("local", place(tmp_path).path)
    assert (kind.name, kind.board, kind.partition_bytes) == ("local", "apf27", 16 * 2**20)
    assert kind.capabilities == site_module("ssh").KIND.capabilities
    assert "of the board desk" in kind.cpu_time


def confirm(what: str) -> None:
    """What is to be confirmed is a failure of a test: it was to be refused before."""
    raise AssertionError(what)


def test_who_may_not_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    there = place(tmp_path).path
    with pytest.raises(UsageError, match="rights of root"):
        site_for([case_of("jffs2")], SiteOptions(place=there, confirm=confirm))
    with pytest.raises(UsageError, match="cannot have its power switched"):
        site_for([case_of("jffs2")], SiteOptions(place=there, confirm=confirm, labgrid="desk"))
    with pytest.raises(UsageError, match="target local needs a file"):
        site_for([case_of("jffs2")], SiteOptions())


def test_a_computer_without_the_partition_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent here is a program that says what it was told, and does nothing."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\ncat plan >>{tmp_path}/told\necho "$@" >>{tmp_path}/told\n')
    there = place(tmp_path, f'agent = "agent"\ndirectory = "{tmp_path}/work"')
    with pytest.raises(InfrastructureError, match="nothing was written") as caught:
        site_for([case_of("jffs2")], SiteOptions(place=there.path, confirm=confirm))
    assert "no MTD partition is called 'test'" in str(caught.value)
    told = (tmp_path / "told").read_text().splitlines()
    assert told[0] == "ffsplan 1" and told[1].startswith("mount type=debugfs")
    assert len(told) == 3  # and no other step


def test_a_program_that_ends_is_seen(tmp_path: Path) -> None:
    with (tmp_path / "output").open("w+b") as output:
        process = Here("desk").start("echo done; exit 3", output)
        assert process.wait(10) == 3
    assert (tmp_path / "output").read_bytes() == b"done\n"
    assert isinstance(process, subprocess.Popen)
