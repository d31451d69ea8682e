"""`ffslab run`: a study, or some of its cases, from nothing to results and report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    RESULTS,
    TIMEOUT,
    Access,
    Cases,
    Catalogs,
    EachCase,
    Jobs,
    KernelSource,
    KnownIn,
    Output,
    Report,
    Scratch,
    Settings,
    Target,
    Yes,
    consent,
    parse_seeds,
    parse_set,
)
from ffslab.errors import EXIT_FAILED, EXIT_INFRASTRUCTURE, EXIT_OK, UsageError
from ffslab.program import command, program, this_command
from ffslab.targets import DEFAULT_TARGET
from ffslab.visible_text import outlive_readers

_LABEL_LETTERS = 60

if TYPE_CHECKING:
    from rich.console import Console

    from ffslab.campaign.prepared import Prepared
    from ffslab.campaign.run import RunEnd
    from ffslab.campaign.study import Choice
    from ffslab.model.known import Known
    from ffslab.report.first.brief import Brief
    from ffslab.results.rundir import RunDirectory


def register(app: typer.Typer) -> None:
    """Adds the verb `run`."""

    @app.command("run")
    def run(
        study: Annotated[
            str,
            typer.Argument(
                metavar="STUDY", help="A study: name or TOML file; with --resume a run."
            ),
        ],
        settings: Settings = None,
        cases: Cases = None,
        catalogs: Catalogs = None,
        seeds: Annotated[
            str | None,
            typer.Option(metavar="N|LIST", help="A count (seeds 1 to N) or a list: 4,7."),
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
                help="And N other layouts of each case.",
            ),
        ] = None,
        repeats: Annotated[
            int | None,
            typer.Option(
                "--repeats",
                "-n",
                min=1,
                max=99,
                metavar="N",
                help="Runs of each case: on a board [3].",
            ),
        ] = None,
        jobs: Jobs = None,
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
        profile: Annotated[
            bool,
            typer.Option("--profile", help="By function: time; each guest runs twice."),
        ] = False,
        fresh_states: Annotated[
            bool, typer.Option("--fresh-states", help="Prepare states of the flash again.")
        ] = False,
        output: Output = RESULTS,
        target: Target = DEFAULT_TARGET,
        access: Access = None,
        labgrid: Annotated[
            str, typer.Option(metavar="PLACE", help="Switches the board's power.")
        ] = "",
        yes: Yes = False,
        scratch: Scratch = None,
        kernel_source: KernelSource = None,
        timeout: Annotated[float | None, TIMEOUT] = None,
        report: Report = True,
        each_case: EachCase = False,
        known: KnownIn = None,
        label: Annotated[
            str,
            typer.Option(metavar="TEXT", help="Call the run so in lists and `trend`."),
        ] = "",
    ) -> None:
        """Run a study and report it.
        Exit code: 0 good; 1 a case failed or missed a limit; 2 usage; 3 the lab.
        """
        from ffslab.campaign.study import Choice
        from ffslab.cli.screen import terminal
        from ffslab.lab.source import named_source

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
        choice = Choice(
            *(study, tuple(overrides), tuple(cases or ()), tuple(catalogs or ())),
            *(trace, target, access),
        )
        if not resume:
            choice = choice.repeated(repeats)
        if labgrid and target == DEFAULT_TARGET:
            raise UsageError(
                f"--labgrid {labgrid} switches a board's power, and target {target} has no board",
                cause="--target ssh or its --access FILE is missing",
                remedy=f"{program()} run {study} --target ssh --access FILE --labgrid {labgrid}",
            )
        if profile and target != DEFAULT_TARGET:
            raise UsageError(
                f"--profile needs the lab's kernel, and target {target} has another one",
                cause="instructions are counted in the lab's kernel alone",
                remedy=f"{program()} run {study} --profile, without --target",
            )
        if kernel_source is not None:
            named_source(kernel_source)  # whatever comes then, it has to be one
        if known is not None:
            _known_entries(known, None)  # and a file of it has to be right
        if dry_run:
            _print_cases(terminal(), choice, resume, output)
            return
        run_choice(
            choice,
            jobs=jobs,
            output=output,
            scratch=scratch,
            timeout_s=timeout,
            resume=resume,
            keep_flash=keep_flash,
            fresh_states=fresh_states,
            profile=profile,
            kernel_source=kernel_source,
            labgrid=labgrid,
            yes=yes,
            report=report,
            each_case=each_case,
            known=known,
            label=checked_label(label),
        )


def run_choice(
    choice: Choice,
    *,
    jobs: int | None,
    output: Path,
    scratch: Path | None,
    timeout_s: float | None = None,
    resume: bool = False,
    keep_flash: bool = False,
    fresh_states: bool = False,
    profile: bool = False,
    kernel_source: Path | None = None,
    labgrid: str = "",
    yes: bool = False,
    report: bool = True,
    each_case: bool = False,
    known: Path | None = None,
    label: str = "",
) -> None:
    """Runs the cases, tells what came out, and leaves with the exit code of `ffslab run`."""
    from ffslab.campaign.run import RunRequest
    from ffslab.campaign.study import carry_out, pool_options
    from ffslab.cli.progress import TerminalWatch
    from ffslab.cli.report import refresh_index
    from ffslab.cli.screen import terminal
    from ffslab.report.first.brief import brief_of
    from ffslab.targets.target import SiteOptions

    if scratch is not None and not scratch.is_dir():
        raise UsageError(
            f"--scratch {scratch} is not a directory",
            cause="a mistyped path, or a disk that is not mounted",
            remedy=f"mkdir -p {shlex.quote(str(scratch))}, or leave --scratch out",
        )
    outlive_readers()
    console = terminal()
    run, prepared = _prepared(choice, resume, output)
    entries = _known_entries(known, None if resume else prepared.source.path)
    request = RunRequest(
        prepared=prepared,
        options=pool_options(prepared.target, jobs, timeout_s, keep_flash=keep_flash),
        command=this_command(),
        results_root=output,
        resume=run,
        fresh_states=fresh_states,
        known=entries,
        label=label,
    )
    if profile:
        from ffslab.cli.profile import refuse_without_profile

        refuse_without_profile(prepared)
    options = SiteOptions(
        scratch, kernel_source, labgrid=labgrid, confirm=consent(yes), profile=profile
    )
    end = carry_out(request, options, TerminalWatch(console, each_case))
    brief = brief_of(end.run)
    _print_end(console, prepared, end, brief, report, each_case)
    refresh_index(end.run.path.parent, output)
    if end.refused is not None:
        raise end.refused
    raise typer.Exit(_exit_code(end, is_good=brief.is_good(is_whole=prepared.is_whole)))


def checked_label(text: str) -> str:
    """A label as lists show it; UsageError for one that no line has room for."""
    label = text.strip()
    if len(label) > _LABEL_LETTERS or not label.isprintable():
        raise UsageError(
            f"--label: {len(label)} letters, or such as cannot be printed",
            cause=f"a label is a word or two on one line, of at most {_LABEL_LETTERS} letters",
            remedy="for example --label v6.1.192, or --label $(git describe)",
        )
    return label


def _known_entries(known: Path | None, study: Path | None) -> tuple[Known, ...] | None:
    """The known findings of the file that was named, or of the one beside the study; else None."""
    from ffslab.loader import known_beside, load_known

    path = known or (known_beside(study) if study is not None else None)
    return None if path is None else load_known(path)


def _print_cases(console: Console, choice: Choice, resume: bool, output: Path) -> None:
    from ffslab.campaign.run import find_resumable, prepare_resumed

    if resume:
        run = find_resumable(choice.study, output)
        prepared = prepare_resumed(run, None)
        done = run.done_ids(prepared.cases)
    else:
        prepared = _chosen(choice)
        done = frozenset()
    for case in prepared.cases:
        state = "done" if case.id in done else "to run"
        console.print(f"{case.id}  {case.spec_hash[:12]}  {state}")
    console.print(f"{len(prepared.cases)} cases of study {prepared.study.name}")


def _chosen(choice: Choice) -> Prepared:
    """The cases; what was probably not meant is told, and nobody is stopped by it."""
    prepared = choice.prepare()
    for doubt in prepared.doubts:
        typer.echo(f"ffslab: {doubt}", err=True)
    return prepared


def _prepared(choice: Choice, resume: bool, output: Path) -> tuple[RunDirectory | None, Prepared]:
    """The run to go on with, if there is one, and the cases."""
    from ffslab.campaign.run import find_resumable, prepare_resumed

    if not resume:
        return None, _chosen(choice)
    if choice.overrides or choice.case_ids or choice.trace:
        raise UsageError(
            "--resume takes no --set, --seeds, --sensitivity, --band, --case or --trace",
            cause="a resumed run has the cases that it began with",
            remedy=f"{program()} run {choice.study} --resume",
        )
    run = find_resumable(choice.study, output)
    # Whoever works there is told now, not after the lab and images were built.
    with run.worked_on():
        return run, prepare_resumed(run, None)


def _print_end(
    console: Console,
    prepared: Prepared,
    end: RunEnd,
    brief: Brief,
    report: bool,
    each_case: bool,
) -> None:
    from ffslab.cli.ending import print_brief
    from ffslab.cli.finding_lines import finding_lines
    from ffslab.cli.progress import format_seconds
    from ffslab.cli.tables import limit_counts, outcome_counts

    has_report = report and bool(end.heads) and end.refused is None and not end.interrupted
    counts = outcome_counts(end.heads, brief.accepted.cases)
    closing = [
        f"{len(end.heads)} of {len(prepared.cases)} cases: {counts}"
        f"{limit_counts(brief.missed, brief.unused)}; {format_seconds(end.wall_s)}",
        f"results: {end.run.path}",
    ]
    if end.interrupted:
        closing.append(f"interrupted; next: {command('run', end.run.path, '--resume')}")
    is_whole = bool(brief.accepted.stale) and not end.interrupted and prepared.is_whole
    closing += finding_lines(brief, end.run, whole=is_whole)
    opening = () if console.is_terminal else ("",)  # behind the progress
    ends = (opening, closing)
    print_brief(console, end.run, brief, ends, every=each_case, taken=int(has_report))
    if has_report:
        _write_report(console, end)


def _write_report(console: Console, end: RunEnd) -> None:
    """Writes the report if its parts are installed."""
    from ffslab.cli.report import report_at_the_end
    from ffslab.report import build

    path = end.run.path
    report_at_the_end(console, lambda: build(path), command("report", path))


def _exit_code(end: RunEnd, *, is_good: bool) -> int:
    if end.interrupted:
        return EXIT_INFRASTRUCTURE
    return EXIT_OK if is_good else EXIT_FAILED
