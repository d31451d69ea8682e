"""What several verbs take and print: `--catalog`, `--set axis=value`, `--seeds`, `--json`."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from ffslab.errors import UsageError

Catalogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        metavar="DIR",
        envvar="FFSLAB_CATALOG",
        help="Add a catalog of your own: chips/, boards/, filesystems/, states/.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]


def print_json(value: Any) -> None:
    """One JSON document, with the exact numbers."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


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
        _refuse_list_without_brackets(text, key, parsed)
    values = tuple(parsed) if isinstance(parsed, list) else (parsed,)
    if not values or any(isinstance(item, list) for item in values):
        raise UsageError(f"--set {text!r}: a value or a flat list of values is needed")
    return key, values


def _refuse_list_without_brackets(text: str, key: str, value: str) -> None:
    """UsageError for `a,b`: no name, number or size has a comma, so a list is meant."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) < 2 or value[0] in "[{\"'":
        return
    from ffslab.results.reproduce import set_argument

    items = [item for part in parts if part for item in parse_set(f"{key}={part}")[1]]
    raise UsageError(
        f"--set {text!r}: {value!r} is not a single value",
        cause="a list without brackets",
        remedy=f"--set {shlex.quote(set_argument(key, items))}",
    )


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
