"""What verbs take that read a run, or run a study first: `lifetime STUDY|RUN`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.errors import UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from ffslab.results.rundir import RunDirectory

StudyOrRun = Annotated[
    str,
    typer.Argument(metavar="STUDY|RUN", help="A run or a study: one is read, the other run."),
]


def named_run(
    verb: str, name: str, settings: Sequence[str], output: Path, example: str
) -> RunDirectory | None:
    """The run of that name, or None if it is a study's, to be run with the `settings`.

    UsageError if it is neither, or a run for which there are settings. `example` is a study.
    """
    from ffslab.loader import find_study
    from ffslab.results.rundir import find_run

    try:
        directory = find_run(name, output)
    except UsageError as no_run:
        try:
            find_study(name)
        except UsageError as no_study:
            raise UsageError(
                f"{name!r} is neither a run in {output} nor a study",
                cause=f"{no_run.message}; {no_study.message}",
                remedy=command(verb, example),
            ) from no_study
        return None
    if settings:
        raise UsageError(
            f"{name} is a run, and --set changes a study",
            cause="what has been run cannot be changed",
            remedy=f"{command(verb, directory.path)}, or the study's name instead",
        )
    return directory
