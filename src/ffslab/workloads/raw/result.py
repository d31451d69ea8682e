"""What the records of `raw` mean: bytes that the flash was asked for, by the time that it took.

Pure functions from records to the key `raw` of a result (docs/metrics.md). The bytes are those that
the flash monitor counted, not those that were meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffslab.model.case import Case
from ffslab.protocol.records import OK, Phase, RecordStream
from ffslab.results.metrics import counter_difference
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.raw.keys import Raw
from ffslab.workloads.raw.plan import ERASE, READ, WRITE
from ffslab.workloads.raw.stored import RawKeys, RawPhase, raw_of

PHASES = (ERASE, WRITE, READ)
KEYS = RawKeys
ELSEWHERE: Mapping[str, object] = {}
_MIB = 2**20  # the publication's MB
_COUNTED = {ERASE: "blocks_erased", WRITE: "pages_programmed", READ: "pages_read"}
_NS_PER_S = 10**9


def check_records(stream: RecordStream) -> None:
    """The workload has no records of its own."""


def shortfall(
    _workload: Raw,
    _stream: RecordStream,
    _full_phase: Phase | None,
) -> Shortfall | None:
    """A device does not fill up."""
    return None


def compared_times_ns(result: CaseResult) -> dict[str, float]:
    """The time of each phase."""
    raw = raw_of(result)
    return {phase["phase"]: float(phase["duration_ns"]) for phase in (raw["phases"] if raw else ())}


def result_keys(case: Case, stream: RecordStream, _prepared: Sequence[Preparation]) -> RawKeys:
    """The key `raw`; None without a phase that came to its end."""
    workload = case.workload
    assert isinstance(workload, Raw)
    ended = {phase.name: phase for phase in stream.phases if phase.status == OK}
    phases = [_phase(case, workload, ended[name]) for name in PHASES if name in ended]
    return {"raw": {"within": workload.within_percent / 100, "phases": phases} if phases else None}


def _phase(case: Case, workload: Raw, phase: Phase) -> RawPhase:
    chip = case.board.chip
    unit = chip.block_bytes if phase.name == ERASE else chip.page_bytes
    counts = counter_difference(phase.flash_start, phase.flash_end)
    done = counts.get(_COUNTED[phase.name], 0) * unit
    took = phase.t_end_ns - phase.t_start_ns
    speed = done * _NS_PER_S / took if took else 0.0
    published = getattr(workload, f"{phase.name}_mb_s") * _MIB
    difference = speed / published - 1 if published else None
    return {
        "phase": phase.name,
        "bytes": done,
        "duration_ns": took,
        "raw_bytes_per_s": speed,
        "published_bytes_per_s": published or None,
        "difference": difference,
        "agrees": None if difference is None else abs(difference) <= workload.within_percent / 100,
    }
