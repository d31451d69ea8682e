"""What all tests share: ffslab is called `ffslab`, although the launcher may have started them,
can be interrupted, although a shell may have started the tests in the background, and finds no
catalog of the user who runs them."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

from ffslab.program import VARIABLE


def pytest_configure() -> None:
    """Before any fixture; the processes that tests start inherit both."""
    os.environ.pop(VARIABLE, None)
    os.environ["XDG_CONFIG_HOME"] = str(Path(__file__).resolve().parent / "no-configuration")
    # A shell without job control lets what it starts in the background ignore both.
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL}
    for number, handler in usual.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_finish() -> None:
    """All modules and tests stay; the garbage collector looked at them again and again. It also
    looked often: most garbage has no cycles.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
