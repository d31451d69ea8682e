# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the step tiobench, on a temporary directory or a tmpfs.

usage: test_tiobench.py FFSAGENT
"""

from __future__ import annotations

import sys

from agent_support import ORDER, Agent, Record, latency, main, of_type, phases, tmpfs

ORDER["tiobench"] = [
    "v", "type", "phase", "threads", "block_bytes", "file_bytes", "requests", "requests_done",
    "above_2s", "above_10s", "stopped", "slowest",
]  # fmt: skip
PARTS = {"write": "write", "random-write": "write", "read": "read", "random-read": "read"}
SMALL = "file_bytes=1000000 random_bytes=100000 drop_caches=0"


def bench(agent: Agent, keys: str, expect: int = 0) -> list[Record]:
    return agent.plan(f"tiobench dir={agent.dir} {keys}", expect=expect)


def summaries(records: list[Record]) -> dict[str, Record]:
    return {record["phase"]: record for record in of_type(records, "tiobench")}


def test_phases_and_their_counts(agent: Agent) -> None:
    records = bench(agent, f"{SMALL} block_bytes=1000")
    p = phases(records)
    assert list(p) == ["write", "write-flush", "random-write", "random-write-flush", "read",
                       "random-read"]  # fmt: skip
    assert {r["workload"] for r in p.values()} == {"tiobench"}
    assert [p[name]["bytes_written"] for name in p] == [1_000_000, 0, 100_000, 0, 0, 0]
    assert [p[name]["bytes_read"] for name in p] == [0, 0, 0, 0, 1_000_000, 100_000]
    for name, op in PARTS.items():
        requests, summary = latency(records, name, op), summaries(records)[name]
        assert (
            requests is not None
            and requests["count"] == summary["requests"] == summary["requests_done"]
        )
        assert requests["max_ns"] == summary["slowest"]["latency_ns"]
        phase = p[name]
        assert requests["sum_ns"] <= phase["t_end_ns"] - phase["t_start_ns"]
        started = summary["slowest"]["t_start_ns"]
        assert phase["t_start_ns"] <= started <= phase["t_end_ns"] - requests["max_ns"]
        assert (summary["above_2s"], summary["above_10s"], summary["stopped"]) == (0, 0, "")
        assert latency(records, name, "sync") is None
    assert (agent.dir / "tiobench.0").stat().st_size == 1_000_000
    assert "left over" in bench(agent, f"{SMALL} block_bytes=1000", expect=1)[-1]["message"]


def test_threads_have_a_file_each(agent: Agent) -> None:
    records = bench(agent, f"{SMALL} threads=3 block_bytes=100 full=1 sync=end")
    sizes = {path.name: path.stat().st_size for path in agent.dir.iterdir()}
    # A third of 1,000,000 bytes in whole blocks of 100.
    assert sizes == {f"tiobench.{thread}": 333_300 for thread in range(3)}
    for name, op in PARTS.items():
        summary, requests = summaries(records)[name], latency(records, name, op)
        assert summary["threads"] == 3 and summary["file_bytes"] == 999_900 and requests is not None
        assert summary["requests_done"] == (999 if name.startswith("random") else 9999)
        full = [r for r in of_type(records, "full-latency") if (r["phase"], r["op"]) == (name, op)]
        values = [value for record in full for value in record["values_ns"]]
        assert len(values) == requests["count"] and sum(values) == requests["sum_ns"]
        synced = latency(records, name, "sync")
        assert (synced["count"] if synced else 0) == (3 if op == "write" else 0)


def test_the_slowest_is_the_one_it_says(agent: Agent) -> None:
    records = bench(agent, f"{SMALL} block_bytes=500 full=1")
    for name, op in PARTS.items():
        full = [r for r in of_type(records, "full-latency") if (r["phase"], r["op"]) == (name, op)]
        values = [value for record in full for value in record["values_ns"]]
        slowest = summaries(records)[name]["slowest"]
        assert values.index(max(values)) == slowest["request"]
        if not name.startswith("random"):
            assert slowest["offset"] == 500 * slowest["request"]


def test_contents(agent: Agent) -> None:
    bench(agent, f"{SMALL} block_bytes=256 contents=zeros")
    path = agent.dir / "tiobench.0"
    assert not any(path.read_bytes())
    texts = []
    for seed in (1, 1, 2):
        path.unlink()
        bench(agent, f"{SMALL} block_bytes=256 seed={seed}")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1] != texts[2]


def test_a_full_partition(agent: Agent) -> None:
    """ENOSPC ends the step and not the plan; what was measured is kept."""
    with tmpfs(agent, "512k") as top:
        marker = agent.scratch / "marker"
        records = agent.plan(
            f"tiobench dir={top} {SMALL} block_bytes=4096",
            f"exec path=touch args={marker}",
            expect=1,
        )
        assert marker.exists()
    assert list(phases(records)) == ["write"]
    summary = summaries(records)["write"]
    assert (summary["stopped"], summary["requests"], summary["requests_done"]) == (
        "ENOSPC",
        244,
        128,
    )
    step = of_type(records, "step")[0]
    assert step["may_fill"] is True and step["errno_name"] == "ENOSPC"


def test_the_invalid_data_goes_before_the_files(agent: Agent) -> None:
    with tmpfs(agent, "2m") as top:
        records = agent.plan(
            f"prepare dir={top} state=saturated",
            f"tiobench dir={top} {SMALL} remove=1 settle_ms=30 block_bytes=1000",
        )
    p = phases(records)
    assert list(p)[:3] == ["prepare", "invalidate", "write"]
    assert p["write"]["t_start_ns"] - p["invalidate"]["t_end_ns"] >= 30_000_000


if __name__ == "__main__":
    sys.exit(main(globals()))
