"""The browser that a process of tests shares, and the clone that a module has."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Browser, started

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a newcomer has: the committed files, nothing else."""
    directory = tmp_path_factory.mktemp("readme") / "ffslab"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(directory)], check=True)
    return directory
