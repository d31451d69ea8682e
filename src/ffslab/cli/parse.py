"""Command-line values: `--set axis=value` and `--seeds`."""

from __future__ import annotations

import tomllib
from typing import Any

from ffslab.errors import UsageError


def parse_set(text: str) -> tuple[str, tuple[Any, ...]]:
    """`axis=value` or `axis=[v1, v2]`; a value that is no TOML is taken as a string."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key or not value.strip():
        raise UsageError(
            f"--set {text!r} is not AXIS=VALUE",
            remedy="for example --set filesystem=ubifs, or --set 'cpu_scale=[0, 1]'",
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    values = tuple(parsed) if isinstance(parsed, list) else (parsed,)
    if not values or any(isinstance(item, list) for item in values):
        raise UsageError(f"--set {text!r}: a value or a flat list of values is needed")
    return key, values


def parse_seeds(text: str) -> tuple[int, ...]:
    """`3` stands for seeds 1, 2, 3; `4,7` for exactly those."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or any(number < 1 for number in numbers):
        raise UsageError(
            f"--seeds {text!r} is neither a count nor a list of seeds",
            remedy="--seeds 3 for seeds 1 to 3, --seeds 4,7 for those two",
        )
    return tuple(range(1, numbers[0] + 1)) if len(numbers) == 1 else numbers
