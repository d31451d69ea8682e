"""A run of workload `micro` as frozen values: where the format of its results is known.

Results are read one by one and reduced at once, because a large study has thousands of cases, each
with the wear of every block. Format: docs/result-format.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from ffslab.model.canonical import canonical_json
from ffslab.report import data
from ffslab.report.load import (
    Document,
    Read,
    axis_values,
    explained,
    is_number,
    of_stored,
    open_run,
    part_titles,
    plain_outline,
    setting,
)
from ffslab.results.result import CaseHead, CaseResult, PhaseResult, PreparationResult
from ffslab.workloads.micro.report.data import (
    MicroCase,
    MicroRun,
    Preparation,
    Response,
    SlowRequest,
    Stream,
    TaskWork,
)
from ffslab.workloads.micro.stored import (
    SlowestResult,
    StreamResult,
    SummaryResult,
    micro_of,
    streams_of,
)

_OWN_PLACE = ("part", "workload.pattern", "workload.mix_pattern", data.SEED)


class Figures(TypedDict):
    """What of a `MicroCase` was measured."""

    streams: tuple[Stream, ...]
    erases_mean: float | None
    erases_std: float | None
    pages_programmed: int
    blocks_erased: int
    flush_pages: int
    volume_bytes: NotRequired[int]
    moved_bytes: NotRequired[int]
    requests: NotRequired[int]
    file_bytes: NotRequired[int]
    stopped: NotRequired[str]
    preparation: NotRequired[Preparation]


def run_of(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> MicroRun:
    """The run in `run_dir` of what was read of it."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        return _micro_run(run_dir, manifest, read_cases)


def _micro_run(run_dir: Path, manifest: Document, read_cases: Sequence[Read[Figures]]) -> MicroRun:
    rows = [read_case.head for read_case in read_cases]
    run = plain_outline(run_dir, manifest, read_cases)
    numeric = _numeric_axes(rows)
    line_axes = [data.FILESYSTEM]
    cases = []
    for read_case, row, case in zip(read_cases, rows, run.cases, strict=True):
        line = {name: value for name, value in case.axes.items() if name not in numeric}
        for name in (*_OWN_PLACE, *_state_axis(numeric)):
            line.pop(name, None)
        line_axes += [name for name in line if name not in line_axes]
        workload = row["spec"]["workload"]
        cases.append(
            MicroCase(
                id=case.id,
                seed=case.seed,
                passed=case.passed,
                line=line,
                numbers={name: _number(row, name) for name in numeric},
                part=str(row["axes"].get("part", "")),
                pattern=workload["pattern"],
                mix_pattern=workload["mix_pattern"],
                cache=workload["cache"],
                asked_bytes=int(workload["volume_bytes"]),
                **read_case.figures,
            )
        )
    varying = [a for a in line_axes if len({case.line.get(a, "") for case in cases}) > 1]
    return MicroRun(
        run=run,
        cases=tuple(cases),
        line_axes=tuple(varying) or (data.FILESYSTEM,),
        folder=run_dir,
        parts=part_titles(manifest, [case.part for case in cases]),
    )


def _numeric_axes(rows: Sequence[CaseHead]) -> tuple[str, ...]:
    """The axes whose values are numbers everywhere, request size first.

    States that are named after their fill rate, and differ in nothing else, are an axis of it.
    """
    names = [
        name
        for name, values in axis_values(rows).items()
        if name not in _OWN_PLACE and all(is_number(value) for value in values)
    ]
    states = {canonical_json({**row["spec"]["state"], "name": ""}) for row in rows}
    unfilled = {
        canonical_json({**row["spec"]["state"], "name": "", "rate_percent": 0}) for row in rows
    }
    if len(states) > len(unfilled) == 1 and "state.rate_percent" not in names:
        names.append("state.rate_percent")
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name != "workload.request_bytes"))


def _state_axis(numeric: Sequence[str]) -> tuple[str, ...]:
    """The state's name tells nothing more where what it stands for is a numeric axis."""
    return (data.STATE,) if any(name.startswith("state.") for name in numeric) else ()


def _number(row: CaseHead, name: str) -> float:
    """A case's place on a numeric axis: from its spec, which has every setting."""
    value = setting(row, name)
    return float(row["axes"][name] if value is None else value)


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; without what it did not get to."""
    phases = {phase["phase"]: phase for phase in row["phases"]}
    whole, flush = phases.get("workload") or phases.get("measure"), phases.get("flush")
    streams, micro, preparation = streams_of(row), micro_of(row), row.get("preparation")
    figures: Figures = {
        "streams": tuple(_stream(stream, stream["all"]) for stream in streams if stream["all"]),
        "erases_mean": whole.get("erases_mean") if whole else None,
        "erases_std": whole.get("erases_std") if whole else None,
        "pages_programmed": whole.get("pages_programmed", 0) if whole else 0,
        "blocks_erased": whole.get("blocks_erased", 0) if whole else 0,
        "flush_pages": flush.get("pages_programmed", 0) if flush else 0,
    }
    if micro:
        figures["volume_bytes"] = micro["volume_bytes"]
        figures["moved_bytes"] = sum(stream["bytes"] for stream in streams)
        figures["requests"] = micro["requests"]
        figures["file_bytes"] = micro["file_bytes"]
        figures["stopped"] = micro["stopped"]
    if preparation:
        figures["preparation"] = _preparation(preparation, phases)
    return figures


def _stream(entry: StreamResult, whole: SummaryResult) -> Stream:
    """A stream that made a request, and the latencies of all."""
    return of_stored(
        Stream,
        entry,
        all=of_stored(Response, whole),
        startup=of_stored(Response, entry["startup"]) if entry["startup"] else None,
        running=of_stored(Response, entry["running"]) if entry["running"] else None,
        tasks=tuple(of_stored(TaskWork, task) for task in entry["tasks"]),
        slowest=tuple(_slow(slow) for slow in entry["slowest"]),
    )


def _slow(slow: SlowestResult) -> SlowRequest:
    tasks = (
        of_stored(TaskWork, task, when="request", busy_ns=task.get("busy_ns", 0))
        for task in slow["tasks"]
    )
    return of_stored(SlowRequest, slow, tasks=tuple(tasks))


def _preparation(record: PreparationResult, own: Mapping[str, PhaseResult]) -> Preparation:
    """`own` are the phases of the case itself, which has that of a preparation in its own guest."""
    prepared = record["prepared"]
    phases = [phase for phase in record["phases"] if phase["phase"] == "prepare"]
    if record["key"] is None and "prepare" in own:
        phases = [own["prepare"]]
    space = {entry["label"]: entry["free_bytes"] for entry in record["space"]}
    return Preparation(
        key=record["key"] or "",
        state=prepared["state"] if prepared else "",
        valid_bytes=prepared["valid_bytes"] if prepared else 0,
        invalid_bytes=prepared["invalid_bytes"] if prepared else 0,
        invalid_present=bool(prepared and prepared["invalid_present"]),
        file_bytes=prepared["file_bytes"] if prepared else 0,
        pages_programmed=sum(phase.get("pages_programmed", 0) for phase in phases),
        blocks_erased=sum(phase.get("blocks_erased", 0) for phase in phases),
        free_before=space.get("prepare:start"),
        free_after=space.get("prepare:end"),
        reserve_bytes=record["reserve_bytes"],
    )
