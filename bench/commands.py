"""The parts that measure whole commands of ffslab: `short`, `start`, `crash` and `setup`."""

from __future__ import annotations

import json
import os
import shutil
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

CRASH_GOALS: dict[str, Goal | None] = {
    "jffs2": Goal(2000, "at least"),
    "yaffs2": Goal(2000, "at least"),
    "ubifs": Goal(400, "at least"),
    "logfs": None,
}
_CRASH = """
schema = 1
name = "bench-crash"
title = "A file replaced 100 times"

[base]
board = "apf27"
partition_bytes = "8 MiB"
filesystem = "{filesystem}"

[base.workload]
kind = "cuts"
history = "update-by-rename"
parameters = "updates=100"
kinds = "lost torn-bits"
variants = 50
sample = {sample}
findings = "tell"
{check}
"""
_STATES, _FEW_STATES = 10_000, 2000
# Nothing is filled; of mounts alone that need not be said, and is refused.
_CHECKS = {"mount": 'check = "mount"', "full": "fill_sample = 0"}


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


def crash(bench: Bench) -> Measured:
    """States of the flash after a power cut, mounted, compared and unmounted, per second of CPU.

    Through `ffslab run`, of all processes, the guest's start and the history among them.
    """
    directory = _directory(bench, "crash")
    lines = [
        Line("12. Power cuts, `ffslab run`, one job: states per second of host CPU"),
    ]
    of_state = [Line("    where the time of a state goes, host CPU")]
    raw: dict[str, object] = {}
    for filesystem, goal in CRASH_GOALS.items():
        kinds = {
            "few": ("mount", _FEW_STATES),
            "mount": ("mount", _STATES),
            "full": ("full", _STATES),
        }
        runs: dict[str, list[CutCost]] = {kind: [] for kind in kinds}
        for repeat in range(bench.repeats):
            bench.tell(f"power cuts of {filesystem}, {repeat + 1} of {bench.repeats}")
            for kind, (check, sample) in kinds.items():
                runs[kind].append(_crash_run(directory, filesystem, check, sample))
        for kind, title in (("mount", "mount, compare, unmount"), ("full", "and use, mount again")):
            rates = [run.states / run.cost.cpu_s for run in runs[kind]]
            name = f"{filesystem}: {title}"
            lines.append(Line(name, spread(rates), goal if kind == "mount" else None))
        for name, values in _parts_of_a_state(**runs).items():
            of_state.append(Line(f"{filesystem}: {name}", spread(values), unit="ms"))
        raw[filesystem] = {kind: [asdict(run) for run in of] for kind, of in runs.items()}
    return Measured((*lines, *of_state), raw)


@dataclass(frozen=True, slots=True)
class CutCost:
    """What power cuts cost, and how many states there were."""

    cost: Cost
    states: int


def _parts_of_a_state(
    few: Sequence[CutCost], mount: Sequence[CutCost], full: Sequence[CutCost]
) -> dict[str, list[float]]:
    """Milliseconds of CPU of a state: what more states cost, and what using them costs more.

    So the guest's start and the history are in neither.
    """
    first = [
        1000 * (more.cost.cpu_s - less.cost.cpu_s) / (more.states - less.states)
        for less, more in zip(few, mount, strict=True)
    ]
    second = [
        1000 * (used.cost.cpu_s - seen.cost.cpu_s) / used.states
        for seen, used in zip(mount, full, strict=True)
    ]
    return {"mount, look, unmount": first, "use, lose power, mount again": second}


def _crash_run(directory: Path, filesystem: str, check: str, sample: int) -> CutCost:
    study = directory / "crash.toml"
    text = _CRASH.format(filesystem=filesystem, check=_CHECKS[check], sample=sample)
    study.write_text(text, encoding="utf-8")
    results = directory / "crash"
    words = ["run", str(study), "--jobs", "1", "--no-report", "--output", str(results)]
    cost = cost_of([str(LAUNCHER), *words], directory)
    (result,) = results.glob("*/cases/*/case.json")
    states = int(json.loads(result.read_text(encoding="utf-8"))["cuts"]["states"])
    shutil.rmtree(results)
    return CutCost(cost, states)


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
    return Measured(
        tuple(lines), {n: [asdict(c) for c in measured] for n, measured in costs.items()}
    )


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
