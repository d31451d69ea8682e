"""Which functions of the kernel take longer on one side, where both sides were profiled."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ffslab.compare.cases import Side
from ffslab.compare.engine import CaseRow, Comparison
from ffslab.protocol.profile import WindowProfile, read_profile
from ffslab.results.profiles import FunctionChange, changes, chosen, profiles_at

Windows = tuple[WindowProfile, ...]


def function_changes(comparison: Comparison, case: CaseRow) -> tuple[FunctionChange, ...]:
    """The functions whose own time changed, the largest difference first, over all phases and
    steps. Empty where none was profiled on both sides, and where nothing changed.

    DamagedResultError if a profile cannot be read.
    """
    return changes(*both) if (both := profiles_of(comparison, case)) else ()


def profiles_of(comparison: Comparison, case: CaseRow) -> tuple[Windows, Windows] | None:
    """The two profiles of a case, over all phases and steps; of one with several seeds, of the
    first that was profiled on both sides.
    """
    for base_id, new_id in case.ids:
        base = _windows(comparison.base, base_id)
        new = _windows(comparison.new, new_id)
        if base and new:
            return base, new
    return None


def _windows(side: Side, case_id: str) -> Windows:
    paths = profiles_at(Path(side.where), [case_id])
    return _read(paths[case_id]) if paths else ()


# What is printed, written as JSON and drawn asks for the same ones.
@lru_cache(maxsize=64)
def _read(path: Path) -> Windows:
    return chosen(read_profile(path), None)
