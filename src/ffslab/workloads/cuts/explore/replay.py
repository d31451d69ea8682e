"""A finding once more: the state alone in a fresh guest, and all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.model.case import Case
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import Call, parse_record
from ffslab.targets.several import Guests, Replayed
from ffslab.workloads.cuts.explore.case import SECONDS_A_CUT
from ffslab.workloads.cuts.explore.explorer import line_of
from ffslab.workloads.cuts.explore.guest import run_guest, run_series
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.outcomes import (
    CORRECT,
    GUEST_DIED,
    USE_FAILS,
    Judgement,
    judgement_of,
    lines_apart,
)
from ffslab.workloads.cuts.plan import cuts_of, cuts_on_chip, cutter_of, history_of
from ffslab.workloads.cuts.series import CutMade, parse_series, series_words
from ffslab.workloads.cuts.states import parse_log
from ffslab.workloads.cuts.stored import CutsResult, StoredFinding
from ffslab.workloads.cuts.texts import GuestTexts
from ffslab.workloads.cuts.walk import State, StateName, cut_of, parse_walk

_AROUND = 6  # operations and calls shown on each side of the cut
_MOST_LINES = 60
_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Where:
    """A finding and its case: what it is of, the files that were kept, guests to repeat it in."""

    case: Case
    cuts: CutsResult
    finding: StoredFinding
    directory: Path
    guests: Guests
    room: Path


def replayed(where: Where) -> Replayed:
    """Runs the state of a finding."""
    if cuts_of(where.case).is_series:
        return _replayed_series(where)
    case, finding = where.case, where.finding
    history = history_of(case)
    cutter = replace(cutter_of(case, where.guests.rig), check="full")
    name = cut_of(finding["state"])
    line = line_of(name, finding["filled"])
    ended = run_guest(where.guests, cutter, f"{line}\n", where.room / "replay")
    if ended is None:
        raise InfrastructureError("the guest was stopped")
    texts = ended[0]
    judgement, state, known = _judgement(case, name, texts)
    log = (where.directory / "log").read_text(encoding="utf-8")
    calls = parse_record(texts.record).calls
    parts = [
        *finding_parts(case, finding),
        ("again", (f"{judgement.outcome}: {judgement.detail}",)),
        ("chip's log around the cut", tuple(log_around(log, name))),
        ("calls around the cut", tuple(calls_around(history.text.splitlines(), calls, name))),
        *state_parts(state, known),
        ("kernel", tuple(kernel_lines(state, known, texts))),
    ]
    return Replayed(judgement.outcome == finding["outcome"], tuple(parts))


def not_there(finding: StoredFinding) -> UsageError:
    """A finding to be made smaller has gone."""
    return UsageError(
        f"finding {finding['id']} is not there any more",
        cause="the lab was changed since it was found",
        remedy="run the case again",
    )


def finding_parts(case: Case, finding: StoredFinding) -> list[tuple[str, tuple[str, ...]]]:
    """What it is."""
    told = f"{finding['outcome']}: {finding['detail']}"
    return [("finding", (f"{finding['id']}  {case.id}", told))]


def _replayed_series(where: Where) -> Replayed:
    """The series again up to the cut: what was called and logged before it, and what came of it.

    Where a call failed, it was one of those after the mount: they and the next cut are told.
    """
    case, finding, workload = where.case, where.finding, cuts_on_chip(where.case)
    series = where.cuts["series"]
    cycle = cut_of(finding["state"]).cut.operation
    first = max(start for start in series["lives"] if start < cycle)
    spared = [spared_cycle for spared_cycle in series["spared"] if first < spared_cycle < cycle]
    promise = promise_of(case.filesystem.stack)
    told = min(cycle + (finding["outcome"] == USE_FAILS), workload.cuts)
    words = series_words(workload, promise, case.seed, first=first, cuts=told, spared=spared)
    words.append(f"tell_from={told - 1}")
    cutter = replace(cutter_of(case, where.guests.rig), check="full")
    further_s = cycle * SECONDS_A_CUT
    ended = run_series(where.guests, cutter, words, where.room / "replay", further_s)
    if ended is None:
        raise InfrastructureError("the guest was stopped")
    texts = ended[0]
    series_text = parse_series(texts.walk)
    last = series_text.cuts[-1]
    if not series_text.complete and not series_text.stuck:
        last.wrong.append((GUEST_DIED, "see the kernel's messages"))
    wrong = next((cut.wrong for cut in series_text.cuts if cut.cycle == cycle), last.wrong)
    said = series_text.messages.get(told) or texts.console.splitlines()[-_MOST_LINES:]
    parts = [
        *finding_parts(case, finding),
        ("again", tuple(f"{word}: {text}" for word, text in wrong) or (CORRECT,)),
        (
            f"cut {told}",
            (f"{last.kind} {last.variant} at operation {last.operation} of {last.operations}",),
        ),
        ("calls before it", _shortened([line.removeprefix("call ") for line in series_text.calls])),
        ("chip's log around the cut", _shortened(_log_near(series_text.log, last))),
        ("kernel before it", _shortened(series_text.messages.get(told - 1, []))),
        ("kernel at the mount after it", _shortened(said)),
    ]
    return Replayed(any(word == finding["outcome"] for word, _ in wrong), tuple(parts))


def _log_near(log: Sequence[str], cut: CutMade) -> list[str]:
    first = max(0, cut.operation - 4 * _AROUND)
    return [
        f"{line}  <- {cut.kind} {cut.variant}" if at == cut.operation else line
        for at, line in enumerate(log[: cut.operation + _AROUND])
        if at >= first
    ]


def _judgement(
    case: Case, name: StateName, texts: GuestTexts
) -> tuple[Judgement, State | None, dict[str, str]]:
    walk = parse_walk(texts.walk)
    known = dict(walk.texts)
    state = next((state for state in walk.states if state.name == name), None)
    if state is None:
        return Judgement(GUEST_DIED, "see the kernel's messages"), None, known
    oracle = oracle_for(case, history_of(case))(texts.record)
    return judgement_of(state, known, oracle), state, known


def log_around(text: str, name: StateName) -> Iterator[str]:
    """The operations before and after a cut, which is marked."""
    cut = name.cut.operation
    for logged in parse_log(text):
        if abs(logged.number - cut) <= _AROUND:
            mark = f"  <- {name.cut.kind} {name.cut.variant}" if logged.number == cut else ""
            yield f"{logged.line}{mark}"


def calls_around(lines: Sequence[str], calls: Sequence[Call], name: StateName) -> Iterator[str]:
    """Calls with their errno and where the log stood; those that were under way are marked."""
    cut = name.cut.operation
    finished = sum(call.last <= cut for call in calls)
    for index in range(max(0, finished - _AROUND), min(len(calls), finished + _AROUND)):
        errno, first, last = calls[index].errno, calls[index].first, calls[index].last
        state = "returned" if last <= cut else "under way" if first <= cut else "not begun"
        yield f"{index:5} {state:10} errno {errno:3} log {first}-{last}  {lines[index]}"


def state_parts(state: State | None, known: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """What the trees looked like."""
    if state is None:
        return []
    parts: list[tuple[str, tuple[str, ...]]] = []
    before: list[str] | None = None
    for title, seen in (
        ("tree after the recovery", state.seen),
        ("tree after it was used", state.after),
        ("tree after power was off once more", state.again),
    ):
        if seen is not None:
            tree = known[seen.digest].splitlines()
            lines = tree if before is None else difference(before, tree)
            parts.append((title, _shortened(lines)))
            before = tree
    return parts


def difference(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What is gone, and what is new; a line that says so if nothing is."""
    gone, new = lines_apart(before, after)
    return [*(f"- {line}" for line in gone), *(f"+ {line}" for line in new)] or ["the same"]


def kernel_lines(state: State | None, known: dict[str, str], texts: GuestTexts) -> Sequence[str]:
    """What the kernel said."""
    if state is not None:
        return _shortened(known.get(state.messages, "").splitlines())
    return texts.console.splitlines()[-_MOST_LINES:]


def _shortened(lines: Sequence[str]) -> tuple[str, ...]:
    """Not all of a long text, nor of the sums of a large file."""
    shown = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"… and {len(lines) - _MOST_LINES} lines more")
    return tuple(shown)
