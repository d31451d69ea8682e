"""Which case is compared with which: by spec where specs are equal, else by name, or by an axis.

Two runs: a case is paired with the one of the same spec; if there is none, with that of the same
id, if it does the same kind of work. One run and an axis: cases that are equal but for that axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ffslab.compare.cases import ComparedCase, Side, split_perturbed
from ffslab.errors import UsageError
from ffslab.model.specs import DEFAULT_VARIANT
from ffslab.program import program
from ffslab.workloads.contents import spelled_out
from ffslab.workloads.registry import kind_of, workloads

_WORKLOAD = "workload"
ABSENT = "–"
ANOTHER_TARGET = "another target, so a difference is the error of a model (docs/targets.md)"


@dataclass(frozen=True, slots=True)
class SpecDifference:
    """A setting of the specs that differs; `ABSENT` on a side that does not have it."""

    key: str
    base: str
    new: str


@dataclass(frozen=True, slots=True)
class CasePair:
    """Two cases that are compared. `same_build`: what was built is equal, the lab and modules,
    and time is virtual. `other_target`: one ran elsewhere, so that differences are the errors of a
    model (docs/targets.md). `other_clock`: in one's kernel only the flash takes time.
    """

    base: ComparedCase
    new: ComparedCase
    differences: tuple[SpecDifference, ...]
    same_build: bool
    other_target: bool = False
    other_clock: bool = False

    @property
    def is_exact(self) -> bool:
        """Equal specs in one build: their results are to be equal to the last digit."""
        return self.same_build and not self.differences


@dataclass(frozen=True, slots=True)
class Paired:
    """All pairs in the order of the base, and the cases that one side alone has."""

    pairs: tuple[CasePair, ...]
    missing: tuple[ComparedCase, ...]
    new: tuple[ComparedCase, ...]


def pair_runs(base: Side, new: Side) -> Paired:
    """The pairs of two runs, without the cases that only measure a band."""
    before, after = split_perturbed(base)[0], split_perturbed(new)[0]
    partner = _by_spec(before, after)
    taken = {case.id for case in partner.values()}
    left = {case.id: case for case in after if case.id not in taken}
    for case in before:
        other = left.get(case.id)
        if case.id not in partner and other is not None and _same_work(base, case, new, other):
            partner[case.id] = left.pop(case.id)
    return Paired(
        tuple(_pair(base, case, new, partner[case.id]) for case in before if case.id in partner),
        tuple(case for case in before if case.id not in partner),
        tuple(case for case in after if case.id in left),
    )


def _by_spec(
    before: Sequence[ComparedCase], after: Sequence[ComparedCase]
) -> dict[str, ComparedCase]:
    """By the id of the base's case that of the same spec; of several the one of the same id."""
    same: dict[str, list[ComparedCase]] = {}
    for case in after:
        same.setdefault(case.spec_hash, []).append(case)
    partner = {}
    for by_id in (True, False):
        for case in before:
            candidates = same.get(case.spec_hash, [])
            chosen = next((other for other in candidates if not by_id or other.id == case.id), None)
            if case.id not in partner and chosen is not None:
                candidates.remove(chosen)
                partner[case.id] = chosen
    return partner


def _same_work(base: Side, case: ComparedCase, new: Side, other: ComparedCase) -> bool:
    """Whether two cases of one name are two versions of one thing: of one study, or equal work."""
    if case.spec[_WORKLOAD] == other.spec[_WORKLOAD]:
        return True
    kinds = {either.spec[_WORKLOAD].get("kind", "") for either in (case, other)}
    return base.study == new.study and len(kinds) == 1


def axis_sides(side: Side, axis: str, wanted: str | None) -> tuple[Side, ...]:
    """A side for each value of an axis of one run, the base first; `wanted` names the base.

    UsageError for an axis or a value that the run does not have.
    """
    groups: dict[str, list[ComparedCase]] = {}
    for case in side.cases:
        if axis in case.axes:
            groups.setdefault(str(case.axes[axis]), []).append(case)
    if len(groups) < 2:
        known = _varying(side.cases)
        raise UsageError(
            f"{axis!r} is not an axis of {side.name} with two values",
            cause=f"its axes: {', '.join(known)}" if known else "the run has no axis",
            remedy=f"{program()} compare {side.name} --axis {known[0]}"
            if known
            else f"{program()} compare {side.name} NEW",
        )
    base = next(iter(groups)) if wanted is None else wanted
    if base not in groups:
        raise UsageError(
            f"axis {axis} of {side.name} has no value {base!r}",
            cause=f"its values: {', '.join(value or '(none)' for value in groups)}",
            remedy=f"{program()} compare {side.name} --axis {axis} --base {next(iter(groups))}",
        )
    order = [base, *(value for value in groups if value != base)]
    last = axis.rpartition(".")[2]
    return tuple(
        Side(
            f"{last} {value or '(none)'}",
            side.manifest,
            tuple(groups[value]),
            len(groups[value]),
            side.where,
        )
        for value in order
    )


def _varying(cases: Sequence[ComparedCase]) -> list[str]:
    values: dict[str, set[str]] = {}
    for case in cases:
        for name, value in case.axes.items():
            values.setdefault(name, set()).add(str(value))
    return [name for name, distinct in values.items() if len(distinct) > 1]


def also_differing(cases: Sequence[ComparedCase], axis: str) -> tuple[str, ...]:
    """The axes whose values are others for each value of `axis`: no two cases share one there."""
    values: dict[str, dict[str, set[str]]] = {}
    for case in cases:
        for name, value in case.axes.items():
            if name != axis:
                own = values.setdefault(name, {})
                own.setdefault(str(case.axes.get(axis)), set()).add(str(value))
    return tuple(
        name
        for name, by_value in values.items()
        if sum(map(len, by_value.values())) == len(set().union(*by_value.values()))
        and len(by_value) > 1
    )


def pair_axis(base: Side, new: Side, axis: str) -> Paired:
    """The pairs of two sides of `axis_sides`: everything equal but that axis."""
    before, after = split_perturbed(base)[0], split_perturbed(new)[0]
    others = {_place(case, axis): case for case in after}
    places = {_place(case, axis) for case in before}
    return Paired(
        tuple(
            _pair(base, case, new, others[key])
            for case in before
            if (key := _place(case, axis)) in others
        ),
        tuple(case for case in before if _place(case, axis) not in others),
        tuple(case for case in after if _place(case, axis) not in places),
    )


def _place(case: ComparedCase, axis: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in case.axes.items() if name != axis)


def _pair(base: Side, case: ComparedCase, new: Side, other: ComparedCase) -> CasePair:
    return CasePair(
        case,
        other,
        () if case.spec_hash == other.spec_hash else spec_differences(case.spec, other.spec),
        base.build_of(case) == new.build_of(other)
        and not (base.has_real_clock or new.has_real_clock),
        are_of_targets(base, new),
        base.times_code(case) != new.times_code(other),
    )


def are_of_targets(base: Side, new: Side) -> bool:
    """Whether two sides ran in different places."""
    return bool(base.manifest.get("target") != new.manifest.get("target"))


def spec_differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[SpecDifference, ...]:
    """The settings of two specs that differ, by dotted names."""
    # A spec names its kernel only if that is not the usual one.
    usual = {"kernel.variant": DEFAULT_VARIANT}
    before, after = (usual | _flat(_spelled_out(spec)) for spec in (base, new))
    return tuple(
        SpecDifference(key, before.get(key, ABSENT), after.get(key, ABSENT))
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    )


def _spelled_out(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spec with the keys of its workload that it leaves out, or has in other words."""
    kind = workloads().get(kind_of(spec))
    if _WORKLOAD not in spec or kind is None:
        return spec
    return {**spec, _WORKLOAD: spelled_out(spec[_WORKLOAD], kind)}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    return "none" if value is None or value == "" else str(value)
