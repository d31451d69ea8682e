"""Makes the cuts of a series: guest after guest, as far as each comes.

A cut that ends the guest is a finding. The series begins anew without it ("lost" in its place), and
comes to the same place by the same way, for guests are deterministic. If the kernel ends it there
once more, that was not the cut's: what the calls before left on the flash ends it, and a new flash
follows.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ffslab.errors import InfrastructureError
from ffslab.oracle.promises import Promise
from ffslab.targets.several import StoppedError
from ffslab.workloads.cuts.keys import Cuts
from ffslab.workloads.cuts.outcomes import GUEST_DIED, MOUNT_FAILS
from ffslab.workloads.cuts.plan import WALK
from ffslab.workloads.cuts.series import CutMade, Life, parse_series, series_words
from ffslab.workloads.cuts.texts import GuestTexts

# Runs a guest of the series with these words of ffscrash, and tells in which directory it writes;
# None: ffslab is to stop.
RunSeries = Callable[[str, Sequence[str], Callable[[Path], None]], GuestTexts | None]
_SPARED_MAX = 16  # so many guests may end before it is no series any more
_TOLD_EVERY_S = 1.0
_TAIL_BYTES = 4096  # more than what is said of a cut, but for messages


@dataclass(slots=True)
class SeriesExplorer:
    """Makes the cuts of a series on one file system.

    `tell` is called with how many cuts have been made, of how many.
    """

    workload: Cuts
    promise: Promise
    seed: int
    run: RunSeries
    tell: Callable[[int, int], None] = lambda _done, _all: None

    def explore(self) -> list[Life]:
        """All cuts, of one flash or, when that cannot be mounted any more, of several.

        InfrastructureError if it fails without a cut, or ends for no reason to be seen.
        """
        lives: list[Life] = []
        while not lives or lives[-1].last < self.workload.cuts:
            lives.append(self._life(len(lives), lives[-1].last if lives else 0))
        return lives

    def _life(self, number: int, first: int) -> Life:
        """The cuts of one flash, to the last or until it cannot be mounted."""
        spared: dict[int, tuple[CutMade, list[str]]] = {}
        while True:
            texts = self._guest(f"series-{number}-{len(spared)}", first, list(spared))
            series_text = parse_series(texts.walk)
            life = Life(first, texts.walk, series_text, spared)
            if series_text.complete:
                return life
            last = series_text.cuts[-1] if series_text.cuts else None
            if series_text.stuck and last is not None:
                if not life.is_given_up:
                    last.wrong.append(
                        (MOUNT_FAILS, f"the flash is lost: cannot {series_text.stuck}")
                    )
                return life
            if last is None or (last.cycle in spared and not texts.death("")[0]):
                raise _ended(texts)
            if last.cycle in spared:  # what ends it is on the flash, with that cut or without
                return life
            spared[last.cycle] = _died(last, texts)
            if texts.timed_out or len(spared) == _SPARED_MAX:
                return life

    def _guest(self, name: str, first: int, spared: Sequence[int]) -> GuestTexts:
        ended = threading.Event()

        def begun(directory: Path) -> None:
            threading.Thread(target=self._watch, args=(directory, ended), daemon=True).start()

        words = series_words(
            self.workload,
            self.promise,
            self.seed,
            first=first,
            cuts=self.workload.cuts,
            spared=spared,
        )
        try:
            texts = self.run(name, words, begun)
        finally:
            ended.set()
        if texts is None:
            raise StoppedError
        return texts

    def _watch(self, directory: Path, ended: threading.Event) -> None:
        """Tells how far the guest has come, from the end of what it has written."""
        while not ended.wait(_TOLD_EVERY_S):
            try:
                with (directory / WALK).open("rb") as file:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                    cuts = re.findall(rb"^cut (\d+) ", file.read(), re.MULTILINE)
            except FileNotFoundError:
                continue
            if cuts:
                self.tell(int(cuts[-1]), self.workload.cuts)


def _ended(texts: GuestTexts) -> InfrastructureError:
    return InfrastructureError(
        "a guest with a series of power cuts ended without one:\n"
        + "\n".join(f"    {line}" for line in texts.last),
        cause="ffscrash failed, or the guest's memory is too small",
    )


def _died(cut: CutMade, texts: GuestTexts) -> tuple[CutMade, list[str]]:
    """The cut that ended a guest, and the end of its console."""
    said, console = texts.death("the guest ended")
    cut.wrong = [(GUEST_DIED, said)]
    return cut, list(console)
