"""Plans of cases on a virtual chip."""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.targets.virtual_flash import plans


def preparation_plan_text(case: Case) -> str:
    """The plan of the guest that begins with an erased flash."""
    return plans(case)[0]


def is_prepared_apart(case: Case) -> bool:
    """Whether the case's own guest begins with what another one left."""
    return len(plans(case)) > 1
