"""`ffslab profile`: where the virtual time of a case goes, by function and task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    RESULTS,
    Catalogs,
    KernelSource,
    OneCase,
    Output,
    Settings,
    parse_set,
)
from ffslab.cli.run_or_study import StudyOrRun, named_run, new_run
from ffslab.errors import UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ffslab.campaign.prepared import Prepared
    from ffslab.protocol.profile import Profile, WindowProfile
    from ffslab.results.profiles import FunctionTime
    from ffslab.results.rundir import RunDirectory

_FUNCTIONS_SHOWN = 20
_WINDOWS_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Adds the verb `profile`."""

    @app.command("profile")
    def profile(
        name: StudyOrRun,
        case: OneCase = None,
        settings: Settings = None,
        window: Annotated[
            str | None,
            typer.Option("--phase", metavar="NAME", help="Only this phase or step [all]."),
        ] = None,
        folded_file: Annotated[
            Path | None,
            typer.Option("--folded", metavar="FILE", help="Write stacks for flame graphs."),
        ] = None,
        speedscope_file: Annotated[
            Path | None,
            typer.Option("--speedscope", metavar="FILE", help="Write speedscope's JSON."),
        ] = None,
        catalogs: Catalogs = None,
        kernel_source: KernelSource = None,
        output: Output = RESULTS,
    ) -> None:
        """Show in which functions the virtual time of a case passes.

        Of a study one case is run, twice: profiled it has the same records, to the byte, or this
        ends with an error. A function's own time is that of its instructions and of what it waited
        for; the flash's driver and chip are told apart.
        """
        from ffslab.cli.screen import terminal
        from ffslab.results.profiles import chosen

        run = named_run("profile", name, settings or (), output, "quick")
        if run is None:
            run = _profiled(name, settings or (), case, catalogs or (), kernel_source, output)
        case_id, read = _profile_of(run, case)
        windows = chosen(read, window)
        if not windows:
            raise _no_window(run, case_id, read, window or "")
        _write(read, windows, case_id, folded_file, speedscope_file)
        _show(terminal(), case_id, read, windows)
        typer.echo(f"run: {run.path}")


def _profiled(
    study: str,
    settings: Sequence[str],
    case: str | None,
    catalogs: Sequence[Path],
    kernel_source: Path | None,
    output: Path,
) -> RunDirectory:
    """A run of that case, with its profile."""
    from dataclasses import replace

    from ffslab.campaign.study import Choice
    from ffslab.targets.target import SiteOptions

    overrides = tuple(map(parse_set, settings))
    choice = Choice(study, overrides, (case,) if case else (), tuple(catalogs))
    if case is None:
        choice = replace(choice, case_ids=(choice.prepare().cases[0].id,))
    options = SiteOptions(kernel_source=kernel_source, profile=True)
    return new_run(choice, output, _check, options=options)


def refuse_without_profile(prepared: Prepared) -> None:
    """UsageError for a study with cases that have no profile."""
    from ffslab.workloads.registry import workloads

    for case in prepared.cases:
        if workloads()[case.workload.kind].cuts_power:
            raise UsageError(
                f"{case.id} cuts the power: it has no time to be told by function",
                cause="its states are judged, and not timed",
                remedy=command("profile", "quick"),
            )


def _check(prepared: Prepared) -> None:
    """UsageError for what has no profile, and for more than one case."""
    if len(prepared.cases) > 1:
        raise UsageError(
            f"{len(prepared.cases)} cases of {prepared.study.name} are meant",
            cause="one case is profiled at a time",
            remedy=command("profile", prepared.study.name, "--case", prepared.cases[0].id),
        )
    refuse_without_profile(prepared)


def _profile_of(run: RunDirectory, wanted: str | None) -> tuple[str, Profile]:
    """The case's profile; UsageError if it has none."""
    from ffslab.protocol.profile import read_profile
    from ffslab.results.profiles import profiles_in

    paths = profiles_in(run)
    case_id = wanted or next(iter(paths), "")
    if case_id not in paths:
        raise UsageError(
            f"{case_id or 'no case'} of {run.path} has {'no' if case_id else 'a'} profile",
            cause="it was run by another verb than `profile`, or it did not end",
            remedy=command("profile", str(run.manifest().get("study", "quick"))),
        )
    return case_id, read_profile(paths[case_id])


def _no_window(run: RunDirectory, case_id: str, profile: Profile, wanted: str) -> UsageError:
    from ffslab.model.names import suggestion

    names = list(dict.fromkeys(window.name for window in profile.windows))
    return UsageError(
        f"{case_id} has no phase {wanted!r}{suggestion(wanted, names)}",
        cause=f"it has {', '.join(names)}",
        remedy=command("profile", run.path, "--phase", names[0]),
    )


def _write(
    profile: Profile,
    windows: Sequence[WindowProfile],
    case_id: str,
    folded_file: Path | None,
    speedscope_file: Path | None,
) -> None:
    import json

    from ffslab.results.profiles import folded, speedscope

    if folded_file is not None:
        folded_file.write_text(folded(windows), encoding="utf-8")
        typer.echo(f"stacks: {folded_file}", err=True)
    if speedscope_file is not None:
        text = json.dumps(speedscope(profile, case_id), separators=(",", ":"))
        speedscope_file.write_text(text + "\n", encoding="utf-8")
        typer.echo(f"speedscope: {speedscope_file}", err=True)


# --- tables ---


def _show(
    console: Console, case_id: str, profile: Profile, windows: Sequence[WindowProfile]
) -> None:
    from ffslab.report.quantity import duration
    from ffslab.results.profiles import IDLE, functions_of, tasks_of

    times = dict(tasks_of(windows))
    idle_ns = times.pop(IDLE, 0)
    total_ns = sum(times.values()) or 1
    names = list(dict.fromkeys(window.name for window in windows))
    told = ", ".join(names) if len(names) <= _WINDOWS_SHOWN else f"{len(names)} phases and steps"
    idle = f", without {duration(idle_ns)} in which all waited" if idle_ns else ""
    console.print(f"{case_id}: {duration(total_ns)} in {told}{idle}", highlight=False)
    shares = [f"{name} {ns / total_ns:.1%}" for name, ns in times.items()][:5]
    console.print(f"tasks: {', '.join(shares)}", highlight=False)
    if profile.lost_ns:
        console.print(f"{duration(profile.lost_ns)} found no room in the kernel's tree")
    console.print()
    console.print(_function_table(functions_of(windows)[:_FUNCTIONS_SHOWN], total_ns))


def _function_table(rows: Sequence[FunctionTime], total_ns: int) -> object:
    from rich.table import Table

    from ffslab.report.quantity import duration

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("function", no_wrap=True, max_width=34)
    for heading in ("own", "share", "code", "driver", "chip", "with calls"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        parts = (duration(ns) if ns else "" for ns in (row.code_ns, row.driver_ns, row.chip_ns))
        table.add_row(
            *(row.name, duration(row.own_ns), f"{row.own_ns / total_ns:.1%}", *parts),
            f"{row.total_ns / total_ns:.1%}",
        )
    return table
