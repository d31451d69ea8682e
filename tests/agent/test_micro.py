# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the steps prepare and micro, on a temporary directory or a tmpfs.

usage: test_micro.py FFSAGENT

What tasks ask of the flash needs a monitor: the tests of the lab have that.
"""

from __future__ import annotations

import itertools
import os
import sys

from agent_support import ORDER, Agent, Record, latency, main, of_type, phases, tmpfs


def requests(records: list[Record], stream: int = 0) -> dict[str, list[int]]:
    """All requests of a stream; checks how they are cut into records."""
    whole: dict[str, list[int]] = {"offset": [], "t_start_ns": [], "latency_ns": []}
    for record in of_type(records, "requests"):
        if record["stream"] != stream:
            continue
        assert record["first"] == len(whole["offset"]) and record["first"] % 1024 == 0
        for key, values in whole.items():
            assert 1 <= len(record[key]) <= 1024
            values.extend(record[key])
        assert len({len(values) for values in whole.values()}) == 1
    return whole


WRITTEN = "prepare test_file=1 file_bytes=1048576"


def test_micro_records(agent: Agent) -> None:
    records = agent.micro("micro request_bytes=1000 volume_bytes=3000500 fsync_every=1000")
    p = phases(records)
    assert list(p) == ["invalidate", "measure", "flush"]
    assert [r["label"] for r in of_type(records, "space")] == [
        f"{name}:{edge}" for name in p for edge in ("start", "end")
    ]
    assert p["measure"]["files_created"] == 1 and p["measure"]["bytes_written"] == 3_000_000
    (micro,) = of_type(records, "micro")
    facts = {key: micro[key] for key in ORDER["micro"][4:]}
    assert facts == {
        "file_bytes": 3_000_500, "volume_bytes": 3_000_500, "requests": 3000,
        "requests_done": 3000, "stopped": "", "streams": 1, "dropped_rows": 0,
    }  # fmt: skip
    done = requests(records)
    assert sorted(done["offset"]) == list(range(0, 3_000_000, 1000)) != done["offset"]
    assert {r["op"] for r in of_type(records, "requests")} == {"write"}
    ends = [t + n for t, n in zip(done["t_start_ns"], done["latency_ns"], strict=True)]
    pairs = zip(done["t_start_ns"], ends, strict=True)
    edges = [p["measure"]["t_start_ns"], *itertools.chain(*pairs), p["measure"]["t_end_ns"]]
    assert edges == sorted(edges)
    writes = latency(records, "measure", "request-write")
    assert writes is not None and writes["count"] == 3000
    assert writes["sum_ns"] == sum(done["latency_ns"])
    assert (agent.dir / "ffslab.test").stat().st_size == 3_000_000
    assert not of_type(records, "request-flash") and not of_type(records, "tasks")


def test_micro_reads_what_was_written(agent: Agent) -> None:
    """All patterns, aligned or not; each read is compared with the generator."""
    keys = "existing=1 cache=keep request_bytes=512 volume_bytes=1048576"
    agent.micro(
        WRITTEN,
        f"micro pattern=sequential-read {keys}",
        f"micro pattern=random-read {keys.replace('keep', 'bypass')}",
        f"micro pattern=sequential-read {keys} increment=-1",
        f"micro pattern=sequential-read {keys} partitions=4",
        f"micro pattern=random-read {keys} parallel=4",
        f"micro pattern=random-read {keys} random=uniform shift_bytes=77 target_bytes=65536",
        # Half of the sectors are of the second generation afterwards.
        f"micro pattern=random-write {keys} target_bytes=524288",
        f"micro pattern=random-read {keys} mix_pattern=random-write mix_ratio=3",
        f"micro pattern=random-read {keys}",
        f"micro pattern=sequential-read {keys.replace('=512', '=65536')}",
    )


def test_micro_finds_wrong_data(agent: Agent) -> None:
    read = "micro pattern=sequential-read existing=1 cache=keep volume_bytes=1048576"
    agent.micro(WRITTEN)
    with (agent.dir / "ffslab.test").open("r+b") as file:
        file.seek(500_000)
        byte = file.read(1)[0]
        file.seek(500_000)
        file.write(bytes([byte ^ 1]))
    records = agent.micro(read, expect=1)
    measure = phases(records)["measure"]
    assert measure["errno_name"] == "EBADMSG" and "first at byte 500000" in measure["message"]
    # What came before it is kept.
    assert len(requests(records)["offset"]) == 500_000 // 4096 + 1
    assert "flush" not in phases(records)
    records = agent.micro(f"{read} parallel=4", expect=1)
    assert "first at byte 500000" in phases(records)["measure"]["message"]
    records = agent.micro(f"{read} seed=2", expect=1)
    assert "another seed" in phases(records)["measure"]["message"]
    os.truncate(agent.dir / "ffslab.test", 300_000)
    records = agent.micro(read.replace("1048576", "4096"))
    assert of_type(records, "micro")[0]["file_bytes"] == 300_000


def test_micro_patterns(agent: Agent) -> None:
    def offsets(keys: str, stream: int = 0) -> list[int]:
        (agent.dir / "ffslab.test").unlink(missing_ok=True)
        step = f"micro request_bytes=4096 volume_bytes=65536 {keys}"
        return [n // 4096 for n in requests(agent.micro(step), stream)["offset"]]

    sequential = "pattern=sequential-write"
    assert offsets(sequential) == list(range(16))
    assert offsets(f"{sequential} increment=-1") == list(range(16))[::-1]
    assert offsets(f"{sequential} increment=0") == [0] * 16
    assert offsets(f"{sequential} increment=8")[:6] == [0, 8, 1, 9, 2, 10]
    assert offsets(f"{sequential} partitions=2")[:4] == [0, 8, 1, 9]
    assert offsets(f"{sequential} target_bytes=8192") == [0, 1] * 8
    shuffled = offsets("pattern=random-write")
    assert sorted(shuffled) == list(range(16)) != shuffled
    assert offsets("pattern=random-write") == shuffled
    assert offsets("pattern=random-write seed=2") != shuffled
    assert offsets(f"{sequential} parallel=4", 3) == [12, 13, 14, 15]
    mixed = f"{sequential} mix_pattern=random-write mix_ratio=3"
    assert offsets(mixed, 0) == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]
    assert set(offsets(mixed, 1)) < set(range(8, 16)) and len(offsets(mixed, 1)) == 4


def test_micro_mix_takes_turns(agent: Agent) -> None:
    records = agent.micro(
        WRITTEN,
        "micro pattern=random-read existing=1 cache=keep mix_pattern=sequential-write mix_ratio=2 "
        "volume_bytes=122880",
    )
    ops = {r["stream"]: r["op"] for r in of_type(records, "requests")}
    assert ops == {0: "read", 1: "write"}
    starts = [(t, stream) for stream in ops for t in requests(records, stream)["t_start_ns"]]
    assert [stream for _, stream in sorted(starts)] == [0, 0, 1] * 10
    measure = phases(records)["measure"]
    assert (measure["bytes_read"], measure["bytes_written"]) == (20 * 4096, 10 * 4096)


def test_micro_parallel(agent: Agent) -> None:
    records = agent.micro("micro request_bytes=512 volume_bytes=1024512 parallel=5")
    (micro,) = of_type(records, "micro")
    assert micro["streams"] == 5 and micro["requests_done"] == 2001
    counts = [len(requests(records, stream)["offset"]) for stream in range(5)]
    assert counts == [401, 400, 400, 400, 400]
    latest = max(
        done["t_start_ns"][-1] + done["latency_ns"][-1]
        for done in (requests(records, stream) for stream in range(5))
    )
    assert latest <= phases(records)["measure"]["t_end_ns"]
    writes = latency(records, "measure", "request-write")
    assert writes is not None and writes["count"] == 2001
    agent.micro(
        "micro pattern=sequential-read existing=1 cache=keep parallel=64 volume_bytes=1000000"
    )


def test_micro_pauses(agent: Agent) -> None:
    records = agent.micro(
        "micro volume_bytes=81920 pause_us=5000 burst=4 settle_ms=20 pattern=sequential-write"
    )
    starts = requests(records)["t_start_ns"]
    gaps = [b - a for a, b in itertools.pairwise(starts)]
    assert min(gaps[3::4]) >= 5_000_000
    # The machine may be busy, but not each time.
    assert min(gaps[0::4] + gaps[1::4] + gaps[2::4]) < 5_000_000
    p = phases(records)
    assert p["measure"]["t_start_ns"] - p["invalidate"]["t_end_ns"] >= 20_000_000


def test_prepared_states(agent: Agent) -> None:
    def names() -> list[str]:
        return sorted(path.name for path in agent.dir.iterdir())

    def prepared(keys: str) -> Record:
        records = agent.micro(f"prepare {keys}")
        assert list(phases(records)) == ["prepare"]
        labels = [r["label"] for r in of_type(records, "space")]
        assert labels == ["prepare:start", "prepare:end"]
        (record,) = of_type(records, "prepared")
        sizes = {path.name: path.stat().st_size for path in agent.dir.iterdir()}
        assert sizes.get("ffslab.valid", 0) == record["valid_bytes"]
        assert sizes.get("ffslab.test", 0) == record["file_bytes"]
        if record["invalid_present"]:
            assert sizes["ffslab.invalid"] == record["invalid_bytes"]
        else:
            assert "ffslab.invalid" not in sizes
        phase = phases(records)["prepare"]
        written = record["valid_bytes"] + record["invalid_bytes"] + record["file_bytes"]
        assert phase["bytes_written"] == written
        assert phase["files_created"] - phase["files_deleted"] == len(sizes)
        return record

    with tmpfs(agent, "8m") as agent.dir:
        assert prepared("state=free")["capacity_bytes"] == 0 and names() == []
        record = prepared("state=aged valid_percent=50 invalid_percent=25")
        assert abs(record["valid_bytes"] - 2 * record["invalid_bytes"]) < 1000
        assert names() == ["ffslab.invalid", "ffslab.valid"]
    with tmpfs(agent, "8m") as agent.dir:
        record = prepared("state=saturated unit_bytes=1000")
        assert record["capacity_bytes"] == record["invalid_bytes"] == 8 << 20
    with tmpfs(agent, "8m") as agent.dir:
        record = prepared("state=saturated test_file=1 file_bytes=9000000")
        # Cut to what is available, a multiple of 512 KiB.
        assert record["file_bytes"] == record["capacity_bytes"] == 8 << 20
        assert names() == ["ffslab.test"]
    filled = f"state=filled rate_percent=50 partition_bytes={8 << 20}"
    with tmpfs(agent, "8m") as agent.dir:
        record = prepared(f"{filled} file_bytes=2000000")
        assert record["invalid_bytes"] == 2_000_000 and not record["file_bytes"]
    with tmpfs(agent, "8m") as agent.dir:
        record = prepared(f"{filled} file_bytes=7000000 test_file=1")
        assert record["invalid_bytes"] == record["file_bytes"] == 4 << 20
        assert names() == ["ffslab.test", "ffslab.valid"]


def test_states_that_cannot_be_reached(agent: Agent) -> None:
    def message(keys: str) -> str:
        with tmpfs(agent, "4m") as agent.dir:
            marker = agent.scratch / "marker"
            records = agent.plan(
                f"prepare dir={agent.dir} {keys}", f"exec path=touch args={marker}", expect=1
            )
            # Nothing is measured in a state that is not the one asked for.
            assert not marker.exists()
            phase = phases(records)["prepare"]
            assert phase["errno_name"] == "ENOSPC"
            return str(phase["message"])

    text = message("state=filled partition_bytes=8388608 rate_percent=100")
    assert "rate_percent=100 cannot be reached" in text and "4194304 went in" in text
    filled = "state=filled partition_bytes=4194304"
    text = message(f"{filled} rate_percent=50 file_bytes=3000000 limit=0")
    assert "file_bytes=3000000 does not fit" in text and "limit=1" in text
    text = message(f"{filled} rate_percent=95 file_bytes=3000000")
    assert "no room for the test file" in text
    assert "does not fit" in message("state=free test_file=1 file_bytes=5000000 limit=0")


def test_micro_in_a_full_partition(agent: Agent) -> None:
    with tmpfs(agent, "4m") as agent.dir:
        records = agent.micro(
            "prepare state=saturated",
            "micro remove=1 request_bytes=4096 volume_bytes=9000000",
        )
        p = phases(records)
        assert p["invalidate"]["files_deleted"] == 1
        (micro,) = of_type(records, "micro")
        assert micro["file_bytes"] == micro["volume_bytes"] == 4 << 20
        assert micro["requests_done"] == micro["requests"] == 1024
        (agent.dir / "ffslab.test").unlink()
        agent.micro("prepare state=aged valid_percent=100")
        step = of_type(agent.micro("micro", expect=1), "step")[0]
        assert step["errno_name"] == "ENOSPC" and "no room for the test file" in step["message"]


def test_micro_stops_or_fails_at_enospc(agent: Agent) -> None:
    """The file fits by what is available, but its data are not all: sparse, then other data."""
    with tmpfs(agent, "4m") as agent.dir:
        marker = agent.scratch / "marker"
        keys = "request_bytes=4096 volume_bytes=4194304 pattern=sequential-write existing=1"
        test_file = agent.dir / "ffslab.test"

        def sparse() -> None:
            test_file.unlink(missing_ok=True)
            test_file.touch()
            os.truncate(test_file, 4 << 20)

        (agent.dir / "other").write_bytes(bytes(1 << 20))
        sparse()
        records = agent.micro(f"micro {keys}")
        (micro,) = of_type(records, "micro")
        assert micro["stopped"] == "ENOSPC" and micro["requests"] == 1024
        assert micro["requests_done"] == len(requests(records)["offset"]) == 768
        assert list(phases(records)) == ["invalidate", "measure", "flush"]
        sparse()
        records = agent.plan(
            f"micro dir={agent.dir} {keys} limit=0", f"exec path=touch args={marker}", expect=1
        )
        assert marker.exists(), "the plan goes on after ENOSPC"
        measure = phases(records)["measure"]
        assert measure["errno_name"] == "ENOSPC" and "limit=1" in measure["message"]
        assert measure["bytes_written"] == 768 * 4096
        sparse()
        records = agent.micro(f"micro {keys} parallel=2")
        assert of_type(records, "micro")[0]["stopped"] == "ENOSPC"


def test_micro_errors_say_what_to_do(agent: Agent) -> None:
    def message(step: str) -> str:
        return str(of_type(agent.micro(step, expect=1), "step")[0]["message"])

    assert "prepare with test_file=1" in message("micro existing=1")
    assert "cannot be removed" in message("micro remove=1")
    agent.micro(WRITTEN)
    assert "set existing=1" in message("micro volume_bytes=4096")
    assert "left over" in message(WRITTEN)
    assert "larger than the target" in message("micro existing=1 request_bytes=2097152")
    assert "limit=1" in message("micro existing=1 limit=0 target_bytes=2097152")
    # With the limit a target that was prepared smaller is cut, too.
    agent.micro("micro existing=1 target_bytes=2097152 volume_bytes=4096")


if __name__ == "__main__":
    sys.exit(main(globals()))
