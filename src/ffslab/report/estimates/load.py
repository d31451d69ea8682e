"""The cases of a run with what a sensitivity analysis needs of them, for any workload.

Reads the results once more, and only if the run has cases with a changed estimate.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.specs import PERTURBATION
from ffslab.program import program
from ffslab.report import data
from ffslab.report.configurations import CPU_SCALE, option_axes
from ffslab.report.estimates.robustness import Sample
from ffslab.report.facts import time_model
from ffslab.report.load import (
    Document,
    Opened,
    all_rows,
    case_axes,
    explained,
    fixed_options,
    study_word,
)
from ffslab.results.reproduce import set_argument
from ffslab.results.result import CaseHead, CaseResult, head_of
from ffslab.results.stated import changed_ids, perturbed_ids
from ffslab.workloads.modules import result_module
from ffslab.workloads.registry import kind_of


@dataclass(frozen=True)
class Loaded:
    """What is known of a run's estimates.

    `samples` is empty if none was changed. `failed`: id, outcome and reason of cases with a change
    that did not pass; `missing`: how many have not run yet.
    """

    command: str
    estimates: tuple[data.Fact, ...]
    samples: tuple[Sample, ...] = ()
    cases: tuple[tuple[str, str, Mapping[str, float]], ...] = ()
    failed: tuple[tuple[str, str, str], ...] = ()
    missing: int = 0


def load_estimates(run: Opened, spec: Document) -> Loaded:
    """`spec`: that of any of its cases. Raises as `ffslab.report.load.all_rows` does."""
    manifest = run.manifest
    changes = changed_ids(manifest)
    with explained(run):
        if not changes:
            return Loaded(_command(manifest), _estimates([spec], manifest))
        rows: list[CaseHead] = []
        times: list[Mapping[str, float]] = []
        perturbed = perturbed_ids(manifest)
        for row in all_rows(run):
            if row["id"] in perturbed:
                continue
            times.append(_times(row) if row["outcome"] == "pass" else {})
            rows.append(head_of(row))
        return _loaded(manifest, changes, rows, times)


def _loaded(
    manifest: Document,
    changes: Mapping[str, str],
    rows: Sequence[CaseHead],
    times: Sequence[Mapping[str, float]],
) -> Loaded:
    fixed = fixed_options([row["spec"] for row in rows])
    axes = [case_axes(row, fixed) for row in rows]
    for own in axes:
        own.pop(ESTIMATE, None)
    # An option that each file system has one value of tells nothing.
    varying = [
        name
        for name in dict.fromkeys(name for own in axes for name in own)
        if name not in fixed and len({own.get(name, "") for own in axes}) > 1
    ]
    samples = tuple(
        _sample(own, varying, changes.get(row["id"], AS_STATED), measured)
        for row, own, measured in zip(rows, axes, times, strict=True)
        if row["spec"]["cpu_scale"]  # with a free processor there is nothing to be estimated
    )
    by_id = {
        row["id"]: _sample(own, varying, AS_STATED, {}) for row, own in zip(rows, axes, strict=True)
    }
    missing = {name: change for name, change in changes.items() if name not in by_id}
    # Without a time, not as stated: what they would have said is not known.
    samples += tuple(
        replace(by_id[stated], change=change)
        for name, change in missing.items()
        if (stated := _as_stated(name, change)) in by_id
    )
    return Loaded(
        command=_command(manifest),
        estimates=_estimates([row["spec"] for row in rows if row["id"] not in changes], manifest),
        samples=samples,
        cases=tuple(
            (row["id"], row["outcome"], measured)
            for row, measured in zip(rows, times, strict=True)
            if row["id"] in changes
        ),
        failed=tuple(
            (row["id"], row["outcome"], row["reason"])
            for row in rows
            if row["id"] in changes and row["outcome"] != "pass"
        ),
        missing=len(missing),
    )


def _sample(
    axes: Mapping[str, str], varying: Sequence[str], change: str, times: Mapping[str, float]
) -> Sample:
    """Its configuration is the file system with its options, its place all else that varies."""
    options = [name for name in varying if name in option_axes(axes)]
    axis_names = [
        name
        for name in varying
        if name not in (*options, data.FILESYSTEM, data.STATE, data.SEED, CPU_SCALE)
    ]
    if "cpu_scale" in varying:
        axis_names.append(CPU_SCALE)
    return Sample(
        configuration=data.group_label(axes, (data.FILESYSTEM, *options)),
        place=tuple((name, data.group_label(axes, (name,))) for name in axis_names),
        state=axes.get(data.STATE, ""),
        seed=axes[data.SEED],
        change=change,
        times_ns=times,
    )


def _as_stated(case_id: str, change: str) -> str:
    """The id of the case without the change."""
    words = case_id.split("-")
    return "-".join(word for word in words if word != change.replace("-", ""))


def _times(row: CaseResult) -> dict[str, float]:
    """The times that a workload's verdicts are about."""
    return result_module(kind_of(row["spec"])).compared_times_ns(row)


def _estimates(specs: Sequence[Document], manifest: Document) -> tuple[data.Fact, ...]:
    return tuple(fact for fact in time_model(specs, manifest) if fact.estimate)


def _command(manifest: Document) -> str:
    """The command that checks the verdicts of this run."""
    words: list[str] = ["run", study_word(manifest)]
    for directory in manifest.get("catalogs") or ():
        words += ["--catalog", str(directory)]
    overrides: Sequence[Any] = manifest.get("overrides") or ()
    for key, values in overrides:
        if key not in (ESTIMATE, PERTURBATION):
            words += ["--set", set_argument(str(key), list(values))]
    return f"{program()} {shlex.join([*words, '--sensitivity'])}"
