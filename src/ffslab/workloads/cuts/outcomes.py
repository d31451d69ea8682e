"""What became of a state, in one word: correct, or what is wrong with it first and worst.

The words, the worst first (`OUTCOMES`). A file system is right if it mounts, shows nothing but what
the history allows at that cut (`ffslab.oracle`), can be written, filled and emptied, and shows the
same tree afterwards, and after power was off once more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ffslab.oracle.faults import Excuse, kind_of
from ffslab.results.console import scan_console
from ffslab.workloads.cuts.walk import Seen, State, StateName, Step

GUEST_DIED = "guest-died"
MOUNT_FAILS, REMOUNT_FAILS = "mount-fails", "remount-fails"
USE_FAILS, READ_ONLY = "use-fails", "read-only"
CHANGED_BY_USE, CHANGED_BY_POWER = "changed-by-use", "changed-by-power"
WARNING, CORRECT = "kernel-warning", "correct"
LEAK = "leak"
# The classes of `ffslab.oracle.problems`, the gravest first.
_OF_THE_TREE: Mapping[str, str] = {
    "foreign-bytes": "a file has bytes of another one",
    "corrupt-contents": "a file has bytes that nobody wrote",
    "synced-data-lost": "contents that were synced are not there",
    "stale-data": "older contents than what was synced",
    "name-lost": "a name that was synced is not there",
    "name-kept": "a name that was removed, and synced, is back",
    "not-atomic": "half of a rename",
    "unreadable": "what the fault did not touch cannot be read",
    "wrong-kind": "a name is another kind of file",
    "wrong-size": "a size that the file never had",
    "disconnected": "files without their directory",
    "unknown-name": "a name that nobody made",
    "bad-links": "a wrong number of links",
    "bad-attributes": "a mode, an mtime or extended attributes that it cannot have",
    "wrong-order": "a later change is there, and an earlier one is not",
}
OUTCOMES: Mapping[str, str] = {
    GUEST_DIED: "the kernel crashed, hung or did not come back",
    MOUNT_FAILS: "it cannot be mounted",
    **_OF_THE_TREE,
    REMOUNT_FAILS: "it was mounted once, and cannot be mounted again",
    CHANGED_BY_USE: "writing and deleting other files changed what was there",
    CHANGED_BY_POWER: "after power was off once more something else is there",
    USE_FAILS: "it cannot be written, filled or emptied",
    READ_ONLY: "it was mounted read-only, or became so",
    LEAK: "after many cuts less fits into it, or good blocks are marked bad",
    WARNING: "the kernel warned of a mistake of its own",
    CORRECT: "all is as it may be",
}
# What a file system does that comes to it, within a sentence.
DOES: Mapping[str, str] = {
    GUEST_DIED: "stops the kernel",
    MOUNT_FAILS: "does not mount",
    "foreign-bytes": "shows another file's bytes",
    "corrupt-contents": "shows bytes that nobody wrote",
    "synced-data-lost": "loses synced data",
    "stale-data": "goes back behind synced data",
    "name-lost": "loses a synced name",
    "name-kept": "brings a removed name back",
    "not-atomic": "leaves half a rename",
    "unreadable": "cannot read what is intact",
    "wrong-kind": "changes the kind of a file",
    "wrong-size": "shows a size no file had",
    "disconnected": "loses a directory above its files",
    "unknown-name": "shows a name nobody made",
    "bad-links": "miscounts links",
    "bad-attributes": "shows attributes no file had",
    "wrong-order": "keeps a later change without an earlier one",
    REMOUNT_FAILS: "does not mount again",
    CHANGED_BY_USE: "changes files nobody touched",
    CHANGED_BY_POWER: "changes when power is off again",
    USE_FAILS: "cannot be written",
    READ_ONLY: "becomes read-only",
    LEAK: "loses space for good",
    WARNING: "makes the kernel warn",
}
_READ_ONLY_ERRNOS = (30,)  # EROFS


def wrong_words(counts: Mapping[str, int]) -> list[str]:
    """What was not correct, the worst first: "3 mount-fails"."""
    return [f"{counts[w]:,} {w}" for w in OUTCOMES if counts.get(w) and w != CORRECT]


# The problems of a tree that was observed in a state, at its second mount (`True`) or before:
# outcome and sentence of each.
Oracle = Callable[[StateName, str, bool], Sequence[tuple[str, str]]]


def excuse_of(name: StateName, again: bool) -> Excuse:
    """What the faults of a state excuse at its first mount, or `again`; of two cuts both."""
    cuts = [name.cut] if name.then is None else [name.cut, name.then]
    kinds = [kind_of(cut.kind) for cut in cuts]
    # In a recovery that was cut off power has been away once more.
    excuses = [kind.second if again or name.then else kind.first for kind in kinds]
    return Excuse(
        unreadable_unsynced=any(excuse.unreadable_unsynced for excuse in excuses),
        unreadable_synced=any(excuse.unreadable_synced for excuse in excuses),
        lost=any(excuse.lost for excuse in excuses),
        reordered=any(excuse.reordered for excuse in excuses),
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of a state, and a sentence on it; empty if it is correct."""

    outcome: str
    detail: str = ""


@dataclass(slots=True)
class Judgements:
    """Judgements of the states of one case; `texts` may grow.

    Thousands of states share what the kernel said of them: each such text is searched once.
    """

    texts: Mapping[str, str]
    oracle: Oracle
    _warnings: dict[str, str] = field(default_factory=dict)

    def of(self, state: State) -> Judgement:
        """The worst that can be said of a state that its guest came through."""
        judgements = self._all(state)
        order = list(OUTCOMES)
        return min(
            judgements,
            key=lambda judgement: order.index(judgement.outcome),
            default=Judgement(CORRECT),
        )

    def _all(self, state: State) -> list[Judgement]:
        judgements = []
        for what, step, outcome in (
            ("attaching UBI", state.attach, MOUNT_FAILS),
            ("mounting", state.mount, MOUNT_FAILS),
            ("attaching UBI again", state.attach_again, REMOUNT_FAILS),
            ("mounting again", state.remount, REMOUNT_FAILS),
        ):
            judgements += _of_step(what, step, outcome)
        for again, seen in enumerate((state.seen, state.again)):
            if seen is not None:
                problems = self.oracle(state.name, self.texts[seen.digest], bool(again))
                judgements += [
                    Judgement(word, sentence)
                    for word, sentence in problems
                    # What could not be deleted is told below.
                    if state.used in _USED or not sentence.startswith(_OURS)
                ]
        judgements += _changed(CHANGED_BY_USE, state.seen, state.after, self.texts)
        changed = _changed(CHANGED_BY_POWER, state.after or state.seen, state.again, self.texts)
        # A page that reads badly from now on may take something with it; the oracle knows what.
        if changed and not excuse_of(state.name, True).lost:
            judgements += changed
        if state.used not in _USED:
            failed_step, _, errno = state.used.partition(" ")
            outcome = READ_ONLY if int(errno) in _READ_ONLY_ERRNOS else USE_FAILS
            judgements.append(Judgement(outcome, f"{failed_step}: {_error(int(errno))}"))
        warning = self.warning(state.messages)
        if warning:
            judgements.append(Judgement(WARNING, warning))
        return judgements

    def warning(self, messages: str) -> str:
        """The first of the kernel's own mistakes in a text, by its digest; none: empty."""
        known = self._warnings.get(messages)
        if known is None:
            said = scan_console(self.texts.get(messages, ""))
            known = next((message.text for message in said if message.kind in _OWN_MISTAKES), "")
            self._warnings[messages] = known
        return known


def judgement_of(state: State, texts: Mapping[str, str], oracle: Oracle) -> Judgement:
    """The judgement of a single state."""
    return Judgements(texts, oracle).of(state)


# Not at all, or it was good, or it was full from the beginning.
_USED = ("", "ok", "full 0")
_OURS = ".ffscrash-"  # files of ffscrash (guest/cutter/walk/use.c)
_OWN_MISTAKES = (
    "kernel bug",
    "oops",
    "lock dependency",
    "kernel warning",
    "failed assertion",
    "rule violation",
)


def _of_step(what: str, step: Step | None, outcome: str) -> list[Judgement]:
    if step is None:
        return []
    if step.errno:
        return [Judgement(outcome, f"{what} fails: {_error(step.errno)}")]
    return [Judgement(READ_ONLY, f"{what}: read-only")] if step.read_only else []


def _changed(
    outcome: str, before: Seen | None, after: Seen | None, texts: Mapping[str, str]
) -> list[Judgement]:
    if before is None or after is None or before.digest == after.digest:
        return []
    return [Judgement(outcome, difference(texts[before.digest], texts[after.digest]))]


def difference(before: str, after: str) -> str:
    """The first lines by which two observations differ, in a sentence."""
    gone, new = lines_apart(before.splitlines(), after.splitlines())
    told = [f"gone: {gone[0]}"] if gone else []
    told += [f"new: {new[0]}"] if new else []
    return "; ".join(told) or "the order of lines"


def lines_apart(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that are gone, and those that are new, in their order."""
    known, there = set(before), set(after)
    gone = [line for line in before if line not in there]
    return gone, [line for line in after if line not in known]


def _error(errno: int) -> str:
    return os.strerror(errno) if errno else "it never became full"
