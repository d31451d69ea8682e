"""What the records of `cuts` mean: nothing beside what its guests told (`explore.case`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ffslab.model.case import Case
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.preparation import Preparation
from ffslab.results.result import CaseResult
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.stored import CutsKeys, StoredFinding, cuts_result, likeness

PHASES: Sequence[str] = ()
KEYS = CutsKeys
ELSEWHERE: Mapping[str, object] = {}


def check_records(_stream: RecordStream) -> None:
    """A guest that loses power has no records of its own."""


def shortfall(
    _workload: Cuts, _stream: RecordStream, _full_phase: Phase | None
) -> Shortfall | None:
    """Each cut that there is has been made."""
    return None


def compared_times_ns(_result: CaseResult) -> dict[str, float]:
    """None: nothing here is decided by a time."""
    return {}


def result_keys(
    _case: Case, _stream: RecordStream, _prepared: Sequence[Preparation]
) -> Mapping[str, object]:
    """Of a case whose guests did not come so far."""
    return {"cuts": None}


def findings(result: CaseResult) -> Mapping[str, StoredFinding]:
    """What is not correct, by its outcome, kind of cut and reason.

    Flashes of one series may leak alike: those after the first are numbered.
    """
    cuts = cuts_result(result)
    by_key: dict[str, StoredFinding] = {}
    times: Counter[str] = Counter()
    for finding in cuts["findings"] if cuts else ():
        key = " ".join(likeness(finding["outcome"], finding["kind"], finding["detail"]))
        times[key] += 1
        by_key[key if times[key] == 1 else f"{key} ({times[key]})"] = finding
    return by_key
