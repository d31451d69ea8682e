"""A finding of a short sequence once more, and with fewer calls: the sequence alone in a guest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ffslab.oracle.operations import Operation, parse_operation
from ffslab.oracle.promises import promise_of
from ffslab.targets.several import Replayed, StoppedError
from ffslab.workloads.cuts.causes import WITHOUT_CUT
from ffslab.workloads.cuts.explore.guest import run_tree
from ffslab.workloads.cuts.explore.replay import (
    Where,
    calls_around,
    finding_parts,
    kernel_lines,
    log_around,
    not_there,
    state_parts,
)
from ffslab.workloads.cuts.explore.sequences import judged_sequence, judgements_of, walked_of
from ffslab.workloads.cuts.outcomes import CORRECT, Judgement
from ffslab.workloads.cuts.plan import cutter_of, history_of
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.tree import Nodes, Visited, sequence_text
from ffslab.workloads.cuts.walk import StateName, cut_of
from ffslab.workloads.shortest import shortest

Outcomes = dict[StateName | None, Judgement]


def replayed(where: Where) -> Replayed:
    """Makes all cuts of the sequence, and tells of the finding's."""
    finding = where.finding
    lines = _calls(where)
    outcomes, walked, texts = _made(where, lines, "replay")
    name = _name(where)
    judgement = outcomes.get(name, Judgement(CORRECT))
    visited = walked.visited[-1] if walked.visited else Visited(0)
    state = next((state for state in visited.states if state.name == name), None)
    cut = cut_of(finding["state"])
    parts = (
        *finding_parts(where.case, finding),
        ("again", (f"{judgement.outcome}: {judgement.detail}",)),
        ("chip's log around the cut", tuple(log_around("\n".join(visited.log), cut))),
        ("calls around the cut", tuple(calls_around(lines, visited.calls, cut))),
        *state_parts(state, walked.texts),
        ("kernel", tuple(kernel_lines(state, walked.texts, texts))),
    )
    return Replayed(judgement.outcome == finding["outcome"], parts)


def minimized(where: Where, tell: Callable[[str], None]) -> str:
    """The shortest calls found behind which a cut of the same kind does the same harm."""
    finding, number = where.finding, 0

    def harms(lines: Sequence[str]) -> bool:
        nonlocal number
        number += 1
        outcomes, _, _ = _made(where, lines, f"calls-{number}") if lines else ({}, None, None)
        is_there = any(
            judgement.outcome == finding["outcome"]
            and (name.cut.kind if name else WITHOUT_CUT) == finding["kind"]
            for name, judgement in outcomes.items()
        )
        tell(f"{len(lines)} calls: {'still there' if is_there else 'gone'}")
        return is_there

    whole = _calls(where)
    if not harms(whole):
        raise not_there(finding)
    return "".join(f"{line}\n" for line in shortest(whole, harms))


def _calls(where: Where) -> list[str]:
    """Those of the sequence, behind the beginning."""
    return where.finding["calls"][len(history_of(where.case).operations) :]


def _name(where: Where) -> StateName | None:
    """The state of the finding; None: there is no cut."""
    name = cut_of(where.finding["state"])
    return None if name.cut.kind == WITHOUT_CUT else name


def _made(where: Where, lines: Sequence[str], name: str) -> tuple[Outcomes, Nodes, GuestTexts]:
    """All cuts of a sequence of calls."""
    case = where.case
    cutter = replace(cutter_of(case, where.guests.rig), check="full")
    texts = run_tree(where.guests, cutter, sequence_text(lines), "", where.room / name)
    if texts is None:
        raise StoppedError
    walked = walked_of(texts, case.id)
    before = history_of(case).operations
    operations = (*before, *_operations(lines))
    promise = promise_of(case.filesystem.stack)
    judged = judged_sequence(
        walked,
        texts,
        lambda visited, nodes: judgements_of(
            operations, len(before), texts.record, visited, nodes, promise
        ),
    )
    return dict(judged), walked, texts


def _operations(lines: Sequence[str]) -> list[Operation]:
    return [parse_operation(line, f"call {number}") for number, line in enumerate(lines, 1)]
