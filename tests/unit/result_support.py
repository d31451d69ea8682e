"""Hand-made parts of results, complete as far as their types demand it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import is_typeddict

ROOT = Path(__file__).resolve().parents[2]


def listed_metrics(anchor: str) -> list[str]:
    """The metrics in a section of docs/metrics.md, in their order."""
    heading = anchor.replace("-", " ").capitalize()
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([a-z0-9_]+)`", section, re.MULTILINE)


@cache
def needed_keys(shape: type) -> tuple[str, ...]:
    """The keys that an object of the TypedDict `shape` has to have."""
    # Kept: pydantic takes three milliseconds, and a made-up run has hundreds of objects.
    schema = TypeAdapter(shape).json_schema()
    own = schema if "properties" in schema else schema["$defs"][shape.__name__]
    return tuple(own.get("required", ()))


def stub(shape: type, **values: Any) -> dict[str, Any]:
    """An object of the TypedDict `shape` with these values; what else it has to have is 0, empty
    or null, what it may lack is not there.
    """
    hints = _hints(shape)
    return {**{key: _nothing(hints[key]) for key in needed_keys(shape)}, **values}


@cache
def _hints(shape: type) -> dict[str, Any]:
    return get_type_hints(shape)


def _nothing(hint: Any) -> Any:
    origin = get_origin(hint) or hint
    if is_typeddict(hint):
        return stub(hint)
    if origin in (Union, UnionType):
        return None
    return get_args(hint)[0] if origin is Literal else origin()
