"""Synthetic results for comparisons: FFSMark's phases with figures that a test chooses."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from ffslab.compare.cases import ComparedCase, Side, compared_case
from ffslab.compare.engine import CaseRow, Comparison, FigureRow, Rules, compare_runs
from ffslab.compare.verdicts import REGRESSIONS
from ffslab.model.canonical import canonical_json, sha256_hex

MS = 1_000_000
TIME = "creation.duration_ns"
PARTS = ("read", "program", "erase", "transfer")


def spec(**changes: Any) -> dict[str, Any]:
    """A spec; keys with two underscores are dotted ones: `board__chip__t_prog_ns=1`."""
    made: dict[str, Any] = {
        "board": {"name": "apf27", "chip": {"name": "chip", "t_prog_ns": 220_000}},
        "filesystem": {
            "name": "jffs2",
            "type": "jffs2",
            "options": {"compression": "none"},
            "modules": [],
        },
        "state": {"name": "free"},
        "workload": {"kind": "ffsmark", "number": 500, "drop_caches": True},
        "cpu_scale": 1.0,
        "seed": 1,
    }
    for key, value in changes.items():
        *tables, last = key.split("__")
        table = made
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return made


def phase(name: str, duration_ns: int = 2000 * MS, **figures: float) -> dict[str, Any]:
    """A phase of which half of the time is the chip's."""
    flash = duration_ns // 2
    times = {f"flash_{part}_ns": flash // 4 for part in PARTS}
    return {
        "phase": name,
        "status": "ok",
        "t_start_ns": 0,
        "duration_ns": duration_ns,
        "pages_read": 1000,
        "pages_programmed": 2000,
        "blocks_erased": 30,
        "bytes_written": 1_000_000,
        **times,
        "flash_ns": sum(times.values()),
        **figures,
    }


def result(case_id: str = "jffs2-s1", **changes: Any) -> dict[str, Any]:
    """A result that passed; `spec` among the changes replaces its spec."""
    own = changes.pop("spec", None) or spec()
    made = {
        "id": case_id,
        "axes": {"filesystem": own["filesystem"]["name"], "seed": own["seed"]},
        "outcome": "pass",
        "reason": "",
        "short": None,
        "virtual_ns": 5000 * MS,
        "flash_sha256": "f" * 64,
        "phases": [phase("creation"), phase("deletion"), phase("workload", 4000 * MS)],
        "latencies": [],
        "steps": [],
        "space": [],
        "preparation": None,
        **changes,
        "spec": own,
    }
    return {**made, "spec_hash": sha256_hex(canonical_json(made["spec"]))}


def with_figure(row: Mapping[str, Any], phase_name: str, **figures: float) -> dict[str, Any]:
    """The result with figures of one phase replaced."""
    changed = copy.deepcopy(dict(row))
    for found in changed["phases"]:
        if found["phase"] == phase_name:
            found.update(figures)
    return changed


def scaled(row: Mapping[str, Any], key: str, factor: float) -> dict[str, Any]:
    """The result with one figure, `creation.duration_ns`, multiplied."""
    name, _, metric = key.partition(".")
    value = next(found[metric] for found in row["phases"] if found["phase"] == name)
    return with_figure(row, name, **{metric: round(value * factor)})


def side(
    results: Iterable[Mapping[str, Any]], name: str = "base", build: str = "b1", **manifest: Any
) -> Side:
    """A run of these results."""
    cases = tuple(compared_case(row) for row in results)
    return Side(
        name,
        {"study": "small", "build_id": build, "ffslab": "1", "command": "ffslab run x", **manifest},
        cases,
        manifest.get("cases_total", len(cases)),
        where=f"results/{name}",
    )


def compared(
    base: Iterable[Mapping[str, Any]] | Mapping[str, Any],
    new: Iterable[Mapping[str, Any]] | Mapping[str, Any],
    build: str = "b2",
    threshold: float | None = 0.0,
    exact: bool = False,
) -> Comparison:
    """Two runs compared, by default of two builds."""
    before = [base] if isinstance(base, Mapping) else base
    after = [new] if isinstance(new, Mapping) else new
    return compare_runs(side(before), side(after, "new", build), Rules(threshold, exact))


def is_worse(comparison: Comparison) -> bool:
    """Whether its verdict has something worse in it."""
    return comparison.verdict in REGRESSIONS


def only(comparison: Comparison) -> CaseRow:
    """The one case of a comparison."""
    (case,) = comparison.cases
    return case


def row_of(case: CaseRow, key: str) -> FigureRow:
    return next(row for row in case.rows if row.figure.key == key)


def case_of(row: Mapping[str, Any]) -> ComparedCase:
    return compared_case(row)


def seeds(*factors: float) -> list[dict[str, Any]]:
    """Cases that differ in the seed, and in the time of their creation by these factors."""
    return [
        scaled(result(f"jffs2-s{n}", spec=spec(seed=n)), TIME, factor)
        for n, factor in enumerate(factors, start=1)
    ]


def banded(factor: float, *versions: float) -> Comparison:
    """A creation `factor` times as long; perturbed versions of the base by their factors."""
    row = result()
    base = [row]
    for number, moved in enumerate(versions, start=1):
        own = spec(perturbation=number)
        base.append(scaled(result(f"jffs2-perturbation{number}-s1", spec=own), TIME, moved))
    return compared(base, scaled(row, TIME, factor))
