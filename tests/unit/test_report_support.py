"""A synthetic run directory: real studies, specs and result files, made-up measurements with
effects that a test chooses.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from altair.vegalite.v6.schema.core import load_schema
from host_support import begun_run, prepared_study
from jsonschema import Draft7Validator

from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.protocol.records import parse_records
from ffslab.report import build, elements, svg
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.rundir import RESULTS, WALL

BLOCKS = 200  # enough for an uneven wear; each flash record lists them three times
_CHART = re.compile(
    r'<div class="vega" id="([^"]+)".*?<script type="application/json">(.*?)</script>', re.DOTALL
)
PHASES = ("creation", "transactions", "deletion")
Overrides = Sequence[tuple[str, tuple[Any, ...]]]


@dataclass(frozen=True)
class Effects:
    """What the synthetic file systems do. Factors multiply; every value may be set by a test."""

    aged_time: Mapping[str, float] = field(
        default_factory=lambda: {"jffs2": 1.9, "ubifs": 1.35, "yaffs2": 1.6}
    )
    sync_time: float = 2.6
    compressed_time: float = 1.7
    compressed_pages: float = 0.62
    base_s: Mapping[str, float] = field(
        default_factory=lambda: {"jffs2": 38.0, "ubifs": 29.0, "yaffs2": 33.0}
    )
    seed_step: float = 0.02
    pages: float = 60_000.0
    # What doubling the driver's work does to the time; halving it does the inverse.
    driver_time: Mapping[str, float] = field(default_factory=dict)

    def __hash__(self) -> int:
        """Results of equal effects are made once; a mapping has no hash of its own."""
        return hash(repr(self))


@lru_cache(maxsize=1)
def vega_lite() -> Draft7Validator:
    """The schema of the language that charts are written in."""
    return Draft7Validator(load_schema())


def page_of_words(folder: Path, *, validate: bool = False) -> str:
    """The report of a run without the library that draws its charts, which is most of its bytes. On
    `validate` the schema is asked about each chart.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elements, "browser_bundle", str)
        page = build(folder).read_text(encoding="utf-8")
    for chart in charts_of(page).values() if validate else ():
        vega_lite().validate({**chart["spec"], "config": svg.theme()})
    return page


def charts_of(page: str) -> dict[str, dict[str, Any]]:
    """The charts of a page, each its `spec` and the columns of its `data`, by their anchors."""
    return {name: json.loads(told) for name, told in _CHART.findall(page)}


def section_of(page: str, key: str) -> str:
    """A section of a page by its anchor."""
    return page.split(f'<section id="{key}"')[1].split("</section>")[0]


def write_run(
    folder: Path,
    overrides: Overrides = (),
    effects: Effects | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    study: str = "ffsmark",
    case_ids: Sequence[str] = (),
) -> Path:
    """Write a run of a study; `outcomes` has the cases that did not pass."""
    prepared = prepared_study(study, overrides, case_ids)
    outcomes = outcomes or {}
    folder.mkdir(parents=True)
    run = begun_run(folder, prepared)
    results, walls = [], []
    for case in prepared.cases:
        outcome = outcomes.get(case.id, Outcome("pass"))
        line, virtual_ns = _result(case, effects or Effects(), outcome)
        results.append(line)
        wall = {"id": case.id, "wall_ns": 2_400_000_000, "virtual_ns": virtual_ns}
        walls.append(canonical_json({**wall, "virtual_per_wall": None}) + "\n")
    (run.path / RESULTS).write_text("".join(results))
    (run.path / WALL).write_text("".join(walls))
    return folder


@lru_cache(maxsize=512)
def _result(case: Case, effects: Effects, outcome: Outcome) -> tuple[str, int | None]:
    """A case's line of the results, and how long it took."""
    lines = [json.dumps(record) for record in _records(case, effects)]
    text = "\n".join(lines if outcome.kind == "pass" else lines[:2]) + "\n"
    result = case_result(case, outcome, parse_records(text.encode()), None)
    return canonical_json(result) + "\n", result["virtual_ns"]


def case_ids(overrides: Overrides = (), study: str = "ffsmark") -> list[str]:
    """The ids that `write_run` gives."""
    return [case.id for case in prepared_study(study, overrides, ()).cases]


def _option(case: Case, name: str) -> str:
    return dict(case.filesystem.options).get(name, "")


def _records(case: Case, effects: Effects) -> list[dict[str, Any]]:
    rng = random.Random(case.id)
    name = case.filesystem.name
    aged_time = effects.aged_time.get(name, 1.5)
    jitter = 1 + effects.seed_step * (case.seed - 2)
    factor = jitter * (0.6 + 0.4 * case.cpu_scale)
    factor *= effects.driver_time.get(name, 1.0) ** math.log2(case.board.driver_read_ns / 165_000)
    pages = effects.pages * jitter
    if case.state.name == "aged":
        factor *= aged_time * (1 + effects.seed_step * rng.random())
        pages *= 1 + (aged_time - 1) * 0.9
    if _option(case, "write_mode") == "sync":
        factor *= effects.sync_time
        pages *= 2.1
    if _option(case, "compression") != "none":
        factor *= effects.compressed_time
        pages *= effects.compressed_pages
    base = effects.base_s.get(name, 30.0) * factor
    erases = _erases(case, int(pages / 64), rng)
    records: list[dict[str, Any]] = [
        {"type": "start", "agent": "0.1", "kernel": "6.1.0", "clock": "page", "seed": case.seed},
        {
            "type": "step",
            "index": 0,
            "verb": "mount",
            "label": "",
            "t_start_ns": 1,
            "t_end_ns": 9,
            "status": "ok",
        },
    ]
    shares = {"creation": 0.27, "transactions": 0.66, "deletion": 0.07}
    now, done = 2_000_000_000, 0.0
    for phase in PHASES:
        end = now + round(base * shares[phase] * 1e9)
        first, done = done, done + shares[phase]
        start_flash = _flash(f"{phase}:start", now, pages, first, erases)
        end_flash = _flash(f"{phase}:end", end, pages, done, erases)
        records += [start_flash, _phase(phase, now, end, start_flash, end_flash)]
        records += [_latency(phase, op, base, rng) for op in _OPS[phase]]
        records.append(end_flash)
        now = end
    records.append(
        {"type": "end", "status": "ok", "steps_run": 9, "steps_total": 9, "t_ns": now + 400_000_000}
    )
    return [{"v": 1, **record} for record in records]


_OPS = {
    "creation": ("create", "request-write"),
    "transactions": ("create", "read", "append", "delete", "request-read", "request-write"),
    "deletion": ("delete",),
}


def _phase(
    phase: str, start: int, end: int, before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    written = {"creation": 26_000_000, "transactions": 66_000_000, "deletion": 0}[phase]
    return {
        "type": "phase",
        "workload": "ffsmark",
        "phase": phase,
        "t_start_ns": start,
        "t_end_ns": end,
        "status": "ok",
        "files_created": 0 if phase == "deletion" else 5000,
        "files_deleted": 5000 if phase == "deletion" else 0,
        "files_read": 0,
        "files_appended": 0,
        "bytes_read": 48_000_000 if phase == "transactions" else 0,
        "bytes_written": written,
        "flash_start": before["counters"],
        "flash_end": after["counters"],
    }


def _flash(
    label: str, t_ns: int, pages: float, share: float, erases: Sequence[int]
) -> dict[str, Any]:
    counts = [1 + round(count * share) for count in erases]
    programmed, read = round(pages * share), round(pages * 0.8 * share)
    counters = {
        "pages_read": read,
        "pages_programmed": programmed,
        "blocks_erased": sum(counts),
        "bytes_read": read * 2112,
        "bytes_programmed": programmed * 2112,
        "read_ns": read * 88_560,
        "program_ns": programmed * 283_560,
        "erase_ns": sum(counts) * 500_200,
        "chip_read_ns": read * 25_000,
        "chip_program_ns": programmed * 220_000,
        "chip_erase_ns": sum(counts) * 500_000,
        "chip_transfer_ns": (read + programmed) * 63_360,
    }
    return {
        "type": "flash",
        "label": label,
        "t_ns": t_ns,
        "counters": counters,
        "erases": counts,
        "programs": [0] * BLOCKS,
        "reads": [0] * BLOCKS,
    }


def _erases(case: Case, total: int, rng: random.Random) -> list[int]:
    """JFFS2 wears unevenly, UBI evenly."""
    weights = [
        rng.random() ** (4 if case.filesystem.name == "jffs2" else 0.7) for _ in range(BLOCKS)
    ]
    if case.state.name == "aged":
        weights = [w if i % 2 else w * 0.1 for i, w in enumerate(weights)]
    scale = total / sum(weights)
    return [round(weight * scale) for weight in weights]


def _latency(phase: str, op: str, base_s: float, rng: random.Random) -> dict[str, Any]:
    median = {
        "create": 2.0e6,
        "read": 6e5,
        "append": 1.2e6,
        "delete": 2e5,
        "request-read": 1.5e5,
        "request-write": 3e5,
    }[op]
    values = [
        round(
            median
            * base_s
            / 30
            * math.exp(rng.gauss(0, 0.4))
            * (rng.paretovariate(1.4) ** 2 if rng.random() < 0.03 else 1)
        )
        for _ in range(100)
    ]
    buckets: dict[int, int] = {}
    for value in values:
        buckets[bucket_index(value)] = buckets.get(bucket_index(value), 0) + 1
    return {
        "type": "latency",
        "workload": "ffsmark",
        "phase": phase,
        "op": op,
        "count": len(values),
        "sum_ns": sum(values),
        "min_ns": min(values),
        "max_ns": max(values),
        "buckets": [list(item) for item in sorted(buckets.items())],
    }


def bucket_index(value: int) -> int:
    """The agent's rule (guest/agent/core/histogram.h)."""
    if value < 128:
        return value
    exponent = value.bit_length() - 1
    return (exponent - 6) * 128 + (value >> (exponent - 7)) - 128
