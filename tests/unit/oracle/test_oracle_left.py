"""What is left of a sector when some of its writes are lost, however many there were."""

from __future__ import annotations

import random
from itertools import pairwise, product

from ffslab.oracle.contents import SECTOR_BYTES, sector_sum
from ffslab.oracle.files import FileLog
from ffslab.oracle.pieces import is_left

SIZE = SECTOR_BYTES


def changed_often(seed: int) -> FileLog:
    """A file of one sector that eleven calls wrote parts of."""
    draw, log = random.Random(seed), FileLog(0)
    log.write(1, 0, SIZE, 1)
    for number in range(2, 12):
        start = draw.randrange(SIZE - 60)
        log.write(number, start, draw.randrange(40, SIZE - start), 2 * number + 1)
    return log


def mixed(log: FileLog, seed: int, *, holes: bool) -> bytes:
    """Between the ends of two writes what some version had, each by a draw of its own."""
    draw = random.Random(seed)
    changes = [log.change(version) for version in log.versions]
    ends = sorted({0, SIZE, *(at for one in changes for at in (one.start_bytes, one.end_bytes))})
    whole = [log.bytes_of(version, 0, SIZE) for version in log.versions[1:]]
    if holes:
        whole.append(bytes(SIZE))
    return b"".join(draw.choice(whole)[low:high] for low, high in pairwise(ends))


def test_any_mixture_of_many_writes_is_found() -> None:
    for seed in range(4):
        log = changed_often(seed)
        for holes in (False, True):
            data = mixed(log, seed, holes=holes)
            assert is_left(log, log.versions[1:], 0, SIZE, sector_sum(data), holes=True)
        data = mixed(log, seed, holes=False)
        assert is_left(log, log.versions[1:], 0, SIZE, sector_sum(data), holes=False)


def test_parts_that_were_written_often_may_be_any_of_all_parts() -> None:
    """Six of thirteen, each of eight versions: 8^6 mixtures, and the search finds the last one."""
    log = FileLog(0)
    log.write(1, 0, SIZE, 1)
    areas = [(80 * n + 20, 80 * n + 60) for n in range(6)]
    for number, ((start, end), _) in enumerate(product(areas, range(7)), 2):
        log.write(number, start, end - start, 2 * number + 1)
    whole = [log.bytes_of(version, 0, SIZE) for version in log.versions[1:]]
    data = bytearray(whole[0])
    for start, end in areas:
        data[start:end] = max(one[start:end] for one in whole)
    assert is_left(log, log.versions[1:], 0, SIZE, sector_sum(bytes(data)), holes=False)


def test_nothing_else_is_taken_for_a_mixture() -> None:
    log = FileLog(0)
    log.write(1, 0, SIZE, 1)
    for number, start in ((2, 100), (3, 200), (4, 300)):
        log.write(number, start, 150, 2 * number + 1)
    last = log.bytes_of(log.last, 0, SIZE)
    for at in range(0, SIZE, 150):
        wrong = last[:at] + bytes([last[at] ^ 1]) + last[at + 1 :]
        assert not is_left(log, log.versions[1:], 0, SIZE, sector_sum(wrong), holes=True)
    with_a_hole = last[:100] + bytes(100) + last[200:]
    assert is_left(log, log.versions[1:], 0, SIZE, sector_sum(with_a_hole), holes=True)
    assert not is_left(log, log.versions[1:], 0, SIZE, sector_sum(with_a_hole), holes=False)


def test_a_write_may_be_divided_once() -> None:
    log = FileLog(0)
    log.write(1, 0, SIZE, 1)
    log.write(2, 100, 300, 3)
    old, new = (log.bytes_of(version, 0, SIZE) for version in log.versions[1:])
    divided = sector_sum(old[:213] + new[213:])
    assert is_left(log, log.versions[1:], 0, SIZE, divided, holes=False)
