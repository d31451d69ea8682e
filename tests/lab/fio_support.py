"""fio in a guest of the lab: what the micro-benchmarks of the agent are compared with.

fio is the host's program. The guest sees the directories of the host that it and its libraries
are in through hostfs, read-only; so nothing is copied, and the guest's RAM is left to the file
system. The programs are found on the host, none of their places is written down here.

One fio runs all jobs of a guest, one after the other: when it starts it calibrates its clocks for
a fifth of a virtual second, which costs the host two seconds. It gets these options, for these
reasons:

- `clocksource=clock_gettime`: the processor's counter would tell the host's time;
- `thread`, `psync`: one task that calls pread() and pwrite(), as the agent does;
- `create_on_open`: a new file is made by the job itself, after the flash has been counted;
- `fallocate=none`, `fadvise_hint=0`, `invalidate=0`: no hints that the agent does not give either.

Commands of ours come before and after each job. They bring about the situation in which the
agent's step `micro` begins to count, and print the counters of the flash monitor.

Time: what passes between two readings of a clock contains one system call for the clock, on a slow
board half a microsecond. fio says how much, since its `lat_ns` covers one more than its `clat_ns`.
The agent reads the time from a page, which is free.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab_support import Boot

from ffslab.protocol.plan import encode

MOUNT_POINT = "/mnt"
COUNTERS = "/proc/flashmon/data/counters"
COUNTED = ("pages_read", "pages_programmed", "blocks_erased")

_PATTERNS = {
    # Mixed with no writes: of a job that only reads fio leaves the buffers untouched, and the
    # first reads would pay for the faults of their pages.
    "sequential-read": "rw",
    "random-read": "randrw",
    "sequential-write": "write",
    "random-write": "randwrite",
}
_OUTPUT = "/tmp/fio.json"
_JOB_FILE = "/fio/jobs"
_LOG = "/fio/offsets"
READY = "/fio/ready"
_BEFORE = "/fio/before"
_HOLDER = "/tmp/holder"  # the process that holds a file open

# Run on both sides before each job. In the caches is then what the agent looks for before it begins
# to count, and nothing else; the first of two drops spares what was used lately. And both begin at
# the same of 128 ticks: JFFS2 takes `jiffies % 128` for a random number when it chooses what to
# collect.
READY_SCRIPT = """#!/bin/sh
set -e
sync
echo 3 >/proc/sys/vm/drop_caches
echo 3 >/proc/sys/vm/drop_caches
for path in "$@"; do
	test -e "$path" || true
done
read -r seconds idle </proc/uptime
ticks=$((128 - ${seconds%.*}${seconds#*.} % 128))
sleep "$((ticks / 100)).$(printf %02d $((ticks % 100)))"
"""

# A file to read is held open while everything else leaves the caches, as the agent does.
_BEFORE_SCRIPT = f"""#!/bin/sh
set -e
action=$1
shift
if [ -e {_HOLDER} ]; then
	kill "$(cat {_HOLDER})"
	rm {_HOLDER}
fi
if [ "$action" = read ]; then
	sleep 1000000 <"$1" &
	echo $! >{_HOLDER}
	shift
fi
{READY} "$@"
cat {COUNTERS}
if [ -n "$2" ]; then
	exec unlink "$2"
fi
"""


@dataclass(frozen=True)
class Job:
    """Requests of one size and pattern to one file; equal for fio and agent.

    `removed`: a file that is removed right before the first request. `quiet_s`: sleep after the
    last, for what the file system still does in the background. After a removal that is much, and
    how much of it is done when the last request ends depends on the microsecond: then the flash
    operations of that time belong to the job. Else they end with the file system's sync.
    """

    pattern: str
    request_bytes: int
    volume_bytes: int
    directory: str
    removed: str = ""
    quiet_s: int = 5

    @property
    def reads(self) -> bool:
        return self.pattern.endswith("-read")

    @property
    def path(self) -> str:
        return f"{self.directory}/ffslab.test"

    @property
    def looked_at(self) -> tuple[str, ...]:
        """What the agent has looked for before it begins to count."""
        return (f"{self.directory}/ffslab.valid", *((self.removed,) if self.removed else ()))


@dataclass(frozen=True)
class Measured:
    """One job's mean latency and flash operations.

    `offsets` of all requests in their order, in bytes; of fio they are not known.
    """

    requests: int
    latency_ns: float
    flash: dict[str, int]
    offsets: tuple[int, ...] = ()


@cache
def host_directories(programs: tuple[str, ...] = ("fio",)) -> tuple[str, ...]:
    """The top-level directories of the host that the programs and the scripts need."""
    paths = set()
    for name in ("/bin/sh", "sleep", "sync", "cat", "rm", "unlink", "mkdir", *programs):
        found = shutil.which(name)
        assert found, f"no {name}; next: apt-get install coreutils fio busybox"
        paths |= {found, *_libraries(found)}
    return tuple(sorted({f"/{Path(path).parts[1]}" for path in paths}))


def _libraries(program: str) -> list[str]:
    """The paths by which a program's libraries and its loader are opened."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?:^|\s)(/\S+)", listed)


def host_steps(*programs: str) -> list[str]:
    """Plan steps that show the guest the host's programs: these, else fio."""
    return [
        f"mount type=hostfs source=none target={path} options={Path(path).resolve()} flags=ro"
        for path in (host_directories(programs) if programs else host_directories())
    ]


def exec_step(program: str, *words: str) -> str:
    path = shutil.which(program)
    assert path, program
    return f"exec path={path} args={encode(' '.join(words))}"


def guest_files(
    directory: Path, jobs: Sequence[Job], replayed: Sequence[Measured] = ()
) -> dict[str, Path]:
    """What both sides want in the guest, written into `directory`, by the paths there.

    `replayed`: what was measured of all jobs before; fio sends random writes in that order.
    """
    logs = {
        index: _log(job, measured.offsets)
        for index, (job, measured) in enumerate(zip(jobs, replayed, strict=bool(replayed)))
        if job.pattern == "random-write"
    }
    texts = {
        _JOB_FILE: _job_file(jobs, logs),
        READY: READY_SCRIPT,
        _BEFORE: _BEFORE_SCRIPT,
        **{f"{_LOG}-{index}": text for index, text in logs.items()},
    }
    files = {}
    directory.mkdir()
    for path, text in texts.items():
        files[path] = directory / Path(path).name
        files[path].write_text(text)
    return files


def fio_steps(jobs: Sequence[Job]) -> list[str]:
    """Plan steps that run the jobs and bring out what fio and the scripts printed."""
    return [
        exec_step("fio", "--output-format=json", f"--output={_OUTPUT}", "--eta=never", _JOB_FILE),
        f"capture path={_OUTPUT}",
        *(
            f"capture path=/{_name(index)}.{moment}.txt"
            for index in range(len(jobs))
            for moment in ("prerun", "postrun")
        ),
    ]


def _name(index: int) -> str:
    return f"job-{index}"


def _log(job: Job, offsets: Sequence[int]) -> str:
    """Writes in the format of fio's `read_iolog`."""
    lines = [
        "fio version 2 iolog",
        f"{job.path} add",
        f"{job.path} open",
        *(f"{job.path} write {offset} {job.request_bytes}" for offset in offsets),
        f"{job.path} close",
    ]
    return "\n".join(lines) + "\n"


def _job_file(jobs: Sequence[Job], logs: Container[int]) -> str:
    lines = [
        *("[global]", "thread", "ioengine=psync", "clocksource=clock_gettime"),
        *("create_on_open=1", "fallocate=none", "fadvise_hint=0", "invalidate=0", "overwrite=0"),
        *("randseed=1", "norandommap=0", "disk_util=0", "stonewall"),
        "rwmixread=100",
    ]
    for index, job in enumerate(jobs):
        words = [*(["read", job.path] if job.reads else ["write"]), *job.looked_at]
        lines += [
            f"[{_name(index)}]",
            f"filename={job.path}",
            f"rw={_PATTERNS[job.pattern]}",
            f"bs={job.request_bytes}",
            f"size={job.volume_bytes}",
            f"exec_prerun={' '.join([_BEFORE, *words])}",
            f"exec_postrun=({' && '.join(_after(job))})",
            *([f"read_iolog={_LOG}-{index}"] if index in logs else []),
        ]
    return "\n".join(lines) + "\n"


def _after(job: Job) -> list[str]:
    """Commands after a job."""
    count, rest = f"cat {COUNTERS}", f"sleep {job.quiet_s}"
    return [f"sync -f {MOUNT_POINT}", *([rest, count] if job.removed else [count, rest])]


def fio_results(guest: Boot, jobs: Sequence[Job]) -> list[Measured]:
    """What fio measured, job by job."""
    texts = {record["path"]: record["text"] for record in guest.of_type("file")}
    results = []
    for index, (job, output) in enumerate(
        zip(jobs, json.loads(_without_notes(texts[_OUTPUT]))["jobs"], strict=True)
    ):
        assert output["jobname"] == _name(index) and not output["error"]
        direction = output["read" if job.reads else "write"]
        assert direction["io_bytes"] == job.volume_bytes
        before, after = (
            _counters(texts[f"/{_name(index)}.{moment}.txt"]) for moment in ("prerun", "postrun")
        )
        results.append(
            Measured(
                requests=direction["total_ios"],
                latency_ns=_without_clock(direction),
                flash={key: after[key] - before[key] for key in COUNTED},
            )
        )
    return results


def micro_steps(jobs: Sequence[Job]) -> list[str]:
    """Plan steps of the agent that do what the jobs say."""
    return [
        step
        for index, job in enumerate(jobs)
        for step in (
            f"exec path={READY} args={encode(' '.join(job.looked_at))}",
            f"micro dir={job.directory} pattern={job.pattern} request_bytes={job.request_bytes}"
            f" volume_bytes={job.volume_bytes} existing={int(job.reads)}"
            f" limit=0 remove={int(bool(job.removed))}",
            f"sleep ms={job.quiet_s * 1000}",
            f"snapshot label={_name(index)}",
        )
    ]


def micro_results(guest: Boot, jobs: Sequence[Job]) -> list[Measured]:
    """What the agent measured, job by job."""
    results = []
    for index, (job, records) in enumerate(zip(jobs, _micro_records(guest), strict=True)):
        requests = [record for record in records if record["type"] == "requests"]
        latencies_ns = [value for record in requests for value in record["latency_ns"]]
        assert len(latencies_ns) * job.request_bytes == job.volume_bytes
        flash = [record for record in records if record["type"] == "flash"]
        assert flash[-1]["label"] == "flush:end"
        if job.removed:
            flash.append(guest.flash_record(_name(index)))
        before, after = flash[0]["counters"], flash[-1]["counters"]
        results.append(
            Measured(
                requests=len(latencies_ns),
                latency_ns=sum(latencies_ns) / len(latencies_ns),
                flash={key: after[key] - before[key] for key in COUNTED},
                offsets=tuple(value for record in requests for value in record["offset"]),
            )
        )
    return results


def _micro_records(guest: Boot) -> list[list[Any]]:
    """The records of each `micro` step: those since the record of the step before it."""
    found: list[list[Any]] = []
    current: list[Any] = []
    for record in guest.records:
        if record["type"] != "step":
            current.append(record)
            continue
        if record["verb"] == "micro":
            found.append(current)
        current = []
    return found


def _without_notes(text: str) -> str:
    """fio says in the same file, before the JSON, where it saves what the scripts print."""
    return text[text.index("{\n") :]


def _without_clock(direction: dict[str, Any]) -> float:
    clock_ns = direction["lat_ns"]["mean"] - direction["clat_ns"]["mean"]
    return float(direction["clat_ns"]["mean"] - clock_ns)


def _counters(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in (line.split() for line in text.splitlines())}
