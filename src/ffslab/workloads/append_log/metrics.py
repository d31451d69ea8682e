"""The figures of a log: latencies of its operations, what the flash did for each line."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.schema import (
    FLASH_COUNTS,
    LATENCY_METRICS,
    Figure,
    Metric,
    Result,
    TaskWork,
    case_figures,
    figures_at,
    phase_figures,
)
from ffslab.workloads.append_log.result import LINE_OPS

KIND = "append-log"
OF = "append-log"
NOTE = """The key `append_log` of a result: the agent's record `append-log` ([plan-format.md](plan-format.md)), the
metrics below, and `tasks`: what each task asked of the flash in the phases `append` and `flush`, which `workload` sums.
A further phase is `verify`. All is counted from the first line to the end of the flush. Of a case that is `short`,
`what` is `lines`. Null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)
PLACE = "workload/line"  # below the phase whose flash operations explain it
PAGES = Metric(
    name="pages_per_line",
    title="Pages per line",
    unit="pages",
    meaning="pages programmed ÷ lines",
    exact=False,
    words=("more", "fewer"),
)
READS = Metric(
    name="pages_read_per_line",
    title="Pages read per line",
    unit="pages",
    meaning="pages read ÷ lines",
    exact=False,
    words=("more", "fewer"),
)
ERASES = Metric(
    name="erases_per_1000_lines",
    title="Erases per 1,000 lines",
    unit="blocks",
    meaning="blocks erased ÷ lines × 1,000",
    exact=False,
    words=("more", "fewer"),
)
MEAN = Metric(
    name="line_mean_ns",
    title="Mean time of a line",
    unit="ms",
    scale=1e6,
    meaning="time in write() and in syncs ÷ lines, synced or not",
    exact=False,
)
SLOW = Metric(
    name="slow_share",
    title="Share of slow lines",
    meaning="above 10 times the median: of those with a sync, else of all",
    exact=False,
)
METRICS = (PAGES, READS, ERASES, MEAN, SLOW)
_MAIN = ("pages_per_line", "erases_per_1000_lines", "line_mean_ns")
_MAIN_LATENCIES = ("p50_ns", "p99_ns", "p999_ns", "max_ns")
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")
_TASK_COUNTS = tuple(metric.name for metric in FLASH_COUNTS)


def figures(result: Result) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    return (
        *case_figures(result),
        *figures_at(result.get("append_log") or {}, PLACE, METRICS, _MAIN),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
        *_latencies(result),
    )


def tasks(result: Result) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases append and flush."""
    found = (result.get("append_log") or {}).get("tasks") or ()
    return tuple(
        TaskWork(str(t["phase"]), str(t["name"]), {name: t[name] for name in _TASK_COUNTS})
        for t in found
    )


def _latencies(result: Result) -> Iterator[Figure]:
    for latency in result["latencies"]:
        if latency["count"]:
            main = _MAIN_LATENCIES if latency["op"] in LINE_OPS else ()
            place = f"{latency['phase']}/{latency['op']}"
            yield from figures_at(latency, place, LATENCY_METRICS, main)
