"""The browser that a process of tests shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_support import Browser, started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with started() as browser:
        yield browser
