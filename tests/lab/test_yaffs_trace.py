"""The events of YAFFS2 in the kernel's tracing, against /proc/yaffs2 and the log of the same guest.

In the debug kernel, which has tracing since lockdep wants it; the default one has none. Three
mounts one after the other: without options, with gc=predict, and with a bound that cannot be kept.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from guest_programs import NIGHTLY, SOURCES
from rich_trees import overwritten_files
from yaffs_guest import PROC, STATE, UMOUNT, Chip, Guest, load, mount, run, start

from ffslab.lab import ensure_lab
from ffslab.protocol.plan import encode

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="FFSLAB_NIGHTLY=1 builds the debug kernel")

COLLECTIONS = f"{PROC}-collections"
TRACE = "/tracing/trace"
REMEMBERED = 1024
BOUND_US = 1000
CHIP = Chip(blocks=128)
_LINE = re.compile(r": (yaffs2_\w+): (.*)$", re.MULTILINE)
_ENTRIES = re.compile(r"entries-in-buffer/entries-written: (\d+)/(\d+)")
_WARNING = re.compile(
    r"a call waited (\d+) us .* gc_bound_us=(\d+) leaves: (\d+) blocks are erased, (\d+) pages are"
)


class Event(NamedTuple):
    name: str
    fields: dict[str, int]


def events_of(trace: str) -> list[Event]:
    """All events of a trace, from which nothing was lost, in their order."""
    entries = _ENTRIES.search(trace)
    assert entries and entries[1] == entries[2], trace[:1000]
    found = []
    for name, text in _LINE.findall(trace):
        pairs = (word.partition("=") for word in text.split())
        found.append(Event(name, {key: int(value) for key, _, value in pairs}))
    assert len(found) == int(entries[1])
    return found


def set_to(file: str, value: str) -> str:
    return f"exec path=/test/setting args={encode(f'/tracing/{file} {value}')}"


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("setting") / "setting"
    words = ("gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-static")
    subprocess.run([*words, "-o", path, SOURCES / "setting" / "main.c"], check=True)
    return path


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, fstree: Path, setting: Path) -> Guest:
    """One guest for all tests; enabling an event that is not there would fail its step."""
    captured = [STATE, f"capture path={TRACE}"]
    steps = [
        *load(CHIP, "yaffs_bg_enable=0"),
        "mount type=tracefs source=none target=/tracing",
        *(set_to("events/yaffs2/enable", "1"), set_to("tracing_on", "1")),
        *(mount(), run(0), *captured, UMOUNT),
        *(mount("gc=predict"), run(1), f"capture path={COLLECTIONS}", *captured, UMOUNT),
        set_to("events/yaffs2/yaffs2_collection/enable", "0"),
        *(mount(f"gc=predict,gc_bound_us={BOUND_US}"), run(1), *captured, UMOUNT),
    ]
    return start(
        ensure_lab("debug"),
        tmp_path_factory.mktemp("trace") / "guest",
        fstree,
        steps,
        chip=CHIP,
        scripts=[overwritten_files(80, 3000, 1), overwritten_files(80, 2000, 2)],
        programs={"/test/setting": setting},
        limit_s=600,
    )


def test_without_a_forecast_nothing_is_traced(guest: Guest) -> None:
    assert guest.states[0]["gc_copies"] > 500
    assert events_of(guest.captures(TRACE)[0]) == []


def test_each_line_of_the_collections_was_an_event(guest: Guest) -> None:
    """Equal numbers in equal order."""
    state, events = guest.states[1], events_of(guest.captures(TRACE)[1])
    print(f"{len(events)} collections: {state}")
    (text,) = guest.captures(COLLECTIONS)
    lines = [tuple(map(int, line.split())) for line in text.splitlines()]
    assert 100 < state["forecast_runs"] <= REMEMBERED
    assert {event.name for event in events} == {"yaffs2_collection"}
    assert {event.fields["mtd"] for event in events} == {0}
    keys = ("expected_ns", "actual_ns", "copies", "erases")
    assert [tuple(event.fields[key] for key in keys) for event in events] == lines


def test_each_missed_bound_was_an_event(guest: Guest) -> None:
    """The first of them is in the kernel's log, too, which is told by other code."""
    state, before, after = guest.states[2], *map(events_of, guest.captures(TRACE)[1:])
    assert state["forecast_runs"] > 100
    assert after[: len(before)] == before
    missed = after[len(before) :]
    print(f"{len(missed)} missed bounds: {missed[0].fields}")
    assert {event.name for event in missed} == {"yaffs2_bound_missed"}
    assert len(missed) == state["bound_missed"] > 1
    assert {event.fields["bound_ns"] for event in missed} == {1000 * BOUND_US}
    assert max(event.fields["collected_ns"] for event in missed) == state["bound_longest_ns"]
    told, first = _WARNING.search(guest.console), missed[0].fields
    assert told
    assert list(map(int, told.groups())) == [
        *(first["collected_ns"] // 1000, BOUND_US, first["erased_blocks"], first["free_chunks"])
    ]
