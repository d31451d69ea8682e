"""Guests that run as processes of this host, so that whoever does not wait for them can end them.

Several threads each start a guest and wait for its end; another one says that no more is to start,
or that all are to end at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

P = TypeVar("P")


class RunningGuests:
    """Guests that run at the same time; safe to use from several threads.

    `tell` is called with what a user is to know while they run. `closed`: no further guest starts.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        self.tell = tell
        self.closed = threading.Event()
        self._stopped = threading.Event()  # and those that ran were killed
        self._lock = threading.Lock()  # protects _ends, and its agreement with the events
        self._ends: dict[object, Callable[[], None]] = {}

    @property
    def killed(self) -> bool:
        """Whether all guests were killed."""
        return self._stopped.is_set()

    def start_no_more(self) -> None:
        """No guest starts from here on; those that run go on."""
        with self._lock:
            self.closed.set()

    def kill_all(self) -> None:
        """Kills every guest; no new one starts afterwards."""
        with self._lock:
            self.closed.set()
            self._stopped.set()
            ends = list(self._ends.values())
        for end in ends:
            end()

    @contextmanager
    def started(self, start: Callable[[], P], kill: Callable[[P], None]) -> Iterator[P | None]:
        """What `start` gives, which is one of these guests meanwhile; None if none is to start."""
        with self._lock:
            guest = None if self.closed.is_set() else start()
            mark = object()
            if guest is not None:
                self._ends[mark] = lambda: kill(guest)
        try:
            yield guest
        finally:
            with self._lock:
                self._ends.pop(mark, None)


@dataclass(frozen=True, slots=True)
class GuestSlot:
    """Where a guest runs: one of `guests`, pinned to `host_cpu`; None: the host decides."""

    guests: RunningGuests = field(default_factory=RunningGuests)
    host_cpu: int | None = None
