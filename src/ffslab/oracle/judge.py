"""The oracle: whether a tree that was observed after a cut is one that the file system promised.

What is allowed depends on the cut only through a *window* (`ffslab.oracle.window`), and many cuts
share one; many states of the flash also show the same tree. So judgements are kept by window and
text of the observation, and thousands of cuts cost as many look-ups.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ffslab.oracle.diagnose import diagnose
from ffslab.oracle.faults import NO_EXCUSE, Excuse
from ffslab.oracle.history import History
from ffslab.oracle.match import Cursor, is_allowed
from ffslab.oracle.observation import Entry, is_whole, parse_entries, parse_observation
from ffslab.oracle.operations import ROOT
from ffslab.oracle.problems import DISCONNECTED, LOSSES, UNKNOWN_NAME, WRONG_ORDER, Problem
from ffslab.oracle.promises import Promise
from ffslab.oracle.record import Record
from ffslab.oracle.steps import timeline
from ffslab.oracle.timeline import Timeline
from ffslab.oracle.window import Window

Key = tuple[int, int, int, Excuse]


class Judge:
    """Judges observations of one run: a history, as it was recorded, on one file system."""

    def __init__(self, history: History, record: Record, promise: Promise) -> None:
        self.history = history
        self.record = record
        self.promise = promise
        self.timeline: Timeline = timeline(history, record, promise)
        self._cursor = Cursor(self.timeline)
        self._keys: dict[tuple[int, Excuse], Key] = {}
        self._windows: dict[Key, Window] = {}
        self._judged: dict[tuple[Key, str], tuple[Problem, ...]] = {}
        # After how many calls contents were synced, in order.
        self._synced = sorted(
            floor.finished for floors in self.timeline.floors.values() for floor in floors
        )

    def judge(
        self, cut_operations: int, observation: str, excuse: Excuse = NO_EXCUSE
    ) -> tuple[Problem, ...]:
        """What is wrong with a tree after a cut at this operation of the chip; nothing: ().

        `observation`: its text, or the entries alone; FormatError if it is none. `excuse`: what
        the fault excuses.
        """
        key = self._keys.get((cut_operations, excuse))
        if key is None:
            key = self._keys[cut_operations, excuse] = self._key(cut_operations, excuse)
        problems = self._judged.get((key, observation))
        if problems is None:
            problems = self._judged[key, observation] = self._judge(self._windows[key], observation)
        return problems

    def window(self, cut_operations: int, excuse: Excuse = NO_EXCUSE) -> Window:
        """What such a cut leaves open."""
        return self._windows[self._key(cut_operations, excuse)]

    def _key(self, cut: int, excuse: Excuse) -> Key:
        finished, begun = self.record.finished(cut), self.record.begun(cut)
        begun = max(finished, begun)
        low, high = self.timeline.durable[finished], self.timeline.made[begun]
        key = (low, high, bisect_right(self._synced, finished), excuse)
        if key not in self._windows:
            self._windows[key] = Window(
                self.timeline, self.promise, low, high, finished, begun, excuse
            )
        return key

    def _judge(self, window: Window, text: str) -> tuple[Problem, ...]:
        entries = dict(parse_observation(text).entries if is_whole(text) else parse_entries(text))
        strays = self._take_own(entries)
        base = self._cursor.tree(window.low)
        if not strays and is_allowed(window, base, entries):
            return ()
        problems = [
            Problem(
                DISCONNECTED,
                path,
                f"{path} was put aside by the file system: the directory that had it is not there",
            )
            for path in strays
        ]
        if not is_allowed(window, base, entries):
            problems += diagnose(window, self.history, base, entries)
        if window.excuse.lost:
            root = entries.get(ROOT)
            problems = [
                problem for problem in problems if not self._is_excused(problem, window, root)
            ]
        if window.excuse.reordered:
            problems = [problem for problem in problems if problem.kind != WRONG_ORDER]
        return tuple(problems)

    def _is_excused(self, problem: Problem, window: Window, root: Entry | None) -> bool:
        """A loss is, but for what is only below an overlay: no operation was of its pages.

        All of an overlay hangs on its root, which is on the upper file system too.
        """
        is_root_whole = root is not None and not root.errno
        is_below = is_root_whole and self.timeline.is_below(problem.path, window.begun)
        return not is_below and self._is_loss(problem)

    def _is_loss(self, problem: Problem) -> bool:
        """Whether no more than the absence of durable data can have led to it."""
        if problem.kind == UNKNOWN_NAME and self.promise.names_of_lost:
            parts = problem.path.split("/")
            return any(re.fullmatch(self.promise.names_of_lost, part) for part in parts)
        return problem.kind in LOSSES

    def _take_own(self, entries: dict[str, Entry]) -> list[str]:
        """Takes out the directories that the file system makes itself; what is in them."""
        strays = []
        for path in list(entries):
            first, slash, _ = path.partition("/")
            if first in self.promise.own_names:
                del entries[path]
                strays += [path] if slash else []
        return strays
