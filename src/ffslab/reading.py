"""Values from TOML and JSON texts that may be a stranger's: bounded in size, depth and numbers.

Every reader of the project takes a text through here. Python's own recurse as deep as a text nests,
take infinity and NaN for numbers, and integers of any length; what works with a value later cannot
be expected to.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from msgspec import Raw
    from msgspec.json import Decoder

TOML_BYTES_MAX = 4 << 20
DOCUMENT_BYTES_MAX = 256 << 20  # JSON: the largest are manifests, with a line for each case
DEPTH_MAX = 64  # of tables and lists in each other
_USUAL_DEPTH = 8  # files of the project have 6
INTEGER_MAX = 2**63 - 1  # TOML's own, and that of the databases that keep results


class UnreadableError(ValueError):
    """A text that nests too deep, is too long, or has a number that is of no use."""


def toml_value(text: str) -> dict[str, Any]:
    """The TOML document; tomllib.TOMLDecodeError or UnreadableError."""
    if len(text) > TOML_BYTES_MAX:
        raise UnreadableError(f"it has more than {TOML_BYTES_MAX >> 20} MiB")
    try:
        document = tomllib.loads(text, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None
    except (tomllib.TOMLDecodeError, UnreadableError):
        raise
    except ValueError as error:  # an integer of thousands of digits, an hour 99
        raise UnreadableError(str(error)) from None
    _check(document, INTEGER_MAX)
    return document


def json_value(text: bytes | str) -> Any:
    """What json.loads() makes of a text, in a third of its time; ValueError.

    What the quick reader refuses json.loads() has a say about: it knows lone surrogates, and has
    the words for what is wrong. Integers have any size here: each shape has its own bounds.
    """
    from msgspec import MsgspecError

    try:
        return _quick_reader().decode(text)
    except (MsgspecError, ValueError):
        pass
    decoded = text.decode("utf-8") if isinstance(text, bytes) else text
    try:
        value = json.loads(decoded, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None
    _check(value, None)
    return value


def json_object(text: bytes, kinds: Mapping[str, Decoder[Any]]) -> dict[str, Any] | None:
    """An object, whose values of some keys are of these kinds; None if they are of others, or the
    text is none that the quick reader knows: `json_value` has the words for it.
    """
    from msgspec import MsgspecError

    try:
        parts = _parts_reader().decode(text)
        return {key: kinds.get(key, _quick_reader()).decode(part) for key, part in parts.items()}
    except (MsgspecError, ValueError):
        return None


def json_as(text: bytes, reader: Decoder[Any]) -> Any:
    """What the reader makes of a text; None as of `json_object`."""
    from msgspec import MsgspecError

    try:
        return reader.decode(text)
    except (MsgspecError, ValueError):
        return None


@cache
def _parts_reader() -> Decoder[dict[str, Raw]]:
    from msgspec import Raw
    from msgspec.json import Decoder

    return Decoder(dict[str, Raw])


@cache
def _quick_reader() -> Decoder[Any]:
    from msgspec.json import Decoder

    return Decoder(usual_kind())


def usual_kind() -> Any:
    """JSON of the usual depth: a type that nests without end would let any depth through."""
    scalar: Any = None | bool | int | float | str
    kind: Any = scalar
    for _ in range(_USUAL_DEPTH):
        kind = scalar | list[kind] | dict[str, kind]
    return kind


def read_bounded(path: Path, most_bytes: int = DOCUMENT_BYTES_MAX) -> bytes:
    """A file's bytes; OSError, or UnreadableError for more than `most_bytes`, of which no more are
    read.
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UnreadableError(f"it has more than {most_bytes >> 20} MiB")
    return data


def _check(value: Any, integer_max: int | None) -> None:
    """UnreadableError if it nests deeper than DEPTH_MAX, or has an integer beyond a bound."""
    level: list[Any] = [value]
    for _ in range(DEPTH_MAX + 1):
        inside: list[Any] = []
        for nested in level:
            if isinstance(nested, dict):
                inside += nested.values()
            elif isinstance(nested, list):
                inside += nested
            elif integer_max and isinstance(nested, int) and abs(nested) > integer_max:
                raise UnreadableError(f"a number of {len(str(abs(nested)))} digits is too large")
        if not inside:
            return
        level = inside
    raise _too_deep()


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < float("inf"):
        raise UnreadableError(f"{text[:40]} is not a finite number")
    return number


def _too_deep() -> UnreadableError:
    return UnreadableError(f"it nests deeper than {DEPTH_MAX} tables and lists")
