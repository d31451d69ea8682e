"""Trees after small histories, for the oracle: each call is one operation of the chip."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from oracle_support import sums

from ffslab.oracle.faults import NO_EXCUSE, Excuse
from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.problems import Problem
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record

# Links of the root of a file system without directories.
ROOT_LINKS = {
    "jffs2": 3,
    "ubifs": 2,
    "yaffs2": 3,
    "logfs": 1,
    "overlay-jffs2": 1,
    "overlay-ubifs": 1,
}
TORN = Excuse(unreadable_unsynced=True)
NONE_FAILED: Mapping[int, int] = MappingProxyType({})


def judge_of(filesystem: str, history_text: str, failed: Mapping[int, int] = NONE_FAILED) -> Judge:
    """Of a history that ran to its end; `failed`: errors of calls."""
    history = parse_history(history_text)
    count = len(history.operations)
    record = [f"op {n} {failed.get(n, 0)} {n} {n + 1}\n" for n in range(count)]
    text = "".join(record) + f"end {count} 0 {count}\n"
    return Judge(history, parse_record(text), promise_of(filesystem))


def tree(filesystem: str, *entries: str, directories: int = 0) -> str:
    """A tree of these entries and the root, which has so many directories."""
    links = ROOT_LINKS[filesystem] + directories * (ROOT_LINKS[filesystem] != 1)
    return "".join(f"{line}\n" for line in (f"dir . {links} 1 0", *entries))


def judged(
    filesystem: str,
    history_text: str,
    *entries: str,
    excuse: Excuse = NO_EXCUSE,
    failed: Mapping[int, int] = NONE_FAILED,
    cut: int | None = None,
    directories: int = 0,
) -> tuple[Problem, ...]:
    """What is wrong with such a tree after a cut in the last call, or in another one."""
    judge = judge_of(filesystem, history_text, failed)
    at = len(judge.history.operations) - 1 if cut is None else cut
    return judge.judge(at, tree(filesystem, *entries, directories=directories), excuse)


def problems(
    filesystem: str, history_text: str, *entries: str, **how: Any
) -> list[tuple[str, str]]:
    """Class and path of each of them; `how`: as for `judged`."""
    found = judged(filesystem, history_text, *entries, **how)
    return [(problem.kind, problem.path) for problem in found]


def file(data: bytes, *torn: int, path: str = "a", inode: int = 10, links: int = 1) -> str:
    """A file with these contents, of which some sectors cannot be read."""
    words = [sums(data[at : at + 512]) for at in range(0, len(data), 512)]
    words = ["!" if at in torn else word for at, word in enumerate(words)]
    return f"file {path} {len(data)} {links} {inode} {5 if torn else 0} {','.join(words) or '-'}"


def unreadable(size_bytes: int, path: str = "a") -> str:
    """A file that cannot be read at all."""
    return f"file {path} {size_bytes} 1 10 5 -"
