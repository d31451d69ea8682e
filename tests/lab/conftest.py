"""The lab is built once for all lab tests; a lab that cannot be built fails them.

FFSLAB_TEST_VARIANT=debug boots the tests' own guests in the kernel with KASAN, lockdep and
kmemleak; what the command line runs stays in the default one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from guest_programs import build

from ffslab.lab import ensure_lab
from ffslab.lab.lab_build import LabBuild


@pytest.fixture(scope="session")
def lab() -> LabBuild:
    return ensure_lab(os.environ.get("FFSLAB_TEST_VARIANT", "default"))


@pytest.fixture(scope="session")
def chipcuts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that carries out a chip's operations and cuts one by one."""
    return build("chipcuts", tmp_path_factory.mktemp("chipcuts"))


@pytest.fixture(scope="session")
def fstree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that makes trees of files, and lists them."""
    return build("fstree", tmp_path_factory.mktemp("fstree"))
