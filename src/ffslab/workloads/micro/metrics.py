"""The figures of a micro-benchmark: response times of its requests, what the flash did for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ffslab.results.schema import (
    FLASH_COUNTS,
    LATENCY_METRICS,
    PREPARATION,
    Figure,
    Metric,
    Result,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    phase_figures,
    task_work,
)
from ffslab.workloads.micro.result import mean_response_ns

KIND = "micro"
OF = "micro-benchmarks"
NOTE = ""  # docs/result-format.md has its keys of a result


def _metric(name: str, title: str, unit: str, meaning: str) -> Metric:
    return Metric(name=name, title=title, unit=unit, meaning=meaning, kinds=(KIND,))


OOB_PAGES = _metric(
    "oob_pages", "OOB areas alone", "pages", "of which the OOB area alone was read or programmed"
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
_WEAR = ("pages_read", "pages_programmed", "blocks_erased", "erases_mean")


def figures(result: Result) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    mean = mean_response_ns(result)
    preparation = result.get("preparation") or {}
    return (
        *case_figures(result),
        *((Figure(RESPONSE, "measure", mean, main=True),) if mean is not None else ()),
        *(figure for stream in _streams(result) for figure in _stream_figures(*stream)),
        *phase_figures(result["phases"], {"workload": _WEAR}),
        *latency_figures(result),
        *phase_figures(preparation.get("phases") or (), {}, prefix=f"{PREPARATION}: "),
        *figures_at(preparation, PREPARATION, (RESERVE,)),
    )


def tasks(result: Result) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases measure and flush."""
    found = (result.get("micro") or {}).get("tasks") or ()
    return tuple(work for task in found for work in task_work(str(task["phase"]), (task,)))


def _streams(result: Result) -> list[tuple[str, Mapping[str, Any]]]:
    """The streams of requests with their places; one alone needs no number."""
    found = list(result.get("requests") or ())
    if len(found) == 1:
        return [(f"measure/{found[0]['op']}s", found[0])]
    return [(f"measure/{stream['op']}s of {stream['stream']}", stream) for stream in found]


def _stream_figures(place: str, stream: Mapping[str, Any]) -> Iterator[Figure]:
    if not stream["count"]:
        return
    yield from figures_at(stream, place, (STARTUP_COUNT,))
    for part, where in (("all", place), ("startup", f"{place}, start-up"), ("running", "")):
        # Without a start-up the running phase is all.
        if part == "running" and stream["startup"]:
            where = f"{place}, running"
        if where and stream[part]:
            main = ("p50_ns", "p99_ns", "p999_ns", "max_ns") if part == "all" else ()
            yield from figures_at(stream[part], where, LATENCY_METRICS, main)
    for when, words in (("request", "in requests"), ("after", "between requests")):
        counts = stream["flash"][when]
        yield from figures_at(counts, f"{place}, {words}", (*FLASH_COUNTS, OOB_PAGES))
