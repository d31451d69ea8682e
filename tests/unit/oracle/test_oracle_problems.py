"""Planted outcomes, each wrong in one way: the oracle names the way, the place and the call."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from oracle_support import sums

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import KINDS, NO_EXCUSE, Excuse
from ffslab.oracle.history import parse_history
from ffslab.oracle.judge import Judge
from ffslab.oracle.problems import CLASSES, Problem
from ffslab.oracle.promises import promise_of
from ffslab.oracle.record import parse_record

# Each call is one operation of the chip, so a cut at n finds n calls finished and one begun.
HISTORY = """mkdir d
write d/f 0 2048 11
symlink x s
sync
write d/f 0 1024 13
write g 0 600 15
sync
write d/f 1024 512 17
rename g d/g
truncate d/f 700
link d/f h
unlink s
sync
create new
"""
F = pattern(13, 0, 1024) + pattern(11, 1024, 1024)  # d/f after call 4
G = pattern(15, 0, 600)
ROOT_LINKS = {"jffs2": 4, "ubifs": 3, "yaffs2": 4, "logfs": 1}


def judge(filesystem: str) -> Judge:
    history = parse_history(HISTORY)
    count = len(history.operations)
    lines = [f"op {n} 0 {n} {n + 1}\n" for n in range(count)]
    record = parse_record("".join(lines) + f"end {count} 0 {count}\n")
    return Judge(history, record, promise_of(filesystem))


def file(path: str, data: bytes, *, links: int = 1, inode: int = 0, spoiled: str = "") -> str:
    errno = 5 if spoiled else 0
    inode = inode or 10 + len(path)
    return f"file {path} {len(data)} {links} {inode} {errno} {spoiled or sums(data)}"


@dataclass
class Found:
    """The tree after the second sync, to be changed."""

    lines: dict[str, str]

    def text(self) -> str:
        lines = [*(line for line in self.lines.values() if line), "statfs 1 1 1"]
        return "".join(f"{line}\n" for line in [*lines, f"observed {len(lines)}"])


def synced(filesystem: str, **changed: str) -> str:
    """The tree as it was synced (call 6), with some lines replaced or, if empty, left out."""
    lines = {
        "root": f"dir . {ROOT_LINKS[filesystem]} 1 0",
        "d": f"dir d {1 if filesystem == 'logfs' else 2} 2 0",
        "f": file("d/f", F),
        "g": file("g", G, inode=30),
        "s": "symlink s 1 4 0 x",
    }
    return Found({**lines, **changed}).text()


CUT = 7  # the sync is finished, call 7 begun
ZEROS = bytes(512)


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_what_was_synced_is_allowed(filesystem: str) -> None:
    assert judge(filesystem).judge(CUT, synced(filesystem)) == ()


def test_directories_of_one_link_have_no_more() -> None:
    problems = judge("logfs").judge(CUT, synced("logfs", d="dir d 2 2 0"))
    assert is_one(problems, "bad-links", "d", "has 1")


def is_one(problems: tuple[Problem, ...], kind: str, path: str, *words: str) -> bool:
    assert [one.kind for one in problems] == [kind], problems
    (problem,) = problems
    assert problem.path == path
    for word in words:
        assert word in problem.sentence, problem.sentence
    return problem.kind in CLASSES and problem.sentence.startswith(path)


OLDER = pattern(11, 0, 512)
PLANTED: dict[str, tuple[dict[str, str], str, str, tuple[str, ...]]] = {
    "zeros for synced data": (
        {"f": file("d/f", ZEROS + F[512:])},
        "synced-data-lost",
        "d/f",
        ("sector 0", "zeros"),
    ),
    "shorter than synced": (
        {"f": file("d/f", F[:1024])},
        "synced-data-lost",
        "d/f",
        ("1024 bytes", "2048 were durable"),
    ),
    "an older sector": (
        {"f": file("d/f", OLDER + F[512:])},
        "stale-data",
        "d/f",
        ("sector 0", "operation 1 (write d/f 0 2048 11)"),
    ),
    "the whole older file": (
        {"f": file("d/f", pattern(11, 0, 2048))},
        "stale-data",
        "d/f",
        ("operation 1",),
    ),
    "another file's sector": (
        {"f": file("d/f", G[:512] + F[512:])},
        "foreign-bytes",
        "d/f",
        ("sector 0", "operation 5 (write g 0 600 15)"),
    ),
    "garbage": (
        {"f": file("d/f", F[:1536] + b"?" * 512)},
        "corrupt-contents",
        "d/f",
        ("sector 3", "nobody wrote"),
    ),
    "a flipped bit in two sectors": (
        {"f": file("d/f", b"?" + F[1:600] + b"?" + F[601:])},
        "corrupt-contents",
        "d/f",
        ("sector 0", "1 more"),
    ),
    "longer than ever": (
        {"f": file("d/f", F + bytes(10))},
        "wrong-size",
        "d/f",
        ("2058 bytes", "not 2048"),
    ),
    "a name gone": ({"g": ""}, "name-lost", "g", ("operation 5",)),
    "a symlink gone": ({"s": ""}, "name-lost", "s", ("operation 2 (symlink x s)",)),
    "a symlink elsewhere": ({"s": "symlink s 1 4 0 y"}, "corrupt-contents", "s", ("'y'", "'x'")),
    "another kind": ({"s": "other s 1 4 0"}, "wrong-kind", "s", ("is a other", "symlink")),
    "lstat refuses": ({"s": "lost s 5"}, "unreadable", "s", ("error 5",)),
    "a sector cannot be read": (
        {"f": file("d/f", F, spoiled=f"{sums(F[:512])},!,{sums(F[1024:1536])},{sums(F[1536:])}")},
        "unreadable",
        "d/f",
        ("sector 1",),
    ),
    "a file cannot be read": ({"g": "file g 600 1 30 5 -"}, "unreadable", "g", ("error 5",)),
    "an error and no bad sector": (
        {"g": f"file g 600 1 30 5 {sums(G)}"},
        "unreadable",
        "g",
        ("error 5",),
    ),
    "too many links": ({"g": file("g", G, links=2, inode=30)}, "bad-links", "g", ("2 links",)),
    "two files, one inode": (
        {"g": file("g", G, inode=13)},
        "bad-links",
        "g",
        ("d/f", "one inode"),
    ),
    "a name from nowhere": (
        {"x": "file x 0 1 77 0 -"},
        "unknown-name",
        "x",
        ("no call ever made it",),
    ),
    "a name from the future": (
        {"x": "file new 0 1 77 0 -"},
        "unknown-name",
        "new",
        ("operation 13 (create new) had not begun",),
    ),
}


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_named(filesystem: str, name: str) -> None:
    changed, kind, path, words = PLANTED[name]
    assert is_one(judge(filesystem).judge(CUT, synced(filesystem, **changed)), kind, path, *words)


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_a_rename_leaves_one_name_or_for_a_moment_two(filesystem: str) -> None:
    """The cut is in the rename of g to d/g; the write before it is finished, and not synced."""
    done = F[:1024] + pattern(17, 1024, 512) + F[1536:]
    f = file("d/f", done)
    new = file("d/g", G, inode=30)
    rename = judge(filesystem)
    assert rename.judge(8, synced(filesystem, f=f)) == ()
    assert rename.judge(8, synced(filesystem, f=f, g=new)) == ()
    (neither,) = rename.judge(8, synced(filesystem, f=f, g=""))
    assert (neither.kind, neither.operation) == ("not-atomic", 8)
    assert "operation 8 (rename g d/g): neither name is there" in neither.sentence
    old_and_new = {"g": file("g", G, inode=30, links=2), "n": file("d/g", G, inode=30, links=2)}
    both = rename.judge(8, synced(filesystem, f=f, **old_and_new))
    assert (both == ()) == (filesystem == "jffs2")
    if both:
        assert {one.kind for one in both} == {"not-atomic"}
    one_link = {"g": file("g", G, inode=30), "n": new}
    (wrong,) = rename.judge(8, synced(filesystem, f=f, **one_link))
    assert wrong.kind == ("wrong-order" if filesystem == "jffs2" else "not-atomic")


def end(filesystem: str, **changed: str) -> str:
    """The tree after the last sync: d/f of 700 bytes, h its second name, d/g; s is gone."""
    data = F[:700]
    lines = {
        "root": f"dir . {ROOT_LINKS[filesystem]} 1 0",
        "d": f"dir d {1 if filesystem == 'logfs' else 2} 2 0",
        "f": file("d/f", data, links=2, inode=3),
        "g": file("d/g", G),
        "h": file("h", data, links=2, inode=3),
    }
    return Found({**lines, **changed}).text()


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_what_was_deleted_stays_deleted(filesystem: str) -> None:
    last = judge(filesystem)
    assert last.judge(13, end(filesystem)) == ()
    assert last.judge(13, end(filesystem, n="file new 0 1 9 0 -")) == ()  # call 13 has begun
    assert is_one(
        last.judge(13, end(filesystem, s="symlink s 1 4 0 x")),
        "name-kept",
        "s",
        "operation 11 (unlink s) took it away",
    )
    assert is_one(
        last.judge(13, end(filesystem, o=file("g", G, inode=40))),
        "name-kept",
        "g",
        "operation 8 (rename g d/g)",
    )
    assert {one.kind for one in last.judge(13, end(filesystem, h=file("h", F[:700], links=2)))} == {
        "bad-links"
    }
    stale = {"f": file("d/f", F, links=2, inode=3), "h": file("h", F, links=2, inode=3)}
    assert {one.kind for one in last.judge(13, end(filesystem, **stale))} == {"stale-data"}


def test_a_later_call_without_an_earlier_one() -> None:
    """JFFS2 and UBIFS: names in order. `s` was deleted (11) after g was renamed (8)."""
    f = file("d/f", F[:700], links=2, inode=3)
    h = file("h", F[:700], links=2, inode=3)
    for filesystem in ("jffs2", "ubifs"):
        text = synced(filesystem, f=f, h=h, s="")
        (problem,) = judge(filesystem).judge(12, text)
        assert problem.kind == "wrong-order"
        assert "operation 8 (rename g d/g)" in problem.sentence or "d/g" in problem.sentence


def test_a_file_that_was_replaced_is_not_called_foreign() -> None:
    history = parse_history("write a 0 900 1\nwrite b 0 900 3\nrename b a\nsync\ncreate c\n")
    lines = [f"op {n} 0 {n} {n + 1}\n" for n in range(5)]
    record = parse_record("".join(lines) + "end 5 0 5\n")
    text = Found({"root": "dir . 3 1 0", "a": file("a", pattern(1, 0, 900))}).text()
    for filesystem in ("jffs2", "yaffs2"):
        found = Judge(history, record, promise_of(filesystem)).judge(4, text)
        assert is_one(found, "stale-data", "a", "operation 2 (rename b a) took away")


def test_what_lost_its_directory_is_named() -> None:
    text = synced("yaffs2", o="dir lost+found 2 900 0", p="file lost+found/obj5 5 1 5 0 01234567")
    (problem,) = judge("yaffs2").judge(CUT, text)
    assert (problem.kind, problem.path) == ("disconnected", "lost+found/obj5")


TORN = Excuse(unreadable_unsynced=True)


@pytest.mark.parametrize("filesystem", ["jffs2", "ubifs"])
def test_a_torn_page_excuses_what_no_sync_made_durable(filesystem: str) -> None:
    """The write to sector 2 of d/f (call 7) had begun; sectors 0, 1 and 3 were synced."""
    words = [sums(F[at : at + 512]) for at in range(0, 2048, 512)]
    torn = ",".join([*words[:2], "!", words[3]])
    older = ",".join([*words[:3], "!"])
    one = judge(filesystem)
    torn_text = synced(filesystem, f=file("d/f", F, spoiled=torn))
    older_text = synced(filesystem, f=file("d/f", F, spoiled=older))
    assert one.judge(CUT, torn_text, TORN) == ()
    assert is_one(one.judge(CUT, torn_text, NO_EXCUSE), "unreadable", "d/f", "sector 2")
    assert is_one(one.judge(CUT, older_text, TORN), "unreadable", "d/f", "sector 3")
    assert one.judge(CUT, older_text, KINDS["paired"].first) == ()


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_a_paired_page_excuses_loss_and_no_garbage(filesystem: str) -> None:
    excuse = KINDS["paired"].first
    for name, (changed, kind, _, _) in PLANTED.items():
        found = judge(filesystem).judge(CUT, synced(filesystem, **changed), excuse)
        is_grave = kind in ("foreign-bytes", "corrupt-contents", "unknown-name")
        assert bool(found) == is_grave, name
    assert KINDS["unstable"].first == NO_EXCUSE


def test_a_call_that_failed_half_way_leaves_doubts_and_no_alarm() -> None:
    history = parse_history(
        "write a 0 2000 1\nsync\nwrite a 0 9000 3\nrename a b\nwrite c 0 5000 5\nsync\n"
        "unlink a\nsync\n"
    )
    # The write (2), the rename (3) and the write (4) failed with ENOSPC; then a was deleted.
    errors = [0, 0, 28, 28, 28, 0, 0, 0]
    lines = [f"op {n} {error} {n} {n + 1}\n" for n, error in enumerate(errors)]
    record = parse_record("".join(lines) + "end 8 0 8\n")
    one = Judge(history, record, promise_of("jffs2"))
    data = pattern(1, 0, 2000)

    def tree(*lines: str) -> str:
        return Found(dict(enumerate(("dir . 3 1 0", *lines)))).text()  # type: ignore[arg-type]

    half = pattern(3, 0, 4096)
    assert one.judge(2, tree(file("a", data, inode=5))) == ()
    assert one.judge(2, tree())[0].kind == "name-lost"
    for names in (["a"], ["b"], ["a", "b"]):
        for third in ([], [file("c", b"", inode=6)], [file("c", pattern(5, 0, 4096), inode=6)]):
            lines_of = [file(name, half, links=len(names), inode=5) for name in names]
            assert one.judge(6, tree(*lines_of, *third)) == (), (names, third)
    assert one.judge(7, tree(file("a", half, inode=5))) == ()
    assert is_one(one.judge(8, tree(file("a", half, inode=5))), "name-kept", "a", "unlink a")
    assert one.judge(6, tree(file("e", half, inode=5)))[0].kind == "unknown-name"


UNSTABLE = KINDS["unstable"].second
# Two lines and a piece of a third in a sector, as an appended log has them; then it was synced.
LINES_OF = "write log 0 200 1\nwrite log 200 200 3\nwrite log 400 112 5\nsync\n"
LINES = [pattern(1, 0, 200), pattern(3, 200, 200), pattern(5, 400, 112)]


@pytest.mark.parametrize(
    ("data", "is_loss"),
    [
        (LINES[0] + bytes(200) + LINES[2], True),
        (bytes(400) + LINES[2], True),
        (LINES[0] + LINES[1][:77] + bytes(123) + LINES[2], True),  # stored in two parts
        (LINES[0] + b"?" * 200 + LINES[2], False),
        (LINES[0] + LINES[2] + bytes(200), False),
    ],
)
def test_writes_that_are_lost_leave_holes_and_what_was_there_before(
    data: bytes, is_loss: bool
) -> None:
    history = parse_history(LINES_OF)
    record = parse_record("".join(f"op {n} 0 {n} {n + 1}\n" for n in range(4)) + "end 4 0 4\n")
    text = Found({"root": "dir . 3 1 0", "log": file("log", data)}).text()
    one = Judge(history, record, promise_of("jffs2"))
    assert (one.judge(4, text, UNSTABLE) == ()) == is_loss
    (problem,) = one.judge(4, text)
    assert problem.kind == "corrupt-contents"


def test_yaffs2_makes_up_a_name_if_its_page_is_lost() -> None:
    text = synced("yaffs2", g="", made=file("obj257", G, inode=30))
    assert judge("yaffs2").judge(CUT, text, UNSTABLE) == ()
    assert {one.kind for one in judge("yaffs2").judge(CUT, text)} == {"name-lost", "unknown-name"}
    (problem,) = judge("jffs2").judge(
        CUT, synced("jffs2", g="", made=file("obj257", G, inode=30)), UNSTABLE
    )
    assert problem.kind == "unknown-name"


def test_of_the_calls_in_a_torn_page_any_may_be_there() -> None:
    """Two appends in one page, of which the first is lost; of a page's prefix it must not be."""
    history = parse_history("write log 0 200 1\nsync\nwrite log 200 200 3\nwrite log 400 112 5\n")
    record = parse_record("op 0 0 0 1\nop 1 0 1 1\nop 2 0 1 1\nop 3 0 1 2\nend 4 0 2\n")
    text = Found(
        {"root": "dir . 3 1 0", "log": file("log", LINES[0] + bytes(200) + LINES[2])}
    ).text()
    one = Judge(history, record, promise_of("jffs2"))
    assert one.judge(1, text, KINDS["torn-bits"].first) == ()
    (problem,) = one.judge(1, text, KINDS["torn-prefix"].first)
    assert problem.kind in ("wrong-order", "corrupt-contents")
