"""What earlier runs of a study measured, in a new run of it: nothing is measured twice.

A case is known by its name, by the hash of its spec and by the build of the lab. What an earlier
run of the same study measured under the same three is put into the new run, so that a changed
choice of cases costs only those that are new.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ffslab.campaign.manifest import build_ids
from ffslab.campaign.plan import remaining
from ffslab.campaign.run import RunRequest, made_ready, new_run
from ffslab.errors import DamagedResultError
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.model.case import Case
from ffslab.results.files import disk_error
from ffslab.results.rundir import STATES, RunDirectory, all_runs
from ffslab.targets.target import Site, SiteOptions


@dataclass(frozen=True, slots=True)
class Ready:
    """What is still to run: the request with its run directory, and how many cases that are."""

    request: RunRequest
    site: Site
    run: RunDirectory
    left: int


def ready(
    request: RunRequest,
    options: SiteOptions,
    progress: BuildProgress,
    now: Callable[[], datetime],
    *,
    fresh: bool = False,
) -> Ready:
    """Builds the lab, finds or begins the run, and puts what is known into it; if `fresh`, nothing
    is known.
    """
    request, site = made_ready(request, options, progress)
    prepared = request.prepared
    earlier = () if fresh else runs_of(prepared.study.name, request.results_root)
    run = next(
        (candidate for candidate in earlier if is_same(candidate, prepared.cases, site)), None
    )
    if run is None:
        run = new_run(request, site, now())
        for other in earlier:
            adopt(run, other, prepared.cases, site)
    left = len(remaining(prepared.cases, run.done_ids(prepared.cases)))
    return Ready(replace(request, resume=run), site, run, left)


def runs_of(study: str, root: Path) -> tuple[RunDirectory, ...]:
    """The readable runs of a study, the latest first."""
    return tuple(run for run in reversed(all_runs(root)) if _manifest(run).get("study") == study)


def _manifest(run: RunDirectory) -> dict[str, Any]:
    with suppress(DamagedResultError):
        return run.manifest()
    return {}


def is_same(run: RunDirectory, cases: Sequence[Case], site: Site) -> bool:
    """Whether a run has these cases and no others, of the same build."""
    manifest = _manifest(run)
    listed = [(case["id"], case.get("spec_hash")) for case in manifest.get("cases", ())]
    builds = (manifest.get("build_id"), build_ids(manifest))
    return listed == [(case.id, case.spec_hash) for case in cases] and builds == (
        site.build_id,
        dict(site.variant_ids),
    )


def adopt(run: RunDirectory, other: RunDirectory, cases: Sequence[Case], site: Site) -> int:
    """Copies the results that another run has of the same cases; returns how many."""
    manifest = _manifest(other)
    if manifest.get("build_id") != site.build_id:
        return 0
    if any(site.variant_ids.get(k, v) != v for k, v in build_ids(manifest).items()):
        return 0
    missing = remaining(cases, run.done_ids(cases))
    known = other.done_ids(missing)
    copied = [(other.case_dir(case_id), run.case_dir(case_id)) for case_id in known]
    if known and (other.path / STATES).is_dir():
        copied.append((other.path / STATES, run.path / STATES))
    for source, target in copied:
        try:
            shutil.copytree(source, target, dirs_exist_ok=True)
        except OSError as error:
            raise disk_error(error, target) from error
    return len(known)
