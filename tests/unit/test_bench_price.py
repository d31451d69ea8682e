"""The benchmark's part `price` without a guest: what is CPU time, the fit, the tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.flash_table import text
from bench.price import MTD_CALLS, PriceReport, samples, tables
from bench.price_cases import Phase, phases_of, price_cases
from bench.price_fit import Sample, fit, judge
from bench.price_models import MODELS, Counted

from ffslab.model.figures import CPU_PRICES
from ffslab.targets.uml.guests import BATCH_CONSOLE, kernel_arguments


def sample(workload: str, measured_ns: float, **counts: float) -> Sample:
    return Sample(workload, "jffs2", measured_ns, counts)


def row(phase: str, duration_ns: int, in_driver_ns: int, **more: Any) -> dict[str, Any]:
    return {
        "phase": phase,
        "duration_ns": duration_ns,
        "in_driver_ns": in_driver_ns,
        "mtd_calls": 7,
        "flash": {"read_calls": 3, "write_calls": 2, "erase_calls": 2},
        **more,
    }


def result(part: str, **more: Any) -> Any:
    return {
        "axes": {"part": part, "filesystem": "ubifs"},
        "spec": {"filesystem": {"name": "ubifs"}},
        "latencies": [],
        "phases": [],
        **more,
    }


def test_nothing_but_code_takes_time_in_the_cases() -> None:
    cases = price_cases()
    chip_figures = ("t_command_ns", "t_read_ns", "t_prog_ns", "t_erase_ns")
    for case in cases:
        assert {getattr(case.board.chip, name) for name in chip_figures} == {0}
        assert set(case.driver_ns.values()) == {0}
        assert case.board.wait == "polled"
    assert {case.filesystem.name for case in cases} == {"jffs2", "ubifs", "yaffs2"}
    assert "cpu_instruction_ps=3750" in kernel_arguments(cases[0], BATCH_CONSOLE)


def test_a_mount_takes_what_is_not_in_the_driver() -> None:
    steps = [row("mount", 10_000, 4_000, tasks=[]), row("settle", 77, 0, tasks=[])]
    found = list(phases_of(result("tree", tree={"steps": steps})))
    assert found == [Phase("tree mount", "ubifs", 6_000, 0, 7)]


def test_calls_take_their_latencies_less_the_agents_share_of_the_driver() -> None:
    """1,000 + 500 ns of calls, 300 of them in the driver; the flusher's 900 are not the calls'."""
    tasks = [
        {"name": "init", "busy_ns": 300},
        {"name": "kworker", "busy_ns": 900},
    ]
    latencies = [
        {"phase": "create", "op": "create", "sum_ns": 1_000, "count": 2},
        {"phase": "create", "op": "mkdir", "sum_ns": 500, "count": 1},
        # A part of create.
        {"phase": "create", "op": "request-write", "sum_ns": 700, "count": 4},
        {"phase": "list", "op": "lstat", "sum_ns": 9_999, "count": 1},
    ]
    steps = [row("create", 90_000, 1_200, tasks=tasks)]
    case = result("tree", tree={"steps": steps}, latencies=latencies)
    assert list(phases_of(case)) == [Phase("tree create", "ubifs", 1_200, 3, 7)]


def test_requests_alone_are_the_operations_of_micro() -> None:
    axes = {
        "part": "micro",
        "filesystem": "ubifs",
        "workload.pattern": "random-read",
        "workload.request_bytes": 1024,
    }
    latencies = [{"phase": "measure", "op": "request-read", "sum_ns": 800, "count": 4}]
    tasks = [
        {"phase": "measure", "name": "ffsagent", "busy_ns": 100},
        {"phase": "flush", "name": "ffsagent", "busy_ns": 600},
    ]
    case = result(
        "micro",
        axes=axes,
        phases=[row("measure", 1, 1)],
        latencies=latencies,
        micro={"tasks": tasks},
    )
    (found,) = phases_of(case)
    assert found == Phase("micro random-read 1024 measure", "ubifs", 700, 4, 7)


def test_what_the_preparing_guest_did_is_not_measured() -> None:
    steps = [row("mount", 5, 0, prepared=True), row("mount-2", 8, 0, prepared=False)]
    (found,) = phases_of(result("scan", tree={"steps": steps}))
    assert found.workload == "scan mount-2"


def test_prices_that_explain_everything_are_found() -> None:
    """3 ns for each of a, 5 for each of b: 10×3 + 1×5 = 35, 2×3 + 8×5 = 46, 5×3 + 5×5 = 40."""
    given = [sample("x", 35, a=10, b=1), sample("y", 46, a=2, b=8), sample("z", 40, a=5, b=5)]
    prices = fit(given, ["a", "b"])
    assert prices == pytest.approx({"a": 3, "b": 5}, rel=1e-4)


def test_errors_are_relative() -> None:
    """p for 1×p ≈ 1 and 1,000×p ≈ 2,000: (p−1)² + (p÷2−1)² is least at (1 + ½) ÷ (1 + ¼)."""
    prices = fit([sample("x", 1, a=1), sample("y", 2_000, a=1_000)], ["a"])
    assert prices["a"] == pytest.approx(1.2)


def test_no_price_is_below_zero() -> None:
    """Alone b would be −1: 1×p_a + 1×p_b = 2 and 1×p_a + 2×p_b = 1."""
    prices = fit([sample("x", 2, a=1, b=1), sample("y", 1, a=1, b=2)], ["a", "b"])
    assert prices["b"] == 0
    # Then (p/2 − 1)² + (p − 1)² is least at 1.5 ÷ 1.25.
    assert prices["a"] == pytest.approx(1.2)


def test_what_never_happens_has_no_price() -> None:
    assert fit([sample("x", 2, a=1, b=0)], ["a", "b"]) == pytest.approx({"a": 2, "b": 0})


def test_a_fit_needs_samples() -> None:
    with pytest.raises(ValueError, match="no samples"):
        fit([], ["a"])


def test_a_half_is_judged_by_the_other_ones_prices() -> None:
    """Workloads x and z cost 2 ns each, y costs 4: by its price x is foretold twice too long."""
    given = [sample("x", 20, a=10), sample("y", 40, a=10), sample("z", 200, a=100)]
    found = judge(given, ["a"])
    assert [one.half for one in found.judged] == [0, 1, 0]
    assert [one.error for one in found.judged] == pytest.approx([1.0, -0.5, 1.0])
    assert found.worst == pytest.approx(1.0)
    assert found.median == pytest.approx(1.0)
    assert (found.within(0.49), found.within(0.51)) == (0, pytest.approx(1 / 3))


def test_file_systems_of_a_workload_are_in_one_half() -> None:
    given = [
        Sample("x", "jffs2", 10, {"a": 1}),
        Sample("y", "jffs2", 10, {"a": 1}),
        Sample("x", "ubifs", 10, {"a": 1}),
    ]
    assert [one.half for one in judge(given, ["a"]).judged] == [0, 1, 0]


def test_counts_go_with_the_phases_that_are_long_enough() -> None:
    long = Phase("x", "jffs2", 2_000_000, 1, 7)
    short = Phase("y", "jffs2", 1_999_999, 1, 7)
    reference = {phase.key: phase for phase in (long, short)}
    (found,) = samples(reference, {"blocks": {long.key: 12.0, short.key: 5.0}})
    assert found == Sample("x", "jffs2", 2_000_000, {"blocks": 12.0, MTD_CALLS: 7})


def test_the_tables_say_which_goal_is_missed() -> None:
    given = [sample("x", 20e6, a=10e6), sample("y", 40e6, a=10e6), sample("x", 22e6, a=10e6)]
    report = PriceReport({"blocks": judge(given, ["a"])}, 3)
    assert not report.met
    shown = text(tables(report))
    assert "3 phases shorter than 2 ms left out" in shown
    assert json.loads(json.dumps(report.raw()))["blocks"]["judged"][0]["half"] == 0
    assert "missed" in shown
    # x by y's 4 ns: +100 % and +82 %; y by x's, 2.095 ns: −48 %.
    for cell in ("+100 %", "+82 %", "-48 %"):
        assert cell in shown


def test_a_counting_guest_has_one_price() -> None:
    counted = Counted({"cpu_byte_ps": "10000"}, 10_000)
    priced = {word for word in counted.arguments if not word.endswith("=0")}
    assert priced == {"cpu_instruction_ps=1", "cpu_byte_ps=10000"}
    assert {word.split("=")[0] for word in counted.arguments} == {row.name for row in CPU_PRICES}


def test_every_model_prices_what_its_kernel_has() -> None:
    for model in MODELS:
        priced = {name for one in model.counted.values() for name in one.words}
        assert ("cpu_price" in priced) == (model.variant == "price")
        assert ("cpu_instruction_ps" in priced) == (model.variant != "price")
