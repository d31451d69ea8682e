"""Part `micro`: a whole micro-benchmark study, with its states prepared and with states kept.

What it tells beside the time is where that goes: to the guests, to the preparation of states, or
to ffslab itself, which hands out flash files, reads records and computes figures.
"""

from __future__ import annotations

from bench.measurements import Bench, Measured
from bench.pool import PoolTime, pool_time
from bench.ratios import Goal, Line, ratio_spread, spread
from ffslab.campaign.run import prepare

STUDY = "micro-saturated"
FILE_SYSTEMS = ("jffs2", "ubifs", "yaffs2")
GOAL = Goal(300, unit="s")


def measure(bench: Bench) -> Measured:
    """The study of three file systems and one seed, with all cores."""
    prepared = prepare(STUDY, [("filesystem", FILE_SYSTEMS), ("seed", (1,))])
    cases, jobs = prepared.cases, len(bench.host_cpus)
    fresh: list[PoolTime] = []
    kept: list[PoolTime] = []
    for repeat in range(bench.repeats):
        store = bench.scratch / f"states-{repeat}"
        for name, times in (("prepared", fresh), ("kept", kept)):
            bench.tell(f"states {name}, repeat {repeat + 1} of {bench.repeats}")
            times.append(pool_time(bench.lab, bench.scratch, bench.host_cpus, cases, jobs, store))
    worked = [jobs * times.wall_s for times in kept]
    lines = (
        Line(f"6. {STUDY}: {len(cases)} cases of three file systems, {jobs} jobs"),
        Line("time, states prepared", spread([t.wall_s for t in fresh]), GOAL, unit="s"),
        Line(
            "time, states kept ÷ prepared",
            ratio_spread([t.wall_s for t in kept], [t.wall_s for t in fresh]),
        ),
        Line("guests ÷ all workers' time", ratio_spread([t.guests_s for t in kept], worked)),
        Line("ffslab's CPU ÷ all workers' time", ratio_spread([t.own_cpu_s for t in kept], worked)),
    )
    raw = {
        name: [[t.wall_s, t.guests_s, t.own_cpu_s] for t in times]
        for name, times in (("prepared", fresh), ("kept", kept))
    }
    return Measured(lines, raw)
