"""Runs as a trend takes them: of each case what the newest run's scoreboard has a column for.

Each run is read once, and the newest one twice; of a result only its deciding figures are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from ffslab.compare.trend import Deciding, RunCase, TrendRun
from ffslab.errors import UsageError
from ffslab.program import program
from ffslab.report.first.brief import brief_of
from ffslab.report.load import explained, open_run
from ffslab.report.quantity import capitalized
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.results.shortfall import is_good
from ffslab.results.stated import as_stated
from ffslab.workloads.figures import criteria_of
from ffslab.workloads.results import results_of

Chosen = Mapping[str, frozenset[str]]  # titles by case


def load_runs(directories: Sequence[RunDirectory], patterns: Sequence[str]) -> list[TrendRun]:
    """The runs in this order; of them the cases that one of the patterns fits, or all.

    UsageError if none has such a case, DamagedResultError for files that ffslab did not write.
    """
    ids = [_ids(directory, patterns) for directory in directories]
    if not any(ids):
        raise UsageError(
            "no case" + (f" {' or '.join(patterns)}" if patterns else "") + " in these runs",
            cause="a mistyped pattern, or runs that were interrupted before their first case",
            remedy=f"{program()} show RUN, which lists the cases",
        )
    chosen: dict[str, frozenset[str]] = {}
    for directory, own in zip(reversed(directories), reversed(ids), strict=True):
        if not own <= chosen.keys():
            # A run's own columns are only for cases that no newer one has.
            chosen = {**_columns(directory), **chosen}
    return [_run(directory, own, chosen) for directory, own in zip(directories, ids, strict=True)]


def _ids(directory: RunDirectory, patterns: Sequence[str]) -> frozenset[str]:
    listed = (str(case["id"]) for case in directory.manifest()["cases"])
    fits = (one for one in listed if not patterns or any(fnmatchcase(one, p) for p in patterns))
    return frozenset(fits)


def _columns(directory: RunDirectory) -> dict[str, frozenset[str]]:
    """The titles of the columns that a run's scoreboards have, by case; all cases have some set."""
    chapters = brief_of(directory).chapters
    titles = {
        case: frozenset(column.title for column in chapter.board.columns)
        for chapter in chapters
        for case in chapter.cases
    }
    every = (str(case["id"]) for case in directory.manifest()["cases"])
    return {case: titles.get(case, frozenset()) for case in every}


def _run(directory: RunDirectory, ids: frozenset[str], chosen: Chosen) -> TrendRun:
    run = open_run(directory.path)
    manifest = run.manifest
    with explained(run):
        cases = {
            row["id"]: _case(row, chosen.get(row["id"], frozenset()))
            for row in as_stated(results_of(directory, manifest), manifest)
            if row["id"] in ids
        }
    return TrendRun(
        name=directory.path.resolve().name,
        where=str(directory.path),
        label=str(manifest.get("label") or ""),
        started=str(manifest.get("started") or ""),
        build=str(manifest.get("build_id") or ""),
        study=str(manifest.get("study") or ""),
        cases=cases,
    )


def _case(row: CaseResult, titles: frozenset[str]) -> RunCase:
    criteria = criteria_of(row)
    # What counts what went wrong has figures although it fails by them.
    if not is_good(row) and not any(criterion.tally for criterion in criteria):
        return RunCase(row["spec"], {}, f"{row['outcome']}: {row['reason']}", failed=True)
    if row["outcome"] == "skip":
        return RunCase(row["spec"], {}, f"skip: {row['reason']}")
    figures = (_deciding(criterion) for criterion in criteria)
    return RunCase(row["spec"], {one.title: one for one in figures if one.title in titles})


def _deciding(criterion: Criterion) -> Deciding:
    figure = criterion.figure
    return Deciding(
        key=figure.key,
        title=capitalized(criterion.title),
        head=criterion.column,
        metric=figure.metric,
        better=figure.better,
        value=figure.value,
    )
