"""Whether a tree that was found is one that a window allows.

The paths that differ from the tree after `low` steps are found once; then each step adds or removes
some. If none differs the tree is allowed. If only the file differs whose contents the next step
changes, it may be that this step was cut. Names of one object must have one inode, and those of
different objects different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ffslab.oracle.observation import Entry
from ffslab.oracle.timeline import Step, Timeline
from ffslab.oracle.window import Window
from ffslab.oracle.world import Node

Tree = dict[str, Node]


class Cursor:
    """The tree after some number of steps; moving costs the steps between."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._tree = dict(timeline.start)
        self._at = 0

    def tree(self, steps: int) -> Mapping[str, Node]:
        """The tree after so many steps; good until the next call."""
        while self._at < steps:
            for difference in self._timeline.steps[self._at].differences:
                put(self._tree, difference.path, difference.after)
            self._at += 1
        while self._at > steps:
            self._at -= 1
            for difference in self._timeline.steps[self._at].differences:
                put(self._tree, difference.path, difference.before)
        return self._tree


def put(tree: Tree, path: str, node: Node | None) -> None:
    """Sets what is under a path, or that nothing is."""
    if node is None:
        tree.pop(path, None)
    else:
        tree[path] = node


def differing(
    window: Window, base: Mapping[str, Node], entries: Mapping[str, Entry]
) -> Iterable[tuple[int, set[str]]]:
    """For each number of steps from low to high, the paths that differ. One set, changed in place.

    `base`: the tree after low steps.
    """
    differ = {
        path
        for path in (*base, *(path for path in entries if path not in base))
        if not window.is_same(base.get(path), entries.get(path))
    }
    yield window.low, differ
    for at in range(window.low, window.high):
        for difference in window.timeline.steps[at].differences:
            if window.is_same(difference.after, entries.get(difference.path)):
                differ.discard(difference.path)
            else:
                differ.add(difference.path)
        yield at + 1, differ


def is_allowed(window: Window, base: Mapping[str, Node], entries: Mapping[str, Entry]) -> bool:
    """Whether the entries are a tree that the window allows."""
    steps = window.timeline.steps
    for at, differ in differing(window, base, entries):
        following = steps[at] if at < window.high else None
        if (not differ or (following and _is_cut(window, following, differ, entries))) and (
            shares_inodes_as(tree_after(window, base, at), entries)
        ):
            return True
    return False


def tree_after(window: Window, base: Mapping[str, Node], steps: int) -> Tree:
    """The tree after so many steps, from low to high."""
    tree = dict(base)
    for step in window.timeline.steps[window.low : steps]:
        for difference in step.differences:
            put(tree, difference.path, difference.after)
    return tree


def shares_inodes_as(tree: Mapping[str, Node], entries: Mapping[str, Entry]) -> bool:
    """Whether paths have the same inode if, and only if, they are names of one object.

    What is found under two names of one inode must be the same.
    """
    objects: dict[int, int] = {}
    inodes: dict[int, int] = {}
    first: dict[int, Entry] = {}
    for path, entry in entries.items():
        node = tree.get(path)
        if node is None or node.is_doubtful:
            continue
        if (
            objects.setdefault(entry.inode, node.object) != node.object
            or inodes.setdefault(node.object, entry.inode) != entry.inode
            or first.setdefault(entry.inode, entry) != entry
        ):
            return False
    return True


def _is_cut(window: Window, step: Step, differ: set[str], entries: Mapping[str, Entry]) -> bool:
    """Whether all that differs is the contents that this step was changing."""
    change = step.contents
    if change is None:
        return False
    after = {
        difference.path: difference.after
        for difference in step.differences
        if difference.after is not None and difference.after.object == change.object
    }
    for path in differ:
        node, entry = after.get(path), entries.get(path)
        if node is None or entry is None:
            return False
        if not (window.is_like(node, entry) and window.is_divided(change, entry)):
            return False
    return True
