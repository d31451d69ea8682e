"""All cuts of all short sequences: a tree of them, a slice for each guest.

A state that ends its guest is a fault, and the next guest goes on behind it. A sequence that ends
its guest without any cut is one, too; those that begin with it are not reached, and counted. The
first state of each cause is repeated alone, in a fresh guest.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from ffslab.errors import InfrastructureError
from ffslab.oracle.history import History
from ffslab.oracle.judge import Judge
from ffslab.oracle.operations import Operation
from ffslab.oracle.promises import Promise
from ffslab.oracle.record import Call, Record, parse_record
from ffslab.oracle.sequences import Node, Tree
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.causes import Cause, Fault, Tally, causes_of
from ffslab.workloads.cuts.oracle import oracle_of
from ffslab.workloads.cuts.outcomes import (
    CORRECT,
    GUEST_DIED,
    MOUNT_FAILS,
    WARNING,
    Judgement,
    Judgements,
)
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.tree import Nodes, Visited, nodes_text, parse_nodes, sequence_text
from ffslab.workloads.cuts.walk import StateName

# Runs a guest with these nodes under a name, behind a state of the first ("" for all of it).
RunTree = Callable[[str, str, str], GuestTexts | None]
_IN_ONE_GUEST = 400
_CONFIRMED = 30  # causes


@dataclass(slots=True)
class SequenceExplorer:
    """Goes through a tree of sequences, or the nodes first ≤ number < end of it.

    `record` is that of the beginning. `tell` is called with how many nodes are done, of how many.
    """

    name: str
    tree: Tree
    promise: Promise
    record: str
    run_tree: RunTree
    tell: Callable[[int, int], None] = lambda _done, _all: None
    jobs: int = 1
    first: int = 0
    end: int | None = None

    def explore(self) -> tuple[Tally, list[Cause]]:
        """Everything; StoppedError if ffslab is to stop."""
        whole = Tally()
        count = (self.tree.count() if self.end is None else self.end) - self.first
        with ThreadPoolExecutor(self.jobs) as pool:
            for tally in pool.map(self._slice, range(count), self._slices()):
                whole.add(tally)
                self.tell(whole.nodes + whole.unreached, count)
        causes = causes_of(whole.faults)
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self._confirm, range(_CONFIRMED), causes))
        return whole, causes

    def _slices(self) -> Iterator[list[Node]]:
        nodes: list[Node] = []
        for node in self.tree.nodes():
            if node.number < self.first or (self.end is not None and node.number >= self.end):
                continue
            nodes.append(node)
            if len(nodes) == _IN_ONE_GUEST:
                yield nodes
                nodes = []
        if nodes:
            yield nodes

    def _slice(self, number: int, nodes: Sequence[Node]) -> Tally:
        """All states of neighbours: in one guest, and behind one that ended it in the next."""
        tally = Tally()
        after = ""
        while nodes:
            texts = self._run(f"tree-{number}-{tally.guests}", nodes, after)
            walked = walked_of(texts, self.name)
            tally.guests += 1
            passed = nodes[0].depth - 1
            for visited in walked.visited:
                self._judge(nodes[visited.number - passed], visited, walked, tally)
            if walked.complete:
                break
            if not walked.visited:
                raise InfrastructureError(
                    f"a guest of {self.name} ended before its first sequence:\n"
                    + "\n".join(f"    {line}" for line in texts.last),
                    cause="ffscrash failed, or the guest's memory is too small for the log",
                )
            last = nodes[walked.visited[-1].number - passed]
            said, console = texts.death("the guest ended without a word")
            self._take(last, Fault(last, walked.begun, Judgement(GUEST_DIED, said), console), tally)
            nodes = nodes[nodes.index(last) :]
            after = str(walked.begun).replace(" ", ",") if walked.begun else ""
            if not walked.begun:
                nodes = self._behind(last, nodes, tally)
        return tally

    def _behind(self, last: Node, nodes: Sequence[Node], tally: Tally) -> Sequence[Node]:
        """Without those that begin with a sequence that cannot be carried out."""
        left = [node for node in nodes if node.path[: last.depth] != last.path]
        tally.nodes += 1
        tally.unreached += len(nodes) - len(left) - 1
        return left

    def _run(self, name: str, nodes: Sequence[Node], after: str) -> GuestTexts:
        texts = self.run_tree(name, nodes_text(nodes), after)
        if texts is None:
            raise StoppedError
        if texts.record != self.record:
            raise InfrastructureError(
                f"two guests of {self.name} began otherwise",
                cause="a source of difference in the lab, which is a bug of ours",
                remedy="report it, with the run directory",
            )
        return texts

    def _judge(self, node: Node, visited: Visited, walked: Nodes, tally: Tally) -> None:
        judgements = self._judgements(node, visited, walked)
        is_whole = walked.complete or visited is not walked.visited[-1]
        tally.nodes += is_whole
        tally.operations += len({state.name.cut.operation for state in visited.states}) - is_whole
        tally.same += visited.same
        own = visited.calls[len(visited.calls) - len(node.calls) :] if is_whole else ()
        failed = next((call.errno for call in own if call.errno), 0)
        tally.failed += Counter({(node.steps[-1][0].name, failed): bool(failed)})
        tally.untouched += sum(not state.touched for state in visited.states)
        for name, judgement in judged_visit(visited, judgements):
            self._take(node, Fault(node, name, judgement), tally)

    def _take(self, node: Node, fault: Fault, tally: Tally) -> None:
        tally.take(node, fault.kind, fault.judgement.outcome)
        if fault.judgement.outcome != CORRECT:
            tally.faults.append(fault)

    def _confirm(self, number: int, cause: Cause) -> None:
        """Looks whether the first fault of a cause is there in a guest that does nothing else."""
        fault = cause.first
        calls = [call.line for node in fault.node.path for call in node.calls]
        texts = self.run_tree(f"alone-{number}", sequence_text(calls), "")
        if texts is None:
            raise StoppedError
        walked = parse_nodes(texts.walk)
        cause.log = tuple(line for visited in walked.visited for line in visited.log)
        cause.confirmed = any(
            (name, judgement.outcome) == (fault.name, fault.judgement.outcome)
            for name, judgement in judged_sequence(
                walked, texts, partial(self._judgements, fault.node)
            )
        )

    def _judgements(self, node: Node, visited: Visited, walked: Nodes) -> Judgements:
        operations, start = self.tree.operations(node), len(self.tree.start.operations)
        return judgements_of(operations, start, self.record, visited, walked, self.promise)


def walked_of(texts: GuestTexts, name: str) -> Nodes:
    """What a guest visited; InfrastructureError if it could not go on, and did not die."""
    walked = parse_nodes(texts.walk)
    if walked.differs is not None or walked.stuck:
        raise InfrastructureError(
            f"a guest of {name} could not go on: "
            + (walked.stuck or "a sequence did to the flash what it had not done before"),
            cause="a source of difference in the lab, which is a bug of ours",
            remedy="report it, with the run directory",
        )
    return walked


def judgements_of(
    operations: Sequence[Operation],
    start: int,
    record: str,
    visited: Visited,
    walked: Nodes,
    promise: Promise,
) -> Judgements:
    """What is to be said of the states of a sequence, whose operations are all that were done; the
    first `start` of them before all sequences.

    `record`: of the beginning, which is on flash before the sequence's own log begins.
    """
    began = [Call(call.errno, 0, 0) for call in parse_record(record).calls]
    # In the others power was cut, once.
    began += [Call(errno.EIO, 0, 0)] * (start - len(began))
    calls = (*began, *visited.calls)
    history = History(tuple(operations)[: len(calls)])
    return Judgements(walked.texts, oracle_of(Judge(history, Record(calls, True), promise)))


def judged_visit(
    visited: Visited, judgements: Judgements
) -> Iterator[tuple[StateName | None, Judgement]]:
    """Its states; without a name: what is wrong with the sequence before any cut is made."""
    for state in visited.states:
        yield state.name, judgements.of(state)
    if visited.unmountable:
        yield None, Judgement(MOUNT_FAILS, f"without any cut: errno {visited.unmountable}")
    warning = judgements.warning(visited.warned)
    if warning:
        yield None, Judgement(WARNING, f"without any cut: {warning}")


def judged_sequence(
    walked: Nodes, texts: GuestTexts, judgements: Callable[[Visited, Nodes], Judgements]
) -> Iterator[tuple[StateName | None, Judgement]]:
    """All that a guest of one sequence came to; without a name: the sequence, without any cut."""
    for visited in walked.visited:
        yield from judged_visit(visited, judgements(visited, walked))
    if not walked.complete:
        said, _ = texts.death("the guest ended without a word")
        yield walked.begun, Judgement(GUEST_DIED, said)
