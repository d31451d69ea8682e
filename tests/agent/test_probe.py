# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests of the steps probe-cpu and probe-flash, without a flash.

usage: test_probe.py FFSAGENT
"""

from __future__ import annotations

import sys

from agent_support import ORDER, Agent, Record, main, of_type, phases

ORDER["probe"] = ["v", "type", "phase", "what", "count", "bytes", "cpu_ns"]
KINDS = ("syscall", "open", "switch", "copy", "set", "user-copy", "user-crc32")


def probe(agent: Agent, line: str, expect: int = 0) -> list[Record]:
    return agent.plan(f"probe-cpu {line}", expect=expect)


def test_each_kind_is_a_phase_with_its_cpu_time(agent: Agent) -> None:
    for kind in KINDS:
        records = probe(agent, f"what={kind} phase=of-{kind} count=7 bytes=4096")
        (record,) = of_type(records, "probe")
        assert (record["phase"], record["what"]) == (f"of-{kind}", kind)
        assert (record["count"], record["bytes"]) == (7, 4096)
        phase = phases(records)[f"of-{kind}"]
        took = int(str(phase["t_end_ns"])) - int(str(phase["t_start_ns"]))
        assert phase["status"] == "ok" and phase["workload"] == "probe"
        assert 0 < int(str(record["cpu_ns"])) <= took
        assert not of_type(records, "latency")


def test_more_is_longer(agent: Agent) -> None:
    """A thousand times the bytes of one loop, whose time is mostly theirs."""

    def cpu_ns(size: int) -> int:
        records = probe(agent, f"what=user-crc32 phase=p count=20 bytes={size}")
        return int(str(of_type(records, "probe")[0]["cpu_ns"]))

    assert cpu_ns(1_000_000) > 20 * cpu_ns(1_000)


def test_a_flash_that_is_not_there_is_told(agent: Agent) -> None:
    records = agent.plan("probe-flash mtd=no-such what=read phase=read", expect=1)
    assert not of_type(records, "probe") and not of_type(records, "phase")
    (step,) = of_type(records, "step")
    assert step["status"] == "error" and "/proc/mtd" in str(step["message"])


def test_what_is_no_probe_is_refused(agent: Agent) -> None:
    for line in (
        "probe-cpu phase=p",
        "probe-cpu what=nap phase=p",
        "probe-cpu what=copy phase=",
        "probe-cpu what=copy phase=p count=0",
        "probe-cpu what=copy phase=p bytes=67108865",
        "probe-flash mtd=data what=syscall phase=p",
        "probe-flash mtd=data what=read phase=p blocks=0",
        "probe-flash what=read phase=p",
    ):
        path = agent.scratch / "plan"
        path.write_text(f"ffsplan 1\n{line}\n")
        done = agent.call("run", str(path))
        assert done.returncode == 2, (line, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals()))
