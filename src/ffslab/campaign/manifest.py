"""The manifest of a run: everything that is known about it but its results."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ffslab import __version__
from ffslab.campaign.prepared import Prepared
from ffslab.model.canonical import sha256_hex
from ffslab.model.case import Case
from ffslab.model.estimates import AS_STATED, ESTIMATE
from ffslab.model.known import Known
from ffslab.model.specs import FIRST_REPEAT, PERTURBATION, REPEAT, Board
from ffslab.results.rundir import MANIFEST_VERSION
from ffslab.targets.target import Site


def new_manifest(
    run_name: str,
    prepared: Prepared,
    site: Site,
    *,
    command: str,
    started: datetime,
    jobs: int,
    known: Sequence[Known] = (),
    label: str = "",
) -> dict[str, Any]:
    """The manifest at the start of a run; `finished` and `wall_s` come at its end.

    `cpu_time` in it: where the time of code is from, if not from the boards' prices. `real_clock`:
    equal specs do not give equal results there. `absent`: what results lack, and why.
    """
    source, study, cases, kind = prepared.source, prepared.study, prepared.cases, site.kind
    boards = {case.board.name: case.board for case in cases}
    return {
        "v": MANIFEST_VERSION,
        "run": run_name,
        "study": study.name,
        "title": study.title,
        **label_key(label),
        "description": study.description,
        "command": command,
        "started": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "finished": None,
        "wall_s": None,
        "complete": False,
        "cases_total": len(cases),
        "cases": [_case(case) for case in cases],
        "study_file": str(source.path),
        "study_sha256": sha256_hex(source.text),
        "study_text": source.text,
        "overrides": [[key, list(values)] for key, values in prepared.overrides],
        "catalogs": [str(directory) for directory in prepared.catalogs],
        "module_sources": _module_sources(cases),
        "ffslab": __version__,
        "build_id": site.build_id,
        "kernels": _kernels(cases, site.variant_ids),
        "linux": dict(site.linux_of),
        "trace": any(case.trace for case in cases),
        "target": prepared.target,
        **({"cpu_time": kind.cpu_time} if kind.cpu_time else {}),
        **({"place": str(prepared.place)} if prepared.place else {}),
        **({} if kind.capabilities.virtual_time else {"real_clock": True}),
        **({"absent": [list(one) for one in kind.absent]} if kind.absent else {}),
        **known_key(known),
        "jobs": jobs,
        "host": {
            "python": sys.version.split()[0],
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cpus": os.cpu_count() or 1,
        },
        "boards": {name: _board(board) for name, board in boards.items()},
        "filesystems": {name: {"mainline": since} for name, since in prepared.mainline.items()},
        "provenance": _all_provenance(cases),
    }


def label_key(label: str) -> dict[str, Any]:
    """The key `label`: what the user calls this run among others; absent without one."""
    return {"label": label} if label else {}


def known_key(known: Sequence[Known]) -> dict[str, Any]:
    """The key `known`: what was known when the run was judged; absent if nothing was."""
    return {"known": [entry.document for entry in known]} if known else {}


def build_ids(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The build ids of the kernels other than the default one; a board has none of them."""
    kernels: Mapping[str, Any] = manifest.get("kernels", {})
    built = ((name, str(kernel["build_id"])) for name, kernel in kernels.items())
    return {name: build_id for name, build_id in built if build_id}


def _kernels(cases: Sequence[Case], variants: Mapping[str, str]) -> dict[str, Any]:
    """Per variant other than the default: its build, and the switches that cases have on."""
    used: dict[str, dict[tuple[str, ...], None]] = {name: {} for name in variants}
    for case in cases:
        if not case.kernel.is_default:
            on = tuple(name for name, value in case.kernel.switches if value)
            used.setdefault(case.kernel.variant, {})[on] = None
    return {
        name: {"build_id": variants.get(name, ""), "switches_on": [list(on) for on in choices]}
        for name, choices in used.items()
    }


def _case(case: Case) -> dict[str, Any]:
    """A case's id and hash; which estimate it changes, how it is perturbed, which repeat it is."""
    own: dict[str, Any] = {"id": case.id, "spec_hash": case.spec_hash}
    changed = str(dict(case.axes).get(ESTIMATE, AS_STATED))
    if changed != AS_STATED:
        own[ESTIMATE] = changed
    if case.perturbation:
        own[PERTURBATION] = case.perturbation
    if case.repeat != FIRST_REPEAT:
        own[REPEAT] = case.repeat
    return own


def _module_sources(cases: Sequence[Case]) -> dict[str, Any]:
    """Per file system with out-of-tree modules: where its sources were, and what they were."""
    setups = {case.filesystem.name: case.filesystem for case in cases}
    return {
        name: {"directory": setup.module_source.directory, **setup.module_source.spec}
        for name, setup in setups.items()
        if setup.module_source is not None
    }


def _board(board: Board) -> dict[str, Any]:
    return {
        "title": board.title,
        "chip": board.chip.title,
        "calibrated": board.calibrated,
        "derivation": board.derivation.strip(),
    }


def _all_provenance(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Where each value of each figure is from; a figure that the study changes has several."""
    entries: dict[tuple[Any, ...], dict[str, Any]] = {}
    seen: set[tuple[Any, ...]] = set()
    for board in (case.board for case in cases):
        told = (board, board.provenance, board.chip.provenance)
        if told not in seen:
            seen.add(told)
            entries |= {tuple(entry.values()): entry for entry in _provenance(board)}
    return list(entries.values())


def _provenance(board: Board) -> Iterator[dict[str, Any]]:
    for item, group in ((board, "board"), (board.chip, "chip")):
        for entry in item.provenance:
            said = asdict(entry) | {"figure": f"{group}.{entry.figure}"}
            yield {"board": board.name, **said, "value": getattr(item, entry.figure)}
