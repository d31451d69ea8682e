"""The shell of this computer, in the place of a connection to a board."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ffslab.targets.boards.place import Place
from ffslab.targets.boards.shell import Shell


class Here(Shell):
    """Commands as processes of this computer, each in a session of its own."""

    no_answer = "it is overloaded, or a command waits for a device that does not answer"

    @property
    def words(self) -> list[str]:
        """The shell, up to its command."""
        return ["/bin/sh", "-c"]

    @property
    def where(self) -> str:
        """There is no address to tell."""
        return "this computer"

    @property
    def by_hand(self) -> str:
        """The same shell."""
        return "/bin/sh"

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kills it with its children: it is the agent itself, and no client that would be left."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def connected(place: Place) -> Iterator[Here]:
    """This computer."""
    yield Here(place.name)
