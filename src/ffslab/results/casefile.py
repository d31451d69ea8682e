"""A case's result: one JSON object, the line of results.jsonl and the file case.json.

It holds nothing of the host (no wall time, no path, no date), so that the same
spec gives the same bytes on any machine. docs/result-format.md describes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffslab.model.specs import Case, case_spec
from ffslab.results.metrics import latency_metrics, phase_metrics, workload_metrics
from ffslab.results.outcome import Outcome
from ffslab.results.preparation import Preparation
from ffslab.results.records import Record, RecordStream

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
    by_label = {snapshot["label"]: snapshot for snapshot in snapshots}
    mtd = next(iter(stream.of_type("mtd")), None)
    end = stream.end
    return {
        "v": RESULT_VERSION,
        "id": case.id,
        "study": case.study,
        "spec_hash": case.spec_hash,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "excerpt": list(outcome.excerpt),
        "axes": dict(case.axes),
        "spec": case_spec(case),
        "virtual_ns": end["t_ns"] if end else None,
        "flash_sha256": flash_sha256,
        "mtd": _without_header(mtd) if mtd else None,
        "steps": [_step(record) for record in stream.of_type("step")],
        "space": [_without_header(record) for record in stream.of_type("space")],
        "phases": _phases(stream.of_type("phase"), by_label, case.board.chip.page_bytes),
        "latencies": [latency_metrics(record) for record in stream.of_type("latency")],
        "flash": [_without_header(record) for record in snapshots],
        "preparation": {"key": preparation.key} if preparation else None,
    }


def unprepared_result(case: Case, preparation: Preparation) -> dict[str, Any]:
    """The result of a case whose state could not be prepared: it was not run."""
    outcome = preparation.outcome
    told = Outcome(outcome.kind, f"preparation: {outcome.reason}", outcome.excerpt)
    return case_result(case, told, RecordStream((), (), False), None, preparation)


def skipped_result(case: Case, reason: str) -> dict[str, Any]:
    """The result of a case that this lab cannot run."""
    return case_result(case, Outcome("skip", reason), RecordStream((), (), False), None)


def _phases(
    records: Sequence[Record], by_label: Mapping[str, Record], page_bytes: int
) -> list[dict[str, Any]]:
    phases = [phase_metrics(record, by_label, page_bytes) for record in records]
    whole = workload_metrics(phases, by_label, page_bytes)
    return [*phases, whole] if whole else phases


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


def _without_header(record: Record) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("v", "type")}
