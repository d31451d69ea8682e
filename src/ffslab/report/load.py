"""A run directory as the report's frozen values: the one place of the report that knows the
result format.

Format: docs/result-format.md. Files are read by `ffslab.results.rundir`, which reports a damaged
one by name and line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ffslab.errors import DamagedResultError, UsageError
from ffslab.loader import read_text, study_names
from ffslab.model.canonical import sha256_hex
from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.specs import PERTURBATION, REPEAT
from ffslab.program import command, program
from ffslab.reading import toml_value
from ffslab.report import data
from ffslab.report.data import Case, FilesystemFact, Latency, Run, packed_buckets
from ffslab.report.facts import notes, time_model
from ffslab.results.files import no_search_for_cycles
from ffslab.results.repeats import middles
from ffslab.results.reproduce import other_target, reproduce_command
from ffslab.results.result import CaseHead, CaseResult, LatencyResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.registry import kind_of
from ffslab.workloads.results import results_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Document = Mapping[str, Any]  # a manifest, or the spec of a case
Figures = TypeVar("Figures")
Value = TypeVar("Value", bound="DataclassInstance")

_IDENTITY = (
    "command",
    "study_file",
    "study_sha256",
    "ffslab",
    "build_id",
    "finished",
    "wall_s",
    "jobs",
)


def open_run(run_dir: Path) -> RunDirectory:
    """The run in `run_dir`; UsageError when it is none."""
    if not (run_dir / "manifest.json").is_file():
        raise UsageError(
            f"{run_dir} is not a run directory: it has no manifest.json",
            cause="a mistyped path, or a run that ended before it recorded anything",
            remedy=f"{program()} list runs",
        )
    return RunDirectory(run_dir)


def read_rows(directory: RunDirectory, kind: str = "") -> Iterator[CaseResult]:
    """The results whose estimates are as stated and whose layout is not perturbed.

    The others are of `ffslab.report.estimates` and of `ffslab compare`. Of a case that was repeated
    it is the repeat in the middle. Raises as `all_rows` does.
    """
    has_rows = False
    for row in as_stated(all_rows(directory), directory.manifest()):
        if kind in ("", kind_of(row["spec"])):
            has_rows = True
            yield row
    _require_results(directory, has_rows)


def as_stated(rows: Iterable[CaseResult], manifest: Document) -> Iterator[CaseResult]:
    """Those of a run's results that `read_rows` gives."""
    changed = {*changed_ids(manifest), *perturbed_ids(manifest)}
    return (row for row in middles(rows, repeated_ids(manifest)) if row["id"] not in changed)


def changed_ids(manifest: Document) -> dict[str, str]:
    """The cases with a changed estimate, and the change; none if a run has no others."""
    planned, perturbed = manifest.get("cases") or (), perturbed_ids(manifest)
    changes = {
        str(case["id"]): str(case[ESTIMATE])
        for case in planned
        if case.get(ESTIMATE) and str(case["id"]) not in perturbed
    }
    return changes if len(changes) < len(planned) else {}


def perturbed_ids(manifest: Document) -> frozenset[str]:
    """The cases that only measure the band of builds of others; none if a run has no others."""
    planned = manifest.get("cases") or ()
    perturbed = frozenset(str(case["id"]) for case in planned if case.get(PERTURBATION))
    return perturbed if len(perturbed) < len(planned) else frozenset()


def repeated_ids(manifest: Document) -> frozenset[str]:
    """The cases that repeat others."""
    planned = manifest.get("cases") or ()
    return frozenset(str(case["id"]) for case in planned if case.get(REPEAT))


def all_rows(directory: RunDirectory) -> Iterator[CaseResult]:
    """All results one by one, so that a large run need not fit into memory.

    Raises UsageError when there is none yet, DamagedResultError for what is no result.
    """
    has_rows = False
    for row in results_of(directory):
        has_rows = True
        yield row
    _require_results(directory, has_rows)


def _require_results(directory: RunDirectory, has_rows: bool) -> None:
    if not has_rows:
        raise UsageError(
            f"{directory.path} has no results yet",
            cause="the run was interrupted before its first case ended",
            remedy=command("run", directory.path, "--resume"),
        )


@dataclass(frozen=True, slots=True)
class Read(Generic[Figures]):
    """What a report keeps of a result: the whole of all would fill the memory."""

    head: CaseHead
    figures: Figures


def read_figures(
    run_dir: Path, figures_of: Callable[[CaseResult], Figures], kind: str = ""
) -> list[Read[Figures]]:
    """The results of a kind of workload, or of all, with what `figures_of` takes from each.

    Raises as `read_rows` does, and DamagedResultError where `figures_of` does not find its own.
    """
    directory = open_run(run_dir)
    with explained(run_dir, directory.manifest()), no_search_for_cycles():
        return [Read(head_of(row), figures_of(row)) for row in read_rows(directory, kind)]


@contextmanager
def explained(run_dir: Path, manifest: Document) -> Iterator[None]:
    """Results without what the report needs are an error of the files, said in words."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DamagedResultError(
            f"{run_dir}: its results lack what the report needs: {type(error).__name__}: {error}",
            cause="the files were edited, or another version of ffslab wrote them",
            remedy=f"{program()} run {manifest.get('study', 'STUDY')}, for a new run",
        ) from error


def outline(
    run_dir: Path, manifest: Document, specs: Sequence[Document], cases: tuple[Case, ...]
) -> Run:
    """A run of any workload: its cases, and what manifest and specs say of all of them."""
    distinct = _distinct(specs)
    return Run(
        run_id=str(manifest.get("run") or run_dir.name),
        study=study_word(manifest),
        title=str(manifest.get("title") or manifest.get("study") or run_dir.name),
        description=str(manifest.get("description") or "").strip(),
        date=str(manifest.get("started") or ""),
        cases=cases,
        filesystems=filesystem_facts(distinct),
        facts=time_model(distinct, manifest),
        notes=notes(manifest),
        identity=run_identity(manifest),
        states=state_meanings(distinct),
        missing=max(_planned(manifest, len(cases)) - len(cases), 0),
        path=run_dir,
    )


def plain_outline(run_dir: Path, manifest: Document, read_cases: Sequence[Read[Figures]]) -> Run:
    """The outline of cases whose figures are shown apart."""
    specs = [read_case.head["spec"] for read_case in read_cases]
    study, fixed = study_word(manifest), fixed_options(specs)
    cases = tuple(plain_case(read_case.head, manifest, study, fixed) for read_case in read_cases)
    return outline(run_dir, manifest, specs, cases)


def plain_run(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> Run:
    """The run in `run_dir` with these cases, whose figures are shown apart."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        return plain_outline(run_dir, manifest, read_cases)


def _planned(manifest: Document, known: int) -> int:
    """How many cases a run has that are neither changed nor perturbed."""
    total = int(manifest.get("cases_total") or 0)
    aside = {*changed_ids(manifest), *perturbed_ids(manifest), *repeated_ids(manifest)}
    return total - len(aside) if total else known


def study_word(manifest: Document) -> str:
    """What `ffslab run` calls the study: its name when its text is the shipped one, else its
    file.
    """
    name, path = str(manifest.get("study") or ""), str(manifest.get("study_file") or "")
    shipped = study_names().get(name)
    if shipped is not None and sha256_hex(read_text(shipped)) == manifest.get("study_sha256"):
        return name
    return path or name


def plain_case(row: CaseHead, manifest: Document, study: str, fixed: Container[str]) -> Case:
    """A case of any workload, without its figures."""
    overrides = [(str(key), list(values)) for key, values in manifest.get("overrides") or ()]
    catalogs = [str(directory) for directory in manifest.get("catalogs") or ()]
    return Case(
        id=row["id"],
        axes=case_axes(row, fixed),
        outcome=row["outcome"],
        command=reproduce_command(
            study,
            overrides,
            row["id"],
            catalogs=catalogs,
            target=other_target(manifest),
            access=str(manifest.get("place") or ""),
        ),
        reason=row["reason"],
        console="\n".join(row["excerpt"]),
        short=row.get("short"),
    )


def head_of(row: CaseResult) -> CaseHead:
    """A result without its figures."""
    return {
        "id": row["id"],
        "axes": row["axes"],
        "spec": row["spec"],
        "outcome": row["outcome"],
        "reason": row["reason"],
        "excerpt": row["excerpt"],
        "short": row.get("short"),
    }


def fixed_options(specs: Sequence[Document]) -> frozenset[str]:
    """The options of which no file system was run with two values.

    They tell no two cases of one file system apart, and a case of another one may lack them; the
    table of file systems has how each was mounted.
    """
    values: dict[str, dict[str, set[str]]] = {}
    for spec in specs:
        filesystem = spec["filesystem"]
        for name, value in filesystem["options"].items():
            values.setdefault(name, {}).setdefault(filesystem["name"], set()).add(value)
    return frozenset(
        name for name, groups in values.items() if all(len(few) == 1 for few in groups.values())
    )


def case_axes(row: CaseHead, fixed: Container[str]) -> dict[str, str]:
    """The core axes from the spec, the study's further ones from the row; all as text.

    Options that are `fixed` are axes only if the questions are about them.
    """
    spec = row["spec"]
    options = spec["filesystem"]["options"]
    axes = {
        data.FILESYSTEM: str(spec["filesystem"]["name"]),
        data.COMPRESSION: str(options.get(data.COMPRESSION, "")),
        data.WRITING: str(options.get(data.WRITING, "")),
        data.STATE: str(spec["state"]["name"]),
    }
    further = {name: str(value) for name, value in options.items() if name not in axes}
    axes.update({name: value for name, value in further.items() if name not in fixed})
    for name, value in row["axes"].items():
        if name == ESTIMATE and value == AS_STATED:
            continue
        # Parts of the options and of the state are in the core axes already.
        if name not in axes and name != data.SEED and not name.startswith(("options.", "state.")):
            number = setting(row, name)  # of a size that the study gives with its unit
            axes[name] = str(number if isinstance(value, str) and is_number(number) else value)
    axes[data.SEED] = str(spec["seed"])
    return axes


def of_stored(kind: type[Value], stored: Document, **others: Any) -> Value:
    """A value of what was stored under the names of its fields; `others` are not so. KeyError for
    what is not there.
    """
    names = (field.name for field in fields(kind) if field.name not in others)
    return kind(**{name: stored[name] for name in names}, **others)


def histogram(record: LatencyResult, begun_ns: int = 0) -> Latency:
    """One of the `latencies` of a result, whose phase began then; ValueError for a bucket that no
    histogram has.
    """
    slowest = tuple((began - begun_ns, took) for began, took in record.get("slowest", ()))
    return of_stored(Latency, record, packed=packed_buckets(record["buckets"]), slowest=slowest)


def erases_during(row: CaseResult, phases: Sequence[str]) -> tuple[int, ...]:
    """Erases per block between the start of the first phase and the end of the last."""
    snapshots = {snapshot["label"]: snapshot for snapshot in row["flash"]}
    start, end = snapshots.get(f"{phases[0]}:start"), snapshots.get(f"{phases[-1]}:end")
    if start is None or end is None:
        return ()
    return tuple(
        after - before for before, after in zip(start["erases"], end["erases"], strict=True)
    )


def _distinct(specs: Iterable[Document]) -> list[Document]:
    """One spec for each combination of all but workload and seed."""
    distinct: dict[str, Document] = {}
    for spec in specs:
        rest = {key: value for key, value in spec.items() if key not in ("workload", "seed")}
        distinct.setdefault(json.dumps(rest, sort_keys=True), spec)
    return list(distinct.values())


def setting(row: CaseHead, name: str) -> Any:
    """A case's value of a setting by its dotted name, from its spec; None: it has none."""
    group, dot, key = name.partition(".")
    table = row["spec"].get(group)
    return table.get(key) if dot and isinstance(table, Mapping) else table


def axis_values(rows: Iterable[CaseHead]) -> dict[str, list[Any]]:
    """The values of each axis, one for each case that has it."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row["axes"].items():
            values.setdefault(name, []).append(value)
    return values


def is_number(value: Any) -> bool:
    """Whether a value of an axis is a number; a switch is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def part_titles(manifest: Document, parts: Iterable[str]) -> dict[str, str]:
    """These parts, once each and without the empty one, with the titles that the study gives."""
    titles = part_texts(manifest, "title")
    return {part: titles.get(part, "") for part in parts if part}


def part_texts(manifest: Document, key: str) -> dict[str, str]:
    """What the study says under `key` of each of its parts, by their names."""
    try:
        document = toml_value(str(manifest.get("study_text") or ""))
    except ValueError:
        document = {}
    return {str(part.get("name")): str(part.get(key, "")) for part in document.get("part") or ()}


def filesystem_facts(specs: Sequence[Document]) -> tuple[FilesystemFact, ...]:
    """Each file system once, with the ways in which it was mounted in order of appearance."""
    codes: dict[str, str] = {}
    mounts: dict[str, dict[str, None]] = {}
    for spec in specs:
        setup = spec["filesystem"]
        name = str(setup["name"])
        codes[name] = _code(setup)
        options = ",".join([*setup["mount_flags"], *setup["mount_options"]])
        mount = f"mount -t {setup['type']}" + (f" -o {options}" if options else "")
        mounts.setdefault(name, {})[mount] = None
    return tuple(FilesystemFact(name, code, tuple(mounts[name])) for name, code in codes.items())


def _code(setup: Document) -> str:
    """Whose code a file system is."""
    modules = ", ".join(setup["modules"])
    source = setup.get("module_source")
    if source is not None:
        settings = [*source["config"], *source["make_arguments"], *source["cflags"]]
        built = f", built with {' '.join(settings)}" if settings else ""
        return f"out-of-tree module {modules} of sources with SHA-256 {source['sha256']}{built}"
    if modules:
        return f"ffslab’s own module {modules} (kmod/), because Linux has none"
    return "the Linux kernel’s own, unmodified"


def state_meanings(specs: Iterable[Document]) -> dict[str, str]:
    """What each state's name stands for, in percent of the space available at launch."""
    meanings = {}
    for spec in specs:
        meanings[str(spec["state"]["name"])] = _state_meaning(spec["state"])
    return meanings


def _state_meaning(state: Document) -> str:
    kind = state.get("kind", "aged")
    if kind == "saturated":
        return "written full and removed: everything invalid"
    if kind == "filled":
        whole = state["rate_of_bytes"]
        of = f"{whole:,} bytes" if whole else "the partition"
        return f"a file of {state['rate_percent']} % of {of}, the test file's space used"
    if kind == "image":
        return "an image of a directory tree, written as a flasher does"
    valid, invalid = state["valid_percent"], state["invalid_percent"]
    empty = valid == invalid == 0
    return "everything erased" if empty else f"{valid} % valid, {invalid} % invalid data"


def run_identity(manifest: Document) -> tuple[tuple[str, str], ...]:
    """What identifies the run and the lab that made it."""
    pairs = [(key.replace("_", " "), manifest.get(key)) for key in _IDENTITY]
    pairs += [(f"host {key}", value) for key, value in (manifest.get("host") or {}).items()]
    return tuple((name, str(value)) for name, value in pairs if value not in (None, ""))
