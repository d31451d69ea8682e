"""The tables `cuts` and `findings`: columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ffslab.results.columns import FLAG, INT, KEY, TEXT, Columns
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.cuts.stored import cuts_result

CUT_COLUMNS: Mapping[str, str] = {**KEY, "kind": TEXT, "outcome": TEXT, "states": INT}
FINDING_COLUMNS: Mapping[str, str] = {
    **KEY,
    "id": TEXT,
    "state": TEXT,
    "kind": TEXT,
    "outcome": TEXT,
    "detail": TEXT,
    "states": INT,
    "confirmed": FLAG,
}
TABLES = {"cuts": CUT_COLUMNS, "findings": FINDING_COLUMNS}
RECORD_TABLES: Mapping[str, Mapping[str, str]] = {}


def case_columns(_result: CaseResult) -> Mapping[str, object]:
    """Nothing: a case has many outcomes."""
    return {}


def rows(result: CaseResult) -> Mapping[str, Iterable[Mapping[str, object]]]:
    """A row for each kind of cut and outcome, and one for each finding."""
    cuts = cuts_result(result)
    if cuts is None:
        return {"cuts": (), "findings": ()}
    counted = [
        {"kind": kind, "outcome": outcome, "states": states}
        for kind, counts in cuts["counts"].items()
        for outcome, states in counts.items()
    ]
    findings = [
        {name: finding[name] for name in FINDING_COLUMNS if name not in KEY}  # type: ignore[literal-required]
        for finding in cuts["findings"]
    ]
    return {"cuts": counted, "findings": findings}


def record_columns(_run: RunDirectory, _result: CaseResult) -> Iterable[tuple[str, Columns]]:
    """None: everything is in the result."""
    return ()
