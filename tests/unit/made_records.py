"""Records as an agent writes them, and runs with the results that the host makes of them: the parts
of which tests of every workload are made. Times are nanoseconds since the guest's boot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from host_support import begun_run

from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import prepare_source
from ffslab.loader import StudySource, parse_toml
from ffslab.model.canonical import canonical_json
from ffslab.model.case import Case
from ffslab.protocol.record_values import TASK_COUNTS
from ffslab.protocol.records import RecordStream, parse_records
from ffslab.results.rundir import RESULTS

Record = dict[str, Any]


def lines_of(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as the agent writes them."""
    told = [json.dumps({"v": 1, **record}, separators=(",", ":")) for record in records]
    return "".join(f"{line}\n" for line in told).encode()


def read_records(records: Iterable[Mapping[str, Any]]) -> RecordStream:
    """Records as the host reads them."""
    return parse_records(lines_of(records))


def start_record(seed: int = 1) -> Record:
    return {"type": "start", "agent": "0.1", "kernel": "6.1.0", "clock": "page", "seed": seed}


def ended(errno: str = "", message: str = "why") -> Record:
    """The end of a step or a phase: an error with this name, if there is one."""
    if not errno:
        return {"status": "ok"}
    return {"status": "error", "errno": 28, "errno_name": errno, "message": message}


def end_record(t_ns: int, errno: str = "") -> Record:
    steps = {"steps_run": 9, "steps_total": 9}
    return {"type": "end", **steps, "t_ns": t_ns, **ended(errno)}


def step_record(verb: str, start: int, end: int, errno: str = "", *, index: int = 8) -> Record:
    times = {"t_start_ns": start, "t_end_ns": end}
    return {"type": "step", "index": index, "verb": verb, "label": "", **times, **ended(errno)}


def counters(read: int = 0, programmed: int = 0, erased: int = 0, **times: int) -> dict[str, int]:
    """The monitor's counters of a partition."""
    return {"pages_read": read, "pages_programmed": programmed, "blocks_erased": erased, **times}


def phase_record(
    workload: str,
    phase: str,
    times: Sequence[int],
    flash: Sequence[Mapping[str, int]] = (),
    errno: str = "",
    **counts: int,
) -> Record:
    """A phase between two times; `flash` are the counters at both, `counts` files and bytes."""
    between = dict(zip(("t_start_ns", "t_end_ns"), times, strict=True))
    counted = dict(zip(("flash_start", "flash_end"), flash, strict=False))
    head = {"type": "phase", "workload": workload, "phase": phase}
    return {**head, **between, **ended(errno), **counts, **counted}


def flash_record(
    label: str, counted: Mapping[str, int], erases: Sequence[int], t_ns: int = 0
) -> Record:
    """The counters and the erases of each block at one time."""
    zeros = [0] * len(erases)
    head = {"type": "flash", "label": label, "t_ns": t_ns, "counters": dict(counted)}
    return {**head, "erases": list(erases), "programs": zeros, "reads": zeros}


def space_record(label: str, total: int, free: int | None = None) -> Record:
    free = total if free is None else free
    sizes = {"total_bytes": total, "free_bytes": free, "available_bytes": free}
    rest = {"files": 0, "files_free": 0, "page_cache_bytes": 0, "mem_free_bytes": 2**25}
    return {"type": "space", "label": label, **sizes, **rest}


def task(name: str, **counts: int) -> Record:
    """A task of a `tasks` record."""
    return {"name": name, **dict.fromkeys(TASK_COUNTS, 0), **counts}


def tasks_record(workload: str, phase: str, tasks: Iterable[Mapping[str, Any]]) -> Record:
    return {"type": "tasks", "workload": workload, "phase": phase, "tasks": list(tasks)}


def bucket_index(value: int) -> int:
    """The agent's rule (guest/agent/core/histogram.h)."""
    if value < 128:
        return value
    exponent = value.bit_length() - 1
    return (exponent - 6) * 128 + (value >> (exponent - 7)) - 128


def buckets_of(values: Iterable[int]) -> list[list[int]]:
    """The histogram of values."""
    return [list(bucket) for bucket in sorted(Counter(map(bucket_index, values)).items())]


def latency_record(workload: str, phase: str, op: str, values: Sequence[int]) -> Record:
    sums = {"sum_ns": sum(values), "min_ns": min(values), "max_ns": max(values)}
    head = {"type": "latency", "workload": workload, "phase": phase, "op": op}
    return {**head, "count": len(values), **sums, "buckets": buckets_of(values)}


def planned(text: str) -> Prepared:
    """A study in TOML, ready to run."""
    return prepare_source(StudySource(Path("made.toml"), text, parse_toml(text, "made")))


def made_run(folder: Path, study: Prepared, result_of: Callable[[Case], Mapping[str, Any]]) -> Path:
    """A run directory in which each case has the result that `result_of` says."""
    folder.mkdir(parents=True)
    run = begun_run(folder, study)
    lines = [f"{canonical_json(result_of(case))}\n" for case in study.cases]
    (run.path / RESULTS).write_text("".join(lines), encoding="utf-8")
    return folder
