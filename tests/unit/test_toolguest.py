"""The guest that builds an image is ended from another thread, or by somebody else."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ffslab.errors import GuestLostError
from ffslab.images.toolguest import BuildStoppedError, Tool, ToolJob, run_tools
from ffslab.lab.lab_build import LabBuild
from ffslab.targets.running import GuestSlot, RunningGuests
from ffslab.targets.uml import tools

TOOLS = tuple(Tool(name, Path(f"/bin/{name}"), (), "", "") for name in ("sh", "tar"))


@pytest.fixture
def sleeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for a guest that sleeps; in it, `pid` appears with it."""
    monkeypatch.setattr(tools, "prepare", lambda *_: None)
    script = "echo $$ >pid.new; mv pid.new pid; exec sleep 60"
    monkeypatch.setattr(tools, "GuestCommand", lambda *_: script)
    directory = tmp_path / "guest"
    directory.mkdir()
    return directory


def run_sleeper(sleeper: Path, guests: RunningGuests) -> None:
    lab = LabBuild(Path("linux"), {}, Path("agent"), "build", Path("ffscrash"))
    run_tools(ToolJob(TOOLS, (), (), 1 << 20), Path("tree"), lab, sleeper, GuestSlot(guests))


@contextmanager
def when_it_runs(sleeper: Path, act: Callable[[int], None]) -> Iterator[None]:
    """Calls `act` with the guest's process from another thread."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.01):
            if (sleeper / "pid").exists():
                act(int((sleeper / "pid").read_text()))
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_guest_that_builds_can_be_killed(sleeper: Path) -> None:
    guests = RunningGuests()
    with when_it_runs(sleeper, lambda _: guests.kill_all()), pytest.raises(BuildStoppedError):
        run_sleeper(sleeper, guests)
    with pytest.raises(ProcessLookupError):
        os.kill(int((sleeper / "pid").read_text()), 0)


def test_no_guest_builds_when_none_is_to_start(sleeper: Path) -> None:
    guests = RunningGuests()
    guests.start_no_more()
    with pytest.raises(BuildStoppedError):
        run_sleeper(sleeper, guests)
    assert not (sleeper / "pid").exists()


def test_a_guest_that_another_killed_is_lost(sleeper: Path) -> None:
    with (
        when_it_runs(sleeper, lambda pid: os.kill(pid, signal.SIGKILL)),
        pytest.raises(GuestLostError, match="the host ended the guest that builds an image"),
    ):
        run_sleeper(sleeper, RunningGuests())
