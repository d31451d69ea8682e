"""A case of cuts: its first guest logs the history, what its log says decides on the others.

Beside the result the case's directory has the texts that its judgements rest on: `history`, the
chip's `log` and the `record` of the calls; of a series what its guests told of each cut.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ffslab.model.case import Case
from ffslab.oracle.promises import promise_of
from ffslab.protocol.records import RecordStream
from ffslab.results.console import Printed
from ffslab.results.outcome import Outcome, judged
from ffslab.targets.several import Explored, Guests, StoppedError, Tell
from ffslab.targets.target import CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME, GuestRun
from ffslab.workloads.cuts.explore.explorer import Explorer
from ffslab.workloads.cuts.explore.guest import run_guest, run_series, run_tree
from ffslab.workloads.cuts.explore.sequences import SequenceExplorer
from ffslab.workloads.cuts.explore.series import SeriesExplorer
from ffslab.workloads.cuts.keys import SERIES, TELL
from ffslab.workloads.cuts.oracle import oracle_for
from ffslab.workloads.cuts.outcomes import CORRECT, wrong_words
from ffslab.workloads.cuts.plan import Cutter, cuts_of, cuts_on_chip, cutter_of, history_of, tree_of
from ffslab.workloads.cuts.sequences import stored_sequences
from ffslab.workloads.cuts.series import stored_series
from ffslab.workloads.cuts.stored import CutsResult, configuration_of, outcomes_of, stored_of
from ffslab.workloads.cuts.texts import GuestTexts

LIMIT_FACTOR = 2  # of a guest's limit: it goes through thousands of states
_OF_A_FAILED_OPERATION = re.compile(
    r"\bubi\d+ error: (ubi_io_write|ubi_dump_flash|do_sync_erase|__erase_worker|torture_peb)"
)
SECONDS_A_CUT = 0.05  # of a series, added to the limit of a guest


@dataclass(frozen=True, slots=True)
class CutGuests:
    """The guests of a case, each in a directory of its own, which goes unless it is to be kept."""

    guests: Guests
    cutter: Cutter
    directory: Path

    def first(self) -> tuple[GuestTexts, GuestRun]:
        """The guest whose chip logs the history; its console and records are the case's."""
        ended = run_guest(self.guests, self.cutter, "", self.directory / "log-guest")
        if ended is None:
            raise StoppedError
        guest_directory = self.directory / "log-guest"
        for name in (CONSOLE_NAME, OUTPUT_NAME, RECORDS_NAME):
            if (guest_directory / name).exists():
                shutil.copyfile(guest_directory / name, self.directory / name)
        self._done_with(guest_directory)
        return ended

    def walk(self, name: str, states: str) -> GuestTexts | None:
        """A guest that goes through states."""
        ended = run_guest(self.guests, self.cutter, states, self.directory / name)
        self._done_with(self.directory / name)
        return ended[0] if ended else None

    def tree(self, name: str, nodes: str, after: str) -> GuestTexts | None:
        """A guest that goes through sequences."""
        texts = run_tree(self.guests, self.cutter, nodes, after, self.directory / name)
        self._done_with(self.directory / name)
        return texts

    def series(
        self, name: str, words: Sequence[str], begun: Callable[[Path], None]
    ) -> GuestTexts | None:
        """A guest in which one cut follows the other."""
        further_s = int(words[0]) * SECONDS_A_CUT
        guest_directory = self.directory / name
        ended = run_series(self.guests, self.cutter, words, guest_directory, further_s, begun)
        self._done_with(guest_directory)
        return ended[0] if ended else None

    def _done_with(self, guest_directory: Path) -> None:
        if not self.guests.keep:
            shutil.rmtree(guest_directory, ignore_errors=True)


def run_case(case: Case, guests: Guests, directory: Path, tell: Tell) -> Explored:
    """Makes all cuts of a case; StoppedError if ffslab is to stop."""
    cut_guests = CutGuests(guests, cutter_of(case, guests.rig), directory)
    if cuts_of(case).is_series:
        return _series(case, cut_guests, tell)
    return _history(case, cut_guests, tell)


def _sequences(case: Case, guests: CutGuests, record: str, tell: Tell) -> CutsResult:
    workload, tree = cuts_of(case), tree_of(case)
    count = tree.count()
    first, end = (count * part // workload.parts for part in (workload.part - 1, workload.part))
    explorer = SequenceExplorer(
        *(configuration_of(case), tree, promise_of(case.filesystem.stack), record, guests.tree),
        *(tell, guests.guests.jobs, first, end),
    )
    _keep(guests.directory, {"history": tree.start.text, "record": record})
    return stored_sequences(case, tree, *explorer.explore())


def _history(case: Case, guests: CutGuests, tell: Tell) -> Explored:
    first, run = guests.first()
    outcome, stream = _judged(guests.cutter.case, guests.directory, run, guests.guests.limit_s)
    if outcome.kind != "pass":
        reason = f"without any cut: {outcome.reason}"
        return Explored(Outcome(outcome.kind, reason, outcome.excerpt), stream, {"cuts": None})
    if cuts_of(case).is_sequences:
        return _explored(case, _sequences(case, guests, first.record, tell), stream)
    history = history_of(case)
    explorer = Explorer(
        configuration_of(case),
        cuts_on_chip(case),
        case.seed,
        guests.walk,
        oracle_for(case, history),
        tell,
        guests.guests.jobs,
    )
    explored = explorer.explore(first)
    _keep(
        guests.directory,
        {"history": history.text, "record": explored.record, "log": explored.log},
    )
    return _explored(case, stored_of(case, history, explored), stream)


def _series(case: Case, guests: CutGuests, tell: Tell) -> Explored:
    promise = promise_of(case.filesystem.stack)
    lives = SeriesExplorer(cuts_on_chip(case), promise, case.seed, guests.series, tell).explore()
    _keep(guests.directory, {SERIES: "".join(life.text for life in lives)})
    return _explored(case, stored_series(case, lives), RecordStream((), (), False))


def _explored(case: Case, cuts: CutsResult, stream: RecordStream) -> Explored:
    outcomes = outcomes_of(cuts)
    wrong = outcomes.total() - outcomes[CORRECT]
    words = f"{wrong:,} of {outcomes.total():,} states are not correct: "
    reason = words + ", ".join(wrong_words(outcomes)) if wrong else ""
    is_failure = wrong and cuts_of(case).findings != TELL
    return Explored(Outcome("fail" if is_failure else "pass", reason), stream, {"cuts": cuts})


def _without_retired_blocks(printed: Printed) -> Printed:
    """Without what UBI says of an operation that the chip failed, and goes on."""
    kernel = printed.kernel
    left = tuple(
        message for message in kernel.messages if not _OF_A_FAILED_OPERATION.search(message.text)
    )
    return replace(printed, kernel=replace(kernel, messages=left))


def _judged(
    case: Case, directory: Path, run: GuestRun, limit_s: float
) -> tuple[Outcome, RecordStream]:
    """The judgement of the guest that logged the history."""
    printed = Printed.of(directory / CONSOLE_NAME, directory / OUTPUT_NAME)
    if case.board.chip.program_fail_ppm or case.board.chip.erase_fail_ppm:
        printed = _without_retired_blocks(printed)
    limit = limit_s if run.timed_out else None
    records = directory / RECORDS_NAME
    return judged(records, printed, run.exit_status, limit, failure=run.failure)


def _keep(directory: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
