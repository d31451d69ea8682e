"""A study from what a verb asks for to its run: which cases, how, where, and who watches.

Verbs parse and print; whatever runs a study does it through this module: `run`, and the verbs that
go on with a run of their own making. Of the terminal it knows what a `Watch` tells and is told.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ffslab.campaign.done import PoolOptions
from ffslab.campaign.plan import remaining
from ffslab.campaign.pool import Progress
from ffslab.campaign.prepared import Prepared
from ffslab.campaign.run import (
    RunEnd,
    RunRequest,
    execute,
    made_ready,
    prepare,
    prepare_source,
    usable_cpus,
)
from ffslab.errors import InfrastructureError, UsageError
from ffslab.lab.progress import Progress as BuildProgress
from ffslab.loader import StudySource
from ffslab.model.repeats import repeat_values
from ffslab.model.specs import REPEAT
from ffslab.model.study import Override
from ffslab.program import command
from ffslab.results.rundir import RunDirectory
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.registry import site_module, target_kind
from ffslab.targets.target import SiteOptions

_REPEATS = 3


class Watch(Protocol):
    """Shows what a run does, and says when that is.

    `command` is what the user typed; `build` is told how the lab is built.
    """

    @property
    def command(self) -> str: ...

    @property
    def build(self) -> BuildProgress: ...

    def now(self) -> datetime:
        """The time for the manifest."""
        ...

    def cases(self, count: int) -> AbstractContextManager[Progress]:
        """Encloses the run of so many cases."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Which cases of a study, and where; the arguments of `ffslab.campaign.run.prepare`.

    `made`: the study itself, of a verb that makes one; it has all its cases, on the default target.
    """

    study: str
    overrides: tuple[Override, ...] = ()
    case_ids: tuple[str, ...] = ()
    catalogs: tuple[Path, ...] = ()
    trace: bool = False
    target: str = DEFAULT_TARGET
    place: Path | None = None
    made: StudySource | None = None

    def repeated(self, asked: int | None) -> Choice:
        """The same with the cases repeated where time is a real clock's; UsageError elsewhere."""
        if not target_kind(self.target, self.place).capabilities.virtual_time:
            axis: Override = (REPEAT, repeat_values(asked or _REPEATS))
            return replace(self, overrides=(*self.overrides, axis))
        if asked is not None:
            raise UsageError(
                f"on target {self.target} a repeat gives the same result, to the last digit",
                cause="time is virtual there",
                remedy="--seeds N, which varies what happens",
            )
        return self

    def prepare(self) -> Prepared:
        """The study, expanded; SpecError or UsageError for whatever is wrong."""
        if self.made is not None:
            return prepare_source(self.made, self.overrides, catalogs=self.catalogs)
        return prepare(
            self.study,
            self.overrides,
            self.case_ids,
            trace=self.trace,
            catalogs=self.catalogs,
            target=self.target,
            place=self.place,
        )


def pool_options(
    target: str, jobs: int | None, timeout_s: float | None = None, *, keep_flash: bool = False
) -> PoolOptions:
    """How cases are run there; None: as many guests as processors, and the target's limit.

    UsageError for `keep_flash` where there is no file of the flash.
    """
    kind = site_module(target).KIND
    if keep_flash and not kind.capabilities.flash_snapshot:
        raise UsageError(
            f"target {target} keeps no flash",
            cause="the contents of a board's flash are on the board",
            remedy="leave --keep-flash out",
        )
    cpus = usable_cpus()
    return PoolOptions(jobs or len(cpus), timeout_s or kind.limit_s, keep_flash, cpus)


def carry_out(request: RunRequest, options: SiteOptions, watch: Watch) -> RunEnd:
    """Builds what the guests are made of, and runs the cases that are missing."""
    request, site = made_ready(request, options, watch.build)
    cases = request.prepared.cases
    todo = remaining(cases, request.resume.done_ids(cases)) if request.resume else cases
    with watch.cases(len(todo)) as progress:
        return execute(request, site, progress, watch.now)


def run_study(
    choice: Choice,
    output: Path,
    watch: Watch,
    *,
    jobs: int | None = None,
    options: SiteOptions | None = None,
    check: Callable[[Prepared], None] | None = None,
) -> RunDirectory:
    """Runs all cases of a study for a verb that goes on with the run.

    `check` refuses what the verb cannot use, before anything is run. Where time is a real clock's,
    cases are repeated as by the verb run. InfrastructureError if the run was interrupted, with how
    to go on.
    """
    prepared = choice.repeated(None).prepare()
    if check is not None:
        check(prepared)
    request = RunRequest(prepared, pool_options(prepared.target, jobs), watch.command, output)
    end = carry_out(request, options or SiteOptions(), watch)
    if end.refused is not None:
        raise end.refused
    if end.interrupted:
        raise InfrastructureError(
            f"{end.run.path} was interrupted",
            remedy=f"{command('run', end.run.path, '--resume')}",
        )
    return end.run
