"""Histories of power cuts: a function of the seed, valid."""

from __future__ import annotations

import pytest
from oracle_support import Toy
from oracle_toys import ToyJffs2, ToyUbifs, ToyYaffs2

from ffslab.errors import UsageError
from ffslab.oracle.generators.registry import (
    KINDS,
    history_of_kind,
    parameters,
    worn_erases_of_kind,
)
from ffslab.oracle.history import History, parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.promises import promise_of

SMALL = {
    "transactions": {"files": 6, "transactions": 20, "sync_every": 5},
    "overwrite": {"file_bytes": 16384, "requests": 10, "fsync_every": 3},
    "directories": {"calls": 50},
    "appends": {"lines": 30, "rotate_lines": 12},
    "update-by-rename": {"updates": 5, "fsync_directory": 0},
    "full": {"partition_bytes": 40000, "file_bytes": 4000},
    "firmware": {"image_bytes": 20000, "piece_bytes": 8192},
    "moved-blocks": {"cold_bytes": 100000, "hot_bytes": 4096, "rewrites": 5},
    "open-files": {"rounds": 2},
    "overlay": {"rounds": 1, "big_bytes": 20000},
}
OF_NO_OVERLAY = [kind for kind in KINDS if kind != "overlay"]


def verbs(history: History) -> list[str]:
    return [operation.verb for operation in history.operations]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_a_history(kind: str) -> None:
    first = history_of_kind(kind, 7, SMALL[kind])
    assert history_of_kind(kind, 7, SMALL[kind]) == first
    assert history_of_kind(kind, 8, SMALL[kind]).text != first.text
    assert parse_history(first.text).operations == first.operations
    assert set(verbs(first)) & {"sync", "fsync", "fdatasync", "writesync"}


@pytest.mark.parametrize("kind", OF_NO_OVERLAY)
@pytest.mark.parametrize("toy", [ToyJffs2, ToyUbifs, ToyYaffs2])
def test_every_call_succeeds_and_every_cut_is_allowed(kind: str, toy: type[Toy]) -> None:
    made = toy(1)
    history = history_of_kind(kind, 1, SMALL[kind])
    record = made.run(history)
    failed = {
        (operation.verb, call.errno)
        for operation, call in zip(history.operations, record.calls, strict=True)
        if call.errno
    }
    assert failed <= (set() if toy.maps else {("mapwrite", 22), ("msync", 22)})
    judge = Judge(history, record, promise_of(toy.filesystem))
    for cut in range(0, made.pages + 1, 1 + made.pages // 40):
        assert judge.judge(cut, made.observe(cut)) == ()


def test_what_the_kinds_do() -> None:
    mark = verbs(history_of_kind("transactions", 1, {"files": 5, "transactions": 30}))
    assert mark.count("write") == mark.count("unlink") and mark.count("append") > 0
    assert mark.count("mkdir") == mark.count("rmdir") == 3
    over = verbs(history_of_kind("overwrite", 1, {"requests": 10, "fsync_every": 5}))
    assert (over.count("write"), over.count("fsync")) == (11, 2)
    log = verbs(history_of_kind("appends", 1, {"lines": 100, "rotate_lines": 40}))
    assert (log.count("append"), log.count("fdatasync"), log.count("rename")) == (100, 20, 2)
    update = history_of_kind("update-by-rename", 1, {"updates": 2}).operations[3:]
    assert verbs(History(update)) == ["write", "fsync", "rename", "fsync"] * 2
    image = history_of_kind("firmware", 1, {"image_bytes": 100000, "updates": 1}).operations
    assert sum(one.size_bytes for one in image if one.path == "image.new") == 100000
    assert verbs(history_of_kind("moved-blocks", 1, {"rewrites": 7})).count("writesync") == 7
    tree = set(verbs(history_of_kind("directories", 1)))
    assert tree == {"mkdir", "create", "rename", "link", "unlink", "fsync", "sync"}
    opened = verbs(history_of_kind("open-files", 1, {"rounds": 3}))
    syncs = ["fsync", "fdatasync", "msync", "sync", "syncrange"]
    # Of each round: those of the two files, the directory's, of what was shortened and deleted.
    assert [opened.count(one) for one in syncs] == [15, 6, 3, 4, 3]
    assert (opened.count("opensync"), opened.count("opendsync"), opened.count("dup")) == (1, 1, 1)
    full = history_of_kind("full", 1)
    filled = full.operations[: verbs(full).index("sync")]
    assert sum(one.size_bytes for one in filled) >= 4096 * 1024


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'overwrite'"):
        history_of_kind("overwrit", 1)
    with pytest.raises(UsageError, match="no parameter 'request'"):
        history_of_kind("overwrite", 1, {"request": 5})
    with pytest.raises(UsageError, match="less than 0"):
        history_of_kind("overwrite", 1, {"requests": -5})
    assert parameters("appends") == {
        "lines": 150,
        "line_bytes": 128,
        "fsync_every": 5,
        "rotate_lines": 60,
    }


def test_only_moved_blocks_wants_worn_blocks() -> None:
    assert {kind for kind in KINDS if worn_erases_of_kind(kind)} == {"moved-blocks"}
    # CONFIG_MTD_UBI_WL_THRESHOLD of the lab's kernel, which decides whether UBI moves anything.
    assert worn_erases_of_kind("moved-blocks") > 4096
    assert worn_erases_of_kind("moved-blocks", {"worn_erases": 0}) == 0
