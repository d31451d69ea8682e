"""A case's result: one JSON object, the line of results.jsonl and the file case.json.

It holds nothing of the host (no wall time, no path, no date), so that the same
spec gives the same bytes on any machine. docs/result-format.md describes it.
"""

from __future__ import annotations

from typing import Any

from ffslab.errors import DamagedResultError
from ffslab.model.specs import Case, Micro, case_spec
from ffslab.results.metrics import latency_metrics, phase_metrics, workload_metrics
from ffslab.results.micro import (
    RequestShape,
    micro_results,
    own_preparation_results,
    preparation_results,
)
from ffslab.results.outcome import Outcome
from ffslab.results.preparation import Preparation
from ffslab.results.records import Record, RecordStream, without_header
from ffslab.results.tree import image_results, tree_results

RESULT_VERSION = 1


def case_result(
    case: Case,
    outcome: Outcome,
    stream: RecordStream,
    flash_sha256: str | None,
    preparation: Preparation | None = None,
) -> dict[str, Any]:
    """The result of a case; parts that the guest did not deliver are empty."""
    snapshots = stream.of_type("flash")
    mtd = stream.first("mtd")
    end = stream.end
    micro, requests = _micro(case, stream)
    before = preparation.stream if preparation else None
    return {
        "v": RESULT_VERSION,
        "id": case.id,
        "study": case.study,
        "spec_hash": case.spec_hash,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "excerpt": list(outcome.excerpt),
        "short": outcome.short.plain if outcome.short else None,
        "axes": dict(case.axes),
        "kernel": case.kernel.spec,
        "spec": case_spec(case),
        "virtual_ns": end["t_ns"] if end else None,
        "flash_sha256": flash_sha256,
        "mtd": without_header(mtd) if mtd else None,
        "steps": [_step(record) for record in stream.of_type("step")],
        "space": [without_header(record) for record in stream.of_type("space")],
        "phases": _phases(stream, case.board.chip.page_bytes),
        "latencies": [latency_metrics(record) for record in stream.of_type("latency")],
        "flash": [without_header(record) for record in snapshots],
        "preparation": _preparation(case, stream, preparation),
        "micro": micro,
        "requests": requests,
        "tree": tree_results(case, stream, before),
        "image": image_results(preparation.image if preparation else None, before),
    }


def unprepared_result(case: Case, preparation: Preparation) -> dict[str, Any]:
    """The result of a case whose state could not be prepared: it was not run."""
    outcome = preparation.outcome
    told = Outcome(outcome.kind, f"preparation: {outcome.reason}", outcome.excerpt)
    return case_result(case, told, RecordStream((), (), False), None, preparation)


def skipped_result(case: Case, reason: str) -> dict[str, Any]:
    """The result of a case that this lab cannot run."""
    return case_result(case, Outcome("skip", reason), RecordStream((), (), False), None)


def _phases(stream: RecordStream, page_bytes: int) -> list[dict[str, Any]]:
    by_label = {snapshot["label"]: snapshot for snapshot in stream.of_type("flash")}
    phases = [phase_metrics(record, by_label, page_bytes) for record in stream.of_type("phase")]
    whole = workload_metrics(phases, by_label, page_bytes)
    return [*phases, whole] if whole else phases


def _micro(case: Case, stream: RecordStream) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Of contradictory records, which make the case a crash (`judge`), nothing is kept."""
    if not isinstance(case.workload, Micro):
        return None, []
    workload = case.workload
    try:
        return micro_results(
            stream,
            RequestShape(workload.request_bytes, case.board.chip.page_bytes),
        )
    except DamagedResultError:
        return None, []


def _preparation(
    case: Case, stream: RecordStream, preparation: Preparation | None
) -> dict[str, Any] | None:
    """Of a guest of its own; or, without a key and an outcome, of the case's own guest."""
    partition_bytes = case.partition_bytes
    if preparation is not None:
        phases = _phases(preparation.stream, case.board.chip.page_bytes)
        return preparation_results(preparation, partition_bytes, phases)
    return own_preparation_results(stream, partition_bytes)


def _step(record: Record) -> dict[str, Any]:
    return {
        "index": record["index"],
        "verb": record["verb"],
        "label": record.get("label", ""),
        "t_start_ns": record["t_start_ns"],
        "duration_ns": record["t_end_ns"] - record["t_start_ns"],
        "status": record["status"],
        "errno_name": record.get("errno_name", ""),
    }
