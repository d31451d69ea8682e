"""What verbs take that read a run, or run a study first: `lifetime STUDY|RUN`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ffslab.errors import UsageError
from ffslab.program import command

if TYPE_CHECKING:
    from collections.abc import Callable

    from ffslab.campaign.prepared import Prepared
    from ffslab.campaign.study import Choice
    from ffslab.results.rundir import RunDirectory
    from ffslab.targets.target import SiteOptions

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


def new_run(
    choice: Choice,
    output: Path,
    check: Callable[[Prepared], None],
    *,
    jobs: int | None = None,
    options: SiteOptions | None = None,
) -> RunDirectory:
    """A run of the study, if `check` takes it; the index of runs has it."""
    from ffslab.campaign.study import run_study
    from ffslab.cli.progress import TerminalWatch
    from ffslab.cli.report import refresh_index
    from ffslab.cli.screen import screen

    watch = TerminalWatch(screen(stderr=True))
    run = run_study(choice, output, watch, jobs=jobs, options=options, check=check)
    refresh_index(output, output)
    return run
