"""The figures of a micro-benchmark: response times of its requests, what the flash did for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from ffslab.results.criteria import Criterion, rooms, wear, writes_back
from ffslab.results.result import CaseResult, PreparationResult
from ffslab.results.schema import (
    BY_NAME,
    FLASH_COUNTS,
    LATENCY_METRICS,
    ON_FLASH_MEAN,
    PREPARATION,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    phase_figures,
    task_work,
)
from ffslab.workloads.micro.result import mean_response_ns
from ffslab.workloads.micro.stored import StreamResult, micro_of, streams_of

KIND = "micro"
OF = "micro-benchmarks"
NOTE = ""  # docs/result-format.md has its keys of a result


def _metric(name: str, title: str, unit: str, meaning: str) -> Metric:
    return Metric(name=name, title=title, unit=unit, meaning=meaning, kinds=(KIND,))


OOB_PAGES = _metric(
    "oob_pages", "OOB areas alone", "pages", "read or programmed without the page's data"
)
STARTUP_COUNT = Metric(
    name="startup_count",
    title="Requests of the start-up phase",
    unit="requests",
    meaning="cheaper ones at the start",
    better="neither",
    kinds=(KIND,),
)
RESERVE = _metric(
    "reserve_bytes",
    "Reserve of the file system",
    "B",
    "what the file system keeps of the partition",
)
RESPONSE = Metric(
    name="response_mean_ns",
    title="Mean response time",
    unit="ms",
    scale=1e6,
    meaning="of all requests of all streams",
    exact=False,
    kinds=(KIND,),
)
METRICS = (RESPONSE, STARTUP_COUNT, OOB_PAGES, RESERVE)
_WAITS: tuple[tuple[Literal["p99_ns", "max_ns"], str, str], ...] = (
    ("p99_ns", "99 % of the times", "99 %"),
    ("max_ns", "longest time", "longest"),
)
_WEAR = ("pages_read", "pages_programmed", "blocks_erased", "erases_mean")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    mean = mean_response_ns(result)
    preparation = result.get("preparation")
    return (
        *case_figures(result),
        *((Figure(RESPONSE, "measure", mean, main=True),) if mean is not None else ()),
        *(figure for stream in _streams(result) for figure in _stream_figures(*stream)),
        *phase_figures(result["phases"], {"workload": _WEAR}),
        *latency_figures(result),
        *(_preparation_figures(preparation) if preparation else ()),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: response times of reads, writes or a mix, the slowest, wear, space.

    Sequential or random is a place, as the size of the requests is.
    """
    mean = mean_response_ns(result)
    if mean is None:
        return
    workload = result["spec"]["workload"]
    patterns = [workload[name] for name in ("pattern", "mix_pattern") if workload[name]]
    ops = dict.fromkeys(pattern.rpartition("-")[2] for pattern in patterns)
    word, writes = " + ".join(ops), "write" in ops
    act = " and ".join(f"a {op}" for op in ops)
    late = writes and writes_back(result) and not workload["fsync_every"]
    for figure in _on_flash(result) if writes else ():
        on_flash = f"{act}, until all is on the flash"
        yield Criterion(figure, on_flash, "time", headline=True, short=f"flushed {word}")
    response = Figure(RESPONSE, "measure", mean)
    title = f"{act}, mean response"
    yield Criterion(
        response, title, "time", headline=not late, in_memory=late, short=f"mean {word}"
    )
    for name, words, head in _WAITS:
        slowest = [stream["all"][name] for stream in streams_of(result) if stream["all"]]
        figure = Figure(BY_NAME[name], "measure", max(slowest))
        short = f"{head} {word}"
        yield Criterion(figure, f"{act}, {words}", "wait", in_memory=late, short=short)
    for criterion in wear(result) if writes else ():
        yield replace(criterion, title=f"{act}, {criterion.title}")
    yield from rooms(result)


def _on_flash(result: CaseResult) -> Iterator[Figure]:
    """The mean of a request with the flush behind them all."""
    flush = next((phase for phase in result["phases"] if phase["phase"] == "flush"), None)
    mean, count = mean_response_ns(result), sum(stream["count"] for stream in streams_of(result))
    if mean is not None and flush is not None:
        yield Figure(ON_FLASH_MEAN, "measure", mean + flush["duration_ns"] / count)


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases measure and flush."""
    micro = micro_of(result)
    task_records = micro["tasks"] if micro else ()
    return tuple(work for task in task_records for work in task_work(task["phase"], (task,)))


def _preparation_figures(preparation: PreparationResult) -> Iterator[Figure]:
    yield from phase_figures(preparation["phases"], {}, prefix=f"{PREPARATION}: ")
    yield from figures_at(preparation, PREPARATION, (RESERVE,))


def _streams(result: CaseResult) -> list[tuple[str, StreamResult]]:
    """The streams of requests with their places; one alone needs no number."""
    streams = streams_of(result)
    if len(streams) == 1:
        return [(f"measure/{streams[0]['op']}s", streams[0])]
    return [(f"measure/{stream['op']}s of {stream['stream']}", stream) for stream in streams]


def _stream_figures(where: str, stream: StreamResult) -> Iterator[Figure]:
    if not stream["count"]:
        return
    yield from figures_at(stream, where, (STARTUP_COUNT,))
    if stream["all"]:
        main = ("p50_ns", "p99_ns", "p999_ns", "max_ns")
        yield from figures_at(stream["all"], where, LATENCY_METRICS, main)
    # Without a start-up the running phase is all.
    if stream["startup"]:
        yield from figures_at(stream["startup"], f"{where}, start-up", LATENCY_METRICS)
        if stream["running"]:
            yield from figures_at(stream["running"], f"{where}, running", LATENCY_METRICS)
    flash = stream["flash"]
    for words, counts in (("in requests", flash["request"]), ("between requests", flash["after"])):
        yield from figures_at(counts, f"{where}, {words}", (*FLASH_COUNTS, OOB_PAGES))
