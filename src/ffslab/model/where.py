"""Where a document of TOML is from, so that what is wrong in it is told with its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")
_DOTTED = rf"(?:{_KEY.pattern})(?:\s*\.\s*(?:{_KEY.pattern}))*"
_ENTRY = re.compile(rf"\s*(?P<keys>{_DOTTED})\s*=")
Location = tuple[str | int, ...]


class Where(str):
    """The name of a file, with its text."""

    text: str

    def __new__(cls, name: str, text: str) -> Where:
        """A string like any other, which knows the text."""
        made = super().__new__(cls, name)
        made.text = text
        return made


def line_of(where: str, location: Sequence[str | int]) -> str:
    """The line that begins what stands there, as "line 7: "; "" if it is not known."""
    if not isinstance(where, Where):
        return ""
    fitting = [each for each in _places(where.text) if location and _leads_to(each[1], location)]
    number, _ = max(fitting, key=lambda each: len(each[1]), default=(0, ()))
    return f"line {number}: " if number else ""


def _leads_to(keys: Location, location: Sequence[str | int]) -> bool:
    """Whether keys lead to that location, which may have words that are no keys in between."""
    rest = iter(location)
    return bool(keys) and keys[-1] == location[-1] and all(key in rest for key in keys)


def _places(text: str) -> Iterator[tuple[int, Location]]:
    """Each line with a table's head or a key, and the keys that lead there."""
    table: Location = ()
    counts: Counter[Location] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        head, entry = _HEADER.fullmatch(line), _ENTRY.match(line)
        if head:
            table = _keys(head[2])
            if head[1] == "[[":
                counts[table] += 1
                table = (*table, counts[table] - 1)
                yield number, table
            else:
                table = _within(table, counts)
                yield number, table
        elif entry:
            yield number, (*table, *_keys(entry["keys"]))


def _within(table: Location, counts: Counter[Location]) -> Location:
    """A table below the last one of an array, as `[part.set]` is below `[[part]]`."""
    for length in range(len(table) - 1, 0, -1):
        if above := counts.get(table[:length]):
            return (*table[:length], above - 1, *table[length:])
    return table


def _keys(dotted: str) -> Location:
    return tuple(next(filter(None, words), "") for words in _KEY.findall(dotted))
