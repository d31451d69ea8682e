"""`ffslab lifetime`: how much can be written before blocks go bad, and before writing ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import (
    RESULTS,
    AsJson,
    Jobs,
    Output,
    Report,
    Settings,
    parse_bytes,
    parse_set,
    print_json,
)
from ffslab.cli.run_or_study import StudyOrRun, named_run, new_run
from ffslab.errors import UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from ffslab.campaign.prepared import Prepared
    from ffslab.lifetime.asked import Asked
    from ffslab.lifetime.forecast import Estimate
    from ffslab.lifetime.read import CaseLife
    from ffslab.lifetime.rows import Row
    from ffslab.results.rundir import RunDirectory

_NO_WEAR = "it has no case of the workload wear, which records the erases of every block"


def register(app: typer.Typer) -> None:
    """Adds the verb `lifetime`."""

    @app.command("lifetime")
    def lifetime(
        name: StudyOrRun,
        settings: Settings = None,
        daily: Annotated[
            str | None,
            typer.Option(metavar="SIZE", help="Bytes written a day, e.g. 50MB: adds years."),
        ] = None,
        endurance: Annotated[
            int | None,
            typer.Option(
                min=1,
                max=10**9,
                metavar="N",
                help="Erases that a block endures [the chip's figure].",
            ),
        ] = None,
        jobs: Jobs = None,
        output: Output = RESULTS,
        report: Report = True,
        as_json: AsJson = False,
    ) -> None:
        """Forecast when blocks go bad, and when writing ends.

        Uses the erases of every block in the first twentieth of its life, as the workload wear
        counts them. If a case went on to its end, compares the forecast with that end. The report
        of the run has the forecast, too.
        """
        from ffslab.lifetime.rows import document_of

        daily_bytes = None if daily is None else parse_bytes("--daily", daily)
        run = _run(name, settings or (), output, jobs)
        lives = _lives(run, endurance)
        if as_json:
            print_json({"run": str(run.path), **document_of(lives, daily_bytes)})
            return
        _print(lives, daily_bytes)
        if report:
            _write_report(run, {"daily_bytes": daily_bytes, "endurance": endurance}, output)


def _write_report(run: RunDirectory, asked: Asked, output: Path) -> None:
    """The run's report, which answers the same."""
    from ffslab.cli.report import refresh_index, report_at_the_end
    from ffslab.cli.screen import terminal
    from ffslab.lifetime.asked import keep_asked
    from ffslab.report import build

    keep_asked(run.path, asked)
    report_at_the_end(terminal(), lambda: build(run.path), command("report", run.path))
    refresh_index(run.path.parent, output)


def _run(name: str, settings: Sequence[str], output: Path, jobs: int | None) -> RunDirectory:
    """The run of that name, or a new one of the study."""
    from ffslab.campaign.study import Choice

    directory = named_run("lifetime", name, settings, output, "lifetime")
    if directory is None:
        choice = Choice(name, tuple(map(parse_set, settings)))
        directory = new_run(choice, output, _check, jobs=jobs)
    return directory


def _check(prepared: Prepared) -> None:
    """UsageError for a study that no lifetime can be forecast from."""
    if not any(case.workload.kind == "wear" for case in prepared.cases):
        raise UsageError(
            f"study {prepared.study.name} measures no wear",
            cause=_NO_WEAR,
            remedy=command("lifetime", "lifetime"),
        )


def _lives(run: RunDirectory, endurance: int | None) -> tuple[CaseLife, ...]:
    from ffslab.lifetime.read import lives_of
    from ffslab.workloads.results import results_of

    lives = lives_of(results_of(run), endurance)
    if not lives:
        raise UsageError(
            f"{run.path} measures no wear",
            cause=_NO_WEAR,
            remedy=command("lifetime", "wear"),
        )
    if not any(life.endurance for life in lives):
        raise UsageError(
            f"{run.path}: the chip has no endurance figure",
            cause="its chip.endurance_cycles is 0: blocks do not wear out",
            remedy=f"{command('lifetime', run.path, '--endurance', '100000')}, with the figure of "
            "your chip's data sheet",
        )
    return lives


def _print(lives: Sequence[CaseLife], daily_bytes: int | None) -> None:
    from rich.table import Table

    from ffslab.cli.screen import terminal
    from ffslab.cli.tables import print_unpadded
    from ffslab.lifetime.rows import FIRST_BAD, NOTE, TITLES, rows_of

    console = terminal()
    rows = rows_of(lives, daily_bytes)
    if rows:
        table = Table(box=None, pad_edge=False)
        table.add_column("case")
        table.add_column("")
        table.add_column("years" if daily_bytes else "forecast", justify="right")
        table.add_column("range", justify="right")
        table.add_column("measured", justify="right")
        table.add_column("off", justify="right")
        for row in rows:
            name = row.case if row.event == FIRST_BAD else ""
            table.add_row(name, TITLES[row.event], *_cells(row))
        print_unpadded(console, table)
        console.print()
    _print_basis(console, lives)
    console.print(NOTE)


def _cells(row: Row) -> tuple[str, ...]:
    from ffslab.lifetime.rows import volume

    measured = "" if row.measured is None else volume(row.measured)
    off = "" if row.off is None else f"{row.off:+.0%}"
    if row.years is not None:
        return (*_estimate(row.years, "{:.3g}".format), measured, off)
    return (*_estimate(row.forecast, volume), measured, off)


def _estimate(estimate: Estimate, words: Callable[[float], str]) -> tuple[str, str]:
    return words(estimate.middle), f"{words(estimate.low)}–{words(estimate.high)}"


def _print_basis(console: Console, lives: Sequence[CaseLife]) -> None:
    """What each forecast is from, what became of the case, and why one has none."""
    from ffslab.lifetime.rows import basis_words, outcome_words

    for life in lives:
        console.print(f"{life.id}: {basis_words(life)}")
        if life.outcome is not None:
            console.print(f"  {outcome_words(life.outcome)}")
