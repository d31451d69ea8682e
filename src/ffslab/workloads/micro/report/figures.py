"""What the sections of micro-benchmarks need of a result: its streams, and erases by phase.

Durations are virtual nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.results.result import CaseResult
from ffslab.workloads.micro.stored import SlowestResult, StreamResult, streams_of

PHASES = {"invalidate": "removal", "measure": "requests", "flush": "flush"}


@dataclass(frozen=True, slots=True)
class Slow:
    """The slowest request of a stream, its cause, and the flash operations in it by task."""

    latency_ns: int
    cause: str
    work: str


@dataclass(frozen=True, slots=True)
class Between:
    """What a task did on the flash between requests."""

    task: str
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    busy_ns: int


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream: its requests, of which the first `startup_count` are served differently.

    `busy_ns`: how long tasks were in the driver, in requests and between them.
    """

    op: str
    count: int
    startup_count: int
    mean_ns: float
    p50_ns: int
    startup_ns: float | None
    running_ns: float | None
    max_ns: int
    busy_ns: int
    between: tuple[Between, ...]
    slowest: Slow | None


@dataclass(frozen=True, slots=True)
class Figures:
    """A case's patterns and streams, and how many blocks each phase erased (`PHASES`)."""

    pattern: str
    mix_pattern: str
    streams: tuple[Stream, ...]
    erased: dict[str, int]

    @property
    def requests(self) -> int:
        return sum(stream.count for stream in self.streams)

    @property
    def writes(self) -> bool:
        return any(stream.op == "write" for stream in self.streams)


def figures_of(row: CaseResult) -> Figures:
    """The figures of a result; without what it did not get to."""
    workload = row["spec"]["workload"]
    erased = {
        PHASES[phase["phase"]]: phase.get("blocks_erased", 0)
        for phase in row["phases"]
        if phase["phase"] in PHASES
    }
    streams = tuple(made for stream in streams_of(row) if (made := _stream(stream)))
    return Figures(workload["pattern"], workload["mix_pattern"], streams, erased)


def _stream(stream: StreamResult) -> Stream | None:
    whole, startup, running = stream["all"], stream["startup"], stream["running"]
    if not whole:
        return None
    slowest = stream["slowest"][:1]
    return Stream(
        op=stream["op"],
        count=whole["count"],
        startup_count=stream["startup_count"],
        mean_ns=whole["mean_ns"],
        p50_ns=whole["p50_ns"],
        startup_ns=startup["mean_ns"] if startup else None,
        running_ns=running["mean_ns"] if running else None,
        max_ns=whole["max_ns"],
        busy_ns=sum(task["busy_ns"] for task in stream["tasks"]),
        between=tuple(
            Between(
                # kworker/u2:1 is any of the kernel's workers.
                task=task["name"].partition("/")[0],
                pages_read=task["pages_read"],
                pages_programmed=task["pages_programmed"],
                blocks_erased=task["blocks_erased"],
                busy_ns=task["busy_ns"],
            )
            for task in stream["tasks"]
            if task["when"] == "after"
        ),
        slowest=_slow(slowest[0]) if slowest else None,
    )


def _slow(slow: SlowestResult) -> Slow:
    words = {"pages_read": "read", "pages_programmed": "programmed", "blocks_erased": "erased"}
    tasks = []
    for task in slow["tasks"]:
        counts = {key: int(task[key]) for key in words}  # type: ignore[literal-required]
        told = ", ".join(f"{count:,} {words[key]}" for key, count in counts.items() if count)
        tasks += [f"{task['name']}: {told}"] if told else []
    return Slow(slow["latency_ns"], slow["cause"], "; ".join(tasks))
