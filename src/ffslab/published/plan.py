"""Which cases the formulas of a publication need: found from the studies, without running one.

A formula is evaluated with a reader that knows the cases and the metrics only. So a misspelt run,
case or metric is told before anything runs. Whether a case has the *place* of a figure shows its
result alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import prepare
from ffslab.errors import SpecError
from ffslab.loader import load_catalog
from ffslab.model.case import Case
from ffslab.model.names import suggestion
from ffslab.model.rating import RatingFile, RuleFile, fits
from ffslab.model.study import Override
from ffslab.model.validation import validated
from ffslab.program import command
from ffslab.published.files import RunFile
from ffslab.published.formula import Formulas, NotMeasuredError
from ffslab.published.load import Publication
from ffslab.results.naming import check_named
from ffslab.results.reproduce import set_argument
from ffslab.targets import DEFAULT_TARGET
from ffslab.workloads.figures import metrics_of

_SEED = re.compile(r"-s\d+$")


def without_seed(case_id: str) -> str:
    """The id of a case's configuration, which its seeds have in common."""
    return _SEED.sub("", case_id)


def fitting(pattern: str, ids: Iterable[str]) -> tuple[str, ...]:
    """The configurations of these cases that fit a pattern."""
    names = dict.fromkeys(map(without_seed, ids))
    return tuple(name for name in names if fnmatchcase(name, pattern))


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run's study with the cases that formulas need of it."""

    key: str
    prepared: Prepared

    @property
    def command(self) -> str:
        """How `ffslab run` runs the same."""
        words = [self.prepared.source.path.stem]
        for key, values in self.prepared.overrides:
            words += ["--set", set_argument(key, values)]
        target = self.prepared.target
        return command("run", *words, *(("--target", target) if target != DEFAULT_TARGET else ()))


@dataclass(frozen=True, slots=True)
class Plan:
    """A publication, checked, with its runs; a run that no formula names is not among them."""

    publication: Publication
    runs: tuple[PlannedRun, ...]
    sizes: tuple[str, ...]  # file systems whose code is measured
    target: str = DEFAULT_TARGET

    @property
    def case_count(self) -> int:
        return sum(len(run.prepared.cases) for run in self.runs)


def planned(publication: Publication, target: str = DEFAULT_TARGET) -> Plan:
    """What a publication needs, of guests on a target; SpecError for a formula that names what is
    not there.
    """
    reader = PlannedReader(publication, target)
    formulas = Formulas(reader, publication.values, publication.where)
    for statement in publication.statements:
        for text in statement.formulas:
            with suppress(NotMeasuredError):
                formulas.number(text)
        for order in statement.orders:
            with suppress(NotMeasuredError):
                formulas.compared(order.holds)
    if publication.is_whole:
        _check_used(publication, reader)
    return Plan(publication, tuple(reader.runs()), tuple(reader.sizes), target)


def _check_used(publication: Publication, reader: PlannedReader) -> None:
    idle = [key for key in publication.runs if key not in reader.needed]
    if idle:
        raise SpecError(
            f"{publication.where}: no formula names the run {idle[0]!r}",
            cause="a misspelt name in a formula, or a run that is no longer needed",
            remedy=f"remove [runs.{idle[0]}]",
        )


@dataclass
class PlannedReader:
    """Knows the cases of studies, and gives each figure as a number of its own."""

    publication: Publication
    target: str = DEFAULT_TARGET
    needed: dict[str, set[str]] = field(default_factory=dict)
    sizes: dict[str, None] = field(default_factory=dict)
    _prepared: dict[str, Prepared] = field(default_factory=dict)

    def figure(self, run: str, case: str, word: str = "") -> float:
        values = self._planned(run, case, word)
        if len(values) > 1:
            raise self._wrong(
                f"figure({run!r}, {case!r}) means {len(values)} configurations",
                "the pattern fits more than one",
                "a longer pattern, or min(), max() or mean() of figures()",
            )
        return values[0]

    def figures(self, run: str, case: str, word: str = "") -> tuple[float, ...]:
        return self._planned(run, case, word)

    def stored(self, run: str, case: str, key: str) -> float:
        self._configurations(run, case)
        return float(len(key))

    def grade(self, run: str, filesystem: str, criterion: str) -> float:
        rating = rating_of(self._study(run))
        named = [rated for rated in rating.criterion if rated.name == criterion] if rating else []
        if not named:
            known = [rated.name for rated in rating.criterion] if rating else []
            raise self._wrong(
                f"the study of run {run!r} rates no {criterion!r}{suggestion(criterion, known)}",
                "a misspelt criterion" if known else "it has no [rating]",
                f"its criteria: {', '.join(known) or 'none'}",
            )
        rules = [rule for rule in named[0].rule if rule.figure]
        cases = [case for case in self._study(run).cases if _rated(case, rules, filesystem)]
        if not cases:
            raise self._wrong(f"run {run!r} has no {filesystem!r}", "a misspelt name", "its name")
        # A grade may hang on the best of all file systems.
        peers = [case for case in self._study(run).cases if _rated(case, rules)]
        self.needed.setdefault(run, set()).update(case.id for case in peers)
        return 1.0

    def spent(self, run: str, case: str, phase: str) -> str:
        self._configurations(run, case)
        return phase

    def code_bytes(self, filesystem: str) -> float:
        load_catalog().filesystem(filesystem)
        self.sizes[filesystem] = None
        return 1.0

    def runs(self) -> Iterator[PlannedRun]:
        """The runs in the order of the file, with the cases that were asked for."""
        for key in self.publication.runs:
            if key in self.needed:
                prepared = self._study(key)
                cases = tuple(case for case in prepared.cases if case.id in self.needed[key])
                is_whole = prepared.is_whole and len(cases) == len(prepared.cases)
                yield PlannedRun(key, replace(prepared, cases=cases, is_whole=is_whole))

    def _planned(self, run: str, pattern: str, word: str) -> tuple[float, ...]:
        names = self._configurations(run, pattern)
        asked = word or self.publication.runs[run].figure
        cases = [
            planned_case
            for planned_case in self._study(run).cases
            if without_seed(planned_case.id) in names
        ]
        kinds = {case.workload.kind: None for case in cases}
        check_named(asked, metrics_of(kinds), self.publication.where)
        # Different numbers, so that a difference of two is not 0.
        return tuple(float(len(asked) + number + len(name)) for number, name in enumerate(names))

    def _configurations(self, run: str, pattern: str) -> tuple[str, ...]:
        cases = self._study(run).cases
        ids = [case.id for case in cases]
        names = fitting(pattern, ids)
        if not names:
            near = suggestion(pattern, map(without_seed, ids), close_matches=3)
            raise self._wrong(
                f"run {run!r} has no case {pattern!r}{near}",
                "a misspelt id or pattern, or an axis of one value, which no id has",
                f"{PlannedRun(run, self._study(run)).command} --dry-run lists its "
                f"{len(cases)} cases",
            )
        needed = self.needed.setdefault(run, set())
        needed |= {case_id for case_id in ids if without_seed(case_id) in names}
        return names

    def _study(self, run: str) -> Prepared:
        if run not in self.publication.runs:
            raise self._wrong(
                f"a formula names the run {run!r}{suggestion(run, self.publication.runs)}",
                "a misspelt name",
                f"the runs of the file: {', '.join(self.publication.runs)}",
            )
        if run not in self._prepared:
            self._prepared[run] = prepared_run(self.publication.runs[run], self.target)
        return self._prepared[run]

    def _wrong(self, what: str, cause: str, remedy: str) -> SpecError:
        return SpecError(f"{self.publication.where}: {what}", cause=cause, remedy=remedy)


def prepared_run(run: RunFile, target: str) -> Prepared:
    """The study of a run with all its cases."""
    overrides: list[Override] = [
        (key, tuple(value) if isinstance(value, list) else (value,))
        for key, value in run.settings.items()
    ]
    return prepare(run.study, [*overrides, ("seed", tuple(run.seeds))], target=target)


def rating_of(prepared: Prepared) -> RatingFile | None:
    """The rating of a study, if it has one."""
    table: Mapping[str, object] | None = prepared.source.document.get("rating")
    return None if table is None else validated(RatingFile, table, str(prepared.source.path))


def _rated(case: Case, rules: Sequence[RuleFile], filesystem: str = "") -> bool:
    """Whether a rule needs the case."""
    if filesystem and case.filesystem.name != filesystem:
        return False
    axes = {**dict(case.axes), "filesystem": case.filesystem.name}
    axes |= {f"options.{name}": value for name, value in case.filesystem.options}
    return any(fits(rule, axes) for rule in rules)
