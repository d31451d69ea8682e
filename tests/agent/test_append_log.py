# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the step append-log, on a temporary directory or a tmpfs.

usage: test_append_log.py FFSAGENT
"""

from __future__ import annotations

import sys

from agent_support import ORDER, Agent, Record, latency, main, of_type, phases, tmpfs

ORDER["append-log"] = [
    "v", "type", "lines", "lines_done", "synced", "rotations", "bytes", "stopped",
]  # fmt: skip
OPS = ("append", "sync", "append-sync", "rotate")


def log(agent: Agent, keys: str, expect: int = 0) -> list[Record]:
    return agent.plan(f"append-log dir={agent.dir} {keys}", expect=expect)


def summary(records: list[Record]) -> dict[str, object]:
    (record,) = of_type(records, "append-log")
    return {key: record[key] for key in ORDER["append-log"][2:]}


def counts(records: list[Record]) -> tuple[int, ...]:
    latencies = (latency(records, "append", op) for op in OPS)
    return tuple(record["count"] if record else 0 for record in latencies)


def numbers(agent: Agent, name: str) -> list[int]:
    return [int(line[:10]) for line in (agent.dir / name).read_text().splitlines()]


def test_log_records(agent: Agent) -> None:
    records = log(agent, "lines=100 line_bytes=80 fsync_every=8 verify=1")
    p = phases(records)
    assert list(p) == ["append", "flush", "verify"]
    assert [r["label"] for r in of_type(records, "space")] == [
        f"{name}:{edge}" for name in p for edge in ("start", "end")
    ]
    assert {r["workload"] for r in p.values()} == {"append-log"}
    assert p["append"]["bytes_written"] == 8000 and p["append"]["files_appended"] == 100
    assert p["verify"]["bytes_read"] == 8000
    assert summary(records) == {
        "lines": 100, "lines_done": 100, "synced": 96, "rotations": 0, "bytes": 8000, "stopped": "",
    }  # fmt: skip
    assert counts(records) == (100, 12, 12, 0)
    assert numbers(agent, "log") == list(range(100))
    assert {len(line) for line in (agent.dir / "log").read_text().splitlines()} == {79}
    assert records[0]["seed"] == 1 and "left over" in log(agent, "", expect=1)[-1]["message"]


def test_a_line_with_its_sync_is_the_sum_of_both(agent: Agent) -> None:
    records = log(agent, "lines=50 fsync_every=1 sync=fdatasync")
    by_op = {op: latency(records, "append", op) for op in OPS}
    append, sync, both = (by_op[op] for op in OPS[:3])
    assert append is not None and sync is not None and both is not None
    assert append["count"] == sync["count"] == both["count"] == 50
    assert append["sum_ns"] < both["sum_ns"] and sync["sum_ns"] <= both["sum_ns"]
    phase = phases(records)["append"]
    assert both["sum_ns"] <= phase["t_end_ns"] - phase["t_start_ns"]


def test_never_synced(agent: Agent) -> None:
    records = log(agent, "lines=40 fsync_every=0 rotate_bytes=1280 line_bytes=128 keep=9")
    assert summary(records)["synced"] == 0 and counts(records) == (40, 0, 0, 3)


def test_sleeps_are_in_the_phase_and_in_no_latency(agent: Agent) -> None:
    records = log(agent, "lines=21 interval_us=10000 fsync_every=0")
    phase, append = phases(records)["append"], latency(records, "append", "append")
    assert append is not None
    slept = phase["t_end_ns"] - phase["t_start_ns"] - append["sum_ns"]
    assert slept >= 20 * 10_000_000


def test_rotation(agent: Agent) -> None:
    records = log(agent, "lines=95 line_bytes=100 rotate_bytes=1099 keep=3 fsync_every=4 verify=1")
    assert sorted(path.name for path in agent.dir.iterdir()) == ["log", "log.1", "log.2", "log.3"]
    assert numbers(agent, "log") == list(range(90, 95))
    assert numbers(agent, "log.1") == list(range(80, 90))
    assert numbers(agent, "log.3") == list(range(60, 70))
    assert summary(records)["rotations"] == 9 and summary(records)["synced"] == 94
    # Each file: two times four lines, and two that are synced when it is rotated.
    assert counts(records) == (95, 9 * 3 + 1, 9 * 2 + 1, 9)
    append = phases(records)["append"]
    assert append["files_created"] == 9 and append["files_deleted"] == 6
    assert phases(records)["verify"]["bytes_read"] == 3500


def test_rotation_without_old_files(agent: Agent) -> None:
    records = log(agent, "lines=25 line_bytes=100 rotate_bytes=1000 keep=0 verify=1")
    assert [path.name for path in agent.dir.iterdir()] == ["log"]
    assert numbers(agent, "log") == list(range(20, 25))
    assert phases(records)["append"]["files_deleted"] == 2


def test_the_seed_makes_the_text(agent: Agent) -> None:
    texts = []
    for seed in (1, 1, 2):
        log(agent, f"lines=20 seed={seed}")
        texts.append((agent.dir / "log").read_bytes())
        (agent.dir / "log").unlink()
    assert texts[0] == texts[1] != texts[2]


def test_a_full_partition(agent: Agent) -> None:
    """ENOSPC ends the step and not the plan; what is there is verified all the same."""
    with tmpfs(agent, "1m") as top:
        marker = agent.scratch / "marker"
        records = agent.plan(
            f"append-log dir={top} lines=3000 line_bytes=1000 verify=1",
            f"exec path=touch args={marker}",
            expect=1,
        )
        assert marker.exists()
        p = phases(records)
        assert list(p) == ["append", "verify"]
        assert p["append"]["errno_name"] == "ENOSPC" and "rotate_bytes" in p["append"]["message"]
        assert p["verify"]["status"] == "ok" and p["verify"]["bytes_read"] == 1 << 20
        totals = summary(records)
        assert totals["stopped"] == "ENOSPC" and totals["lines_done"] == (1 << 20) // 1000
        assert totals["bytes"] == (1 << 20) // 1000 * 1000
        step = of_type(records, "step")[0]
        assert step["may_fill"] is True and step["errno_name"] == "ENOSPC"
    with tmpfs(agent, "1m") as top:
        agent.plan(
            f"append-log dir={top} lines=3000 line_bytes=1000 rotate_bytes=300000 keep=2 verify=1"
        )


def test_the_invalid_data_goes_before_the_log(agent: Agent) -> None:
    """On a partition that it has filled no log could be created."""
    with tmpfs(agent, "1m") as top:
        records = agent.plan(
            f"prepare dir={top} state=saturated",
            f"append-log dir={top} lines=10 remove=1 settle_ms=30",
        )
        assert [path.name for path in top.iterdir()] == ["log"]
    p = phases(records)
    assert list(p) == ["prepare", "invalidate", "append", "flush"]
    assert p["invalidate"]["files_deleted"] == 1
    assert p["append"]["t_start_ns"] - p["invalidate"]["t_end_ns"] >= 30_000_000


def test_without_invalid_data_there_is_nothing_to_remove(agent: Agent) -> None:
    records = log(agent, "lines=1 remove=1", expect=1)
    assert "ffslab.invalid cannot be removed" in records[-1]["message"]
    assert not phases(records) and not list(agent.dir.iterdir())
    assert "set remove=1" in log(agent, "settle_ms=1", expect=2)[-1]["message"]


def test_a_failure_after_the_removal_keeps_its_record(agent: Agent) -> None:
    (agent.dir / "ffslab.invalid").write_text("x")
    (agent.dir / "log").write_text("x")
    records = log(agent, "lines=1 remove=1", expect=1)
    assert list(phases(records)) == ["invalidate"]
    assert "left over" in of_type(records, "step")[0]["message"]


if __name__ == "__main__":
    sys.exit(main(globals()))
