"""What a cut leaves of a write, byte by byte, and what is left when writes are lost."""

from __future__ import annotations

import pytest
from judge_support import file, judge_of, problems, tree
from oracle_support import overlay

from ffslab.oracle.contents import pattern
from ffslab.oracle.faults import KINDS, Excuse

OLD = pattern(1, 0, 2048)


@pytest.mark.parametrize(("start", "size"), [(0, 1536), (100, 1000), (512, 512), (700, 50)])
def test_jffs2_leaves_a_beginning_of_a_write_within_the_file(start: int, size: int) -> None:
    judge = judge_of("jffs2", f"write a 0 2048 1\nsync\nwrite a {start} {size} 3\n")
    new = overlay(OLD, start, pattern(3, start, size))

    def is_allowed(data: bytes) -> bool:
        return not judge.judge(2, tree("jffs2", file(data)))

    middle = start + size // 2
    borders = [end for at in (0, 512, 1024, 1536) for end in (at - 1, at, at + 1)]
    ends = {start, start + 1, middle, start + size - 1, start + size, *borders}
    for end in ends & set(range(start, start + size + 1)):
        assert is_allowed(new[:end] + OLD[end:]), end
    # Not its end, and not a part in the middle.
    assert not is_allowed(OLD[:middle] + new[middle:])
    assert not is_allowed(OLD[: start + 3] + new[start + 3 : middle] + OLD[middle:])
    # Something else in the last sector that is new, or in one before or behind it.
    half = new[:middle] + OLD[middle:]
    for sector in range(4):
        at = sector * 512
        assert not is_allowed(half[: at + 20] + b"?????" + half[at + 25 :]), sector


@pytest.mark.parametrize("start", [600, 700, 1500])
def test_jffs2_leaves_a_beginning_of_a_write_behind_the_end(start: int) -> None:
    """Of 600 bytes and a write from 700 on: the hole, and of the write what the size says."""
    judge = judge_of("jffs2", f"write a 0 600 1\nsync\nwrite a {start} 900 3\n")
    new = overlay(pattern(1, 0, 600), start, pattern(3, start, 900))
    edges = (599, 600, 601, start - 1, start, start + 1, 1024, 1025, start + 900, start + 901)
    for size in edges:
        data = new[:size].ljust(size, b"\0")
        is_allowed = size == 600 or start <= size <= start + 900
        assert (not judge.judge(2, tree("jffs2", file(data)))) == is_allowed, size
    for size in (start + 1, start + 900):
        for at in (10, size - 1):
            data = new[:at] + bytes([new[at] ^ 1]) + new[at + 1 : size]
            assert judge.judge(2, tree("jffs2", file(data)))


@pytest.mark.parametrize("filesystem", ["yaffs2"])
def test_any_part_of_a_write_is_whole_sectors_and_one_end_in_each(filesystem: str) -> None:
    judge = judge_of(filesystem, "write a 0 1024 1\nsync\nwrite a 0 1024 3\n")
    old, new = pattern(1, 0, 1024), pattern(3, 0, 1024)

    def is_allowed(data: bytes) -> bool:
        return not judge.judge(2, tree(filesystem, file(data)))

    for at in (0, 1, 2, 100, 510, 511, 512):
        assert is_allowed(new[:at] + old[at:])
        assert is_allowed(old[:at] + new[at:])
        assert is_allowed(new[:at] + old[at:512] + new[512:])
    assert not is_allowed(old[:100] + new[100:200] + old[200:])
    assert not is_allowed(old[:1000] + b"?" + new[1001:])


# Writes that are lost.

TORN_BITS, UNSTABLE = KINDS["torn-bits"].first, KINDS["unstable"].second


def left(excuse: Excuse, writes: list[tuple[int, int]], data: bytes, *, synced: bool) -> bool:
    """Whether a file may have these contents: 2,048 synced bytes, then these writes in one page."""
    lines = [f"write a {at} {size} {2 * n + 3}\n" for n, (at, size) in enumerate(writes)]
    end = "sync\n" if synced else ""
    history = f"write a 0 2048 1\nsync\n{''.join(lines)}{end}"
    if synced:
        return problems("jffs2", f"{history}create b\n", file(data), excuse=excuse) == []
    count = len(writes) + 2
    judge = judge_of("jffs2", history)
    # All of them had begun: the cut is in the last.
    return not judge.judge(count - 1, tree("jffs2", file(data)), excuse)


def with_writes(writes: list[tuple[int, int]], *numbers: int) -> bytes:
    """The file with these of the writes."""
    data = OLD
    for n, (at, size) in enumerate(writes):
        if n in numbers:
            data = overlay(data, at, pattern(2 * n + 3, at, size))
    return data


SIX = [(80 * n, 80) for n in range(6)]


@pytest.mark.parametrize("sector", [0, 3])
@pytest.mark.parametrize(("excuse", "synced"), [(TORN_BITS, False), (UNSTABLE, True)])
def test_any_of_the_writes_of_a_sector_may_be_lost(
    sector: int, excuse: Excuse, synced: bool
) -> None:
    # And one in another sector, which is there.
    writes = [(1400, 50), *((512 * sector + at, size) for at, size in SIX)]
    for lost in (1, 2, 5):
        data = with_writes(writes, *(n for n in range(7) if n != lost))
        assert left(excuse, writes, data, synced=synced), lost
    assert left(excuse, writes, with_writes(writes, 0, 2, 5), synced=synced)


@pytest.mark.parametrize(("excuse", "synced"), [(TORN_BITS, False), (UNSTABLE, True)])
@pytest.mark.parametrize(
    "writes",
    [
        # A later write begins within an earlier one, which is lost; twice.
        [(100, 200), (200, 200), (410, 60), (440, 60)],
        # It ends within an earlier one, which is lost; twice.
        [(200, 200), (100, 200), (440, 60), (410, 60)],
    ],
)
def test_what_was_below_a_lost_write_is_there_between_the_ends_of_others(
    writes: list[tuple[int, int]], excuse: Excuse, synced: bool
) -> None:
    assert left(excuse, writes, with_writes(writes, 1, 3), synced=synced)
    assert left(excuse, writes, with_writes(writes, 0, 1, 2, 3), synced=synced)


def test_a_lost_part_may_begin_at_any_byte() -> None:
    data = pattern(1, 0, 600)
    history = "write a 0 600 1\nsync\ncreate b\n"
    for end in (1, 300, 513):
        found = problems("jffs2", history, file(data[:end].ljust(600, b"\0")), excuse=UNSTABLE)
        assert found == [], end
    for start in (1, 511, 513):
        holes = bytes(start) + data[start:]
        assert problems("jffs2", history, file(holes), excuse=UNSTABLE) == [], start
    two = data[:100] + bytes(100) + data[200:300] + bytes(100) + data[400:]
    assert problems("jffs2", history, file(two), excuse=UNSTABLE) == [("corrupt-contents", "a")]
