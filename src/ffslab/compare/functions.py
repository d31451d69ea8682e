"""Which functions of the kernel take longer on one side, where both sides were profiled."""

from __future__ import annotations

from pathlib import Path

from ffslab.compare.cases import Side
from ffslab.compare.engine import CaseRow, Comparison
from ffslab.protocol.profile import WindowProfile, read_profile
from ffslab.results.profiles import FunctionChange, changes, chosen, profiles_at


def function_changes(comparison: Comparison, case: CaseRow) -> tuple[FunctionChange, ...]:
    """The functions whose own time changed, the largest difference first, over all phases and
    steps; of a case with several seeds for the first that was profiled on both sides. Empty where
    none was, and where nothing changed.

    DamagedResultError if a profile cannot be read.
    """
    for base_id, new_id in case.ids:
        base = _windows(comparison.base, base_id)
        new = _windows(comparison.new, new_id)
        if base and new:
            return changes(base, new)
    return ()


def _windows(side: Side, case_id: str) -> tuple[WindowProfile, ...]:
    paths = profiles_at(Path(side.where), [case_id])
    return chosen(read_profile(paths[case_id]), None) if paths else ()
