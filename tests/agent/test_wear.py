# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the step wear, on a temporary directory or a tmpfs.

usage: test_wear.py FFSAGENT
"""

from __future__ import annotations

import sys

from agent_support import ORDER, Agent, Record, main, of_type, phases, tmpfs

ORDER["wear"] = ["v", "type", "asked", "written", "files", "stopped"]


def wear(agent: Agent, keys: str, expect: int = 0) -> list[Record]:
    return agent.plan(f"wear dir={agent.dir} {keys}", expect=expect)


def summary(records: list[Record]) -> tuple[object, ...]:
    (record,) = of_type(records, "wear")
    return tuple(record[key] for key in ORDER["wear"][2:])


def test_volumes_are_met(agent: Agent) -> None:
    # Files of 3,000 bytes: two to 5,000, of which the second has 2,000, and one more of 1,000.
    keys = "static_bytes=10001 file_bytes=3000 unit_bytes=999 volumes=5000,6000"
    records = wear(agent, keys)
    p = phases(records)
    assert list(p) == ["static", "write", "verify"]
    assert (p["static"]["bytes_written"], p["static"]["files_created"]) == (10001, 1)
    written = [p["write"][key] for key in ("bytes_written", "files_created", "files_deleted")]
    assert written == [6000, 3, 3] and p["verify"]["bytes_read"] == 10001
    assert summary(records) == (6000, 6000, 3, "")
    assert [file.name for file in agent.dir.iterdir()] == ["ffslab.static"]
    assert (agent.dir / "ffslab.static").stat().st_size == 10001


def test_without_static_data_there_is_nothing_to_verify(agent: Agent) -> None:
    records = wear(agent, "file_bytes=10 volumes=25")
    assert list(phases(records)) == ["static", "write"] and summary(records) == (25, 25, 3, "")


def test_a_full_partition_keeps_the_static_data(agent: Agent) -> None:
    with tmpfs(agent, "1m") as directory:
        records = agent.plan(
            f"wear dir={directory} static_bytes=500000 file_bytes=600000 volumes=9999999",
            expect=1,
        )
    p = phases(records)
    assert (p["write"]["status"], p["write"]["errno_name"]) == ("error", "ENOSPC")
    asked, written, files, stopped = summary(records)
    assert (asked, files, stopped) == (9999999, 0, "ENOSPC") and 0 < int(str(written)) < 600000
    assert p["verify"]["status"] == "ok" and p["verify"]["bytes_read"] == 500000


def test_append_syncs_each_write_and_deletes_the_file(agent: Agent) -> None:
    records = wear(agent, "pattern=append file_bytes=1000 unit_bytes=400 volumes=2500")
    p = phases(records)
    # 400 + 400 + 200, twice, and 400 + 100: three files, none of which stays.
    written = [p["write"][key] for key in ("bytes_written", "files_created", "files_deleted")]
    assert written == [2500, 3, 3] and summary(records) == (2500, 2500, 3, "")
    assert not list(agent.dir.iterdir())


def test_overwrite_writes_into_the_file_that_is_there(agent: Agent) -> None:
    def contents(keys: str) -> bytes:
        records = wear(agent, f"pattern=overwrite file_bytes=4000 unit_bytes=1000 {keys}")
        p = phases(records)
        written = [p["write"][key] for key in ("files_created", "files_deleted")]
        assert written == [1, 0] and p["write"]["bytes_written"] == summary(records)[1]
        data = (agent.dir / "ffslab.wear").read_bytes()
        assert len(data) == 4000
        return data

    whole = contents("volumes=4000")
    # Two pieces more: one or two of the four differ, and only whole ones.
    later = contents("volumes=4000,6000")
    pairs = [(whole[at : at + 1000], later[at : at + 1000]) for at in range(0, 4000, 1000)]
    assert 1 <= sum(earlier != other for earlier, other in pairs) <= 2
    assert contents("volumes=4000,6000") == later != contents("volumes=4000,6000 seed=2")


def test_overwrite_needs_a_file_that_is_there(agent: Agent) -> None:
    for keys in ("file_bytes=10 unit_bytes=11 volumes=20", "file_bytes=10 unit_bytes=5 volumes=9"):
        path = agent.scratch / "plan"
        path.write_text(f"ffsplan 1\nwear dir={agent.dir} pattern=overwrite {keys}\n")
        done = agent.call("run", str(path))
        assert done.returncode == 2 and "to overwrite" in done.stderr, done.stderr


def test_volumes_that_are_none(agent: Agent) -> None:
    many = ",".join(map(str, range(1, 18)))
    for volumes in (
        "0",
        "5,5",
        "5,4",
        "5,",
        ",5",
        "-5",
        "5;6",
        "5 6",
        "18446744073709551616",
        many,
    ):
        path = agent.scratch / "plan"
        path.write_text(f"ffsplan 1\nwear dir={agent.dir} volumes={volumes}\n")
        done = agent.call("run", str(path))
        assert done.returncode == 2 and not list(agent.dir.iterdir()), (volumes, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals()))
