"""The plans of database: one guest prepares the flash, a second one has the database on a copy."""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.workloads.plans import plans_on_state
from ffslab.workloads.rig import Rig


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plans of the guest that prepares, if there is one, and of that of the database."""
    return plans_on_state(case, rig)
