"""Which cases share a prepared state of the flash, and the guests that prepare it.

Each state is prepared once in a run, or taken from the store. Its guest is started ahead of the
cases that need it: always one state more than is in use, so that no worker waits long.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.campaign.images import CaseImage
from ffslab.model.specs import DEFAULT_VARIANT, Case
from ffslab.results.outcome import judged
from ffslab.results.preparation import Preparation
from ffslab.results.rundir import RunDirectory
from ffslab.target.guest import CONSOLE_NAME, FLASH_NAME, RECORDS_NAME, GuestJob, Target
from ffslab.target.plantext import preparation_plan_text
from ffslab.target.states import StateStore, state_key


@dataclass(frozen=True, slots=True)
class StatePlan:
    """A state to prepare: its key, the plan, and one of the cases that need it."""

    key: str
    plan: str
    case: Case
    image: CaseImage | None = None


@dataclass(frozen=True, slots=True)
class PreparedState:
    """How a preparation ended; `flash` is the chip's file, None if it did not succeed."""

    preparation: Preparation
    flash: Path | None


def state_plan(case: Case, build_id: str, image: CaseImage | None = None) -> StatePlan | None:
    """The state that `case`'s guest gets; None if that guest begins with an erased chip."""
    if not case.is_prepared_apart:
        return None
    plan = preparation_plan_text(case)
    key = state_key(case, plan, build_id, image.sha256 if image else "")
    return StatePlan(key, plan, replace(case, trace=False), image)


def in_order(cases: Sequence[Case], states: Mapping[str, StatePlan]) -> Iterator[StatePlan | Case]:
    """The cases in their order, each state one state ahead of the first case that needs it.

    `states` are by the id of the case.
    """
    distinct = list({state.key: state for case in cases if (state := states.get(case.id))}.values())
    place = {state.key: number for number, state in enumerate(distinct)}
    begun = 0
    for case in cases:
        state = states.get(case.id)
        if state is not None:
            while begun < min(place[state.key] + 2, len(distinct)):
                yield distinct[begun]
                begun += 1
        yield case


class StateRoom:
    """The states of one run while it goes on; safe to use from several threads."""

    def __init__(
        self,
        store: StateStore,
        build_id: str,
        *,
        fresh: bool = False,
        images: Mapping[str, CaseImage] | None = None,
        variants: Mapping[str, str] | None = None,
    ) -> None:
        """`variants` are the build ids of other kernels than the default one."""
        self._store = store
        self._build_ids = {DEFAULT_VARIANT: build_id, **(variants or {})}
        self._fresh = fresh
        self._images = images or {}
        self._lock = threading.Lock()  # protects _futures
        self._futures: dict[str, Future[PreparedState | None]] = {}

    def plans(self, cases: Sequence[Case]) -> dict[str, StatePlan]:
        """The state of each case that has one, by the case's id."""
        found = (
            (case.id, state_plan(case, self._build_id(case), self._images.get(case.id)))
            for case in cases
        )
        return {case_id: state for case_id, state in found if state is not None}

    def _build_id(self, case: Case) -> str:
        # Without the kernel that a case needs it is skipped, and its state is not prepared.
        return self._build_ids.get(case.kernel.variant, "")

    def announce(self, state: StatePlan, future: Future[PreparedState | None]) -> None:
        """Says who prepares `state`."""
        with self._lock:
            self._futures[state.key] = future

    def wait_for(self, state: StatePlan) -> PreparedState | None:
        """The state when it is prepared; None if the run was stopped before that."""
        with self._lock:
            future = self._futures[state.key]
        return future.result()

    def prepare(
        self, state: StatePlan, target: Target, run: RunDirectory, timeout_s: float, cpu: int | None
    ) -> PreparedState | None:
        """Takes the state from the store, or runs its guest; None if that was killed.

        What the guest printed is kept in the run directory either way.
        """
        entry = None if self._fresh else self._store.find(state.key)
        if entry is not None:
            return _judged(state, entry, run, 0, None)
        with self._store.new_entry() as directory:
            job = GuestJob(
                state.case,
                state.plan,
                directory,
                timeout_s,
                keep_flash=True,
                host_cpu=cpu,
                image=state.image.path if state.image else None,
            )
            with self._store.errors_explained():
                guest = target.run(job)
            if guest.killed:
                return None
            limit = timeout_s if guest.timed_out else None
            prepared = _judged(state, directory, run, guest.exit_status, limit)
            if prepared.flash is None or guest.flash_sha256 is None:
                return replace(prepared, flash=None)
            entry = self._store.keep(directory, state.key, guest.flash_sha256)
            return replace(prepared, flash=entry / FLASH_NAME)


def _judged(
    state: StatePlan, directory: Path, run: RunDirectory, exit_status: int, limit_s: float | None
) -> PreparedState:
    records = (directory / RECORDS_NAME).read_bytes()
    console = (directory / CONSOLE_NAME).read_bytes()
    run.write_state(
        state.key, {"plan": state.plan.encode(), RECORDS_NAME: records, CONSOLE_NAME: console}
    )
    outcome, stream = judged(records, console, exit_status, limit_s)
    facts = state.image.facts if state.image else None
    preparation = Preparation(state.key, outcome, stream, facts)
    return PreparedState(preparation, directory / FLASH_NAME if outcome.kind == "pass" else None)
