"""A case of a run that is there, opened once more: for what looks closer at its result."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ffslab.campaign.run import prepare_resumed
from ffslab.model.case import Case
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.targets.registry import site_module
from ffslab.targets.several import Guests
from ffslab.targets.target import Opening, SiteOptions
from ffslab.workloads.plans import guest_case
from ffslab.workloads.results import check_own_keys


@dataclass(frozen=True, slots=True)
class Again:
    """A case with its result; `directory` has its files, `room` is for those of further guests."""

    case: Case
    result: CaseResult
    directory: Path
    guests: Guests
    room: Path


@contextmanager
def opened_again(
    run: RunDirectory, case_id: str, options: SiteOptions, limit_s: float
) -> Iterator[Again]:
    """A case of a run, and guests of it, one at a time.

    UsageError if study, catalog or sources have changed since.
    """
    prepared = prepare_resumed(run, None)
    case = next(case for case in prepared.cases if case.id == case_id)
    result = run.result(case_id, check_own_keys)
    site = site_module(prepared.target).site_for([case], options)
    with tempfile.TemporaryDirectory(prefix="ffslab-again-") as place:
        opening = Opening([guest_case(case)], 1, Path(place))
        with site.open(opening) as opened:
            rig = opened.target.kind.rig
            guests = Guests(rig, opened.target.run, 1, limit_s, keep=True)
            yield Again(case, result, run.case_dir(case_id), guests, Path(place))
