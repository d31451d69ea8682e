"""A lab kernel with mistakes: the kernel's source with tests/planted/mistakes.patch.

Each mistake is off unless the command line of a case's guests names it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ffslab.lab.cache import cache_root
from ffslab.lab.patches import Series, apply_series
from ffslab.lab.progress import ConsoleProgress
from ffslab.lab.source import ensure_source
from ffslab.model.specs import LabKernel

PLANTED = Path(__file__).parents[1] / "planted"


def patched_source() -> Path:
    """The kernel's source with all mistakes."""
    patch = PLANTED / "mistakes.patch"
    digest = sha256(patch.read_bytes()).hexdigest()[:16]
    tree = cache_root() / "planted" / digest
    if not tree.is_dir():
        tree.parent.mkdir(parents=True, exist_ok=True)
        scratch = tree.with_name(f"{digest}.{os.getpid()}")
        source = ensure_source(ConsoleProgress()).tree
        # Links: `patch` writes new files.
        shutil.copytree(source, scratch, symlinks=True, copy_function=os.link)
        apply_series(scratch, Series((patch,)))
        # Another process of the tests may have been quicker.
        with suppress(OSError):
            scratch.rename(tree)
        shutil.rmtree(scratch, ignore_errors=True)
    return tree


def kernel_with(words: Sequence[str], kernel: LabKernel | None = None) -> LabKernel:
    """The same kernel with words more on its command line."""
    kernel = kernel or LabKernel()
    own = (*kernel.arguments, *words)
    kind = type("Patched", (LabKernel,), {"__slots__": (), "arguments": property(lambda _: own)})
    made = kind(kernel.variant, kernel.switches)
    assert isinstance(made, LabKernel)
    return made
