"""One text for one value: the JSON that is hashed and compared byte by byte."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, no NaN, non-ASCII characters kept; no newline at the end.

    Written with `utf8`: a path that is no UTF-8 is in it with lone surrogates.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_hex(text: str) -> str:
    """SHA-256 of the text as `utf8` writes it."""
    return hashlib.sha256(utf8(text)).hexdigest()


def utf8(text: str) -> bytes:
    """The text in UTF-8. A lone surrogate, a byte of a name that is no UTF-8, becomes `\\udcff`:
    within JSON that is its escape, and who reads it has the name again.
    """
    return text.encode("utf-8", "backslashreplace")
