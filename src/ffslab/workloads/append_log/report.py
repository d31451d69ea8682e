"""What a report says of append-log only: whose the pages of a line are, and how long the flash
lasts at that pace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ffslab.compare.ratios import mean
from ffslab.report import data, plots
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import BETWEEN
from ffslab.report.elements import Table, by_filesystem
from ffslab.report.first.board import short_names
from ffslab.report.quantity import significant
from ffslab.report.sections.section import Chart, Section
from ffslab.workloads.append_log.metrics import LIFE, life_years
from ffslab.workloads.append_log.stored import log_of

if TYPE_CHECKING:
    from ffslab.report.data import Run
    from ffslab.results.result import CaseResult

TITLE = "append-log"
METHOD = (
    "A case boots on flash that another guest brought into its initial state, and appends lines to "
    "a log, each its number and words, or other contents, with one write(). The wait for a line is "
    "that of write() and of the sync behind it, where one follows; the sleep between two lines is "
    "in no time, and file systems use it. The log keeps histograms, not single lines. Flash "
    "operations are counted from the first line to the end of the flush behind the last. Life is "
    "how long the rated erases of the partition last at the pace of the case, if all blocks wear "
    "alike."
)
_DAEMON = ("init", "ffsagent")  # what the agent is called, in the guest and as a program
_WRITES_BACK = "kworker"
PARTS: Mapping[str, str] = {
    "the daemon": "t1",
    "the kernel, writing back": "t0",
    "tasks of the file system": "t2",
}


@dataclass(frozen=True, slots=True)
class Log:
    """What a case did to the flash: pages programmed by each task for a line, life in years."""

    pages: Mapping[str, float]
    life_years: float | None


@dataclass(frozen=True)
class _Group:
    """The cases that differ in the seed only: configuration, state, and what else they are at."""

    label: str
    filesystem: str
    state: str
    rest: str
    logs: Sequence[Log]

    @property
    def where(self) -> str:
        return ", ".join(text for text in (self.state, self.rest) if text)

    @property
    def name(self) -> str:
        return f"{self.label}, {self.where}" if self.where else self.label

    @property
    def parts(self) -> dict[str, float]:
        """Pages of a line by whose they are."""
        parts = dict.fromkeys(PARTS, 0.0)
        for task, pages in self.tasks.items():
            parts[_part(task)] += pages
        return parts

    @property
    def tasks(self) -> dict[str, float]:
        """Pages of a line by task, those of the kernel's workers together."""
        sums: dict[str, float] = {}
        for log in self.logs:
            for task, pages in log.pages.items():
                name = task.partition("/")[0]
                sums[name] = sums.get(name, 0.0) + pages / len(self.logs)
        return sums

    @property
    def share(self) -> float:
        """The part of the pages that are not the daemon's."""
        whole = sum(self.parts.values())
        return 1 - self.parts["the daemon"] / whole if whole else 0.0


def figures_of(row: CaseResult) -> Log | None:
    """Who programmed pages, and how long the flash lasts; None for a case that wrote no line."""
    log = log_of(row)
    if log is None or not log["lines_done"]:
        return None
    pages: dict[str, float] = {}
    for task in log["tasks"]:
        each = task["pages_programmed"] / log["lines_done"]
        pages[task["name"]] = pages.get(task["name"], 0.0) + each
    return Log(pages, life_years(row))


def sections(run: Run, prefix: str) -> Iterator[Section]:
    """Whose pages, and how long the flash lasts; means over seeds."""
    groups = [*_groups(run)]
    if any(sum(group.parts.values()) for group in groups):
        yield _tasks(groups, prefix)
    lives = {
        group.name: mean(years)
        for group in groups
        if (years := [log.life_years for log in group.logs if log.life_years is not None])
    }
    if lives:
        yield _life(groups, lives, prefix)


def _groups(run: Run) -> Iterator[_Group]:
    shown = (data.FILESYSTEM, *chosen_among(run.cases))
    groups = data.group_by_seed([case for case in run.passed if case.own is not None])
    labels = {id(group): data.group_label(group.axes, shown) or "all cases" for group in groups}
    names = short_names([*labels.values()])
    for group in groups:
        axes = place_of(group.axes, run.varying)
        yield _Group(
            label=names[labels[id(group)]],
            filesystem=group.axes.get(data.FILESYSTEM, ""),
            state=place_text(pair for pair in axes if pair[0] == data.STATE),
            rest=place_text(pair for pair in axes if pair[0] != data.STATE),
            logs=[case.own for case in group.cases],
        )


def _part(task: str) -> str:
    own, kernel, others = PARTS
    return own if task in _DAEMON else kernel if task.startswith(_WRITES_BACK) else others


def _tasks(groups: Sequence[_Group], prefix: str) -> Section:
    most = max(groups, key=lambda group: group.share)
    bars = [
        plots.Bar(
            f"{group.label}{BETWEEN}{group.rest}".removesuffix(BETWEEN), group.parts, group.state
        )
        for group in groups
    ]
    unit = ("pages", 1.0)
    drawing = plots.stack(bars, PARTS, "programmed for a line", f"{prefix}tasks-stack", unit)
    rows = tuple(
        (group.label, group.where, task, significant(pages))
        for group in groups
        for task, pages in sorted(group.tasks.items(), key=lambda entry: -entry[1])
        if pages
    )
    head = ("configuration", "at", "task", "pages per line")
    others = f"**{most.name}** has {100 * most.share:.0f} % of its pages"
    return Section(
        key="tasks",
        title="Who programs the pages of a line?",
        sentence=f"{others} from other tasks than the daemon." if most.share else "The daemon.",
        charts=(Chart("Pages of a line by task", drawing),),
        tables=(by_filesystem(Table("Pages of a line by task", head, (), rows, text_columns=3)),),
    )


def _life(groups: Sequence[_Group], lives: Mapping[str, float], prefix: str) -> Section:
    worst = min(lives, key=lambda name: lives[name])
    points = [
        plots.Point(group.label, group.filesystem, lives[group.name], group.where)
        for group in groups
        if group.name in lives
    ]
    rows = tuple((p.label, p.place, significant(p.value)) for p in points)
    head = ("configuration", "at", "years")
    title = "Life at the pace of the cases"
    return Section(
        key="life",
        title="How long does the flash last?",
        sentence=f"{significant(lives[worst], 2)} years at the least: **{worst}**.",
        charts=(Chart(title, plots.dots(points, LIFE, "Life", f"{prefix}life-dots")),),
        tables=(by_filesystem(Table(title, head, (), rows, text_columns=2)),),
        note="As if all blocks wore alike, and none was erased before all of its pages were "
        "programmed.",
    )
