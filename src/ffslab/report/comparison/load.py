"""A run directory as one side of a comparison, read case by case."""

from __future__ import annotations

from ffslab.compare.cases import Side, compared_case
from ffslab.report.load import all_rows, explained, open_run
from ffslab.results.rundir import RunDirectory


def load_side(run: RunDirectory) -> Side:
    """All cases of a run that have a result.

    Raises UsageError when there is none yet, DamagedResultError for files that ffslab did not
    write.
    """
    opened = open_run(run.path)
    with explained(opened):
        cases = tuple(map(compared_case, all_rows(opened)))
        planned = int(opened.manifest.get("cases_total") or len(cases))
        return Side(run.path.resolve().name, opened.manifest, cases, planned, str(run.path))
