"""A shorter history with the same harm: what is left when no call can be taken out.

Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
Transactions on Software Engineering 28, 2002): parts of the history are taken out, large ones
first. Numbers of operations move with every call that goes, so of each shorter history all cuts of
the finding's kind are made, and it counts if one of them comes to the finding's outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ffslab.errors import UsageError
from ffslab.exploration.guest import GuestTexts, run_guest
from ffslab.exploration.oracle import oracle_for
from ffslab.exploration.replay import find_finding
from ffslab.exploration.run import Directory, explored_of, history_of, opened_alone
from ffslab.exploration.stored import cut_of
from ffslab.exploration.study import SERIES
from ffslab.exploration.unit import Unit
from ffslab.lab import ensure_lab
from ffslab.oracle.history import History
from ffslab.oracle.history import history_of as joined
from ffslab.oracle.operations import Operation
from ffslab.program import command
from ffslab.targets.uml.site import lab_parts

Harms = Callable[[Sequence[Operation]], bool]


def minimized(
    directory: Directory,
    wanted: str,
    scratch: Path | None,
    timeout_s: float,
    tell: Callable[[str], None] = lambda _: None,
) -> History:
    """The shortest history found; UsageError if the finding is not there any more."""
    spec, finding = find_finding(directory, wanted)
    if spec.choice.kind == SERIES:
        raise UsageError(
            f"finding {finding['id']} is of a series, which has no history to be made shorter",
            cause="what is on the flash is what all cuts before it left",
            remedy=command("crash", "replay", finding["id"], "--run", directory.path),
        )
    exploration = directory.exploration()
    kinds = {cut_of(finding["state"]).cut.kind}
    cuts = replace(exploration.cuts, kinds=tuple(kinds), sample=0, recovery_sample=0)
    if not finding["filled"]:
        cuts = replace(cuts, fill_sample=0)
    whole = history_of(spec)
    lab = ensure_lab(**lab_parts([spec.case]))
    with opened_alone(lab, spec.case, scratch) as (target, room):

        def harms(operations: Sequence[Operation]) -> bool:
            history = joined(operations, whole.lower)
            explored = explored_of(exploration, spec, history)

            def guest(name: str, states: str) -> GuestTexts | None:
                return run_guest(target, lab, explored, states, room / name, timeout_s)

            unit = Unit(explored, cuts, spec.case.seed, guest, oracle_for(spec.case, history))
            found = any(one.verdict.outcome == finding["outcome"] for one in unit.explore().judged)
            tell(f"{len(operations)} calls: {'still there' if found else 'gone'}")
            return found

        if not harms(whole.operations):
            raise UsageError(
                f"finding {finding['id']} is not there any more",
                cause="the lab was changed since it was found",
                remedy="explore again",
            )
        return joined(shortest(whole.operations, harms), whole.lower)


def shortest(operations: Sequence[Operation], harms: Harms) -> tuple[Operation, ...]:
    """Operations of which none can be left out without losing the harm, in order."""
    left = tuple(operations)
    parts = 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        without = [(*left[:at], *left[at + size :]) for at in range(0, len(left), size)]
        smaller = next((one for one in without if one and harms(one)), None)
        if smaller is not None:
            left, parts = smaller, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(left))
    return left
