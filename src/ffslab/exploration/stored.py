"""What is kept of a unit: a JSON object, the same bytes for the same exploration and lab.

`findings` has a line for each kind of fault: states of one outcome, one kind of cut and one reason,
the first of them in full. Its `id` names the exploration, the unit and that state, and is the same
in every run.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from ffslab.errors import DamagedResultError
from ffslab.exploration.unit import Judged, UnitResult
from ffslab.exploration.verdict import CORRECT, OUTCOMES
from ffslab.exploration.walked import Cut, State, StateName, Step
from ffslab.program import program
from ffslab.reading import json_value, read_bounded
from ffslab.results.result import checked

VERSION = 1
_COSTS = 4  # of a mount: pages read, pages programmed, blocks erased, nanoseconds


class StoredFinding(TypedDict):
    """Faults that are alike: `state` is the first of `states` such states.

    `filled`: it was to be filled until it is full.
    """

    id: str
    state: str
    outcome: str
    kind: str
    detail: str
    states: int
    confirmed: bool
    filled: bool
    console: list[str]


class StoredRecovery(TypedDict):
    """What the mount after a cut took, of those cuts in which the operation was just lost.

    `curve` has for each operation: pages read, pages programmed, blocks erased, nanoseconds, UBI's
    attach among them. `worst` is the operation after which it read, programmed and erased most.
    `uncut` has the last four of the mount after the history's own unmount, if that state is among
    those gone through; units of older versions do not have it.
    """

    curve: list[list[int]]
    worst: int | None
    uncut: NotRequired[list[int] | None]


class StoredSeries(TypedDict):
    """What is told of cuts in a row beside what became of each.

    `lives`: the cuts that were made before each flash was new, 0 for the first; a flash that cannot
    be mounted any more is followed by a new one. `given_up`: so is one after these cuts, for
    filling it wrote more than the chip's log has room for.
    `space` has a row for each time that it was filled: cuts before, bytes that went into a file;
    blocks of statfs and those free when all was deleted; of the chip's blocks those marked bad, all
    erases, those of the worst. `recovery`, by kind of the cut before: mounts, pages read, pages
    programmed, blocks erased by all of them, and the most by one. `spared`: cuts that ended the
    guest and were left out of the flash's life after that.
    """

    cuts: int
    lives: list[int]
    given_up: list[int]
    space: list[list[int]]
    recovery: dict[str, list[int]]
    spared: list[int]


@dataclass(frozen=True, slots=True)
class SeriesSpace:
    """What is left of a flash after cuts in a row: what fits into a file, in bytes; blocks; erases.

    `bad_more` are blocks that are marked bad beside those of a new flash.
    """

    first_bytes: int
    least_bytes: int
    last_bytes: int
    bad_more: int
    worst_erases: int


def space_of(series: StoredSeries) -> SeriesSpace | None:
    """None if it was never filled."""
    space = series["space"]
    if not space:
        return None
    fits = [row[1] for row in space]
    return SeriesSpace(
        first_bytes=fits[0],
        least_bytes=min(fits),
        last_bytes=fits[-1],
        bad_more=max(row[4] for row in space) - space[0][4],
        worst_erases=max(row[6] for row in space),
    )


class StoredUnit(TypedDict):
    """A unit; `counts` are states by kind of cut (of the second one too: "A / B") and outcome.

    `random` are those of cuts at random by outcome, empty if there is no such experiment.
    """

    v: int
    id: str
    filesystem: str
    workload: str
    seed: int
    calls: int
    operations: int
    states_possible: int
    states: int
    untouched: int
    counts: dict[str, dict[str, int]]
    random: dict[str, int]
    findings: list[StoredFinding]
    recovery: StoredRecovery
    series: NotRequired[StoredSeries]


def stored_of(
    exploration: str,
    unit_id: str,
    filesystem: str,
    workload: str,
    seed: int,
    calls: int,
    result: UnitResult,
) -> StoredUnit:
    """What is kept of a result."""
    counts: dict[str, Counter[str]] = {}
    for one in result.judged:
        counts.setdefault(kind_of(one.name), Counter())[one.verdict.outcome] += 1
    random = Counter(
        one.verdict.outcome
        for one in result.judged
        if one.name.then is None and one.name.cut in result.random
    )
    states = [one.state for one in result.judged if one.state is not None]
    return {
        "v": VERSION,
        "id": unit_id,
        "filesystem": filesystem,
        "workload": workload,
        "seed": seed,
        "calls": calls,
        "operations": result.operations,
        "states_possible": result.states_possible,
        "states": len(result.judged),
        "untouched": sum(not state.touched for state in states),
        "counts": {kind: dict(sorted(found.items())) for kind, found in sorted(counts.items())},
        "random": dict(sorted(random.items())),
        "findings": _findings(exploration, unit_id, result.judged),
        "recovery": _recovery(states, result.operations),
    }


def kind_of(name: StateName) -> str:
    """The kind of a cut; of two cuts both."""
    return f"{name.cut.kind} / {name.then.kind}" if name.then else name.cut.kind


def finding_id(exploration: str, unit_id: str, state: str) -> str:
    """Eight hexadecimal digits, the same whenever and wherever it is found."""
    return hashlib.sha256(f"{exploration}\n{unit_id}\n{state}".encode()).hexdigest()[:8]


def _findings(exploration: str, unit_id: str, judged: Iterable[Judged]) -> list[StoredFinding]:
    alike: dict[tuple[str, str, str], list[Judged]] = {}
    for one in judged:
        if one.verdict.outcome != CORRECT:
            reason = re.sub(r"[0-9a-f]{8}|\d+", "#", one.verdict.detail)
            alike.setdefault((one.verdict.outcome, kind_of(one.name), reason), []).append(one)
    found = []
    for (outcome, kind, _), group in alike.items():
        # The first that was repeated alone, if there is one: its detail is the confirmed one.
        first = next((one for one in group if one.confirmed), group[0])
        state = str(first.name)
        found.append(
            StoredFinding(
                id=finding_id(exploration, unit_id, state),
                state=state,
                outcome=outcome,
                kind=kind,
                detail=first.verdict.detail,
                states=len(group),
                confirmed=first.confirmed,
                filled=first.is_filled,
                console=list(first.console),
            )
        )
    return found


def _recovery(states: Sequence[State], operations: int) -> StoredRecovery:
    curve = [
        [state.name.cut.operation, *_cost(state)]
        for state in states
        if state.name.then is None and state.name.cut.kind == "lost" and state.mount is not None
    ]
    worst = max(curve, key=lambda row: (row[4], row[1] + row[2] + row[3]), default=None)
    # All operations are done, those of the unmount too: power was cut after the end.
    whole = StateName(Cut(operations - 1, "done", 0))
    uncut = next(
        (_cost(state) for state in states if state.name == whole and state.mount is not None), None
    )
    return {"curve": curve, "worst": None if worst is None else worst[0], "uncut": uncut}


def _cost(state: State) -> list[int]:
    steps: list[Step] = [step for step in (state.attach, state.mount) if step is not None]
    return [
        sum(step.pages_read for step in steps),
        sum(step.pages_programmed for step in steps),
        sum(step.blocks_erased for step in steps),
        sum(step.duration_ns for step in steps),
    ]


def stored_unit(path: Path) -> StoredUnit:
    """A unit that was kept; DamagedResultError for what is none."""
    try:
        value = json_value(read_bounded(path))
        _check(value)
        _check_words(value)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedResultError(
            f"{path}: damaged: {error}",
            cause="the file was edited or cut after ffslab wrote it, or another version wrote it",
            remedy=f"remove it, then: {program()} crash run --resume {path.parents[2]}",
        ) from error
    unit: StoredUnit = value
    return unit


def _check(value: Mapping[str, object]) -> None:
    checked(value, StoredUnit)
    if value["v"] != VERSION:
        raise ValueError(f"version {value['v']}, not {VERSION}")


def _check_words(unit: StoredUnit) -> None:
    """What the types do not say, and what shows or repeats a unit relies on."""
    for counts in (*unit["counts"].values(), unit["random"]):
        for outcome in counts:
            if outcome not in OUTCOMES:
                raise ValueError(f"no outcome: {outcome!r}")
    for finding in unit["findings"]:
        cut_of(finding["state"])
        if finding["outcome"] not in OUTCOMES:
            raise ValueError(f"no outcome: {finding['outcome']!r}")
    uncut = unit["recovery"].get("uncut")
    costs = [row[1:] for row in unit["recovery"]["curve"]] + ([uncut] if uncut else [])
    if any(len(cost) != _COSTS for cost in costs):
        raise ValueError("the cost of a mount has another number of figures")


def cut_of(text: str) -> StateName:
    """The state that a text of `StateName` names; ValueError for another text."""
    first, slash, second = text.partition(" / ")
    return StateName(_cut(first), _cut(second) if slash else None)


def _cut(text: str) -> Cut:
    operation, kind, variant = text.split(" ")
    return Cut(int(operation), kind, int(variant))
