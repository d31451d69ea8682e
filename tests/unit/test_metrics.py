"""Metrics against figures worked out by hand."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from host_support import cases_of, golden

from ffslab.protocol.records import Latency, Phase, Snapshot, parse_records
from ffslab.results.casefile import case_result
from ffslab.results.metrics import (
    amplification,
    bucket_bounds,
    flash_times,
    quantile_ns,
    rate_per_s,
    wear_metrics,
)
from ffslab.results.outcome import Outcome
from ffslab.results.phases import latency_result, phase_result, workload_result
from ffslab.results.result import PhaseResult, checked
from ffslab.workloads.ffsmark.result import PHASES as FFSMARK
from ffslab.workloads.micro.result import PHASES as MICRO


def _index(value: int) -> int:
    """agent/core/histogram.h's definition."""
    if value < 128:
        return value
    exponent = value.bit_length() - 1
    return (exponent - 6) * 128 + (value >> (exponent - 7)) - 128


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 257, 1000, 123_456_789, 2**63 - 1])
def test_bucket_holds_its_value(value: int) -> None:
    low, high = bucket_bounds(_index(value))
    assert low <= value < high
    assert (high - low) <= max(1, value / 128)


def test_buckets_are_adjacent() -> None:
    for index in range(2000):
        assert bucket_bounds(index)[1] == bucket_bounds(index + 1)[0]


def test_quantiles_are_within_the_stated_error() -> None:
    values = sorted((i * 7919) % 1_000_003 + 500 for i in range(5000))
    counts: dict[int, int] = {}
    for value in values:
        counts[_index(value)] = counts.get(_index(value), 0) + 1
    buckets = sorted(counts.items())
    for q in (0.5, 0.9, 0.99, 0.999):
        exact = values[int(q * 5000) - 1]
        estimate = quantile_ns(buckets, 5000, q, values[0], values[-1])
        assert estimate == pytest.approx(exact, rel=0.005)
    assert quantile_ns([], 0, 0.5, 0, 0) == 0


def test_wear() -> None:
    after = [5, 2, 9, 2]
    wear = wear_metrics([1, 1, 1, 1], after)
    gained = [4, 1, 8, 1]
    assert wear["erases_mean"] == statistics.fmean(gained)
    assert wear["erases_std"] == pytest.approx(statistics.pstdev(gained))
    assert (wear["erases_spread"], wear["erases_max"]) == (7, 8)


def test_amplification_of_nothing_is_unknown() -> None:
    assert amplification(10, 2048, 4096) == 5.0
    assert amplification(10, 2048, 0) is None


def test_phases_of_a_recorded_run() -> None:
    case = cases_of()[0]
    stream = parse_records(golden("records/pass.jsonl"))
    result = case_result(case, Outcome("pass"), stream, "00")
    phases = {phase["phase"]: phase for phase in result["phases"]}
    creation, whole = phases["creation"], phases["workload"]
    assert creation["duration_ns"] == 2 * 10**9
    assert creation["write_bytes_per_s"] == 819200 / 2
    assert creation["pages_programmed"] == 400
    assert creation["write_amplification"] == 400 * 2048 / 819200
    assert creation["read_amplification"] is None
    # 500 − 10 pages of 2,048 bytes are 1,003,520; the workload read 409,600.
    assert phases["transactions"]["read_amplification"] == 2.45
    assert phases["transactions"]["blocks_erased"] == 6
    assert phases["transactions"]["erases_spread"] == 2
    assert phases["deletion"]["write_amplification"] is None
    assert phases["deletion"]["read_amplification"] is None
    assert whole["duration_ns"] == 7 * 10**9
    assert whole["pages_programmed"] == 1040
    assert whole["read_amplification"] == 2.55  # 510 × 2,048 ÷ 409,600
    assert whole["bytes_written"] == 819200 + 1228800
    (latency,) = result["latencies"]
    assert latency["p50_ns"] == pytest.approx(50_000_000, rel=0.005)
    assert latency["max_ns"] == 100_000_000


def test_cut_records_still_give_a_result() -> None:
    case = cases_of()[0]
    stream = parse_records(golden("records/cut.jsonl"))
    result = case_result(case, Outcome("crash", "x"), stream, None)
    assert result["virtual_ns"] is None
    assert [phase["phase"] for phase in result["phases"]] == ["creation"]


# 1,001 values, each bucket below 128 a value of its own. Ranks, rounded up: 0.5 × 1001 = 500.5 →
# 501, 900.9 → 901, 990.99 → 991, 999.999 → 1000. A single value stands at each of these ranks, so
# that a rank one less or one more, or another quantile's, gives another value.
RANKED = ((10, 500), (11, 1), (20, 399), (21, 1), (30, 89), (31, 1), (40, 8), (41, 1), (50, 1))


def test_each_quantile_is_the_value_at_its_rank_rounded_up() -> None:
    # The sum: 5000 + 11 + 7980 + 21 + 2670 + 31 + 320 + 41 + 50 = 16,124; 16,124 ÷ 1,001.
    record: dict[str, Any] = {
        "phase": "transactions",
        "op": "write",
        "count": 1001,
        "sum_ns": 16_124,
        "min_ns": 10,
        "max_ns": 50,
        "buckets": RANKED,
    }
    assert latency_result(Latency(**record)) == {
        **record,
        "mean_ns": pytest.approx(16.1079, abs=1e-4),
        "p50_ns": 11,
        "p90_ns": 21,
        "p99_ns": 31,
        "p999_ns": 41,
        "buckets": [list(bucket) for bucket in RANKED],
    }
    slow = latency_result(Latency(**record, slowest=((7, 50), (3, 41))))
    assert slow["slowest"] == [[7, 50], [3, 41]]
    nothing = dict.fromkeys(("count", "sum_ns", "min_ns", "max_ns"), 0)
    empty = latency_result(Latency(**{**record, **nothing, "buckets": ()}))
    assert [empty[key] for key in ("mean_ns", "p50_ns", "p999_ns")] == [0.0, 0, 0]


@pytest.mark.parametrize(
    ("index", "low", "high"),
    [
        (0, 0, 1),
        (127, 127, 128),
        (128, 128, 129),  # e = 7, s = 0: (128 + 0) × 2^0
        (300, 344, 346),  # 300 = 128 × 2 + 44: e = 8, (128 + 44) × 2^1
        (600, 1728, 1736),  # 600 = 128 × 4 + 88: e = 10, (128 + 88) × 2^3
    ],
)
def test_bounds_of_a_bucket(index: int, low: int, high: int) -> None:
    assert bucket_bounds(index) == (low, high)


@pytest.mark.parametrize(
    ("minimum", "maximum", "found"),
    [
        (1000, 9000, 1731),  # the middle of 1728 … 1735, rounded down
        (1733, 9000, 1733),
        (1000, 1729, 1729),
    ],
)
def test_a_quantile_is_within_the_exact_extremes(minimum: int, maximum: int, found: int) -> None:
    assert quantile_ns([(600, 3)], 3, 0.5, minimum, maximum) == found


def test_a_quantile_without_its_bucket_is_the_maximum() -> None:
    assert quantile_ns([(5, 1)], 2, 0.99, 5, 77) == 77
    assert quantile_ns([(5, 1), (9, 1)], 2, 0.0, 5, 9) == 5  # the first, not the zeroth
    assert quantile_ns([], 0, 0.5, 3, 9) == 0


FIRST_COUNTERS = {
    "pages_read": 5,
    "pages_programmed": 100,
    "blocks_erased": 7,
    "read_ns": 1_000,
    "program_ns": 20_000,
    "erase_ns": 300_000,
}
LAST_COUNTERS = {
    "pages_read": 35,
    "pages_programmed": 600,
    "blocks_erased": 11,
    "read_ns": 7_000,
    "program_ns": 90_000,
    "erase_ns": 1_100_000,
    "oob_pages": 9,
}
GAINED = {
    "pages_read": 30,
    "pages_programmed": 500,
    "blocks_erased": 4,
    "read_ns": 6_000,
    "program_ns": 70_000,
    "erase_ns": 800_000,
}
FILES = ("files_created", "files_deleted", "files_read", "files_appended")


def snapshot(label: str, erases: tuple[int, ...], counters: dict[str, int]) -> Snapshot:
    return {
        "label": label,
        "t_ns": 0,
        "counters": counters,
        "erases": list(erases),
        "programs": [9, 9, 9],
        "reads": [0, 0, 0],
    }


def snapshots(first: str, last: str) -> dict[str, Snapshot]:
    """Three blocks that were erased 2, 1 and 6 times between the labels."""
    return {
        first: snapshot(first, (3, 0, 5), FIRST_COUNTERS),
        last: snapshot(last, (5, 1, 11), LAST_COUNTERS),
    }


# Of 2, 1 and 6 erases the mean is 3, the variance (4 + 1 + 36) ÷ 3 − 9 = 14 ÷ 3.
WEAR = {
    "erases_mean": 3.0,
    "erases_std": pytest.approx(2.160247, abs=1e-6),
    "erases_spread": 5,
    "erases_max": 6,
}


def phase_of(record: dict[str, Any]) -> Phase:
    return Phase.of({"workload": "w", **record})


@pytest.mark.parametrize(
    ("page_bytes", "written", "read"),
    # 500 pages ÷ 1,024,000 bytes written: 256,000 ÷ 1,024,000 and so on;
    # 30 pages ÷ 512,000 bytes read: 15,360 ÷ 512,000 and so on
    [(512, 0.25, 0.03), (2048, 1.0, 0.12), (4096, 2.0, 0.24), (8192, 4.0, 0.48)],
)
def test_the_figures_of_a_phase(page_bytes: int, written: float, read: float) -> None:
    record = {
        "phase": "transactions",
        "status": "error",
        "errno_name": "ENOSPC",
        "t_start_ns": 1_000_000_000,
        "t_end_ns": 3_500_000_000,
        **dict(zip(FILES, (11, 12, 13, 14), strict=True)),
        "bytes_read": 512_000,
        "bytes_written": 1_024_000,
    }
    flash = {"flash_start": FIRST_COUNTERS, "flash_end": LAST_COUNTERS}
    around = snapshots("transactions:start", "transactions:end")
    assert phase_result(phase_of({**record, **flash}), around, page_bytes) == {
        **record,
        "duration_ns": 2_500_000_000,
        "read_bytes_per_s": 204_800.0,  # 512,000 ÷ 2.5
        "write_bytes_per_s": 409_600.0,  # 1,024,000 ÷ 2.5
        "flash": GAINED,
        "pages_read": 30,
        "pages_programmed": 500,
        "blocks_erased": 4,
        "in_driver_ns": 876_000,  # 6,000 + 70,000 + 800,000
        "write_amplification": written,
        "read_amplification": read,
        **WEAR,
    }


def test_the_chips_time_is_its_own_by_what_it_did() -> None:
    """Not the monitor's, in which tasks that wait count, and which is longer here."""
    counters = {"read_ns": 9_000, "program_ns": 9_000, "erase_ns": 9_000, "chip_driver_ns": 5}
    chip = {"chip_read_ns": 10, "chip_program_ns": 200, "chip_erase_ns": 3_000}
    whole = {**counters, **chip, "chip_transfer_ns": 40_000}
    assert flash_times(whole) == {
        "flash_read_ns": 10,
        "flash_program_ns": 200,
        "flash_erase_ns": 3_000,
        "flash_transfer_ns": 40_000,
        "flash_ns": 43_210,
    }
    assert flash_times({**counters, **chip}) == {} == flash_times({})
    record = {"phase": "mount", "status": "ok", "t_start_ns": 70, "t_end_ns": 90}
    both = {"flash_start": dict.fromkeys(whole, 1), "flash_end": whole}
    found = phase_result(phase_of({**record, **both}), {}, 512)
    assert (found["flash_ns"], found["flash_erase_ns"], found["in_driver_ns"]) == (
        43_210 - 4,
        2_999,
        27_000 - 3,
    )


def test_a_phase_without_a_monitor_has_no_flash_figures() -> None:
    record = {"phase": "mount", "status": "ok", "t_start_ns": 70, "t_end_ns": 70}
    cut = {key: value for key, value in snapshots("mount:start", "x").items() if key != "x"}
    for around in ({}, cut):
        assert phase_result(phase_of(record), around, 512) == {
            **record,
            "errno_name": "",
            **dict.fromkeys((*FILES, "bytes_read", "bytes_written", "duration_ns"), 0),
            "read_bytes_per_s": 0.0,
            "write_bytes_per_s": 0.0,
            "flash": {},
        }
        # As a result is read, too, it may lack them.
        checked(phase_result(phase_of(record), around, 512), PhaseResult)
    # A monitor that does not count pages: these are 0, and the times are there.
    only_time = {"flash_start": {"erase_ns": 1}, "flash_end": {"erase_ns": 3}}
    found = phase_result(phase_of({**record, **only_time}), {}, 512)
    keys = ("pages_read", "pages_programmed", "blocks_erased", "in_driver_ns")
    assert [found[key] for key in keys] == [0, 0, 0, 2]


def ended_phase(name: str, start: int, duration: int, counts: tuple[int, ...]) -> dict[str, Any]:
    keys = (*FILES, "bytes_read", "bytes_written")
    return {
        "phase": name,
        "status": "ok",
        "errno_name": "",
        "t_start_ns": start,
        "t_end_ns": start + duration,
        "duration_ns": duration,
        **dict(zip(keys, counts, strict=True)),
    }


def test_the_workload_is_the_sum_of_its_phases() -> None:
    phases = [
        {"phase": "mount"},
        ended_phase("creation", 1_000, 10_000, (1, 2, 3, 4, 500, 6_000)),
        ended_phase("transactions", 50_000, 30_000, (10, 20, 30, 40, 1_500, 4_000)),
        ended_phase("deletion", 90_000, 60_000, (100, 200, 300, 400, 0, 240)),
    ]
    around = snapshots("creation:start", "deletion:end")
    whole = {
        "phase": "workload",
        "status": "ok",
        "errno_name": "",
        "t_start_ns": 1_000,
        "t_end_ns": 150_000,
        "files_created": 111,
        "files_deleted": 222,
        "files_read": 333,
        "files_appended": 444,
        "bytes_read": 2_000,
        "bytes_written": 10_240,
        "duration_ns": 100_000,  # 10,000 + 30,000 + 60,000: not the pauses between them
        "read_bytes_per_s": 2e7,  # 2,000 ÷ 100 µs
        "write_bytes_per_s": 1.024e8,
    }
    flash = {
        "flash": GAINED,
        "pages_read": 30,
        "pages_programmed": 500,
        "blocks_erased": 4,
        "in_driver_ns": 876_000,
        "write_amplification": 400.0,  # 500 × 8,192 ÷ 10,240
        "read_amplification": 122.88,  # 30 × 8,192 ÷ 2,000
        **WEAR,
    }
    assert workload_result(phases, around, 8192, FFSMARK) == {**whole, **flash}
    # One snapshot alone says nothing.
    for label in around:
        one = {label: around[label]}
        assert workload_result(phases, one, 8192, FFSMARK) == {**whole, "flash": {}}
    assert workload_result(phases[:3], around, 8192, FFSMARK) is None
    full = {**phases[2], "status": "error", "errno_name": "ENOSPC"}
    found = workload_result([*phases[:2], full, phases[3]], {}, 8192, FFSMARK)
    assert found is not None
    assert (found["status"], found["errno_name"]) == ("error", "ENOSPC")


def task_time(name: str, *ns: int) -> dict[str, Any]:
    return {"name": name, **dict(zip(("code_ns", "driver_ns", "chip_ns"), ns, strict=True))}


def test_whose_time_it_was_is_kept_and_added_up() -> None:
    record = {"phase": "mount", "status": "ok", "t_start_ns": 70, "t_end_ns": 90}
    tasks = [task_time("init", 9, 1, 2), task_time("swapper", 8, 0, 0)]
    found = phase_result(phase_of({**record, "task_times": tasks}), {}, 512)
    assert found["task_times"] == tasks
    assert "task_times" not in phase_result(phase_of({**record, "task_times": []}), {}, 512)
    checked(found, PhaseResult)
    phases = [ended_phase(name, 0, 0, (0,) * 6) for name in FFSMARK]
    for phase in phases:
        phase["task_times"] = [task_time("init", 1, 20, 300)]
    phases[1]["task_times"] = [task_time("jffs2_gcd", 5, 6, 7), task_time("init", 2, 2, 2)]
    whole = workload_result(phases, {}, 512, FFSMARK)
    assert whole is not None
    assert whole["task_times"] == [task_time("init", 4, 42, 602), task_time("jffs2_gcd", 5, 6, 7)]
    del phases[2]["task_times"]
    assert "task_times" not in (workload_result(phases, {}, 512, FFSMARK) or {})


def test_of_a_micro_benchmark_measure_and_flush_are_the_workload() -> None:
    phases = [
        ended_phase("measure", 100, 300, (0, 0, 0, 0, 0, 1_000)),
        ended_phase("flush", 500, 100, (0, 0, 0, 0, 0, 24)),
    ]
    found = workload_result(phases, snapshots("measure:start", "flush:end"), 512, MICRO)
    assert found is not None
    assert (found["t_start_ns"], found["t_end_ns"], found["duration_ns"]) == (100, 600, 400)
    assert (found["bytes_written"], found["write_amplification"]) == (1_024, 250.0)  # 500 × 512
    assert workload_result(phases[:1], {}, 512, MICRO) is None


def test_a_rate_needs_time() -> None:
    assert [rate_per_s(7, 0), rate_per_s(7, 1), rate_per_s(0, 5)] == [0.0, 7e9, 0.0]


def test_wear_of_no_blocks_is_none() -> None:
    keys = ("erases_mean", "erases_std", "erases_spread", "erases_max")
    assert wear_metrics([], []) == dict.fromkeys(keys, 0)
