"""Checks of a case that several workloads share."""

from __future__ import annotations

from ffslab.errors import SpecError
from ffslab.model.workload import Setting

Problem = tuple[str, str, str]  # message, cause, remedy


def refuse(problem: Problem | None, setting: Setting) -> None:
    """SpecError for a problem, if there is one."""
    if problem is not None:
        message, cause, remedy = problem
        raise SpecError(f"{setting.where}: {message}", cause=cause, remedy=remedy)


def check_writable(kind: str, setting: Setting) -> None:
    """SpecError where the flash begins with an image, or the file system cannot be written."""
    setup, state = setting.setup, setting.state
    read_only = setup.image is not None and setup.image.read_only
    if read_only or state.kind == "image":
        what = f"{setup.name} is read-only" if read_only else f"state {state.name!r} is an image"
        raise SpecError(
            f"{setting.where}: {what}: it is for workload tree, not for {kind}",
            cause=f"{kind} writes, and prepares the flash itself",
            remedy='workload.kind = "tree"',
        )


def check_own_state(kind: str, setting: Setting) -> None:
    """SpecError for a state that a workload whose own guest prepares it cannot have."""
    state = setting.state
    if state.kind not in ("free", "aged") or state.settle_ms or not state.remount:
        raise SpecError(
            f"{setting.where}: {kind} prepares its own state, free or aged; it has no "
            f"{state.name!r}",
            cause="saturated and filled states, settle_ms and remount are for workloads that get a "
            "prepared flash, as micro",
            remedy='state = "free" or "aged", or workload.kind = "micro"',
        )


def settle_problem(setting: Setting, first: str) -> Problem | None:
    """A wait where nothing is removed that could settle before the `first`."""
    state = setting.state
    if state.settle_ms and state.kind != "saturated" and not state.invalid_percent:
        return (
            f"settle_ms is {state.settle_ms}, and state {state.name!r} has no invalid data",
            f"settle_ms is the time between the removal of invalid data and the first {first}",
            "leave settle_ms out, or state.invalid_percent = 25",
        )
    return None
