"""What others' programs found right on each file system, they still find right.

`./ffslab test --peers` runs this, and a nightly run of all tests; it takes half an hour.
"""

from __future__ import annotations

import pytest
from peer_matrix import FLASH, Flash, read_golden, run, worse
from peer_programs import PEER_PACKAGES
from peer_suites import SUITES, Suite

from ffslab.lab.cache import cache_root
from ffslab.lab.packages import ensure_packages
from ffslab.lab.progress import ConsoleProgress


@pytest.fixture(scope="session", autouse=True)
def _packages() -> None:
    ensure_packages(PEER_PACKAGES, cache_root() / "test-packages.log", ConsoleProgress())


@pytest.mark.parametrize("flash", FLASH, ids=[flash.name for flash in FLASH])
@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_what_passed_passes(suite: Suite, flash: Flash) -> None:
    now = run(suite, flash)
    assert now and not list(worse(read_golden()["cases"], now))
