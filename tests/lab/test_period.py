"""The switches of the period kernel: each does what it says and nothing else does it, seen from
the flash operations or from the kernel's own state, on and off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import STUDY, Boot, boot, cases

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.model.kernels import SWITCHES, lab_kernel
from ffslab.protocol.plan import plan_of, step
from ffslab.protocol.trace import Operation, read_trace
from ffslab.targets.virtual_flash import RIG

SUMMARY_NODE = b"\x85\x19\x06\x20"  # magic and type of struct jffs2_raw_summary, little-endian
TICK_NS = 5 * 10**9  # dirty_writeback_centisecs
SLACK_NS = 100_000_000  # what a write of 100 kB, and a flush of it, take
EXPIRE_NS = 30 * 10**9  # dirty_expire_centisecs

Flush = Callable[[LabBuild, Path, str, int], tuple[int, int]]


@pytest.fixture(scope="module")
def period() -> LabBuild:
    return ensure_lab("period")


def case_of(filesystem: str, kernel: str, partition: str = "16 MiB", **options: str) -> Case:
    """A case on an empty partition in that kernel, traced; only its plan's beginning is used."""
    text = STUDY.replace('["jffs2", "ubifs"]', f'["{filesystem}"]').replace("16 MiB", partition)
    text = text.replace('["free", "aged"]', '["free"]')
    if options:
        text = text.replace('["none"]', f'["{options["compression"]}"]')
    (case,) = cases(text).values()
    return replace(case, kernel=lab_kernel({"kernel": kernel}, ""), trace=True)


def run(lab: LabBuild, directory: Path, case: Case, *steps: str, flash: Path | None = None) -> Boot:
    """Boots a guest that mounts, an empty file system unless there is a `flash`, and takes the
    steps."""
    mount = RIG.mount(case) if flash else [*RIG.erase(), *RIG.mount(case, new=True)]
    plan = plan_of([*RIG.begin(case, trace=True), *mount, *steps])
    return boot(lab, directory, case, plan, flash=flash)


def only(switch: str) -> tuple[str, str]:
    """The kernel with that switch alone, and the one with none."""
    return f"period:{switch}", "period:none"


def files(name: str, count: int, size: int) -> str:
    """A step that writes so many files of random data into a directory of its own."""
    return step(
        "tree-create",
        dir=f"/mnt/{name}",
        phase=name,
        files=f"constant({count})",
        directories="constant(0)",
        size=f"constant({size})",
        depth="constant(0)",
    )


def snapshot(label: str) -> str:
    return step("snapshot", label=label)


def gained(guest: Boot, before: str, after: str, counter: str) -> int:
    counters = [guest.flash_record(label)["counters"][counter] for label in (before, after)]
    return int(counters[1] - counters[0])


def operations(guest: Boot) -> list[Operation]:
    return list(read_trace(guest.trace).operations())


def places(guest: Boot) -> list[tuple[object, ...]]:
    """What was asked of the flash, in order, without when."""
    return [
        (o.op, o.block, o.page, o.data_bytes, o.oob_bytes, o.result, o.task)
        for o in operations(guest)
    ]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_without_switches_the_flash_sees_what_it_sees_of_the_default_kernel(
    lab: LabBuild, period: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """With a free CPU: the switches themselves are executed code, and where that is charged the
    background threads meet the workload a little later."""
    default = {name: case for name, case in cases().items() if filesystem in name}
    for name, case in default.items():
        traced = replace(case, trace=True, cpu_scale=0.0)
        old = replace(traced, kernel=lab_kernel({"kernel": "period:none"}, ""))
        one = boot(lab, tmp_path / f"{name}-default", traced)
        two = boot(period, tmp_path / f"{name}-none", old)
        assert len(places(one)) > 1000
        assert places(one) == places(two)


def test_the_kernel_has_the_switches_that_the_model_knows(period: LabBuild, tmp_path: Path) -> None:
    captures = [step("capture", path=f"/sys/module/period/parameters/{n}") for n in SWITCHES]
    for kernel, on in (("period", set(SWITCHES)), ("period:lzo_no_skip", {"lzo_no_skip"})):
        guest = run(period, tmp_path / kernel, case_of("jffs2", kernel), *captures)
        found = {r["path"].rpartition("/")[2]: r["text"].strip() for r in guest.of_type("file")}
        assert found == {name: "Y" if name in on else "N" for name in SWITCHES}


def test_jffs2_no_summary(period: LabBuild, tmp_path: Path) -> None:
    """No summary is written; a mount reads whole blocks, also where there are summaries."""
    on, off = only("jffs2_no_summary")
    many = files("many", 400, 10_000)
    unmount = step("umount", target="/mnt")
    written = {k: run(period, tmp_path / k, case_of("jffs2", k), many, unmount) for k in (on, off)}
    summaries = {k: guest.flash.read_bytes().count(SUMMARY_NODE) for k, guest in written.items()}
    assert summaries[on] == 0 and summaries[off] > 20

    def mounted(kernel: str, flash: Path, name: str) -> int:
        case = case_of("jffs2", kernel)
        guest = run(period, tmp_path / name, case, snapshot("mounted"), flash=flash)
        return int(guest.flash_record("mounted")["counters"]["pages_read"])

    without = mounted(off, written[on].flash, "none-there")
    ignored = mounted(on, written[off].flash, "there-and-ignored")
    used = mounted(off, written[off].flash, "there-and-used")
    assert used * 3 < ignored and used * 3 < without


def test_jffs2_write_super_fills_the_buffer_by_collecting(period: LabBuild, tmp_path: Path) -> None:
    sync = [snapshot("before"), step("sync", target="/mnt"), snapshot("after")]
    steps = [files("old", 200, 4000), step("settle", quiet_ms=7000), files("one", 1, 100), *sync]
    copied, programmed = {}, {}
    for kernel in only("jffs2_write_super"):
        guest = run(period, tmp_path / kernel, case_of("jffs2", kernel), *steps)
        copied[kernel] = gained(guest, "before", "after", "pages_read")
        programmed[kernel] = gained(guest, "before", "after", "pages_programmed")
    on, off = only("jffs2_write_super")
    assert copied[off] == 0 and programmed[off] == 1
    assert copied[on] > 0 and programmed[on] >= 1


def write_back_after(guest: Boot, phase: str) -> tuple[int, int]:
    """When the phase ended, and when write-back of the kernel's first asked for something."""
    (end,) = [p["t_end_ns"] for p in guest.of_type("phase") if p["phase"] == phase]
    moments = [o.t_start_ns for o in operations(guest) if o.task.startswith("kworker")]
    return end, next(moment for moment in moments if moment >= end)


def phase_distance(one_ns: int, other_ns: int) -> int:
    """How far two moments are apart in a pace of five seconds."""
    distance = (one_ns - other_ns) % TICK_NS
    return min(distance, TICK_NS - distance)


def jffs2_flush(period: LabBuild, directory: Path, kernel: str, wait_ms: int) -> tuple[int, int]:
    """When a node was put into the write buffer, and when it was flushed."""
    steps = [
        step("settle", quiet_ms=7000),
        step("sleep", ms=wait_ms),
        files("one", 1, 100),
        step("sleep", ms=12_000),
    ]
    return write_back_after(run(period, directory, case_of("jffs2", kernel), *steps), "one")


def ubifs_flush(period: LabBuild, directory: Path, kernel: str, wait_ms: int) -> tuple[int, int]:
    """When 100 kB were written, long after all else, and when write-back came for them."""
    steps = [
        step("settle", quiet_ms=2000),
        step("sync", target="/mnt"),
        step("sleep", ms=40_000 + wait_ms),
        files("one", 1, 100_000),
        step("sleep", ms=60_000),
    ]
    return write_back_after(run(period, directory, case_of("ubifs", kernel), *steps), "one")


@pytest.mark.parametrize(
    ("flush", "switch"), [(jffs2_flush, "jffs2_write_super"), (ubifs_flush, "flush_ticks")]
)
def test_flushes_at_a_fixed_pace(
    period: LabBuild, tmp_path: Path, flush: Flush, switch: str
) -> None:
    """At moments that do not depend on when something was written; today five seconds later."""
    on, off = only(switch)
    waits_ms = (1700, 3300)
    now = [flush(period, tmp_path / f"off-{wait}", off, wait) for wait in waits_ms]
    assert all(abs(flushed - written - TICK_NS) < SLACK_NS for written, flushed in now)
    assert phase_distance(now[0][1], now[1][1]) > 10 * SLACK_NS
    then = [flush(period, tmp_path / f"on-{wait}", on, wait) for wait in waits_ms]
    assert all(0 <= flushed - written < TICK_NS + SLACK_NS for written, flushed in then)
    assert phase_distance(then[0][1], then[1][1]) < SLACK_NS


def instructions_executed(lab: LabBuild, directory: Path, kernel: str, compression: str) -> int:
    """Instructions of the kernel that a guest executed which writes random data."""
    case = case_of("jffs2", kernel, compression=compression)
    steps = [files("random", 50, 20_000), step("capture", path="/proc/cpu_model")]
    return run(lab, directory, case, *steps).captured("cpu_model")["instructions"]


def test_lzo_no_skip(period: LabBuild, tmp_path: Path) -> None:
    """What cannot be shortened is searched byte by byte; without LZO nothing changes."""
    on, off = only("lzo_no_skip")
    lzo = {k: instructions_executed(period, tmp_path / f"lzo-{k}", k, "lzo") for k in (on, off)}
    none = {k: instructions_executed(period, tmp_path / f"none-{k}", k, "none") for k in (on, off)}
    # Two blocks at least, some ten instructions, for each of the million bytes.
    assert lzo[on] - lzo[off] > 10_000_000
    assert abs(none[on] - none[off]) < (lzo[on] - lzo[off]) / 100


@pytest.mark.parametrize(("partition", "expected"), [("16 MiB", 2), ("100 MiB", 8)])
def test_ubi_reserve(period: LabBuild, tmp_path: Path, partition: str, expected: int) -> None:
    capture = step("capture", path="/sys/class/ubi/ubi0/reserved_for_bad")

    def reserve(name: str, case: Case) -> int:
        guest = run(period, tmp_path / name, case, capture)
        (record,) = guest.of_type("file")
        return int(record["text"])

    on, off = only("ubi_reserve")
    assert reserve("on", case_of("ubifs", on, partition)) == expected
    chip = case_of("ubifs", off, partition).board.chip
    assert reserve("off", case_of("ubifs", off, partition)) == chip.blocks * 20 // 1024
    stated = case_of("ubifs", on, partition)
    assert stated.filesystem.ubi
    ubi = replace(stated.filesystem.ubi, max_beb_per1024=10)
    stated = replace(stated, filesystem=replace(stated.filesystem, ubi=ubi))
    assert reserve("stated", stated) == chip.blocks * 10 // 1024


def test_dirty_limits(period: LabBuild, tmp_path: Path) -> None:
    """Seven of some hundred million bytes are above a limit of 5 %, and below one of 10 %."""
    ratios = [
        step("capture", path=f"/proc/sys/vm/{name}")
        for name in ("dirty_background_ratio", "dirty_ratio")
    ]
    pause = [snapshot("before"), step("sleep", ms=2000), snapshot("after")]
    found = {}
    for kernel in only("dirty_limits"):
        case = case_of("ubifs", kernel, "64 MiB")
        settle = step("settle", quiet_ms=2000)
        guest = run(
            period, tmp_path / kernel, case, *ratios, settle, files("big", 1, 7_000_000), *pause
        )
        background, limit = (int(record["text"]) for record in guest.of_type("file"))
        (end,) = [p["t_end_ns"] for p in guest.of_type("phase") if p["phase"] == "big"]
        after = guest.flash_record("after")["t_ns"]
        programs = [o for o in operations(guest) if o.op == "program" and o.task.startswith("kwo")]
        early = sum(o.t_start_ns < after for o in programs if o.t_start_ns > end - 10**9)
        found[kernel] = (background, limit, early > 100)
    on, off = only("dirty_limits")
    assert found == {on: (5, 10, True), off: (10, 20, False)}


def test_flush_by_age(period: LabBuild, tmp_path: Path) -> None:
    """The flusher that wakes leaves data alone until they are 30 s old."""
    on, off = only("flush_by_age")
    written, flushed = ubifs_flush(period, tmp_path / "off", off, 1700)
    assert flushed - written < TICK_NS + SLACK_NS
    written, flushed = ubifs_flush(period, tmp_path / "on", on, 1700)
    assert EXPIRE_NS - SLACK_NS < flushed - written < EXPIRE_NS + TICK_NS + SLACK_NS


@pytest.mark.parametrize(
    ("filesystem", "switch"),
    [("jffs2", "ubi_reserve"), ("ubifs", "jffs2_no_summary"), ("ubifs", "jffs2_write_super")],
)
def test_a_switch_of_another_file_system_changes_nothing(
    period: LabBuild, tmp_path: Path, filesystem: str, switch: str
) -> None:
    """Not a nanosecond: the switches do not go into the kernel's random numbers either."""
    (case,) = (c for name, c in cases().items() if name.startswith(f"{filesystem}-free"))
    boots = [
        boot(period, tmp_path / kernel, replace(case, kernel=lab_kernel({"kernel": kernel}, "")))
        for kernel in only(switch)
    ]
    assert boots[0].records == boots[1].records
    assert boots[0].flash.read_bytes() == boots[1].flash.read_bytes()
