"""The measurements of single guests, and of two at once: lines to print, and raw figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from bench import cases
from bench.guest import Runner, Sample, interleave
from bench.pool import pool_time
from bench.ratios import DriverCost, Goal, Line, driver_cost, ratio_spread, spread
from ffslab.errors import InfrastructureError
from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild
from ffslab.model.case import Case

TMPFS_GOAL = Goal(0.3, unit="s")
SPEED_GOALS = {
    "yaffs2 aged": Goal(200, "at least"),
    "jffs2 aged": Goal(60, "at least"),
    "ubifs aged": Goal(50, "at least"),
    "jffs2 free": Goal(35, "at least"),
    "ubifs free": Goal(30, "at least"),
    cases.ZLIB: Goal(25, "at least"),
}
HOOK_GOAL = Goal(0.13, unit="ns")  # 0.7 for a basic block of 5.3 instructions
CPU_MODEL_GOAL = Goal(1.25)
DRIVER_GOAL = Goal(0.25)
BOOT_GOAL = Goal(0.15, unit="s")
JOBS_GOAL = Goal(1.9, "at least")
# Rounds of the driver's runs, with programming and without: half a second of difference.
_ROUNDS = {True: (1, 25), False: (1, 4097)}
_BOOT_RUNS_PER_REPEAT = 4

Samples = Mapping[str, Sequence[Sample]]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the measurements share. `quiet`: goals may be judged on wall time."""

    lab: LabBuild
    runner: Runner
    scratch: Path
    host_cpus: tuple[int, ...]
    repeats: int
    quiet: bool
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """Lines to print, and raw figures for --json."""

    lines: tuple[Line, ...]
    raw: Mapping[str, object] = field(default_factory=dict)


def speed(bench: Bench) -> Measured:
    """Virtual time ÷ host CPU time of whole guests, and what a guest costs without flash."""
    known = cases.ffsmark_cases()
    guests = {"tmpfs": cases.ffsmark_on_tmpfs(bench.lab, known["jffs2 free"])}
    guests |= {name: cases.ffsmark(bench.lab, known[name]) for name in SPEED_GOALS}
    samples = interleave(
        {name: partial(bench.runner.run, guest) for name, guest in guests.items()},
        bench.repeats,
        bench.tell,
    )
    lines = [Line("1. FFSMark at full size: virtual ÷ host CPU time, whole guests")]
    for name, goal in SPEED_GOALS.items():
        virtual = [sample.virtual_s for sample in samples[name]]
        lines.append(Line(name, ratio_spread(virtual, _cpus(samples[name])), goal))
    lines.append(Line("   host CPU of a guest in seconds"))
    for name in guests:
        own = TMPFS_GOAL if name == "tmpfs" else None
        lines.append(Line(name, spread(_cpus(samples[name])), own, "s"))
    return Measured(tuple(lines), _raw(samples))


def cpu_model(bench: Bench) -> Measured:
    """The CPU model against a free CPU, and against a kernel that does not count."""
    uncounted = ensure_lab("nocpu")
    lines: list[Line] = []
    hooks = [Line("2c. Counting alone: kernels that do and do not, prices 0")]
    raw: dict[str, object] = {}
    charging = [Line("2a. CPU model on ÷ prices 0, same kernel (charging alone)")]
    whole = [Line("2b. CPU model on ÷ kernel that does not count (counting and charging)")]
    for name in ("jffs2 free", "ubifs free"):
        case = cases.ffsmark_cases()[name]
        free = cases.with_cpu_scale(case, 0)
        guests = {
            "free": cases.ffsmark(bench.lab, free),
            "on": cases.ffsmark(bench.lab, case),
            "uncounted": cases.ffsmark(uncounted, free),
        }
        samples = interleave(
            {key: partial(bench.runner.run, guest) for key, guest in guests.items()},
            bench.repeats,
            lambda text, name=name: bench.tell(f"{name}: {text}"),  # type: ignore[misc]
        )
        charging += _wall_and_cpu(bench, name, samples, "on", "free", CPU_MODEL_GOAL)
        whole += _wall_and_cpu(bench, name, samples, "on", "uncounted", CPU_MODEL_GOAL)
        counted = cases.counted_instructions(bench.runner, bench.lab, free)
        pairs = zip(samples["free"], samples["uncounted"], strict=True)
        each = [(run.cpu_s - other.cpu_s) * 1e9 / counted for run, other in pairs]
        hooks.append(Line(f"{name}, per instruction", spread(each), HOOK_GOAL, "ns"))
        raw[name] = {**_raw(samples), "instructions": counted}
    lines += [*charging, *whole, *hooks]
    return Measured(tuple(lines), raw)


def driver(bench: Bench) -> Measured:
    """Host CPU per page programmed and per block erased, vnand against nandsim."""
    case = cases.ffsmark_cases()["jffs2 free"]
    program = cases.build_program("mtd_bench", bench.scratch)
    runs: dict[str, Callable[[], Sample]] = {}
    for name in ("nandsim", "vnand"):
        for programs, counts in _ROUNDS.items():
            for rounds in counts:
                guest = cases.driver_loop(
                    bench.lab, case, name, program, programs=programs, rounds=rounds
                )
                runs[_driver_key(name, programs, rounds)] = partial(bench.runner.run, guest)
    samples = interleave(runs, bench.repeats, bench.tell)
    costs = {
        name: [_driver_cost(samples, name, repeat) for repeat in range(bench.repeats)]
        for name in ("nandsim", "vnand")
    }
    lines = [Line("3. Host CPU in the driver, vnand ÷ nandsim, zero timing in both")]
    for label, unit in (("per page programmed", "page_s"), ("per block erased", "erase_s")):
        mine = [getattr(cost, unit) for cost in costs["vnand"]]
        its = [getattr(cost, unit) for cost in costs["nandsim"]]
        lines.append(Line(label, ratio_spread(mine, its), DRIVER_GOAL))
        for name, values in (("vnand", mine), ("nandsim", its)):
            lines.append(Line(f"  {name}", spread([value * 1e6 for value in values]), unit="µs"))
    raw = {name: [asdict(cost) for cost in values] for name, values in costs.items()}
    return Measured(tuple(lines), {"samples": _raw(samples), "costs": raw})


def _driver_key(name: str, programs: bool, rounds: int) -> str:
    return f"{name}, {rounds} rounds, {'program and erase' if programs else 'erase'}"


def _driver_cost(samples: Samples, name: str, repeat: int) -> DriverCost:
    full, empty = (
        {rounds: samples[_driver_key(name, programs, rounds)][repeat].cpu_s for rounds in counts}
        for programs, counts in _ROUNDS.items()
    )
    return driver_cost(full, empty, cases.DRIVER_BLOCKS, cases.DRIVER_PAGES_PER_BLOCK)


def boot(bench: Bench) -> Measured:
    """Wall time from the start of the guest's process to the agent's first record."""
    guest = cases.single_step(bench.lab, cases.ffsmark_cases()["jffs2 free"])
    samples = interleave(
        {
            "true": bench.runner.run_true,
            "guest": lambda: bench.runner.run(guest, watch_first_record=True),
        },
        bench.repeats * _BOOT_RUNS_PER_REPEAT,
        bench.tell,
    )
    first = [sample.first_record_s for sample in samples["guest"]]
    known = [value for value in first if value is not None]
    if len(known) != len(first):
        raise InfrastructureError("a guest ended without a record")
    lines = (
        Line("4. Guest: process start to the agent's first record"),
        Line("time", spread(known), BOOT_GOAL, unit="s"),
        Line("host CPU, whole guest", spread([s.cpu_s for s in samples["guest"]]), unit="s"),
        Line("÷ starting `true` by a shell", ratio_spread(known, _walls(samples["true"]))),
    )
    return Measured(lines, _raw(samples))


def jobs(bench: Bench) -> Measured:
    """Four FFSMark cases by the local pool: one job against two on two cores."""
    all_cases = cases.balanced_cases()
    heading = Line("5. Four cases with one job ÷ with two jobs on two cores (wall)")
    if len(bench.host_cpus) < 2:
        return Measured((heading, Line("   not measured: this host gives us one core")))
    samples = interleave(
        {
            "one job": lambda: _pool_run(bench, all_cases, 1),
            "two jobs": lambda: _pool_run(bench, all_cases, 2),
        },
        bench.repeats,
        bench.tell,
    )
    speedup = ratio_spread(_walls(samples["one job"]), _walls(samples["two jobs"]))
    if bench.quiet:
        line = Line("speed-up", speedup, JOBS_GOAL)
    else:
        line = Line("speed-up (host is loaded: not judged)", speedup)
    return Measured((heading, line), _raw(samples))


def _pool_run(bench: Bench, all_cases: Sequence[Case], count: int) -> Sample:
    # FFSMark prepares in its own guest: no state is kept.
    store = bench.scratch / "states"
    times = pool_time(bench.lab, bench.scratch, bench.host_cpus, all_cases, count, store)
    return Sample(times.wall_s, 0.0)


def _wall_and_cpu(
    bench: Bench, label: str, samples: Samples, subject: str, baseline: str, goal: Goal
) -> list[Line]:
    """Both ratios; the goal is about wall time, and about CPU time on a disturbed host."""
    wall = ratio_spread(_walls(samples[subject]), _walls(samples[baseline]))
    cpu = ratio_spread(_cpus(samples[subject]), _cpus(samples[baseline]))
    return [
        Line(f"{label}, wall", wall, goal if bench.quiet else None),
        Line(f"{label}, host CPU", cpu, None if bench.quiet else goal),
    ]


def _walls(samples: Sequence[Sample]) -> list[float]:
    return [sample.wall_s for sample in samples]


def _cpus(samples: Sequence[Sample]) -> list[float]:
    return [sample.cpu_s for sample in samples]


def _raw(samples: Samples) -> dict[str, object]:
    return {name: [asdict(sample) for sample in runs] for name, runs in samples.items()}
