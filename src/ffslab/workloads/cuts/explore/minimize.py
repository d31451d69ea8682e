"""A shorter history with the same harm: what is left when no call can be taken out.

Numbers of operations move with every call that goes, so of each shorter history all cuts of the
finding's kind are made, and it counts if one of them comes to the finding's outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ffslab.errors import UsageError
from ffslab.oracle.history import History
from ffslab.oracle.history import history_of as joined
from ffslab.oracle.operations import Operation
from ffslab.program import command
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.explore.explorer import Explorer
from ffslab.workloads.cuts.explore.guest import run_guest
from ffslab.workloads.cuts.explore.replay import Where, not_there
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.plan import cuts_of, cutter_of, history_of
from ffslab.workloads.cuts.stored import configuration_of
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import cut_of
from ffslab.workloads.shortest import shortest


def minimized(where: Where, tell: Callable[[str], None] = lambda _: None) -> History:
    """The shortest history found; UsageError if the finding is not there any more."""
    case, finding = where.case, where.finding
    if cuts_of(case).is_series:
        raise UsageError(
            f"finding {finding['id']} is of a series, which has no history to be made shorter",
            cause="what is on the flash is what all cuts before it left",
            remedy=command("crash", "replay", finding["id"]),
        )
    kind = cut_of(finding["state"]).cut.kind
    cuts = replace(cuts_of(case), kinds=kind, sample=0, recovery_sample=0)
    if not finding["filled"]:
        cuts = replace(cuts, fill_sample=0)
    whole = history_of(case)

    def harms(operations: Sequence[Operation]) -> bool:
        history = joined(operations, whole.lower)
        cutter = cutter_of(case, where.guests.rig, history)

        def guest(name: str, states: str) -> GuestTexts | None:
            ended = run_guest(where.guests, cutter, states, where.room / name)
            return ended[0] if ended else None

        oracle = oracle_for(case, history)
        explorer = Explorer(configuration_of(case), cuts, case.seed, guest, oracle)
        first = guest("log", "")
        if first is None:
            raise StoppedError
        explored = explorer.explore(first)
        is_there = any(
            judged_state.judgement.outcome == finding["outcome"] for judged_state in explored.judged
        )
        tell(f"{len(operations)} calls: {'still there' if is_there else 'gone'}")
        return is_there

    if not harms(whole.operations):
        raise not_there(finding)
    return joined(shortest(whole.operations, harms), whole.lower)
