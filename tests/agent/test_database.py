# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the step database, on a temporary directory or a tmpfs.

usage: test_database.py FFSAGENT
"""

from __future__ import annotations

import sys

from agent_support import ORDER, Agent, Record, latency, main, of_type, phases, tmpfs

ORDER["database"] = [
    "v", "type", "transactions", "transactions_done", "changed_bytes", "written_bytes",
    "checkpoints", "stopped",
]  # fmt: skip
SMALL = "transactions=30 pages_per_transaction=4 page_bytes=1024 database_bytes=102400"


def database(agent: Agent, keys: str, expect: int = 0) -> list[Record]:
    return agent.plan(f"database dir={agent.dir} {keys}", expect=expect)


def summary(records: list[Record]) -> dict[str, object]:
    (record,) = of_type(records, "database")
    return {key: record[key] for key in ORDER["database"][2:]}


def counts(records: list[Record]) -> tuple[int, ...]:
    found = (latency(records, "commit", op) for op in ("transaction", "sync", "checkpoint"))
    return tuple(record["count"] if record else 0 for record in found)


def test_a_rollback_journal(agent: Agent) -> None:
    records = database(agent, f"{SMALL} verify=1")
    p = phases(records)
    assert list(p) == ["create", "commit", "close", "verify"]
    assert {r["workload"] for r in p.values()} == {"database"}
    changed = 30 * 4 * 1024
    each = 512 + 4 + 5 * (1024 + 8) + 5 * 1024
    assert summary(records) == {
        "transactions": 30, "transactions_done": 30, "changed_bytes": changed,
        "written_bytes": 30 * each, "checkpoints": 0, "stopped": "",
    }  # fmt: skip
    assert p["create"]["bytes_written"] == p["verify"]["bytes_read"] == 102400
    assert p["commit"]["bytes_written"] == changed and p["close"]["bytes_written"] == 0
    assert counts(records) == (30, 90, 0)
    assert [path.name for path in agent.dir.iterdir()] == ["database"]
    assert records[0]["seed"] == 1 and "left over" in database(agent, "", expect=1)[-1]["message"]


def test_a_write_ahead_log(agent: Agent) -> None:
    records = database(agent, f"{SMALL} journal=wal checkpoint_frames=50 verify=1 text=0 seed=7")
    # 52 frames come to a checkpoint, twice; the last 16 are copied by the close.
    assert summary(records)["checkpoints"] == 3
    assert counts(records) == (30, 33, 3)
    assert [path.name for path in agent.dir.iterdir()] == ["database"]
    assert records[0]["seed"] == 7


def test_both_journals_leave_the_same_pages_but_the_first(agent: Agent) -> None:
    found = []
    for journal in ("delete", "wal"):
        database(agent, f"{SMALL} journal={journal}")
        found.append((agent.dir / "database").read_bytes())
        (agent.dir / "database").unlink()
    assert found[0][1024:] == found[1][1024:] and found[0][:1024] != found[1][:1024]


def test_a_full_partition(agent: Agent) -> None:
    """ENOSPC ends the step and not the plan."""
    with tmpfs(agent, "1m") as top:
        marker = agent.scratch / "marker"
        records = agent.plan(
            f"database dir={top} journal=wal database_bytes=800000 verify=1",
            f"exec path=touch args={marker}",
            expect=1,
        )
        assert marker.exists()
    p = phases(records)
    assert list(p) == ["create", "commit"] and p["commit"]["errno_name"] == "ENOSPC"
    found = summary(records)
    assert found["stopped"] == "ENOSPC"
    # 62 frames of 4,120 bytes are left at most: 31 transactions.
    assert 20 < int(str(found["transactions_done"])) <= 31


def test_the_invalid_data_goes_before_the_database(agent: Agent) -> None:
    with tmpfs(agent, "4m") as top:
        records = agent.plan(
            f"prepare dir={top} state=saturated",
            f"database dir={top} transactions=5 database_bytes=1048576 remove=1 settle_ms=30",
        )
        assert [path.name for path in top.iterdir()] == ["database"]
    p = phases(records)
    assert list(p) == ["prepare", "invalidate", "create", "commit", "close"]
    assert p["create"]["t_start_ns"] - p["invalidate"]["t_end_ns"] >= 30_000_000


if __name__ == "__main__":
    sys.exit(main(globals()))
