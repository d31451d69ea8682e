"""One text for one value: the JSON that is hashed and compared byte by byte."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, no NaN, non-ASCII characters kept; no newline at the end."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_hex(text: str) -> str:
    """SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()
