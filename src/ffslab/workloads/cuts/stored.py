"""The key of a result that is cuts' own: its types (docs/result-format.md describes them).

`findings` has an entry for each kind of fault: states of one outcome, one kind of cut and one
reason, the first of them in full. Its `id` names the study, the case and that state, and is the
same in every run.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypeVar, cast

from annotated_types import Len, Predicate
from typing_extensions import TypedDict

from ffslab.model.case import Case
from ffslab.oracle.history import History
from ffslab.oracle.record import parse_record
from ffslab.results.result import CaseResult
from ffslab.workloads.cuts.explored import Explored, Judged
from ffslab.workloads.cuts.known import known_as
from ffslab.workloads.cuts.outcomes import CORRECT, OUTCOMES
from ffslab.workloads.cuts.plan import cuts_of
from ffslab.workloads.cuts.walk import Cut, State, StateName, Step, cut_of

T = TypeVar("T")
SECOND = " / "  # between the kinds of two cuts


def _is_state(text: str) -> bool:
    try:
        cut_of(text)
    except ValueError:
        return False
    return True


OutcomeWord = Annotated[str, Predicate(OUTCOMES.__contains__)]
StateText = Annotated[str, Predicate(_is_state)]
# Of a mount: pages read, pages programmed, blocks erased, nanoseconds; in front the operation.
Cost = Annotated[list[int], Len(4, 4)]
Point = Annotated[list[int], Len(5, 5)]


class StoredFinding(TypedDict):
    """Faults that are alike: `state` is the first of `states` such states.

    `filled`: it was to be filled until it is full. Of a sequence: `acts` in words, all `calls` a
    line each, those of the beginning too, the chip's `log`, and in how many `sequences` it is.
    `known`: the entry of docs/findings.md that it looks like.
    """

    id: str
    state: StateText
    outcome: OutcomeWord
    kind: str
    detail: str
    states: int
    confirmed: bool
    filled: bool
    console: list[str]
    acts: NotRequired[str]
    calls: NotRequired[list[str]]
    log: NotRequired[list[str]]
    sequences: NotRequired[int]
    known: NotRequired[str]


class StoredRecovery(TypedDict):
    """What the mount after a cut took, of those cuts in which the operation was just lost.

    `curve` has for each operation: pages read, pages programmed, blocks erased, nanoseconds, UBI's
    attach among them. `worst` is the operation after which it read, programmed and erased most.
    `uncut` has the last four of the mount after the history's own unmount, if that state is among
    those gone through.
    """

    curve: list[Point]
    worst: int | None
    uncut: NotRequired[Cost | None]


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


class StoredPair(TypedDict):
    """States by outcome, of all sequences that end with `act` behind `before` ("": nothing)."""

    act: str
    before: str
    outcomes: dict[OutcomeWord, int]


class StoredSequences(TypedDict):
    """What is told of sequences beside what became of each state.

    `all`: how many there are; `visited` of them, `unreached` behind one that ends its guest without
    a cut. `same`: states whose flash was that of another, and was visited once. `refused`: acts
    that are left out, since the file system has no such thing.
    """

    all: int
    visited: int
    unreached: int
    same: int
    refused: list[str]
    pairs: list[StoredPair]


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


class StoredFailure(TypedDict):
    """A call, or an act of sequences, that failed with this errno so many times."""

    call: str
    errno: int
    times: int


class CutsResult(TypedDict):
    """What became of a case's cuts.

    `counts` are states by kind of cut (of the second one too: "A / B") and outcome. `random` are
    those of cuts at random by outcome, empty if there is no such experiment. `failed_calls`: of the
    user's own calls, and of acts, those that failed without a cut.
    """

    calls: int
    operations: int
    states_possible: int
    states: int
    untouched: int
    counts: dict[str, dict[OutcomeWord, int]]
    failed_calls: NotRequired[list[StoredFailure]]
    random: dict[OutcomeWord, int]
    findings: list[StoredFinding]
    recovery: StoredRecovery
    series: NotRequired[StoredSeries]
    sequences: NotRequired[StoredSequences]


class CutsKeys(TypedDict):
    """Null if the history failed without a cut, or there was no guest."""

    cuts: NotRequired[CutsResult | None]


def cuts_result(result: CaseResult) -> CutsResult | None:
    """The key `cuts` of a result of whichever workload."""
    return cast(CutsKeys, result).get("cuts")


def configuration_of(case: Case) -> str:
    """A case's id without its history, which is among the axes of some studies and not of others.

    Draws and findings know the case by it, so that they are the same in both.
    """
    seed = f"s{case.seed}"
    apart = {cuts_of(case).history.replace("-", ""), seed}
    return "-".join([*(word for word in case.id.split("-") if word not in apart), seed])


def stored_of(case: Case, history: History, explored: Explored) -> CutsResult:
    """What is kept of the states of a history."""
    counts: dict[str, Counter[str]] = {}
    for judged_state in explored.judged:
        counts.setdefault(kind_of(judged_state.name), Counter())[
            judged_state.judgement.outcome
        ] += 1
    random = Counter(
        judged_state.judgement.outcome
        for judged_state in explored.judged
        if judged_state.name.then is None and judged_state.name.cut in explored.random
    )
    states = [
        judged_state.state for judged_state in explored.judged if judged_state.state is not None
    ]
    stored: CutsResult = {
        "calls": len(history.operations),
        "operations": explored.operations,
        "states_possible": explored.states_possible,
        "states": len(explored.judged),
        "untouched": sum(not state.touched for state in states),
        "counts": {
            kind: dict(sorted(outcomes.items())) for kind, outcomes in sorted(counts.items())
        },
        "random": dict(sorted(random.items())),
        "findings": _findings(case, explored.judged),
        "recovery": _recovery(states, explored.operations),
    }
    if cuts_of(case).is_calls:
        record = zip(history.operations, parse_record(explored.record).calls, strict=False)
        errors = Counter((call.line, ended.errno) for call, ended in record if ended.errno)
        stored["failed_calls"] = failures(errors)
    return stored


def failures(errors: Counter[tuple[str, int]]) -> list[StoredFailure]:
    """Calls or acts with their errno, as they are kept."""
    return [
        {"call": call, "errno": errno, "times": times} for (call, errno), times in errors.items()
    ]


def outcomes_of(cuts: CutsResult) -> Counter[str]:
    """All states of a case by outcome."""
    return added_counts(cuts["counts"].values())


def added_counts(several: Iterable[Mapping[str, int]]) -> Counter[str]:
    """States by outcome, of several kinds of cut together."""
    counted: Counter[str] = Counter()
    for counts in several:
        counted.update(counts)
    return counted


def kind_of(name: StateName) -> str:
    """The kind of a cut; of two cuts both."""
    return f"{name.cut.kind}{SECOND}{name.then.kind}" if name.then else name.cut.kind


def finding_id(case: Case, state: str) -> str:
    """Eight hexadecimal digits, the same whenever and wherever it is found."""
    text = f"{case.study}\n{configuration_of(case)}-{cuts_of(case).history}\n{state}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def likeness(outcome: str, kind: str, detail: str) -> tuple[str, str, str]:
    """What states and findings that are alike have in common: outcome, kind of cut, reason."""
    return outcome, kind, reason_of(detail)


def reason_of(detail: str) -> str:
    """What differed, without its numbers and sums."""
    return re.sub(r"[0-9a-f]{8}|\d[\d,]*", "#", detail)


def alike(
    states: Iterable[T], told: Callable[[T], tuple[str, str, str]]
) -> dict[tuple[str, str, str], list[T]]:
    """The states that are not correct, by their likeness; `told`: outcome, kind of cut, detail."""
    groups: dict[tuple[str, str, str], list[T]] = {}
    for state in states:
        outcome, kind, detail = told(state)
        if outcome != CORRECT:
            groups.setdefault(likeness(outcome, kind, detail), []).append(state)
    return groups


def _told(judged_state: Judged) -> tuple[str, str, str]:
    judgement = judged_state.judgement
    return judgement.outcome, kind_of(judged_state.name), judgement.detail


def _findings(case: Case, judged: Iterable[Judged]) -> list[StoredFinding]:
    findings = []
    for (outcome, kind, _), group in alike(judged, _told).items():
        # The first that was repeated alone, if there is one: its detail is the confirmed one.
        first = next((judged_state for judged_state in group if judged_state.confirmed), group[0])
        state = str(first.name)
        findings.append(
            StoredFinding(
                id=finding_id(case, state),
                state=state,
                outcome=outcome,
                kind=kind,
                detail=first.judgement.detail,
                states=len(group),
                confirmed=first.confirmed,
                filled=first.is_filled,
                console=list(first.console),
            )
        )
    return [with_entry(case, finding) for finding in findings]


def with_entry(case: Case, finding: StoredFinding) -> StoredFinding:
    """The finding with the entry of docs/findings.md that it looks like, if there is one."""
    told = (finding["outcome"], finding["state"], finding["detail"])
    number = known_as(case.filesystem.stack, *told)
    return {**finding, "known": number} if number else finding


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
