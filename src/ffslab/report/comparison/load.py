"""A run directory as one side of a comparison, read case by case."""

from __future__ import annotations

from dataclasses import replace

from ffslab.compare.cases import Side, compared_case
from ffslab.report.load import all_rows, explained, open_run
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.deciding import deciding_words
from ffslab.workloads.limits import limits_of
from ffslab.workloads.results import kernel_of, known_of


def load_side(run: RunDirectory, base: Side | None = None) -> Side:
    """All cases of a run that have a result; the figures that decide are those of the `base`.

    Raises UsageError when there is none yet, DamagedResultError for files that ffslab did not
    write.
    """
    opened = open_run(run.path)
    with explained(opened):
        words = deciding_words(base.manifest if base else opened.manifest)
        entries = known_of(run, opened.manifest)
        limits = limits_of(opened.manifest)
        cases = tuple(compared_case(row, words, limits) for row in all_rows(opened))
        if entries:
            cases = tuple(
                replace(case, kernel=kernel_of(run, case.id)) if case.findings else case
                for case in cases
            )
        planned = int(opened.manifest.get("cases_total") or len(cases))
        return Side(
            run.path.resolve().name, opened.manifest, cases, planned, str(run.path), entries
        )
