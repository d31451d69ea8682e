"""The compiled templates, kept in ffslab's cache: compiling takes a tenth of a second each time.

What is kept is code, as the Python environment beside it is. It is used if it was compiled from the
same text by the same versions of jinja2 and Python; else it is replaced.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket


class CompiledTemplates(FileSystemBytecodeCache):
    """One file for each template, whichever checkout it is of; no error if nothing can be kept."""

    def __init__(self, directory: Path) -> None:
        super().__init__(str(directory))
        self._directory = directory

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """By the end of the path, which has the workload: a checkout that goes leaves nothing."""
        return super().get_cache_key("/".join(Path(filename or name).parts[-3:]))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Takes what was kept for the same text, if there is any."""
        with contextlib.suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps what was compiled, if the disk lets it."""
        with contextlib.suppress(OSError):
            self._directory.mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)
