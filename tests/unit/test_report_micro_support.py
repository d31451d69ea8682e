"""A synthetic run of workload `micro`: real studies and specs, made-up results with effects that a
test chooses.
"""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from host_support import begun_run, prepared_study
from result_support import stub

from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.protocol.records import RecordStream, Space
from ffslab.results.casefile import case_result
from ffslab.results.outcome import Outcome
from ffslab.results.result import PhaseResult
from ffslab.workloads.micro.keys import Micro

Overrides = Sequence[tuple[str, tuple[Any, ...]]]
KIB = 2**10


@dataclass(frozen=True)
class Effects:
    """What the made-up file systems do."""

    speed: Mapping[str, float] = field(
        default_factory=lambda: {"jffs2": 1.0, "ubifs": 0.5, "yaffs2": 2.0}
    )
    sync_time: float = 6.0
    fill_time: float = 2.0  # per 45 % of fill rate
    pause_gain: float = 0.5  # any sleep shortens to this
    seed_step: float = 0.1
    full_at: tuple[str, int] = ("", 0)  # file system and request size that end by ENOSPC
    full_share: float = 0.75  # of the requests that were done then
    crossing_kib: int = 0  # from here on JFFS2 is four times as fast

    def __hash__(self) -> int:
        """Figures of equal effects are made once; a mapping has no hash of its own."""
        return hash(repr(self))


def write_micro_run(
    folder: Path,
    study: str = "micro-saturated",
    overrides: Overrides = (),
    effects: Effects | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
) -> Path:
    """Write a run of a study; `outcomes` has the cases that did not pass."""
    prepared = prepared_study(study, overrides, ())
    folder.mkdir(parents=True)
    run = begun_run(folder, prepared)
    lines = []
    for case in prepared.cases:
        outcome = (outcomes or {}).get(case.id, Outcome("pass"))
        result = case_result(case, outcome, RecordStream((), (), False), None)
        if outcome.kind == "pass":
            figures, records = _figures(case, effects or Effects())
            result |= figures
            if _is_shown(case):
                directory = run.case_dir(case.id)
                directory.mkdir(parents=True)
                (directory / "records.jsonl").write_text(records)
        lines.append(canonical_json(result) + "\n")
    (folder / "results.jsonl").write_text("".join(lines))
    return folder


def _micro(case: Case) -> Micro:
    assert isinstance(case.workload, Micro)
    return case.workload


@lru_cache(maxsize=256)
def _figures(case: Case, effects: Effects) -> tuple[dict[str, Any], str]:
    """What a case's result has of its workload, and the lines of its records."""
    workload = _micro(case)
    streams = [(n, workload.pattern) for n in range(workload.parallel)]
    if workload.mix_pattern:
        streams = [(0, workload.pattern), (1, workload.mix_pattern)]
    volume = workload.volume_bytes * 9 // 10 // len(streams)
    planned = max(volume // workload.request_bytes, 1)
    full = effects.full_at == (case.filesystem.name, workload.request_bytes)
    full = full and workload.pattern.endswith("write")
    count = round(planned * effects.full_share) if full else planned
    requests, records = [], []
    for number, pattern in streams:
        latency = _latencies(case, pattern, count, effects)
        requests.append(_stream(number, pattern, latency, workload))
        if _is_shown(case):
            records += _records(number, pattern, latency, workload)
    text = "".join(json.dumps({"v": 1, **record}) + "\n" for record in records)
    writes = workload.pattern.endswith("write")
    wear = {"erases_mean": 2.0 * writes, "erases_std": 0.5 * writes}
    counts = {"pages_programmed": volume // 2048 * writes, "blocks_erased": 300 * writes}
    figures = {
        "virtual_ns": 10**10,
        "preparation": _preparation(case),
        "micro": {
            "pattern": workload.pattern,
            "cache": workload.cache,
            "file_bytes": volume,
            "volume_bytes": volume,
            "requests": planned,
            "requests_done": count,
            "stopped": "ENOSPC" if full else "",
            "streams": len(streams),
            "dropped_rows": 0,
            "tasks": [],
        },
        "requests": requests,
        "phases": [
            _phase("measure", 10**9, **wear, **counts),
            _phase("flush", 10**8, **wear, pages_programmed=7),
            _phase("workload", 11 * 10**8, **wear, **counts),
        ],
    }
    return figures, text


def _phase(name: str, duration_ns: int, **figures: float) -> dict[str, Any]:
    return stub(PhaseResult, phase=name, status="ok", duration_ns=duration_ns, **figures)


def _is_shown(case: Case) -> bool:
    return _micro(case).request_bytes <= 32 * KIB


def response_ns(case: Case, pattern: str, effects: Effects) -> float:
    """The mean that the made-up requests have."""
    workload = _micro(case)
    name = case.filesystem.name
    base = 1e5 * effects.speed.get(name.split("-")[0], 1.0)
    base *= (workload.request_bytes / 2048) ** 0.8
    if name == "jffs2" and 0 < effects.crossing_kib * KIB <= workload.request_bytes:
        base /= 4
    base *= 1 if pattern.endswith("read") else 3
    if dict(case.filesystem.options).get("write_mode") == "sync" and pattern.endswith("write"):
        base *= effects.sync_time
    if workload.pause_us:
        base *= effects.pause_gain
    if case.state.rate_percent:
        base *= effects.fill_time ** ((case.state.rate_percent - 30) / 45)
    return float(base * (1 + effects.seed_step * (case.seed - 2)))


def _latencies(case: Case, pattern: str, count: int, effects: Effects) -> list[int]:
    rng = random.Random(case.id + pattern)
    mean = response_ns(case, pattern, effects)
    return [round(mean * (1 + 0.2 * (rng.random() - 0.5))) for _ in range(count)]


def _summary(latency: Sequence[int]) -> dict[str, Any]:
    ordered = sorted(latency)

    def rank(share: float) -> int:
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    return {
        "count": len(ordered),
        "mean_ns": sum(ordered) / len(ordered),
        "min_ns": ordered[0],
        "p50_ns": rank(0.5),
        "p90_ns": rank(0.9),
        "p99_ns": rank(0.99),
        "p999_ns": rank(0.999),
        "max_ns": ordered[-1],
    }


def _stream(number: int, pattern: str, latency: list[int], workload: Micro) -> dict[str, Any]:
    startup = len(latency) // 5
    work = {"pages_read": 3, "pages_programmed": 40, "blocks_erased": 2, "oob_pages": 5}
    work["busy_ns"] = 9_000_000
    slowest = heapq.nlargest(10, range(len(latency)), key=latency.__getitem__)
    return {
        "stream": number,
        "op": pattern.rpartition("-")[2],
        "count": len(latency),
        "bytes": len(latency) * workload.request_bytes,
        "startup_count": startup,
        "all": _summary(latency),
        "startup": _summary(latency[:startup]) if startup else None,
        "running": _summary(latency[startup:]),
        "flash": {"request": work, "after": work},
        "tasks": [
            {"name": "ffsagent", "when": "request", **work},
            {"name": "gc-thread", "when": "after", **work},
        ],
        "slowest": [
            {
                "request": n,
                "latency_ns": latency[n],
                "offset": n * workload.request_bytes,
                "cause": "garbage collection",
                "tasks": [{"name": "ffsagent", **work}],
            }
            for n in slowest
        ],
    }


def _records(
    number: int, pattern: str, latency: list[int], workload: Micro
) -> list[dict[str, Any]]:
    head = {"workload": "micro", "phase": "measure", "stream": number}
    start = [n * 10**6 for n in range(len(latency))]
    found: list[dict[str, Any]] = [
        {
            "type": "requests",
            **head,
            "op": pattern.rpartition("-")[2],
            "first": first,
            "offset": [n * workload.request_bytes for n in range(first, end)],
            "t_start_ns": start[first:end],
            "latency_ns": latency[first:end],
        }
        for first in range(0, len(latency), 1024)
        for end in [min(first + 1024, len(latency))]
    ]
    rows = [[n, n % 2, 0, 1, 64, 1, 10**6, 2] for n in range(0, len(latency), 16)][:512]
    found.append({"type": "request-flash", **head, "tasks": ["ffsagent"], "rows": rows})
    return found


def _preparation(case: Case) -> dict[str, Any]:
    size = case.partition_bytes
    return {
        "key": f"{case.filesystem.name}-{_micro(case).existing}-{case.seed}",
        "outcome": "pass",
        "reason": "",
        "excerpt": [],
        "virtual_ns": 5 * 10**9,
        "prepared": {
            "state": case.state.kind,
            "valid_bytes": size * case.state.rate_percent // 100,
            "invalid_bytes": size // 2,
            "invalid_present": 1,
            "file_bytes": 0,
            "capacity_bytes": size * 9 // 10,
        },
        "phases": [_phase("prepare", 0, pages_programmed=10_000, blocks_erased=7)],
        "space": [
            stub(Space, label=f"prepare:{end}", free_bytes=free, total_bytes=size)
            for end, free in (("start", size * 9 // 10), ("end", size // 3))
        ],
        "reserve_bytes": size // 10,
    }


def test_a_synthetic_run_has_the_cases_of_its_study(tmp_path: Path) -> None:
    folder = write_micro_run(tmp_path / "r", overrides=[("seed", (1,)), ("filesystem", ("jffs2",))])
    assert len((folder / "results.jsonl").read_text().splitlines()) == 4 * 9
