"""A board's shell, by the system's OpenSSH client: one connection that all commands share.

The board needs an ssh server and a POSIX shell with cat, mkdir, chmod, kill and rm; neither sftp
nor scp, which small servers lack. A connection that is silent for some seconds counts as lost.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ffslab.errors import InfrastructureError
from ffslab.process import CommandResult, run_command, start_command
from ffslab.targets.ssh.place import Place

LOST = 255  # ssh's own exit status, whatever goes wrong with the connection
_CONNECT_S = 10
_ALIVE_S = 5  # a question to the board
_SILENCES = 3  # so many without an answer are the end of the connection
_SHORT_S = 60.0  # for commands that only look
_COPY_S = 300.0


class BoardLostError(InfrastructureError):
    """The board does not answer."""


class Connection:
    """Commands on a board; safe to use from several threads."""

    def __init__(self, place: Place, control: Path) -> None:
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

    def run(self, command: str, *, check: bool = True, timeout_s: float = _SHORT_S) -> str:
        """What a command prints, both channels in order.

        BoardLostError without an answer; InfrastructureError for another exit status than 0 unless
        `check` is off.
        """
        return self._done(command, check, timeout_s).output

    def succeeds(self, command: str) -> bool:
        """Whether a command ends with 0."""
        return self._done(command, False, _SHORT_S).returncode == 0

    def put(self, source: Path, target: str, *, executable: bool = False) -> None:
        """Copies a file to the board; no part of it is left at `target` if that fails."""
        command = f"cat >{target}.part && mv {target}.part {target}"
        if executable:
            command += f" && chmod 755 {target}"
        result = self._run(command, _COPY_S, input_file=source)
        if result.returncode == LOST:
            raise self._lost(result.output)
        if result.returncode:
            with suppress(InfrastructureError):
                self.run(f"rm -f {target}.part", check=False)
            there = f"{self._place.name}:{target}"
            raise InfrastructureError(
                f"cannot copy {source.name} to {there}: {result.output.strip()}",
                cause="the board has no room there, or its file system is read-only",
                remedy="free some room, or name another directory in the file of the board",
            )

    def put_text(self, text: str, target: str) -> None:
        """Writes a file there."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            self.put(Path(file.name), target)

    def get(self, source: str, target: Path, most_bytes: int) -> None:
        """Copies a file from the board, at most so much of it; an empty one if it is not there.

        BoardLostError without an answer; OSError if the disk here does not take it.
        """
        command = f"if [ -e {source} ]; then head -c {most_bytes} {source}; fi"
        result = self._run(command, _COPY_S, output_file=target)
        if result.returncode == LOST:
            raise self._lost(result.output)
        if result.returncode:
            raise InfrastructureError(
                f"cannot read {self._place.name}:{source}: {result.output.strip()}"
            )

    def start(self, command: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts a command there; what it prints goes to `output`."""
        return start_command([*self.words, command], output)

    def close(self) -> None:
        """Ends the shared connection."""
        with suppress(InfrastructureError):
            run_command([*self.words[:-1], "-O", "exit", self.words[-1]], check=False, timeout_s=10)

    def _done(self, command: str, check: bool, timeout_s: float) -> CommandResult:
        result = self._run(command, timeout_s)
        if result.returncode == LOST:
            raise self._lost(result.output)
        if check and result.returncode:
            raise InfrastructureError(
                f"{self._place.name}: exit status {result.returncode} of: {command}\n"
                f"    {result.output.strip()}",
                remedy=f"the same by hand: ssh -p {self._place.port} "
                f"{self._place.user}@{self._place.host}",
            )
        return result

    def _run(
        self,
        command: str,
        timeout_s: float,
        input_file: Path | None = None,
        output_file: Path | None = None,
    ) -> CommandResult:
        try:
            return run_command(
                [*self.words, command],
                check=False,
                timeout_s=timeout_s,
                input_file=input_file,
                output_file=output_file,
                own_session=True,
            )
        except InfrastructureError as error:
            if isinstance(error.__cause__, subprocess.TimeoutExpired):
                self.close()
                raise self._lost(f"no end of a command within {timeout_s:g} s") from error
            raise

    def _lost(self, told: str) -> BoardLostError:
        place = self._place
        said = told.strip().splitlines()
        return BoardLostError(
            f"the board {place.name} ({place.user}@{place.host}:{place.port}) does not answer"
            + (f": {said[-1]}" if said else ""),
            cause="it is off or hangs, the network is interrupted, or the key is not accepted",
            remedy=f"ssh -p {place.port} {place.user}@{place.host}, by hand",
        )


@contextmanager
def connected(place: Place) -> Iterator[Connection]:
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


def quoted(words: Sequence[str]) -> str:
    """Words as a command of the board's shell."""
    import shlex

    return shlex.join(words)
