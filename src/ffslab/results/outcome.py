"""The judgement of a case from what its guest left behind: pure.

Outcomes: pass, short, fail, skip, crash, stuck, timeout, corrupt. The gravest
reason wins: a guest that ran out of wall-clock time is a timeout, a kernel that
crashed or an agent that did not reach its end is a crash, a kernel that worked and
got nowhere is stuck, wrong data is corruption; then
come failed steps and what the kernel complained about; then, of a case that was
asked to measure something, whether it measured all of it. Nothing is retried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import DamagedResultError
from ffslab.protocol.plan import VERIFY
from ffslab.protocol.records import MEASURED_STEP, Phase, RecordStream, Step, read_records
from ffslab.results.console import KernelMessage, Printed
from ffslab.results.result import OutcomeKind
from ffslab.results.shortfall import FULL, Shortfall

# The gravest first.
OUTCOMES: tuple[OutcomeKind, ...] = (
    *("crash", "stuck", "corrupt", "timeout", "fail"),
    *("short", "skip", "pass"),
)
# What lists call a case that fails by known findings alone, and one beyond a limit of its study.
KNOWN, MISSED = "known", "missed"
# Of a guest whose agent never spoke. Its kernel booted, or died of something else than its work.
_BUILD = (
    "; its agent never spoke, so the build may be damaged: ffslab doctor reads all of the cache"
)
_DAMAGE_ERRORS = ("EUCLEAN", "EBADMSG")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case, in one line and with an excerpt of the evidence.

    `short` is there if and only if the kind is.
    """

    kind: OutcomeKind
    reason: str = ""
    excerpt: tuple[str, ...] = ()
    short: Shortfall | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a guest was to do, as its workload sees it.

    `check`: DamagedResultError if the workload's records contradict each other. `shortfall`: what
    was measured less than asked for, given the phase that failed with ENOSPC, if one did; None for
    a guest that prepares the flash and measures nothing, where a full partition is a failure.
    `failure`: what went wrong though no step failed, given the end of what programs printed, too.
    `expected`: kinds of messages in the console that are no failure, because what they tell of is
    what is measured.
    """

    check: Callable[[RecordStream], None] = lambda _: None
    shortfall: Callable[[RecordStream, Phase | None], Shortfall | None] | None = None
    failure: Callable[[RecordStream, str], str] = lambda _stream, _output: ""
    expected: frozenset[str] = frozenset()


NOTHING = Asked()


def judged(
    records: Path,
    printed: Printed,
    exit_status: int,
    timed_out_s: float | None,
    asked: Asked = NOTHING,
    failure: str = "",
) -> tuple[Outcome, RecordStream]:
    """`judge` of what a guest wrote into its files, with the records that were in them."""
    stream = read_records(records)
    return judge(stream, printed, exit_status, timed_out_s, asked, failure), stream


def judge(
    stream: RecordStream,
    printed: Printed | str,
    exit_status: int,
    timed_out_s: float | None,
    asked: Asked = NOTHING,
    failure: str = "",
) -> Outcome:
    """The outcome of a guest that ended with `exit_status`.

    `printed` may be the text of the one channel that a guest had.
    `timed_out_s` is the wall-clock limit if the guest was killed at it. `failure` is what went
    wrong with what it ran on, as the target says: then its records may end anywhere.
    """
    if isinstance(printed, str):
        printed = Printed.on_one_channel(printed)
    messages = [
        message for message in printed.kernel.messages if message.kind not in asked.expected
    ]
    end_of_kernel = next((message for message in messages if message.is_end), None)
    silent = _BUILD if not stream.records and not stream.damage else ""
    if end_of_kernel is not None:
        return _ended(end_of_kernel, silent)
    if timed_out_s is not None:
        return Outcome(
            "timeout",
            f"the guest did not end within {timed_out_s:g} s of wall time"
            + (f"; {failure}" if failure else silent),
            printed.last,
        )
    if failure:
        return Outcome("fail", failure, printed.last)
    if stream.damage:
        return Outcome("crash", f"the records are damaged: {stream.damage[0]}", printed.last)
    end = stream.end
    try:
        asked.check(stream)
    except DamagedResultError as error:
        return Outcome("crash", f"the records contradict each other: {error.message}")
    if end is None:
        how = f"signal {-exit_status}" if exit_status < 0 else f"exit status {exit_status}"
        told = f"the guest stopped before the agent's end ({how}){silent}"
        return Outcome("crash", told, printed.last)
    failed = _failed_step(stream, printed, asked)
    if failed is not None and failed.short is None:
        return failed
    if messages:
        return Outcome(
            "fail", f"{messages[0].kind}: {_message(messages[0].text)}", messages[0].excerpt
        )
    if failed is not None:
        return failed
    if not end.is_good:
        # No step failed: the agent did not accept the plan.
        why = end.message or f"it ended with status {end.status}"
        return Outcome("fail", f"the agent: {why}", printed.last)
    told = asked.failure(stream, printed.output)
    if told:
        return Outcome("fail", told, printed.last)
    return _short(asked, stream) or Outcome("pass")


def _ended(message: KernelMessage, silent: str) -> Outcome:
    told = _message(message.text)
    if message.severity == "stuck":
        return Outcome("stuck", told.removeprefix("stuck: "), message.excerpt)
    return Outcome("crash", f"{message.kind}: {told}{silent}", message.excerpt)


def _short(asked: Asked, stream: RecordStream, full_phase: Phase | None = None) -> Outcome | None:
    short = asked.shortfall(stream, full_phase) if asked.shortfall is not None else None
    return Outcome("short", short.told, short=short) if short is not None else None


def _failed_step(stream: RecordStream, printed: Printed, asked: Asked) -> Outcome | None:
    phases, steps = _failures(stream)
    for phase in phases:
        name, errno = phase.name, phase.errno_name
        if name == "verify" or errno in _DAMAGE_ERRORS:
            return Outcome(
                "corrupt",
                f"phase {name}: {phase.message or errno or 'data differ'}",
                printed.last,
            )
        if errno == FULL and phase.workload == "prepare" and phase.message:
            # It says which share cannot be reached, and what went in.
            return Outcome("fail", f"phase {name}: {phase.message}")
        short = _short(asked, stream, phase) if errno == FULL else None
        if short is not None:
            return short
        if errno == FULL:
            told = f"phase {name}: no space left on the partition (ENOSPC)"
            # A measured step says what went in, and whether inodes or pages ran out.
            more = phase.message if phase.workload == MEASURED_STEP else ""
            return Outcome("fail", f"{told}: {more}" if more else told)
        message = phase.message or "failed"
        return Outcome("fail", f"phase {name}: {errno} {message}".replace("  ", " "))
    for step in steps:
        message = step.message or step.errno_name or "failed"
        if step.label == VERIFY:
            more = asked.failure(stream, printed.output)
            told = "; ".join(part for part in (f"{VERIFY}: {message}", more) if part)
            return Outcome("corrupt", told, printed.last)
        kind: OutcomeKind = "corrupt" if step.errno_name in _DAMAGE_ERRORS else "fail"
        return Outcome(kind, f"step {step.index} ({step.verb}): {message}", printed.last)
    return None


def _failures(stream: RecordStream) -> tuple[list[Phase], list[Step]]:
    """The phases and the steps that failed, without those that may fail.

    A workload that filled the partition has failed too, though the plan went on.
    """
    counting = [step for step in stream.steps if not step.may_fail]
    phases = [phase for step in counting for phase in step.phases]
    return (
        [phase for phase in (*phases, *stream.open_phases) if phase.failed],
        [step for step in counting if step.failed],
    )


def _message(line: str) -> str:
    """A kernel message without its time stamp."""
    head, bracket, tail = line.partition("] ")
    return tail if bracket and head.lstrip().startswith("[") else line
