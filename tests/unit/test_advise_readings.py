"""What advise reads in the results of its cases: writes, wear, with values worked out by hand."""

from __future__ import annotations

from typing import Any

from ffslab.advise.probes import WEAR, WRITE
from ffslab.advise.readings import reading_of

MS = 10**6


def task(name: str, pages_read: int, pages_programmed: int) -> dict[str, Any]:
    rest = {"blocks_erased": 0, "busy_ns": 5, "oob_pages": 0}
    counts = {"pages_read": pages_read, "pages_programmed": pages_programmed}
    return {"phase": "measure", "name": name, **rest, **counts}


def latency(phase: str, longest_ms: int, count: int = 1000) -> dict[str, Any]:
    sizes = {"p50_ns": 2 * MS, "p99_ns": 3 * MS, "p999_ns": 40 * MS, "max_ns": longest_ms * MS}
    return {"phase": phase, "op": "write", "count": count, **sizes}


def written(**changed: Any) -> Any:
    """The longest of its own writes took 500 ms; others took longer, and are not of its own."""
    spec = {
        "workload": {"kind": "capacity"},
        "board": {"chip": {"page_bytes": 2048, "endurance_cycles": 100_000}},
        "filesystem": {"ubi": None},
    }
    whole: dict[str, Any] = {
        "outcome": "pass",
        "spec": spec,
        "latencies": [
            latency("measure", 400),
            latency("again", 500, 1234),
            latency("verify", 600),
            latency("prepare", 700),
            latency("invalidate", 800),
            latency("flush", 900, 0),
        ],
        "phases": [
            {"phase": "measure", "bytes_written": 1, "pages_programmed": 1},
            {"phase": "workload", "bytes_written": 4096 * 1024, "pages_programmed": 3072},
        ],
        "capacity": {"tasks": []},
        **changed,
    }
    return whole


def test_the_longest_write_and_what_is_programmed_for_a_byte() -> None:
    found = reading_of(WRITE, written()).values
    assert found["write"].value == 500 * MS
    assert found["write"].why == "half of 1,234 writes within 2.00 ms, 99.9 % within 40.0 ms"
    # 3,072 pages of 2 KiB are 6 MiB, for 4 MiB.
    assert found["programmed"].value == 1.5
    assert found["programmed"].why == "3,072 pages programmed for 4 MiB written"
    nothing = reading_of(WRITE, written(latencies=[latency("measure", 5, 0)], phases=[]))
    assert nothing.values == {}
    idle = [{"phase": "workload", "bytes_written": 0, "pages_programmed": 3}]
    uncounted = [{"phase": "workload", "bytes_written": 9}]
    for phases in (idle, uncounted):
        assert list(reading_of(WRITE, written(phases=phases)).values) == ["write"]


def test_who_used_the_flash_is_told_with_the_writes() -> None:
    """Of 1,000 pages read and programmed 700, 291 and 9: the third has less than a hundredth."""
    rows = [task("ffsagent", 91, 200), task("jffs2_gcd_mtd0", 300, 400), task("kworker", 9, 0)]
    found = reading_of(WRITE, written(capacity={"tasks": rows})).values["write"]
    assert found.why.endswith(
        "; of the pages read and programmed: jffs2_gcd_mtd0 70 %, within the writes 29 %"
    )
    few = [task("init", 0, 991), task("kworker", 9, 0)]
    found = reading_of(WRITE, written(capacity={"tasks": few})).values["write"]
    assert found.why.endswith("; of the pages read and programmed: within the writes 99 %")
    # Two of three are told: of 300 pages 200 and 60, not the 40.
    rows = [task("one", 40, 0), task("two", 0, 60), task("three", 110, 90)]
    found = reading_of(WRITE, written(capacity={"tasks": rows})).values["write"]
    assert found.why.endswith("; of the pages read and programmed: three 67 %, two 20 %")
    even = [task("init", 0, 99), task("kworker", 0, 1), task("init", 0, 0)]
    found = reading_of(WRITE, written(capacity={"tasks": even})).values["write"]
    assert found.why.endswith(": within the writes 99 %, kworker 1 %")


def worn(ubi: bool, **inside: float) -> Any:
    """Three volumes, of which the last counts."""
    volumes = [
        {"written_bytes": 1, "inside": {"mean": 1.0, "max": 1}},
        {"written_bytes": 2, "inside": {"mean": 1.0, "max": 2}},
        {"written_bytes": 8 * 2**20, "inside": inside},
    ]
    result = written(wear={"volumes": volumes})
    result["spec"]["workload"]["kind"] = "wear"
    result["spec"]["filesystem"]["ubi"] = {"volume": "data"} if ubi else None
    return result


def test_how_unevenly_blocks_wear_is_read_at_the_last_volume() -> None:
    found = reading_of(WEAR, worn(False, mean=2.0, max=7)).values["imbalance"]
    assert found.value == 3.5
    assert found.why == "erased 2.0 times in the mean and 7 at most by 8 MiB"
    # UBI's threshold of 4,096 erases bounds it: 100,000 ÷ (100,000 − 4,096).
    found = reading_of(WEAR, worn(True, mean=2.0, max=7)).values["imbalance"]
    assert found.value == 100_000 / 95_904
    assert reading_of(WEAR, written(wear=None)).values == {}
    assert reading_of(WEAR, written(wear={"volumes": []})).values == {}
