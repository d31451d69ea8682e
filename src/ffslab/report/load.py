"""A run directory as the report's frozen values: the one place of the report that knows the
result format.

Format: docs/result-format.md. Files are read by `ffslab.results.rundir`, which reports a damaged
one by name and line.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, starmap
from operator import sub
from pathlib import Path
from typing import Any, Generic, TypeVar

from ffslab.errors import DamagedResultError, UsageError
from ffslab.loader import read_text, study_names
from ffslab.model.canonical import sha256_hex
from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.program import command, program
from ffslab.reading import toml_value
from ffslab.report import data
from ffslab.report.data import Case, FilesystemFact, Run
from ffslab.report.facts import notes, time_model
from ffslab.results.files import no_search_for_cycles
from ffslab.results.reproduce import other_target, reproduce_command
from ffslab.results.result import CaseHead, CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.results.stated import as_stated, changed_ids, perturbed_ids, repeated_ids
from ffslab.workloads.results import shown_results_of

Document = Mapping[str, Any]  # a manifest, or the spec of a case
Figures = TypeVar("Figures")

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


@dataclass(frozen=True, slots=True)
class Opened:
    """A run with its manifest, which is read once for all that shows it."""

    directory: RunDirectory
    manifest: Document

    @property
    def path(self) -> Path:
        return self.directory.path


def open_run(run_dir: Path) -> Opened:
    """The run in `run_dir`; UsageError when it is none, DamagedResultError without a manifest."""
    if not (run_dir / "manifest.json").is_file():
        raise UsageError(
            f"{run_dir} is not a run directory: it has no manifest.json",
            cause="a mistyped path, or a run that ended before it recorded anything",
            remedy=f"{program()} list runs",
        )
    directory = RunDirectory(run_dir)
    return Opened(directory, directory.manifest())


def read_rows(run: Opened) -> Iterator[CaseResult]:
    """The results whose estimates are as stated and whose layout is not perturbed.

    The others are of `ffslab.report.estimates` and of `ffslab compare`. Of a case that was repeated
    it is the repeat in the middle. Raises as `all_rows` does.
    """
    return _required(run, as_stated(all_rows(run), run.manifest))


def all_rows(run: Opened) -> Iterator[CaseResult]:
    """All results one by one, so that a large run need not fit into memory: none is held.

    Raises UsageError when there is none yet, DamagedResultError for what is no result.
    """
    return _required(run, shown_results_of(run.directory, run.manifest))


def _required(run: Opened, rows: Iterator[CaseResult]) -> Iterator[CaseResult]:
    for first in rows:
        return chain((first,), rows)
    raise UsageError(
        f"{run.path} has no results yet",
        cause="the run was interrupted before its first case ended",
        remedy=command("run", run.path, "--resume"),
    )


@dataclass(frozen=True, slots=True)
class Read(Generic[Figures]):
    """What a report keeps of a result: the whole of all would fill the memory."""

    head: CaseHead
    figures: Figures


@contextmanager
def explained(run: Opened) -> Iterator[None]:
    """Results without what the report needs are an error of the files, said in words.

    What is kept of thousands is searched for cycles afterwards.
    """
    try:
        with no_search_for_cycles():
            yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DamagedResultError(
            f"{run.path}: its results lack what the report needs: {type(error).__name__}: {error}",
            cause="the files were edited, or another version of ffslab wrote them",
            remedy=f"{program()} run {run.manifest.get('study', 'STUDY')}, for a new run",
        ) from error


def plain_run(run: Opened, read_cases: Sequence[Read[Figures]]) -> Run:
    """The run with these cases, whose figures are shown apart, and what manifest and specs say of
    all of them.
    """
    with explained(run):
        return _plain_run(run.path, run.manifest, [read_case.head for read_case in read_cases])


def _plain_run(run_dir: Path, manifest: Document, heads: Sequence[CaseHead]) -> Run:
    specs = [head["spec"] for head in heads]
    study, fixed, distinct = study_word(manifest), fixed_options(specs), _distinct(specs)
    cases = tuple(plain_case(head, manifest, study, fixed) for head in heads)
    return Run(
        run_id=str(manifest.get("run") or run_dir.name),
        study=study,
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


def erases_during(row: CaseResult, phases: Sequence[str]) -> tuple[int, ...]:
    """Erases per block between the start of the first phase and the end of the last."""
    snapshots = {snapshot["label"]: snapshot for snapshot in row["flash"]}
    start, end = snapshots.get(f"{phases[0]}:start"), snapshots.get(f"{phases[-1]}:end")
    if start is None or end is None:
        return ()
    return tuple(starmap(sub, zip(end["erases"], start["erases"], strict=True)))


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
