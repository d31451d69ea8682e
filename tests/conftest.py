"""What all tests share: ffslab is called `ffslab`, although the launcher may have started them, and
can be interrupted, although a shell may have started the tests in the background."""

from __future__ import annotations

import signal

import pytest

from ffslab.program import VARIABLE


def pytest_configure() -> None:
    """Processes that the tests start inherit this; an ignored SIGINT would stay ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def plain_program_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
