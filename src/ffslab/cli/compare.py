"""`ffslab compare`: two runs, or two values of an axis of one run, figure by figure."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import RESULTS, RunsIn
from ffslab.errors import EXIT_FAILED, UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ffslab.compare.cases import Side
    from ffslab.compare.engine import Comparison, Rules
    from ffslab.compare.tables import Choice


class Format(StrEnum):
    """The formats of a table for other programs."""

    md = "md"
    csv = "csv"
    json = "json"


class FailOn(StrEnum):
    """What makes the exit code 1."""

    worse = "worse"
    change = "change"


def register(app: typer.Typer) -> None:
    """Adds the verb `compare`."""

    @app.command("compare")
    def compare(
        base: Annotated[str, typer.Argument(help="A run: path, name, its beginning, or latest.")],
        new: Annotated[
            list[str] | None, typer.Argument(help="One or more runs, each compared with BASE.")
        ] = None,
        axis: Annotated[
            str | None,
            typer.Option(help="Compare the values of an axis of one run: options.compression."),
        ] = None,
        base_value: Annotated[
            str | None,
            typer.Option("--base", help="The value of the axis to compare the others with."),
        ] = None,
        threshold: Annotated[
            float | None,
            typer.Option(
                min=0,
                max=10**6,
                metavar="PERCENT",
                help="Ignore smaller changes; larger ones count even without a band.",
            ),
        ] = None,
        only_changed: Annotated[
            bool, typer.Option("--only-changed", help="Leave out what did not change.")
        ] = False,
        all_figures: Annotated[
            bool, typer.Option("--all", help="Show every figure that changed.")
        ] = False,
        main: Annotated[bool, typer.Option("--main", help="Judge only the main figures.")] = False,
        table: Annotated[
            Format | None, typer.Option(help="Print a table for another program.")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="The same as --table json.")] = False,
        fail_on: Annotated[
            FailOn | None,
            typer.Option(
                help="Exit with 1 if a figure is worse or a case newly fails; change: "
                "on any difference."
            ),
        ] = None,
        junit: Annotated[
            Path | None, typer.Option(metavar="FILE", help="Write JUnit XML for CI.")
        ] = None,
        html: Annotated[
            Path | None,
            typer.Option(
                metavar="FILE",
                help="Write an HTML page; in a directory it is called compare-BASE..NEW.html.",
            ),
        ] = None,
        output: RunsIn = RESULTS,
    ) -> None:
        """Compare runs, or values of an axis of one run.

        Says first what differs in build, board and settings. Then, for each case and figure:
        worse, better, same, not comparable, newly failing, fixed or missing, and why. Between
        builds worse and better need a band of builds (`run --band N`) or a threshold.

        A run alone shows its band of builds, if it was made with `run --band N`.

        Exit code: 0 compared; 1 with --fail-on; 2 nothing to compare, or with --fail-on worse no
        band and no threshold to judge a difference by; 3 a damaged run.
        """
        from ffslab.cli.report import refresh_index
        from ffslab.compare.engine import Rules
        from ffslab.compare.tables import Choice, is_regression

        if axis is None and not new and _print_bands(base, all_figures, output):
            return
        comparisons = _comparisons(
            base, new or [], axis, base_value, Rules(threshold, main), output
        )
        choice = Choice(only_changed, all_figures)
        page = html and _page(html, (base, *(new or ())), axis, output)
        _write(comparisons, choice, junit, page)
        if page is not None:
            typer.echo(f"page: {page}", err=True)
            refresh_index(page.parent, output)
        _print(comparisons, choice, Format.json if as_json else table)
        if fail_on and any(is_regression(c, any_change=fail_on == "change") for c in comparisons):
            raise typer.Exit(EXIT_FAILED)
        if fail_on is FailOn.worse:
            _require_judged(comparisons)


def _comparisons(
    base: str,
    new: list[str],
    axis: str | None,
    base_value: str | None,
    rules: Rules,
    output: Path,
) -> list[Comparison]:
    from ffslab.compare.engine import compare_runs, compare_values
    from ffslab.compare.pairs import axis_sides
    from ffslab.report.comparison.load import load_side
    from ffslab.results.rundir import find_run

    if base_value is not None and axis is None:
        raise UsageError("--base is a value of an axis", remedy="--axis AXIS --base VALUE")
    if axis is None and not new:
        raise UsageError(
            "nothing to compare with: one run",
            cause="name a second run, or an axis of this one; a run alone only shows its band "
            "of builds, if it has one (run --band 4)",
            remedy=f"{program()} compare BASE NEW, or {program()} compare {base} --axis AXIS",
        )
    if axis is not None and new:
        raise UsageError(
            "--axis compares values of one run",
            remedy=f"{program()} compare {base} --axis {axis}",
        )
    first = load_side(find_run(base, output))
    if axis is not None:
        before, *after = axis_sides(first, axis, base_value)
        comparisons = [compare_values(before, side, axis, rules) for side in after]
        return _with_pairs(comparisons, first)
    sides = [load_side(find_run(name, output)) for name in new]
    comparisons = [compare_runs(first, side, rules) for side in sides]
    for comparison in comparisons:
        _require_pairs(comparison)
    return comparisons


def _with_pairs(comparisons: list[Comparison], run: Side) -> list[Comparison]:
    """The comparisons of values that have a pair; UsageError if none has."""
    from ffslab.compare.pairs import also_differing

    with_cases = [
        comparison for comparison in comparisons if any(case.ids for case in comparison.cases)
    ]
    if with_cases:
        return with_cases
    axis, base = comparisons[0].axis, comparisons[0].base
    others = also_differing(run.cases, axis)
    raise UsageError(
        f"no two cases of {run.name} differ in {axis} alone",
        cause=f"these differ, too: {', '.join(others)}" if others else "some cases have not run",
        remedy=f"{program()} compare {run.name} --axis {axis} --base VALUE, other than "
        f"{base.name.rpartition(' ')[2]}, or another axis",
    )


def _print_bands(name: str, all_figures: bool, output: Path) -> bool:
    """Prints the bands that a run measured; False if it measured none."""
    from ffslab.cli.compare_tables import print_bands
    from ffslab.cli.screen import terminal
    from ffslab.compare.band import bands_of
    from ffslab.report.comparison.load import load_side
    from ffslab.results.rundir import find_run

    side = load_side(find_run(name, output))
    bands = bands_of(side)
    if bands:
        print_bands(terminal(), side, bands, all_figures)
    return bool(bands)


def _require_pairs(comparison: Comparison) -> None:
    """UsageError if the two sides have no case in common."""
    if any(case.ids for case in comparison.cases):
        return
    base, new = comparison.base, comparison.new
    studies = f"they belong to the studies {base.study} and {new.study}"
    raise UsageError(
        f"{base.name} and {new.name} have no case in common",
        cause=studies if base.study != new.study else "their cases share neither a spec nor a name",
        remedy=f"{program()} list runs, or {program()} compare {base.name} --axis AXIS",
    )


def _require_judged(comparisons: list[Comparison]) -> None:
    """UsageError if a figure differs between builds, and nothing says whether that is worse."""
    from ffslab.compare.tables import unjudged

    for comparison in comparisons:
        count = unjudged(comparison)
        if count:
            figures = "1 figure differs" if count == 1 else f"{count:,} figures differ"
            raise UsageError(
                f"{figures} between {comparison.base.name} and {comparison.new.name}, and nothing "
                "says whether that is worse",
                cause="the builds differ, and a build moves figures by itself; nobody measured "
                "how far",
                remedy="the same command with --threshold PERCENT, or both runs with --band 4",
            )


def _page(html: Path, runs: Sequence[str], axis: str | None, output: Path) -> Path:
    """Where the page goes: the file, or in a directory one with the names of the runs."""
    from ffslab.report.index import comparison_page
    from ffslab.results.rundir import find_run

    if not html.is_dir():
        return html
    names = [find_run(name, output).path.resolve().name for name in runs]
    return html / comparison_page(*names, *([axis] if axis else ()))


def _write(
    comparisons: list[Comparison], choice: Choice, junit: Path | None, html: Path | None
) -> None:
    from ffslab.results.files import write_atomic

    if junit is not None:
        from ffslab.compare.junit import as_junit

        write_atomic(junit, as_junit(comparisons))
    if html is not None:
        from ffslab.report.comparison.page import render_comparisons

        write_atomic(html, render_comparisons(comparisons, choice))


def _print(comparisons: list[Comparison], choice: Choice, table: Format | None) -> None:
    from ffslab.cli.compare_tables import print_comparison
    from ffslab.cli.screen import terminal
    from ffslab.compare.tables import as_csv, as_json, as_markdown

    if table is not None:
        write = {Format.md: as_markdown, Format.csv: as_csv, Format.json: as_json}[table]
        typer.echo(write(comparisons, choice), nl=False)
        return
    console = terminal()
    for number, comparison in enumerate(comparisons):
        if number:
            console.rule()
        print_comparison(console, comparison, choice)
