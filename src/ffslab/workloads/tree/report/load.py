"""A run of workload `tree` as frozen values: where the format of its results is known.

Format: docs/result-format.md. What a step list's words are called is in `words`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.axes import FILES
from ffslab.report.load import (
    Row,
    distinct_specs,
    explained,
    fixed_options,
    is_number,
    open_run,
    outline,
    part_titles,
    plain_case,
    read_rows,
    setting,
    study_word,
)
from ffslab.report.quantity import significant
from ffslab.workloads.tree.metrics import KIND
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

_KEPT = ("id", "axes", "spec", "outcome", "reason", "excerpt", "short", "tree", "image")
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


def load_tree(run_dir: Path) -> TreeRun:
    """Read `run_dir`. Raises as `ffslab.report.load.load_run` does."""
    directory = open_run(run_dir)
    manifest = directory.manifest()
    with explained(run_dir, manifest):
        rows = [{key: row.get(key) for key in _KEPT} for row in read_rows(directory, KIND)]
        return _tree_run(run_dir, manifest, rows)


def _tree_run(run_dir: Path, manifest: Row, rows: Sequence[Row]) -> TreeRun:
    study = study_word(manifest)
    fixed = fixed_options([row["spec"] for row in rows])
    plain = tuple(plain_case(row, manifest, study, fixed) for row in rows)
    numeric, shape = _numeric_axes(rows)
    cases = tuple(_case(row, case, numeric, shape) for row, case in zip(rows, plain, strict=True))
    labels, lines = _labels(cases)
    return TreeRun(
        run=outline(run_dir, manifest, distinct_specs(row["spec"] for row in rows), plain),
        cases=_with_files(cases) if shape else cases,
        labels=labels,
        lines=lines,
        parts=part_titles(manifest, [case.part for case in cases]),
    )


def _numeric_axes(rows: Sequence[Row]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes whose values are numbers everywhere, and those that make trees larger or smaller.

    The processor's speed is an axis when it has two values besides 0.
    """
    values: dict[str, list[Any]] = {}
    numbers: dict[str, bool] = {}
    for row in rows:
        for name, value in row["axes"].items():
            values.setdefault(name, []).append(value)
            numbers[name] = numbers.get(name, True) and _place(row, name) is not None
    shape = tuple(name for name in _SHAPE if len(set(values.get(name, ()))) > 1)
    names = []
    for name, found in values.items():
        if name in (*_SHAPE, _STEPS, "part", data.SEED) or not numbers[name]:
            continue
        if name != CPU or len({float(value) for value in found if value}) > 1:
            names.append(name)
    return tuple(names), shape


def _number_of(value: Any) -> float | None:
    """The number that a value is, or a constant distribution of it."""
    if is_number(value):
        return float(value)
    match = _CONSTANT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) if match else None


def _case(row: Row, plain: data.Case, numeric: Sequence[str], shape: Sequence[str]) -> TreeCase:
    spec = row["spec"]
    workload = spec["workload"]
    own = (*numeric, *_SHAPE, _STEPS, CPU, "part", data.SEED)
    words = tuple(str(workload["steps"]).split())
    roles = roles_of(words)
    tree = row.get("tree") or {}
    steps = tuple(_step(entry, roles) for entry in tree.get("steps") or ())
    return TreeCase(
        id=plain.id,
        seed=plain.seed,
        outcome=plain.outcome,
        passed=plain.passed,
        reason=plain.reason,
        part=str(row["axes"].get("part", "")),
        line={name: value for name, value in plain.axes.items() if name not in own},
        numbers={
            name: place
            for name in numeric
            if name in row["axes"] and (place := _place(row, name)) is not None
        },
        shape=_shape_text(workload, shape),
        words=words,
        cpu_scale=float(spec[CPU]),
        settings=_settings(spec),
        twin=plain.scenario((CPU,)),
        steps=steps,
        memory=tuple(_memory(entry, steps) for entry in tree.get("memory") or ()),
        image=_image(row["image"]) if row.get("image") else None,
    )


def _place(row: Row, name: str) -> float | None:
    """A case's place on an axis: from its spec, which has sizes as numbers. None: no number."""
    number = _number_of(setting(row, name))
    return _number_of(row["axes"][name]) if number is None else number


def _shape_text(workload: Row, shape: Sequence[str]) -> str:
    names = [name.partition(".")[2] for name in shape]
    return ", ".join(f"{name} {_plain_number(workload[name])}" for name in names)


def _plain_number(value: Any) -> str:
    match = _CONSTANT.fullmatch(str(value))
    return match[1] if match else str(value)


def _settings(spec: Row) -> dict[str, str]:
    """What a figure says that it is for."""
    workload, chip = spec["workload"], spec["board"]["chip"]
    chip_bytes = chip["page_bytes"] * chip["pages_per_block"] * chip["blocks"]
    found = {
        "board": str(spec["board"]["name"]),
        "chip": f"{significant(chip_bytes / 2**20)} MiB",
        "partition": f"{significant(int(spec['partition_bytes']) / 2**20)} MiB",
        "state": str(spec["state"]["name"]),
        "CPU scale": f"{float(spec[CPU]):g}",
    }
    if "create" in str(workload["steps"]).split():
        found |= {name: _plain_number(workload[key]) for key, name in _TREE_SETTINGS.items()}
    return found


def _step(entry: Row, roles: Sequence[Role]) -> Step:
    index = int(entry["index"])
    word = str(entry["step"])
    known = index < len(roles) and roles[index].word == word
    return Step(
        role=roles[index] if known else Role(word, str(entry["phase"])),
        index=index,
        phase=str(entry["phase"]),
        prepared=bool(entry["prepared"]),
        status=str(entry["status"]),
        errno_name=str(entry.get("errno_name") or ""),
        duration_ns=_optional(entry["duration_ns"]),
        flash_ns=_optional(entry.get("flash_ns")),
        tasks=tuple(_task(task) for task in entry.get("tasks") or ()),
        attach_ns=_attach_ns(entry.get("parts") or ()),
        **{
            key: None if entry.get(key) is None else int(entry[key])
            for key in (
                *("pages_read", "pages_programmed", "blocks_erased"),
                *("directories", "files", "found"),
            )
        },
    )


def _attach_ns(parts: Sequence[Row]) -> float | None:
    """How long attaching UBI took; None where a step has no such part, or it did not end."""
    found = [part["duration_ns"] for part in parts if _ATTACH.fullmatch(str(part["phase"]))]
    return None if not found or None in found else float(sum(found))


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)


def _task(task: Row) -> Task:
    name = str(task["name"])
    return Task(
        # kworker/u2:1: any of the kernel's workers
        name=AGENT if name in _AGENTS else name.partition("/")[0],
        pages_read=int(task.get("pages_read") or 0),
        pages_programmed=int(task.get("pages_programmed") or 0),
        blocks_erased=int(task.get("blocks_erased") or 0),
        oob_pages=int(task.get("oob_pages") or 0),
        busy_ns=int(task.get("busy_ns") or 0),
    )


def _memory(entry: Row, steps: Sequence[Step]) -> Memory:
    label, prepared = str(entry["label"]), bool(entry["prepared"])
    step = next((step for step in steps if step.phase == label), None)
    slabs = {key: int(value) for key, value in entry["slab_bytes"].items()}
    total = int(entry["total_bytes"])
    parts = {key: slabs.get(key, 0) for key in ("filesystem", "kmalloc", "inodes")}
    parts["vmalloc"] = int(entry["vmalloc_bytes"])
    largest = [(str(name), int(size)) for name, size in entry.get("caches") or ()]
    largest += [(f"vmalloc: {name}", int(size)) for name, size in entry.get("vmalloc") or ()]
    largest.sort(key=lambda found: (-found[1], found[0]))
    return Memory(
        role=step.role if step else None,
        label=label,
        prepared=prepared,
        parts={**parts, "rest": total - sum(parts.values())},
        total_bytes=total,
        unexplained_bytes=int(entry.get("other_bytes") or 0),
        largest=tuple(largest[:3]),
    )


def _image(entry: Row) -> Image:
    return Image(
        tree=str(entry["tree"]),
        tool=str(entry["tool"]),
        command=str(entry["command"]),
        image_bytes=int(entry["image_bytes"]),
        flash_bytes=int(entry["flash_bytes"]),
        tree_bytes=int(entry["tree_bytes"]),
        write_ns=_optional(entry.get("write_ns")),
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
    means = {shape: round(sum(found) / len(found)) for shape, found in counts.items()}
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
