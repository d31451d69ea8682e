"""What a run tells of its findings: new ones first, then known ones, and entries that are stale."""

from __future__ import annotations

from ffslab.program import command
from ffslab.report.first.brief import Brief
from ffslab.results.rundir import RunDirectory
from ffslab.workloads.accepted import Told
from ffslab.workloads.results import finding_line

_SHOWN = 10


def finding_lines(brief: Brief, run: RunDirectory, *, whole: bool) -> list[str]:
    """A line for each of the first findings, and the command that shows the first new one.

    `whole`: all cases of the study have run, so that an entry without a finding is stale.
    """
    new, known = brief.accepted.new, brief.accepted.known
    told = [*new, *known]
    lines = [_line(one, named=bool(brief.known)) for one in told[:_SHOWN]]
    if len(told) > _SHOWN:
        lines.append(f"… and {len(told) - _SHOWN} more findings")
    if whole:
        lines += [
            f"known, but not found: {entry.name} ({entry.reason}); remove the entry"
            for entry in brief.accepted.stale
        ]
    if new:
        say = command("crash", "replay", new[0].finding["id"], "--run", run.path)
        lines.append(f"next: {say}")
    return lines


def _line(told: Told, *, named: bool) -> str:
    """A finding with its case; `named`: and whether it is new."""
    line = f"{told.case}: {finding_line(told.finding)}"
    if not named:
        return line
    if told.entry is not None:
        return f"known: {line}; {told.entry.reason}"
    return f"new: {line}{f'; {told.why}' if told.why else ''}"
