"""How a set-up tells the user where it is: phases with their time, counted steps.

On a terminal a phase is one line that is rewritten in place; elsewhere a line when it
begins, one at each fifth of a counted phase, and one when it ends. Only the standard
library is used, because the launcher reports with it before `rich` is installed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

from ffslab.visible_text import own_stream, visible


class Progress(Protocol):
    """What a set-up step may say while it works."""

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Encloses a phase; phases do not nest."""

    def count(self, done: int, expected: int) -> None:
        """`done` of about `expected` steps of the current phase are finished."""

    def note(self, text: str) -> None:
        """A fact the user should know, on a line of its own."""


class SilentProgress:
    """Says nothing; for tests and for callers with their own display."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:  # noqa: ARG002
        yield

    def count(self, done: int, expected: int) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class ConsoleProgress:
    """Writes to a stream (standard error by default) and remembers every phase's duration."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = own_stream(stream or sys.stderr)
        self._clock = clock
        self._is_terminal = self._stream.isatty()
        self._name = ""
        self._started_s = 0.0
        self._counted = ""
        self._fifths_shown = 0
        self.durations_s: list[tuple[str, float]] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._name, self._counted, self._fifths_shown = name, "", 0
        self._started_s = self._clock()
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(ended,), daemon=True)
        if self._is_terminal:
            ticker.start()
        else:
            self._line(f"{name} ...")
        outcome = "interrupted or failed"
        try:
            yield
            outcome = "done"
        finally:
            ended.set()
            if self._is_terminal:
                ticker.join()
            duration_s = self._clock() - self._started_s
            self.durations_s.append((name, duration_s))
            self._line(f"{name}: {outcome} ({duration_s:.1f} s)")

    def count(self, done: int, expected: int) -> None:
        # The expectation is an estimate: a count beyond it must not read as over 100 %.
        self._counted = f" {done}/~{max(done, expected)}"
        fifths = min(4, done * 5 // max(expected, 1))
        if not self._is_terminal and fifths > self._fifths_shown:
            self._fifths_shown = fifths
            elapsed_s = self._clock() - self._started_s
            self._line(f"{self._name}:{self._counted} ({elapsed_s:.0f} s)")

    def note(self, text: str) -> None:
        self._line(text)

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(0.25):
            elapsed_s = self._clock() - self._started_s
            self._stream.write(
                f"\r\x1b[Kffslab: {visible(self._name)}{self._counted} {elapsed_s:.0f} s"
            )
            self._stream.flush()

    def _line(self, text: str) -> None:
        start = "\r\x1b[K" if self._is_terminal else ""
        self._stream.write(f"{start}ffslab: {visible(text)}\n")
        self._stream.flush()
