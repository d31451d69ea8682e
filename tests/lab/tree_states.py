"""The states of a tree that a script goes through, for tests that end it at any moment."""

from __future__ import annotations

import stat
from typing import Any

from fstree import Listing, Script

Operation = tuple[str, tuple[Any, ...]]
# Every way in which names change, and files: each leads from one state of a tree to the next.
OPERATIONS: list[Operation] = [
    ("write", ("/anchor", 0, 100, 1)),
    ("mkdir", ("/d",)),
    ("write", ("/d/a", 0, 9000, 2)),
    ("write", ("/d/a", 3000, 3000, 3)),
    ("write", ("/b", 0, 5000, 4)),
    ("rename", ("/b", "/d/a")),
    ("write", ("/c", 0, 5000, 5)),
    ("link", ("/c", "/d/c2")),
    ("link", ("/c", "/c3")),
    ("unlink", ("/c",)),  # takes the place of one of its links
    ("unlink", ("/c3",)),
    ("write", ("/v", 0, 3000, 6)),
    ("link", ("/v", "/v2")),
    ("write", ("/n", 0, 3000, 7)),
    ("rename", ("/n", "/v")),  # what it replaces has another name
    ("write", ("/o", 0, 3000, 8)),
    ("rename", ("/o", "/v2")),
    ("symlink", ("x", "/s")),
    ("symlink", ("y", "/s2")),
    ("rename", ("/s2", "/s")),
    ("mkdir", ("/e",)),
    ("mkdir", ("/f",)),
    ("write", ("/f/in", 0, 10, 9)),
    ("rename", ("/f", "/e")),
    ("write", ("/t", 0, 20000, 10)),
    ("truncate", ("/t", 11111)),
    ("truncate", ("/t", 30000)),
    ("truncate", ("/t", 100)),
    ("truncate", ("/t", 1000)),
    ("truncate", ("/t", 0)),
    ("chmod", ("/d/a", 0o600)),
    ("write", ("/h", 50000, 100, 11)),
    ("write", ("/h", 20000, 3000, 12)),
    ("rename", ("/d", "/e/d")),
    ("unlink", ("/e/d/a",)),
    ("link", ("/h", "/h2")),
    ("rename", ("/h2", "/t")),
    ("write", ("/w", 0, 5000, 13)),
    ("link", ("/w", "/w2")),
    ("rename", ("/w2", "/anchor")),
    ("unlink", ("/w",)),
    ("mknod", ("/fifo", stat.S_IFIFO | 0o600)),
    ("unlink", ("/fifo",)),
]


def do(script: Script, operation: Operation) -> None:
    name, arguments = operation
    getattr(script, name)(*arguments)


def snapshot(script: Script, *, one_link: bool = False) -> Listing:
    """The tree at this moment, without what a crash may leave as it was: times."""
    return {
        path: {key: value for key, value in entry.items() if key not in ("atime", "mtime")}
        for path, entry in script.listing(one_link=one_link).items()
    }


def paths_of(operations: list[Operation]) -> set[str]:
    return {word for _, words in operations for word in words if isinstance(word, str)}


def matches(state: Listing, found: Listing, paths: set[str]) -> bool:
    """Whether the names are those of the state, and all but the files at `paths` is as in it."""
    if state.keys() != found.keys():
        return False
    free = {found[path]["ino"] for path in paths if path in found}
    return not any(
        state[path][key] != found[path][key]
        for path in state
        for key in {*state[path]} & {*found[path]}
        if found[path]["ino"] not in free or key in ("device", "target")
    )
