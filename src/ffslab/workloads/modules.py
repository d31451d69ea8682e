"""What the modules of a workload's package have to offer, and how they are found by kind.

A module stands for an object with these functions. `tests/unit/test_workloads.py` holds every
package against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from ffslab.model.case import Case
from ffslab.protocol.records import Phase, RecordStream
from ffslab.results.criteria import Criterion
from ffslab.results.result import CaseResult
from ffslab.results.schema import Figure, Metric, TaskWork
from ffslab.results.shortfall import Shortfall
from ffslab.workloads.registry import folder_of, module_of
from ffslab.workloads.rig import Rig

if TYPE_CHECKING:
    from rich.console import Console

    from ffslab.results.columns import Columns
    from ffslab.results.preparation import Preparation
    from ffslab.results.rundir import RunDirectory


class PlanModule(Protocol):
    """The module `plan`."""

    def guest_plans(self, case: Case, rig: Rig) -> tuple[str, ...]:
        """The plans of the case's guests in order; the last is that of its own."""
        ...


class ResultModule(Protocol):
    """The module `result`: what the records of a case's guests mean.

    PHASES are summed up as the phase `workload` of a result. KEYS is the type (a TypedDict) of the
    workload's own keys of a result, ELSEWHERE those of them that results of other workloads have
    too, empty, since those who read runs look for them; a newer workload has none.
    """

    PHASES: Sequence[str]
    KEYS: type[Mapping[str, object]]
    ELSEWHERE: Mapping[str, object]

    def check_records(self, stream: RecordStream) -> None:
        """DamagedResultError if the workload's records contradict each other."""
        ...

    def shortfall(
        self, workload: Any, stream: RecordStream, full_phase: Phase | None
    ) -> Shortfall | None:
        """What was measured less than asked for; `full_phase` failed with ENOSPC, if one did."""
        ...

    def compared_times_ns(self, result: CaseResult) -> dict[str, float]:
        """The times that verdicts on configurations are about, by what they are called."""
        ...

    def result_keys(
        self, case: Case, stream: RecordStream, prepared: Sequence[Preparation]
    ) -> Mapping[str, object]:
        """The workload's own keys of a result; `prepared` are the guests before the case's own.

        Of records that contradict each other, which make the case a crash, nothing is kept.
        """
        ...


class MetricsModule(Protocol):
    """The module `metrics`: the figures of a result.

    OF begins its section in docs/metrics.md; NOTE is what stands there of its key of a result, its
    phases and its shortfall. UNITS may say of a phase what a unit of its work is called, and which
    key of the workload says how many there are.
    """

    OF: str
    NOTE: str
    METRICS: tuple[Metric, ...]

    def figures(self, result: CaseResult) -> tuple[Figure, ...]:
        """All figures of a result of this workload."""
        ...

    def tasks(self, result: CaseResult) -> tuple[TaskWork, ...]:
        """What each task asked of the flash, where the result says it."""
        ...

    def criteria(self, result: CaseResult) -> Iterable[Criterion]:
        """The figures that people decide by, in the order of the rows of the report's table."""
        ...


class TablesModule(Protocol):
    """The module `tables`, of a workload that has tables beside those of every run.

    Columns with their DuckDB types (`ffslab.results.columns`), by table: TABLES are filled from
    results, RECORD_TABLES, too large for these, from the records of each case.
    """

    TABLES: Mapping[str, Mapping[str, str]]
    RECORD_TABLES: Mapping[str, Mapping[str, str]]

    def case_columns(self, result: CaseResult) -> Mapping[str, object]:
        """What it fills of the table `cases`, for any workload's result."""
        ...

    def rows(self, result: CaseResult) -> Mapping[str, Iterable[Mapping[str, object]]]:
        """The rows of a result in TABLES, of any workload's."""
        ...

    def record_columns(
        self, run: RunDirectory, result: CaseResult
    ) -> Iterable[tuple[str, Columns]]:
        """Pieces of RECORD_TABLES of any case; DamagedResultError if its records are gone."""
        ...


class TerminalModule(Protocol):
    """The module `terminal`: tables of 80 columns."""

    HEADINGS: Sequence[str]

    def cells(self, result: CaseResult) -> Sequence[str]:
        """A case's cells below HEADINGS in the table of a run."""
        ...

    def print_case(self, console: Console, result: CaseResult) -> None:
        """What there is to say of one case before its phases and latencies."""
        ...

    def shows_phases(self, result: CaseResult) -> bool:
        """Whether the table of phases says more than `print_case` has."""
        ...


class ReportModule(Protocol):
    """The module `report`, or `report.page` of a package: what a report says of this workload only.

    TITLE is the workload's heading in the report of a run of several, METHOD a paragraph on how it
    measures. A run is an `ffslab.report.data.Run`, a section an
    `ffslab.report.sections.section.Section`.
    """

    TITLE: str
    METHOD: str

    def figures_of(self, row: CaseResult) -> Any:
        """What the sections need of a result: little, since it is kept of all. None for nothing."""
        ...

    def sections(self, run: Any, prefix: str) -> Iterable[Any]:
        """Its own sections, each an `ffslab.report.sections.section.Section`, on the cases of an
        `ffslab.report.data.Run`, whose `own` is what `figures_of` took from them.

        `prefix` stands before identifiers of charts, which are unique in the page. The page itself
        puts it before keys of sections.
        """
        ...


def plan_module(kind: str) -> PlanModule:
    """The module `plan` of a kind's package."""
    return cast(PlanModule, module_of(kind, "plan"))


def result_module(kind: str) -> ResultModule:
    """The module `result` of a kind's package."""
    return cast(ResultModule, module_of(kind, "result"))


def metrics_module(kind: str) -> MetricsModule:
    """The module `metrics` of a kind's package."""
    return cast(MetricsModule, module_of(kind, "metrics"))


def tables_module(kind: str) -> TablesModule | None:
    """The module `tables` of a kind's package, None if it has no tables of its own."""
    if not (folder_of(kind) / "tables.py").is_file():
        return None
    return cast(TablesModule, module_of(kind, "tables"))


def explore_module(kind: str) -> ModuleType | None:
    """The module `explore.case` of a kind that decides on its guests as it goes, an
    `ffslab.targets.several.ExplorePart`; None if its guests are known before the first begins.
    """
    return _part_of_explore(kind, "case")


def again_module(kind: str) -> ModuleType | None:
    """The module `explore.again` of a kind whose findings can be repeated and made small, an
    `ffslab.targets.several.AgainPart`; None if they cannot.
    """
    return _part_of_explore(kind, "again")


def _part_of_explore(kind: str, name: str) -> ModuleType | None:
    if not (folder_of(kind) / "explore" / f"{name}.py").is_file():
        return None
    return module_of(kind, f"explore.{name}")


def report_module(kind: str) -> ReportModule:
    """The module `report` of a kind's package, a package with a module `page` where it is large."""
    name = "report.page" if (folder_of(kind) / "report").is_dir() else "report"
    return cast(ReportModule, module_of(kind, name))


def terminal_module(kind: str) -> TerminalModule:
    """The module `terminal` of a kind's package."""
    return cast(TerminalModule, module_of(kind, "terminal"))
