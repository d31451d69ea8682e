"""`ffslab compare`: two runs, or two values of an axis of one run, figure by figure."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.cli.parse import A_RUN, RESULTS, AsJson, Cases, Html, Output, Threshold
from ffslab.errors import EXIT_FAILED, UsageError
from ffslab.program import program

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ffslab.compare.cases import Side
    from ffslab.compare.engine import Comparison, Rules
    from ffslab.compare.tables import Choice


class Format(StrEnum):
    """The formats of a table for other programs."""

    md = "md"
    csv = "csv"


class FailOn(StrEnum):
    """What makes the exit code another than 0."""

    verdict = "verdict"
    worse = "worse"
    change = "change"
    never = "never"


_RULE = 80
EXIT_MIXED = 3
EXIT_INCOMPARABLE = 4


def register(app: typer.Typer) -> None:
    """Adds the verb `compare`."""

    @app.command("compare")
    def compare(
        base: Annotated[str, typer.Argument(metavar="BASE", help=f"The base. {A_RUN}")],
        new: Annotated[
            list[str] | None,
            typer.Argument(metavar="NEW", help="A run or more, each compared with BASE."),
        ] = None,
        axis: Annotated[
            str | None,
            typer.Option(metavar="AXIS", help="Compare values of an axis of one run."),
        ] = None,
        base_value: Annotated[
            str | None,
            typer.Option("--base", metavar="VALUE", help="The value to compare others with."),
        ] = None,
        threshold: Threshold = None,
        exact: Annotated[
            bool, typer.Option("--exact", help="Any change of a count counts.")
        ] = False,
        case: Cases = None,
        only_changed: Annotated[
            bool, typer.Option("--only-changed", help="Leave out what did not change.")
        ] = False,
        all_figures: Annotated[
            bool, typer.Option("--all", help="Print all: every case, every figure that changed.")
        ] = False,
        functions: Annotated[
            bool,
            typer.Option("--profile", help="By function: what changed, of profiled runs."),
        ] = False,
        table: Annotated[
            Format | None, typer.Option("--format", "-f", help="The format: of a table.")
        ] = None,
        as_json: AsJson = False,
        fail_on: Annotated[
            FailOn,
            typer.Option(metavar="WHAT", help="What fails: verdict, worse, change or never."),
        ] = FailOn.verdict,
        junit: Annotated[
            Path | None, typer.Option(metavar="FILE", help="Write JUnit XML for CI.")
        ] = None,
        html: Html = None,
        output: Output = RESULTS,
    ) -> None:
        """Compare runs, or values of an axis of one run.

        Says better, worse, mixed, same or not comparable, by the figures that people decide by.
        Within 2 %, or the band of builds (`run --band N`), figures are alike. A run alone shows its
        band.

        Exit code: 0 same or better; 1 worse; 3 mixed; 4 not comparable. Of an error: 2 nothing to
        compare, 3 a damaged run.
        """
        from ffslab.cli.report import refresh_index
        from ffslab.compare.engine import Rules
        from ffslab.compare.functions import function_changes
        from ffslab.compare.tables import Choice
        from ffslab.compare.tables import as_json as as_document

        if axis is None and not new and _print_bands(base, all_figures, output):
            return
        if functions and table is not None:
            raise UsageError(
                f"--format {table} has no functions", remedy="--json has them, and --html a graph"
            )
        rules = Rules(threshold, exact)
        comparisons = _comparisons(base, new or [], axis, base_value, rules, output)
        if case:
            comparisons = [_of_cases(comparison, case) for comparison in comparisons]
        choice = Choice(only_changed, all_figures)
        page = html and _page(html, (base, *(new or ())), axis, output)
        _write(comparisons, choice, junit, page)
        if page is not None:
            typer.echo(f"page: {page}", err=True)
            refresh_index(page.parent, output)
        in_full = all_figures or only_changed or bool(case)
        if as_json:
            typer.echo(as_document(comparisons, choice, function_changes), nl=False)
        else:
            _print(comparisons, choice, table, in_full=in_full)
        if functions and not as_json:
            _print_by_function(comparisons)
        code = max((exit_code(each, fail_on) for each in comparisons), key=_GRAVITY.index)
        if code:
            raise typer.Exit(code)


def _print_by_function(comparisons: Sequence[Comparison]) -> None:
    """UsageError if no case of any was profiled on both sides."""
    from ffslab.cli.compare_tables import print_functions
    from ffslab.cli.screen import terminal

    told = [print_functions(terminal(), comparison) for comparison in comparisons]
    if not any(told):
        raise UsageError(
            "no function took another time, or no case has a profile on both sides",
            cause="the runs were made without --profile",
            remedy=f"{program()} run {comparisons[0].base.study} --profile, with both builds",
        )


_GRAVITY = (0, EXIT_INCOMPARABLE, EXIT_MIXED, EXIT_FAILED)  # of several comparisons the last counts


def exit_code(comparison: Comparison, fail_on: FailOn) -> int:
    """What a comparison ends with."""
    from ffslab.compare.tables import has_change
    from ffslab.compare.verdicts import Verdict

    verdict = comparison.verdict
    if fail_on is FailOn.never:
        return 0
    if fail_on is FailOn.change and has_change(comparison):
        return EXIT_FAILED
    if verdict is Verdict.WORSE or (fail_on is FailOn.worse and verdict is Verdict.MIXED):
        return EXIT_FAILED
    codes = {Verdict.MIXED: EXIT_MIXED, Verdict.INCOMPARABLE: EXIT_INCOMPARABLE}
    return codes.get(verdict, 0)


def _of_cases(comparison: Comparison, globs: Sequence[str]) -> Comparison:
    """The comparison of the cases that are asked for; UsageError for a glob that none fits."""
    from dataclasses import replace

    names = {
        case.label: {case.label, *(name for ids in case.ids for name in ids)}
        for case in comparison.cases
    }
    fit = {glob: {label for label in names if _fits(names[label], glob)} for glob in globs}
    for glob in (glob for glob, labels in fit.items() if not labels):
        raise UsageError(
            f"no case that is compared is called {glob!r}",
            cause=f"the cases are {', '.join([*names][:4])}{', …' if len(names) > 4 else ''}",
            remedy=f"{program()} compare {comparison.base.name} {comparison.new.name} --all",
        )
    chosen = [case for case in comparison.cases if any(case.label in fit[glob] for glob in globs)]
    return replace(comparison, cases=tuple(chosen))


def _fits(names: Collection[str], glob: str) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, glob) for name in names)


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
    sides = [load_side(find_run(name, output), first) for name in new]
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


def _print(
    comparisons: list[Comparison], choice: Choice, table: Format | None, *, in_full: bool
) -> None:
    from ffslab.cli.compare_tables import print_comparison
    from ffslab.cli.screen import terminal
    from ffslab.compare.tables import as_csv, as_markdown

    if table is not None:
        write = {Format.md: as_markdown, Format.csv: as_csv}[table]
        typer.echo(write(comparisons, choice), nl=False)
        return
    console = terminal()
    for number, comparison in enumerate(comparisons):
        if number:
            console.print("─" * min(console.width, _RULE))
        print_comparison(console, comparison, choice, in_full=in_full)
