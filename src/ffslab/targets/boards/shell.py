"""A board's shell: commands there, files to it and from it, whatever it is reached by.

Commands are those of a POSIX shell with cat, mkdir, chmod, kill, head and rm. A target says how one
is carried out (`words`), and how it ends if there is no answer.
"""

from __future__ import annotations

import subprocess
import tempfile
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import IO

from ffslab.errors import InfrastructureError
from ffslab.process import CommandResult, run_command, start_command

_SHORT_S = 60.0  # for commands that only look
_COPY_S = 300.0


class BoardLostError(InfrastructureError):
    """The board does not answer."""


class Shell(ABC):
    """Commands on a board; safe to use from several threads. `name` is the board's."""

    # A command's exit status that says that the board does not answer; None: it always does.
    lost_status: int | None = None
    no_answer = ""  # and why that may be

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    @abstractmethod
    def words(self) -> list[str]:
        """What carries out the command that follows as the last word."""

    @property
    @abstractmethod
    def where(self) -> str:
        """What messages call the place where commands are carried out."""

    @property
    @abstractmethod
    def by_hand(self) -> str:
        """How its user gets there without ffslab."""

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends what was started, at once; what runs there may go on."""
        process.kill()

    @abstractmethod
    def close(self) -> None:
        """Nothing is sent there from here on."""

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
        if self._is_lost(result):
            raise self._lost(result.output)
        if result.returncode:
            with suppress(InfrastructureError):
                self.run(f"rm -f {target}.part", check=False)
            there = f"{self.name}:{target}"
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
        if self._is_lost(result):
            raise self._lost(result.output)
        if result.returncode:
            raise InfrastructureError(f"cannot read {self.name}:{source}: {result.output.strip()}")

    def start(self, command: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts a command there; what it prints goes to `output`."""
        return start_command([*self.words, command], output)

    def _done(self, command: str, check: bool, timeout_s: float) -> CommandResult:
        result = self._run(command, timeout_s)
        if self._is_lost(result):
            raise self._lost(result.output)
        if check and result.returncode:
            raise InfrastructureError(
                f"{self.name}: exit status {result.returncode} of: {command}\n"
                f"    {result.output.strip()}",
                remedy=f"the same by hand: {self.by_hand}",
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

    def _is_lost(self, result: CommandResult) -> bool:
        return result.returncode == self.lost_status

    def _lost(self, told: str) -> BoardLostError:
        said = told.strip().splitlines()
        return BoardLostError(
            f"the board {self.name} ({self.where}) does not answer"
            + (f": {said[-1]}" if said else ""),
            cause=self.no_answer,
            remedy=f"{self.by_hand}, by hand",
        )
