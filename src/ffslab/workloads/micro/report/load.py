"""A run of workload `micro` as frozen values: where the format of its results is known.

Results are read one by one and reduced at once, because a large study has thousands of cases, each
with the wear of every block. Format: docs/result-format.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ffslab.model.canonical import canonical_json
from ffslab.report import data
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
from ffslab.workloads.micro.metrics import KIND
from ffslab.workloads.micro.report.data import (
    MicroCase,
    MicroRun,
    Preparation,
    Response,
    SlowRequest,
    Stream,
    TaskWork,
)

_KEPT = ("id", "axes", "spec", "outcome", "reason", "excerpt", "short")
_OWN_PLACE = ("part", "workload.pattern", "workload.mix_pattern", data.SEED)


def load_micro(run_dir: Path) -> MicroRun:
    """Read `run_dir`. Raises as `ffslab.report.load.load_run` does."""
    directory = open_run(run_dir)
    manifest = directory.manifest()
    rows: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    with explained(run_dir, manifest):
        for row in read_rows(directory, KIND):
            rows.append({key: row.get(key) for key in _KEPT})
            figures.append(_figures(row))
        return _micro_run(run_dir, manifest, rows, figures)


def _micro_run(
    run_dir: Path,
    manifest: Row,
    rows: Sequence[Row],
    figures: Sequence[Mapping[str, Any]],
) -> MicroRun:
    study = study_word(manifest)
    specs = distinct_specs(row["spec"] for row in rows)
    fixed = fixed_options([row["spec"] for row in rows])
    plain = tuple(plain_case(row, manifest, study, fixed) for row in rows)
    numeric = _numeric_axes(rows)
    line_axes = [data.FILESYSTEM]
    cases = []
    for row, case, found in zip(rows, plain, figures, strict=True):
        line = {name: value for name, value in case.axes.items() if name not in numeric}
        for name in (*_OWN_PLACE, *_state_axis(numeric)):
            line.pop(name, None)
        line_axes += [name for name in line if name not in line_axes]
        cases.append(
            MicroCase(
                id=case.id,
                seed=case.seed,
                passed=case.passed,
                line=line,
                numbers={name: _number(row, name) for name in numeric},
                **_place(row),
                **found,
            )
        )
    varying = [a for a in line_axes if len({case.line.get(a, "") for case in cases}) > 1]
    return MicroRun(
        run=outline(run_dir, manifest, specs, plain),
        cases=tuple(cases),
        line_axes=tuple(varying) or (data.FILESYSTEM,),
        folder=run_dir,
        parts=part_titles(manifest, [case.part for case in cases]),
    )


def _numeric_axes(rows: Sequence[Row]) -> tuple[str, ...]:
    """The axes whose values are numbers everywhere, request size first.

    States that are named after their fill rate, and differ in nothing else, are an axis of it.
    """
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row["axes"].items():
            values.setdefault(name, []).append(value)
    names = [
        name
        for name, found in values.items()
        if name not in _OWN_PLACE and all(is_number(value) for value in found)
    ]
    states = {canonical_json({**row["spec"]["state"], "name": ""}) for row in rows}
    unfilled = {
        canonical_json({**row["spec"]["state"], "name": "", "rate_percent": 0}) for row in rows
    }
    if len(states) > len(unfilled) == 1 and "state.rate_percent" not in names:
        names.append("state.rate_percent")
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name != "workload.request_bytes"))


def _state_axis(numeric: Sequence[str]) -> tuple[str, ...]:
    """The state's name tells nothing more where what it stands for is a numeric axis."""
    return (data.STATE,) if any(name.startswith("state.") for name in numeric) else ()


def _number(row: Row, name: str) -> float:
    """A case's place on a numeric axis: from its spec, which has every setting."""
    value = setting(row, name)
    return float(row["axes"].get(name) if value is None else value)


def _place(row: Row) -> dict[str, Any]:
    workload = row["spec"]["workload"]
    return {
        "part": str(row["axes"].get("part", "")),
        "pattern": str(workload["pattern"]),
        "mix_pattern": str(workload["mix_pattern"]),
        "cache": str(workload["cache"]),
        "asked_bytes": int(workload["volume_bytes"]),
    }


def _figures(row: Row) -> dict[str, Any]:
    """What a case measured; without what it did not get to."""
    phases = {phase["phase"]: phase for phase in row["phases"]}
    whole = phases.get("workload") or phases.get("measure") or {}
    found: dict[str, Any] = {
        "streams": tuple(_stream(e) for e in row.get("requests") or () if e["all"]),
        "erases_mean": whole.get("erases_mean"),
        "erases_std": whole.get("erases_std"),
        "pages_programmed": int(whole.get("pages_programmed") or 0),
        "blocks_erased": int(whole.get("blocks_erased") or 0),
        "flush_pages": int((phases.get("flush") or {}).get("pages_programmed") or 0),
    }
    micro = row.get("micro")
    if micro:
        found |= {
            "volume_bytes": int(micro["volume_bytes"]),
            "moved_bytes": sum(int(entry["bytes"]) for entry in row.get("requests") or ()),
            "requests": int(micro["requests"]),
            "file_bytes": int(micro["file_bytes"]),
            "stopped": str(micro["stopped"]),
        }
    preparation = row.get("preparation")
    if preparation:
        found["preparation"] = _preparation(preparation, phases)
    return found


def _stream(entry: Row) -> Stream:
    return Stream(
        stream=int(entry["stream"]),
        op=str(entry["op"]),
        startup_count=int(entry["startup_count"]),
        all=_response(entry["all"]),
        startup=_response(entry["startup"]) if entry.get("startup") else None,
        running=_response(entry["running"]) if entry.get("running") else None,
        tasks=tuple(_task(task, str(task["when"])) for task in entry["tasks"]),
        slowest=tuple(
            SlowRequest(
                request=int(slow["request"]),
                latency_ns=int(slow["latency_ns"]),
                offset=int(slow["offset"]),
                cause=str(slow["cause"]),
                tasks=tuple(
                    _task(task, str(task.get("when", "request"))) for task in slow["tasks"]
                ),
            )
            for slow in entry["slowest"]
        ),
    )


def _response(figures: Row) -> Response:
    return Response(
        count=int(figures["count"]),
        mean_ns=float(figures["mean_ns"]),
        p50_ns=float(figures["p50_ns"]),
        p90_ns=float(figures["p90_ns"]),
        p99_ns=float(figures["p99_ns"]),
        max_ns=float(figures["max_ns"]),
    )


def _task(task: Row, when: str) -> TaskWork:
    return TaskWork(
        name=str(task["name"]),
        when=when,
        pages_read=int(task["pages_read"]),
        pages_programmed=int(task["pages_programmed"]),
        blocks_erased=int(task["blocks_erased"]),
        busy_ns=int(task.get("busy_ns", 0)),
        oob_pages=int(task.get("oob_pages", 0)),
    )


def _preparation(record: Row, own: Mapping[str, Row]) -> Preparation:
    """`own` are the phases of the case itself, which has that of a preparation in its own guest."""
    prepared = record.get("prepared") or {}
    phases = [phase for phase in record.get("phases") or () if phase["phase"] == "prepare"]
    if record["key"] is None and "prepare" in own:
        phases = [own["prepare"]]
    space = {str(entry["label"]): int(entry["free_bytes"]) for entry in record.get("space") or ()}
    reserve = record.get("reserve_bytes")
    return Preparation(
        key=str(record["key"] or ""),
        state=str(prepared.get("state", "")),
        valid_bytes=int(prepared.get("valid_bytes", 0)),
        invalid_bytes=int(prepared.get("invalid_bytes", 0)),
        invalid_present=bool(prepared.get("invalid_present", 0)),
        file_bytes=int(prepared.get("file_bytes", 0)),
        pages_programmed=sum(int(phase.get("pages_programmed") or 0) for phase in phases),
        blocks_erased=sum(int(phase.get("blocks_erased") or 0) for phase in phases),
        free_before=space.get("prepare:start"),
        free_after=space.get("prepare:end"),
        reserve_bytes=None if reserve is None else int(reserve),
    )
