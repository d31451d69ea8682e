# SPDX-License-Identifier: GPL-2.0-only
"""End-to-end tests: ffsagent as an ordinary program on a temporary directory.

usage: test_agent.py FFSAGENT
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

from agent_support import Agent, Skip, latency, main, of_type, parse, phases, tmpfs

COUNTS = [
    "files_created", "files_deleted", "files_read", "files_appended",
    "bytes_read", "bytes_written",
]  # fmt: skip


def bucket_index(value: int) -> int:
    """The histogram's definition, from docs/plan-format.md."""
    if value < 128:
        return value
    e = value.bit_length() - 1
    return (e - 6) * 128 + (value >> (e - 7)) - 128


def test_counts_agree(agent: Agent) -> None:
    records = agent.ffsmark("number=300 subdirectories=7 transactions=3000 seed=7 verify=1")
    p = phases(records)
    assert list(p) == [
        "prepare", "invalidate", "creation", "transactions", "verify", "deletion",
    ]  # fmt: skip
    mixed = p["transactions"]
    assert p["creation"]["files_created"] == 300
    assert mixed["files_created"] + mixed["files_deleted"] == 3000
    assert mixed["files_read"] + mixed["files_appended"] <= 3000
    left = 300 + mixed["files_created"] - mixed["files_deleted"]
    assert p["verify"]["files_read"] == left == p["deletion"]["files_deleted"]
    assert p["verify"]["bytes_read"] <= p["creation"]["bytes_written"] + mixed["bytes_written"]
    assert not list(agent.dir.iterdir())
    times = [t for r in p.values() for t in (r["t_start_ns"], r["t_end_ns"])]
    assert times == sorted(times)
    assert [r["label"] for r in of_type(records, "space")] == [
        f"{name}:{edge}" for name in p for edge in ("start", "end")
    ]


def test_latencies_agree(agent: Agent) -> None:
    records = agent.ffsmark("number=100 transactions=1000 write_bytes=1000")
    p = phases(records)
    for phase, op, key in [
        ("creation", "create", "files_created"),
        ("transactions", "create", "files_created"),
        ("transactions", "delete", "files_deleted"),
        ("transactions", "read", "files_read"),
        ("transactions", "append", "files_appended"),
        ("deletion", "delete", "files_deleted"),
    ]:
        create = latency(records, phase, op)
        assert create is not None and create["count"] == p[phase][key]
    for latency_record in of_type(records, "latency"):
        indexes = [index for index, _ in latency_record["buckets"]]
        assert indexes == sorted(set(indexes))
        assert sum(n for _, n in latency_record["buckets"]) == latency_record["count"]
        assert indexes[0] == bucket_index(latency_record["min_ns"])
        assert indexes[-1] == bucket_index(latency_record["max_ns"])
        elapsed = p[latency_record["phase"]]["t_end_ns"] - p[latency_record["phase"]]["t_start_ns"]
        assert latency_record["sum_ns"] <= elapsed
    writes = latency(records, "creation", "request-write")
    assert writes is not None and writes["count"] >= p["creation"]["bytes_written"] / 1000


def test_full_latencies(agent: Agent) -> None:
    records = agent.ffsmark("number=5000 transactions=2000 full=1 write_bytes=512")
    full: dict[tuple[str, str], list[int]] = {}
    for record in of_type(records, "full-latency"):
        assert 1 <= len(record["values_ns"]) <= 4096
        full.setdefault((record["phase"], record["op"]), []).extend(record["values_ns"])
    histograms = of_type(records, "latency")
    assert len(histograms) == len(full)
    for histogram in histograms:
        values = full[histogram["phase"], histogram["op"]]
        assert len(values) == histogram["count"] and sum(values) == histogram["sum_ns"]
        counts: dict[int, int] = {}
        for value in values:
            counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + 1
        assert [[i, counts[i]] for i in sorted(counts)] == histogram["buckets"]
        slowest = sorted(took for _, took in histogram["slowest"])
        assert slowest == sorted(values)[-16:]
        # One that took as long as another and came later may be the one that is kept.
        begun = [began for began, _ in histogram["slowest"]]
        assert len(set(begun)) == len(begun)
        (phase,) = [one for one in of_type(records, "phase") if one["phase"] == histogram["phase"]]
        assert all(
            phase["t_start_ns"] <= began and began + took <= phase["t_end_ns"]
            for began, took in histogram["slowest"]
        )


def test_seed_is_the_run(agent: Agent) -> None:
    def facts(seed: int) -> list[list[int]]:
        records = agent.ffsmark(f"number=200 transactions=2000 seed={seed}")
        assert records[0]["seed"] == seed
        return [[r[key] for key in COUNTS] for r in of_type(records, "phase")]

    assert facts(1) == facts(1)
    assert facts(1) != facts(2)


def test_buffering_does_the_same(agent: Agent) -> None:
    def facts(buffering: int) -> list[list[int]]:
        keys = f"number=200 transactions=2000 verify=1 buffering={buffering}"
        return [[r[key] for key in COUNTS] for r in of_type(agent.ffsmark(keys), "phase")]

    assert facts(0) == facts(1)


def test_initial_state(agent: Agent) -> None:
    with tmpfs(agent, "20m") as mount:
        records = agent.plan(
            f"ffsmark dir={mount} drop_caches=0 number=50 transactions=100 "
            "valid_percent=50 invalid_percent=25 verify=1"
        )
        space = {r["label"]: r for r in of_type(records, "space")}
        available = space["prepare:start"]["available_bytes"]
        p = phases(records)
        assert abs(p["prepare"]["bytes_written"] - available * 0.75) < 1000
        assert p["invalidate"]["files_deleted"] == 1
        used = available - space["creation:start"]["available_bytes"]
        assert abs(used - available / 2) < 65536
        left = list(mount.iterdir())
        assert [path.name for path in left] == ["ffsmark.valid"]
        assert abs(left[0].stat().st_size - available / 2) < 1000


def test_full_partition(agent: Agent) -> None:
    with tmpfs(agent, "2m") as mount:
        marker = agent.scratch / "marker"
        records = agent.plan(
            f"ffsmark dir={mount} drop_caches=0 number=5000",
            f"exec path=touch args={marker}",
            expect=1,
        )
        assert marker.exists(), "the plan goes on after ENOSPC"
        creation = phases(records)["creation"]
        assert creation["errno_name"] == "ENOSPC" and "partition" in creation["message"]
        assert 100 < creation["files_created"] < 5000
        create = latency(records, "creation", "create")
        assert create is not None and create["count"] == creation["files_created"]
        assert [s["status"] for s in of_type(records, "step")] == ["error", "ok"]
        assert records[-1]["status"] == "error" and records[-1]["steps_run"] == 2


def test_invalid_plan_does_nothing(agent: Agent) -> None:
    marker = agent.scratch / "marker"
    path = agent.scratch / "plan"
    path.write_text(f"ffsplan 1\nexec path=touch args={marker}\nmount type=a\n")
    done = agent.call("run", str(path))
    assert done.returncode == 2 and "line 3: 'mount' needs source=" in done.stderr
    assert not marker.exists()
    records = parse(done.stdout)
    assert "line 3" in records[-1]["message"] and records[-1]["steps_total"] == 0


def test_failing_steps(agent: Agent) -> None:
    marker = agent.scratch / "marker"
    records = agent.plan(
        "exec path=/nonexistent may_fail=1",
        "exec path=false may_fail=1 label=say%20%22x%22",
        "exec path=false",
        f"exec path=touch args={marker}",
        expect=1,
    )
    assert not marker.exists()
    steps = of_type(records, "step")
    assert [s["errno_name"] for s in steps] == ["ENOENT", "", ""]
    # What is false is left out.
    assert [s.get("may_fail") for s in steps] == [True, True, None]
    assert not any("may_fill" in s for s in steps)
    assert steps[1]["label"] == 'say "x"' and "status 1" in steps[1]["message"]
    assert records[-1]["steps_run"] == 3 and records[-1]["steps_total"] == 4
    assert agent.plan("exec path=false may_fail=1")[-1]["status"] == "ok"


def test_children_stay_out_of_records(agent: Agent) -> None:
    path = agent.scratch / "plan"
    path.write_text("ffsplan 1\nexec path=echo args=one%20two\nshell path=/bin/sh\n")
    done = agent.call("run", str(path), stdin="echo three\nexit 5\n")
    assert done.returncode == 0, done.stderr
    parse(done.stdout)
    assert "one two" in done.stderr and "three" in done.stderr


def test_capture(agent: Agent) -> None:
    path = agent.scratch / "statistics"
    path.write_text('a "quoted" line\n\tand a tab\n')
    (file,) = of_type(agent.plan(f"capture path={path}"), "file")
    assert file["path"] == str(path) and file["text"] == path.read_text()
    steps = of_type(agent.plan("capture path=/does/not/exist", expect=1), "step")
    assert steps[0]["errno_name"] == "ENOENT"


def test_settle_needs_a_monitor(agent: Agent) -> None:
    records = agent.plan("settle quiet_ms=1", expect=1)
    step = next(record for record in records if record["type"] == "step")
    assert step["status"] == "error" and "monitor" in step["message"]


def test_sleep_and_sync(agent: Agent) -> None:
    records = agent.plan("sleep ms=30", f"sync target={agent.dir}")
    step = of_type(records, "step")[0]
    assert 30_000_000 <= step["t_end_ns"] - step["t_start_ns"] < 5_000_000_000


def test_measured_steps(agent: Agent) -> None:
    """A step with a phase is recorded as one, also if it fails; without a monitor no tasks."""
    records = agent.plan(
        f"sync target={agent.dir} phase=write-back label=x",
        f"umount target={agent.dir} phase=unmount may_fail=1",
        f"sync target={agent.dir}",
    )
    p = phases(records)
    assert list(p) == ["write-back", "unmount"]
    assert {r["workload"] for r in p.values()} == {"tree"}
    assert p["write-back"]["status"] == "ok" and p["unmount"]["status"] == "error"
    steps = of_type(records, "step")
    for phase, step in zip(p.values(), steps, strict=False):
        inside = (step["t_start_ns"], phase["t_start_ns"], phase["t_end_ns"], step["t_end_ns"])
        assert list(inside) == sorted(inside)
    assert not of_type(records, "tasks") and not of_type(records, "space")


def test_memory(agent: Agent) -> None:
    (memory,) = of_type(agent.plan("memory label=now"), "memory")
    assert memory["label"] == "now" and memory["mem_free_bytes"] > 0
    # The lists are root's.
    for name, pages, active, size in memory["slabs"]:
        assert name and pages > 0 and active >= 0 and size >= 0
    callers = [caller for caller, _ in memory["vmalloc"]]
    assert callers == sorted(set(callers))


def test_an_image_needs_a_flash(agent: Agent) -> None:
    records = agent.plan(f"write-image mtd=none-of-this-name path={agent.dir}/x", expect=1)
    assert "none-of-this-name" in records[-1]["message"] or "/proc/mtd" in records[-1]["message"]


def test_clear_errors(agent: Agent) -> None:
    cases = {
        "mount type=nosuchfs source=none target=" + str(agent.dir): ("ENODEV", "EPERM"),
        "erase mtd=nosuchmtd": ("ENODEV", "ENOENT"),
        "insmod path=/nonexistent.ko": ("ENOENT",),
        "umount target=/nonexistent": ("ENOENT", "EINVAL", "EPERM"),
        "monitor mtd=nosuchmtd": ("",),
    }
    for line, names in cases.items():
        step = of_type(agent.plan(line, expect=1), "step")[0]
        assert step["errno_name"] in names, step
        assert len(step["message"]) > 20


def test_lost_records(agent: Agent) -> None:
    path = agent.scratch / "plan"
    path.write_text("ffsplan 1\nsleep ms=1\n")
    done = agent.call("run", "-o", "/dev/full", str(path))
    assert done.returncode == 3 and "cannot write" in done.stderr


def test_wrong_usage(agent: Agent) -> None:
    for args in [[], ["frob"], ["run"], ["run", "a", "b"], ["run", "-x"], ["run", "/nonexistent"]]:
        assert agent.call(*args).returncode == 2, args
    assert agent.call("ffsmark", "-c", "/nonexistent").returncode == 2
    assert agent.call("--help").stdout.startswith("usage:")
    assert agent.call("--version").stdout.startswith("ffsagent ")


def test_foreign_files_survive(agent: Agent) -> None:
    foreign = agent.dir / "3"
    foreign.write_text("mine")
    config = agent.scratch / "config"
    config.write_text(f"set location {agent.dir}\nset number 10\nrun\n")
    done = agent.call("ffsmark", "-c", str(config))
    assert done.returncode == 1 and "left over" in done.stderr
    assert [path.name for path in agent.dir.iterdir()] == ["3"]
    assert foreign.read_text() == "mine"


CONFIG = """\
set location {dir}
set number 400
set transactions 4000
set subdirectories 8
set size 500 9000
set read 4096
set write 4096
set buffering false
run
set report terse
run {dir}.report
quit
"""


def report_numbers(text: str) -> dict[str, float]:
    """The counts of a verbose report, the program's own or Postmark's."""
    wanted = {
        "created": " created (", "read": " read (", "appended": " appended (",
        "deleted": " deleted (",
    }  # fmt: skip
    numbers: dict[str, float] = {}
    for line in text.splitlines():
        for key, words in wanted.items():
            if words in line and "byte" not in line:
                numbers.setdefault(key, float(line.split()[0]))
        for words in ("Creation alone: ", "Mixed with transactions: "):
            if words in line:
                numbers.setdefault(words, float(line.split(words)[1].split()[0]))
        for key in ("read", "written"):
            if f"bytes {key} (" in line:
                value, unit = line.split()[:2]
                scale = {"bytes": 1, "kilobytes": 1024, "megabytes": 1024**2}[unit]
                numbers[f"bytes {key}"] = float(value) * scale
    return numbers


def test_postmark_configuration(agent: Agent) -> None:
    config = agent.scratch / "config"
    config.write_text(CONFIG.format(dir=agent.dir))
    output = agent.scratch / "records"
    done = agent.call("ffsmark", "-c", str(config), "-o", str(output))
    assert done.returncode == 0, done.stderr
    numbers = report_numbers(done.stdout)
    assert numbers["Creation alone: "] == 400
    assert numbers["created"] == numbers["deleted"]
    assert "p99.9" in done.stdout and "request-write" in done.stdout
    terse = Path(f"{agent.dir}.report").read_text().split()
    assert len(terse) == 13 and all(float(field) > 0 for field in terse)
    records = parse(output.read_text())
    assert [r["phase"] for r in of_type(records, "phase")].count("creation") == 2
    assert not list(agent.dir.iterdir())


def test_language_from_standard_input(agent: Agent) -> None:
    done = agent.call("ffsmark", stdin="# a comment\nset number 77\nshow\nhelp run\n")
    assert done.returncode == 0 and "base number of files is 77" in done.stdout
    assert "run - Runs one iteration" in done.stdout
    done = agent.call("ffsmark", stdin="set number 4k\nset colour red\nshow\n")
    assert done.returncode == 2 and "base number of files is 500" in done.stdout
    assert "standard input:2: Eh?" in done.stderr
    done = agent.call("ffsmark", stdin="set valid 60\nset invalid 50\nrun\n")
    assert done.returncode == 1 and "valid + invalid is 110" in done.stderr
    done = agent.call("ffsmark", stdin="set bias create 0\nset transactions 501\nrun\n")
    assert done.returncode == 1 and "out of files at transaction 501" in done.stderr


def test_against_postmark(agent: Agent) -> None:
    """The real program, as a black box: same configuration, same mix."""
    postmark = shutil.which("postmark")
    if not postmark:
        raise Skip("postmark is not installed")
    config = agent.scratch / "config"
    config.write_text(CONFIG.format(dir=agent.dir).split("set report")[0] + "quit\n")
    theirs_text = subprocess.run(
        [postmark, str(config)], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    theirs = report_numbers(theirs_text)
    ours = report_numbers(agent.call("ffsmark", "-c", str(config)).stdout)
    assert len(theirs) == len(ours) == 8, (theirs, ours)
    assert ours["Creation alone: "] == theirs["Creation alone: "] == 400
    # Two binomials of 4000 draws at 1/2: the difference has a standard
    # deviation of sqrt(2000) = 45; five of them, and some for capped appends.
    for key in ("created", "read", "appended", "deleted"):
        assert abs(ours[key] - theirs[key]) < 5 * math.sqrt(2000) + 20, (key, ours, theirs)
    for key in ("bytes read", "bytes written"):
        assert abs(ours[key] / theirs[key] - 1) < 0.15, (key, ours, theirs)


if __name__ == "__main__":
    sys.exit(main(globals()))
