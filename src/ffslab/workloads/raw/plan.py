"""The plan of `raw`: one guest erases every block of the partition, writes it and reads it.

The blocks are erased before, too: a new chip is blank, and the time of an erase is not to depend on
that.
"""

from __future__ import annotations

from ffslab.model.case import Case
from ffslab.protocol.plan import plan_of
from ffslab.workloads.rig import Rig

ERASE, WRITE, READ = "erase", "write", "read"


def guest_plans(case: Case, rig: Rig) -> tuple[str, ...]:
    """The plan of the only guest."""
    return (
        plan_of(
            [
                *rig.begin(case, trace=case.trace),
                *rig.erase(),
                *rig.erase(phase=ERASE),
                *rig.write_device(phase=WRITE, seed=case.seed),
                *rig.read_device(phase=READ),
                *rig.statistics(),
            ]
        ),
    )
