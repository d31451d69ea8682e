"""flashmon's live page: who did what on the flash, without a system call.

The tasks' sums are the `counters` file, and the trace says the same task by task. Both are the
monitor's; that the counters are right is the business of test_counts.py.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from guest_programs import DEBUG, JFFS2, SOURCES, UBIFS, YAFFS2, Subject, device_steps, mount_step
from lab_support import Boot, boot, cases

from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case
from ffslab.protocol.plan import encode
from ffslab.protocol.records import parse_records
from ffslab.protocol.trace import read_trace
from ffslab.targets.target import RECORDS_NAME
from ffslab.targets.virtual_flash import TRACE_REGION, module_path
from ffslab.workloads.micro.idle import BETWEEN, OUTSIDE, idle_work, measurement

PROGRAM = "/test/livepage"
SUBJECTS = (JFFS2, UBIFS, YAFFS2)
WRITER_BYTES = 12 << 20  # more than the partitions have free: garbage is collected
# What reads, programs and erases beside the writer; a pattern of names for each file system.
BACKGROUND = {
    "jffs2": r"jffs2_gcd_mtd\d+",
    "ubifs": r"ubi_bgt0d|ubifs_bgt0_0",
    "yaffs2": r"yaffs.*",
}
KNOWN = r"init|ffsagent|mount|umount|sync|livepage|writer-[ab]|kworker/.*"
# Pages read and programmed, blocks erased, time in the driver, OOB areas alone.
Sums = tuple[int, int, int, int, int]
COUNTS = ("pages_read", "pages_programmed", "blocks_erased")


@dataclass(frozen=True)
class View:
    """What `livepage show` printed: (pid, name) → counts and time, and the counters."""

    tasks: dict[tuple[int, str], Sums]
    counters: dict[str, int]

    def sums(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.tasks.values(), strict=True)))

    def expected_sums(self) -> tuple[int, ...]:
        busy = sum(self.counters[name] for name in ("read_ns", "program_ns", "erase_ns"))
        oob = self.counters["oob_reads"] + self.counters["oob_programs"]
        return (*(self.counters[name] for name in COUNTS), busy, oob)


def views(output: str) -> list[View]:
    """One for each `show`, in order."""
    found: list[View] = []
    inside = False
    for line in output.splitlines():
        if live := re.fullmatch(r"live (-?\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (.*)", line):
            if not inside:
                found.append(View({}, {}))
            inside = True
            numbers = tuple(int(live[i]) for i in range(2, 7))
            found[-1].tasks[int(live[1]), live[7]] = numbers  # type: ignore[assignment]
        elif counter := re.fullmatch(r"counter (\w+) (\d+)", line):
            inside = False
            found[-1].counters[counter[1]] = int(counter[2])
    return found


@pytest.fixture(scope="session")
def livepage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("livepage")
    subprocess.run(["make", "-s", "-C", SOURCES / "livepage", f"O={directory}"], check=True)
    return directory / "livepage"


def run_step(*words: object) -> str:
    return f"exec path={PROGRAM} args={encode(' '.join(map(str, words)))}"


def plan(case: Case, steps: Sequence[str], *, trace: bool = True) -> str:
    """The case's file system with the monitor below it, and `steps` while it is mounted."""
    device = device_steps(case)
    monitor = [
        f"insmod path={module_path('flashmon')} args={encode(f'trace_store=iomem:{TRACE_REGION}')}",
        "monitor mtd=data",
        f"trace on={int(trace)}",
    ]
    at = next(i for i, line in enumerate(device) if line.startswith("erase "))
    lines = [
        *(line for line in device[:at] if "flashmon" not in line),
        *monitor,
        *device[at:],
        mount_step(case),
        *steps,
        "umount target=/mnt",
        *(["ubi-detach"] if case.filesystem.ubi else []),
        run_step("show", "data"),
        "snapshot label=unmounted",
    ]
    return "\n".join(lines) + "\n"


def boot_steps(
    lab: LabBuild, directory: Path, subject: Subject, program: Path, steps: Sequence[str],
    *, trace: bool = True,
) -> Boot:  # fmt: skip
    case = replace(subject.case(), trace=trace)
    text = plan(case, steps, trace=trace)
    guest = boot(lab, directory, case, text, files={PROGRAM: program}, limit_s=600)
    assert guest.of_type("end")[0]["status"] == "ok", guest.printed
    return guest


WORKLOAD = (
    run_step("write", "/mnt", "writer-a", WRITER_BYTES),
    run_step("show", "data"),
    run_step("write-later", "/mnt", "writer-b", WRITER_BYTES),
    "sleep ms=40000",  # longer than data stay in memory
    "settle",
)


@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.name for subject in SUBJECTS])
def test_tasks_add_up(lab: LabBuild, tmp_path: Path, livepage: Path, subject: Subject) -> None:
    guest = boot_steps(lab, tmp_path / "guest", subject, livepage, WORKLOAD)
    first, last = views(guest.output)
    for view in (first, last):
        assert view.sums() == view.expected_sums()
    assert last.counters == guest.flash_record("unmounted")["counters"]

    names = {name for _, name in last.tasks}
    assert not [
        name for name in names if not re.fullmatch(KNOWN, name) and not background(subject, name)
    ]
    assert any(background(subject, name) for name in names), names
    by_name = {name: counts for (_, name), counts in last.tasks.items()}
    written_pages = WRITER_BYTES // 2048
    assert by_name["writer-a"][1] >= written_pages
    if subject is UBIFS:  # writes back later; the others write through
        flushers = [counts for name, counts in by_name.items() if name.startswith("kworker/u")]
        assert sum(counts[1] for counts in flushers) >= 100
    else:
        assert by_name["writer-b"][1] >= written_pages
    # The background was at work, not only there.
    assert sum(sum(c[:3]) for name, c in by_name.items() if background(subject, name)) > 10
    # An ended task keeps its slot and its numbers.
    (pid,) = [pid for pid, name in first.tasks if name == "writer-a"]
    assert last.tasks[pid, "writer-a"] == first.tasks[pid, "writer-a"]

    assert traced(guest) == {task: sums[:4] for task, sums in last.tasks.items()}


def background(subject: Subject, name: str) -> bool:
    return re.fullmatch(BACKGROUND[subject.filesystem], name) is not None


def traced(guest: Boot) -> dict[tuple[int, str], tuple[int, ...]]:
    """The trace summed by task, who has the name of its last operation; without OOB areas.

    Of how many pages a request read the OOB areas alone is not in the trace.
    """
    sums: dict[int, list[int]] = defaultdict(lambda: [0] * 4)
    names: dict[int, str] = {}
    trace = read_trace(guest.trace)
    assert not trace.notes
    for operation in trace.operations():
        of_task = sums[operation.pid]
        of_task[("read", "program", "erase").index(operation.op)] += operation.pages
        of_task[3] += operation.duration_ns
        names[operation.pid] = operation.task
    return {(pid, names[pid]): (s[0], s[1], s[2], s[3]) for pid, s in sums.items()}


def test_the_page_is_read_only_and_free_of_cost(
    lab: LabBuild, tmp_path: Path, livepage: Path
) -> None:
    """The program checks; see its protect() and measure_time()."""
    steps = [run_step("protect", "data"), run_step("time", "data")]
    boot_steps(lab, tmp_path / "guest", YAFFS2, livepage, steps)


def test_a_mapping_outlives_its_monitor(lab: LabBuild, tmp_path: Path, livepage: Path) -> None:
    """The program checks; see its detach_mapped(). Afterwards the page begins anew."""
    steps = [
        run_step("detach", "data"),
        run_step("write", "/mnt", "writer-a", 1 << 20),
    ]
    guest = boot_steps(lab, tmp_path / "guest", YAFFS2, livepage, steps)
    (view,) = views(guest.output)
    assert view.sums() == view.expected_sums()
    assert view.counters["blocks_erased"] < 10  # not those of the formatting


def test_a_page_without_a_free_slot(lab: LabBuild, tmp_path: Path, livepage: Path) -> None:
    """80 tasks after some others: the last slot has those for which there was none."""
    steps = [run_step("many", "/mnt", 80)]
    guest = boot_steps(lab, tmp_path / "guest", YAFFS2, livepage, steps)
    (view,) = views(guest.output)
    assert len(view.tasks) == 63
    assert view.sums() == view.expected_sums()
    own = {key: counts[:4] for key, counts in view.tasks.items() if key[0] != -1}
    assert len(own) == 62
    by_trace = traced(guest)
    assert len(by_trace) > 80
    assert own == {key: by_trace[key] for key in own}
    taken = {pid for pid, _ in own}
    rest = [counts for (pid, _), counts in by_trace.items() if pid not in taken]
    assert view.tasks[-1, "(others)"][:4] == tuple(map(sum, zip(*rest, strict=True)))


def test_reset_empties_the_page(lab: LabBuild, tmp_path: Path, livepage: Path) -> None:
    steps = [
        run_step("write", "/mnt", "writer-a", 1 << 20),
        run_step("reset", "data"),
        run_step("write", "/mnt", "writer-b", 1 << 20),
    ]
    guest = boot_steps(lab, tmp_path / "guest", YAFFS2, livepage, steps)
    (view,) = views(guest.output)
    names = {name for _, name in view.tasks}
    assert "writer-b" in names and "writer-a" not in names
    assert view.sums() == view.expected_sums()


@pytest.mark.skipif(DEBUG, reason="the sanitizers' hooks in flashmon are counted kernel code")
def test_looking_changes_nothing(lab: LabBuild, tmp_path: Path, livepage: Path) -> None:
    """With a trace and without, the same tasks did the same at the same times."""
    plain, with_trace = (
        boot_steps(lab, tmp_path / name, UBIFS, livepage, WORKLOAD, trace=trace)
        for name, trace in (("plain", False), ("traced", True))
    )
    assert plain.records == with_trace.records
    assert views(plain.output) == views(with_trace.output)
    assert plain.flash.read_bytes() == with_trace.flash.read_bytes()


MICRO = """
schema = 1
name = "micropauses"
title = "Requests and pauses on saturated flash"

[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1]
state = { kind = "saturated", remount = false }

[base.workload]
kind = "micro"
pattern = "random-write"
request_bytes = "4 KiB"
volume_bytes = "1 MiB"
pause_us = 100_000
burst = 4

[axes]
filesystem = ["jffs2", "yaffs2"]
"""


def test_the_agent_sees_what_the_trace_has(lab: LabBuild, tmp_path: Path) -> None:
    """Totals by task over the measured phase, by the agent from the page and from the trace."""
    for name, case in cases(MICRO).items():
        guest = boot(lab, tmp_path / name, replace(case, trace=True))
        (measured,) = [r for r in guest.of_type("tasks") if r["phase"] == "measure"]
        requests = measurement(parse_records((guest.directory / RECORDS_NAME).read_bytes()))
        assert requests is not None and len(requests.requests) == 256
        work = idle_work(read_trace(guest.trace).operations(), requests)
        assert work.pause_ns >= 60 * 100_000_000

        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for share in work.shares:
            if share.place != OUTSIDE:
                counts = (share.pages_read, share.pages_programmed, share.blocks_erased)
                sums[share.task] = [a + b for a, b in zip(sums[share.task], counts, strict=True)]
        of_agent = {task["name"]: [task[key] for key in COUNTS] for task in measured["tasks"]}
        assert sums.keys() == of_agent.keys()
        for task, counts_of_agent in of_agent.items():
            # The page has an operation when it ends, `idle_work` when it begins.
            assert sums[task] == pytest.approx(counts_of_agent, abs=2), (name, task)
        # The collector was at work in the pauses.
        assert any(s.place == BETWEEN and s.blocks_erased for s in work.shares)
