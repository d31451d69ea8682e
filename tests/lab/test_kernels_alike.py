"""A kernel built on top of another is the one that a build of its own makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ffslab.lab import ensure_lab
from ffslab.lab.build import KernelEntry, build_kernel
from ffslab.lab.cache import cache_root, locked
from ffslab.lab.lab import kernel_inputs, known_source
from ffslab.lab.progress import SilentProgress

VARIANTS = ("default", "period", "unaligned-fastmap")


@pytest.mark.skipif(
    not os.environ.get("FFSLAB_NIGHTLY"), reason="FFSLAB_NIGHTLY=1 builds kernels anew"
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_kernel_does_not_depend_on_what_was_built_before(tmp_path: Path, variant: str) -> None:
    # Whatever the order, each of the three but one is built on top of another.
    lab = ensure_lab(variant, SilentProgress())
    source = known_source(None)
    assert source is not None
    alone = KernelEntry(tmp_path / "alone")
    with locked(cache_root() / "lab.lock", SilentProgress()) as lock:
        build_kernel(alone, source, kernel_inputs(variant), lock, SilentProgress())
    assert alone.binary.read_bytes() == lab.kernel.read_bytes()
    assert alone.modules["nandsim"].read_bytes() == lab.modules["nandsim"].read_bytes()
