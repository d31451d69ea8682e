"""A case's result: one JSON object, the line of results.jsonl and the file case.json.

It holds nothing of the host (no wall time, no path, no date), so that the same
spec gives the same bytes on any machine. docs/result-format.md describes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.model.case import Case, case_spec
from ffslab.protocol.own_latencies import LATENCIES, OWN_PHASE, own_latencies
from ffslab.protocol.records import Latency, RecordStream, Step
from ffslab.results.collector import collector
from ffslab.results.erase_counters import erase_counters
from ffslab.results.mtd_statistics import mtd_statistics
from ffslab.results.outcome import Outcome
from ffslab.results.phases import latency_result, phase_result, workload_result
from ffslab.results.preparation import (
    Preparation,
    own_preparation_results,
    preparation_results,
)
from ffslab.results.result import (
    CaseResult,
    PhaseResult,
    PreparationResult,
    StepResult,
    with_own_keys,
)
from ffslab.workloads.modules import result_module
from ffslab.workloads.results import keys_elsewhere

RESULT_VERSION = 1


def case_result(
    case: Case,
    outcome: Outcome,
    stream: RecordStream,
    flash_sha256: str | None,
    prepared: Sequence[Preparation] = (),
    own: Mapping[str, object] | None = None,
) -> CaseResult:
    """The result of a case; parts that the guest did not deliver are empty.

    `prepared` are the guests before the case's own, in their order. `own` are the keys of its
    workload, None if they follow from the records.
    """
    end = stream.end
    part = result_module(case.workload.kind)
    result: CaseResult = {
        "v": RESULT_VERSION,
        "id": case.id,
        "study": case.study,
        "spec_hash": case.spec_hash,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "excerpt": list(outcome.excerpt),
        "short": outcome.short.plain if outcome.short else None,
        "axes": dict(case.axes),
        "kernel": {"variant": case.kernel.variant, "switches": dict(case.kernel.switches)},
        "spec": case_spec(case),
        "virtual_ns": end.t_ns if end else None,
        "flash_sha256": flash_sha256,
        "mtd": stream.mtd,
        "steps": [_step(step) for step in stream.steps],
        "space": list(stream.spaces),
        "phases": _phases(stream, case.board.chip.page_bytes, part.PHASES),
        "latencies": [latency_result(latency) for latency in _latencies(stream)],
        "flash": list(stream.snapshots),
        "preparation": _preparation(case, stream, prepared),
    }
    counters = erase_counters(stream)
    if counters is not None:
        result["erase_counters"] = counters
    statistics = mtd_statistics(stream)
    if statistics is not None:
        result["mtd_statistics"] = statistics
    collected = collector(stream)
    if collected is not None:
        result["collector"] = collected
    keys = part.result_keys(case, stream, prepared) if own is None else own
    return with_own_keys(result, {**keys_elsewhere(), **keys})


def unprepared_result(case: Case, prepared: Sequence[Preparation]) -> CaseResult:
    """The result of a case that was not run: the last of the guests before it failed."""
    outcome = prepared[-1].outcome
    told = Outcome(outcome.kind, f"preparation: {outcome.reason}", outcome.excerpt)
    return case_result(case, told, RecordStream((), (), False), None, prepared)


def skipped_result(case: Case, reason: str) -> CaseResult:
    """The result of a case that this lab cannot run."""
    return case_result(case, Outcome("skip", reason), RecordStream((), (), False), None)


def _latencies(stream: RecordStream) -> tuple[Latency, ...]:
    """What the agent measured, and what a program of the user's did."""
    return (*stream.latencies, *own_latencies(stream.captured(LATENCIES) or "", OWN_PHASE))


def _step(step: Step) -> StepResult:
    return {
        "index": step.index,
        "verb": step.verb,
        "label": step.label,
        "t_start_ns": step.t_start_ns,
        "duration_ns": step.duration_ns,
        "status": step.status,
        "errno_name": step.errno_name,
    }


def _phases(stream: RecordStream, page_bytes: int, summed: Sequence[str] = ()) -> list[PhaseResult]:
    """The figures of each phase, and those of the phases `summed` together."""
    by_label = {snapshot["label"]: snapshot for snapshot in stream.snapshots}
    phases = [phase_result(phase, by_label, page_bytes) for phase in stream.phases]
    whole = workload_result(phases, by_label, page_bytes, summed)
    return [*phases, whole] if whole else phases


def _preparation(
    case: Case, stream: RecordStream, prepared: Sequence[Preparation]
) -> PreparationResult | None:
    """Of the guests before the case's own; or, without a key and an outcome, of its own guest.

    That of the last one, whose flash the case got; those before it are in its `before`.
    """
    if not prepared:
        return own_preparation_results(stream, case.partition_bytes)
    *earlier, last = (
        preparation_results(
            preparation,
            case.partition_bytes,
            _phases(preparation.stream, case.board.chip.page_bytes),
        )
        for preparation in prepared
    )
    return {**last, "before": earlier} if earlier else last
