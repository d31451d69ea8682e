"""Whether two cases did the same work, and figures of one unit of it where they did not. Pure.

Each key of a specification changes the work (how much is done, and with what), a setting (how it is
done), or the machine. Figures of different work are no better and no worse than one another; what
grows with the work is compared for each unit of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.compare.cases import ComparedCase
from ffslab.compare.pairs import CasePair, SpecDifference
from ffslab.model.workload import Changes
from ffslab.results.schema import Figure
from ffslab.workloads.modules import metrics_module
from ffslab.workloads.registry import kind_of, workloads

MB = 1_000_000
_WORKLOAD = "workload"
# What the first word of a key's dotted name changes; of all others a setting.
_CHANGES: dict[str, Changes] = {
    "partition_bytes": "work",
    "seed": "work",
    "board": "machine",
}
_BUILT = "filesystem.module_source"  # of an out-of-tree module
# What a phase counts of its work: the name of the figure, a unit of it, and how much that is.
_COUNTED = (
    ("bytes_written", "MB written", MB),
    ("bytes_read", "MB read", MB),
    ("files_created", "file", 1),
    ("files_deleted", "file", 1),
    ("files_read", "file", 1),
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of work at a phase, and how many each side did."""

    noun: str
    base: float
    new: float


def changes(key: str, kind: str) -> Changes:
    """What a key of the spec of a case of that kind of workload changes."""
    first, _, name = key.partition(".")
    if first == _WORKLOAD:
        facts = workloads()[kind].keys.get(name) if kind in workloads() else None
        return facts.changes if facts else "work"
    return _CHANGES.get(first, "machine" if first.startswith(("cpu_", "driver_")) else "setting")


def is_built(key: str) -> bool:
    """Whether a key of the spec says what was built, and nothing of what was done with it."""
    return key.startswith(_BUILT)


def other_work(pairs: Sequence[CasePair]) -> tuple[SpecDifference, ...]:
    """The differences of the pairs' specs that change the work."""
    return tuple(
        dict.fromkeys(
            difference
            for pair in pairs
            for difference in pair.differences
            if changes(difference.key, kind_of(pair.base.spec)) == "work"
        )
    )


def unit_of(figure: Figure, pair: CasePair) -> Unit | None:
    """A unit of the work at the figure's phase; None where a side did or counted none."""
    units = getattr(metrics_module(kind_of(pair.base.spec)), "UNITS", {})
    if figure.phase in units:
        noun, key = units[figure.phase]
        base, new = (float(case.spec[_WORKLOAD].get(key, 0)) for case in (pair.base, pair.new))
        return Unit(noun, base, new) if base and new else None
    for name, noun, size in _COUNTED:
        base, new = (_amount(case, figure.phase, name) for case in (pair.base, pair.new))
        if base and new:
            return Unit(noun, base / size, new / size)
    return None


def _amount(case: ComparedCase, phase: str, name: str) -> float:
    figure = case.figures.get(f"{phase}.{name}")
    return figure.value if figure else 0.0
