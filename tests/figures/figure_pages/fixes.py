"""The bindings of docs/answers/fixes.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figure_page import Page, Table, text
from figure_runs import Command, Quantity, total

from ffslab.workloads.cuts.outcomes import CORRECT
from figure_pages.cut_results import outcomes

BOTH = """--set 'kernel=["6.1", "fixed"]'"""
SYSTEMS = """--set 'filesystem=["jffs2", "ubifs"]'"""
WORK = Command(f"run kernels {BOTH}")
CUTS = Command(f"run power-cuts-all {BOTH} {SYSTEMS}")
RANDOM = Command(f"run random {BOTH} {SYSTEMS}")
SEEDS = Command(f"run kernels {BOTH} --seeds 8 --case 'work-*-jffs2-aged-s*'")
KERNELS = ("6.1", "fixed")
TITLES = {"jffs2": "JFFS2", "ubifs": "UBIFS"}
LONG = "a run of half an hour, of an earlier build"
WORKS = {
    f"{title}, {state}": [
        WORK.figure(f"work-{kernel}-{name}-{key}", "workload.duration_ns") for kernel in KERNELS
    ]
    for name, title in TITLES.items()
    for state, key in (("new", "free"), ("aged", "aged"))
}


def of(cases: Mapping[str, Any], system: str, kernel: str) -> list[Any]:
    """The cases of a file system in a kernel."""
    wanted = {"filesystem": system, "kernel": kernel}
    return [case for case in cases.values() if wanted.items() <= case["axes"].items()]


def states(system: str, kernel: str = "6.1", *, wrong: bool = False) -> Quantity:
    def made(cases: Mapping[str, Any]) -> float:
        counts = outcomes(of(cases, system, kernel))
        return counts.total() - counts[CORRECT] if wrong else counts.total()

    return CUTS.of_run(f"{system}, {kernel}: states{' that are wrong' if wrong else ''}", made)


def histories(system: str, kernel: str) -> Quantity:
    def made(cases: Mapping[str, Any]) -> float:
        return sum(case["outcome"] != "pass" for case in of(cases, system, kernel))

    return RANDOM.of_run(f"{system}, {kernel}: histories that are wrong", made)


def not_correct() -> dict[str, list[Quantity]]:
    rows = {
        f"{TITLES[name]}: of {counted} states after a power cut": [
            states(name, kernel, wrong=True) for kernel in KERNELS
        ]
        for name, counted in (("jffs2", "12,903"), ("ubifs", "12,881"))
    }
    for name, title in TITLES.items():
        row = f"{title}: of 8 random histories without a cut"
        rows[row] = [histories(name, kernel) for kernel in KERNELS]
    return rows


def aged(kernel: str, key: str) -> Quantity:
    """JFFS2's figure with the first seed."""
    return WORK.figure(f"work-{kernel}-jffs2-aged", key)


def mean(kernel: str, key: str) -> Quantity:
    """The same of eight seeds."""
    cases = [f"work-{kernel}-jffs2-aged-s{seed}" for seed in range(1, 9)]
    return total(*(SEEDS.figure(case, key) for case in cases)) / len(cases)


DURATION, DELETION = "workload.duration_ns", "deletion.duration_ns"
PROGRAMMED, READ = "workload.pages_programmed", "deletion.pages_read"
PAGE = Page(
    document="docs/answers/fixes.md",
    commands=(WORK, CUTS, RANDOM, SEEDS),
    elsewhere={"run power-loss-long": LONG},
    bindings=(
        Table("| not correct | 6.1 | fixed |", not_correct()),
        Table("| what it costs: FFSMark, all of it | 6.1 | fixed |", WORKS),
        text("JFFS2: of {} states", states("jffs2")),
        text("UBIFS: of {} states", states("ubifs")),
        text("JFFS2 has {} states in `fixed`", states("jffs2", "fixed")),
        text("{} % with this seed", aged("fixed", DURATION) / aged("6.1", DURATION) - 1),
        text("deletion waits {} s", aged("fixed", "deletion/delete.max_ns")),
        text("{} pages are read, in 6.1 {}", aged("fixed", READ), aged("6.1", READ)),
        text(
            "Eight seeds take {} s on average and program {} pages, "
            "where 6.1 takes {} s and programs {}",
            *(mean(kernel, key) for kernel in ("fixed", "6.1") for key in (DURATION, PROGRAMMED)),
        ),
        text("takes {} s of it, in 6.1 {} s", mean("fixed", DELETION), mean("6.1", DELETION)),
    ),
    stated={
        "`fixed` has 21 patches": "kernel/fixes/series",
        "Linux 6.1 and 7.3.4 alike": "versions",
        "JFFS2's ten states": "the table's row",
        "UBIFS's six three": "the table's row, and what was found",
        "nine of": "what was found",
        "three show wrong": "what was found",
        "is below 1 % here": "the table",
        "are read, in 6.1": "a version",
        "Eight seeds": "the command",
        "where 6.1 takes": "a version",
        "of it, in 6.1": "a version",
        "8.91 ms at most where 6.1 has 5.70 s": "F-JFFS2-07",
        "two names": "F-JFFS2-21",
        "is two nodes": "F-JFFS2-21",
        "two cores": "wall time",
        "100,000 cuts in a row": "the study",
        "42,274 states of JFFS2": LONG,
        "and 7 of UBIFS; in kernel `fixed` 10 and 2": LONG,
    },
)
