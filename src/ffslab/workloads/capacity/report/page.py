"""capacity's part of a report: what fits, what comes back, and the writes until it is full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ffslab.report import data
from ffslab.report.curves import Style, styles_for
from ffslab.report.data import Case, Run
from ffslab.report.elements import Table
from ffslab.report.load import Read, explained, open_run, plain_outline
from ffslab.report.page import common
from ffslab.report.quantity import duration, grouped, significant
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.capacity.report.course import course_of, draw
from ffslab.workloads.capacity.stored import CapacityResult, capacity_of
from ffslab.workloads.micro.requests import read_requests
from ffslab.workloads.micro.stored import SlowestResult

TITLE = "Until the partition is full"
__all__ = ("TITLE", "figures_of", "page")  # what the report asks of a workload
_MIB = 2**20
_NONE = "–"
_GLOSSARY = (
    ("promised", "What statfs(2) says is available on the file system before the file is written."),
    ("left", "What was promised less what has been written; below 0 more fits than was promised."),
    ("again", "Another file, written until ENOSPC when the first was deleted."),
)
_WHO = (
    ("kworker", "write-back"),
    ("ubifs_bgt", "UBIFS’s commit"),
    ("ubi_bgt", "UBI’s thread: erases, wear leveling"),
    ("jffs2_gcd", "JFFS2’s collector"),
    ("yaffs-bg", "YAFFS2’s collector"),
    ("init", "the writer"),
    ("ffsagent", "the writer"),
)


@dataclass(frozen=True)
class Drawn:
    """The course of a case."""

    heading: str
    drawing: str
    thinned: bool


def figures_of(row: CaseResult) -> CapacityResult | None:
    """What a case measured; None for what it did not get to."""
    return capacity_of(row)


def page(run_dir: Path, read_cases: Sequence[Read[CapacityResult | None]]) -> dict[str, Any]:
    """Everything the template shows of a run's cases of this workload."""
    manifest = open_run(run_dir).manifest()
    with explained(run_dir, manifest):
        run = plain_outline(run_dir, manifest, read_cases)
        cases = run.cases
        labels = {case.id: _label(run, case) for case in cases}
        measured = [
            (case, read_case.figures)
            for case, read_case in zip(cases, read_cases, strict=True)
            if case.passed and read_case.figures is not None
        ]
        styles = styles_for({labels[case.id]: _identity(run, case) for case, _ in measured})
        return {
            **common(run, _GLOSSARY),
            "capacity": capacity_table(measured, labels),
            "peaks": peak_table(measured, labels),
            "courses": [
                drawn
                for number, (case, figures) in enumerate(measured)
                if (drawn := _course(run_dir, case, figures, labels, styles, number)) is not None
            ],
            "case_table": _case_table(
                run, labels, {case.id: capacity for case, capacity in measured}
            ),
        }


def _identity(run: Run, case: Case) -> dict[str, str]:
    names = [data.FILESYSTEM, *(n for n in run.varying if n not in (data.SEED, data.FILESYSTEM))]
    return {name: case.axes.get(name, "") for name in names}


def _label(run: Run, case: Case) -> str:
    names = [data.FILESYSTEM, *(n for n in run.varying if n != data.FILESYSTEM)]
    return data.group_label(case.axes, names)


def capacity_table(
    measured: Sequence[tuple[Case, CapacityResult]], labels: Mapping[str, str]
) -> Table:
    """What fits, and what comes back, of each case."""
    rows = []
    for case, capacity in measured:
        back = (capacity["deleted_bytes"], capacity["synced_bytes"], capacity["settled_bytes"])
        rows.append(
            (
                labels[case.id],
                _mib(capacity["promised_bytes"]),
                _mib(capacity["written_bytes"]),
                significant(100 * capacity["partition_share"]),
                _mib(capacity["written_bytes"] - capacity["promised_bytes"]),
                *map(_mib, back),
                _mib(capacity["again_bytes"]),
            )
        )
    head = ("configuration", "promised", "written", "of the partition", "more than promised")
    returned = ("back at once", "after a sync", "when quiet", "written again")
    units = ("", "MiB", "MiB", "%", "MiB", "MiB", "MiB", "MiB", "MiB")
    return Table("What fits, and what comes back", (*head, *returned), units, tuple(rows))


def peak_table(measured: Sequence[tuple[Case, CapacityResult]], labels: Mapping[str, str]) -> Table:
    """The longest writes of each case, and what was done on the flash meanwhile."""
    rows = [
        (
            labels[case.id],
            _mib(peak["offset"]),
            duration(peak["latency_ns"]),
            peak["cause"],
            "; ".join(_work(task) for task in peak["tasks"]) or _NONE,
        )
        for case, capacity in measured
        for peak in capacity["peaks"][:5]
    ]
    head = ("configuration", "after", "took", "cause", "on the flash meanwhile")
    units = ("", "MiB", "", "", "")
    return Table(
        "The longest writes", head, units, tuple(rows), text_columns=5, told=True, wrapped=(4,)
    )


def _work(task: Mapping[str, Any]) -> str:
    name = str(task["name"])
    who = next((words for start, words in _WHO if name.startswith(start)), "")
    done = (
        f"{grouped(task[key])} {words}"
        for key, words in (
            ("pages_read", "read"),
            ("pages_programmed", "programmed"),
            ("blocks_erased", "erased"),
        )
        if task[key]
    )
    return f"{name}{f' ({who})' if who else ''}: {', '.join(done)}"


def _course(
    run_dir: Path,
    case: Case,
    capacity: CapacityResult,
    labels: Mapping[str, str],
    styles: Mapping[str, Style],
    number: int,
) -> Drawn | None:
    series = read_requests(RunDirectory(run_dir).case_dir(case.id))
    causes = {peak["request"]: cause_words(peak) for peak in capacity["peaks"]}
    course = (
        course_of(series[0], capacity["promised_bytes"], capacity["request_bytes"], causes)
        if series
        else None
    )
    if course is None:
        return None
    label = labels[case.id]
    title = f"{label}: time of each write until the partition was full, and the space left"
    drawing = draw(course, styles[label], title, f"capacity-{number}")
    return Drawn(label, drawing, course.thinned)


def cause_words(peak: SlowestResult) -> str:
    """The cause of a peak with whose it is, where it is another task's."""
    cause = peak["cause"]
    task = cause.removeprefix("waits for ")
    who = next((words for start, words in _WHO if task.startswith(start)), "")
    return who if task != cause and who else cause


def _case_table(
    run: Run, labels: Mapping[str, str], capacities: Mapping[str, CapacityResult]
) -> Table:
    rows = []
    for case in run.cases:
        capacity = capacities.get(case.id)
        latency = capacity["latency"] if capacity else None
        rows.append(
            (
                case.id,
                case.outcome,
                labels[case.id],
                _mib(capacity["written_bytes"]) if capacity else _NONE,
                *(
                    (
                        duration(latency["mean_ns"]),
                        duration(latency["p50_ns"]),
                        duration(latency["p99_ns"]),
                        duration(latency["max_ns"]),
                    )
                    if latency
                    else (_NONE,) * 4
                ),
            )
        )
    head = ("case", "outcome", "configuration", "written, MiB", "mean", "p50", "p99", "longest")
    return Table("All cases", head, (), tuple(rows), text_columns=3, outcomes=True)


def _mib(value: int | None) -> str:
    return _NONE if value is None else significant(value / _MIB, 4)
