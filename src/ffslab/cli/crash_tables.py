"""What `ffslab crash` prints, at 80 columns: outcomes by unit and kind of cut, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from ffslab.cli.tables import print_unpadded
from ffslab.exploration.stored import SeriesSpace, StoredFinding, StoredUnit, space_of
from ffslab.exploration.verdict import CORRECT, OUTCOMES

if TYPE_CHECKING:
    from ffslab.exploration.replay import Replayed


class CrashProgress:
    """A bar for each unit on a terminal, a line for each that is done elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> CrashProgress:
        if self._console.is_terminal:
            self._bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("states"),
                console=self._console,
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def tell(self, unit: str, done: int, whole: int) -> None:
        """So many states of a unit have been gone through."""
        if self._bars is None:
            return
        if unit not in self._tasks:
            self._tasks[unit] = self._bars.add_task(unit, total=whole)
        self._bars.update(self._tasks[unit], completed=done, total=whole)

    def done(self, unit: StoredUnit) -> None:
        """A unit has been explored."""
        if unit["id"] in self._tasks and self._bars is not None:
            self._bars.remove_task(self._tasks.pop(unit["id"]))
        wrong = sum(finding["states"] for finding in unit["findings"])
        self._console.print(
            f"{unit['id']}: {unit['states']:,} states of {unit['operations']:,} operations, "
            f"{f'{wrong:,} not correct' if wrong else 'all correct'}",
            markup=False,
        )


def print_units(console: Console, units: Sequence[StoredUnit]) -> None:
    """A table of outcomes for each unit and kind of cut, then a line for each finding."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("unit")
    table.add_column("cut")
    for title in ("states", "correct"):
        table.add_column(title, justify="right")
    table.add_column("else")
    for unit in units:
        for kind, counts in unit["counts"].items():
            table.add_row(unit["id"], kind, *_outcomes(counts))
        if unit["random"]:
            table.add_row(unit["id"], "at random", *_outcomes(unit["random"]))
    print_unpadded(console, table)
    _print_recovery(console, units)
    _print_series(console, units)
    findings = [finding for unit in units for finding in unit["findings"]]
    for finding in findings:
        console.print(_line(finding), markup=False, soft_wrap=not console.is_terminal)
    total = Counter[str]()
    for unit in units:
        for counts in unit["counts"].values():
            total.update(counts)
    order = reversed(list(OUTCOMES))
    words = ", ".join(f"{total[word]:,} {word}" for word in order if total[word])
    console.print(f"{sum(total.values()):,} states: {words}", markup=False)


def _print_recovery(console: Console, units: Sequence[StoredUnit]) -> None:
    """The most that a mount after a cut asked of the flash, and at which operation that was."""
    explored = [unit for unit in units if unit["recovery"]["curve"]]
    if not explored:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("a mount's most, at operation")
    for title in ("read", "programmed", "erased"):
        table.add_column(title, justify="right")
    for unit in explored:
        curve = sorted(unit["recovery"]["curve"])
        most = [max(curve, key=lambda row: (row[column], -row[0])) for column in (1, 2, 3)]
        cells = [
            f"{row[column]:,} at {row[0]:,}" if row[column] else "0"
            for column, row in enumerate(most, start=1)
        ]
        table.add_row(unit["id"], *cells)
    console.print()
    print_unpadded(console, table)
    console.print()


def _print_series(console: Console, units: Sequence[StoredUnit]) -> None:
    """What is left of a flash after many cuts in a row."""
    made = [(unit["id"], unit["series"]) for unit in units if "series" in unit]
    if not made:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("cuts in a row")
    for title in ("flashes", "fits first", "least", "last", "bad more", "worst erases"):
        table.add_column(title, justify="right")
    for name, series in made:
        table.add_row(name, f"{len(series['lives']):,}", *_space_cells(space_of(series)))
    console.print()
    print_unpadded(console, table)
    console.print()


def _space_cells(space: SeriesSpace | None) -> Sequence[str]:
    if space is None:
        return ["–"] * 5
    fits = (space.first_bytes, space.least_bytes, space.last_bytes)
    return [
        *(f"{count / 1e6:.2f} MB" for count in fits),
        *(f"{space.bad_more:,}", f"{space.worst_erases:,}"),
    ]


def _outcomes(counts: Mapping[str, int]) -> tuple[str, str, str]:
    """How many states, how many of them correct, and what the others are."""
    wrong = [f"{counts[word]:,} {word}" for word in OUTCOMES if word in counts and word != CORRECT]
    return f"{sum(counts.values()):,}", f"{counts.get(CORRECT, 0):,}", ", ".join(wrong)


def _line(finding: StoredFinding) -> str:
    times = f" and {finding['states'] - 1:,} more" if finding["states"] > 1 else ""
    return (
        f"{finding['id']}  {finding['outcome']} at {finding['state']}{times}: {finding['detail']}"
    )


def print_replayed(console: Console, again: Replayed) -> None:
    """All that is known of a finding."""
    for title, lines in again.parts:
        console.print(f"\n{title}", style="bold", markup=False)
        for line in lines:
            console.print(f"  {line}", markup=False, soft_wrap=True)
