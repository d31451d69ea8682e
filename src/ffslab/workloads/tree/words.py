"""What the words of `workload.steps` are called: for a person, and alike across step lists.

`mount list list create unmount` done twice is two runs of five steps. A word that occurs more than
once in a run is told apart by what was done to the tree before it: "mount after create", "unmount
after delete"; the second of two that follow each other is "list again". What follows `crash` or
`restart` is in another guest, whose words are called by themselves, so that both can be set side by
side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ffslab.workloads.tree.steps import SPLITS

# What changes the tree: names what comes later.
_CHANGES = ("create", "copy", "delete", "warm")


@dataclass(frozen=True)
class Role:
    """What a step is in its list: `run` is 0 where the list is no repetition."""

    word: str
    title: str
    run: int = 0

    @property
    def place(self) -> str:
        """The role in full: what is compared between configurations."""
        return f"{self.title}, run {self.run}" if self.run else self.title

    @property
    def is_first(self) -> bool:
        """Whether it is no repetition of an earlier one, on the flash that the study is about."""
        return self.run < 2 and not self.title.startswith("first ") and "again" not in self.title


def roles_of(words: Sequence[str]) -> tuple[Role, ...]:
    """The role of each word of a list."""
    split = max((n + 1 for n, word in enumerate(words) if word in SPLITS), default=0)
    if split:
        before, after = words[:split], words[split:]
        titles = [*_titles(before, after), *_titles(after)]
        return tuple(Role(word, title) for word, title in zip(words, titles, strict=True))
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
