"""A workload's settings as a checked value: what its keys mean together, and with the state.

A wrong combination is a SpecError here, before anything runs. What only the file system can tell
(whether a fill rate can be reached, whether a file fits) is the agent's to report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.files import suggestion, validated
from ffslab.model.specs import (
    Ffsmark,
    InitialState,
    Micro,
    MountSetup,
    Scalar,
    Tree,
    Workload,
)
from ffslab.model.trees import check_tree, parse_distribution
from ffslab.model.units import format_size
from ffslab.model.workload_files import (
    WORKLOAD_KINDS,
    WORKLOAD_MODELS,
    FfsmarkFile,
    MicroFile,
    TreeFile,
    workload_kind,
)


def resolve_workload(
    table: Mapping[str, Any],
    state: InitialState,
    setup: MountSetup,
    partition_bytes: int,
    where: str,
) -> Workload:
    """The workload of a case; SpecError for keys that contradict each other."""
    kind = workload_kind(table)
    _check_keys_of_kind(table, kind, where)
    if kind == "tree":
        tree = Tree(**dict(validated(TreeFile, table, f"{where}: workload")))
        check_tree(tree, state, setup, partition_bytes, where)
        return tree
    _check_writable(kind, state, setup, where)
    if kind == "ffsmark":
        _check_ffsmark_state(state, where)
        return Ffsmark(**dict(validated(FfsmarkFile, table, f"{where}: workload")))
    if kind != "micro":
        raise SpecError(
            f"{where}: unknown workload {kind!r}{suggestion(kind, WORKLOAD_KINDS)}",
            cause=f"the workloads are: {', '.join(WORKLOAD_KINDS)}",
            remedy="change workload.kind",
        )
    values = dict(validated(MicroFile, table, f"{where}: workload"))
    if values["existing"] is None:
        reads = [p for p in (values["pattern"], values["mix_pattern"]) if p.endswith("read")]
        values["existing"] = bool(reads)
    workload = Micro(**values)
    _check_micro(workload, partition_bytes, where)
    return workload


def without_idle_keys(workload: Micro) -> Micro:
    """The workload with those keys at their defaults that mean nothing beside the others."""
    default = Micro()
    patterns = [pattern for pattern in (workload.pattern, workload.mix_pattern) if pattern]
    idle: dict[str, Any] = {}
    if not any(pattern.startswith("random") for pattern in patterns):
        idle["random"] = default.random
    if not any(pattern.endswith("read") for pattern in patterns):
        idle["cache"] = default.cache
    if not any(pattern.endswith("write") for pattern in patterns):
        idle["fsync_every"] = default.fsync_every
    if not workload.mix_pattern:
        idle["mix_ratio"] = default.mix_ratio
    if not workload.pause_us:
        idle["burst"] = default.burst
    return replace(workload, **idle)


def axis_value(workload: Workload, name: str) -> Scalar:
    """A workload's value as a point of an axis: a constant distribution is its number."""
    value: Scalar = getattr(workload, name)
    if isinstance(workload, Tree) and name in ("files", "directories", "size", "depth"):
        distribution = parse_distribution(value)
        if distribution.kind == "constant":
            mean = distribution.mean
            return int(mean) if mean.is_integer() else mean
    return value


def _check_keys_of_kind(table: Mapping[str, Any], kind: str, where: str) -> None:
    """SpecError for a key of another workload: it is not misspelt, but means nothing here."""
    own = WORKLOAD_MODELS[kind].model_fields if kind in WORKLOAD_MODELS else table
    for key in (key for key in table if key not in own):
        others = [name for name, model in WORKLOAD_MODELS.items() if key in model.model_fields]
        if others:
            raise SpecError(
                f"{where}: workload.{key} is a setting of workload {' and '.join(others)}, "
                f"not of {kind}",
                cause=f"the case's workload is {kind}, which has no {key}",
                remedy=f'leave it out, or workload.kind = "{others[0]}" before it',
            )


def _check_writable(kind: str, state: InitialState, setup: MountSetup, where: str) -> None:
    read_only = setup.image is not None and setup.image.read_only
    if read_only or state.kind == "image":
        what = f"{setup.name} is read-only" if read_only else f"state {state.name!r} is an image"
        raise SpecError(
            f"{where}: {what}: it is for workload tree, not for {kind}",
            cause="ffsmark and micro write, and prepare the flash themselves",
            remedy='workload.kind = "tree"',
        )


def _check_ffsmark_state(state: InitialState, where: str) -> None:
    if state.kind not in ("free", "aged") or state.settle_ms or not state.remount:
        raise SpecError(
            f"{where}: FFSMark prepares its own state, free or aged; it has no {state.name!r}",
            cause="saturated and filled states, settle_ms and remount belong to workload micro",
            remedy='state = "free" or "aged", or workload.kind = "micro"',
        )


def _check_micro(workload: Micro, partition_bytes: int, where: str) -> None:
    file = workload.test_file_bytes
    target = workload.target_bytes or file
    problems = [
        *_size_problems(workload, file, target, partition_bytes),
        *_order_problems(workload),
    ]
    if problems:
        message, remedy = problems[0]
        raise SpecError(
            f"{where}: {message}",
            cause="settings of the workload that contradict each other",
            remedy=remedy,
        )


def _size_problems(
    workload: Micro, file: int, target: int, partition_bytes: int
) -> list[tuple[str, str]]:
    request, shift = workload.request_bytes, workload.shift_bytes
    problems: list[tuple[str, str]] = []
    if request == 0 or workload.volume_bytes == 0:
        problems.append(("request_bytes and volume_bytes must be above 0", "change them"))
    if request > file:
        problems.append(
            (
                f"a request of {format_size(request)} is larger than the file of "
                f"{format_size(file)}",
                f"at most request_bytes = {file}",
            )
        )
    if request > workload.volume_bytes:
        problems.append(
            (
                f"a request of {format_size(request)} is larger than the volume of "
                f"{format_size(workload.volume_bytes)}",
                f"at least volume_bytes = {request}",
            )
        )
    if target > file:
        problems.append(
            (
                f"target_bytes {format_size(target)} is larger than the file of "
                f"{format_size(file)}",
                f"at most target_bytes = {file}",
            )
        )
    parts = workload.partitions * workload.parallel * (2 if workload.mix_pattern else 1)
    if 0 < request <= file and target <= file and request * parts + shift > target:
        problems.append(
            (
                f"a target of {format_size(target)} has no room for {parts} part(s) of one request "
                f"of {format_size(request)} with a shift of {format_size(shift)}",
                "a larger target or file, smaller requests, or fewer parts",
            )
        )
    if not workload.limit and file > partition_bytes:
        problems.append(
            (
                f"a file of {format_size(file)} is larger than the partition of "
                f"{format_size(partition_bytes)}",
                "limit = true cuts it to what is usable; or a larger partition_bytes",
            )
        )
    return problems


def _order_problems(workload: Micro) -> list[tuple[str, str]]:
    patterns = [workload.pattern] + ([workload.mix_pattern] if workload.mix_pattern else [])
    problems: list[tuple[str, str]] = []
    if not workload.existing and any(pattern.endswith("read") for pattern in patterns):
        problems.append(("reads need a file that is there before", "existing = true"))
    ordered = workload.partitions != 1 or workload.increment != 1
    if ordered and not workload.pattern.startswith("sequential"):
        problems.append(
            (
                f"partitions and increment are of sequential patterns, not of {workload.pattern}",
                "leave them out for random patterns: [[exclude]]",
            )
        )
    if workload.partitions != 1 and workload.increment != 1:
        problems.append(("partitions and increment cannot be combined", "leave one at 1"))
    if workload.mix_pattern == workload.pattern:
        problems.append(
            (f"mix_pattern is the pattern itself, {workload.pattern}", "name another, or none")
        )
    if workload.mix_pattern and workload.parallel > 1:
        problems.append(("mix_pattern and parallel cannot be combined", "parallel = 1"))
    return problems
