"""A comparison on a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ffslab.compare.band import MovedFigure
from ffslab.compare.board import Cell, board_of, largest_change
from ffslab.compare.cases import Side, split_perturbed
from ffslab.compare.engine import CaseRow, Comparison
from ffslab.compare.functions import function_changes
from ffslab.compare.model_error import ModelError, model_errors, summaries
from ffslab.compare.tables import Choice, case_counts, figure_counts, told_change
from ffslab.compare.verdicts import CHANGES, Verdict
from ffslab.compare.words import (
    band_text,
    behind_words,
    cause_words,
    counts_words,
    figure_title,
    row_title,
    signed_percent,
    value_text,
    values_text,
)
from ffslab.model.specs import FIRST_REPEAT
from ffslab.program import program
from ffslab.report.comparison.headline import case_words, headline
from ffslab.report.quantity import difference, duration
from ffslab.results.profiles import FunctionChange

_STYLE = {
    Verdict.WORSE: "red",
    Verdict.NEWLY_FAILING: "bold red",
    Verdict.FAILING: "red",
    Verdict.MISSING: "yellow",
    Verdict.MIXED: "yellow",
    Verdict.DISAGREE: "yellow",
    Verdict.INCOMPARABLE: "yellow",
    Verdict.BETTER: "green",
    Verdict.FIXED: "green",
}
# Behind a change that is one; what is within a limit says so behind its words.
_MARK = {
    Verdict.WORSE: "worse",
    Verdict.BETTER: "better",
    Verdict.DIFFERENT: "differs",
    Verdict.DISAGREE: "mixed",
}
_SHOWN_BROKEN = 5
_SHOWN_ROWS = 12
_SHOWN_FUNCTIONS = 20
_TOLD_FUNCTIONS = 3
_LEAST_FUNCTION = 0.05  # of the largest change: what is less is not told in a sentence
_SHOWN_CIRCUMSTANCES = 3
_LONGEST_VALUE = 40
_LONGEST_NAME = 34


def print_comparison(
    console: Console, comparison: Comparison, choice: Choice, *, in_full: bool = False
) -> None:
    """The verdict, one table, and why what changed most did; `in_full` each case by itself."""
    verdict = comparison.verdict
    head = Text(str(verdict), f"bold {_STYLE.get(verdict, '')}")
    told = headline(comparison)
    console.print(head.append(f": {told[0].lower()}{told[1:]}", "bold"))
    if in_full:
        _print_side(console, "base", comparison.base)
        _print_side(console, "new", comparison.new)
        console.print()
        _print_circumstances(console, comparison)
        for case in choice.cases(comparison):
            _print_case(console, case, choice)
    else:
        _print_differences(console, comparison)
        _print_board(console, comparison)
        _print_largest(console, comparison)
        for case in comparison.cases:
            _print_findings(console, case)
    _print_end(console, comparison, in_full=in_full)


def _print_differences(console: Console, comparison: Comparison) -> None:
    """What differs beside the results, in a line each."""
    told = [
        f"{entry.name} {entry.base} → {entry.new}"
        + (f" ({entry.cases} cases)" if entry.cases else "")
        for entry in comparison.circumstances
    ]
    for line in told[:_SHOWN_CIRCUMSTANCES]:
        _say(console, f"differs: {line}")
    more = len(told) - _SHOWN_CIRCUMSTANCES
    if more > 0:
        _say(console, f"and {more} more differences: --all")
    if not told:
        _say(console, "nothing differs in build, version and settings")


def _print_board(console: Console, comparison: Comparison) -> None:
    """How the deciding figures changed, a row for each case or for those that changed alike."""
    board = board_of(comparison, lambda case: case_words(comparison, case))
    if not board.heads and {row.verdict for row in board.rows} == {Verdict.SAME}:
        _say(console, f"alike in all cases: {', '.join(board.alike) or 'nothing was measured'}")
        return
    shown = board.rows[:_SHOWN_ROWS]
    has_verdicts = len({row.verdict for row in board.rows}) > 1
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("new against base", overflow="fold", max_width=_LONGEST_NAME)
    for head in ("", *board.heads) if has_verdicts else board.heads:
        table.add_column(head, justify="right" if head else "left", overflow="fold")
    for row in shown:
        name = f"{row.name} and {row.more} more" if row.more else row.name
        verdict = [Text(str(row.verdict), _STYLE.get(row.verdict, ""))] if has_verdicts else []
        table.add_row(name, *verdict, *(_cell(cell) for cell in row.cells))
    console.print()
    console.print(table)
    hidden = sum(1 + row.more for row in board.rows[_SHOWN_ROWS:])
    if hidden:
        _say(console, f"and {hidden} further cases: --all")
    if board.alike:
        _say(console, f"alike in all cases: {', '.join(board.alike)}")
    for why in dict.fromkeys(row.why for row in shown if row.why and not comparison.other_work):
        _say(console, why)


def _cell(cell: Cell) -> Text:
    return Text(cell.text, _STYLE.get(cell.verdict, "") if cell.verdict else "")


def _print_largest(console: Console, comparison: Comparison) -> None:
    """Why the figure that changed most did."""
    change = largest_change(comparison)
    if change is None:
        return
    case, row = change
    causes = [cause for cause in case.causes if cause.phase == row.figure.phase]
    words = behind_words(case, row) or next(map(cause_words, causes or case.causes), "")
    where = f"{case_words(comparison, case)}, " if len(comparison.cases) > 1 else ""
    if words and not comparison.other_work:
        _say(console, f"cause: {where}{words}")
        functions = _function_words(function_changes(comparison, case))
        if functions:
            _say(console, f"by function: {functions}: --profile")
    runs = f"{comparison.base.name} {comparison.new.name}"
    if not comparison.axis:
        _say(
            console,
            f"next: {program()} compare {runs} --case {case.ids[0][0]}, or --all",
            unbroken=True,
        )


def _function_words(rows: Sequence[FunctionChange]) -> str:
    """The functions that changed most, in a line: `ubifs_jnl_write_data +46.0 ms`; or nothing."""
    if not rows:
        return ""
    told = [
        row
        for row in rows[:_TOLD_FUNCTIONS]
        if abs(row.more_ns) >= _LEAST_FUNCTION * abs(rows[0].more_ns)
    ]
    return ", ".join(f"{row.name} {difference(row.more_ns)}" for row in told)


def print_functions(console: Console, comparison: Comparison) -> bool:
    """The functions that changed, case by case; False if no case was profiled on both sides."""
    several = len(comparison.cases) > 1
    told = False
    for case in comparison.cases:
        rows = function_changes(comparison, case)
        if not rows:
            continue
        told = True
        _say(console, f"\n{case.label if several else 'by function'}:")
        table = _table()
        table.add_column("function", no_wrap=True, max_width=_LONGEST_NAME)
        for head in ("base", "new", "more"):
            table.add_column(head, justify="right", no_wrap=True)
        for row in rows[:_SHOWN_FUNCTIONS]:
            times = (duration(ns) if ns else "–" for ns in (row.old_ns, row.new_ns))
            table.add_row(row.name, *times, difference(row.more_ns))
        console.print(table)
    return told


def _print_findings(console: Console, case: CaseRow) -> None:
    for word, line in case.findings.words:
        _say(console, f"  finding, {word}: {line}")
    for word, line in case.missed.words:
        _say(console, f"  {case.label}: limit missed, {word}: {line}")


def print_bands(
    console: Console, side: Side, bands: Mapping[str, Sequence[MovedFigure]], all_figures: bool
) -> None:
    """How far another layout moves the figures of each case: those asked for first, or all."""
    _print_side(console, "run", side)
    for label, moved in bands.items():
        rows = [row for row in moved if row.figure.main or all_figures]
        unmoved = sum(row.band.low == row.band.high == 0 for row in moved)
        least = min(row.band.base_histories for row in moved) - 1
        _say(
            console,
            f"\n{label}: {least} {'repeats' if side.has_real_clock else 'perturbed'}, "
            f"{unmoved} of {len(moved)} figures did not move",
        )
        table = _table()
        table.add_column("figure", overflow="fold")
        table.add_column("value", justify="right", no_wrap=True)
        band = "range of repeats" if side.has_real_clock else "band of builds"
        table.add_column(band, justify="right", no_wrap=True)
        for row in rows:
            metric = row.figure.metric
            words = (figure_title(row.figure), value_text(metric, row.value))
            table.add_row(*words, band_text(metric, row.band))
        console.print(_indented(table))


def _print_side(console: Console, word: str, side: Side) -> None:
    build = str(side.manifest.get("build_id", ""))[:12]
    own, versions = split_perturbed(side)
    count = f"{len(own)} cases" if len(own) != 1 else "1 case"
    failed = sum(not case.is_good for case in versions)
    # The first run of a case is among its repeats, and is the case.
    repeats = sum(case.repeat != FIRST_REPEAT for case in versions)
    perturbed = sum(bool(case.perturbation) for case in versions)
    band = f" and {perturbed} perturbed" if perturbed else ""
    band += f" and {repeats} repeats" if repeats else ""
    band += f" ({failed} of them failed)" if failed else ""
    _say(console, f"{word + ':':5} {side.name}, {count}{band}, build {build}", unbroken=True)


def _lacks(side: Side) -> bool:
    return len(side.cases) < side.planned


def _print_circumstances(console: Console, comparison: Comparison) -> None:
    if not comparison.circumstances:
        console.print("nothing differs in build, version and settings\n")
        return
    table = _table()
    table.add_column("what differs", overflow="fold", max_width=30)
    table.add_column("base", overflow="fold", max_width=_LONGEST_VALUE)
    table.add_column("new", overflow="fold", max_width=_LONGEST_VALUE)
    table.add_column("cases", justify="right", no_wrap=True)
    for circumstance in comparison.circumstances:
        table.add_row(
            circumstance.name, circumstance.base, circumstance.new, str(circumstance.cases or "all")
        )
    console.print(table)
    console.print()


def _print_case(console: Console, case: CaseRow, choice: Choice) -> None:
    told = counts_words(case) or case.why
    style = _STYLE.get(case.verdict, "")
    head = Text(f"{case.label}: ").append(str(case.verdict), style)
    console.print(head.append(f" ({told})" if told else ""))
    if case.why and case.rows:
        _say(console, f"  {case.why}")
    rows = choice.rows(case)
    if rows:
        table = _table()
        table.add_column("figure", overflow="fold", max_width=28)
        table.add_column("base", justify="right", no_wrap=True)
        table.add_column("new", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        table.add_column("change", overflow="fold")
        for row in rows:
            mark = _MARK.get(row.verdict, "")
            style = _STYLE.get(row.verdict, "")
            table.add_row(
                row_title(row),
                *values_text(row.figure.metric, row.base, row.new),
                Text(mark, style),
                _change(told_change(row), row.verdict),
            )
        console.print(_indented(table))
    _print_findings(console, case)
    hidden = choice.hidden(case)
    if hidden:
        _say(console, f"  and {hidden} further figures: --all")
    phases = {row.figure.phase for row in rows}
    causes = [cause for cause in case.causes if cause.phase in phases]
    for cause in causes:
        console.print(_indented(f"cause, {cause_words(cause)}"))
    if rows:
        console.print()


def _change(words: str, verdict: Verdict) -> str:
    if verdict in (Verdict.BAND, Verdict.THRESHOLD):
        return f"{words}: {verdict}"
    return words or "same"


def _print_end(console: Console, comparison: Comparison, *, in_full: bool) -> None:
    if in_full:
        _say(console, f"cases: {_counts(case_counts(comparison))}")
        figures = figure_counts(comparison)
        if figures:
            _say(console, f"figures: {_counts(figures)}")
    for word, side in (("base", comparison.base), ("new", comparison.new)):
        if _lacks(side):
            _say(
                console,
                f"{word} is incomplete: {len(side.cases)} of {side.planned} cases have a result; "
                f"next: {program()} run {side.where} --resume",
                unbroken=True,
            )
    _print_broken(console, comparison)
    errors = model_errors(comparison)
    if errors:
        _print_errors(console, errors)
    elif in_full and not comparison.broken and not comparison.axis:
        _print_lacking_band(console, comparison)


def _print_errors(console: Console, errors: Sequence[ModelError]) -> None:
    """How far the lab is off, where the other side is a board."""
    console.print()
    _say(console, "model error: the lab against the median of the board's repeats")
    table = _table()
    for name in ("case", "figure"):
        table.add_column(name, overflow="fold")
    for name in ("lab", "board", "error", "board's range"):
        table.add_column(name, justify="right", no_wrap=True)
    for error in errors:
        if error.figure.main:
            table.add_row(
                error.case,
                figure_title(error.figure),
                *values_text(error.figure.metric, error.lab, error.board),
                signed_percent(100 * error.error, 3),
                f"{100 * error.spread:.1f} %" if error.repeats > 1 else "not repeated",
            )
    console.print(_indented(table))
    for summary in summaries(errors):
        worst = summary.worst
        _say(
            console,
            f"  {summary.metric.title}: {summary.count} figures, median error "
            f"{100 * summary.median:.1f} %, worst {signed_percent(100 * worst.error, 3)} "
            f"({worst.case}, {figure_title(worst.figure)})",
        )


def _command(side: Side) -> str:
    return str(side.manifest.get("command", f"{program()} run STUDY"))


def _print_lacking_band(console: Console, comparison: Comparison) -> None:
    """That a change between two builds may be chance, if their bands do not tell."""
    changed = [row for case in comparison.cases for row in case.rows if row.verdict in CHANGES]
    measured = [row.band for row in changed if row.band is not None]
    lacking = [
        side
        for side, histories in (
            (comparison.base, [band.base_histories for band in measured]),
            (comparison.new, [band.new_histories for band in measured]),
        )
        if max(histories, default=1) < 2
    ]
    if not changed or not lacking:
        return
    if measured:
        told = (
            f"band of builds not measured in {lacking[0].name}: by chance alone one in five "
            "figures that move is outside the band of the other run"
        )
    else:
        told = "band of builds not measured: a difference may come from another history"
    both = ", with both builds" if len(lacking) > 1 else ""
    _say(console, f"{told}; next: {_command(lacking[-1])} --band 4{both}")


def _print_broken(console: Console, comparison: Comparison) -> None:
    broken = comparison.broken
    if not broken:
        return
    _say(
        console,
        f"NOT DETERMINISTIC: equal build and spec, and results differ: {len(broken)} of the cases",
        style="bold red",
    )
    for case in broken[:_SHOWN_BROKEN]:
        more = f" and {len(case.broken) - 3} more" if len(case.broken) > 3 else ""
        _say(console, f"  {case.label}: {', '.join(case.broken[:3])}{more}")
    _say(
        console,
        "  likely cause: a bug of ffslab or its host, an edited result, or a version of ffslab "
        "that computes a figure differently\n"
        f"  next: {program()} run {comparison.new.study} --case {broken[0].ids[0][1]}, twice",
    )


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in counts.items()) or "none"


def _say(console: Console, text: str, *, style: str = "", unbroken: bool = False) -> None:
    """A text as it is; `unbroken`: on one line, since it has a path."""
    console.print(text, style=style, soft_wrap=unbroken)


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
