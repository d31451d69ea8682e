"""Progress of a run: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from ffslab.campaign.done import CaseDone
from ffslab.campaign.plan import Estimate
from ffslab.cli.tables import FEW_CASES
from ffslab.lab.progress import ConsoleProgress
from ffslab.model.case import Case
from ffslab.model.units import format_duration_ns
from ffslab.program import this_command
from ffslab.results.shortfall import is_good

_TENTHS = 10


def format_seconds(seconds: float) -> str:
    """Wall time for people: 95 → "1 min 35 s"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class RunProgress:
    """Shows `total` cases ending; use as a context manager around the run.

    A case that does not pass has a line. Others have one where no bar shows them and they are few,
    or where that is asked for with `each_case`; else each tenth of the run has.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        clock_s: Callable[[], float],
        *,
        each_case: bool = False,
    ) -> None:
        self._console = console
        self._total = total
        self._each_case = each_case or total < FEW_CASES
        self._clock_s = clock_s
        self._started_s = clock_s()
        self._done = 0
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._parts: dict[str, TaskID] = {}

    def __enter__(self) -> RunProgress:
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("cases", total=self._total, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def case_done(self, done: CaseDone) -> None:
        """One more case has ended."""
        self._done += 1
        estimate = Estimate(self._done, self._total, self._clock_s() - self._started_s)
        left = "" if estimate.left_s is None else f"{format_seconds(estimate.left_s)} left"
        outcome = done.result["outcome"]
        if self._bar is not None:
            if done.case.id in self._parts:
                self._bar.remove_task(self._parts.pop(done.case.id))
            self._bar.update(self._task, completed=self._done, left=left)
        is_quiet = outcome == "pass" or (outcome == "short" and is_good(done.result))
        if is_quiet and (self._bar is not None or not self._each_case):
            if self._bar is None and self._is_tenth:
                self._console.print(f"[{self._done}/{self._total}] {left}", highlight=False)
            return
        reason = f": {done.result['reason']}" if done.result["reason"] else ""
        self._console.print(
            f"[{self._done}/{self._total}] {done.case.id}: {outcome}{reason} "
            f"({format_duration_ns(done.wall_ns)}; {left})",
            highlight=False,
        )

    @property
    def _is_tenth(self) -> bool:
        """Whether the case that ended completes a tenth of the run."""
        return self._done * _TENTHS // self._total > (self._done - 1) * _TENTHS // self._total

    def part_done(self, case: Case, done: int, total: int) -> None:
        """So much of a case of many guests is done; may be called from any thread."""
        if self._bar is None:
            return
        if case.id not in self._parts:
            self._parts[case.id] = self._bar.add_task(case.id, total=total, left="")
        self._bar.update(self._parts[case.id], completed=done, total=total)

    def stopping(self, running: int) -> None:
        """Ctrl-C was pressed once."""
        self._console.print(
            f"stopping: waiting for {running} running guest(s); Ctrl-C again kills them",
            highlight=False,
        )

    def note(self, text: str) -> None:
        """A fact on a line of its own; may be called from any thread."""
        self._console.print(text, highlight=False, soft_wrap=True)


class TerminalWatch:
    """Follows a run on a console; how the lab is built goes to standard error."""

    def __init__(self, console: Console, each_case: bool = False) -> None:
        self._console = console
        self._each_case = each_case
        self.command = this_command()
        self.build = ConsoleProgress()

    def now(self) -> datetime:
        """The time of this computer."""
        return datetime.now(UTC)

    def cases(self, count: int) -> RunProgress:
        """Shows so many cases ending."""
        return RunProgress(self._console, count, time.monotonic, each_case=self._each_case)
