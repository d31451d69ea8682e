"""One guest that loses power, on whichever target: what it is given, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ffslab.model.workload import GuestFile
from ffslab.protocol.records import read_records
from ffslab.results.console import tail_of
from ffslab.targets.several import Guests
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME, GuestJob, GuestRun
from ffslab.workloads.cuts.plan import (
    HISTORY,
    INTERRUPTED,
    LOWER,
    RECORD,
    WALK,
    Cutter,
    log_plan,
    series_plan,
    states_file,
    tree_plan,
    walk_plan,
)
from ffslab.workloads.cuts.texts import GuestTexts


def run_guest(
    guests: Guests, cutter: Cutter, states: str, directory: Path
) -> tuple[GuestTexts, GuestRun] | None:
    """Runs a guest through `states`, none for its log; None if it was killed with ffslab."""
    plan = walk_plan(cutter) if states else log_plan(cutter)
    return _run(guests, cutter, _job(guests, cutter, plan, _files(cutter, states), directory))


def run_tree(
    guests: Guests, cutter: Cutter, nodes: str, after: str, directory: Path
) -> GuestTexts | None:
    """Runs a guest through nodes (`cuts.tree`), from behind a state of the first on."""
    plan = tree_plan(cutter, after)
    ended = _run(guests, cutter, _job(guests, cutter, plan, _files(cutter, nodes), directory))
    return ended[0] if ended else None


def _files(cutter: Cutter, states: str) -> list[GuestFile]:
    files = [GuestFile(LOWER, cutter.lower)] if cutter.lower else []
    files.append(GuestFile(HISTORY, cutter.history.encode()))
    if cutter.interrupted:
        files.append(GuestFile(INTERRUPTED, cutter.interrupted.encode()))
    return [*files, GuestFile(states_file(cutter), states.encode())] if states else files


def run_series(
    guests: Guests,
    cutter: Cutter,
    words: Sequence[str],
    directory: Path,
    further_s: float,
    begun: Callable[[Path], None] = lambda _: None,
) -> tuple[GuestTexts, GuestRun] | None:
    """Runs a guest through a series of cuts; `words` are keys of ffscrash series, the cuts first.

    None if it was killed with ffslab. `begun` is called with the directory in which it writes.
    `further_s` is added to the limit of a guest.
    """
    job = _job(guests, cutter, series_plan(cutter, words), [], directory)
    return _run(guests, cutter, replace(job, begun=begun, timeout_s=job.timeout_s + further_s))


def _job(
    guests: Guests, cutter: Cutter, plan: str, files: Sequence[GuestFile], directory: Path
) -> GuestJob:
    directory.mkdir(parents=True, exist_ok=True)
    return GuestJob(
        # Its directory on the host has its name.
        replace(cutter.case, id=f"{cutter.case.id}-{directory.name}"),
        plan,
        directory,
        guests.limit_s,
        files=tuple(files),
        written=(RECORD, WALK),
        cuts_power=True,
    )


def _run(guests: Guests, cutter: Cutter, job: GuestJob) -> tuple[GuestTexts, GuestRun] | None:
    run = guests.run(job)
    return None if run.killed else (_texts(run, cutter, job.case_dir), run)


def _texts(run: GuestRun, cutter: Cutter, directory: Path) -> GuestTexts:
    stream = read_records(directory / RECORDS_NAME)
    captured = stream.of_type("file")
    logs = [str(file["text"]) for file in captured if file["path"] == cutter.cutting.log]
    return GuestTexts(
        record=_text(directory / RECORD),
        log=logs[0] if logs else None,
        walk=_text(directory / WALK),
        console=_text(directory / CONSOLE_NAME),
        output=tail_of(directory / OUTPUT_NAME),
        passed=run.exit_status == 0 and stream.end is not None and stream.end.is_good,
        timed_out=run.timed_out,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
