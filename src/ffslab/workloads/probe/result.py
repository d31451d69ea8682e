"""What the records of `probe` mean: pure functions to the key `probe` of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.errors import DamagedResultError
from ffslab.model.case import Case
from ffslab.protocol.records import OK, Phase, Record, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.probe.keys import Probe
from ffslab.workloads.probe.plan import CPU_PHASES, FLASH_PHASES, MOUNTED_PHASES
from ffslab.workloads.probe.stored import ProbeKeys, ProbePhase, probe_of

PHASES = (*CPU_PHASES, *FLASH_PHASES, *MOUNTED_PHASES)
KEYS = ProbeKeys
ELSEWHERE: Mapping[str, object] = {}


def check_records(stream: RecordStream) -> None:
    """DamagedResultError if a probe's record has no phase, or more CPU time than its phase."""
    took = {phase.name: phase.t_end_ns - phase.t_start_ns for phase in stream.phases}
    for record in stream.of_type("probe"):
        name = record["phase"]
        if name not in took:
            raise DamagedResultError(f"a probe record of phase {name!r}, which there is not")
        if record.get("cpu_ns", 0) > took[name]:
            raise DamagedResultError(
                f"probe {name!r} took {record['cpu_ns']} ns of the CPU in {took[name]} ns",
                cause="records of two runs in one file, or a clock that was set back",
            )


def shortfall(
    _workload: Probe,
    _stream: RecordStream,
    _full_phase: Phase | None,
) -> Shortfall | None:
    """What does not fit is a failure: the board is not to be calibrated by half of a probe."""
    return None


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The time of each phase."""
    probe = probe_of(result)
    return {
        phase["phase"]: float(phase["duration_ns"]) for phase in (probe["phases"] if probe else ())
    }


def result_keys(_case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> ProbeKeys:
    """The key `probe`; None without a phase that came to its end."""
    records = {str(record["phase"]): record for record in stream.of_type("probe")}
    ended = [phase for phase in stream.phases if phase.status == OK and phase.name in PHASES]
    phases = [_phase(phase, records.get(phase.name)) for phase in ended]
    return {"probe": {"phases": phases} if phases else None}


def _phase(phase: Phase, record: Record | None) -> ProbePhase:
    cpu_ns = record.get("cpu_ns") if record else None
    return {
        "phase": phase.name,
        "count": int(record["count"]) if record else 1,
        "bytes": int(record["bytes"]) if record else 0,
        "duration_ns": phase.t_end_ns - phase.t_start_ns,
        "cpu_ns": None if cpu_ns is None else int(cpu_ns),
    }
