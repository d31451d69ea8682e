"""Does every setting that somebody gave change something? Pure.

A setting is in force where nothing after it replaces it (`ffslab.model.grids`) and the rules leave
a case that has it. It has an effect if, in one of these cases at least, the guests would get
something else to do without it. A setting that repeats what is so anyway is fine: a script may go
through all values. One that is in the spec, but that no guest is told of or looks at, is an error:
whoever gave it would take the unchanged results for its effect.

Of settings in the study file the same is asked when nothing is given on the command line. There a
setting of the base that an axis replaces is no error: it says what the study is about.

The search ends at the first case that shows the effect, so it takes no longer than a few cases
for each setting, unless one has none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ffslab.errors import SpecError
from ffslab.model.case import Case
from ffslab.model.catalog import Catalog
from ffslab.model.estimates import AS_STATED, ESTIMATE, with_estimate
from ffslab.model.grids import COMMAND_LINE, Grid, Statement
from ffslab.model.settings import DEFAULT, resolve
from ffslab.model.specs import CPU_FIGURES, DRIVER_FIGURES
from ffslab.model.study import Study, grids, points
from ffslab.model.workload import Workloads, WorkloadType
from ffslab.program import program

# What a setting needs to matter; docs/study-format.md says the same at each key. Keys of workloads
# say it themselves (`ffslab.model.workload.key`).
_CPU = "a cpu_scale above 0"
_NEEDS: Mapping[str, str] = {
    **{f"board.{name}": _CPU for name in (*CPU_FIGURES, *DRIVER_FIGURES)},
    "board.cpu_mhz": f"{_CPU}, and a price that is not set itself",
    "estimate": "a case that has the figure, with a value above 0",
}

GuestInputs = Callable[[Case], Hashable]


@dataclass(frozen=True, slots=True)
class _Given:
    """One value that somebody gave a setting."""

    statement: Statement
    index: int  # among the statement's values

    @property
    def value(self) -> Any:
        return self.statement.values[self.index]

    def __str__(self) -> str:
        key, origin = self.statement.key, self.statement.origin
        return f"{origin} {key}={_shown(self.value)}"


def check_effects(study: Study, catalog: Catalog, guest_inputs: GuestInputs) -> None:
    """SpecError for a setting that changes no case of the study, which expands without an error.

    `guest_inputs` says what a case's guests are told: equal for cases with the same history.
    """
    all_grids = grids(study)
    searched = {str(given): given for grid in all_grids for given in _given(study, grid)}
    why = dict.fromkeys(searched, _left_out(study))
    inputs = lru_cache(maxsize=2)(guest_inputs)  # of one case for each of its settings
    for grid in all_grids:
        for settings in points(study, grid, catalog):
            here = [name for name in why if _is_given(searched[name], grid, settings)]
            if not here:
                continue
            case = resolve("", study.name, {}, settings, catalog)
            for name in here:
                given = searched[name]
                if _changes(given, grid, settings, case, catalog, inputs):
                    del why[name]
                else:
                    why[name] = _unused(given, case, catalog.workloads)
            if not why:
                return
    for name, cause in why.items():
        raise _no_effect(study, name, cause)


def _given(study: Study, grid: Grid) -> Iterator[_Given]:
    """What is to have an effect: the command line's settings, or without any the file's."""
    for statement in grid.stated.values():
        asked = statement.origin == COMMAND_LINE if study.overrides else statement.origin
        if asked:
            yield from (_Given(statement, index) for index in range(len(statement.values)))


def _is_given(given: _Given, grid: Grid, settings: Mapping[str, Any]) -> bool:
    key = given.statement.key
    return grid.stated.get(key) == given.statement and _same(settings[key], given.value)


def _changes(
    given: _Given,
    grid: Grid,
    settings: Mapping[str, Any],
    case: Case,
    catalog: Catalog,
    guest_inputs: GuestInputs,
) -> bool:
    """Whether the case differs from what it would be without the setting, or repeats it.

    Names of the catalog, sizes of the partition and seeds are in every case that has them. An axis
    of estimates leaves out what a case does not have.
    """
    group, dot, name = given.statement.key.partition(".")
    if group == ESTIMATE and len(given.statement.values) == 1:
        return given.value == AS_STATED or with_estimate(case, given.value) != case
    if not dot:
        return True
    if group == "options" and name not in dict(case.filesystem.options):
        # The bare device has no options: what a study's file says of them is for its file systems.
        return not case.filesystem.is_mounted and given.statement.origin != COMMAND_LINE
    instead = grid.replaced.get(given.statement.key, ())
    if instead and all(_same(value, given.value) for value in instead):
        return True
    without = {key: value for key, value in settings.items() if key != given.statement.key}
    twins = [without | {given.statement.key: value} for value in instead] or [without]
    return any(_differs(case, twin, catalog, guest_inputs) for twin in twins)


def _differs(
    case: Case, settings: Mapping[str, Any], catalog: Catalog, guest_inputs: GuestInputs
) -> bool:
    try:
        twin = resolve("", case.study, {}, settings, catalog)
    except SpecError:
        return True  # the setting is what makes the case possible
    return _unnamed(twin) == _unnamed(case) or guest_inputs(twin) != guest_inputs(case)


def _unnamed(case: Case) -> Case:
    """The case without the name of its state, which changes with any setting of it."""
    return replace(case, state=replace(case.state, name=""))


def _same(value: Any, other: Any) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _left_out(study: Study) -> str:
    return f"the [[exclude]] and [[include]] rules of study {study.name} leave out every case of it"


def _unused(given: _Given, case: Case, workloads: Workloads) -> str:
    group, _, name = given.statement.key.partition(".")
    if group == "options" and name not in dict(case.filesystem.options):
        return (
            f"file system {case.filesystem.name} has no option {name!r}"
            if given.value == DEFAULT
            else f"options.{name} affects images only, and the case begins without one"
        )
    needed = _needed(group, name, workloads[case.workload.kind], workloads)
    if needed:
        return f"it needs {needed}, and no case has that"
    return f"nothing that a case of workload {case.workload.kind} does depends on it"


def _needed(group: str, name: str, kind: WorkloadType[Any], workloads: Workloads) -> str:
    """What the setting `group.name` needs in a case of that kind; empty if nothing is known."""
    if group == "workload" and name in kind.keys:
        return kind.keys[name].needs
    if group == "state":
        kinds = [other.kind for other in workloads.values() if name in other.state_keys]
        return f"workload {' or '.join(kinds)}" if kinds else ""
    return _NEEDS.get(f"{group}.{name}".removesuffix("."), "")


def _no_effect(study: Study, name: str, why: str) -> SpecError:
    return SpecError(
        f"{name} has no effect on any case of study {study.name}",
        cause=why,
        remedy=f"leave it out, or change what it needs; {program()} run {study.name} --dry-run "
        "lists the cases without it",
    )


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
