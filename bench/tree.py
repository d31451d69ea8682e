"""Part `tree`: whether the host's time for a file grows with the number of files.

Whole cases of workload tree with 100,044 files against cases with 10,017, each guest from its start
to power-off. A guest costs something even with 63 files, mostly a mount of 1 GiB, and the fewer
files share it the more each has of it: that would hide growth. So there are lines without that
cost, too. The same steps on tmpfs tell what the agent and the guest do apart from a file system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

from bench.guest import Guest, Sample, interleave
from bench.measurements import Bench, Measured
from bench.ratios import Goal, Line, ratio_spread, spread
from ffslab.lab.lab_build import LabBuild
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case
from ffslab.model.specs import Board
from ffslab.model.study import expand, study_from_document
from ffslab.protocol.plan import encode, plan_of
from ffslab.targets.virtual_flash import MOUNT_POINT, plan_text

GOAL = Goal(2)
TMPFS_GOAL = Goal(1.5)  # there is no file system that could be to blame
FILE_SYSTEMS = ("jffs2", "ubifs", "yaffs2")
TMPFS = "tmpfs"
DIRECTORIES = 63
FEW, SOME, MANY = (DIRECTORIES * files for files in (1, 159, 1588))
# tmpfs keeps all of it in the guest's RAM: a page for each file, inodes and names.
_TMPFS_RAM_BYTES = 2**30
_STUDY = """
schema = 1
name = "bench-tree"
title = "Create, list, find and delete of 63 to 100,044 files of 750 bytes on 1 GiB"

[base]
board = "apf27-2012"
partition_bytes = "1 GiB"
options.compression = "none"
seeds = [1]

[base.workload]
kind = "tree"
steps = "mount create list find delete unmount"
directories = 2
depth = 5
size = 750

[axes]
"chip.blocks" = [8192]
filesystem = ["jffs2", "ubifs", "yaffs2"]
"workload.files" = [1, 159, 1588]
"""

Samples = Mapping[str, Sequence[Sample]]


def tree_cases() -> dict[tuple[str, int], Case]:
    """The cases by file system and number of files."""
    catalog = load_catalog()
    study = study_from_document(parse_toml(_STUDY, "bench-tree"), catalog, "bench-tree")
    counts = {"1": FEW, "159": SOME, "1588": MANY}
    return {
        (case.filesystem.name, counts[str(dict(case.axes)["workload.files"])]): case
        for case in expand(study, catalog)
    }


def tree_on_tmpfs(lab: LabBuild, case: Case) -> Guest:
    """The steps of `case` on tmpfs: no chip, no monitor, the same system calls."""
    steps = [line for line in plan_text(case).splitlines() if line.startswith("tree-")]
    options = encode("size=100%,nr_inodes=0")
    mount = f"mount type=tmpfs source=none target={MOUNT_POINT} options={options}"
    plan = plan_of([mount, *steps, f"umount target={MOUNT_POINT}"])
    return Guest(lab, replace(case, board=_roomy(case.board)), plan)


def guest_cases() -> list[Case]:
    """All that is booted, for the room that it takes."""
    cases = list(tree_cases().values())
    return [*cases, replace(cases[0], board=_roomy(cases[0].board))]


def measure(bench: Bench) -> Measured:
    """Wall time, on a loaded host CPU time, of a file among many ÷ of a file among some."""
    cases = tree_cases()
    guests = {_key(*of): Guest(bench.lab, case, plan_text(case)) for of, case in cases.items()}
    for files in (FEW, SOME, MANY):
        guests[_key(TMPFS, files)] = tree_on_tmpfs(bench.lab, cases[FILE_SYSTEMS[0], files])
    samples = interleave(
        {name: partial(bench.runner.run, guest) for name, guest in guests.items()},
        bench.repeats,
        bench.tell,
    )
    raw = {name: [asdict(sample) for sample in runs] for name, runs in samples.items()}
    return Measured(lines_of(samples, quiet=bench.quiet), raw)


def lines_of(samples: Samples, *, quiet: bool) -> tuple[Line, ...]:
    """What is printed; `quiet`: the goal is for wall time, else for the host's CPU time."""
    lines = [Line(f"7. Trees on 1 GiB: time per file, {MANY:,} ÷ {SOME:,} files, whole guests")]
    for name in (*FILE_SYSTEMS, TMPFS):
        for label, of, judged in (("wall", _walls, quiet), ("host CPU", _cpus, not quiet)):
            some, many = (of(samples[_key(name, files)]) for files in (SOME, MANY))
            growth = ratio_spread(per_file(many, MANY), per_file(some, SOME))
            goal = TMPFS_GOAL if name == TMPFS else GOAL
            lines.append(Line(f"{name}, {label}", growth, goal if judged else None))
    lines.append(Line(f"   the same without the cost of a guest with {FEW} files, host CPU"))
    for name in (*FILE_SYSTEMS, TMPFS):
        few, some, many = (_cpus(samples[_key(name, files)]) for files in (FEW, SOME, MANY))
        growth = ratio_spread(
            per_file(many, MANY, less=few, less_files=FEW),
            per_file(some, SOME, less=few, less_files=FEW),
        )
        lines.append(Line(name, growth))
    lines.append(Line(f"   tmpfs ÷ file system, {MANY:,} files, host CPU"))
    on_tmpfs = _cpus(samples[_key(TMPFS, MANY)])
    for name in FILE_SYSTEMS:
        lines.append(Line(name, ratio_spread(on_tmpfs, _cpus(samples[_key(name, MANY)]))))
    lines.append(Line(f"   for information, wall time of a file among {MANY:,}"))
    for name in (*FILE_SYSTEMS, TMPFS):
        each = per_file(_walls(samples[_key(name, MANY)]), MANY)
        lines.append(Line(name, spread([value * 1e6 for value in each]), unit="µs"))
    return tuple(lines)


def per_file(
    times_s: Sequence[float], files: int, *, less: Sequence[float] = (), less_files: int = 0
) -> list[float]:
    """Seconds per file of each repeat; with `less`, of the files beyond those of smaller runs."""
    fixed = less or [0.0] * len(times_s)
    return [
        (time_s - fixed_s) / (files - less_files)
        for time_s, fixed_s in zip(times_s, fixed, strict=True)
    ]


def _roomy(board: Board) -> Board:
    return replace(board, ram_bytes=_TMPFS_RAM_BYTES)


def _key(name: str, files: int) -> str:
    return f"{name}, {files} files"


def _walls(samples: Sequence[Sample]) -> list[float]:
    return [sample.wall_s for sample in samples]


def _cpus(samples: Sequence[Sample]) -> list[float]:
    return [sample.cpu_s for sample in samples]
