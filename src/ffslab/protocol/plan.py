"""The text of a plan: a line per step, a verb and its keys (docs/plan-format.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_LABEL = re.compile(r" label=\S*")
VERIFY = "verify"  # of steps that look whether all is there: one that fails tells of lost data
_HEX_ESCAPED = {code: f"%{code:02X}" for code in (*range(33), *b"%=\x7f")}


def plan_of(lines: Iterable[str]) -> str:
    """The text of a plan. No name of case or study is in it: it is a function of the spec."""
    return "\n".join(["ffsplan 1", *lines]) + "\n"


def step(verb: str, **keys: object) -> str:
    """One line of a plan."""
    return " ".join([verb, *(f"{key}={encode(str(value))}" for key, value in keys.items())])


def labelled(label: str, lines: Iterable[str]) -> list[str]:
    """Steps with that label, in place of what they have."""
    return [f"{_LABEL.sub('', line)} label={encode(label)}" for line in lines]


def encode(value: str) -> str:
    """Percent-encodes space, `%`, `=` and control characters of a plan's value."""
    return value.translate(_HEX_ESCAPED)


def decode(value: str) -> str:
    """The inverse of `encode`; ValueError for a broken escape."""
    parts = value.split("%")
    return parts[0] + "".join(chr(int(part[:2], 16)) + part[2:] for part in parts[1:])


def parse_step(line: str) -> tuple[str, Mapping[str, str]]:
    """Verb and decoded keys of one line of a plan."""
    verb, *fields = line.split(" ")
    pairs = (field.partition("=") for field in fields if field)
    return verb, {key: decode(value) for key, _, value in pairs}
