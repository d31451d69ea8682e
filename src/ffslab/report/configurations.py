"""Which axes of a case are its configuration, that people choose among, and which its place.

A *configuration* is a file system with its options. A *place* is everything else that varies but
the seed: the state, the board, sizes, patterns. Configurations are compared at one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ffslab.model.kernels import KERNEL
from ffslab.report import data
from ffslab.report.axes import axis_of

_NO_OPTIONS = (data.FILESYSTEM, data.STATE, data.SEED, "board", "part", "partition_bytes")
CPU_SCALE = "cpu_scale"
_NAMED = (KERNEL,)  # axes whose values are names, also where they look like numbers
MOST_NUMBERS = 3  # an axis of more of them is drawn as one, not compared value by value


def option_axes(axes: Iterable[str]) -> tuple[str, ...]:
    """The axes that are options of a file system: those without a table in front, but for a few."""
    return tuple(name for name in axes if "." not in name and name not in (*_NO_OPTIONS, CPU_SCALE))


def chosen_among(cases: Iterable[data.Case]) -> tuple[str, ...]:
    """The options of which some file system was run with two values: what its name needs."""
    values: dict[tuple[str, str], set[str]] = {}
    members = tuple(cases)
    for case in members:
        for name in option_axes(case.axes):
            values.setdefault((name, case.filesystem), set()).add(case.axes[name])
    chosen = dict.fromkeys(name for (name, _), distinct in values.items() if len(distinct) > 1)
    # Two ways of writing are never compared without being named.
    ways = {case.writing for case in members if case.writing}
    return (*chosen, *([data.WRITING] if len(ways) > 1 and data.WRITING not in chosen else ()))


def place_of(axes: Mapping[str, str], varying: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The axes that are neither option, file system nor seed, of those that vary."""
    aside = {data.FILESYSTEM, data.SEED, *option_axes(varying)}
    return tuple((name, axes.get(name, "")) for name in varying if name not in aside)


def place_text(axis_values: Iterable[tuple[str, str]]) -> str:
    """A place in words: `state aged`, `request size 2 KiB`."""
    parts = [_value_text(name, value) for name, value in axis_values if value and name != data.SEED]
    return ", ".join(parts)


def _value_text(name: str, value: str) -> str:
    """An axis with its value, which has a unit where it is a number that has one."""
    if not is_number(name, value):
        return f"{data.axis_name(name)} {value}"
    return f"{axis_of(name, [float(value)]).word} {setting_text(name, value)}"


def setting_text(name: str, value: str) -> str:
    """The value of an axis, with its unit where it is a number that has one."""
    if not is_number(name, value):
        return value
    return axis_of(name, [float(value)]).value_text(float(value))


def is_number(axis: str, value: str) -> bool:
    """Whether a value of an axis is a plain number; a version of Linux, 5.10, is none."""
    return axis not in _NAMED and value.lstrip("-").replace(".", "", 1).isdecimal()


def are_numbers(axis: str, values: Iterable[str]) -> bool:
    """Whether all values of an axis are numbers."""
    return all(is_number(axis, value) for value in values)


def are_versions(axis: str, values: Iterable[str]) -> bool:
    """Whether all values of an axis are versions of Linux."""
    return axis == KERNEL and all(re.fullmatch(r"\d+(\.\d+)+", value) for value in values)


def axis_words(axis: str) -> str:
    """What an axis is called within a sentence."""
    return axis_of(axis, [1.0]).word


def setting_words(axis: str, values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What an axis is called, and what its values are, with units where it has some."""
    if not are_numbers(axis, values):
        return data.axis_name(axis), {value: value for value in values}
    numbers = axis_of(axis, sorted(map(float, values)))
    return numbers.word, {value: numbers.value_text(float(value)) for value in values}
