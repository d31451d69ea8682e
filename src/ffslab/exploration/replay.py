"""A finding once more: the state alone in a fresh guest, and all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.exploration.guest import Explored, GuestTexts, run_guest, run_series
from ffslab.exploration.oracle import oracle_for
from ffslab.exploration.run import (
    SECONDS_A_CUT,
    Directory,
    UnitSpec,
    explored_of,
    history_of,
    opened_alone,
)
from ffslab.exploration.series import CutMade, parse_series, series_words
from ffslab.exploration.states import parse_log
from ffslab.exploration.stored import StoredFinding, cut_of
from ffslab.exploration.study import SERIES
from ffslab.exploration.unit import line_of
from ffslab.exploration.verdict import CORRECT, GUEST_DIED, USE_FAILS, Verdict, verdict_of
from ffslab.exploration.walked import State, StateName, parse_walk
from ffslab.lab import ensure_lab
from ffslab.oracle.promises import promise_of
from ffslab.program import command
from ffslab.targets.uml.site import lab_parts

_AROUND = 6  # operations and calls shown on each side of the cut
_MOST_LINES = 60
_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Replayed:
    """`parts` are titles with lines; `is_there`: it came to the same outcome."""

    is_there: bool
    parts: tuple[tuple[str, tuple[str, ...]], ...]


def find_finding(directory: Directory, wanted: str) -> tuple[UnitSpec, StoredFinding]:
    """A finding by its id or the beginning of it; UsageError if there is none, or several."""
    found = [
        (unit["id"], finding)
        for unit in directory.units()
        for finding in unit["findings"]
        if finding["id"].startswith(wanted)
    ]
    if len(found) != 1:
        raise UsageError(
            f"{directory.path} has {'no finding' if not found else 'several findings'} {wanted!r}",
            cause="a mistyped id, or one of another run",
            remedy=command("crash", "show", directory.path),
        )
    unit_id, finding = found[0]
    return directory.spec(unit_id), finding


def replayed(directory: Directory, wanted: str, scratch: Path | None, timeout_s: float) -> Replayed:
    """Runs the state of a finding; UsageError if there is no such finding."""
    spec, finding = find_finding(directory, wanted)
    if spec.choice.kind == SERIES:
        return _replayed_series(directory, spec, finding, scratch, timeout_s)
    exploration = directory.exploration()
    history = history_of(spec)
    explored = replace(explored_of(exploration, spec, history), check="full")
    name = cut_of(finding["state"])
    lab = ensure_lab(**lab_parts([spec.case]))
    with opened_alone(lab, spec.case, scratch) as (target, room):
        line = line_of(name, finding["filled"])
        texts = run_guest(target, lab, explored, f"{line}\n", room / "replay", timeout_s)
    if texts is None:
        raise InfrastructureError("the guest was stopped")
    place = directory.unit_dir(spec.id)
    verdict, state, known = _verdict(spec, history.text, name, texts)
    parts = [
        ("finding", (f"{finding['id']}  {spec.id}", f"{finding['outcome']}: {finding['detail']}")),
        ("again", (f"{verdict.outcome}: {verdict.detail}",)),
        ("chip's log around the cut", tuple(_log_around(place / "log", name))),
        ("calls around the cut", tuple(_calls_around(history.text, texts.record, name))),
        *_state_parts(state, known),
        ("kernel", tuple(_kernel_lines(state, known, texts))),
    ]
    return Replayed(verdict.outcome == finding["outcome"], tuple(parts))


def _replayed_series(
    directory: Directory,
    spec: UnitSpec,
    finding: StoredFinding,
    scratch: Path | None,
    timeout_s: float,
) -> Replayed:
    """The series again up to the cut: what was called and logged before it, and what came of it.

    Where a call failed, it was one of those after the mount: they and the next cut are told.
    """
    series = directory.exploration().series
    stored = directory.stored(spec.id)
    assert series is not None and stored is not None and "series" in stored
    cycle = cut_of(finding["state"]).cut.operation
    first = max(one for one in stored["series"]["lives"] if one < cycle)
    spared = [one for one in stored["series"]["spared"] if first < one < cycle]
    lab = ensure_lab(**lab_parts([spec.case]))
    promise = promise_of(spec.case.filesystem.stack)
    told = min(cycle + (finding["outcome"] == USE_FAILS), series.cuts)
    words = series_words(series, promise, spec.case.seed, first=first, cuts=told, spared=spared)
    words.append(f"tell_from={told - 1}")
    with opened_alone(lab, spec.case, scratch) as (target, room):
        limit_s = timeout_s + cycle * SECONDS_A_CUT
        explored = Explored(spec.case, "", "full")
        texts = run_series(target, lab, explored, words, room / "replay", limit_s)
    if texts is None:
        raise InfrastructureError("the guest was stopped")
    found = parse_series(texts.walk)
    last = found.cuts[-1]
    if not found.complete and not found.stuck:
        last.wrong.append((GUEST_DIED, "see the kernel's messages"))
    wrong = next((one.wrong for one in found.cuts if one.cycle == cycle), last.wrong)
    said = found.messages.get(told) or texts.console.splitlines()[-_MOST_LINES:]
    parts = [
        ("finding", (f"{finding['id']}  {spec.id}", f"{finding['outcome']}: {finding['detail']}")),
        ("again", tuple(f"{word}: {text}" for word, text in wrong) or (CORRECT,)),
        (
            f"cut {told}",
            (f"{last.kind} {last.variant} at operation {last.operation} of {last.operations}",),
        ),
        ("calls before it", _shortened([line.removeprefix("call ") for line in found.calls])),
        ("chip's log around the cut", _shortened(_log_near(found.log, last))),
        ("kernel before it", _shortened(found.messages.get(told - 1, []))),
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


def _verdict(
    spec: UnitSpec, history: str, name: StateName, texts: GuestTexts
) -> tuple[Verdict, State | None, dict[str, str]]:
    del history
    walk = parse_walk(texts.walk)
    known = dict(walk.texts)
    state = next((one for one in walk.states if one.name == name), None)
    if state is None:
        return Verdict(GUEST_DIED, "see the kernel's messages"), None, known
    oracle = oracle_for(spec.case, history_of(spec))(texts.record)
    return verdict_of(state, known, oracle), state, known


def _log_around(path: Path, name: StateName) -> Iterator[str]:
    cut = name.cut.operation
    for logged in parse_log(path.read_text(encoding="utf-8")):
        if abs(logged.number - cut) <= _AROUND:
            mark = f"  <- {name.cut.kind} {name.cut.variant}" if logged.number == cut else ""
            yield f"{logged.line}{mark}"


def _calls_around(history: str, record: str, name: StateName) -> Iterator[str]:
    """Calls with their errno and where the log stood; those that were under way are marked."""
    lines, cut = history.splitlines(), name.cut.operation
    calls = [line.split(" ") for line in record.splitlines() if line.startswith("op ")]
    finished = sum(int(words[4]) <= cut for words in calls)
    for words in calls[max(0, finished - _AROUND) : finished + _AROUND]:
        index, errno, first, last = map(int, words[1:5])
        state = "returned" if last <= cut else "under way" if first <= cut else "not begun"
        yield f"{index:5} {state:10} errno {errno:3} log {first}-{last}  {lines[index]}"


def _state_parts(state: State | None, known: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
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
    gone = [f"- {line}" for line in before if line not in set(after)]
    new = [f"+ {line}" for line in after if line not in set(before)]
    return [*gone, *new] or ["the same"]


def _kernel_lines(state: State | None, known: dict[str, str], texts: GuestTexts) -> Sequence[str]:
    if state is not None:
        return _shortened(known.get(state.messages, "").splitlines())
    return texts.console.splitlines()[-_MOST_LINES:]


def _shortened(lines: Sequence[str]) -> tuple[str, ...]:
    """Not all of a long text, nor of the sums of a large file."""
    shown = [one if len(one) <= _WIDEST else f"{one[:_WIDEST]}…" for one in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"… and {len(lines) - _MOST_LINES} lines more")
    return tuple(shown)
