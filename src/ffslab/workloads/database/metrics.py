"""The figures of database, and those among them that people decide by."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, rooms, waits, wear
from ffslab.results.result import CaseResult
from ffslab.results.schema import (
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
from ffslab.workloads.database.result import OP, transaction_latency
from ffslab.workloads.database.stored import stored_of

KIND = "database"
OF = "the workload database"
NOTE = """The key `database` of a result has the agent's record `database` (`guest/agent/workloads/database/README.md`),
the metrics below, `on_flash_mean_ns`, and `tasks`: what each task asked of the flash in the phases `commit` and
`close`. The phase `workload` sums these two; further phases are `create` and `verify`. What the workload wrote is the
changed pages: `write_amplification` counts the journal as a cost. In a case that is `short`, `what` is `transactions`.
The key is null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)
PLACE = "workload/transaction"  # below the phase whose flash operations explain it


def _each(name: str, title: str, unit: str, meaning: str) -> Metric:
    return Metric(
        name=name, title=title, unit=unit, meaning=meaning, exact=False, words=("more", "fewer")
    )


RATE = Metric(
    name="transactions_per_s",
    title="Transactions per second",
    unit="1/s",
    meaning="transactions ÷ time of the phase `commit`",
    better="higher",
    exact=False,
)
PROGRAMS = _each(
    "programs_per_transaction",
    "Pages programmed per transaction",
    "pages",
    "pages programmed ÷ transactions",
)
READS = _each(
    "reads_per_transaction", "Pages read per transaction", "pages", "pages read ÷ transactions"
)
ERASES = _each(
    "erases_per_1000_transactions",
    "Erases per 1,000 transactions",
    "blocks",
    "blocks ÷ transactions × 1,000",
)
JOURNAL = Metric(
    name="journal_amplification",
    title="Journal amplification",
    meaning="bytes of all write() calls ÷ bytes of changed pages",
    exact=False,
)
METRICS = (RATE, PROGRAMS, READS, ERASES, JOURNAL)
_MAIN = (RATE.name, PROGRAMS.name, ERASES.name)
_WORKLOAD = ("pages_programmed", "blocks_erased", "write_amplification")


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload; `main` ones are asked for first."""
    stored = stored_of(result)
    return (
        *case_figures(result),
        *(figures_at(stored, PLACE, (*METRICS, ON_FLASH_MEAN), _MAIN) if stored else ()),
        *phase_figures(result["phases"], {"workload": _WORKLOAD}),
        *latency_figures(result, {OP: ("p50_ns", "p99_ns", "max_ns")}),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by, in the order of the rows of the report's table."""
    stored, latency = stored_of(result), transaction_latency(result)
    if stored is None or latency is None:
        return
    for figure in figures_at(stored, PLACE, (ON_FLASH_MEAN,)):
        title = "a transaction, with its part of the close"
        yield Criterion(figure, title, "time", True, short="transaction")
    yield from waits(latency, "a transaction", in_memory=False)
    yield from wear(result)
    yield from rooms(result, "close:end", "after the last transaction")


def tasks(result: CaseResult) -> tuple[TaskWork, ...]:
    """What each task asked of the flash, in the phases commit and close."""
    stored = stored_of(result)
    rows = stored["tasks"] if stored else ()
    return tuple(work for task in rows for work in task_work(task["phase"], (task,)))
