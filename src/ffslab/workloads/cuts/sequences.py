"""What is kept of all short sequences: states by kind and outcome, and a finding for each cause."""

from __future__ import annotations

from collections.abc import Sequence

from ffslab.model.case import Case
from ffslab.oracle.sequences import Tree
from ffslab.workloads.cuts.causes import Cause, Tally
from ffslab.workloads.cuts.plan import acts_of
from ffslab.workloads.cuts.stored import CutsResult, StoredFinding, failures, finding_id, with_entry


def stored_sequences(case: Case, tree: Tree, tally: Tally, causes: Sequence[Cause]) -> CutsResult:
    """The result of a case."""
    _, refused = acts_of(case)
    states = sum(counts.total() for counts in tally.counts.values())
    return {
        "calls": len(tree.start.operations),
        "operations": tally.operations,
        "states_possible": states,
        "states": states,
        "untouched": tally.untouched,
        "counts": {
            kind: dict(sorted(counts.items())) for kind, counts in sorted(tally.counts.items())
        },
        "failed_calls": failures(tally.failed),
        "random": {},
        "findings": [with_entry(case, _finding(case, tree, cause)) for cause in causes],
        "recovery": {"curve": [], "worst": None, "uncut": None},
        "sequences": {
            "all": tree.count(),
            "visited": tally.nodes,
            "unreached": tally.unreached,
            "same": tally.same,
            "refused": list(refused),
            "pairs": [
                {"act": act, "before": before, "outcomes": dict(sorted(counts.items()))}
                for (act, before), counts in sorted(tally.pairs.items())
            ],
        },
    }


def _finding(case: Case, tree: Tree, cause: Cause) -> StoredFinding:
    fault = cause.first
    return StoredFinding(
        id=finding_id(case, f"{fault.node.words}: {fault.state}"),
        state=fault.state,
        outcome=fault.judgement.outcome,
        kind=fault.kind,
        detail=fault.judgement.detail,
        states=cause.states,
        confirmed=cause.confirmed,
        filled=False,
        console=list(fault.console),
        acts=fault.node.words,
        calls=[call.line for call in tree.operations(fault.node)],
        log=list(cause.log),
        sequences=len(cause.nodes),
    )
