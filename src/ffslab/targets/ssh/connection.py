"""A board's shell, by the system's OpenSSH client: one connection that all commands share.

The board needs an ssh server; neither sftp nor scp, which small servers lack. A connection that is
silent for some seconds counts as lost.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.process import run_command
from ffslab.targets.boards.shell import Shell
from ffslab.targets.ssh.place import SshPlace

_CONNECT_S = 10
_ALIVE_S = 5  # a question to the board
_SILENCES = 3  # so many without an answer are the end of the connection


class Connection(Shell):
    """Commands by ssh."""

    lost_status = 255  # ssh's own, whatever goes wrong with the connection
    no_answer = "it is off or hangs, the network is interrupted, or the key is not accepted"

    def __init__(self, place: SshPlace, control: Path) -> None:
        super().__init__(place.name)
        self._place = place
        self._control = control

    @property
    def words(self) -> list[str]:
        """The client with all its options, up to the command."""
        place = self._place
        options = [
            "BatchMode=yes",
            f"ConnectTimeout={_CONNECT_S}",
            f"ServerAliveInterval={_ALIVE_S}",
            f"ServerAliveCountMax={_SILENCES}",
            "ControlMaster=auto",
            f"ControlPath={self._control}",
            "ControlPersist=60",
            "LogLevel=ERROR",
            *place.ssh_options,
        ]
        words = ["ssh", *(word for option in options for word in ("-o", option))]
        if place.identity:
            words += ["-i", str(place.identity)]
        return [*words, "-p", str(place.port), f"{place.user}@{place.host}"]

    @property
    def where(self) -> str:
        """User, host and port."""
        return f"{self._place.user}@{self._place.host}:{self._place.port}"

    @property
    def by_hand(self) -> str:
        """The client without its options."""
        return f"ssh -p {self._place.port} {self._place.user}@{self._place.host}"

    def close(self) -> None:
        """Ends the shared connection."""
        with suppress(InfrastructureError):
            run_command([*self.words[:-1], "-O", "exit", self.words[-1]], check=False, timeout_s=10)


@contextmanager
def connected(place: SshPlace) -> Iterator[Connection]:
    """A connection to the board, which is made when it is first used."""
    if shutil.which("ssh") is None:
        raise InfrastructureError(
            "the program ssh is missing",
            cause="OpenSSH's client is not installed",
            remedy="as root: apt-get install openssh-client",
        )
    # Short: the path of a socket has at most 107 bytes.
    directory = Path(tempfile.mkdtemp(prefix="ffslab-", dir="/tmp"))
    connection = Connection(place, directory / "ssh")
    try:
        yield connection
    finally:
        connection.close()
        shutil.rmtree(directory, ignore_errors=True)
