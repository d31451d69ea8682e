"""A history that ended wrongly once more, and the shortest list of calls that ends like it.

A history is a list of calls, one line each (guest/agent/workloads/random/draw.h): it depends on the
seed and on what the file system can do at all, never on what it answered. So a guest tells the
list without making any call, and others leave some of them out, each on a new file system. The step
draws the whole list in any case, so that all calls together are the case to the nanosecond; with
some left out, time passes otherwise, and what depends on it may be gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ffslab.errors import InfrastructureError, UsageError
from ffslab.model.workload import GuestFile
from ffslab.protocol.records import RecordStream
from ffslab.results.console import Printed
from ffslab.results.outcome import Outcome, judged
from ffslab.targets.several import Found, Replayed, StoppedError
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME, GuestJob
from ffslab.workloads.random.plan import CALLS, calling_plan, random_of, shorter_plan, telling_plan
from ffslab.workloads.random.result import harm_of, result_keys
from ffslab.workloads.random.stored import stored_of
from ffslab.workloads.results import asked_of
from ffslab.workloads.shortest import shortest

_TOLD = "random-calls"
_LAST = 24  # calls that are shown


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a guest ended: what the file system did, "" if all was right, and what was told of it."""

    harm: str
    lines: tuple[str, ...]
    kernel: tuple[str, ...]


def replayed(asked: Found) -> Replayed:
    """Makes the calls of a history once more, or those of the user."""
    calls = _calls(asked)
    lines = calls[: _end(asked, calls)]
    if asked.calls is None:
        ended = _ended(asked, _shorter(asked, range(len(calls)), calls), "replay")
    else:
        lines = asked.calls.splitlines()
        numbers = _numbers(lines, calls)
        if numbers is None:
            file = GuestFile(CALLS, asked.calls.encode())
            ended = _ended(asked, calling_plan(asked.case, asked.guests.rig), "replay", (file,))
        else:
            ended = _ended(asked, _shorter(asked, numbers, calls), "replay")
    finding = asked.finding
    parts = (
        ("finding", (f"{finding['id']}  {asked.case.id}", f"{finding['state']}", *_told(asked))),
        ("again", (ended.harm or "it keeps what it was told", *ended.lines)),
        (f"the last of {len(lines):,} calls", tuple(lines[-_LAST:])),
        ("kernel", ended.kernel),
    )
    return Replayed(ended.harm == _harm(asked), parts)


def minimized(asked: Found, tell: Callable[[str], None]) -> str:
    """The shortest list of calls found, a line each; UsageError if it ends well by now."""
    calls = _calls(asked)

    def harms(kept: Sequence[int]) -> bool:
        ended = _ended(asked, _shorter(asked, kept, calls), "calls")
        is_there = ended.harm == _harm(asked)
        tell(f"{len(kept)} calls: {'still there' if is_there else 'gone'}")
        return is_there

    whole: Sequence[int] = range(_end(asked, calls))
    if not harms(whole):
        whole = range(len(calls))
        if not harms(whole):
            raise UsageError(
                f"finding {asked.finding['id']} is not there any more",
                cause="the lab was changed since it was found, or the guest needs longer to hang",
                remedy="run the case again, or a longer --timeout",
            )
    return "".join(f"{calls[number]}\n" for number in shortest(whole, harms))


def _harm(asked: Found) -> str:
    return harm_of(asked.result["outcome"], str(asked.finding["outcome"]))


def _told(asked: Found) -> tuple[str, ...]:
    return tuple(str(asked.finding["detail"]).split("; "))


def _calls(asked: Found) -> list[str]:
    """All calls of the case, as a guest tells them."""
    plan = telling_plan(asked.case, asked.guests.rig)
    outcome, stream = _guest(asked, plan, "tell", ())
    told = stream.first(_TOLD)
    if told is None:
        raise InfrastructureError(f"the guest did not tell its calls: {outcome.reason}")
    return str(told["text"]).splitlines()


def _end(asked: Found, calls: Sequence[str]) -> int:
    """How many of them there were when a difference was found, or the round was over."""
    stored = stored_of(asked.result)
    assert stored is not None  # it has a finding
    # Where it hung is not known, only in which round.
    round_end = (stored["rounds_done"] + 1) * random_of(asked.case).operations
    last = stored["operation"] if stored["difference"] else round_end
    return sum(int(line.split(" ", 1)[0]) <= last for line in calls)


def _numbers(lines: Sequence[str], calls: Sequence[str]) -> list[int] | None:
    """Which of the case's calls these are, in their order; None if another one is among them."""
    numbers: list[int] = []
    for line in lines:
        start = numbers[-1] + 1 if numbers else 0
        if line not in calls[start:]:
            return None
        numbers.append(calls.index(line, start))
    return numbers


def _shorter(asked: Found, kept: Collection[int], calls: Sequence[str]) -> str:
    return shorter_plan(asked.case, asked.guests.rig, kept, len(calls))


def _ended(asked: Found, plan: str, name: str, files: Sequence[GuestFile] = ()) -> _Ended:
    outcome, stream = _guest(asked, plan, name, files)
    stored = result_keys(asked.case, stream, ())["random"]
    harm = harm_of(outcome.kind, stored["difference"] if stored else "")
    lines = tuple(stored["told"]) if stored else ()
    return _Ended(harm, lines or (outcome.reason,) * bool(outcome.reason), outcome.excerpt)


def _guest(
    asked: Found, plan: str, name: str, files: Sequence[GuestFile]
) -> tuple[Outcome, RecordStream]:
    """Runs a guest of the case with another plan; StoppedError if ffslab is to stop."""
    name = f"{name}-{sum(1 for _ in asked.room.iterdir())}"
    directory = asked.room / name
    directory.mkdir()
    guests = asked.guests
    case = replace(asked.case, id=f"{asked.case.id}-{name}")
    run = guests.run(GuestJob(case, plan, directory, guests.limit_s, files=tuple(files)))
    if run.killed:
        raise StoppedError
    printed = Printed.of(directory / CONSOLE_NAME, directory / OUTPUT_NAME)
    limit = guests.limit_s if run.timed_out else None
    asks = asked_of(case.workload, own=True)
    return judged(directory / RECORDS_NAME, printed, run.exit_status, limit, asks, run.failure)
