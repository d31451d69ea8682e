"""The figures of hand-made results of each workload: every place, every value, what comes first."""

from __future__ import annotations

from typing import Any

import pytest

from ffslab.results.schema import (
    BY_NAME,
    FLASH_PARTS,
    FLASH_TIME,
    LATENCY_METRICS,
    Figure,
    case_figures,
    timed_figures,
)
from ffslab.workloads.ffsmark.metrics import files_per_s
from ffslab.workloads.figures import figures_of, kind_of, tasks_of
from ffslab.workloads.tree import metrics as tree_metrics

PLAIN: dict[str, Any] = {"virtual_ns": 9, "short": None, "latencies": [], "phases": []}


def values(result: dict[str, Any]) -> dict[str, float]:
    found = {figure.key: figure.value for figure in figures_of(result)}
    assert (found.pop("virtual_ns"), found.pop("measured_share")) == (9, 1)
    return found


def in_order(result: dict[str, Any]) -> list[tuple[str, list[tuple[str, float]]]]:
    """The figures by their places, those that are main with a star."""
    found: dict[str, dict[str, float]] = {}
    for one in figures_of(result):
        found.setdefault(one.place, {})[f"{one.metric.name}{' *' * one.main}"] = one.value
    assert found.pop("") == {"virtual_ns": 9, "measured_share": 1}
    return ordered(found)


def ordered(figures: dict[str, dict[str, float]]) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(place, [*own.items()]) for place, own in figures.items()]


def of(kind: str, **parts: Any) -> dict[str, Any]:
    return {**PLAIN, "spec": {"workload": {"kind": kind}}, **parts}


# --- what all have


def test_the_figures_of_a_case() -> None:
    def told(**result: Any) -> list[tuple[str, float, bool]]:
        return [(f.key, f.value, f.main) for f in case_figures({**PLAIN, **result})]

    assert told() == [("virtual_ns", 9, False), ("measured_share", 1, False)]
    assert told(virtual_ns=None) == [("measured_share", 1, False)]
    short = {"measured": 1, "asked": 4}
    assert told(short=short)[1:] == [("measured_share", 0.25, True)]
    assert told(short={"measured": 1, "asked": None})[1:] == []
    counted = {"ecc_failures": 2, "corrected_bits": 0, "bad_blocks": 7}
    assert told(mtd_statistics=counted)[2:] == [
        ("corrected_bits", 0, True),
        ("ecc_failures", 2, True),
    ]


def test_time_that_is_not_the_chips() -> None:
    def rest(**row: Any) -> list[float]:
        metrics = (BY_NAME["duration_ns"],)
        return [f.value for f in timed_figures(row, "p", metrics) if f.metric.name == "rest_ns"]

    assert rest(duration_ns=10, flash_ns=4) == [6]
    assert rest(duration_ns=10, flash_ns=12) == [0]  # the chip was busy for others at the end
    assert rest(duration_ns=10) == rest(duration_ns=10, flash_ns=None) == rest(flash_ns=1) == []


@pytest.mark.parametrize("place", ["creation", "", "mount"])
def test_what_is_measured_is_better_one_way(place: str) -> None:
    assert Figure(BY_NAME["duration_ns"], place, 1).better == "lower"
    assert Figure(BY_NAME["read_bytes_per_s"], place, 1).better == "higher"


@pytest.mark.parametrize(
    "place", ["prepare", "invalidate", "prepare/create", "preparation: mount", "preparation"]
)
def test_what_comes_before_is_better_neither_way(place: str) -> None:
    for name in ("duration_ns", "read_bytes_per_s"):
        assert Figure(BY_NAME[name], place, 1).better == "neither"


def test_units_of_times() -> None:
    for metric in (*FLASH_PARTS, FLASH_TIME, BY_NAME["sum_ns"]):
        assert (metric.unit, metric.scale, metric.better) == ("s", 1e9, "lower")
    for metric in LATENCY_METRICS[2:]:
        assert (metric.unit, metric.scale, metric.better) == ("ms", 1e6, "lower")
    assert [metric.name for metric in LATENCY_METRICS if not metric.exact] == ["mean_ns"]
    for name in ("files_created", "bytes_read", "count"):
        assert BY_NAME[name].better == "neither" and BY_NAME[name].exact


# --- FFSMark


def test_figures_of_ffsmark() -> None:
    phases = [
        {"phase": "creation", "status": "ok", "duration_ns": 2 * 10**9, "files_created": 10},
        {"phase": "transactions", "status": "ok", "duration_ns": 5, "files_created": 3},
        {"phase": "deletion", "status": "ENOSPC", "duration_ns": 10**9, "files_deleted": 7},
        {"phase": "workload", "status": "ok", "pages_read": 4, "blocks_erased": 1},
    ]
    latencies = [
        {"phase": "creation", "op": "create", "count": 10, "p99_ns": 6},
        {"phase": "creation", "op": "read", "count": 0, "p99_ns": 0},
    ]
    result = of("ffsmark", phases=phases, latencies=latencies)
    expected = {
        "creation": {"duration_ns *": 2 * 10**9, "files_created": 10, "files_per_s": 5.0},
        "transactions": {"duration_ns *": 5, "files_created": 3},
        "workload": {"pages_read *": 4, "blocks_erased *": 1},
        "creation/create": {"count": 10, "p99_ns": 6},
    }
    assert in_order(result) == ordered(expected)
    del result["spec"]["workload"]["kind"]  # as the first versions wrote
    assert kind_of(result) == "ffsmark" and tasks_of(result) == ()


def test_files_per_second() -> None:
    deletion = {"phase": "deletion", "duration_ns": 10**9 // 2, "files_deleted": 7}
    assert files_per_s(deletion) == 14.0
    assert files_per_s({**deletion, "duration_ns": 0}) is None
    assert files_per_s({**deletion, "phase": "transactions"}) is None


# --- micro-benchmarks


def stream(number: int, op: str, **parts: Any) -> dict[str, Any]:
    latencies = {"count": 4, "mean_ns": 5.0, "p50_ns": 4, "p99_ns": 8, "p999_ns": 9, "max_ns": 9}
    flash = {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3, "oob_pages": 0}
    counts = {"stream": number, "op": op, "count": 4, "startup_count": 0}
    times = {"all": latencies, "startup": None, "running": latencies}
    by_time = {"request": flash, "after": {**flash, "pages_read": 7}}
    return {**counts, **times, "flash": by_time, **parts}


def test_figures_of_one_stream() -> None:
    result = of("micro", requests=[stream(0, "write")], preparation=None, micro=None)
    times = {"max_ns *": 9, "p50_ns *": 4, "p99_ns *": 8, "p999_ns *": 9, "mean_ns": 5.0}
    flash = {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3, "oob_pages": 0}
    expected = {
        "measure": {"response_mean_ns *": 5.0},
        "measure/writes": {"startup_count": 0, "count": 4, **times},
        "measure/writes, in requests": flash,
        "measure/writes, between requests": {**flash, "pages_read": 7},
    }
    assert in_order(result) == ordered(expected)


def test_a_start_up_and_what_follows_are_apart() -> None:
    parts = {"startup": {"count": 1, "mean_ns": 1.0}, "running": {"count": 3, "mean_ns": 6.0}}
    made = stream(0, "read", startup_count=1, **parts)
    found = values(of("micro", requests=[made]))
    assert found["measure/reads.startup_count"] == 1
    assert found["measure/reads, start-up.mean_ns"] == 1.0
    assert found["measure/reads, running.count"] == 3
    assert found["measure/reads.mean_ns"] == 5.0
    for place, own in in_order(of("micro", requests=[made])):
        assert "," not in place or not any("*" in name for name, _ in own)


def test_streams_of_a_mix_have_numbers() -> None:
    other = stream(1, "read")
    other["all"] = {**other["all"], "mean_ns": 7.0}
    found = values(of("micro", requests=[stream(0, "write"), other]))
    assert found["measure.response_mean_ns"] == 6.0
    assert found["measure/writes of 0.mean_ns"] == 5.0
    assert found["measure/reads of 1.mean_ns"] == 7.0
    none = stream(1, "read", count=0, all=None)
    assert not any(
        "of 1" in key for key in values(of("micro", requests=[stream(0, "write"), none]))
    )


def test_the_rest_of_a_micro_benchmark() -> None:
    phases = [
        {"phase": "measure", "status": "ok", "duration_ns": 3},
        {"phase": "workload", "status": "ok", "pages_read": 1, "pages_programmed": 2,
         "blocks_erased": 3, "erases_mean": 0.5, "erases_std": 0.25},
    ]  # fmt: skip
    prepare = {"phase": "prepare", "status": "ok", "pages_read": 8}
    preparation = {"phases": [prepare], "reserve_bytes": 5}
    latencies = [{"phase": "measure", "op": "request-write", "count": 1, "max_ns": 2}]
    task = {"phase": "measure", "name": "bgt", "pages_read": 1, "pages_programmed": 2,
            "blocks_erased": 3, "busy_ns": 4}  # fmt: skip
    parts = {"phases": phases, "latencies": latencies, "preparation": preparation}
    result = of("micro", requests=[], micro={"tasks": [task]}, **parts)
    counts = {"pages_read *": 1, "pages_programmed *": 2, "blocks_erased *": 3}
    expected = {
        "measure": {"duration_ns": 3},
        "workload": {**counts, "erases_mean *": 0.5, "erases_std": 0.25},
        "measure/request-write": {"count": 1, "max_ns": 2},
        "preparation: prepare": {"pages_read": 8},
        "preparation": {"reserve_bytes": 5},
    }
    assert in_order(result) == ordered(expected)
    (work,) = tasks_of(result)
    assert (work.place, work.task) == ("measure", "bgt")
    assert work.counts == {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3}
    assert tasks_of({**result, "micro": None}) == ()


# --- trees


def step(phase: str, **parts: Any) -> dict[str, Any]:
    own = {"step": phase.partition("-")[0], "phase": phase, "prepared": False, "status": "ok"}
    return {**own, "duration_ns": 10, "flash_ns": None, "parts": [], "tasks": [], **parts}


def test_figures_of_steps() -> None:
    parts = [{"phase": "attach", "duration_ns": 7}, {"phase": "mount", "duration_ns": 3}]
    task = {"name": "init", "pages_read": 1, "pages_programmed": 0, "blocks_erased": 0}
    steps = [
        step("mount", prepared=True, parts=parts),
        step("mount", parts=parts, flash_ns=4, oob_reads=6, tasks=[task]),
        step("settle"),
        step("list-2", files=5, found=None, parts=parts[:1]),
        step("create", status="error", duration_ns=3),
        step("delete", duration_ns=None),
    ]
    result = of("tree", tree={"steps": steps, "memory": []}, image=None)
    expected = {
        "preparation: mount": {"duration_ns": 10},
        "preparation: mount/attach": {"duration_ns": 7},
        "preparation: mount/mount": {"duration_ns": 3},
        "mount": {"duration_ns *": 10, "flash_ns": 4, "oob_reads": 6, "rest_ns": 6},
        "mount/attach": {"duration_ns": 7},
        "mount/mount": {"duration_ns": 3},
        "settle": {"duration_ns": 10},
        "list-2": {"duration_ns *": 10, "files": 5, "listed_ns": 20},  # with the mount before it
    }
    assert in_order(result) == ordered(expected)
    (work,) = tasks_of(result)
    assert (work.place, work.task) == ("mount", "init")
    assert work.counts == {"pages_read": 1, "pages_programmed": 0, "blocks_erased": 0}


def test_figures_of_memory_and_image() -> None:
    slabs = {"filesystem": 1, "kmalloc": 2, "inodes": 3, "other": 4}
    rows = [
        {"label": label, "prepared": prepared, "slab_bytes": slabs, "total_bytes": 10}
        for label, prepared in (("mount-2", False), ("mount", True), ("mounted", False))
    ]
    image = {"tree": "t", "image_bytes": 100, "ratio": 2.5, "write_ns": None, "pages": 3}
    result = of("tree", tree={"steps": [], "memory": rows}, image=image)
    memory = {f"slab_{name}_bytes": size for name, size in slabs.items()}
    expected = {
        "memory after mount-2": {**memory, "total_bytes *": 10},
        "preparation: memory after mount": {**memory, "total_bytes": 10},
        "memory after mounted": {**memory, "total_bytes": 10},
        "image": {"image_bytes *": 100, "ratio": 2.5, "pages": 3},
    }
    assert in_order(result) == ordered(expected)


def test_a_tree_whose_records_contradict_each_other_has_its_latencies_only() -> None:
    latencies = [{"phase": "create", "op": "create", "count": 1, "max_ns": 2}]
    result = of("tree", tree=None, image=None, latencies=latencies)
    assert values(result) == {"create/create.count": 1, "create/create.max_ns": 2}
    assert tasks_of(result) == ()


def test_units_of_trees() -> None:
    assert all(metric.kinds == ("tree",) for metric in tree_metrics.METRICS)
    for metric in tree_metrics.MEMORY_METRICS:
        assert (metric.unit, metric.scale, metric.better) == ("KiB", 1024, "lower")
    for metric in tree_metrics.TREE_COUNTS:
        assert (metric.scale, metric.better) == (1, "neither")
    units = {metric.name: (metric.unit, metric.scale) for metric in tree_metrics.IMAGE_METRICS}
    assert units["write_ns"] == ("s", 1e9) and units["pages"] == ("pages", 1)
