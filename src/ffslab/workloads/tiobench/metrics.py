"""The figures of tiobench: of each phase throughput, latencies, and what the flash did for it."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, rooms, waits, wear, writes_back
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    phase_figures,
    task_work,
)
from ffslab.workloads.tiobench.result import OPS
from ffslab.workloads.tiobench.stored import tio_of

KIND = "tiobench"
OF = "tiobench"
NOTE = """The key `tiobench` of a result has `phases`: for each phase with requests the agent's record `tiobench`
([plan-format.md](plan-format.md)), with `op` (`write` or `read`) and the metrics below. It also has `tasks`: what each
task asked of the flash in all phases. The phases are `write`, `write-flush`, `random-write`, `random-write-flush`,
`read` and `random-read`; `workload` sums them. In a case that is `short`, `what` is `requests`, those of the phase that
filled the partition. The key is null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)


def _rate(name: str, title: str, meaning: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        unit="MB/s",
        scale=1e6,
        meaning=meaning,
        better="higher",
        exact=False,
    )


def _share(name: str, title: str, meaning: str) -> Metric:
    return Metric(name=name, title=title, meaning=meaning, exact=False)


THROUGHPUT = _rate(
    "throughput_bytes_per_s", "Throughput", "bytes of the requests ÷ time of the phase"
)
ON_FLASH_RATE = _rate(
    "on_flash_bytes_per_s",
    "Throughput until on flash",
    "bytes written ÷ time of phase and flush",
)
P95 = Metric(
    name="p95_ns",
    title="Latency p95",
    unit="ms",
    scale=1e6,
    meaning="that 95 % of the requests do not exceed",
)
OFF_CHIP = _share(
    "off_chip_share",
    "Share outside the chip",
    "of the time: kernel code, driver",
)
ABOVE_2S = _share("above_2s_share", "Share above 2 s", "of the requests, that took longer")
ABOVE_10S = _share("above_10s_share", "Share above 10 s", "of the requests, that took longer")
PAGES = Metric(
    name="on_flash_pages",
    title="Pages until on flash",
    unit="pages",
    meaning="in the phase and its flush",
)
AMPLIFICATION = _share(
    "on_flash_amplification",
    "Write amplification until on flash",
    "programmed with the flush ÷ written",
)
METRICS = (THROUGHPUT, ON_FLASH_RATE, P95, OFF_CHIP, ABOVE_2S, ABOVE_10S, PAGES, AMPLIFICATION)
_MAIN = ("throughput_bytes_per_s", "on_flash_bytes_per_s")
_MAIN_LATENCIES = ("mean_ns", "p99_ns", "max_ns")
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    tio = tio_of(result)
    own = (
        figure
        for phase in (tio["phases"] if tio else ())
        for figure in figures_at(phase, f"{phase['phase']}/{phase['op']}", METRICS, _MAIN)
    )
    return (
        *case_figures(result),
        *own,
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
        *latency_figures(result, dict.fromkeys(OPS.values(), _MAIN_LATENCIES)),
    )


ACTS = {
    "write": "sequential writing",
    "random-write": "random writing",
    "read": "sequential reading",
    "random-read": "random reading",
}

_SHORT = {
    "write": "write",
    "random-write": "random write",
    "read": "read",
    "random-read": "random read",
}


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: throughput and waits of each phase, wear, space, memory."""
    tio = tio_of(result)
    if tio is None:
        return
    late = writes_back(result)
    for phase in tio["phases"]:
        if phase["stopped"]:
            continue
        act, where = ACTS[phase["phase"]], f"{phase['phase']}/{phase['op']}"
        rate = ON_FLASH_RATE if phase["op"] == "write" else THROUGHPUT
        until = " until it is on the flash" if phase["op"] == "write" else ""
        for figure in figures_at(phase, where, (rate,)):
            yield Criterion(figure, f"{act}{until}", "time", True, short=_SHORT[phase["phase"]])
        for latency in result["latencies"]:
            if (latency["phase"], latency["op"]) == (phase["phase"], phase["op"]):
                in_memory = late and phase["op"] == "write"
                yield from waits(latency, f"a request, {act}", in_memory=in_memory)
    yield from wear(result)
    yield from rooms(result, "random-write-flush:end", "after the random writes")


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in all phases."""
    tio = tio_of(result)
    rows = tio["tasks"] if tio else ()
    return tuple(work for task in rows for work in task_work(task["phase"], (task,)))
