"""The parts that measure whole commands of ffslab: `short`, `start` and `setup`."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measurements import Bench, Measured
from bench.ratios import Goal, Line, spread
from ffslab.errors import InfrastructureError

LAUNCHER = Path(__file__).resolve().parents[1] / "ffslab"
CASES_GOAL = Goal(20, "at least")
HELP_GOAL = Goal(0.15, unit="s")
START_GOAL = Goal(0.25, unit="s")
SETUP_GOAL = Goal(180, unit="s")
_CASES = 500  # that a command's own start, half a second, is a few percent
_FAILED = ("the command does not work", "run it by hand")
_SHORT_STUDY = """
schema = 1
name = "bench-short"
title = "One file on 16 MiB"

[base]
board = "apf27"
partition_bytes = "16 MiB"
filesystem = "jffs2"
options.compression = "none"

[base.workload]
number = 1
subdirectories = 0
transactions = 0
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command and all processes that it waited for took; the largest of them in bytes.

    It is never said to be smaller than the benchmark, some 60 MB: Linux counts what a process was
    before it became the command.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int


def cost_of(
    words: Sequence[str],
    directory: Path,
    failed: tuple[str, str] = _FAILED,
    **variables: str,
) -> Cost:
    """Runs a command in `directory` and measures it; its output is shown only if it fails.

    Raises InfrastructureError, whose likely cause and remedy are `failed`. Limit: the peak is at
    least what this process has itself, which its child begins with.
    """
    log = directory / "command.log"
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            words,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-10:]
        raise InfrastructureError(
            "\n    ".join([f"exit code {process.returncode}: {' '.join(words)}", *said]),
            cause=failed[0],
            remedy=failed[1],
        )
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def short(bench: Bench) -> Measured:
    """Cases of one file through `ffslab run`, per second and core.

    By the clock on a quiet host, else by the time that its processors worked for them.
    """
    directory, jobs = _directory(bench, "short"), len(bench.host_cpus)
    costs = []
    for repeat in range(bench.repeats):
        bench.tell(f"{_CASES} cases, repeat {repeat + 1} of {bench.repeats}")
        costs.append(cost_of(_short_run(directory, _CASES), directory))
    wall = spread([_CASES / (cost.wall_s * jobs) for cost in costs])
    cpu = spread([_CASES / cost.cpu_s for cost in costs])
    lines = (
        Line(f"8. {_CASES} cases of one file on 16 MiB, `ffslab run`, {jobs} jobs"),
        Line("cases per second and core, wall", wall, CASES_GOAL if bench.quiet else None),
        Line("cases per second of host CPU", cpu, None if bench.quiet else CASES_GOAL),
    )
    return Measured(lines, {"costs": [asdict(cost) for cost in costs]})


def start(bench: Bench) -> Measured:
    """The CPU time of commands that do little, with a run of two cases to list and to show."""
    directory = _directory(bench, "start")
    cost_of(_short_run(directory, 2), directory)
    commands = {
        "ffslab --help": (["--help"], HELP_GOAL),
        "ffslab list": (["list"], START_GOAL),
        "ffslab list studies": (["list", "studies"], START_GOAL),
        "ffslab show latest": (["show", "latest"], START_GOAL),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for repeat in range(bench.repeats):
        for name, (words, _) in commands.items():
            bench.tell(f"{name}, repeat {repeat + 1} of {bench.repeats}")
            costs[name].append(cost_of([str(LAUNCHER), *words], directory))
    lines = [Line("10. Start of a command, host CPU")]
    for name, (_, goal) in commands.items():
        lines.append(Line(name, spread([cost.cpu_s for cost in costs[name]]), goal, "s"))
    return Measured(tuple(lines), {n: [asdict(c) for c in found] for n, found in costs.items()})


def setup(bench: Bench) -> Measured:
    """The set-up with an empty cache, once: Python environment, kernel, modules, agent."""
    directory = _directory(bench, "setup")
    bench.tell("an empty cache, for some minutes")
    cache = directory / "cache"
    cost = cost_of([str(LAUNCHER), "setup"], directory, XDG_CACHE_HOME=str(cache))
    if bench.quiet:
        line = Line("time, wall", spread([cost.wall_s]), SETUP_GOAL, "s")
    else:
        line = Line("time (host is loaded: not judged)", spread([cost.wall_s]), unit="s")
    return Measured((Line("11. Set-up with an empty cache"), line), {"cost": asdict(cost)})


def _short_run(directory: Path, count: int) -> list[str]:
    study = directory / "short.toml"
    study.write_text(_SHORT_STUDY, encoding="utf-8")
    return [str(LAUNCHER), "run", str(study), "--seeds", str(count), "--no-report"]


def _directory(bench: Bench, name: str) -> Path:
    directory = bench.scratch / name
    directory.mkdir()
    return directory
