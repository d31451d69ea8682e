"""A run's cases as rows of values: criterion × place × configuration × seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ffslab.compare.ratios import mean
from ffslab.report import data
from ffslab.report.configurations import chosen_among, place_of, place_text
from ffslab.report.data import Case, Run
from ffslab.results.criteria import Aspect, Criterion, Tally, added
from ffslab.results.schema import Metric

Place = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Configuration:
    """A file system with its options: `label` has those that tell it apart, `fixed` the others.

    `synced`: the label of what differs from it in writing synchronously; empty for what does.
    """

    label: str
    filesystem: str
    writing: str
    fixed: str = ""
    synced: str = ""


@dataclass(frozen=True)
class Cell:
    """The values of one configuration at one place, by seed.

    `in_memory`: the time ends before all data are on the flash; `share` is how much of what was
    written had been programmed. `cut`: the case measured less than it was asked for. `tally`: what
    went wrong, of all seeds.
    """

    values: Mapping[str, float]
    in_memory: bool = False
    share: float | None = None
    cut: bool = False
    tally: Tally | None = None

    @property
    def mean(self) -> float:
        return mean(self.values.values())


@dataclass(frozen=True)
class Row:
    """One criterion: its cells by configuration, and there by place (an index of `places`).

    `scenarios` are the places with all axes of the run, `places` with those that differ here.
    `incidental`: no headline tells it. `failed`: the configurations without a figure at a place,
    since all their cases there failed.
    """

    title: str
    metric: Metric
    aspect: Aspect
    headline: bool
    places: tuple[Place, ...]
    cells: Mapping[str, Mapping[int, Cell]]
    scenarios: tuple[Place, ...] = ()
    column: str = ""
    incidental: bool = False
    failed: Mapping[int, Collection[str]] = field(default_factory=dict)

    @property
    def tallies(self) -> Mapping[str, Tally]:
        """What went wrong of each configuration over all places; empty for another figure."""
        own = {
            label: [cell.tally for cell in cells.values() if cell.tally is not None]
            for label, cells in self.cells.items()
        }
        return {label: added(tallies) for label, tallies in own.items() if tallies}


@dataclass(frozen=True)
class Matter:
    """What a front is about. `failed`: cases without figures, by configuration and place; `tried`:
    the number of all cases of each configuration.
    """

    configurations: tuple[Configuration, ...]
    places: tuple[Place, ...]
    rows: tuple[Row, ...]
    seeds: tuple[str, ...]
    failed: Mapping[tuple[str, Place], tuple[Case, ...]]
    tried: Mapping[str, int]

    @property
    def synced(self) -> Mapping[str, str]:
        """What writes back, with what differs from it in writing synchronously, if that was run."""
        labels = set(self.labels)
        return {
            configuration.label: configuration.synced
            for configuration in self.configurations
            if configuration.writing == data.WRITE_BACK and configuration.synced in labels
        }

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(configuration.label for configuration in self.configurations)


@dataclass
class _Gathered:
    """A row while it is being gathered."""

    first: Criterion
    headline: bool = False
    cells: dict[str, dict[Place, list[tuple[str, Criterion, bool]]]] = field(default_factory=dict)


def matter_of(run: Run, criteria: Mapping[str, Sequence[Criterion]]) -> Matter:
    """What the cases of a run have to decide by; `criteria` by the id of their case."""
    cases = [case for case in run.cases if case.outcome != "skip"]
    varying = run.varying
    chosen = chosen_among(cases)
    labels: dict[str, Configuration] = {}
    places: dict[Place, None] = {}
    gathered: dict[str, _Gathered] = {}
    failed: dict[tuple[str, Place], tuple[Case, ...]] = {}
    tried: Counter[str] = Counter()
    for case in cases:
        label = data.group_label(case.axes, (data.FILESYSTEM, *chosen)) or "all cases"
        scenario = place_of(case.axes, varying)
        labels.setdefault(label, _configuration(case, label, chosen))
        tried[label] += 1
        own = criteria.get(case.id, ())
        if not case.passed and not any(criterion.tally for criterion in own):
            failed[label, scenario] = (*failed.get((label, scenario), ()), case)
            continue
        places.setdefault(scenario)
        for criterion in own:
            row = gathered.setdefault(criterion.title, _Gathered(criterion))
            row.headline |= criterion.headline
            at = row.cells.setdefault(label, {}).setdefault(scenario, [])
            at.append((case.seed, criterion, case.outcome == "short"))
    return Matter(
        configurations=tuple(labels.values()),
        places=tuple(places),
        rows=tuple(_row(title, row, failed) for title, row in gathered.items()),
        seeds=run.seeds,
        failed=failed,
        tried=tried,
    )


def _configuration(case: Case, label: str, chosen: Sequence[str]) -> Configuration:
    rest = [name for name in (data.COMPRESSION, data.WRITING) if name not in chosen]
    fixed = data.group_label(case.axes, rest)
    sync = {**case.axes, data.WRITING: data.SYNC}
    beside = "" if case.writing == data.SYNC else data.group_label(sync, (data.FILESYSTEM, *chosen))
    return Configuration(label, case.filesystem, case.writing, fixed, beside)


def _row(title: str, row: _Gathered, failed: Collection[tuple[str, Place]]) -> Row:
    """A criterion's own places: an axis that is the same in all of them is none of its own."""
    full = tuple(dict.fromkeys(scenario for cells in row.cells.values() for scenario in cells))
    differs = [
        number
        for number in range(len(full[0]))
        if len({scenario[number][1] for scenario in full}) > 1
    ]
    return Row(
        title=title,
        metric=row.first.figure.metric,
        aspect=row.first.aspect,
        headline=row.headline,
        places=tuple(tuple(scenario[number] for number in differs) for scenario in full),
        cells={
            label: {
                number: _cell(cells[scenario])
                for number, scenario in enumerate(full)
                if scenario in cells
            }
            for label, cells in row.cells.items()
        },
        scenarios=full,
        column=row.first.column,
        incidental=row.first.incidental,
        failed={
            number: [
                label
                for label, failed_in in failed
                if failed_in == scenario and scenario not in row.cells.get(label, ())
            ]
            for number, scenario in enumerate(full)
        },
    )


def _cell(measured: Sequence[tuple[str, Criterion, bool]]) -> Cell:
    shares = [
        criterion.programmed_share
        for _, criterion, _ in measured
        if criterion.programmed_share is not None
    ]
    tallies = [criterion.tally for _, criterion, _ in measured if criterion.tally is not None]
    return Cell(
        values={seed: criterion.figure.value for seed, criterion, _ in measured},
        in_memory=any(criterion.in_memory for _, criterion, _ in measured),
        share=mean(shares) if shares else None,
        cut=any(cut for *_, cut in measured),
        tally=added(tallies) if tallies else None,
    )


def where(row: Row, number: int) -> str:
    """A row's place in words; empty where it has one only."""
    return place_text(row.places[number])
