"""What flashmon costs on a processor whose time is that of instructions: target qemu.

One plan is run in three guests: without the monitor, with it counting, and with its trace on. All
else is alike, and nothing of the host is in their times: the difference is the monitor's, to some
instructions of the scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from ffslab.model.case import Case
from ffslab.model.workload import GuestFile
from ffslab.protocol.plan import plan_of, step
from ffslab.protocol.records import OK, RecordStream, parse_records
from ffslab.targets.qemu.machine import RIG
from ffslab.targets.target import RECORDS_NAME, GuestJob, Opening
from ffslab.targets.uml.site import LocalSite

PROGRAM = "/test/mtdspeed"
BLOCKS = 32
PAGES = ("program", "read", "oob")
RAW = ("erase", *PAGES)
FILE_BYTES = 4 << 20
MONITORS = ("none", "counting", "tracing")
_LIMIT_S = 300.0
_FLASHMON = "/lab/flashmon.ko"


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds that the same work took without monitor, counted, and traced.

    `requests` is how many of them the flash was asked for; 0: nobody knows without the monitor.
    """

    none_ns: int
    counting_ns: int
    tracing_ns: int
    requests: int = 0

    @property
    def counting(self) -> float:
        """The share of throughput that counting takes."""
        return 1 - self.none_ns / self.counting_ns

    @property
    def tracing(self) -> float:
        """The share of throughput that counting and tracing take together."""
        return 1 - self.none_ns / self.tracing_ns

    @property
    def us_each(self) -> str:
        """Microseconds that counting adds to a request."""
        added_us = (self.counting_ns - self.none_ns) / 1e3
        return f"{added_us / self.requests:.1f}" if self.requests else ""


def raw_costs(site: LocalSite, case: Case, program: Path, place: Path) -> dict[str, Cost]:
    """Each operation of the raw device in requests of a block or a page: all blocks of the
    partition are erased, the pages of BLOCKS blocks programmed and read.
    """
    work = [
        *RIG.erase(label="erase"),
        *(
            step("exec", path=PROGRAM, args=f"/dev/mtd0 {name} {BLOCKS}", label=name)
            for name in PAGES
        ),
    ]
    files = (GuestFile(PROGRAM, program.read_bytes()),)
    taken = {one: _step_times(_run(site, case, one, work, place, files)) for one in MONITORS}
    pages = BLOCKS * case.board.chip.pages_per_block
    requests = {"erase": case.partition_blocks} | dict.fromkeys(PAGES, pages)
    return {
        name: Cost(*(taken[one][name] for one in MONITORS), requests=requests[name]) for name in RAW
    }


def file_cost(site: LocalSite, case: Case, place: Path) -> Cost:
    """A new file, written in requests of 4 KiB and synced: the time of both."""
    keys = {"request_bytes": 4096, "volume_bytes": FILE_BYTES, "pattern": "sequential-write"}
    work = [
        *RIG.erase(),
        *RIG.mount(case, new=True),
        step("sleep", ms=2000),
        step("micro", **keys),
        *RIG.unmount(case),
    ]
    times = []
    for monitor in MONITORS:
        stream = _run(site, case, monitor, work, place)
        wanted = [phase for phase in stream.phases if phase.name in ("measure", "flush")]
        assert [phase.status for phase in wanted] == [OK, OK]
        times.append(sum(phase.t_end_ns - phase.t_start_ns for phase in wanted))
    return Cost(*times)


def _run(
    site: LocalSite,
    case: Case,
    monitor: str,
    work: list[str],
    place: Path,
    files: tuple[GuestFile, ...] = (),
) -> RecordStream:
    loading = [line for line in RIG.devices(case) if monitor != "none" or _FLASHMON not in line]
    if monitor != "none":
        loading += RIG.monitor()
    if monitor == "tracing":
        loading.append(step("trace", on=1))
    # The kernel has something left to do when it first idles.
    plan = plan_of([*loading, step("sleep", ms=1000), *work])
    directory = Path(mkdtemp(prefix=f"{case.id}-{monitor}-", dir=place))
    with site.open(Opening([case], 1, place)) as opened:
        opened.target.run(GuestJob(case, plan, directory, _LIMIT_S, files=files))
    stream = parse_records((directory / RECORDS_NAME).read_bytes())
    assert stream.end is not None
    assert stream.end.status == OK, stream.records[-3:]
    return stream


def _step_times(stream: RecordStream) -> Mapping[str, int]:
    return {
        one["label"]: one["t_end_ns"] - one["t_start_ns"]
        for one in stream.records
        if one["type"] == "step" and one["label"] in RAW
    }
