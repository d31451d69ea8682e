"""Kernel configuration fragments, and the check that each of their options took effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SET = re.compile(r"^(CONFIG_\w+)=(.*)$")
_UNSET = re.compile(r"^# (CONFIG_\w+) is not set$")


@dataclass(frozen=True, slots=True)
class UnmetOption:
    """An option of the fragment that the final configuration has otherwise."""

    name: str
    wanted: str
    found: str

    def __str__(self) -> str:
        return f"{self.name}: wanted {self.wanted}, got {self.found}"


def parse_config(text: str) -> dict[str, str]:
    """Options and values of a fragment or a `.config`; "is not set" reads as `n`, the last wins."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        if match := _SET.match(line.strip()):
            options[match[1]] = match[2]
        elif match := _UNSET.match(line.strip()):
            options[match[1]] = "n"
    return options


def unmet_options(fragment: Mapping[str, str], final: Mapping[str, str]) -> list[UnmetOption]:
    """The fragment's options that did not stick; an option that is absent counts as `n`."""
    return [
        UnmetOption(name, wanted, final.get(name, "n"))
        for name, wanted in fragment.items()
        if final.get(name, "n") != wanted
    ]
