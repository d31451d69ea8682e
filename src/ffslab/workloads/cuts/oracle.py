"""The oracle of `ffslab.oracle` for a case: what is wrong with an observed tree after a cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ffslab.model.case import Case
from ffslab.oracle.faults import Excuse
from ffslab.oracle.history import History
from ffslab.oracle.judge import Judge
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record
from ffslab.workloads.cuts.outcomes import Oracle, excuse_of
from ffslab.workloads.cuts.walk import StateName


def oracle_for(case: Case, history: History) -> Callable[[str], Oracle]:
    """Makes the oracle of a history on a file system from its record, a text."""
    promise = promise_of(case.filesystem.stack)
    return lambda record: oracle_of(Judge(history, parse_record(record), promise))


def oracle_of(judge: Judge) -> Oracle:
    """What a judge says of the states of its history."""
    excuses: dict[tuple[str, str | None, bool], Excuse] = {}

    def problems(name: StateName, observation: str, again: bool) -> Sequence[tuple[str, str]]:
        kinds = (name.cut.kind, name.then.kind if name.then else None, again)
        excuse = excuses.get(kinds)
        if excuse is None:
            excuse = excuses[kinds] = excuse_of(name, again)
        judged_problems = judge.judge(name.cut.operation, observation, excuse)
        return [(problem.kind, problem.sentence) for problem in judged_problems]

    return problems
