"""The compiled templates, kept in ffslab's cache: compiling takes a tenth of a second each time.

What is kept is code, as the Python environment beside it is. It is used if it was compiled from the
same text by the same versions of jinja2 and Python, and has the SHA-256 that stands before it; else
it is replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

_SUM_BYTES = hashlib.sha256().digest_size


class CompiledTemplates(BytecodeCache):
    """One file for each template, whichever checkout it is of; no error if nothing can be kept."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """By the end of the path, which has the workload: a checkout that goes leaves nothing."""
        return super().get_cache_key("/".join(Path(filename or name).parts[-3:]))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Takes what was kept for the same text, if there is any, and it is what was kept."""
        with contextlib.suppress(OSError):
            kept = self._place(bucket).read_bytes()
            if hashlib.sha256(kept[_SUM_BYTES:]).digest() == kept[:_SUM_BYTES]:
                bucket.bytecode_from_string(kept[_SUM_BYTES:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps what was compiled, if the disk lets it."""
        with contextlib.suppress(OSError):
            self._directory.mkdir(parents=True, exist_ok=True)
            code, cached = bucket.bytecode_to_string(), self._place(bucket)
            pending = cached.with_suffix(f".{os.getpid()}")
            pending.write_bytes(hashlib.sha256(code).digest() + code)
            pending.replace(cached)

    def _place(self, bucket: Bucket) -> Path:
        return self._directory / f"{bucket.key}.code"
