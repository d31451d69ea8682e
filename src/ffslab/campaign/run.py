"""One run of a study from its file to its run directory: new, or resumed.

The steps are separate so that each can be tested alone: `prepare` reads and
expands, `execute` runs what is missing and closes the books.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from ffslab.campaign.chain import Chain, chain_of
from ffslab.campaign.done import PoolOptions
from ffslab.campaign.images import ImageJob, image_jobs, with_tree_hashes
from ffslab.campaign.inputs import guest_inputs
from ffslab.campaign.manifest import build_ids, known_key, label_key, new_manifest
from ffslab.campaign.plan import remaining
from ffslab.campaign.pool import PoolEnd, Progress, run_cases
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.state_store import StateStore, limit_bytes, state_root
from ffslab.campaign.states import StateRoom
from ffslab.codesize.measure import measure
from ffslab.codesize.sizes import CodeSizes, to_document
from ffslab.errors import DamagedResultError, FfslabError, SpecError, UsageError
from ffslab.lab.outoftree import identified
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.loader import StudySource, find_study, load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.doubts import doubts
from ffslab.model.effects import check_effects
from ffslab.model.known import Known
from ffslab.model.specs import DEFAULT_VARIANT
from ffslab.model.study import (
    Override,
    expand,
    select,
    study_from_document,
    with_overrides,
)
from ffslab.model.workload import Workload
from ffslab.program import command, program
from ffslab.results.files import MANIFEST, write_atomic
from ffslab.results.result import CaseHead, CaseResult
from ffslab.results.rundir import RESULTS_SHA256, RunDirectory, all_runs, create_run
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.registry import site_module, target_kind
from ffslab.targets.target import Opening, Site, SiteOptions
from ffslab.workloads.deciding import check_deciding
from ffslab.workloads.ended import ended_of
from ffslab.workloads.limits import check_limits
from ffslab.workloads.modules import explore_module
from ffslab.workloads.plans import guest_case
from ffslab.workloads.results import check_own_keys


@dataclass(frozen=True, slots=True)
class RunEnd:
    """What a run has come to; `heads` are of all its results so far, in expansion order.

    `refused`: see `ffslab.campaign.pool.PoolEnd`.
    """

    run: RunDirectory
    heads: tuple[CaseHead, ...]
    interrupted: bool
    wall_s: float
    refused: SpecError | None = None

    @property
    def results(self) -> tuple[CaseResult, ...]:
        """All results at once, read from the run directory; a large run has gigabytes."""
        return tuple(self.run.each_result())


def prepare(
    study_name: str,
    overrides: Sequence[Override] = (),
    case_ids: Sequence[str] = (),
    *,
    trace: bool = False,
    catalogs: Sequence[Path] = (),
    target: str = DEFAULT_TARGET,
    place: Path | None = None,
) -> Prepared:
    """Reads a study and expands it; SpecError or UsageError for whatever is wrong.

    With `trace` the cases record every flash operation. `catalogs` are directories whose files
    are added to the catalog. `target` names where the guests are to run, `place` the file of a
    board.
    """
    own = tuple(directory.resolve() for directory in catalogs)
    source = find_study(study_name)
    there = place.resolve() if place else None
    return _prepared(source, overrides, case_ids, trace, study_name, own, target, there)


def prepare_source(
    source: StudySource, overrides: Sequence[Override] = (), *, catalogs: Sequence[Path] = ()
) -> Prepared:
    """A study that is no file yet, made by ffslab itself, with all its cases."""
    own = tuple(directory.resolve() for directory in catalogs)
    return _prepared(source, overrides, (), False, str(source.path), own, DEFAULT_TARGET)


def _prepared(
    source: StudySource,
    overrides: Sequence[Override],
    case_ids: Sequence[str],
    trace: bool,
    called: str,
    catalogs: tuple[Path, ...],
    target: str,
    place: Path | None = None,
) -> Prepared:
    kind = target_kind(target, place)
    catalog = load_catalog(catalogs)
    study = study_from_document(source.document, catalog, source.where)
    if overrides:
        study = with_overrides(study, overrides, catalog)
    expanded = expand(study, catalog)
    check_effects(study, catalog, guest_inputs(kind))
    check_limits(study.limits, expanded, str(source.path), called, is_whole=not overrides)
    check_deciding(study.deciding, expanded, str(source.path))
    cases = identified(select(expanded, case_ids, called))
    cases = _with_files(with_tree_hashes(cases), source.path.parent)
    if trace:
        cases = tuple(replace(case, trace=True) for case in cases)
    names = dict.fromkeys(case.filesystem.name for case in cases if case.filesystem.is_mounted)
    mainline = {name: catalog.filesystems[name].mainline for name in names}
    is_whole = not overrides and len(cases) == len(expanded)
    return Prepared(
        *(source, study, tuple(overrides), cases, catalogs, target, mainline, place),
        is_whole=is_whole,
        doubts=doubts(study, cases, catalog),
    )


def _with_files(cases: Sequence[Case], directory: Path) -> tuple[Case, ...]:
    """The cases with the files that their workloads name; all that are alike are read once."""
    known: dict[object, Workload] = {}
    for case in cases:
        if case.workload not in known:
            known[case.workload] = case.workload.loaded(directory)
    return tuple(replace(case, workload=known[case.workload]) for case in cases)


def find_resumable(name: str, root: Path) -> RunDirectory:
    """The run to continue: a run directory, or the latest incomplete run of a study."""
    path = Path(name)
    if (path / MANIFEST).is_file():
        return RunDirectory(path)
    study = find_study(name)
    wanted = study.document.get("name")
    runs = [run for run in all_runs(root) if _says(run, "study") == wanted]
    incomplete = [run for run in runs if not _says(run, "complete")]
    if not incomplete:
        raise UsageError(
            f"no interrupted run of {wanted} in {root}",
            cause="every run of it is complete" if runs else "it has not been run there",
            remedy=f"{program()} run {name}",
        )
    return incomplete[-1]


def _says(run: RunDirectory, key: str) -> object:
    """What a run's manifest has there; None if it cannot be read: other runs can go on."""
    try:
        return run.manifest().get(key)
    except DamagedResultError:
        return None


def prepare_resumed(
    run: RunDirectory, build_id: str | None, variants: Mapping[str, str] | None = None
) -> Prepared:
    """The same cases as when the run began, from the text in its manifest.

    Raises UsageError if the lab build (unless `build_id` is None), that of one of its
    other kernels (`variants`) or the catalog has changed since: results of two versions
    do not belong into one run.
    """
    manifest = run.manifest()
    where = str(run.path / MANIFEST)
    try:
        text = str(manifest["study_text"])
        overrides = [(str(key), tuple(values)) for key, values in manifest["overrides"]]
        listed = {str(case["id"]): str(case["spec_hash"]) for case in manifest["cases"]}
        path = Path(str(manifest["study_file"]))
        old_build = (str(manifest["build_id"]), build_ids(manifest))
        catalogs = tuple(Path(str(directory)) for directory in manifest.get("catalogs", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{where}: damaged: {error!r}",
            cause="the file was edited or cut",
            remedy="start a new run",
        ) from error
    source = StudySource(path, text, parse_toml(text, where))
    trace = bool(manifest.get("trace"))
    target = str(manifest.get("target", DEFAULT_TARGET))
    place = Path(str(manifest["place"])) if manifest.get("place") else None
    prepared = _prepared(source, overrides, list(listed), trace, str(path), catalogs, target, place)
    changed = [case.id for case in prepared.cases if case.spec_hash != listed[case.id]]
    if changed or (build_id is not None and (build_id, dict(variants or {})) != old_build):
        raise UsageError(
            f"{run.path} cannot be continued: "
            + (
                f"case {changed[0]} has another spec now" if changed else "the lab is another build"
            ),
            cause="the catalog, the sources of an out-of-tree module, the tree of an image, "
            "the lab or ffslab itself has changed since the run began",
            remedy=f"start a new run: {command('run', path)}",
        )
    return prepared


@dataclass(frozen=True, slots=True)
class RunRequest:
    """How to execute a prepared study.

    `known`: findings that are documented already; None: those that the run to resume began with.
    `label`: what the user calls the run.
    """

    prepared: Prepared
    options: PoolOptions
    command: str
    results_root: Path
    resume: RunDirectory | None = None
    fresh_states: bool = False  # prepare them again
    images: Mapping[str, ImageJob] = field(default_factory=dict)  # by the id of the case
    sizes: CodeSizes | None = None  # of the file systems' code, if the study wants them
    known: tuple[Known, ...] | None = None
    label: str = ""


def made_ready(
    request: RunRequest, options: SiteOptions, progress: BuildProgress
) -> tuple[RunRequest, Site]:
    """Builds or finds what the missing cases' guests are made of, and the trees of their images.

    Raises UsageError if that is not what the run to resume began with.
    """
    cases = todo = request.prepared.cases
    options = replace(options, place=request.prepared.place)
    site = site_module(request.prepared.target).site_for(cases, options)
    if request.resume is not None:
        prepare_resumed(request.resume, site.build_id, site.variant_ids)
        todo = remaining(cases, request.resume.done_ids(cases))
    images = image_jobs(todo, site.lab_of_images, progress)
    sizes = _code_sizes(request.prepared, options.kernel_source, progress)
    return replace(request, images=images, sizes=sizes), site


def _code_sizes(
    prepared: Prepared, kernel_source: Path | None, progress: BuildProgress
) -> CodeSizes | None:
    """The code of the cases' file systems, if the study wants that measured.

    The cases need none of it: an architecture whose compiler is missing is told, and they run.
    """
    if not prepared.study.sizes:
        return None
    catalog = load_catalog(prepared.catalogs)
    found = [catalog.filesystem(name) for name in prepared.mainline]
    if not found:
        return None
    architectures = prepared.study.sizes
    return measure(found, architectures, progress, kernel_source=kernel_source, go_on=True)


def execute(
    request: RunRequest,
    site: Site,
    progress: Progress,
    now: Callable[[], datetime],
) -> RunEnd:
    """Runs what is missing; the run directory is left readable whatever happens.

    Raises InfrastructureError if another process works on the run to resume.
    """
    started = now()
    run = request.resume or new_run(request, site, started)
    with run.worked_on():
        if request.resume is not None:
            _tell_anew(request, run)
        if request.sizes is not None:
            run.write_sizes(to_document(request.sizes))
        try:
            end = _run_missing(request, run, site, progress)
            wall_s = (now() - started).total_seconds()
            heads = _close(run, request.prepared, wall_s, now())
        except FfslabError as error:
            # On a full disk that fails too; the first error says more.
            with suppress(FfslabError):
                _close(run, request.prepared, (now() - started).total_seconds(), now())
            raise _not_complete(error, run) from error
    return RunEnd(run, tuple(heads), end.interrupted, wall_s, end.refused)


def _tell_anew(request: RunRequest, run: RunDirectory) -> None:
    """What is said of a resumed run with another command, its manifest has from now on."""
    told = label_key(request.label)
    manifest = run.manifest()
    if request.known is not None:
        manifest.pop("known", None)
        told |= known_key(request.known)
    if told or request.known is not None:
        run.write_manifest({**manifest, **told})


def _not_complete(error: FfslabError, run: RunDirectory) -> FfslabError:
    """The error with what becomes of the run."""
    then = command("run", run.path, "--resume")
    return type(error)(
        f"{error.message}\n{run.path} is not complete.",
        cause=error.cause,
        remedy=f"{error.remedy}, then: {then}" if error.remedy else then,
    )


def _run_missing(
    request: RunRequest,
    run: RunDirectory,
    site: Site,
    progress: Progress,
) -> PoolEnd:
    """Runs the cases without a result."""
    cases = request.prepared.cases
    todo = remaining(cases, run.done_ids(cases, check_own_keys))
    if not todo:
        return PoolEnd(0, interrupted=False)
    options = request.options
    several = any(explore_module(case.workload.kind) for case in todo)
    wanted = options.jobs if several else min(options.jobs, len(todo))
    jobs = min(wanted, site.kind.capabilities.most_at_once or wanted)
    chains = [_chain(case, request, site) for case in todo]
    booted = [guest_case(case) for case in todo]
    with site.open(Opening(booted, jobs, run.path, progress.note)) as opened:
        options = replace(options, jobs=opened.jobs)
        with _state_room(request, chains) as states:
            return run_cases(chains, opened.target, run, options, progress, states)


def _chain(case: Case, request: RunRequest, site: Site) -> Chain:
    builds = {DEFAULT_VARIANT: site.build_id, **site.variant_ids}
    # Without the kernel that a case needs it is skipped, and its state is not prepared.
    build_id = builds.get(case.kernel.variant, "")
    return chain_of(case, site.kind, build_id, request.images.get(case.id))


@contextmanager
def _state_room(request: RunRequest, chains: Sequence[Chain]) -> Iterator[StateRoom]:
    """The run's states; afterwards the store is brought back to its limit."""
    limit = limit_bytes()
    store = StateStore(state_root())
    room = StateRoom(store, fresh=request.fresh_states)
    if not any(chain.preparing for chain in chains):
        yield room
        return
    # Before too: what an interrupted run left, or what is to make room for this one.
    store.prune(limit)
    try:
        with store.in_use():
            yield room
    finally:
        store.prune(limit)


def new_run(request: RunRequest, site: Site, started: datetime) -> RunDirectory:
    """A run directory without a result, whose manifest says what its cases are."""
    prepared = request.prepared
    run = create_run(request.results_root, prepared.study.name, started)
    run.write_manifest(
        new_manifest(
            run.path.name,
            prepared,
            site,
            command=request.command,
            started=started,
            jobs=request.options.jobs,
            known=request.known or (),
            label=request.label,
        )
    )
    source = prepared.source
    if source.is_made and not source.path.exists():
        write_atomic(source.path, source.text)
    return run


def _close(run: RunDirectory, prepared: Prepared, wall_s: float, now: datetime) -> list[CaseHead]:
    """Collects the results and brings the manifest up to date."""
    cases = prepared.cases
    heads = run.collect([case.id for case in cases])
    manifest = run.manifest()
    manifest["wall_s"] = round((manifest.get("wall_s") or 0.0) + wall_s, 3)
    manifest["finished"] = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest["complete"] = len(heads) == len(cases)
    manifest[RESULTS_SHA256] = run.results_sha256()
    manifest["outcomes"] = dict(Counter(head["outcome"] for head in heads))
    manifest["judged"] = ended_of(run, manifest, tuple(heads)).judged(is_whole=prepared.is_whole)
    run.write_manifest(manifest)
    return heads


def usable_cpus() -> tuple[int, ...]:
    """The host CPUs that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))
