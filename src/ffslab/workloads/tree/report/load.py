"""A run of workload `tree` as frozen values: where the format of its results is known.

Format: docs/result-format.md. What a step list's words are called is in `words`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ffslab.protocol.records import TaskRecord
from ffslab.report import data
from ffslab.report.axes import FILES
from ffslab.report.load import (
    Document,
    Read,
    axis_values,
    explained,
    is_number,
    of_stored,
    open_run,
    part_titles,
    plain_outline,
    setting,
)
from ffslab.report.quantity import significant
from ffslab.results.result import CaseHead, CaseResult
from ffslab.workloads.tree.report.data import (
    AGENT,
    CPU,
    Image,
    Memory,
    Step,
    Task,
    TreeCase,
    TreeRun,
)
from ffslab.workloads.tree.report.words import Role, roles_of
from ffslab.workloads.tree.stored import (
    ImageResult,
    MemoryResult,
    PartResult,
    TreeResult,
    TreeStep,
    image_of,
    tree_of,
)

_STEPS = "workload.steps"
# Settings that make a tree larger or smaller: how many files it gets is their place on an axis.
_SHAPE = ("workload.files", "workload.directories", "workload.depth")
_CONSTANT = re.compile(r"(?:constant\()?(\d+(?:\.\d+)?)\)?")
_ATTACH = re.compile(r"attach(-\d+)?")
_AGENTS = ("init", "ffsagent")  # in the lab, on a board
_TREE_SETTINGS = {
    "files": "files per directory",
    "directories": "directories per directory",
    "size": "bytes per file",
    "depth": "depth",
    "contents": "contents",
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What a result of a tree says beside what every result does."""

    tree: TreeResult | None
    image: ImageResult | None


def figures_of(row: CaseResult) -> Figures:
    """What a case measured; None for what it did not get to."""
    return Figures(tree_of(row), image_of(row))


def run_of(run_dir: Path, read_cases: Sequence[Read[Figures]]) -> TreeRun:
    """The run in `run_dir` of what was read of it."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        return _tree_run(run_dir, manifest, read_cases)


def _tree_run(run_dir: Path, manifest: Document, read_cases: Sequence[Read[Figures]]) -> TreeRun:
    rows = [read_case.head for read_case in read_cases]
    run = plain_outline(run_dir, manifest, read_cases)
    numeric, shape = _numeric_axes(rows)
    cases = tuple(
        _case(read_case, case, numeric, shape)
        for read_case, case in zip(read_cases, run.cases, strict=True)
    )
    labels, lines = _labels(cases)
    return TreeRun(
        run=run,
        cases=_with_files(cases) if shape else cases,
        labels=labels,
        lines=lines,
        parts=part_titles(manifest, [case.part for case in cases]),
    )


def _numeric_axes(rows: Sequence[CaseHead]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes whose values are numbers everywhere, and those that make trees larger or smaller.

    The processor's speed is an axis when it has two values besides 0.
    """
    values = axis_values(rows)
    shape = tuple(name for name in _SHAPE if len(set(values.get(name, ()))) > 1)
    names = []
    for name, distinct in values.items():
        if name in (*_SHAPE, _STEPS, "part", data.SEED):
            continue
        if any(_place(row, name) is None for row in rows if name in row["axes"]):
            continue
        if name != CPU or len({float(value) for value in distinct if value}) > 1:
            names.append(name)
    return tuple(names), shape


def _number_of(value: Any) -> float | None:
    """The number that a value is, or a constant distribution of it."""
    if is_number(value):
        return float(value)
    match = _CONSTANT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) if match else None


def _case(
    read_case: Read[Figures], plain: data.Case, numeric: Sequence[str], shape: Sequence[str]
) -> TreeCase:
    row = read_case.head
    spec = row["spec"]
    workload = spec["workload"]
    own = (*numeric, *_SHAPE, _STEPS, CPU, "part", data.SEED)
    words = tuple(str(workload["steps"]).split())
    roles = roles_of(words)
    tree = read_case.figures.tree
    steps = tuple(_step(entry, roles) for entry in (tree["steps"] if tree else ()))
    memory = tree["memory"] if tree else ()
    return TreeCase(
        id=plain.id,
        seed=plain.seed,
        outcome=plain.outcome,
        passed=plain.passed,
        reason=plain.reason,
        part=str(row["axes"].get("part", "")),
        line={name: value for name, value in plain.axes.items() if name not in own},
        numbers={
            name: number
            for name in numeric
            if name in row["axes"] and (number := _place(row, name)) is not None
        },
        shape=_shape_text(workload, shape),
        words=words,
        cpu_scale=float(spec[CPU]),
        settings=_settings(spec),
        twin=plain.scenario((CPU,)),
        steps=steps,
        memory=tuple(_memory(entry, steps) for entry in memory),
        image=of_stored(Image, read_case.figures.image) if read_case.figures.image else None,
    )


def _place(row: CaseHead, name: str) -> float | None:
    """A case's place on an axis: from its spec, which has sizes as numbers. None: no number."""
    number = _number_of(setting(row, name))
    return _number_of(row["axes"][name]) if number is None else number


def _shape_text(workload: Document, shape: Sequence[str]) -> str:
    names = [name.partition(".")[2] for name in shape]
    return ", ".join(f"{name} {_plain_number(workload[name])}" for name in names)


def _plain_number(value: Any) -> str:
    match = _CONSTANT.fullmatch(str(value))
    return match[1] if match else str(value)


def _settings(spec: Document) -> dict[str, str]:
    """What a figure says that it is for."""
    workload, chip = spec["workload"], spec["board"]["chip"]
    chip_bytes = chip["page_bytes"] * chip["pages_per_block"] * chip["blocks"]
    settings = {
        "board": str(spec["board"]["name"]),
        "chip": f"{significant(chip_bytes / 2**20)} MiB",
        "partition": f"{significant(int(spec['partition_bytes']) / 2**20)} MiB",
        "state": str(spec["state"]["name"]),
        "CPU scale": f"{float(spec[CPU]):g}",
    }
    if "create" in str(workload["steps"]).split():
        settings |= {name: _plain_number(workload[key]) for key, name in _TREE_SETTINGS.items()}
    return settings


def _step(entry: TreeStep, roles: Sequence[Role]) -> Step:
    index, word = entry["index"], entry["step"]
    known = index < len(roles) and roles[index].word == word
    return of_stored(
        Step,
        entry,
        role=roles[index] if known else Role(word, entry["phase"]),
        flash_ns=entry.get("flash_ns"),
        tasks=tuple(_task(task) for task in entry["tasks"]),
        attach_ns=_attach_ns(entry["parts"]),
    )


def _attach_ns(parts: Sequence[PartResult]) -> float | None:
    """How long attaching UBI took; None where a step has no such part."""
    durations_ns = [part["duration_ns"] for part in parts if _ATTACH.fullmatch(part["phase"])]
    return float(sum(durations_ns)) if durations_ns else None


def _task(task: TaskRecord) -> Task:
    name = task["name"]
    # kworker/u2:1: any of the kernel's workers
    return of_stored(Task, task, name=AGENT if name in _AGENTS else name.partition("/")[0])


def _memory(entry: MemoryResult, steps: Sequence[Step]) -> Memory:
    label, slabs, total = entry["label"], entry["slab_bytes"], entry["total_bytes"]
    step = next((step for step in steps if step.phase == label), None)
    parts = {
        "filesystem": slabs["filesystem"],
        "kmalloc": slabs["kmalloc"],
        "inodes": slabs["inodes"],
        "vmalloc": entry["vmalloc_bytes"],
    }
    largest = [(str(name), int(size)) for name, size in entry["caches"]]
    largest += [(f"vmalloc: {name}", int(size)) for name, size in entry["vmalloc"]]
    largest.sort(key=lambda part: (-part[1], part[0]))
    return of_stored(
        Memory,
        entry,
        role=step.role if step else None,
        parts={**parts, "rest": total - sum(parts.values())},
        unexplained_bytes=entry["other_bytes"],
        largest=tuple(largest[:3]),
    )


def _with_files(cases: Sequence[TreeCase]) -> tuple[TreeCase, ...]:
    """Cases with the number of files of their trees: its mean over all cases of that shape, so that
    seeds share a point. A shape that nobody could create has no number.
    """
    counts: dict[str, list[int]] = {}
    for case in cases:
        for step in case.whole_steps:
            if step.role.word == "create" and step.files is not None:
                counts.setdefault(case.shape, []).append(step.files)
    means = {shape: round(sum(files) / len(files)) for shape, files in counts.items()}
    return tuple(
        replace(case, numbers={FILES: float(means[case.shape]), **case.numbers})
        if case.shape in means
        else case
        for case in cases
    )


def _labels(cases: Sequence[TreeCase]) -> tuple[dict[str, str], dict[str, Mapping[str, str]]]:
    """What each case's configuration is called, and the axes of each such name.

    An axis is in the name if its file system has two values of it; the compression also where
    file systems differ in it.
    """
    varying: dict[tuple[str, str], set[str]] = {}
    compressions: set[str] = set()
    for case in cases:
        compressions |= {case.line.get(data.COMPRESSION, "")} - {""}
        for name, value in case.line.items():
            varying.setdefault((case.line[data.FILESYSTEM], name), set()).add(value)
    labels: dict[str, str] = {}
    lines: dict[str, Mapping[str, str]] = {}
    for case in cases:
        axes = {
            name: value
            for name, value in case.line.items()
            if name == data.FILESYSTEM
            or len(varying[case.line[data.FILESYSTEM], name]) > 1
            or (name == data.COMPRESSION and len(compressions) > 1)
        }
        label = data.group_label(axes, axes)
        labels[case.id] = label
        lines.setdefault(label, axes)
    return labels, lines
