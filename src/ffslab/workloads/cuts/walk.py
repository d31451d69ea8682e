"""What `ffscrash walk` printed: states of the flash, and what became of each.

guest/cutter/walk/walk.h defines it.

The text of a guest that died ends anywhere. All states that it says the end of are whole; the one
that it had begun is known, and is what killed it, if anything did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ffslab.errors import DamagedResultError


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Power fails at operation `operation` of a log, which is left as `kind` says.

    `variant` settles what the kind leaves open.
    """

    operation: int
    kind: str
    variant: int

    def __str__(self) -> str:
        return f"{self.operation} {self.kind} {self.variant}"


@dataclass(frozen=True, slots=True, order=True)
class StateName:
    """A cut of the workload, or a second one (`then`) in the recovery from it."""

    cut: Cut
    then: Cut | None = None

    def __str__(self) -> str:
        """As ffscrash prints it."""
        return f"{self.cut} / {self.then}" if self.then else str(self.cut)


@dataclass(frozen=True, slots=True)
class Step:
    """Attaching or mounting: errno, time, what it asked of the chip; whether it is read-only."""

    errno: int
    duration_ns: int
    pages_read: int
    pages_programmed: int
    blocks_erased: int
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation: its text by digest, and what statfs() said."""

    digest: str
    blocks: int
    free: int
    free_inodes: int


@dataclass(frozen=True, slots=True)
class State:
    """What became of a state; parts that it did not get to are None."""

    name: StateName
    attach: Step | None = None
    mount: Step | None = None
    seen: Seen | None = None
    used: str = ""  # "ok", "full 0", or step and errno of what failed
    after: Seen | None = None
    attach_again: Step | None = None
    remount: Step | None = None
    again: Seen | None = None
    messages: str = ""  # digest of the kernel's, empty for none
    refused: str = ""  # why the chip made no such state
    touched: bool = True
    recorded: int = 0


@dataclass(frozen=True, slots=True)
class Walk:
    """The states that a guest came through, all texts, and how far it came.

    `begun` is the state that has no end; `stuck` is what could not be left. `recoveries` are the
    operations of the recoveries whose cuts were gone through as well.
    """

    states: tuple[State, ...]
    texts: Mapping[str, str]
    begun: StateName | None
    complete: bool
    stuck: str = ""
    recoveries: Mapping[Cut, int] = field(default_factory=dict)


def parse_walk(text: str) -> Walk:
    """The states of a text that may have been cut anywhere; DamagedResultError for another text."""
    reader = StateReader(text)
    reader.take_all(reader.take)
    return Walk(
        states=tuple(reader.states),
        texts=reader.texts,
        begun=reader.begun,
        complete=reader.complete,
        stuck=reader.stuck,
        recoveries=reader.recoveries,
    )


class StateReader:
    """Puts states together line by line, of a text that may have been cut anywhere."""

    def __init__(self, text: str) -> None:
        whole, newline, _rest = text.rpartition("\n")
        self._lines = iter(whole.split("\n") if newline else ())
        self.states: list[State] = []
        self.texts: dict[str, str] = {}
        self.recoveries: dict[Cut, int] = {}
        self.begun: StateName | None = None
        self._begun_text = ""
        self._parts: dict[str, object] = {}
        self.stuck = ""
        self.complete = False

    def take_all(self, take: Callable[[str], None]) -> None:
        """Gives each line that no text has to `take`; DamagedResultError for what it refuses."""
        for number, line in enumerate(self._lines, start=1):
            try:
                take(line)
            except (ValueError, IndexError, KeyError) as error:
                raise DamagedResultError(
                    f"line {number} of what ffscrash printed is not understood: {line[:100]!r}",
                    cause="another version of ffscrash printed it, or the file was changed: "
                    f"{error}",
                ) from error

    def take(self, line: str) -> None:
        """A line, and those of a text behind it."""
        what, _, rest = line.partition(" ")
        words = rest.split(" ")
        if what == "text":
            self._take_text(words[0])
        elif what == "begin":
            self.begun = cut_of(rest)
            self._begun_text = rest
            self._parts = {}
        elif what == "ended":
            self._end(rest)
        elif what == "recovery":
            self.recoveries[_cut(words[:3])] = int(words[3])
        elif what == "stuck":
            self.stuck = rest
        elif what == "walked":
            self.complete = True
        else:
            self._take_part(what, words, rest)

    def _take_text(self, digest: str) -> None:
        lines: list[str] = []
        for line in self._lines:
            if line == "end":
                lines.append("")
                self.texts[digest] = "\n".join(lines)
                return
            lines.append(line)

    def _take_part(self, what: str, words: list[str], rest: str) -> None:
        parts = self._parts
        if what in ("mount", "remount"):
            parts[what] = _step(words)
        elif what == "attach":
            parts["attach_again" if "attach" in parts else "attach"] = _step(words)
        elif what in ("seen", "after", "again"):
            blocks, free, free_inodes = map(int, words[1:])
            parts[what] = Seen(words[0], blocks, free, free_inodes)
        elif what == "use":
            parts["used"] = rest
        elif what == "message":
            parts["messages"] = words[0]
        elif what == "cut":
            parts["refused"] = rest
        elif what == "touched":
            parts["touched"] = words[0].rstrip(",") == "1"
            parts["recorded"] = int(words[2])
        elif what != "state":
            raise ValueError(f"{what!r} is no word of it")

    def _end(self, rest: str) -> None:
        name = self.begun
        if name is None or rest != self._begun_text:
            raise ValueError(f"{rest} ends, {name} was begun")
        self.states.append(State(name=name, **self._parts))  # type: ignore[arg-type]
        self.begun = None


def cut_of(text: str) -> StateName:
    """The state that a text of `StateName` names; ValueError for another text."""
    first, slash, second = text.partition(" / ")
    return StateName(_cut(first.split(" ")), _cut(second.split(" ")) if slash else None)


def _cut(words: list[str]) -> Cut:
    operation, kind, variant = words
    return Cut(int(operation), kind, int(variant))


def _step(words: list[str]) -> Step:
    errno, duration_ns, read, programmed, erased = map(int, words[:5])
    return Step(errno, duration_ns, read, programmed, erased, words[5:] == ["ro=1"])
