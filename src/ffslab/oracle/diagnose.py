"""What is wrong with a tree that no step of the window explains: path by path, then all together.

A path has what it may be at any step of the window. What is none of that is named by its class. If
each path by itself could be as it is, it is their combination that cannot: both names of a rename
gone, or a later call seen and an earlier one not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ffslab.oracle.attributes import told
from ffslab.oracle.blame import blame_contents
from ffslab.oracle.history import History
from ffslab.oracle.match import differing
from ffslab.oracle.observation import DIRECTORY, FILE, LOST, SYMLINK, Entry
from ffslab.oracle.problems import (
    BAD_ATTRIBUTES,
    BAD_LINKS,
    CORRUPT_CONTENTS,
    NAME_KEPT,
    NAME_LOST,
    NOT_ATOMIC,
    STALE_DATA,
    UNKNOWN_NAME,
    UNREADABLE,
    WRONG_KIND,
    WRONG_ORDER,
    Problem,
)
from ffslab.oracle.window import Window
from ffslab.oracle.world import ANY_LINKS, Node

Nodes = list[Node | None]
_OF_NAMES = frozenset({NAME_LOST, NAME_KEPT, UNKNOWN_NAME, WRONG_KIND})


def diagnose(
    window: Window, history: History, base: Mapping[str, Node], entries: Mapping[str, Entry]
) -> list[Problem]:
    """One problem or more. `base`: the tree after the durable steps."""
    return _Diagnosis(window, history, base, entries).problems()


class _Diagnosis:
    def __init__(
        self,
        window: Window,
        history: History,
        base: Mapping[str, Node],
        entries: Mapping[str, Entry],
    ) -> None:
        self._window = window
        self._history = history
        self._base = base
        self._entries = entries
        self._steps = window.timeline.steps
        # What each path that changes in the window may be.
        self._changing: dict[str, Nodes] = {}
        for step in self._steps[window.low : window.high]:
            for difference in step.differences:
                nodes = self._changing.setdefault(difference.path, [base.get(difference.path)])
                nodes.append(difference.after)

    def problems(self) -> list[Problem]:
        paths = {*self._base, *self._changing, *self._entries}
        problems = [problem for path in sorted(paths) for problem in self._of_path(path)]
        if any(problem.kind in _OF_NAMES for problem in problems):
            # With the name of a directory, a link of its parent is gone.
            problems = [problem for problem in problems if problem.kind != BAD_LINKS]
        elif all(problem.kind == BAD_LINKS for problem in problems):
            # A directory with two names is counted twice by the one above it.
            problems = list(self._renames()) or problems
        return problems or self._together()

    # Each path by itself.

    def _of_path(self, path: str) -> Iterator[Problem]:
        nodes = self._changing.get(path, [self._base.get(path)])
        entry = self._entries.get(path)
        known = [node for node in nodes if node is not None]
        if any(node.is_doubtful for node in known):
            return
        if entry is None:
            if None not in nodes:
                yield self._lost(path, known)
        elif not known:
            yield self._unexpected(path)
        elif not any(node.kind == entry.kind for node in known):
            yield self._wrong_kind(path, entry, known)
        else:
            yield from self._differs(path, entry, [n for n in known if n.kind == entry.kind])

    def _lost(self, path: str, nodes: list[Node]) -> Problem:
        maker = self._last_change(path)
        return Problem(
            NAME_LOST,
            path,
            f"{path} is gone: a {nodes[-1].kind} that {self._call(maker)} put there, and no later "
            "call that had begun took it away",
            maker,
        )

    def _unexpected(self, path: str) -> Problem:
        before = self._last_change(path)
        if before is not None:
            return Problem(
                NAME_KEPT,
                path,
                f"{path} is there again: {self._call(before)} took it away, which was durable",
                before,
            )
        later = next(
            (
                step.operation
                for step in self._steps
                for difference in step.differences
                if difference.path == path
            ),
            None,
        )
        what = "no call ever made it" if later is None else f"{self._call(later)} had not begun"
        return Problem(UNKNOWN_NAME, path, f"{path} is there, and {what}", later)

    def _wrong_kind(self, path: str, entry: Entry, nodes: list[Node]) -> Problem:
        maker = self._last_change(path)
        if entry.kind == LOST:
            sentence = f"{path} is in its directory, but lstat fails with error {entry.errno}"
            return Problem(UNREADABLE, path, sentence, maker)
        sentence = f"{path} is a {entry.kind}; {self._call(maker)} made a {nodes[-1].kind}"
        return Problem(WRONG_KIND, path, sentence, maker)

    def _differs(self, path: str, entry: Entry, nodes: list[Node]) -> Iterator[Problem]:
        if entry.kind == FILE:
            if not any(self._has_contents(path, node, entry) for node in nodes):
                yield self._replaced(path, entry, nodes) or blame_contents(
                    self._window, self._history, path, entry, nodes
                )
        elif entry.errno and not self._window.excuse.unreadable_synced:
            sentence = f"{path} cannot be read: error {entry.errno}"
            yield Problem(UNREADABLE, path, sentence, self._last_change(path))
        elif entry.kind == SYMLINK and entry.target not in {node.target for node in nodes}:
            sentence = f"{path} points to {entry.target!r}, not to {nodes[-1].target!r}"
            yield Problem(CORRUPT_CONTENTS, path, sentence, self._last_change(path))
        links = sorted({node.links for node in nodes})
        if entry.links not in links and ANY_LINKS not in links:
            wanted = " or ".join(map(str, links))
            sentence = f"{path} says that it has {entry.links} links, and has {wanted}"
            yield Problem(BAD_LINKS, path, sentence, self._last_change(path))
        if not any(self._window.has_attributes(node, entry) for node in nodes):
            wanted = " or ".join(dict.fromkeys(map(self._window.attributes_of, nodes)))
            observed = told(entry.kind, entry.attributes)
            sentence = f"{path} has mode, mtime and attributes {observed}, not {wanted}"
            yield Problem(BAD_ATTRIBUTES, path, sentence, self._last_change(path))

    def _replaced(self, path: str, entry: Entry, nodes: list[Node]) -> Problem | None:
        """Whether it is a file that had this name before, and was replaced or deleted."""
        current = {node.object for node in nodes}
        for step in reversed(self._steps[: self._window.low]):
            for difference in step.differences:
                before = difference.before
                if difference.path != path or before is None or before.object in current:
                    continue
                if before.version is not None and any(
                    (version.size_bytes, version.text) == (entry.size_bytes, entry.sums)
                    for version in self._window.timeline.logs[before.object].versions
                ):
                    sentence = f"{path} is the file that {self._call(step.operation)} took away"
                    return Problem(
                        STALE_DATA, path, f"{sentence}, which was durable", step.operation
                    )
        return None

    def _has_contents(self, path: str, node: Node, entry: Entry) -> bool:
        window = self._window
        assert node.version is not None
        if node.object in window.timeline.written_back:
            return window.is_written_back(node.object, entry)
        if window.is_version(node.object, node.version, entry):
            return True
        return any(
            step.contents is not None
            and step.contents.object == node.object
            and window.is_divided(step.contents, entry)
            for step in self._steps[window.low : window.high]
            if any(difference.path == path for difference in step.differences)
        )

    # All together.

    def _together(self) -> list[Problem]:
        problems = [*self._inodes(), *self._renames()]
        return problems or [self._order()]

    def _inodes(self) -> Iterator[Problem]:
        """Names that share an inode and never were one object, or were and do not."""
        objects = {
            path: {
                node.object
                for node in self._changing.get(path, [self._base.get(path)])
                if node is not None
            }
            for path in self._entries
        }
        by_inode: dict[int, list[str]] = defaultdict(list)
        for path, entry in self._entries.items():
            by_inode[entry.inode].append(path)
        for inode, paths in by_inode.items():
            for path in paths[1:]:
                if self._entries[path] != self._entries[paths[0]]:
                    sentence = f"{path} and {paths[0]} are one inode, {inode}, and differ"
                    yield Problem(BAD_LINKS, path, sentence, self._last_change(path))
                    continue
                if not objects[path] & objects[paths[0]] and objects[path] and objects[paths[0]]:
                    sentence = f"{path} and {paths[0]} are one inode, {inode}, and two files"
                    yield Problem(BAD_LINKS, path, sentence, self._last_change(path))
        seen: dict[int, str] = {}
        for path, numbers in objects.items():
            if len(numbers) != 1:
                continue
            (number,) = numbers
            first = seen.setdefault(number, path)
            if self._entries[first].inode != self._entries[path].inode:
                sentence = f"{path} and {first} are links to one file, and two inodes"
                yield Problem(BAD_LINKS, path, sentence, self._last_change(path))

    def _renames(self) -> Iterator[Problem]:
        """Renames in the window of which neither name is there, or both are that must not."""
        window = self._window
        for index in dict.fromkeys(s.operation for s in self._steps[window.low : window.high]):
            operation = self._history.operations[index]
            if operation.verb not in ("rename", "renamenew"):
                continue
            old = self._entries.get(operation.path)
            new = self._entries.get(operation.other)
            what = None
            if old is None and new is None:
                what = "neither name is there"
            elif old and new and old.inode == new.inode:
                if old.kind == DIRECTORY:
                    what = "the directory has both names"
                elif window.promise.rename_is_atomic:
                    what = "the file has both names"
            if what and self._is_last_of(index, operation.path, operation.other):
                yield Problem(NOT_ATOMIC, operation.other, f"{self._call(index)}: {what}", index)

    def _is_last_of(self, index: int, *paths: str) -> bool:
        """Whether no later call of the window changes what has these names."""
        later = [s for s in self._steps[: self._window.high] if s.operation > index]
        return not any(
            difference.path in paths and difference.is_of_name
            for step in later
            for difference in step.differences
        )

    def _order(self) -> Problem:
        """A later call is seen, and something before it is not."""
        best, missing = min(
            (
                (at, set(differ))
                for at, differ in differing(self._window, self._base, self._entries)
            ),
            key=lambda candidate: (len(candidate[1]), -candidate[0]),
        )
        path = min(missing, default=".")
        maker = self._last_change(path)
        seen = self._steps[best - 1].operation if best else None
        sentence = (
            f"the tree is as after {self._call(seen)}, but {path} is not: what was done one after "
            "the other is there in another order"
        )
        return Problem(WRONG_ORDER, path, sentence, maker)

    # Words.

    def _last_change(self, path: str) -> int | None:
        """The last call that had begun and changed what has this name, if anything."""
        return next(
            (
                step.operation
                for step in reversed(self._steps[: self._window.high])
                if any(
                    difference.path == path and difference.is_of_name
                    for difference in step.differences
                )
            ),
            None,
        )

    def _call(self, index: int | None) -> str:
        if index is None:
            return "the lower file system" if self._history.lower else "the empty file system"
        return self._history.told(index)
