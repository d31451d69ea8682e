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


def in_order(result: dict[str, Any]) -> list[tuple[str, float]]:
    """The figures; those that are main have a star."""
    mains = {figure.key for figure in figures_of(result) if figure.main}
    return [(f"{key}{' *' * (key in mains)}", value) for key, value in values(result).items()]


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


@pytest.mark.parametrize(
    ("place", "better"),
    [
        ("creation", "lower"),
        ("prepare", "neither"),
        ("invalidate", "neither"),
        ("prepare/create", "neither"),
        ("preparation: mount", "neither"),
        ("preparation", "neither"),
        ("", "lower"),
        ("mount", "lower"),
    ],
)
def test_which_way_is_better_depends_on_the_place(place: str, better: str) -> None:
    assert Figure(BY_NAME["duration_ns"], place, 1).better == better
    of_rate = Figure(BY_NAME["read_bytes_per_s"], place, 1).better
    assert of_rate == ("higher" if better == "lower" else better)


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
        "creation.duration_ns *": 2 * 10**9,
        "creation.files_created": 10,
        "transactions.duration_ns *": 5,
        "transactions.files_created": 3,
        "workload.pages_read *": 4,
        "workload.blocks_erased *": 1,
        "creation.files_per_s": 5.0,
        "creation/create.count": 10,
        "creation/create.p99_ns": 6,
    }
    assert in_order(result) == [*expected.items()]
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
    return {
        "stream": number,
        "op": op,
        "count": 4,
        "startup_count": 0,
        "all": latencies,
        "startup": None,
        "running": latencies,
        "flash": {"request": flash, "after": {**flash, "pages_read": 7}},
        **parts,
    }


def test_figures_of_one_stream() -> None:
    result = of("micro", requests=[stream(0, "write")], preparation=None, micro=None)
    expected = {
        "measure.response_mean_ns *": 5.0,
        "measure/writes.startup_count": 0,
        "measure/writes.count": 4,
        "measure/writes.max_ns *": 9,
        "measure/writes.p50_ns *": 4,
        "measure/writes.p99_ns *": 8,
        "measure/writes.p999_ns *": 9,
        "measure/writes.mean_ns": 5.0,
        "measure/writes, in requests.pages_read": 1,
        "measure/writes, in requests.pages_programmed": 2,
        "measure/writes, in requests.blocks_erased": 3,
        "measure/writes, in requests.oob_pages": 0,
        "measure/writes, between requests.pages_read": 7,
        "measure/writes, between requests.pages_programmed": 2,
        "measure/writes, between requests.blocks_erased": 3,
        "measure/writes, between requests.oob_pages": 0,
    }
    assert in_order(result) == [*expected.items()]


def test_a_start_up_and_what_follows_are_apart() -> None:
    parts = {"startup": {"count": 1, "mean_ns": 1.0}, "running": {"count": 3, "mean_ns": 6.0}}
    made = stream(0, "read", startup_count=1, **parts)
    found = values(of("micro", requests=[made]))
    assert found["measure/reads.startup_count"] == 1
    assert found["measure/reads, start-up.mean_ns"] == 1.0
    assert found["measure/reads, running.count"] == 3
    assert found["measure/reads.mean_ns"] == 5.0
    assert not any("," in key for key, _ in in_order(of("micro", requests=[made])) if "*" in key)


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
    result = of(
        "micro",
        requests=[],
        phases=phases,
        latencies=latencies,
        preparation=preparation,
        micro={"tasks": [task]},
    )
    expected = {
        "measure.duration_ns": 3,
        "workload.pages_read *": 1,
        "workload.pages_programmed *": 2,
        "workload.blocks_erased *": 3,
        "workload.erases_mean *": 0.5,
        "workload.erases_std": 0.25,
        "measure/request-write.count": 1,
        "measure/request-write.max_ns": 2,
        "preparation: prepare.pages_read": 8,
        "preparation.reserve_bytes": 5,
    }
    assert in_order(result) == [*expected.items()]
    (work,) = tasks_of(result)
    assert (work.place, work.task) == ("measure", "bgt")
    assert work.counts == {"pages_read": 1, "pages_programmed": 2, "blocks_erased": 3}
    assert tasks_of({**result, "micro": None}) == ()


# --- trees


def step(phase: str, **parts: Any) -> dict[str, Any]:
    return {
        "step": phase.partition("-")[0],
        "phase": phase,
        "prepared": False,
        "status": "ok",
        "duration_ns": 10,
        "flash_ns": None,
        "parts": [],
        "tasks": [],
        **parts,
    }


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
        "preparation: mount.duration_ns": 10,
        "preparation: mount/attach.duration_ns": 7,
        "preparation: mount/mount.duration_ns": 3,
        "mount.duration_ns *": 10,
        "mount.flash_ns": 4,
        "mount.oob_reads": 6,
        "mount.rest_ns": 6,
        "mount/attach.duration_ns": 7,
        "mount/mount.duration_ns": 3,
        "settle.duration_ns": 10,
        "list-2.duration_ns *": 10,
        "list-2.files": 5,
        "list-2.listed_ns": 20,  # with the mount before it
    }
    assert in_order(result) == [*expected.items()]
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
    memory = {f"slab_{name}_bytes": size for name, size in slabs.items()} | {"total_bytes": 10}
    places = ("memory after mount-2", "preparation: memory after mount", "memory after mounted")
    expected = [(f"{place}.{name}", size) for place in places for name, size in memory.items()]
    expected[len(slabs)] = ("memory after mount-2.total_bytes *", 10)
    told = [("image.image_bytes *", 100), ("image.ratio", 2.5), ("image.pages", 3)]
    assert in_order(result) == [*expected, *told]


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
