"""What `ffscrash tree` is told, and what it prints: sequences of calls, and their states.

guest/cutter/tree/tree.h defines it. As with a walk, the text of a guest that died ends anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ffslab.oracle.faults import KINDS, Variants
from ffslab.oracle.record import Call
from ffslab.oracle.sequences import Node
from ffslab.workloads.cuts.walk import Cut, State, StateName, StateReader

_MARKS = {Variants.ONE: "", Variants.COUNTED: "+", Variants.SEEDS: "*"}


@dataclass(slots=True)
class Visited:
    """A node that was visited, up to where its guest came.

    `calls` are those of its whole sequence. `log`: the chip's, if it is the only node. `warned`:
    digest of what the kernel said without any cut. `unmountable`: the errno of a mount that failed
    without one, or 0. `same`: how many of the states are the flash of one before.
    """

    number: int
    calls: list[Call] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    warned: str = ""
    unmountable: int = 0
    same: int = 0


@dataclass(frozen=True, slots=True)
class Nodes:
    """All nodes that a guest visited; their numbers are places in its list.

    `begun`: the state that has no end. `differs`: the node at which a guest did not what it had
    done before, or None.
    """

    visited: tuple[Visited, ...]
    texts: dict[str, str]
    begun: StateName | None
    complete: bool
    stuck: str
    differs: int | None


def kinds_word(kinds: Iterable[str]) -> str:
    """The kinds of cut, as the guest is told of them.

    What is `done` is not among them: the next operation, `lost`, is the same flash.
    """
    return ",".join(f"{kind}{_MARKS[KINDS[kind].variants]}" for kind in kinds if kind != "done")


def nodes_text(nodes: Sequence[Node]) -> str:
    """Lines for neighbours in a tree, those above the first of them passed."""
    above = nodes[0].path[:-1]
    lines = [f"{node.depth} pass {node.line}" for node in above]
    lines += [f"{node.depth} {_mark(node)} {node.line}" for node in nodes]
    return "".join(f"{line}\n" for line in lines)


def _mark(node: Node) -> str:
    return "end" if node.steps[-1][0].is_long else "visit"


def sequence_text(lines: Sequence[str]) -> str:
    """One sequence of calls, with all cuts but those up to the end of a long one."""
    long = [at for at, line in enumerate(lines, 1) if line.startswith("turnover ")]
    first = long[-1] if long else 0
    if not first:
        return f"1 visit {';'.join(lines)}\n"
    if first == len(lines):
        return f"1 end {';'.join(lines)}\n"
    return f"1 pass {';'.join(lines[:first])}\n2 visit {';'.join(lines[first:])}\n"


def parse_nodes(text: str) -> Nodes:
    """The nodes of a text; DamagedResultError for another text."""
    reader = _NodeReader(text)
    reader.states.take_all(reader.take)
    states = reader.states
    return Nodes(
        tuple(reader.visited),
        states.texts,
        states.begun,
        states.complete,
        states.stuck,
        reader.differs,
    )


class _NodeReader:
    def __init__(self, text: str) -> None:
        self.states = StateReader(text)
        self.visited: list[Visited] = []
        self.differs: int | None = None

    def take(self, line: str) -> None:
        what, _, rest = line.partition(" ")
        if what == "ended":
            self.states.take(line)
            self.visited[-1].states.append(self.states.states[-1])
        elif what == "same":
            name, _, number = rest.rpartition(" ")
            operation, kind, variant = name.split(" ")
            cut = StateName(Cut(int(operation), kind, int(variant)))
            self.visited[-1].states.append(replace(self.states.states[int(number)], name=cut))
            self.visited[-1].same += 1
        elif what == "op":
            errno, first, last = map(int, rest.split(" "))
            self.visited[-1].calls.append(Call(errno, first, last))
        elif what == "node":
            self.visited.append(Visited(int(rest)))
        elif what == "logged":
            self.visited[-1].log.append(rest)
        elif what == "warned":
            self.visited[-1].warned = rest
        elif what == "unmountable":
            self.visited[-1].unmountable = int(rest.split(" ")[1])
        elif what == "differs":
            self.differs = int(rest)
        else:
            self.states.take(line)
