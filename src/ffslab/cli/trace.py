"""`ffslab trace`: who did what on the flash, from the trace of a case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ffslab.cli.parse import RESULTS, Output, Run
from ffslab.errors import DamagedResultError, UsageError
from ffslab.program import command, program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

    from ffslab.protocol.trace import TaskSum, Trace
    from ffslab.results.rundir import RunDirectory
    from ffslab.workloads.micro.idle import IdleWork, Measurement, TaskShare

_PAUSES_SHOWN = 10
_TIMELINE_CELLS = 40


def register(app: typer.Typer) -> None:
    """Adds the verb `trace`."""

    @app.command("trace")
    def trace(
        run: Run,
        case: Annotated[
            str | None,
            typer.Argument(
                metavar="CASE", help="A case of it: one that was traced [the only one]."
            ),
        ] = None,
        idle: Annotated[
            bool,
            typer.Option(
                "--idle", help="Also what happened between the requests of workload micro."
            ),
        ] = False,
        csv: Annotated[
            Path | None, typer.Option("--csv", metavar="FILE", help="Write all operations as CSV.")
        ] = None,
        output: Output = RESULTS,
    ) -> None:
        """Show what each task did on the flash, in a run with --trace."""
        from ffslab.cli.screen import terminal
        from ffslab.protocol.trace import read_trace
        from ffslab.results.rundir import find_run

        directory = find_run(run, output)
        case_id = _traced_case(directory, case)
        recorded = read_trace(_trace_path(directory, case_id))
        measured = _measurement(directory, case_id) if idle else None
        console = terminal()
        _show_trace(console, case_id, recorded)
        if measured is not None:
            _show_idle(console, recorded, measured)
        if csv is not None:
            typer.echo(f"{_write_csv(recorded, csv):,} operations in {csv}")


# --- which case ---


def _trace_path(run: RunDirectory, case_id: str) -> Path:
    from ffslab.targets.target import TRACE_NAME

    return run.case_dir(case_id) / TRACE_NAME


def _traced_case(run: RunDirectory, wanted: str | None) -> str:
    """The case to show; UsageError if it is not there, not traced, or one of several."""
    from ffslab.model.names import suggestion

    manifest = run.manifest()
    ids = [str(case["id"]) for case in manifest.get("cases", [])]
    traced = [case_id for case_id in ids if _trace_path(run, case_id).is_file()]
    if wanted is not None and wanted not in ids:
        raise UsageError(
            f"no case {wanted!r} in {run.path}{suggestion(wanted, ids)}",
            cause="it is not part of the study",
            remedy=command("show", run.path),
        )
    if wanted is not None and wanted not in traced:
        raise _untraced(manifest, wanted, f"case {wanted} has no trace")
    if wanted is not None:
        return wanted
    if not traced:
        raise _untraced(manifest, ids[0] if ids else "CASE", f"no case of {run.path} has a trace")
    if len(traced) > 1:
        raise UsageError(
            f"{len(traced)} cases of {run.path} have a trace: {_some(traced)}",
            remedy=command("trace", run.path, traced[0]),
        )
    return traced[0]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


def _untraced(manifest: dict[str, Any], case_id: str, message: str) -> Exception:
    from ffslab.cli.show import study_argument
    from ffslab.results.reproduce import reproduce_command

    return UsageError(
        message,
        cause="it was run without --trace, or has not run",
        remedy=reproduce_command(
            study_argument(manifest),
            [(key, values) for key, values in manifest.get("overrides", [])],
            case_id,
            catalogs=manifest.get("catalogs", ()),
            trace=True,
            program=program(),
        ),
    )


def _measurement(run: RunDirectory, case_id: str) -> Measurement:
    """The times of the case's requests; UsageError if it has none."""
    from ffslab.protocol.records import read_records
    from ffslab.targets.target import RECORDS_NAME
    from ffslab.workloads.micro.idle import measurement

    path = run.case_dir(case_id) / RECORDS_NAME
    try:
        idle = measurement(read_records(path))
    except OSError as error:
        raise DamagedResultError(f"{path}: cannot be read: {error.strerror}") from error
    if idle is None:
        raise UsageError(
            f"case {case_id} has no times of requests, which --idle compares the trace with",
            cause="its workload is not micro, or its guest ended early",
            remedy=command("trace", run.path, case_id),
        )
    return idle


# --- tables ---


def _table(*columns: tuple[str, str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading, justify in columns:
        table.add_column(heading, justify="left" if justify == "l" else "right", no_wrap=True)
    return table


def _show_trace(console: Console, case_id: str, trace: Trace) -> None:
    from ffslab.protocol.trace import sum_by_task

    console.print(f"{case_id}: {trace.records:,} operations on the flash")
    for note in trace.notes:
        console.print(f"  note: {note}")
    sums = sum_by_task(trace.operations())
    if not sums:
        return
    console.print()
    console.print(_sums_table(sums))
    console.print("Pages: blocks for an erase. Busy: time in the driver and waiting for the chip.")
    for task_sum in sums:
        if task_sum.errors:
            text = f"{task_sum.errors:,} {task_sum.op} operations of {task_sum.task} failed"
            console.print(text)


def _sums_table(sums: Iterable[TaskSum]) -> Table:
    from ffslab.model.units import format_duration_ns

    table = _table(
        *(("task", "l"), ("pid", "r"), ("kind", "l"), ("operations", "r"), ("pages", "r")),
        *(("busy", "r"), ("first", "r"), ("last", "r")),
    )
    before = None
    for task_sum in sums:
        who = (task_sum.task, str(task_sum.pid))
        table.add_row(
            *(who if who != before else ("", "")),
            task_sum.op,
            f"{task_sum.operations:,}",
            f"{task_sum.pages:,}",
            format_duration_ns(task_sum.busy_ns),
            format_duration_ns(task_sum.t_first_ns),
            format_duration_ns(task_sum.t_last_ns),
        )
        before = who
    return table


def _show_idle(console: Console, trace: Trace, measured: Measurement) -> None:
    from ffslab.model.units import format_duration_ns
    from ffslab.workloads.micro.idle import idle_work

    work = idle_work(trace.operations(), measured)
    first, last = measured.phase
    console.print()
    console.print(
        f"Measured phase: {format_duration_ns(last - first)}, {len(measured.requests):,} requests"
    )
    for note in measured.notes:
        console.print(f"  note: {note}")
    if not work.pauses:
        console.print("No time passed between the requests.")
    else:
        console.print(
            f"Between them: {len(work.pauses):,} pauses, {format_duration_ns(work.pause_ns)}; "
            f"chip busy {format_duration_ns(work.busy_ns)} of it "
            f"({_percent(work.busy_ns, work.pause_ns)})"
        )
    console.print()
    console.print(_shares_table(work.shares, work.pause_ns))
    console.print("Counted where an operation began; busy is the time that passed there.")
    _show_pauses(console, work)


def _shares_table(shares: Iterable[TaskShare], pause_ns: int) -> Table:
    from ffslab.model.units import format_duration_ns
    from ffslab.workloads.micro.idle import BETWEEN

    table = _table(
        *(("task", "l"), ("where", "l"), ("pages r", "r"), ("pages w", "r"), ("erased", "r")),
        *(("busy", "r"), ("of pauses", "r")),
    )
    before = None
    for share in shares:
        who = (share.pid, share.task)
        table.add_row(
            share.task if who != before else "",
            share.place,
            f"{share.pages_read:,}",
            f"{share.pages_programmed:,}",
            f"{share.blocks_erased:,}",
            format_duration_ns(share.busy_ns),
            _percent(share.busy_ns, pause_ns) if share.place == BETWEEN else "",
        )
        before = who
    return table


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"


def _show_pauses(console: Console, work: IdleWork) -> None:
    from ffslab.model.units import format_duration_ns

    busy = sorted((pause for pause in work.pauses if pause.work), key=lambda pause: -pause.busy_ns)
    if not work.pauses:
        return
    console.print()
    if not busy:
        console.print("The flash was idle in all of them.")
        return
    console.print(
        f"Work in {len(busy):,} of the pauses; those with most "
        "(r read, p program, e erase, . none):"
    )
    table = _table(
        *(("after request", "r"), ("at", "r"), ("length", "r"), ("busy", "r"), ("", "l")),
    )
    shown = sorted(busy[:_PAUSES_SHOWN], key=lambda pause: pause.t_start_ns)
    for pause in shown:
        table.add_row(
            "none" if pause.request < 0 else f"{pause.request:,}",
            format_duration_ns(pause.t_start_ns),
            format_duration_ns(pause.duration_ns),
            _percent(pause.busy_ns, pause.duration_ns),
            f"|{pause.timeline(_TIMELINE_CELLS)}|",
        )
    console.print(table)


# --- CSV ---


def _write_csv(trace: Trace, path: Path) -> int:
    """Writes every operation, one in a line; how many."""
    import csv

    from ffslab.protocol.trace import Operation
    from ffslab.results.files import disk_error

    count = 0
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(Operation._fields)
            for operation in trace.operations():
                writer.writerow(operation)
                count += 1
    except OSError as error:
        raise disk_error(error, path) from error
    return count
