"""Histories, contents, records and observations as text: what is read, and what is refused."""

from __future__ import annotations

from zlib import crc32

import pytest

from ffslab.oracle.contents import (
    parse_sums,
    pattern,
    sector_sum,
    sums_of,
    sums_text,
)
from ffslab.oracle.history import parse_history
from ffslab.oracle.observation import Entry, Space, is_whole, parse_entries, parse_observation
from ffslab.oracle.operations import FormatError, Operation
from ffslab.oracle.record import Call, parse_record

HISTORY = """mkdir d
create d/a
write d/a 100 5000 7
writesync d/a 0 512 9
append d/a 10 2
truncate d/a 300
fsync d/a
fdatasync d/a
fsync .
sync
rename d/a d/b
link d/b c
symlink ../x s
unlink c
rmdir d
mkfifo p
open @0 c
opensync @1 c
opendsync @15 c
dup @0 @2
write @0 100 5000 3
append @0 10 4
truncate @0 300
mapwrite @0 100 50 5
fsync @0
fdatasync @0
msync @0
syncrange @0 0 4096
close @0
"""


def test_a_history_is_written_as_it_was_read() -> None:
    history = parse_history(HISTORY)
    assert history.text == HISTORY
    assert history.operations[2] == Operation(
        "write", "d/a", offset_bytes=100, size_bytes=5000, seed=7
    )
    assert history.operations[10] == Operation("rename", "d/a", other="d/b")
    assert history.operations[12] == Operation("symlink", "s", other="../x")
    assert history.operations[18] == Operation("opendsync", "c", filled="@15")
    assert history.operations[19] == Operation("dup", "@0", filled="@2")
    has_descriptor = [operation.has_descriptor for operation in history.operations]
    assert has_descriptor == [False] * 19 + [True] * 10


@pytest.mark.parametrize(
    "line",
    [
        "",
        "write a 0 5",
        "chmod a 5",
        "write a -1 5 7",
        "create /a",
        "create a//b",
        "unlink ../a",
        "append a 5 x",
        "create a/",
        "sync now",
        "create  a",
        "truncate a ²",
        "fsync @16",
        "fsync @01",
        "fsync @0/a",
        "create @0",
        "writesync @0 0 5 7",
        "rename a @0",
        "open a @0",
        "open @0 @1",
        "dup @0 a",
        "close a",
        "mapwrite a 0 5 7",
        "msync a",
    ],
)
def test_another_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(FormatError, match="line 2"):
        parse_history(f"create b\n{line}\n")


def test_a_seed_is_used_once() -> None:
    with pytest.raises(FormatError, match="operations 0 and 2"):
        parse_history("append a 5 7\nappend a 5 8\nappend b 5 7\n")


def test_odd_contents_are_the_definition_byte_by_byte() -> None:
    def byte(seed: int, position: int) -> int:
        x = (seed + 0x9E3779B97F4A7C15 * (1 + position // (8 if seed % 2 else 64))) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return ((x ^ x >> 31) >> 8 * (position % 8)) % 256

    for seed in (1, 2, 2**64 - 1, 2**63):
        for offset, size in ((0, 200), (3, 1), (61, 70), (4097, 130), (64, 64), (5, 0)):
            expected = bytes(byte(seed, p) for p in range(offset, offset + size))
            assert pattern(seed, offset, size) == expected


def test_splitmix64_is_the_published_one() -> None:
    """The first number of the generator with seed 0, as published: 0xE220A8397B1DCDAF."""
    assert pattern(0, 0, 16) == (0xE220A8397B1DCDAF).to_bytes(8, "little") * 2
    assert sector_sum(b"123456789") == "cbf43926"  # the check value of CRC-32


def test_sums_of_sectors() -> None:
    data = bytes(1100)
    zeros, last = f"{crc32(bytes(512)):08x}", f"{crc32(bytes(76)):08x}"
    assert sums_of(data) == [zeros, zeros, last]
    assert sums_text([zeros, zeros, last]) == f"{zeros}*2,{last}"
    assert sums_text([]) == "-"
    assert parse_sums(f"{zeros}*2,!", 1100) == [zeros, zeros, "!"]
    assert parse_sums("-", 0) == []
    for text, size in (("-", 1), (zeros, 0), (f"{zeros}*9999999999", 512), (f"{zeros}*x", 512)):
        with pytest.raises(FormatError):
            parse_sums(text, size)
    for text in ("0000000G", "0", "0*2"):
        with pytest.raises(FormatError):
            parse_sums(text, 512)


def test_a_record_says_what_had_begun_and_what_was_finished() -> None:
    record = parse_record("op 0 0 0 0\nop 1 28 0 5\nop 2 0 5 5\nop 3 0 6 9\nend 4 0 9\n")
    assert record.calls[1] == Call(28, 0, 5)
    # (cut, finished, begun): LAST ≤ K, FIRST ≤ K.
    table = [(0, 1, 2), (4, 1, 2), (5, 3, 3), (6, 3, 4), (8, 3, 4), (9, 4, 4)]
    for cut, finished, begun in table:
        assert (record.finished(cut), record.begun(cut)) == (finished, begun)


def test_a_record_without_end_leaves_one_call_open() -> None:
    record = parse_record("op 0 0 0 3\n")
    assert not record.is_complete
    assert (record.begun(2), record.begun(3), record.finished(3)) == (1, 2, 1)


@pytest.mark.parametrize(
    "text",
    [
        "op 1 0 0 0\n",
        "op 0 0 3 2\n",
        "op 0 0 0 4\nop 1 0 3 4\n",
        "op 0 0 0\n",
        "end 1 0 0\n",
        "end 0 0 0\nop 0 0 0 0\n",
        "op 0 x 0 0\n",
        "hello\n",
    ],
)
def test_another_record_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="record, line"):
        parse_record(text)


OBSERVATION = """dir . 3 1 0
dir d 2 5 0
file d/a 700 1 6 5 0123abcd,!
file d/e 0 2 7 5 -
lost d/f 5
other p 1 8 0
symlink s 1 9 0 ../x
statfs 100 50 7
observed 8
"""


def test_an_observation() -> None:
    seen = parse_observation(OBSERVATION)
    assert list(seen.entries) == [".", "d", "d/a", "d/e", "d/f", "p", "s"]
    assert seen.entries["d/a"] == Entry("file", 1, 6, 5, 700, "0123abcd,!")
    assert seen.entries["d/f"] == Entry("lost", errno=5)
    assert seen.entries["s"].target == "../x"
    assert seen.space == Space(100, 50, 7)
    assert parse_entries("".join(OBSERVATION.splitlines(True)[:-2])) == seen.entries
    with pytest.raises(FormatError, match="line 8"):
        parse_entries(OBSERVATION)
    assert is_whole(OBSERVATION)
    assert not is_whole(OBSERVATION[:-3]) and not is_whole("")


def test_a_name_that_is_there_twice_is_seen_twice() -> None:
    """As a directory shows it that has two entries of one name."""
    seen = parse_observation(OBSERVATION.replace("file d/e", "file d/a"))
    assert list(seen.entries) == [".", "d", "d/a", "d/a (once more)", "d/f", "p", "s"]
    assert seen.entries["d/a"].size_bytes == 700
    assert seen.entries["d/a (once more)"].size_bytes == 0


def test_an_observation_that_was_cut_anywhere_is_refused() -> None:
    for end in range(len(OBSERVATION) - 1):
        with pytest.raises(FormatError, match="observation"):
            parse_observation(OBSERVATION[:end])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dir d 2", "dir d"),
        ("700", "1700"),
        ("0123abcd", "0123abcg"),
        ("observed 8", "observed 9"),
        ("lost", "gone"),
        ("statfs 100", "statfs x"),
    ],
)
def test_a_wrong_line_is_named(old: str, new: str) -> None:
    with pytest.raises(FormatError, match="observation, line"):
        parse_observation(OBSERVATION.replace(old, new))
