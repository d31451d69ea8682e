"""`ffslab advise`: which file system and options meet the needs of a product."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    RESULTS,
    TIMEOUT,
    AsJson,
    Catalogs,
    Jobs,
    Output,
    Report,
    Scratch,
    print_json,
)
from ffslab.errors import EXIT_FAILED, EXIT_INFRASTRUCTURE, EXIT_OK, UsageError
from ffslab.program import command, program

if TYPE_CHECKING:
    from rich.console import Console

    from ffslab.advise.advice import Advice
    from ffslab.advise.candidates import Candidate
    from ffslab.advise.needs import Needs
    from ffslab.advise.probes import Probe
    from ffslab.campaign.prepared import Prepared
    from ffslab.campaign.run import RunEnd
    from ffslab.model.catalog import Catalog
    from ffslab.targets.target import SiteOptions


def register(app: typer.Typer) -> None:
    """Adds the verb `advise`."""

    @app.command("advise")
    def advise(
        needs: Annotated[
            str | None,
            typer.Argument(
                metavar="NEEDS",
                help="A file of needs, docs/advise.md; or router, or another's name.",
            ),
        ] = None,
        init: Annotated[
            bool, typer.Option("--init", help="Ask the questions, and write the needs file.")
        ] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="List the cases and stop: candidates, too.")
        ] = False,
        catalogs: Catalogs = None,
        jobs: Jobs = None,
        output: Output = RESULTS,
        destination: Annotated[
            Path | None,
            typer.Option(
                "--to", metavar="PATH", help="Where to write it [advice.html in the run]."
            ),
        ] = None,
        scratch: Scratch = None,
        timeout: Annotated[float, TIMEOUT] = 300.0,
        report: Report = True,
        as_json: AsJson = False,
    ) -> None:
        """Advise on a file system for stated needs.

        Runs the small cases that are still missing, ranks file systems and options, and says for
        each need whether it is met, missed and by how much, or not measured, why, and what would
        change the verdict. If nothing meets all needs, pairs of options follow that may. What was
        measured is kept: repeat the command after Ctrl-C, or after a change of the needs.

        Exit code: 0 the first candidate misses nothing that was measured; 1 it does; 2 wrong usage
        or needs; 3 interrupted, or the lab itself failed.
        """
        if init:
            _init(Path(needs or "needs.toml"), catalogs or [])
            return
        from ffslab.cli.report import refresh_index
        from ffslab.targets.target import SiteOptions

        if needs is None:
            raise _no_file()
        from ffslab.advise.needs import find_needs

        path = find_needs(needs, catalogs or [])
        choice = _Choice.of(path, catalogs or [], output)
        if dry_run:
            choice.print_plan()
            return
        options = SiteOptions(scratch, None)
        end = choice.run(jobs, timeout, options, quiet=as_json)
        advice = choice.advice(end)
        pairs = choice.with_pairs(advice, end)
        if pairs is not None:
            end = pairs.run(jobs, timeout, options, quiet=as_json)
            advice = pairs.advice(end)
        _show(advice, end, destination, path, as_json=as_json, report=report)
        refresh_index(output, output)
        raise typer.Exit(_exit_code(advice, end))


def _no_file() -> Exception:
    return UsageError(
        "no needs file is named",
        cause="advise reads what a product needs from a file",
        remedy=f"{program()} advise --init, which asks; {program()} new needs NAME; or for example "
        f"{program()} advise router",
    )


class _Choice:
    """A needs file with all that follows from it, before anything runs."""

    def __init__(
        self,
        needs: Needs,
        catalog: Catalog,
        candidates: tuple[Candidate, ...],
        made: tuple[Probe, ...],
        prepared: Prepared,
        catalogs: list[Path],
        output: Path,
    ) -> None:
        self.needs, self.catalog, self.found, self.made = needs, catalog, candidates, made
        self.prepared, self.catalogs, self.output = prepared, catalogs, output

    @property
    def pairs(self) -> int:
        """How many of the candidates are two steps from the defaults."""
        from ffslab.advise.pairs import steps_of

        return sum(steps_of(candidate) > 1 for candidate in self.found)

    @staticmethod
    def of(path: Path, catalogs: list[Path], output: Path) -> _Choice:
        from ffslab.advise.candidates import candidates
        from ffslab.advise.needs import load_needs
        from ffslab.loader import load_catalog

        catalog = load_catalog(catalogs)
        needs = load_needs(path, catalog)
        return _Choice._among(needs, catalog, candidates(needs, catalog), catalogs, output)

    @staticmethod
    def _among(
        needs: Needs,
        catalog: Catalog,
        candidates: tuple[Candidate, ...],
        catalogs: list[Path],
        output: Path,
    ) -> _Choice:
        from ffslab.advise.probes import probes
        from ffslab.advise.run import prepared_study

        made = probes(needs, candidates, catalog)
        prepared = prepared_study(needs, made, output, catalogs)
        return _Choice(needs, catalog, candidates, made, prepared, catalogs, output)

    def with_pairs(self, advice: Advice, end: RunEnd) -> _Choice | None:
        """The same with pairs of steps besides; None if none is worth it, or not all was run."""
        from ffslab.advise.pairs import promising_pairs

        if end.interrupted or end.refused is not None or advice.missing:
            return None
        pairs = promising_pairs(advice.order)
        if not pairs:
            return None
        candidates = (*self.found, *pairs)
        return _Choice._among(self.needs, self.catalog, candidates, self.catalogs, self.output)

    def print_plan(self) -> None:
        """The candidates and the cases that would measure them."""
        for candidate in self.found:
            typer.echo(candidate.title)
        for case in self.prepared.cases:
            typer.echo(f"  {case.id}  {case.spec_hash[:12]}")
        typer.echo(f"{len(self.found)} candidates, {len(self.prepared.cases)} cases")

    def run(
        self, jobs: int | None, timeout_s: float, options: SiteOptions, *, quiet: bool
    ) -> RunEnd:
        """Runs what is missing."""
        from ffslab.advise.run import ready
        from ffslab.campaign.run import RunRequest, execute
        from ffslab.campaign.study import pool_options
        from ffslab.cli.progress import TerminalWatch

        console = _console(quiet=quiet)
        watch = TerminalWatch(console)
        request = RunRequest(
            prepared=self.prepared,
            options=pool_options(self.prepared.target, jobs, timeout_s),
            command=watch.command,
            results_root=self.output,
        )
        ready_run = ready(request, options, watch.build, watch.now)
        number = self.pairs
        of_options = f"{number} pair{'' if number == 1 else 's'} of options may"
        pairs = f"none meets all needs, {of_options}: " if number else ""
        console.print(
            f"{pairs}{len(self.found)} candidates, {len(self.made)} cases, "
            f"{ready_run.left} of them to run",
            soft_wrap=True,
        )
        with watch.cases(ready_run.left) as progress:
            return execute(ready_run.request, ready_run.site, progress, watch.now)

    def advice(self, end: RunEnd) -> Advice:
        """What the results so far come to."""
        from ffslab.advise.advice import advice_of, of_run
        from ffslab.workloads.results import results_of

        advice = advice_of(self.needs, self.catalog, self.found, self.made, results_of(end.run))
        return of_run(advice, end.run.path)


def _console(*, quiet: bool) -> Console:
    """Standard output, or with `--json` standard error: progress is no JSON."""
    from ffslab.cli.screen import screen, terminal

    return screen(stderr=True) if quiet else terminal()


def _show(
    advice: Advice,
    end: RunEnd,
    destination: Path | None,
    needs: Path,
    *,
    as_json: bool,
    report: bool,
) -> None:
    from ffslab.advise.advice import document
    from ffslab.cli.advise_tables import print_advice
    from ffslab.results.files import write_atomic

    shown = document(advice)
    text = json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomic(end.run.path / "advice.json", text + "\n")
    console = _console(quiet=as_json)
    again = command("advise", needs, "-o", end.run.path.parent)
    if as_json:
        print_json(shown)
    else:
        print_advice(console, advice)
    if report:
        from ffslab.cli.report import report_at_the_end
        from ffslab.report.advice import write_advice

        target = destination or end.run.path / "advice.html"
        report_at_the_end(console, lambda: write_advice(advice, again, target), again)
    if end.interrupted:
        console.print(f"interrupted; next: {again}", soft_wrap=True)
    if end.refused is not None:
        raise end.refused


def _exit_code(advice: Advice, end: RunEnd) -> int:
    if end.interrupted:
        return EXIT_INFRASTRUCTURE
    best = advice.order[0]
    return EXIT_FAILED if best.missed or best.failures else EXIT_OK


def _init(path: Path, catalogs: list[Path]) -> None:
    from ffslab.advise.questions import ask_and_write
    from ffslab.loader import load_catalog

    ask_and_write(path, load_catalog(catalogs))
