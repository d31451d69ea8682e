"""`ffslab trend`: deciding figures over runs, and the run at which one left its band."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import A_RUN, RESULTS, AsJson, Cases, Html, Output, Threshold, print_json
from ffslab.compare.ratios import SAME
from ffslab.errors import EXIT_FAILED, EXIT_USAGE, UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory

_LEAST_RUNS = 2


class Sort(StrEnum):
    """What runs stand in the order of."""

    time = "time"
    label = "label"


def register(app: typer.Typer) -> None:
    """Adds the verb `trend`."""

    @app.command("trend")
    def trend(
        runs: Annotated[list[str] | None, typer.Argument(metavar="RUN", help=A_RUN)] = None,
        study: Annotated[
            str, typer.Option("--study", metavar="STUDY", help="A study: all runs of it, by time.")
        ] = "",
        cases: Cases = None,
        threshold: Threshold = None,
        sort: Annotated[
            Sort | None, typer.Option(help="Put the runs into this order [as given].")
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="Print all: every figure.")] = False,
        html: Html = None,
        output: Output = RESULTS,
        as_json: AsJson = False,
    ) -> None:
        """Show deciding figures over runs, and where one left its band.

        The figures are the columns of the newest run's scoreboard. A figure is within its band
        while it differs from the first run by no more than the threshold.

        Exit code: 0 nothing is worse; 1 a figure is worse than its band in the newest run, or a
        case fails there that did not before; 2 wrong usage, or no figure in two of the runs; 3 a
        damaged run.
        """
        from ffslab.compare.trend import as_document, trend_of
        from ffslab.report.trend.load import load_runs

        found = _directories(runs or [], study, output)
        ordered = found if sort is None else _sorted(found, sort)
        made = trend_of(
            load_runs(ordered, cases or []), SAME if threshold is None else threshold / 100
        )
        if html is not None:
            from ffslab.report.trend.page import render_trend
            from ffslab.results.files import write_atomic

            write_atomic(html, render_trend(made))
            typer.echo(f"page: {html}", err=True)
        if as_json:
            print_json(as_document(made))
        else:
            from ffslab.cli.screen import terminal
            from ffslab.cli.trend_tables import print_trend

            print_trend(terminal(), made, every=every)
        if made.is_worse:
            raise typer.Exit(EXIT_FAILED)
        if not made.series:
            raise typer.Exit(EXIT_USAGE)


def _directories(names: list[str], study: str, output: Path) -> list[RunDirectory]:
    """The runs that were named, or those of a study by time; UsageError for fewer than two."""
    from ffslab.errors import DamagedResultError
    from ffslab.results.rundir import all_runs, find_run

    def is_of_study(run: RunDirectory) -> bool:
        try:
            manifest = run.manifest()
        except DamagedResultError:
            return False  # of which study it is nobody knows
        return manifest.get("study") == study and (run.path / "results.jsonl").exists()

    if bool(names) == bool(study):
        raise UsageError(
            "runs and --study" if names else "neither runs nor --study",
            cause="a trend is over the runs that are named, or over all of a study",
            remedy=f"{program()} trend --study quick, or {program()} trend RUN RUN RUN",
        )
    found = (
        [find_run(name, output) for name in names]
        if names
        else [run for run in all_runs(output) if is_of_study(run)]
    )
    if len(found) < _LEAST_RUNS:
        what = f"of study {study} in {output}" if study else "named"
        raise UsageError(
            f"{len(found)} run{'s' * (len(found) != 1)} {what}: a trend needs two",
            cause="a mistyped name, or runs that are elsewhere (-o)",
            remedy=f"{program()} list runs, or {program()} run {study or 'quick'} --label TEXT",
        )
    return found


def _sorted(runs: list[RunDirectory], sort: Sort) -> list[RunDirectory]:
    """By time, or by labels: v6.2 before v6.10, and what has none first."""

    def key(run: RunDirectory) -> tuple[list[tuple[int, int, str]], str]:
        manifest = run.manifest()
        text = str(manifest.get("label") or "") if sort is Sort.label else ""
        parts = re.findall(r"\d+|\D+", text)
        natural = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
        return natural, str(manifest.get("started") or "")

    return sorted(runs, key=key)
