"""The words of workload `tree`: each is a measured step of a case.

The n-th time a word is used, its phase is called `WORD-n`, the first time `WORD`. What stands
before `crash` or `restart` runs in a guest of its own, whose flash the next guest gets; there may
be any number of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffslab.model.specs import InitialState
from ffslab.workloads.tree.keys import Tree

MOUNT, UNMOUNT = "mount", "unmount"
SPLITS = ("crash", "restart")
WRITING = ("warm", "create", "copy", "delete", "log")
WORDS = (
    *(MOUNT, UNMOUNT, "settle", "sync", "drop", *WRITING, "list", "find", "read", "check"),
    *SPLITS,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One word of a case: its place, how often it has occurred so far, and the tree it is about."""

    index: int
    word: str
    number: int
    subject: str = ""  # create, delete, copy, check, log: a directory below the mount point
    source: str = ""  # copy: what is copied; empty: all that the image holds

    @property
    def phase(self) -> str:
        """The name of its phase."""
        return self.word if self.number == 1 else f"{self.word}-{self.number}"

    def phase_of(self, part: str) -> str:
        """The name of a part's phase: of UBI's attach before a mount, of its detach."""
        return part if self.number == 1 else f"{part}-{self.number}"


def steps_of(workload: Tree) -> tuple[Step, ...]:
    """The words with their phases and directories; what they mean together is not checked."""
    counts: dict[str, int] = {}
    trees: list[str] = []
    steps = []
    for index, word in enumerate(workload.steps.split()):
        number = counts[word] = counts.get(word, 0) + 1
        subject, source = "", ""
        if word == "create":
            subject = f"tree-{number}"
            trees.append(subject)
        elif word == "log":
            subject = f"log-{number}"
        elif word == "copy":
            subject, source = f"copy-{number}", trees[-1] if trees else ""
        elif word == "check" and trees:
            subject = trees[-1]
        elif word == "delete" and trees:
            subject = trees.pop()
        steps.append(Step(index, word, number, subject, source))
    return tuple(steps)


def guests_of(workload: Tree, state: InitialState) -> tuple[tuple[Step, ...], ...]:
    """The steps of each guest in order, each but the last with the word that ends it.

    The last guest is the case's own. An image is written by the first, which is another one.
    """
    guests: list[list[Step]] = [[]]
    for step in steps_of(workload):
        guests[-1].append(step)
        if step.word in SPLITS:
            guests.append([])
    if state.kind == "image" and len(guests) == 1:
        guests.insert(0, [])
    return tuple(tuple(steps) for steps in guests)
