"""What the records of random mean: pure functions from them to its key, and to its finding."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.random.keys import Random
from ffslab.workloads.random.plan import random_of
from ffslab.workloads.random.stored import Keys, Stored, stored_of

PHASES = ("operations",)
KEYS = Keys
ELSEWHERE: Mapping[str, object] = {}
RECORD, ROUND = "random", "random-round"
# What a file system does, by the agent's word for what differed first.
DIFFERENCES: Mapping[str, str] = {
    "back": "brings removed names back",
    "gone": "loses names",
    "unreadable": "cannot read what is there",
    "contents": "has other contents",
    "size": "has another size",
    "attribute": "has another attribute",
    "time": "has another time",
    "space": "counts its space wrongly",
    "answer": "answers a call wrongly",
    "full": "has no space for what must fit",
}
# What it does by outcomes in which nothing was compared in the end. A timeout may be the host's.
_ENDS: Mapping[str, str] = {"stuck": "hangs", "crash": "crashes"}
_NUMBERS = ("rounds", "rounds_done", "operations", "operations_done", "at")


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if the record contradicts itself: the case is then a crash."""
    record = stream.first(RECORD)
    if record is None:
        return
    values = [record.get(name) for name in _NUMBERS]
    known = record.get("difference") in {"", *DIFFERENCES}
    if not known or not all(type(value) is int and value >= 0 for value in values):
        raise _damaged("lacks a number, or has a word that is unknown")
    if record["rounds_done"] > record["rounds"] or bool(record["difference"]) != bool(
        record["told"]
    ):
        raise _damaged("contradicts itself")


def shortfall(
    _workload: Random, _stream: RecordStream, _full_phase: Phase | None
) -> Shortfall | None:
    """None: a history that is not whole has failed."""
    return None


def compared_times_ns(_result: CaseResult) -> dict[str, float]:
    """None: nothing here is decided by a time."""
    return {}


def result_keys(case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> Keys:
    """The key `random`. Of a guest that never came to the end: the rounds that it told."""
    workload, record = random_of(case), stream.first(RECORD)
    told = stream.of_type(ROUND)
    try:
        check_records(stream)
    except DamagedResultError:
        return {"random": None}
    if record is None and stream.end is not None:
        return {"random": None}  # the step failed before the first call
    if record is None:
        done = told[-1]["operations"] if told else 0
        record = {"rounds_done": len(told), "operations_done": done, "difference": "", "told": []}
    at = record["at"] if record["difference"] else record["operations_done"]
    stored: Stored = {
        "rounds": workload.rounds,
        "rounds_done": record["rounds_done"],
        "operations": workload.rounds * workload.operations,
        "operations_done": record["operations_done"],
        "difference": record["difference"],
        "round": -(-at // workload.operations),
        "operation": at,
        "told": list(record["told"]),
    }
    return {"random": stored}


def harm_of(outcome: str, difference: str) -> str:
    """What the file system does, of a case that ended so; "" if it keeps what it was told."""
    return DIFFERENCES.get(difference, "") or _ENDS.get(outcome, "")


def findings(result: CaseResult) -> Mapping[str, Mapping[str, Any]]:
    """What went wrong, if something did, by what a file system does then."""
    stored = stored_of(result)
    harm = harm_of(result["outcome"], stored["difference"] if stored else "")
    if stored is None or not harm:
        return {}
    seed = result["spec"]["seed"]
    where = f"seed {seed}, round {stored['round'] or 1}"
    if stored["difference"]:
        where += f", operation {stored['operation']:,}"
    finding = {
        "id": finding_id(result, harm),
        "state": where,
        "outcome": stored["difference"] or result["outcome"],
        "kind": RECORD,
        "detail": "; ".join(stored["told"]) or result["reason"],
        "states": 1,
    }
    return {harm: finding}


def finding_id(result: CaseResult, harm: str) -> str:
    """Eight hexadecimal digits, the same whenever and wherever it is found."""
    text = f"{result['study']}\n{result['id']}\n{harm}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _damaged(what: str) -> DamagedResultError:
    return DamagedResultError(
        f"its record {RECORD} {what}",
        cause="the agent has another version, or its records were changed",
        remedy="run the case again",
    )
