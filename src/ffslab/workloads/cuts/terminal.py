"""cuts in a terminal of 80 columns: outcomes by kind of cut, and findings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from ffslab.results.result import CaseResult
from ffslab.workloads.cuts.outcomes import CORRECT, wrong_words
from ffslab.workloads.cuts.stored import (
    CutsResult,
    SeriesSpace,
    cuts_result,
    outcomes_of,
    space_of,
)
from ffslab.workloads.results import finding_line

HEADINGS = ("states", "correct", "findings")


def cells(result: CaseResult) -> Sequence[str]:
    """How many states, how many of them correct, and how many findings the others are."""
    cuts = cuts_result(result)
    if cuts is None:
        return ("",) * len(HEADINGS)
    outcomes = outcomes_of(cuts)
    findings = len(cuts["findings"])
    return f"{outcomes.total():,}", f"{outcomes[CORRECT]:,}", f"{findings:,}" if findings else ""


def print_case(console: Console, result: CaseResult) -> None:
    """A table of outcomes by kind of cut, what recoveries cost, a line for each finding."""
    cuts = cuts_result(result)
    if cuts is None:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("cut")
    for title in ("states", "correct"):
        table.add_column(title, justify="right")
    table.add_column("else")
    for kind, counts in cuts["counts"].items():
        table.add_row(kind, *_outcomes(counts))
    if cuts["random"]:
        table.add_row("at random", *_outcomes(cuts["random"]))
    console.print(table)
    _print_recovery(console, cuts)
    _print_series(console, cuts)
    _print_sequences(console, cuts)
    for line in failure_lines(cuts):
        console.print(line, markup=False, soft_wrap=True)
    for finding in cuts["findings"]:
        console.print(finding_line(finding), markup=False, soft_wrap=not console.is_terminal)


def shows_phases(_result: CaseResult) -> bool:
    """Nothing is measured in phases."""
    return False


def _print_recovery(console: Console, cuts: CutsResult) -> None:
    """The most that a mount after a cut asked of the flash, and at which operation that was."""
    curve = sorted(cuts["recovery"]["curve"])
    if not curve:
        return
    most = [max(curve, key=lambda row: (row[column], -row[0])) for column in (1, 2, 3)]
    words = [
        f"{row[column]:,} {what} at operation {row[0]:,}"
        for column, (row, what) in enumerate(
            zip(most, ("pages read", "programmed", "blocks erased"), strict=True), start=1
        )
        if row[column]
    ]
    if words:
        console.print(f"a mount's most: {', '.join(words)}", markup=False, soft_wrap=True)


def _print_series(console: Console, cuts: CutsResult) -> None:
    """What is left of a flash after many cuts in a row."""
    if "series" not in cuts:
        return
    series = cuts["series"]
    space = space_of(series)
    told = f"; {_space_words(space)}" if space else ""
    lives = len(series["lives"])
    console.print(
        f"{series['cuts']:,} cuts in a row on {lives:,} flash{'es' if lives > 1 else ''}{told}",
        markup=False,
        soft_wrap=True,
    )


def _print_sequences(console: Console, cuts: CutsResult) -> None:
    """How many sequences there are, and how many of them were gone through."""
    if "sequences" not in cuts:
        return
    told = cuts["sequences"]
    behind = f", {told['unreached']:,} behind one that ends its guest" if told["unreached"] else ""
    console.print(
        f"{told['visited']:,} of {told['all']:,} sequences{behind}; {told['same']:,} states were "
        "the flash of another",
        markup=False,
        soft_wrap=True,
    )
    if told["refused"]:
        console.print(
            f"left out, since it has no such thing: {', '.join(told['refused'])}",
            markup=False,
            soft_wrap=True,
        )


def failure_lines(cuts: CutsResult) -> list[str]:
    """What failed without any cut, and is judged as calls that failed."""
    return [
        f"without a cut `{failure['call']}` fails"
        + (f" {failure['times']:,} times" if failure["times"] > 1 else "")
        + f": {os.strerror(failure['errno'])}"
        for failure in cuts.get("failed_calls", [])
    ]


def _space_words(space: SeriesSpace) -> str:
    fits = (space.first_bytes, space.least_bytes, space.last_bytes)
    first, least, last = (f"{count / 1e6:.2f} MB" for count in fits)
    return (
        f"{first} fitted at first, {least} at least, {last} at last; {space.bad_more:,} blocks "
        f"more are bad, {space.worst_erases:,} erases of the worst"
    )


def _outcomes(counts: Mapping[str, int]) -> tuple[str, str, str]:
    """How many states, how many of them correct, and what the others are."""
    states, correct = sum(counts.values()), counts.get(CORRECT, 0)
    return f"{states:,}", f"{correct:,}", ", ".join(wrong_words(counts))
