"""The figures of random: whether the file system keeps what it was told."""

from __future__ import annotations

from collections.abc import Iterator

from ffslab.results.criteria import Criterion, Tally
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure, Metric, TaskWork, case_figures, phase_figures
from ffslab.workloads.random.result import harm_of
from ffslab.workloads.random.stored import stored_of

KIND = "random"
OF = "the workload random"
NOTE = """The key `random` of a result has `rounds` and `operations` asked for, `rounds_done` that were compared without a
difference, `operations_done` that were begun; `difference`, a word for the gravest of what differed (empty: nothing);
`round` and `operation`, where that was, else the last; `told`, the first names with what differs. Of a guest that never
came to the end it is what that told after each round. `guest/agent/workloads/random/README.md` describes the records.
The phase `operations` holds all calls and comparisons; a difference is a failed phase `verify`, and so the case is
`corrupt`. The key is null if the records contradict each other or the case did not get so far.

"""  # noqa: E501  (columns of the document)
PLACE = "history"
WRONG = Metric(
    name="not_kept",
    title="Histories that end wrongly",
    meaning="1 if it lost or changed something, hung or crashed",
    kinds=(KIND,),
)
DONE = Metric(
    name="rounds_done",
    title="Rounds that were right",
    meaning="rounds after which all was as it should be",
    better="higher",
    kinds=(KIND,),
)
METRICS: tuple[Metric, ...] = (WRONG, DONE)
_PHASES = {"operations": ("pages_programmed", "blocks_erased")}


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    stored = stored_of(result)
    own: tuple[Figure, ...] = ()
    if stored is not None:
        wrong = bool(harm_of(result["outcome"], stored["difference"]))
        own = (
            Figure(WRONG, PLACE, int(wrong), main=True),
            Figure(DONE, PLACE, stored["rounds_done"], main=True),
        )
    return (*case_figures(result), *own, *phase_figures(result["phases"], _PHASES))


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """Of so many histories, one for each seed, how many end wrongly."""
    stored = stored_of(result)
    if stored is None:
        return
    harm = harm_of(result["outcome"], stored["difference"])
    if not harm and result["outcome"] != "pass":
        return  # it was not the file system
    tally = Tally("histories", 1, ((harm, 1),) if harm else ())
    yield Criterion(
        Figure(WRONG, PLACE, tally.count),
        "keeps what it was told",
        "cuts",
        headline=True,
        short="keeps what it was told",
        tally=tally,
    )


def tasks(_result: CaseResult) -> tuple[TaskWork, ...]:
    """Nobody counts by tasks here."""
    return ()
