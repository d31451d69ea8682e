"""The figures of a log: latencies of its operations, what the flash did for each line."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, rooms, waits, wear, writes_back
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
    BY_NAME,
    ON_FLASH_MEAN,
    Figure,
    Metric,
    TaskWork,
    case_figures,
    figures_at,
    latency_figures,
    phase_figures,
    task_work,
)
from ffslab.workloads.append_log.result import LINE_OPS, line_latency
from ffslab.workloads.append_log.stored import log_of

KIND = "append-log"
OF = "append-log"
NOTE = """The key `append_log` of a result has the agent's record `append-log` ([plan-format.md](plan-format.md)), the
metrics below, and `tasks`: what each task asked of the flash in the phases `append` and `flush`. The phase `workload`
sums these two; another phase is `verify`. All counts run from the first line to the end of the flush. In a case that is
`short`, `what` is `lines`. The key is null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)
PLACE = "workload/line"  # below the phase whose flash operations explain it


def _per_line(name: str, title: str, unit: str, meaning: str) -> Metric:
    return Metric(
        name=name, title=title, unit=unit, meaning=meaning, exact=False, words=("more", "fewer")
    )


PAGES = _per_line("pages_per_line", "Pages per line", "pages", "pages programmed ÷ lines")
READS = _per_line("pages_read_per_line", "Pages read per line", "pages", "pages read ÷ lines")
ERASES = _per_line(
    "erases_per_1000_lines", "Erases per 1,000 lines", "blocks", "blocks erased ÷ lines × 1,000"
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
LIFE = Metric(
    name="life_years",
    title="Life at this pace",
    unit="years",
    meaning="until the rated erases are used, if all blocks wear alike",
    better="higher",
    exact=False,
    words=("longer", "shorter"),
)
METRICS = (PAGES, READS, ERASES, MEAN, SLOW, LIFE)
_MAIN = ("pages_per_line", "erases_per_1000_lines", "line_mean_ns")
_MAIN_LATENCIES = ("p50_ns", "p99_ns", "p999_ns", "max_ns")
_S_PER_YEAR = 365.25 * 86_400
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    log = log_of(result)
    return (
        *case_figures(result),
        *(figures_at({**log, LIFE.name: life_years(result)}, PLACE, METRICS, _MAIN) if log else ()),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
        *latency_figures(result, dict.fromkeys(LINE_OPS, _MAIN_LATENCIES)),
    )


_WORN = {
    PAGES.name: ("pages programmed per line", "pages per line"),
    ERASES.name: ("blocks erased per 1,000 lines", "erases"),
}

_HEADS = {
    "append-sync": "line with sync",
    "append": "line",
    PAGES.name: "pages per line",
    ERASES.name: "erases per 1,000",
}


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: the wait for a line, what a line wears, space, memory."""
    line, log = line_latency(result["latencies"]), log_of(result)
    if line is None or log is None:
        return
    late = writes_back(result) and not log["synced"]
    for figure in _on_flash(result):
        title = "a line, with its part of the flush at the end"
        yield Criterion(figure, title, "time", True, short="a line")
    mean = Figure(BY_NAME["mean_ns"], f"{line['phase']}/{line['op']}", line["mean_ns"])
    yield Criterion(mean, "the wait for a line, mean", "time", False, late)
    yield from waits(line, "the wait for a line", in_memory=late)
    for figure in figures_at(log, PLACE, (PAGES, ERASES)):
        title, short = _WORN[figure.metric.name]
        yield Criterion(figure, title, "wear", short=short)
    of_blocks = ("erases_max", "erases_spread")
    yield from (
        criterion for criterion in wear(result) if criterion.figure.metric.name in of_blocks
    )
    for figure in figures_at({LIFE.name: life_years(result)}, PLACE, (LIFE,)):
        yield Criterion(figure, "life at this pace", "life", short="life")
    yield from rooms(result, "flush:end", "after the last line")


def life_years(result: CaseResult) -> float | None:
    """How long the partition's rated erases last at the pace of the case, its sleeps included: as
    if all blocks wore alike, and none was erased before all of its pages were programmed.
    """
    log, spec = log_of(result), result["spec"]
    append = next((phase for phase in result["phases"] if phase["phase"] == "append"), None)
    chip = spec["board"]["chip"]
    if not log or not append or not chip.get("endurance_cycles"):
        return None
    if not log["lines_done"] or not log["pages_per_line"]:
        return None
    pages = spec["partition_bytes"] / chip["page_bytes"] * chip["endurance_cycles"]
    per_line_s = append["duration_ns"] / 1e9 / log["lines_done"]
    return float(pages / log["pages_per_line"] * per_line_s / _S_PER_YEAR)


def _on_flash(result: CaseResult) -> Iterator[Figure]:
    """The mean of a line with the flush behind them all."""
    log = log_of(result)
    flush = next((phase for phase in result["phases"] if phase["phase"] == "flush"), None)
    if log and flush and log["line_mean_ns"] is not None and log["lines_done"]:
        mean = log["line_mean_ns"] + flush["duration_ns"] / log["lines_done"]
        yield Figure(ON_FLASH_MEAN, PLACE, mean)


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases append and flush."""
    log = log_of(result)
    task_records = log["tasks"] if log else ()
    return tuple(work for task in task_records for work in task_work(task["phase"], (task,)))
