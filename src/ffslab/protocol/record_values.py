"""Shapes and sizes of the values in records: pure."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Any

LARGEST = 2**63 - 1  # what a table's column and the agent's clock can hold
TASK_COUNTS = ("pages_read", "pages_programmed", "blocks_erased", "busy_ns", "oob_pages")
TASK_TIMES = ("code_ns", "driver_ns", "chip_ns")


def is_count(value: Any) -> bool:
    """An integer from 0 to LARGEST; true and 1.0 are none."""
    return type(value) is int and 0 <= value <= LARGEST


def is_inodes(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**64


def are_counts(values: Collection[Any]) -> bool:
    """Whether each of them is what `is_count` accepts; a record has one for every block."""
    if not values:
        return True
    return {*map(type, values)} == {int} and min(values) >= 0 and max(values) <= LARGEST


def are_numbers(value: Any) -> bool:
    return isinstance(value, list) and are_counts(value)


def are_pairs(value: Any) -> bool:
    pairs = isinstance(value, list) and all(type(pair) is list for pair in value)
    return pairs and all(len(pair) == 2 for pair in value) and are_counts([*chain(*value)])


def are_counters(value: Any) -> bool:
    return isinstance(value, dict) and are_counts(value.values())


def may_be_counters(value: Any) -> bool:
    """Null says that there was no monitor."""
    return value is None or are_counters(value)


def memory_bytes(line: bytes) -> int:
    """About what the value of a line takes at most: 200 times the line, if it is all `{}`."""
    numbers, lists, objects = line.count(b","), line.count(b"["), line.count(b"{")
    return len(line) + 64 * numbers + 64 * lists + 232 * objects


def are_tasks(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_task, value))


def are_task_times(value: Any) -> bool:
    return isinstance(value, list) and all(is_task(task, TASK_TIMES) for task in value)


def is_task(value: Any, counts: Collection[str] = TASK_COUNTS) -> bool:
    named = isinstance(value, dict) and isinstance(value.get("name"), str)
    return named and all(is_count(value.get(count)) for count in counts)
