"""The file of a board that ffslab itself runs on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from ffslab.errors import SpecError
from ffslab.targets.boards.place import PATH, Place, PlaceFile, arguments, beside, read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPlace(Place):
    """This computer; `agent` is a built one, None if it is to be compiled here."""

    agent: Path | None


class _LocalFile(PlaceFile):
    # Others may write to /tmp here, and what is in this directory runs with root's rights.
    directory: str = Field(default="/run/ffslab", pattern=PATH)
    agent: str = ""


def read_place(path: Path) -> LocalPlace:
    """The computer that a file describes; SpecError for whatever is wrong in it."""
    stated = read_file(_LocalFile, path)
    path = path.resolve()
    agent = beside(stated.agent, path)
    if agent is not None and not agent.is_file():
        raise SpecError(
            f"{path}: agent: there is no file {agent}",
            remedy="leave it out, and the agent is compiled here",
        )
    return LocalPlace(**arguments(stated, path), agent=agent)
