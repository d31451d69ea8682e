"""What a case's guests have come to, in the words of its workload; and how runs are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ffslab.errors import SpecError
from ffslab.model.workload import Workload
from ffslab.protocol.records import read_records
from ffslab.results.files import MANIFEST, damaged
from ffslab.results.outcome import Asked
from ffslab.results.result import CaseResult, WrongShapeError, checked, parsed_as_shown
from ffslab.results.rundir import RESULTS_SHA256, RunDirectory
from ffslab.workloads.modules import result_module
from ffslab.workloads.registry import kind_of, workloads

if TYPE_CHECKING:
    from ffslab.model.known import Known

_RECORDS = "records.jsonl"  # of a guest, in its case's directory
_FINDING_LETTERS = 200  # that are shown of it


def asked_of(workload: Workload, *, own: bool) -> Asked:
    """What a guest was to do; one before the case's `own` measures nothing."""
    part = result_module(workload.kind)
    if not own:
        return Asked(part.check_records)
    asked = Asked(part.check_records, partial(part.shortfall, workload))
    # Most workloads cannot fail otherwise than by a step.
    failure = getattr(part, "failure", None)
    if failure is not None:
        asked = replace(asked, failure=failure)
    expected = getattr(part, "expected_messages", None)
    return asked if expected is None else replace(asked, expected=expected(workload))


def results_of(
    run: RunDirectory, manifest: Mapping[str, Any] | None = None
) -> Iterator[CaseResult]:
    """A run's results in order, one by one, so that a large run need not fit into memory.

    DamagedResultError for one that is no result, or not one of its workload. `manifest`: the run's,
    if it has been read.
    """
    return run.each_result(check_own_keys, manifest)


def shown_results_of(run: RunDirectory, manifest: Mapping[str, Any]) -> Iterator[CaseResult]:
    """The same, without what no page shows (`parsed_as_shown`).

    The SHA-256 in the manifest tells damage there; a run of an older version, which has none, is
    read in full.
    """
    own_keys: frozenset[str] = frozenset()

    def parse(line: bytes) -> CaseResult:
        nonlocal own_keys
        result = parsed_as_shown(line, own_keys)
        keys = _own_keys(result).__annotations__.keys()
        if keys <= own_keys:
            return result
        own_keys = own_keys.union(keys)
        return parsed_as_shown(line, own_keys)

    return run.each_result(check_own_keys, manifest, parse if RESULTS_SHA256 in manifest else None)


def check_own_keys(result: CaseResult) -> None:
    """WrongShapeError if the keys of a result's workload are not of their types."""
    checked(result, _own_keys(result))


def _own_keys(result: CaseResult) -> type[Mapping[str, object]]:
    if not isinstance(result["spec"].get("workload", {}), dict):
        raise WrongShapeError("spec.workload: not an object")
    return result_module(kind_of(result["spec"])).KEYS


def findings_of(result: CaseResult) -> Mapping[str, Mapping[str, Any]]:
    """What a result says is wrong, by what makes it the same in two runs; empty for most kinds.

    Each has an `id`, `outcome`, `detail`, `state` and `states`: of how many it is the first.
    """
    function = getattr(result_module(kind_of(result["spec"])), "findings", None)
    return function(result) if function else {}


def known_of(run: RunDirectory, manifest: Mapping[str, Any]) -> tuple[Known, ...]:
    """The findings that were known when the run was judged; DamagedResultError for none such."""
    stored = manifest.get("known")
    if not stored:
        return ()
    from ffslab.model.known import known_from_document

    where = run.path / MANIFEST
    try:
        return known_from_document({"known": stored}, str(where))
    except SpecError as error:
        raise damaged(where, 0, WrongShapeError(error.message)) from error


def kernel_of(run: RunDirectory, case_id: str) -> str:
    """The version of the kernel in which a case ran, as its guest said; "" if that is not kept."""
    try:
        start = read_records(run.case_dir(case_id) / _RECORDS).first("start")
    except OSError:
        return ""
    return str(start.get("kernel", "")) if start else ""


def finding_line(finding: Mapping[str, Any]) -> str:
    """A finding on one line, its id first."""
    more = f" and {finding['states'] - 1:,} more" if finding["states"] > 1 else ""
    told = f"{finding['outcome']} at {finding['state']}{more}: {finding['detail']}"
    shown = told if len(told) <= _FINDING_LETTERS else f"{told[:_FINDING_LETTERS]}…"
    known = f" (as {finding['known']} of docs/findings.md)" if "known" in finding else ""
    return f"{finding['id']}  {shown}{known}"


def keys_elsewhere() -> dict[str, object]:
    """The keys of single workloads that every result has, empty."""
    parts = [result_module(kind) for kind in workloads()]
    return {key: value for part in parts for key, value in part.ELSEWHERE.items()}
