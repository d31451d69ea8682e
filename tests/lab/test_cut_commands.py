"""The commands of the chip that cuts: what it refuses, what it does without memory, what it keeps.

The chip and its operations are those of `test_cut_kinds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from errno import EBUSY, EINVAL, ENODATA, ENOSPC, EOPNOTSUPP, ERANGE
from pathlib import Path

import pytest
from chip_cuts import (
    BAD,
    BEFORE,
    BLANK,
    ERASE,
    FIRST,
    MARK,
    OTHER,
    OVER,
    PAGE,
    PAGES,
    TORN_PAGE,
    WORK,
    Program,
    Script,
    around,
    carried_out,
    well,
    worked,
)
from guest_programs import DEBUG

from ffslab.lab.lab_build import LabBuild

CHIPS = pytest.mark.parametrize("bad", ["", BAD], ids=["whole", "factory-bad"])
DISTANCE = 4

# --- commands ---

ALWAYS = (
    "",
    " ",
    "bogus",
    "log",
    "log 0",
    "log x",
    "log -1",
    "log 1 2",
    "log 1048577",
    "log 18446744073709551616",
    "x" * 128,
    f"at{' ' * 140}0",
)
# Each with its errno; in what state it is said below. Of none is anything to be seen later.
OFF: dict[str, int] = {
    **dict.fromkeys(ALWAYS, EINVAL),
    **dict.fromkeys(("", " ", "bogus"), ENODATA),
    "log 18446744073709551616": ERANGE,
    **dict.fromkeys(("at 0", "stop", "back", "cut lost 0", "cycle", "push", "pop"), ENODATA),
    **dict.fromkeys(("halt 3", "keep", "off"), ENODATA),
}
LOGGING: dict[str, int] = {
    **dict.fromkeys(("", " ", "bogus", "log", "log 1 2", "x" * 128), EINVAL),
    **dict.fromkeys(("log 1", "log 8", "log 0"), EBUSY),
    **dict.fromkeys(("at 0", "at 1", "at 99", "back", "push", "pop", "keep"), EINVAL),
    **dict.fromkeys(("cut lost 0", "cut", "cut bogus 0"), EINVAL),
    **dict.fromkeys(("stop now", "stop 1", "off now", "off 1", "cycle 1"), EINVAL),
    **dict.fromkeys(("halt", "halt 3", "halt x", "halt 20 1"), EINVAL),
    **dict.fromkeys(("halt 4294967295", "halt 18446744073709551616"), ERANGE),
}
STANDING: dict[str, int] = {
    **dict.fromkeys(("", " ", "bogus", "log", "log 1 2"), EINVAL),
    "log 1": EBUSY,
    **dict.fromkeys(("stop", "halt 20", "pop", "keep", "off now", "push 1"), EINVAL),
    **dict.fromkeys(("pop 1", "back 1", "keep 1"), EINVAL),
    **dict.fromkeys(("at", "at -1", "at x", "at 3.0", "at 0x3", "at 3 4", "at  3"), EINVAL),
    **dict.fromkeys(("cut", "cut bogus 0", "cut lost x", "cut lost 0 1", "cut  0"), EINVAL),
    **dict.fromkeys(("at 17", "at 4294967299", "at 18446744073709551616"), ERANGE),
    "cut torn-bits 18446744073709551616": ERANGE,
    **dict.fromkeys(("cut erase-half 0", "cut paired 0"), EOPNOTSUPP),
}
CUT = {
    **STANDING,
    # One cut at a time.
    **dict.fromkeys(("cut lost 0", "cut torn-bits 0", "cut erase-half 0", "cut paired 0"), EINVAL),
}
# Behind the log nothing but "lost" is known: of what would come next nothing happened.
END = {
    **STANDING,
    **dict.fromkeys(("cut done 0", "cut erase-half 0", "cut paired 0"), ERANGE),
}


def refusals(script: Script, commands: dict[str, int]) -> Iterator[tuple[str, int, int, list[int]]]:
    """Each command with its errno and place, and where state and digest stand before and after."""
    before = [script.add("state"), script.add("digest")]
    for command, errno in commands.items():
        place = script.chip(command)
        after = [script.add("state"), script.add("digest")]
        yield command, errno, place, [*before, *after]
        before = after


@CHIPS
def test_wrong_commands_are_refused_and_change_nothing(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    script = Script()
    asked = []
    for operation in BEFORE:
        script.add(str(operation))
    asked += [("off", *one) for one in refusals(script, OFF)]
    script.chip("log 32")
    for number, operation in enumerate(WORK):
        script.add(str(operation))
        if number == 4:
            asked += [("logging", *one) for one in refusals(script, LOGGING)]
    script.chip("stop\\n")  # as `echo` writes it
    asked += [("end", *one) for one in refusals(script, END)]
    script.chip("at 3\\n")
    asked += [("standing", *one) for one in refusals(script, STANDING)]
    script.chip("cut torn-bits 1\\n")
    script.add(str(Program(FIRST + 9, 50)))  # and more of a recovery
    asked += [("cut", *one) for one in refusals(script, CUT)]
    for level in range(3):
        script.chip("push")
        script.add(str(Program(FIRST + 10 + level, 51)))
        script.chip("stop")
    asked += [("levels", *one) for one in refusals(script, {"push": EINVAL, "at 2": ERANGE})]
    pops = [script.chip("pop") for _ in range(3)]
    script.chip("at 16")
    last = script.add("digest")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    for where, command, errno, place, (*before, after, digest) in asked:
        assert answers.errno(place) == errno, (where, command)
        assert [answers.text(one) for one in before] == [
            answers.text(after),
            answers.text(digest),
        ], (where, command)
    assert [answers.errno(place) for place in pops] == [0, 0, 0]
    ends = [digest for where, *_, (*_, digest) in asked if where == "end"]
    assert answers.text(last) == answers.text(ends[0])


def test_a_log_without_memory_says_so_and_nothing_is_done_with_it(
    lab: LabBuild, tmp_path: Path, chipcuts: Path
) -> None:
    """1 MiB is for some 240 pages; the chip works on, and can only be told to forget its log."""
    script = Script()
    for block in range(3, 20):
        script.add(f"erase {block}")
    script.chip("log 1")
    programs = [script.add(f"program {page} 0 {PAGE} 1 {page}") for page in range(48, 320)]
    full = script.add("state")
    refused = {
        command: script.chip(command) for command in ("stop", "back", "at 0", "cut lost", "log 2")
    }
    digest = script.add("digest")
    off = script.chip("off")
    state = script.add("state")
    after, last = script.add("digest"), script.read(319)
    again = [script.chip("log 32"), script.chip("stop")]
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script)
    assert {answers.errno(place) for place in programs} == {0}
    assert answers.given[full][0] == "state state full"
    assert {command: answers.errno(place) for command, place in refused.items()} == {
        "stop": ENOSPC,
        "back": EINVAL,
        "at 0": EINVAL,
        "cut lost": EINVAL,
        "log 2": EBUSY,
    }
    assert answers.errno(off) == 0 and answers.given[state][0] == "state state off"
    assert answers.text(after) == answers.text(digest)
    assert answers.read(last) == well(BLANK.programmed(0, PAGE, True, 319))
    assert [answers.errno(place) for place in again] == [0, 0]


# --- levels ---


@CHIPS
def test_a_level_has_its_own_log_and_its_own_time(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    """What was unstable before it is so again when power was not off yet; a new level is empty."""
    script = worked()
    page, other = around(TORN_PAGE)[0], FIRST + 9
    script.cut(TORN_PAGE, "unstable", 3)
    begin = script.add("digest")
    logs, reads, digests = [], [], []
    for number in range(2):
        script.chip("push")
        script.add(f"program {other + number} 0 {PAGE} 1 60")
        script.chip("stop")
        logs.append(script.add("log"))
        script.chip("at 0")
        script.chip("cycle")
        reads.append(script.read(page))
        script.chip("at 0")
        reads.append(script.read(page))
        script.chip("pop")
        digests.append(script.add("digest"))
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    block = FIRST // PAGES
    assert [answers.given[log] for log in logs] == [
        (f"log 0 program {block} {9 + number} 0 {PAGE} 1",) for number in range(2)
    ]
    found = [answers.read(place) for place in reads]
    assert found[0] == found[2] and found[0].failed > 0
    assert found[1] == found[3] == well(around(TORN_PAGE)[2])
    assert {answers.text(place) for place in digests} == {answers.text(begin)}


# --- cuts that stay ---


@CHIPS
def test_a_cut_that_is_kept_stays_as_it_was(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    """The torn page is the flash that is there now, below all that is cut and taken back later."""
    script = worked()
    torn, other = around(TORN_PAGE)[0], FIRST + 9
    script.cut(TORN_PAGE, "torn-bits", 7)
    script.cut(TORN_PAGE, "unstable", 3)
    first, begin = script.read(torn), script.add("digest")
    script.chip("cycle")
    asleep = script.read(torn)
    script.chip("push")
    script.add(f"program {other} 0 {PAGE} 1 60")
    script.add(f"erase {OTHER}")
    script.chip("stop")
    end = script.add("digest")
    kept = script.chip("keep")
    state, after = script.add("state"), script.add("digest")
    seen = [script.read(torn)]
    # Another level, in whose memory the first cut was.
    script.chip("push")
    for number in range(1, 4):
        script.add(f"program {other + number} 0 {PAGE} 1 60")
    script.chip("stop")
    moments = {(-1, ""): script.cut(0, "torn-bits", 1)}
    script.add(f"program {other + 2} 0 {PAGE} 1 61")
    seen.append(script.read(torn))
    script.chip("pop")
    for operation, kind in ((1, "erase-half"), (0, "torn-bits"), (1, "unstable"), (0, "lost")):
        moments[operation, kind] = script.cut(operation, kind)
        script.chip("cycle")
        seen.append(script.read(torn))
    at_begin = script.add("digest")
    refused = [script.chip("at 3"), script.chip("pop"), script.chip("keep")]
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    assert answers.read(first) == well(around(TORN_PAGE)[2])
    assert answers.read(asleep).failed > 0
    assert answers.errno(kept) == 0 and answers.text(after) == answers.text(end)
    assert {"state level 0", "state operations 2", "state position 2"} < set(answers.given[state])
    assert {answers.errno(place) for place in moments.values()} == {0}
    assert [answers.read(place) for place in seen] == [answers.read(asleep)] * len(seen)
    assert answers.text(at_begin) == answers.text(begin)
    assert [answers.errno(place) for place in refused] == [ERANGE, EINVAL, EINVAL]


def test_cuts_in_a_row_take_no_more_memory(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """Each in what was done after the one before, which stays."""
    script = worked()
    script.cut(ERASE, "unstable", 1)

    def rounds(count: int) -> int:
        for number in range(count):
            script.chip("push")
            script.add(f"erase {OTHER}")
            for page in range(4):
                script.add(f"program {OTHER * PAGES + page} 0 {PAGE} 1 {number}")
            script.chip("stop")
            script.chip("keep")
            script.cut(*((0, "erase-half") if number % 2 else (3, "torn-bits")), number)
            script.chip("cycle")
        return script.add("memory")

    places = [rounds(50), rounds(300)]
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script)
    commands = [place for place, line in enumerate(script.lines) if line.startswith("chip")]
    assert {answers.errno(place) for place in commands} == {0}
    free, slab, vmalloc = zip(*map(answers.numbers, places), strict=True)
    assert vmalloc[0] == vmalloc[1]
    if not DEBUG:
        assert slab[1] - slab[0] < 32 and free[0] - free[1] < 32


# --- memory ---


def cuts_of_all_kinds(script: Script, count: int) -> None:
    """So many cuts, with recoveries, and cuts of recoveries."""
    kinds: Sequence[tuple[int, str]] = (
        (TORN_PAGE, "lost"),
        (5, "paired"),
        (TORN_PAGE, "torn-prefix"),
        (ERASE, "erase-half"),
        (OVER, "torn-bits"),
        (ERASE, "unstable"),
        (MARK, "done"),
        (OVER, "unstable"),
    )
    for number in range(count):
        k, kind = kinds[number % len(kinds)]
        script.cut(k, kind, number)
        script.chip("cycle")
        script.add(f"program {FIRST + 15} 0 {PAGE} 1 {number}")
        if number % 10 == 0:
            script.chip("push")
            script.add(f"erase {OTHER}")
            script.chip("stop")
            script.cut(0, "erase-half", number)
            script.chip("pop")


def test_a_thousand_cuts_take_no_more_memory_than_a_hundred(
    lab: LabBuild, tmp_path: Path, chipcuts: Path
) -> None:
    script = worked()
    cuts_of_all_kinds(script, 104)
    before = script.add("memory")
    cuts_of_all_kinds(script, 1_000)
    after = script.add("memory")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, paired=DISTANCE)
    commands = [place for place, line in enumerate(script.lines) if line.startswith("chip")]
    assert {answers.errno(place) for place in commands} == {0}
    free, slab, vmalloc = zip(answers.numbers(before), answers.numbers(after), strict=True)
    assert vmalloc[0] == vmalloc[1]
    if not DEBUG:  # KASAN keeps what was freed for a while
        # A hundred bytes that each cut kept would be 98 KiB.
        assert slab[1] - slab[0] < 64 and free[0] - free[1] < 64


def test_a_log_that_is_forgotten_takes_no_memory(
    lab: LabBuild, tmp_path: Path, chipcuts: Path
) -> None:
    """Logs of 2 MiB and more with cuts in them, one after the other."""
    script = Script()
    for block in range(3, 40):
        script.add(f"erase {block}")
    page = FIRST
    places = []
    for _ in range(30):
        places.append(script.add("memory"))
        script.chip("log 8")
        for number in range(240):
            script.add(f"program {page + number} 0 {PAGE} 1 {number}")
        during = script.add("memory")
        script.chip("stop")
        script.cut(100, "torn-bits")
        script.chip("at 0")
        script.chip("off")
    places.append(script.add("memory"))
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script)
    _, slab, vmalloc = zip(*(answers.numbers(place) for place in places[1:]), strict=True)
    assert max(vmalloc) == min(vmalloc)
    if not DEBUG:
        assert max(slab) - min(slab) < 64
    assert answers.numbers(during)[2] > max(vmalloc) + 1024
