"""The functions of a comparison's page: what each takes more or less, as a graph and a table."""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.compare.engine import Comparison
from ffslab.compare.functions import profiles_of
from ffslab.report.comparison.headline import case_words
from ffslab.report.elements import Table
from ffslab.report.quantity import difference, duration
from ffslab.report.sections.flame import flame
from ffslab.results.profiles import changes

_MOST_CASES = 8
_MOST_FUNCTIONS = 25


@dataclass(frozen=True)
class ShownFunctions:
    """A case that was profiled on both sides: its differential flame graph, and the functions."""

    label: str
    drawing: str
    table: Table


def functions_of_cases(comparison: Comparison, key: str) -> tuple[ShownFunctions, ...]:
    """Those in which a function took another time, in the order of the comparison; at most eight.

    DamagedResultError if a profile cannot be read.
    """
    shown: list[ShownFunctions] = []
    for case in comparison.cases:
        if len(shown) == _MOST_CASES:
            break
        both = profiles_of(comparison, case)
        rows = changes(*both) if both else ()
        if not both or not rows:
            continue
        label = case_words(comparison, case)
        table = Table(
            "",
            ("function", "more", "base", "new"),
            (),
            tuple(
                (row.name, difference(row.more_ns), duration(row.old_ns), duration(row.new_ns))
                for row in rows[:_MOST_FUNCTIONS]
            ),
        )
        drawing = flame(both[1], label, f"{key}-flame-{len(shown)}", base=both[0])
        shown.append(ShownFunctions(label, drawing, table))
    return tuple(shown)
