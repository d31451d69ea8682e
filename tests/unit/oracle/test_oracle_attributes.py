"""Modes, times and extended attributes, and renames with a flag, as the oracle promises them."""

from __future__ import annotations

import pytest

from ffslab.oracle.attributes import Attributes, is_like
from ffslab.oracle.contents import pattern, sector_sum
from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.observation import parse_observation
from ffslab.oracle.operations import FormatError
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import Call, Record

ROOT_LINKS = {"jffs2": 3, "ubifs": 2, "yaffs2": 3, "logfs": 1}
IN_TIME = ("ubifs", "logfs")  # mode and mtime are written back later


def kinds(filesystem: str, calls: str, tree: str, cut: int, *, directories: int = 0) -> list[str]:
    """What is wrong with a tree after so many calls; each is one operation of the chip."""
    history = parse_history(calls)
    record = Record(tuple(Call(0, n, n + 1) for n in range(len(history.operations))), True)
    links = ROOT_LINKS[filesystem] + (directories if filesystem != "logfs" else 0)
    judge = Judge(history, record, promise_of(filesystem))
    return [one.kind for one in judge.judge(cut, f"dir . {links} 1 0\n{tree}")]


def entry(path: str = "a", inode: int = 2, *, kind: str = "file", told: str = "") -> str:
    line = f"file {path} 0 1 {inode} 0 -\n" if kind == "file" else f"other {path} 1 {inode} 0\n"
    return line + (f"attributes {path} {told}\n" if told else "")


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
@pytest.mark.parametrize(
    ("change", "told"),
    [("chmod a 600", "600 - -"), ("setmtime a 1000000000", "644 1000000000 -")],
)
def test_an_attribute_is_as_before_or_after_until_it_is_synced(
    filesystem: str, change: str, told: str
) -> None:
    calls = f"create a\nsync\n{change}\nfsync a\ncreate b\n"
    is_durable = filesystem == "yaffs2"  # once the call returned
    for cut in (2, 3, 4, 5):
        both = entry() + entry("b", 3) if cut == 5 else entry()
        new = both.replace(entry(), entry(told=told))
        wrong = kinds(filesystem, calls, both, cut)
        assert bool(wrong) == (cut >= (3 if is_durable else 4))
        assert set(wrong) <= {"bad-attributes"}
        assert kinds(filesystem, calls, new, cut) == []
        # Nothing else than these two.
        other = both.replace(entry(), entry(told="640 - -"))
        assert kinds(filesystem, calls, other, cut) == ["bad-attributes"]


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs", "yaffs2"])
def test_an_extended_attribute_is_set_replaced_and_removed(filesystem: str) -> None:
    calls = (
        "create a\nsync\nsetxattr a user.x 40 7\nfsync a\nsetxattr a user.x 5 9\nfsync a\n"
        "removexattr a user.x\nfsync a\n"
    )
    one, two = (
        f"644 - user.x={size}:{sector_sum(pattern(seed, 0, size))}"
        for size, seed in ((40, 7), (5, 9))
    )
    for cut, allowed in {4: (one, two), 6: (two, ""), 8: ("",)}.items():
        for seen in ("", one, two):
            wrong = kinds(filesystem, calls, entry(told=seen), cut)
            assert wrong == ([] if seen in allowed else ["bad-attributes"]), (cut, seen)
    # While it is replaced it is one of the two, and not another.
    assert kinds(filesystem, calls, entry(told=one.replace("40:", "41:")), 4) == ["bad-attributes"]
    assert kinds(filesystem, calls, entry(told="644 - user.x=!5"), 4) == ["bad-attributes"]


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_writing_makes_a_time_that_was_set_one_of_now_sooner_or_later(filesystem: str) -> None:
    calls = "create a\nsetmtime a 1000000000\nsync\ntruncate a 0\nsync\n"
    for told in ("", "644 1000000000 -"):
        assert kinds(filesystem, calls, entry(told=told), 5) == []
    assert kinds(filesystem, calls, entry(told="644 7 -"), 2) == ["bad-attributes"]


@pytest.mark.parametrize("filesystem", IN_TIME)
def test_an_inode_that_is_written_back_has_no_order_with_names(filesystem: str) -> None:
    """The mode may come after a name that was made later, or before one that was made earlier."""
    calls = "create a\nsync\nchmod a 600\ncreate b\nfsync b\n"
    assert kinds(filesystem, calls, entry() + entry("b", 3), 5) == []
    calls = "create a\nsync\ncreate b\nchmod a 600\n"
    assert kinds(filesystem, calls, entry(told="600 - -"), 4) == []
    assert kinds("jffs2", calls, entry(told="600 - -"), 4) != []


@pytest.mark.parametrize("filesystem", ["ubifs", "logfs"])
def test_two_names_are_exchanged_at_once(filesystem: str) -> None:
    calls = "create a\nappend b 10 1\nsync\nexchange a b\nfsync .\n"
    b = f"file {{}} 10 1 3 0 {sector_sum(pattern(1, 0, 10))}\n"
    before, after = entry() + b.format("b"), b.format("a") + entry("b")
    for cut, trees in ((3, (before, after)), (5, (after,))):
        for tree in (before, after):
            assert (kinds(filesystem, calls, tree, cut) == []) == (tree in trees)
    for tree in (entry(), b.format("a"), entry() + b.format("b").replace(" 3 0 ", " 2 0 "), ""):
        assert kinds(filesystem, calls, tree, 3)


def test_a_whiteout_takes_the_old_name() -> None:
    calls = "create a\nsync\nwhiteout a b\nfsync b\n"
    after = entry("a", 3, kind="other", told="0 - -") + entry("b")
    assert kinds("ubifs", calls, after, 2) == kinds("ubifs", calls, after, 4) == []
    assert kinds("ubifs", calls, entry(), 2) == []
    assert kinds("ubifs", calls, entry(), 4)
    assert kinds("ubifs", calls, entry("b"), 4) == ["name-lost"]
    usual = after.replace("attributes a 0 - -\n", "")
    assert kinds("ubifs", calls, usual, 4) == ["bad-attributes"]


@pytest.mark.parametrize("filesystem", ["ubifs", "yaffs2"])
def test_a_file_without_a_name_is_not_seen_until_it_has_one(filesystem: str) -> None:
    calls = "tmpfile @0 .\nwrite @0 0 10 1\nfsync @0\nlinkfd @0 b\nfsync b\n"
    b = f"file b 10 1 2 0 {sector_sum(pattern(1, 0, 10))}\n"
    assert [bool(kinds(filesystem, calls, "", cut)) for cut in range(6)] == [
        *[False] * 4,
        filesystem == "yaffs2",
        True,
    ]
    assert [bool(kinds(filesystem, calls, b, cut)) for cut in range(6)] == [True] * 3 + [False] * 3
    # What was synced before it had a name is there with it.
    assert kinds(filesystem, calls, "file b 0 1 2 0 -\n", 5)


def test_a_call_that_failed_half_way_leaves_attributes_in_doubt() -> None:
    history = parse_history("create a\nsync\nchmod a 600\nsetxattr a user.x 3 1\nsync\n")
    errnos = (0, 0, 5, 28, 0)
    record = Record(tuple(Call(errno, n, n + 1) for n, errno in enumerate(errnos)), True)
    for filesystem in ROOT_LINKS:
        judge = Judge(history, record, promise_of(filesystem))
        for told in ("", "600 - -", "644 - user.x=3:00000000", "600 9 user.x=3:00000000"):
            tree = f"dir . {ROOT_LINKS[filesystem]} 1 0\n{entry(told=told)}"
            assert judge.judge(5, tree) == ()


def test_lines_of_attributes() -> None:
    text = f"dir . 2 1 0\n{entry(told='600 - user.x=1:0a')}statfs 1 2 3\nobserved 4\n"
    assert parse_observation(text).entries["a"].attributes == "600 - user.x=1:0a"
    for wrong in ("attributes b 600 - -", "attributes a 600 -"):
        with pytest.raises(FormatError, match="line 3: no entry"):
            parse_observation(text.replace("attributes a 600 - user.x=1:0a", wrong))


def test_a_part_that_nobody_knows_is_like_any() -> None:
    assert is_like("* 5 -", "644 5 -") and not is_like("* 5 -", "644 6 -")
    assert is_like("* * *", "") and not is_like("644 - -", "")
    assert Attributes("644", extended=None).text() == "644 - *"
    assert Attributes("644").text(("inode",)) == "* * -"
