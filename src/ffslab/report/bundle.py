"""Vega-Lite for the browser, as vl-convert brings it: one script without a network.

Making it takes two seconds, so ffslab's cache keeps it, with its SHA-256 before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from importlib.metadata import version
from pathlib import Path

from ffslab.paths import cache_dir

_SNIPPET = "window.vegaEmbed=vegaEmbed;"
_SUM_CHARACTERS = 2 * hashlib.sha256().digest_size


def browser_bundle() -> str:
    """The script that gives a page `vegaEmbed`; each version of vl-convert has one."""
    import vl_convert

    kept = cache_dir() / "template" / f"vega-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, ValueError):
        text = kept.read_text(encoding="utf-8")
        if _sum_of(text[_SUM_CHARACTERS:]) == text[:_SUM_CHARACTERS]:
            return text[_SUM_CHARACTERS:]
    made = str(vl_convert.javascript_bundle(_SNIPPET))
    with contextlib.suppress(OSError):
        _keep(kept, _sum_of(made) + made)
    return made


def _sum_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pending = path.with_suffix(f".{os.getpid()}")
    pending.write_text(text, encoding="utf-8")
    pending.replace(path)
