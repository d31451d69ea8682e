"""`ffslab reproduce`: what publications state, and what ffslab measures beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    RESULTS,
    TIMEOUT,
    AsJson,
    EachCase,
    Jobs,
    Output,
    Report,
    Scratch,
    Target,
    print_json,
)
from ffslab.errors import EXIT_FAILED, EXIT_INFRASTRUCTURE, EXIT_OK, UsageError
from ffslab.program import command, program, this_command
from ffslab.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ffslab.published.beside import JudgedPublication
    from ffslab.published.plan import Plan
    from ffslab.published.run import How, Reproduced

PAGE = "published.html"


def register(app: typer.Typer) -> None:
    """Adds the verb `reproduce`."""

    @app.command("reproduce")
    def reproduce(
        names: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="PUBLICATION",
                help="Publications or statements: ffsmark, B6, all; none lists them.",
            ),
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="List the cases and stop: by runs.")
        ] = False,
        fresh: Annotated[
            bool, typer.Option("--fresh", help="Run again what was measured before.")
        ] = False,
        jobs: Jobs = None,
        output: Output = RESULTS,
        scratch: Scratch = None,
        target: Target = DEFAULT_TARGET,
        timeout: Annotated[float | None, TIMEOUT] = None,
        destination: Annotated[
            Path | None,
            typer.Option("--to", metavar="PATH", help=f"Where to write it [DIR/{PAGE}]."),
        ] = None,
        markdown: Annotated[
            Path | None,
            typer.Option("--markdown", metavar="DIR", help="Write documents there, with charts."),
        ] = None,
        report: Report = True,
        each: EachCase = False,
        as_json: AsJson = False,
    ) -> None:
        """Measure what publications state, and compare.

        Runs the cases that the statements of a publication need, unless this build of the lab has
        measured them before, and says of each statement whether ours agrees (✔), has the same
        direction (≈) or contradicts it (✘). Repeat the command after Ctrl-C. With --target the
        lab is put beside itself: the same here and there, and which marks differ.

        Exit code: 0 everything was measured; 1 a case failed; 2 usage; 3 interrupted, or the lab.
        """
        from ffslab.published.load import chosen
        from ffslab.published.plan import planned

        if not names:
            _list()
            return
        publications = chosen(names)
        if target != DEFAULT_TARGET:
            page = {"--to": destination is not None, "--no-report": not report, "--all": each}
            _refuse_page(target, [option for option, given in page.items() if given])
        plans = [planned(publication, target) for publication in publications]
        if dry_run:
            _print_plans(plans)
            return
        how = _how(output, jobs, timeout, scratch, fresh=fresh, quiet=as_json)
        if target != DEFAULT_TARGET:
            usual = [planned(publication) for publication in publications]
            done = _against(usual, plans, target, how, markdown, as_json=as_json)
            raise typer.Exit(_exit_code(done))
        done = _reproduced(plans, how)
        compared = [each.judged for each in done]
        if as_json:
            from ffslab.published.beside import document

            print_json({"publications": [document(each) for each in compared]})
        else:
            _print(_console(quiet=False), compared, every=each)
        _write(compared, destination or output / PAGE, markdown, names, report=report)
        raise typer.Exit(_exit_code(done))


def _refuse_page(target: str, given: Sequence[str]) -> None:
    """UsageError for options of the page and of the publications' own figures."""
    if given:
        options = " and ".join(given)
        raise UsageError(
            f"{options} cannot be with --target {target}",
            cause="two targets are put side by side, by statement: there is no page of it",
            remedy=f"leave out {options}; --markdown DIR writes a document, --json has each figure",
        )


def _list() -> None:
    """The publications that there are."""
    from ffslab.published.load import publications

    for publication in publications():
        ids = [statement.id for statement in publication.statements]
        typer.echo(
            f"{publication.name:8} {ids[0]} to {ids[-1]:3} {publication.minutes:2} min  "
            f"{publication.title}"
        )
    typer.echo(f"next: {program()} reproduce NAME, or reproduce all")


def _print_plans(plans: Sequence[Plan]) -> None:
    for plan in plans:
        for run in plan.runs:
            typer.echo(f"{plan.publication.name} {run.key}: {run.command}")
            for case in run.prepared.cases:
                typer.echo(f"  {case.id}  {case.spec_hash[:12]}")
        count = len(plan.publication.statements)
        typer.echo(f"{plan.case_count} cases for {count} statements of {plan.publication.name}")


def _how(
    output: Path,
    jobs: int | None,
    timeout_s: float | None,
    scratch: Path | None,
    *,
    fresh: bool,
    quiet: bool,
) -> How:
    from ffslab.cli.progress import TerminalWatch
    from ffslab.published.run import How
    from ffslab.targets.target import SiteOptions
    from ffslab.visible_text import outlive_readers

    outlive_readers()
    watch = TerminalWatch(_console(quiet=quiet))
    return How(output, watch, jobs, timeout_s, fresh, SiteOptions(scratch, None))


def _reproduced(plans: Sequence[Plan], how: How) -> list[Reproduced]:
    """Each publication in turn, up to an interruption."""
    from ffslab.cli.report import refresh_index
    from ffslab.published.run import reproduced

    done: list[Reproduced] = []
    for plan in plans:
        done.append(reproduced(plan, how))
        refresh_index(how.output, how.output)
        if done[-1].interrupted:
            break
    return done


def _against(
    usual: Sequence[Plan],
    plans: Sequence[Plan],
    target: str,
    how: How,
    markdown: Path | None,
    *,
    as_json: bool,
) -> list[Reproduced]:
    """The same on the lab's own target and on another one: prints how far they agree."""
    from ffslab.cli.reproduce_tables import print_against
    from ffslab.published.against import against_document, beside_each_other
    from ffslab.report.published.markdown import write_against

    here = _reproduced(usual, how)
    if any(each.interrupted for each in here):
        return here
    there = _reproduced(plans, how)
    if any(each.interrupted for each in there):
        return there
    both = beside_each_other([each.judged for each in here], [each.judged for each in there])
    if as_json:
        print_json(against_document(both, target))
    else:
        print_against(_console(quiet=False), both, target)
    if markdown is not None:
        names = [plan.publication.name for plan in plans]
        path = write_against(both, target, names, markdown)
        typer.echo(f"document: {path}", err=True)
    return [*here, *there]


def _console(*, quiet: bool) -> Console:
    """Standard output, or with `--json` standard error: progress is no JSON."""
    from ffslab.cli.screen import screen, terminal

    return screen(stderr=True) if quiet else terminal()


def _print(console: Console, compared: Sequence[JudgedPublication], *, every: bool) -> None:
    from ffslab.cli.reproduce_tables import print_publication
    from ffslab.published.beside import score_text, total

    for publication in compared:
        print_publication(console, publication, every=every)
    scores = [each.score for each in compared if each.states]
    if len(scores) > 1:
        console.print(f"all: {score_text(total(scores))}")


def _write(
    compared: Sequence[JudgedPublication],
    page: Path,
    markdown: Path | None,
    names: Sequence[str],
    *,
    report: bool,
) -> None:
    """The page, and the documents if they are wanted; where they are goes to standard error."""
    from ffslab.cli.report import report_at_the_end
    from ffslab.report.published.markdown import write_documents
    from ffslab.report.published.page import write_page

    console = _console(quiet=True)
    again = command("reproduce", *names)
    if report:
        report_at_the_end(console, lambda: write_page(compared, page), again)
    if markdown is not None:
        report_at_the_end(console, lambda: write_documents(compared, markdown), again)


def _has_failed(reproduced: Reproduced) -> bool:
    """Whether figures are missing; that another target cannot do something is no failure."""
    from ffslab.published.judge import Mark

    may_skip = reproduced.plan.target != DEFAULT_TARGET
    checks = (check for each in reproduced.judged.statements for check in each.checks)
    return any(
        check.mark is Mark.NOT_MEASURED and not (may_skip and check.skipped) for check in checks
    )


def _exit_code(done: Sequence[Reproduced]) -> int:
    if any(each.interrupted for each in done):
        typer.echo(f"interrupted; next: {this_command()}", err=True)
        return EXIT_INFRASTRUCTURE
    if not any(map(_has_failed, done)):
        return EXIT_OK
    runs = dict.fromkeys(str(run.path) for each in done for run in each.runs.values())
    typer.echo(
        f"not everything was measured; next: {command('show', next(iter(runs)))}, "
        f"or {program()} reproduce with --fresh, which runs failed cases again",
        err=True,
    )
    return EXIT_FAILED
