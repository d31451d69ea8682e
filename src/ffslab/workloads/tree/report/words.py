"""What the words of `workload.steps` are called: for a person, and alike across step lists.

`mount list list create unmount` done twice is two runs of five steps. A word that occurs more than
once in a run is told apart by what was done to the tree before it: "mount after create", "unmount
after delete"; the second of two that follow each other is "list again". What follows `crash` or
`restart` carries the scenario, "after a crash" or "after a clean unmount", so that both can be set
side by side. Which scenarios there are follows from the step lists that a run has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOUNT, UNMOUNT, SYNC = "mount", "unmount", "sync"
SPLITS: Mapping[str, str] = {"crash": "after a crash", "restart": "after a clean unmount"}
# What changes the tree: names what comes later.
_CHANGES = ("create", "copy", "delete", "warm")
# Steps that are not results by themselves: they bring about what is measured. Tables have them.
ASIDE = ("settle", "drop", "warm", "log", *SPLITS)
# Kinds of work, of which the time of a whole run is made.
KINDS: Mapping[str, tuple[str, ...]] = {
    "mount": (MOUNT,),
    "list, find, read, check": ("list", "find", "read", "check"),
    "create, copy, delete and what prepares": (*_CHANGES, "settle", SYNC, "log", "drop"),
    "unmount": (UNMOUNT,),
}


@dataclass(frozen=True)
class Role:
    """What a step is in its list: `run` is 0 where the list is no repetition, `scenario` empty
    where the list has none or the step is before it.
    """

    word: str
    title: str
    run: int = 0
    scenario: str = ""

    @property
    def place(self) -> str:
        """The role in full: what is compared between configurations."""
        run = f", run {self.run}" if self.run else ""
        return f"{self.title}{run}" + (f" {self.scenario}" if self.scenario else "")

    @property
    def is_result(self) -> bool:
        return self.word not in ASIDE


def roles_of(words: Sequence[str]) -> tuple[Role, ...]:
    """The role of each word of a list."""
    split = next((n + 1 for n, word in enumerate(words) if word in SPLITS), 0)
    if split:
        before, after = words[:split], words[split:]
        scenario = SPLITS[words[split - 1]]
        firsts = zip(before, _titles(before, after), strict=True)
        rest = zip(after, _titles(after), strict=True)
        return (
            *(Role(word, title) for word, title in firsts),
            *(Role(word, title, scenario=scenario) for word, title in rest),
        )
    length = _period(words)
    runs = len(words) // length if length else 1
    once = _titles(words[:length])
    return tuple(
        Role(word, once[n % length], n // length + 1 if runs > 1 else 0)
        for n, word in enumerate(words)
    )


def _period(words: Sequence[str]) -> int:
    """Length of the shortest list of two words or more that is repeated; all of it if none is."""
    for length in range(2, len(words) // 2 + 1):
        if len(words) % length == 0 and list(words) == list(words[:length]) * (
            len(words) // length
        ):
            return length
    return len(words)


def _titles(words: Sequence[str], later: Sequence[str] = ()) -> list[str]:
    """Titles that differ, as short as that allows, from each other and from those of `later`."""
    before: list[str] = []
    last = ""
    for word in words:
        before.append(last)
        last = word if word in _CHANGES else last
    keys = list(zip(words, before, strict=True))
    titles = []
    for number, (word, context) in enumerate(keys):
        contexts = list(dict.fromkeys(context for other, context in keys if other == word))
        title = word
        if len(contexts) > 1 or word in later:
            title = f"{word} after {context}" if context else f"first {word}"
        earlier = sum(key == (word, context) for key in keys[:number])
        again = "again" if earlier == 1 else str(earlier + 1)
        titles.append(f"{title} {again}" if earlier else title)
    return titles


def scenario_of(words: Sequence[str]) -> str:
    """What a list of steps is called beside others: by how its first guest ended."""
    return next((SPLITS[word] for word in words if word in SPLITS), "")


def list_names(lists: Sequence[Sequence[str]]) -> dict[tuple[str, ...], str]:
    """A name for each of several step lists: its scenario, and its words where that is not enough.

    One list alone needs none.
    """
    distinct = list(dict.fromkeys(tuple(words) for words in lists))
    if len(distinct) < 2:
        return dict.fromkeys(distinct, "")
    scenarios = [scenario_of(words) for words in distinct]
    return {
        words: name if name and scenarios.count(name) == 1 else " ".join(words)
        for words, name in zip(distinct, scenarios, strict=True)
    }


def kind_of(word: str) -> str:
    """Which of KINDS a step is; what ends a guest is none."""
    return next((kind for kind, members in KINDS.items() if word in members), "")
