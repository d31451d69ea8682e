"""What is said of an object beside its contents: its mode, its mtime, its extended attributes.

As text: `MODE MTIME XATTRS`, the words that `ffscrash observe` prints (guest/cutter/observe). A
part of which nothing is known is `*`. A time is known from the call that set it up to the next
change of contents.

Mode and mtime are one part, of the inode, and extended attributes another. A part that comes to
flash in its own time is as it was at any time since it was synced.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest

from ffslab.oracle.contents import pattern, sector_sum
from ffslab.oracle.observation import DIRECTORY, FILE, OTHER
from ffslab.oracle.operations import Operation

ANY, NONE = "*", "-"
INODE, EXTENDED = PARTS = ("inode", "extended")
_ANY_OF = {INODE: f"{ANY} {ANY}", EXTENDED: ANY}


@dataclass(frozen=True, slots=True)
class Attributes:
    """Of one object; `extended` by name, None if they are not known."""

    mode: str
    mtime: str = NONE
    extended: Mapping[str, str] | None = field(default_factory=dict)

    def part(self, name: str) -> str:
        """One of PARTS as text."""
        if name == INODE:
            return f"{self.mode} {self.mtime}"
        if self.extended is None:
            return ANY
        return ",".join(f"{key}={text}" for key, text in sorted(self.extended.items())) or NONE

    def text(self, loose: Collection[str] = ()) -> str:
        """All of them; of parts that are loose nothing is said."""
        return " ".join(_ANY_OF[name] if name in loose else self.part(name) for name in PARTS)

    def after(self, operation: Operation) -> Attributes:
        """What a call leaves that changes them."""
        match operation.verb:
            case "chmod":
                return replace(self, mode=operation.mode.lstrip("0") or "0")
            case "setmtime":
                return replace(self, mtime=str(operation.size_bytes))
            case "setxattr" if self.extended is not None:
                data = pattern(operation.seed, 0, operation.size_bytes)
                text = f"{len(data)}:{sector_sum(data)}"
                return replace(self, extended={**self.extended, operation.attribute: text})
            case "removexattr" if self.extended is not None:
                left = {n: text for n, text in self.extended.items() if n != operation.attribute}
                return replace(self, extended=left)
        return self

    def doubted(self, operation: Operation) -> Attributes:
        """What a call leaves that failed half way."""
        if part_of(operation) == EXTENDED:
            return replace(self, extended=None)
        return replace(self, mode=ANY, mtime=ANY)

    def written_to(self) -> Attributes:
        """After a change of contents: a time that was set is a time of now, sooner or later."""
        return self if self.mtime == NONE else replace(self, mtime=ANY)


UNKNOWN = Attributes(ANY, ANY, None)
USUAL = {DIRECTORY: Attributes("755"), FILE: Attributes("644"), OTHER: Attributes("644")}
_USUAL_TEXT = {kind: usual.text() for kind, usual in USUAL.items()}


def part_of(operation: Operation) -> str:
    """What a call changes that changes attributes."""
    return EXTENDED if operation.attribute else INODE


def told(kind: str, attributes: str) -> str:
    """Those of an entry: the usual ones of its kind are not told."""
    return attributes or _USUAL_TEXT.get(kind, "")


def parts(text: str) -> dict[str, str]:
    """A text in its parts."""
    inode, _, extended = text.rpartition(" ")
    return {INODE: inode, EXTENDED: extended}


@lru_cache(maxsize=1024)  # of each name in each tree that is judged, and few texts are different
def is_like(wanted: str, observed: str) -> bool:
    """Whether each part is as it is to be."""
    words = zip_longest(wanted.split(" "), observed.split(" "), fillvalue="")
    return all(word in (ANY, other) for word, other in words)


@dataclass(slots=True)
class AttributeLog:
    """What a part was that comes to flash in its own time: (call, text) each, in order.

    `floors`: once so many calls returned, what was before this one is not to be seen.
    """

    versions: list[tuple[int, str]]
    floors: list[tuple[int, int]] = field(default_factory=list)

    def sync(self, finished: int) -> None:
        """What there is now is durable when so many calls have returned."""
        self.floors.append((finished, len(self.versions) - 1))

    def latest(self, begun: int) -> str:
        """What the calls that had begun have left."""
        return next(text for call, text in reversed(self.versions) if call < begun)

    def allows(self, text: str, finished: int, begun: int) -> bool:
        """Whether this may be seen after a cut between these calls."""
        low = max((at for calls, at in self.floors if calls <= finished), default=0)
        recent = (version for call, version in self.versions[low:] if call < begun)
        return any(is_like(version, text) for version in recent)
