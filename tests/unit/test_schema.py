"""The metric schema: one definition per metric, and what takes its names and units from there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ffslab.results.schema import (
    BY_NAME,
    DURATION,
    GENERAL,
    PHASE_METRICS,
    Figure,
    figures_at,
    phase_figures,
)
from ffslab.results.store import COLUMNS
from ffslab.workloads.document import metrics_document
from ffslab.workloads.figures import all_metrics, figures_of, tasks_of
from ffslab.workloads.registry import kind_of, workloads
from loaded_support import recorded_results

ROOT = Path(__file__).resolve().parents[2]
# What the end of a name says of its unit and type.
UNITS = {"_ns": {"s", "ms"}, "_bytes": {"KiB", "MiB", "GB", "B"}, "_per_s": {"MB/s", "1/s"}}


def test_every_metric_is_defined_once() -> None:
    names = Counter(metric.name for metric in all_metrics())
    assert {name for name, count in names.items() if count > 1} == set()
    titles = Counter(metric.title for metric in all_metrics())
    assert {title for title, count in titles.items() if count > 1} == set()


@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_a_metric_is_complete(metric: Any) -> None:
    assert metric.title and metric.meaning
    assert set(metric.kinds) <= set(workloads())
    for ending, units in UNITS.items():
        if metric.name.endswith(ending):
            assert metric.unit in units
    assert metric.grown != metric.fallen


def test_words_for_what_grew() -> None:
    words = {
        name: (BY_NAME[name].grown, BY_NAME[name].fallen)
        for name in ("duration_ns", "flash_ns", "pages_read", "write_bytes_per_s", "erases_std")
    }
    assert words == {
        "duration_ns": ("slower", "faster"),
        "flash_ns": ("longer", "shorter"),
        "pages_read": ("more", "fewer"),
        "write_bytes_per_s": ("faster", "slower"),
        "erases_std": ("higher", "lower"),
    }


def test_what_is_time() -> None:
    assert BY_NAME["flash_ns"].is_time and not BY_NAME["pages_read"].is_time


def test_the_document_is_that_of_the_schema() -> None:
    """Made by `ffslab schema metrics > docs/metrics.md`."""
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert text == metrics_document()
    for metric in all_metrics():
        assert f"| `{metric.name}` |" in text


def test_tables_have_the_metrics_with_their_types() -> None:
    assert list(COLUMNS["phases"])[7:] == [metric.name for metric in PHASE_METRICS]
    for metric in PHASE_METRICS:
        assert COLUMNS["phases"][metric.name] == ("BIGINT" if metric.exact else "DOUBLE")
    assert COLUMNS["latencies"]["mean_ns"] == "DOUBLE"


RECORDED = ("append-log", "celf", "database", "ffsmark", "micro-saturated")
# Some of the main figures of a result of each workload.
MAIN = {
    "append-log": {"workload/line.pages_per_line", "workload.blocks_erased"},
    "capacity": {"file.written_bytes", "measure/writes.max_ns"},
    "cuts": {"states.correct_percent", "recovery.most_pages_read"},
    "database": {"workload/transaction.transactions_per_s", "workload.write_amplification"},
    "ffsmark": {"creation.duration_ns", "workload.pages_programmed", "workload.blocks_erased"},
    "micro": {"measure.response_mean_ns", "measure/reads.p99_ns", "workload.erases_mean"},
    "raw": {"erase.raw_bytes_per_s", "read.raw_bytes_per_s"},
    "tiobench": {"write/write.on_flash_bytes_per_s", "random-read/read.throughput_bytes_per_s"},
    "tree": {"mount-2.duration_ns", "memory after mount-2.total_bytes"},
    "wear": {"workload/wear.static_moved", "workload.erases_max"},
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """A real result of each kind of workload."""
    every = [result for study in RECORDED for result in recorded_results(study)]
    return {kind_of(result["spec"]): result for result in reversed(every)}


@pytest.mark.parametrize("kind", MAIN)
def test_figures_of_every_kind(results: dict[str, Any], kind: str) -> None:
    found = figures_of(results[kind])
    keys = Counter(figure.key for figure in found)
    assert max(keys.values()) == 1
    assert MAIN[kind] <= {figure.key for figure in found if figure.main}
    assert {figure.metric.name for figure in found} <= {metric.name for metric in all_metrics()}
    assert all(figure.metric.kinds == () or kind in figure.metric.kinds for figure in found)


def test_values_are_those_of_the_result(results: dict[str, Any]) -> None:
    result, tree = results["ffsmark"], results["tree"]
    values = {figure.key: figure.value for figure in figures_of(result)}
    phases = {phase["phase"]: phase for phase in result["phases"]}
    creation = phases["creation"]
    assert values["creation.duration_ns"] == creation["duration_ns"]
    assert values["workload.erases_std"] == phases["workload"]["erases_std"]
    assert values["creation.rest_ns"] == creation["duration_ns"] - creation["flash_ns"]
    rate = creation["files_created"] / (creation["duration_ns"] / 1e9)
    assert values["creation.files_per_s"] == pytest.approx(rate)
    assert values["virtual_ns"] == result["virtual_ns"]
    read = next(row for row in result["latencies"] if row["op"] == "read")
    assert values["transactions/read.p99_ns"] == read["p99_ns"]
    step = next(step for step in tree["tree"]["steps"] if step["phase"] == "mount-2")
    of_tree = {figure.key: figure.value for figure in figures_of(tree)}
    assert of_tree["mount-2.pages_read"] == step["pages_read"]


def test_tasks_are_told_apart_where_the_result_has_them(results: dict[str, Any]) -> None:
    assert tasks_of(results["ffsmark"]) == ()
    step = results["tree"]["tree"]["steps"][0]
    first = tasks_of(results["tree"])[0]
    assert (first.place, first.task) == (f"preparation: {step['phase']}", step["tasks"][0]["name"])
    assert first.counts["pages_read"] == step["tasks"][0]["pages_read"]


def test_what_has_no_number_is_no_figure() -> None:
    row = {"duration_ns": None, "pages_read": 3, "blocks_erased": True}
    found = list(figures_at(row, "mount", PHASE_METRICS, ("pages_read",)))
    assert found == [Figure(BY_NAME["pages_read"], "mount", 3, main=True)]
    assert list(figures_at({}, "mount", GENERAL)) == []


def test_a_phase_that_failed_has_no_figures() -> None:
    phases = [{"phase": "creation", "status": "error", "duration_ns": 5}]
    assert list(phase_figures(phases, {})) == []
    phases[0]["status"] = "ok"
    assert list(phase_figures(phases, {})) == [Figure(DURATION, "creation", 5)]


def test_a_case_that_is_short_says_how_much_it_measured(
    results: dict[str, Any],
) -> None:
    short = {"what": "bytes", "measured": 3, "asked": 4, "stopped": "", "accepted": True}
    values = {f.key: f.value for f in figures_of({**results["ffsmark"], "short": short})}
    assert values["measured_share"] == 0.75
    unknown = {**short, "asked": None}
    keys = {f.key for f in figures_of({**results["ffsmark"], "short": unknown})}
    assert "measured_share" not in keys
