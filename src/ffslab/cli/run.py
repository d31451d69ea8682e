"""`ffslab run`: a study, or some of its cases, from nothing to results and report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import Catalogs
from ffslab.program import command, program

_REPEATS = 3

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from ffslab.campaign.run import Prepared, RunEnd, RunRequest
    from ffslab.results.rundir import RunDirectory
    from ffslab.targets.target import SiteOptions


def register(app: typer.Typer) -> None:
    """Adds the verb `run`."""

    @app.command("run")
    def run(
        study: Annotated[
            str,
            typer.Argument(help="A shipped study, a TOML file, or with --resume a run directory."),
        ],
        settings: Annotated[
            list[str] | None,
            typer.Option(
                "--set",
                metavar="AXIS=VALUE",
                help="Replace an axis or a base value, in the order given; an error if it "
                "changes no case.",
            ),
        ] = None,
        cases: Annotated[
            list[str] | None, typer.Option("--case", metavar="ID", help="Only this case.")
        ] = None,
        catalogs: Catalogs = None,
        seeds: Annotated[
            str | None, typer.Option(help="A count (seeds 1 to N) or a list: 4,7.")
        ] = None,
        sensitivity: Annotated[
            bool,
            typer.Option("--sensitivity", help="Also halve and double each estimate of the board."),
        ] = False,
        band: Annotated[
            int | None,
            typer.Option(
                "--band",
                min=1,
                max=16,
                metavar="N",
                help="Also run each case with N other layouts (4 will do), for `compare`.",
            ),
        ] = None,
        repeats: Annotated[
            int | None,
            typer.Option(
                "--repeats", min=1, max=99, metavar="N", help="Runs of each case on a board [3]."
            ),
        ] = None,
        jobs: Annotated[
            int | None,
            typer.Option("--jobs", "-j", min=1, max=1024, help="Guests at once [cores]."),
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="List the cases and stop.")
        ] = False,
        resume: Annotated[
            bool, typer.Option("--resume", help="Continue the latest interrupted run.")
        ] = False,
        keep_flash: Annotated[
            bool, typer.Option("--keep-flash", help="Keep each chip's contents.")
        ] = False,
        trace: Annotated[
            bool, typer.Option("--trace", help="Record every flash operation.")
        ] = False,
        fresh_states: Annotated[
            bool, typer.Option("--fresh-states", help="Prepare states of the flash again.")
        ] = False,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where run directories go.")
        ] = Path("results"),
        target: Annotated[str, typer.Option(metavar="NAME", help="Where guests run.")] = "uml",
        place: Annotated[
            Path | None,
            typer.Option(metavar="FILE", help="The file of the board, with --target ssh."),
        ] = None,
        labgrid: Annotated[
            str, typer.Option(metavar="PLACE", help="Switches the board's power.")
        ] = "",
        yes: Annotated[
            bool, typer.Option("--yes", help="Destroy a board's partition without asking.")
        ] = False,
        scratch: Annotated[
            Path | None, typer.Option(help="Where guests keep their flash [/dev/shm].")
        ] = None,
        kernel_source: Annotated[
            Path | None,
            typer.Option(metavar="DIR", help="Build the lab kernel from this Linux 6.1 source."),
        ] = None,
        timeout: Annotated[
            float | None,
            typer.Option(
                min=1,
                max=10**6,
                help="Wall-clock limit of a case in seconds [300; on qemu and boards 3600].",
            ),
        ] = None,
        report: Annotated[bool, typer.Option(help="Write report.html at the end.")] = True,
    ) -> None:
        """Run a study and report it.

        Exit code: 0 good; 1 a case failed; 2 wrong usage, a setting that changes no case, or no
        image to begin with; 3 interrupted, or the lab itself failed. A case that measured less than
        was asked for is "short": good if its workload allows that (limit) and at least a tenth was
        measured, else failed.
        """
        import shlex
        from dataclasses import replace

        from ffslab.cli.parse import parse_seeds, parse_set
        from ffslab.cli.screen import terminal
        from ffslab.errors import UsageError
        from ffslab.targets.target import SiteOptions

        if scratch is not None and not scratch.is_dir():
            raise UsageError(
                f"--scratch {scratch} is not a directory",
                cause="a mistyped path, or a disk that is not mounted",
                remedy=f"mkdir -p {shlex.quote(str(scratch))}, or leave --scratch out",
            )
        overrides = [parse_set(text) for text in settings or ()]
        if seeds is not None:
            overrides.append(("seed", parse_seeds(seeds)))
        if sensitivity:
            from ffslab.model.estimates import ESTIMATE, VALUES

            overrides.append((ESTIMATE, VALUES))
        if band is not None:
            from ffslab.model.perturbation import band_values
            from ffslab.model.specs import PERTURBATION

            overrides.append((PERTURBATION, band_values(band)))
        if not resume:
            overrides += _repeats(repeats, target, place)
        console = terminal()
        choice = _Choice(
            *(study, tuple(overrides), tuple(cases or ()), tuple(catalogs or ())),
            *(trace, target, place),
        )
        if dry_run:
            _print_cases(console, choice, resume, output)
            return
        request = _request(choice, resume, output)
        request = replace(request, fresh_states=fresh_states)
        request = _with_options(request, jobs, timeout, keep_flash)
        _require_kept_flash(request)
        options = SiteOptions(scratch, kernel_source, labgrid=labgrid, confirm=_consent(yes))
        end = _execute(console, request, options)
        _print_end(console, request.prepared, end, report)
        if end.refused is not None:
            raise end.refused
        raise typer.Exit(_exit_code(end))


def run_study(
    study: str,
    settings: Sequence[str],
    output: Path,
    jobs: int | None,
    check: Callable[[Prepared], None],
    *,
    target: str = "uml",
    place: Path | None = None,
    yes: bool = False,
    catalogs: Sequence[Path] = (),
) -> RunDirectory:
    """Runs all cases of a study for a verb that goes on with the run; tells the progress to stderr.

    `check` refuses what the verb cannot use, before anything is run. Where time is a real clock's,
    cases are repeated as by the verb run. `yes` allows a board's partition to be destroyed without
    asking. InfrastructureError if the run was interrupted, with how to go on.
    """
    from ffslab.cli.parse import parse_set
    from ffslab.cli.screen import screen
    from ffslab.errors import InfrastructureError
    from ffslab.targets.target import SiteOptions

    overrides = (*map(parse_set, settings), *_repeats(None, target, place))
    choice = _Choice(study, overrides, (), tuple(catalogs), False, target, place)
    request = _with_options(_request(choice, False, output), jobs, None, False)
    check(request.prepared)
    options = SiteOptions(None, None, confirm=_consent(yes))
    end = _execute(screen(stderr=True), request, options)
    if end.refused is not None:
        raise end.refused
    if end.interrupted:
        raise InfrastructureError(
            f"{end.run.path} was interrupted",
            remedy=f"{command('run', end.run.path, '--resume')}",
        )
    return end.run


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which cases the command line asks for."""

    study: str
    overrides: tuple[tuple[str, tuple[object, ...]], ...]
    case_ids: tuple[str, ...]
    catalogs: tuple[Path, ...]
    trace: bool
    target: str
    place: Path | None = None

    def prepare(self) -> Prepared:
        from ffslab.campaign.run import prepare

        return prepare(
            self.study,
            self.overrides,
            self.case_ids,
            trace=self.trace,
            catalogs=self.catalogs,
            target=self.target,
            place=self.place,
        )


def _consent(yes: bool) -> Callable[[str], None]:
    """Asks, at the terminal, whether something may be destroyed; UsageError if it may not."""

    def confirm(what: str) -> None:
        import sys

        from ffslab.errors import UsageError

        if yes:
            return
        typer.echo(what, err=True)
        if not sys.stdin.isatty():
            raise UsageError("there is no terminal to ask at", remedy="the same command with --yes")
        if not typer.confirm("Go on?", err=True):
            raise UsageError("nothing was destroyed", cause="the answer was no")

    return confirm


def _print_cases(console: Console, choice: _Choice, resume: bool, output: Path) -> None:
    from ffslab.campaign.run import find_resumable, prepare_resumed

    if resume:
        run = find_resumable(choice.study, output)
        prepared = prepare_resumed(run, None)
        done = run.done_ids(prepared.cases)
    else:
        prepared = choice.prepare()
        done = frozenset()
    for case in prepared.cases:
        state = "done" if case.id in done else "to run"
        console.print(f"{case.id}  {case.spec_hash[:12]}  {state}", markup=False)
    console.print(f"{len(prepared.cases)} cases of study {prepared.study.name}", markup=False)


def _request(choice: _Choice, resume: bool, output: Path) -> RunRequest:
    import shlex
    import sys

    from ffslab.campaign.pool import PoolOptions
    from ffslab.campaign.run import RunRequest, find_resumable, prepare_resumed
    from ffslab.errors import UsageError

    run = None
    if resume:
        if choice.overrides or choice.case_ids or choice.trace:
            raise UsageError(
                "--resume takes no --set, --seeds, --sensitivity, --band, --case or --trace",
                cause="a resumed run has the cases that it began with",
                remedy=f"{program()} run {choice.study} --resume",
            )
        run = find_resumable(choice.study, output)
        # Whoever works there is told now, not after the lab and images were built.
        with run.worked_on():
            prepared = prepare_resumed(run, None)
    else:
        prepared = choice.prepare()
    return RunRequest(
        prepared=prepared,
        options=PoolOptions(1, 300.0),
        command=f"{program()} {shlex.join(sys.argv[1:])}",
        results_root=output,
        resume=run,
    )


def _with_options(
    request: RunRequest, jobs: int | None, timeout_s: float | None, keep_flash: bool
) -> RunRequest:
    from dataclasses import replace

    from ffslab.campaign.pool import PoolOptions
    from ffslab.campaign.run import usable_cpus
    from ffslab.targets.registry import site_module

    limit_s = timeout_s or site_module(request.prepared.target).KIND.limit_s
    cpus = usable_cpus()
    options = PoolOptions(jobs or len(cpus), limit_s, keep_flash, cpus)
    return replace(request, options=options)


def _require_kept_flash(request: RunRequest) -> None:
    """UsageError for --keep-flash where there is no file of the flash."""
    from ffslab.errors import UsageError
    from ffslab.targets.registry import site_module

    target = request.prepared.target
    if request.options.keep_flash and not site_module(target).KIND.capabilities.flash_snapshot:
        raise UsageError(
            f"target {target} keeps no flash",
            cause="the contents of a board's flash are on the board",
            remedy="leave --keep-flash out",
        )


def _repeats(
    asked: int | None, target: str, place: Path | None
) -> list[tuple[str, tuple[object, ...]]]:
    """The axis that repeats cases where time is a real clock's; UsageError elsewhere."""
    from ffslab.errors import UsageError
    from ffslab.model.repeats import repeat_values
    from ffslab.model.specs import REPEAT
    from ffslab.targets.registry import target_kind

    if not target_kind(target, place).capabilities.virtual_time:
        return [(REPEAT, repeat_values(asked or _REPEATS))]
    if asked is not None:
        raise UsageError(
            f"on target {target} a repeat gives the same result, to the last digit",
            cause="time is virtual there",
            remedy="--seeds N, which varies what happens",
        )
    return []


def _execute(console: Console, request: RunRequest, options: SiteOptions) -> RunEnd:
    import time
    from datetime import UTC, datetime

    from ffslab.campaign.plan import remaining
    from ffslab.campaign.run import execute, made_ready
    from ffslab.cli.progress import RunProgress
    from ffslab.lab.progress import ConsoleProgress

    request, site = made_ready(request, options, ConsoleProgress())
    cases = request.prepared.cases
    todo = remaining(cases, request.resume.done_ids(cases)) if request.resume else cases
    with RunProgress(console, len(todo), time.monotonic) as progress:
        return execute(request, site, progress, lambda: datetime.now(UTC))


def _print_end(console: Console, prepared: Prepared, end: RunEnd, report: bool) -> None:
    from ffslab.cli.progress import format_seconds
    from ffslab.cli.tables import outcome_counts, print_kernels, print_results

    print_results(console, end.run.each_result(), end.run.walls())
    print_kernels(console, end.heads)
    console.print(
        f"{len(end.heads)} of {len(prepared.cases)} cases: {outcome_counts(end.heads)}; "
        f"{format_seconds(end.wall_s)}",
        markup=False,
    )
    console.print(f"results: {end.run.path}", soft_wrap=True, markup=False)
    if end.interrupted:
        console.print(
            f"interrupted; next: {command('run', end.run.path, '--resume')}",
            soft_wrap=True,
            markup=False,
        )
    elif report and end.heads and end.refused is None:
        _write_report(console, end)


def _write_report(console: Console, end: RunEnd) -> None:
    """Writes the report if its parts are installed."""
    from ffslab.cli.report import report_at_the_end
    from ffslab.report import build

    path = end.run.path
    report_at_the_end(console, lambda: build(path), command("report", path))


def _exit_code(end: RunEnd) -> int:
    from ffslab.errors import EXIT_FAILED, EXIT_INFRASTRUCTURE, EXIT_OK
    from ffslab.results.shortfall import is_good

    if end.interrupted:
        return EXIT_INFRASTRUCTURE
    good = all(is_good(head) for head in end.heads)
    return EXIT_OK if good else EXIT_FAILED
