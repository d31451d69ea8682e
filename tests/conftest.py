"""What all tests share: ffslab is called `ffslab`, although the launcher may have started them."""

from __future__ import annotations

import pytest

from ffslab.program import VARIABLE


@pytest.fixture(autouse=True)
def plain_program_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
