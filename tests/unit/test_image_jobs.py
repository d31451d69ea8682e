"""Images of a run are built by its workers: once, beside other guests; they can be stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from image_support import CASES, IMAGES, RUN, STUDY, Runs, Tools, runs_in, tools_in

from ffslab.campaign.images import Noted
from ffslab.images.build import BuildStoppedError, ImageSpec
from ffslab.results.rundir import find_run
from ffslab.targets.running import GuestSlot


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    return tools_in(tmp_path, monkeypatch)


@pytest.fixture
def run(tools: Tools, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runs:
    return runs_in(tools.place, monkeypatch, capsys)


def mix_states(place: Path) -> None:
    """Cases of the file system that can be written begin with an image, then on a free flash."""
    text = STUDY.format(tree="rootfs").replace(', "squashfs"', "")
    text = text.replace(', "mount find unmount"', "").replace('state = { tree = "rootfs" }\n', "")
    (place / "images.toml").write_text(text + 'state = [{ tree = "rootfs" }, "free"]\n')


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_an_image_is_built_once_in_a_run(jobs: int, run: Runs, tools: Tools) -> None:
    (tools.place / "images.toml").write_text(STUDY.format(tree="rootfs") + "seed = [1, 2, 3]\n")
    result = run("run", "images.toml", "--no-report", "--jobs", str(jobs))
    assert result.code == 0, result.error
    assert len(tools.built) == len(set(tools.built)) == IMAGES
    assert len(run.target.measured) == 3 * CASES


def test_guests_of_other_cases_run_while_an_image_is_built(run: Runs, tools: Tools) -> None:
    """Also where all cases ahead of them wait for it: who waits takes no worker."""
    mix_states(tools.place)
    others = threading.Semaphore(0)
    run.told = lambda job: others.release() if job.case.state.kind == "free" else None
    met: list[bool] = []
    tools.before = lambda *_: met.append(others.acquire(timeout=10))
    result = run(*RUN[:-1], "2", "--set", 'options.compression="none"')
    assert result.code == 0, result.error
    assert met == [True]


def test_images_are_built_at_the_same_time(run: Runs, tools: Tools) -> None:
    together = threading.Barrier(2)
    tools.before = lambda *_: (together.wait(10), None)[1]
    result = run(*RUN[:-1], "2")
    assert result.code == 0, result.error
    assert len(tools.built) == IMAGES


def test_what_is_built_is_told_in_one_line(run: Runs) -> None:
    result = run()
    lines = [line for line in result.output.splitlines() if "building" in line]
    tools = ("jffs2", "jffs2", "squashfs", "squashfs")
    assert lines == [f"building an image of rootfs ({tool})" for tool in tools]


def test_a_long_line_is_cut() -> None:
    told: list[str] = []
    with Noted(told.append).phase("building an image of " + 30 * "rootfs "):
        pass
    (line,) = told
    assert len(line) == 80
    assert line.startswith("building an image of rootfs")
    assert line.endswith("…")


def test_the_first_interrupt_waits_for_the_image(run: Runs, tools: Tools) -> None:
    closed: list[bool] = []
    tools.before = lambda _, slot: closed.append(slot.guests.closed.wait(10))
    with interrupts(tools, 0.2):
        result = run()
    assert result.code == 3
    # Had its guest waited for room, it would not have started.
    assert closed == [True]
    assert "waiting for 1 running guest(s)" in result.output
    assert len(list(tools.place.glob("image-*"))) == len(tools.built) == 1
    assert not run.target.jobs
    tools.before = lambda *_: None
    done = find_run("latest", Path("results"))
    assert run("run", str(done.path), "--resume", "--no-report").code == 0
    assert len(done.results()) == CASES


def test_the_second_interrupt_kills_the_guest_that_builds(run: Runs, tools: Tools) -> None:
    killed: list[bool] = []

    def hang(_: ImageSpec, slot: GuestSlot) -> None:
        with slot.guests.started(threading.Event, threading.Event.set) as guest:
            assert guest is not None
            killed.append(guest.wait(10))
        raise BuildStoppedError

    tools.before = hang
    with interrupts(tools, 0.2, 0.5):
        result = run()
    assert result.code == 3
    assert killed == [True]
    assert not run.target.jobs
    assert not find_run("latest", Path("results")).results()


@contextmanager
def interrupts(tools: Tools, *delays_s: float) -> Iterator[None]:
    """Sends this process a Ctrl-C each of these times after the first image was begun."""
    main, whole = threading.get_ident(), tools.before
    timers = [
        threading.Timer(delay, signal.pthread_kill, (main, signal.SIGINT)) for delay in delays_s
    ]

    def begin(spec: ImageSpec, slot: GuestSlot) -> None:
        if len(tools.built) == 1:
            for timer in timers:
                timer.start()
        whole(spec, slot)

    tools.before = begin
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


def test_without_any_image_the_cases_that_need_none_run(run: Runs, tools: Tools) -> None:
    tools.failing = ("jffs2", "squashfs")
    mix_states(tools.place)
    assert run().code == 0
    results = find_run("latest", Path("results")).results()
    outcomes = {(one["spec"]["state"]["kind"], one["outcome"]) for one in results}
    assert outcomes == {("free", "pass"), ("image", "skip")}
