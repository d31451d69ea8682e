"""The figures of a case of FFSMark: its phases, its latencies, and what is derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ffslab.protocol.records import OK
from ffslab.results.criteria import Criterion, rooms, waits, wear, writes_back
from ffslab.results.result import CaseResult, PhaseResult
from ffslab.results.schema import (
    DURATION,
    ON_FLASH,
    Figure,
    Metric,
    Place,
    TaskWork,
    case_figures,
    latency_figures,
    phase_figures,
)

KIND = "ffsmark"
OF = "FFSMark"
NOTE = ""  # docs/result-format.md has its keys of a result
PLACES = (
    Place("creation", "Creation phase", "time to create the pool of files"),
    Place("transactions", "Transactions phase", "time of all transactions"),
    Place("deletion", "Deletion phase", "time to delete what is left"),
)
FILES_PER_S = Metric(
    name="files_per_s",
    title="Files per second",
    unit="1/s",
    meaning="files created or deleted ÷ time of the phase",
    better="higher",
    exact=False,
    kinds=(KIND,),
)
METRICS = (FILES_PER_S,)
UNITS = {"creation": ("file", "number"), "transactions": ("transaction", "transactions")}
_RATED: Mapping[str, Literal["files_created", "files_deleted"]] = {
    "creation": "files_created",
    "deletion": "files_deleted",
}
# A phase as a row of the table of decisions; and the operation that users wait for.
_ACTS = {
    "creation": "creating the files",
    "transactions": "the transactions",
    "deletion": "deleting the files",
}
_ON_FLASH_ACTS = {
    "creation": "creating the files, until they are on the flash",
    "workload": "the whole work, until all is on the flash",
}
_SHORT = {"creation": "creation", "workload": "whole work"}
_WAITED_FOR = ("transactions", "append")
_UNMOUNT = "umount"
_MAIN: Mapping[str, tuple[str, ...]] = {
    **{phase.name: (DURATION.name,) for phase in PLACES},
    "workload": ("pages_read", "pages_programmed", "blocks_erased", "erases_spread"),
}


def files_per_s(phase: PhaseResult) -> float | None:
    """The rate of creation or deletion; None for other phases, and for one without time."""
    key = _RATED.get(phase["phase"])
    files = phase.get(key) if key else None
    if files is None or not phase["duration_ns"]:
        return None
    return files / (phase["duration_ns"] / 1e9)


def figures(result: CaseResult) -> tuple[Figure, ...]:
    """All figures of a result of this workload."""
    return (
        *case_figures(result),
        *phase_figures(result["phases"], _MAIN),
        *_rates(result),
        *latency_figures(result),
    )


def criteria(result: CaseResult) -> Iterator[Criterion]:
    """What people decide by: the phases' times, the wait for an append, wear, space, memory."""
    late = writes_back(result)
    for figure in _on_flash(result):
        act, short = _ON_FLASH_ACTS[figure.place], _SHORT[figure.place]
        yield Criterion(figure, act, "time", headline=True, short=short)
    for phase in result["phases"]:
        name = phase["phase"]
        if name in _ACTS and phase["status"] == OK:
            duration = Figure(DURATION, name, phase["duration_ns"])
            share = phase.get("write_amplification") if late else None
            headline = name == "transactions"
            yield Criterion(duration, _ACTS[name], "time", headline, late, share, name)
    for latency in result["latencies"]:
        if (latency["phase"], latency["op"]) == _WAITED_FOR and latency["count"]:
            yield from waits(latency, "appending to a file", in_memory=late)
    yield from wear(result)
    yield from rooms(result, "transactions:end", "after the transactions")


def _on_flash(result: CaseResult) -> Iterator[Figure]:
    """The time of creation with the write-back behind it, and of everything with the unmount.

    Before the transactions the caches are dropped, and what is in them written, unless the case
    says otherwise. Behind the transactions nothing is written until files are deleted, so they have
    no such time of their own.
    """
    phases = {phase["phase"]: phase for phase in result["phases"] if phase["status"] == OK}
    creation, transactions = phases.get("creation"), phases.get("transactions")
    if creation is None:
        return
    begin = creation["t_start_ns"]
    if transactions is not None and result["spec"]["workload"]["drop_caches"]:
        yield Figure(ON_FLASH, "creation", transactions["t_start_ns"] - begin)
    last = phases.get("deletion")
    for step in result["steps"] if last is not None else ():
        if step["verb"] == _UNMOUNT and step["status"] == OK and step["t_start_ns"] > begin:
            yield Figure(ON_FLASH, "workload", step["t_start_ns"] + step["duration_ns"] - begin)


def tasks(_: CaseResult) -> tuple[TaskWork, ...]:
    """No task by task: only a trace of such a case tells them apart."""
    return ()


def _rates(result: CaseResult) -> Iterator[Figure]:
    for phase in result["phases"]:
        rate = files_per_s(phase)
        if rate is not None and phase["status"] == OK:
            yield Figure(FILES_PER_S, phase["phase"], rate)
