"""What each kind of cut leaves on NOR flash, operation by operation: as `test_cut_kinds` on NAND.

There is no ECC, so a page reads as its bits are, and every bit that may be there is known.
"""

from __future__ import annotations

from errno import EOPNOTSUPP
from pathlib import Path

import pytest
from chip_cuts import Answers, Script, both, carried_out, differing, pattern
from test_crash_walk import STUDY
from test_cut_kinds import is_between

from ffslab.lab.lab_build import LabBuild
from ffslab.oracle.faults import ERASE, KINDS, PROGRAM, kinds_on

ON_NOR = STUDY.replace('"apf27"', '"imx6ull-evk"').replace('"jffs2", "ubifs", "yaffs2"', '"jffs2"')
PAGE, PAGES = 256, 16  # bytes, and pages of a sector
BLOCK, OTHER = 1, 2
FIRST = BLOCK * PAGES
BLANK, ZEROS = b"\xff" * PAGE, bytes(PAGE)
USED = 10  # pages of the other sector that have data
# Requests of MTD: page, column, bytes. The fourth is two programs of the chip, 56 and 200 bytes.
REQUESTS = ((FIRST, 0, 256), (FIRST + 1, 10, 7), (FIRST + 1, 100, 100), (FIRST + 2, 200, 256))
# Operations of the chip: page, column, bytes, seed of the request, bytes of it before.
PROGRAMS = {
    0: (FIRST, 0, 256, 1, 0),
    1: (FIRST + 1, 10, 7, 2, 0),
    2: (FIRST + 1, 100, 100, 3, 0),
    3: (FIRST + 2, 200, 56, 4, 0),
    4: (FIRST + 3, 0, 200, 4, 56),
    6: (OTHER * PAGES, 0, 1, 5, 0),
}
ERASED = 5
SEEDS = 40


def worked() -> Script:
    """The other sector is half full, and then both are changed while the chip logs."""
    script = Script()
    for block in (BLOCK, OTHER):
        script.add(f"erase {block}")
    for page in range(USED):
        script.add(f"program {OTHER * PAGES + page} 0 {PAGE} 0 {100 + page}")
    script.chip("log 32")
    for seed, (page, column, size) in enumerate(REQUESTS, 1):
        script.add(f"program {page} {column} {size} 0 {seed}")
    script.add(f"erase {OTHER}")
    script.add(f"program {OTHER * PAGES} 0 1 0 5")
    script.chip("stop")
    return script


def page_at(operation: int, page: int) -> bytes:
    """What is in a page before an operation."""
    bits = BLANK
    if page // PAGES == OTHER and page % PAGES < USED and operation <= ERASED:
        bits = pattern(PAGE, 100 + page % PAGES)
    for number, (own, column, size, seed, before) in PROGRAMS.items():
        if own == page and number < operation:
            data = pattern(before + size, seed)[before:]
            put = b"\xff" * column + data + b"\xff" * (PAGE - column - size)
            bits = both(bits, put)
    return bits


def sector(script: Script) -> list[int]:
    return [script.read(OTHER * PAGES + page) for page in range(PAGES)]


def cut_at(lab: LabBuild, directory: Path, chipcuts: Path, script: Script) -> Answers:
    return carried_out(lab, directory / "chip", chipcuts, script, study=ON_NOR)


def test_moments_lost_and_done(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    script = worked()
    log = script.add("log")
    pages = (*range(FIRST, FIRST + 5), *range(OTHER * PAGES, OTHER * PAGES + 3))
    seen = {}
    for k in range(7):
        for kind in ("lost", "done"):
            script.cut(k, kind)
            seen[k, kind] = [script.read(page) for page in pages]
    answers = cut_at(lab, tmp_path, chipcuts, script)
    lines = [line.split()[2:] for line in answers.given[log]]
    assert len(lines) == 7 and lines[ERASED] == ["erase", str(OTHER)]
    for k, (page, column, size, _, _) in PROGRAMS.items():
        block, number = divmod(page, PAGES)
        assert lines[k] == ["program", *map(str, (block, number, column, size, 0))]
    for (k, kind), places in seen.items():
        found = [answers.read(place).data for place in places]
        assert found == [page_at(k + (kind == "done"), page) for page in pages], (k, kind)


@pytest.mark.parametrize("k", PROGRAMS)
def test_torn_prefix(lab: LabBuild, tmp_path: Path, chipcuts: Path, k: int) -> None:
    """The first bytes, each whole; so many ways as there are bytes, less the whole and nothing."""
    page, column, size, _, _ = PROGRAMS[k]
    before, after = page_at(k, page), page_at(k + 1, page)
    ways = range(0, size - 1, 7)
    script = worked()
    script.chip(f"at {k}")
    state = script.add("state")
    seen = {}
    for way in ways:
        script.cut(k, "torn-prefix", way + (size - 1) * (way % 2))
        seen[way] = script.read(page)
    answers = cut_at(lab, tmp_path, chipcuts, script)
    assert f"state variants torn-prefix {size - 1}" in answers.given[state]
    for way, place in seen.items():
        end = column + way + 1
        assert answers.read(place).data == after[:end] + before[end:]


def test_torn_bits(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """A part of the bits that were to become 0, from hardly begun to nearly finished."""
    script = worked()
    seen = {}
    for k, (page, *_) in PROGRAMS.items():
        for variant in range(SEEDS):
            script.cut(k, "torn-bits", variant)
            seen[k, variant] = script.read(page)
    answers = cut_at(lab, tmp_path, chipcuts, script)
    for k, (page, *_) in PROGRAMS.items():
        before, after = page_at(k, page), page_at(k + 1, page)
        whole = differing(before, after)
        found = [answers.read(seen[k, variant]).data for variant in range(SEEDS)]
        assert all(is_between(bits, after, before) for bits in found)
        if whole > 100:
            share = [differing(bits, before) / whole for bits in found]
            assert min(share) < 0.2 and max(share) > 0.8 and len(set(share)) > SEEDS * 0.7


def test_erase_zeros(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """Zeros from one end to a page in between, and what was there from that on."""
    script = worked()
    seen, blocks = {}, {}
    for variant in range(SEEDS):
        script.cut(ERASED, "erase-zeros", variant)
        seen[variant] = sector(script)
        blocks[variant] = script.add(f"block {OTHER}")
    script.chip("back")
    whole = sector(script)
    script.chip(f"at {ERASED}")
    before = script.add(f"block {OTHER}")
    answers = cut_at(lab, tmp_path, chipcuts, script)
    was = [page_at(ERASED, OTHER * PAGES + page) for page in range(PAGES)]
    assert [answers.read(place).data for place in whole] == was
    erases, programs, *_ = answers.numbers(before)
    ends = set()
    for variant, places in seen.items():
        assert answers.numbers(blocks[variant])[:2] == [erases + 1, programs]
        found = [answers.read(place).data for place in places]
        (between,) = (page for page in range(PAGES) if found[page] not in (ZEROS, was[page]))
        assert is_between(found[between], ZEROS, was[between])
        sides = [found[:between], found[between + 1 :]]
        kept = [was[:between], was[between + 1 :]]
        zeros = [[ZEROS] * len(side) for side in sides]
        assert sides in ([kept[0], zeros[1]], [zeros[0], kept[1]])
        ends.add((between, sides[0] == kept[0]))
    assert {end for at, end in ends if 0 < at < PAGES - 1} == {True, False}
    assert 0 in {at for at, _ in ends} and len(ends) > 10


def test_erase_bits(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """All of it was zeros, and a part has become ones: the same share on every page."""
    script = worked()
    seen = {}
    for variant in range(SEEDS):
        script.cut(ERASED, "erase-bits", variant)
        seen[variant] = sector(script)
    answers = cut_at(lab, tmp_path, chipcuts, script)
    shares = []
    for places in seen.values():
        zeros = [differing(answers.read(place).data, BLANK) for place in places]
        mean = sum(zeros) / PAGES
        # Six standard deviations of a binomial distribution of 2,048 bits, 22.6 at most.
        assert all(abs(count - mean) < 136 for count in zeros)
        shares.append(mean / (8 * PAGE))
    assert min(shares) < 0.01 and max(shares) > 0.8
    assert sum(share < 1 / 256 for share in shares) > SEEDS // 5


def test_weak_bits_of_programs(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """As meant until power was off; then 1 to 8 of the bits that it changed are undone."""
    script = worked()
    first, then, twice = {}, {}, {}
    for k, (page, *_) in PROGRAMS.items():
        for variant in range(SEEDS):
            script.cut(k, "weak-bits", variant)
            first[k, variant] = script.read(page)
            script.chip("cycle")
            then[k, variant] = script.read(page)
            script.chip("cycle")
            twice[k, variant] = script.read(page)
    answers = cut_at(lab, tmp_path, chipcuts, script)
    undone = set()
    for k, (page, *_) in PROGRAMS.items():
        before, after = page_at(k, page), page_at(k + 1, page)
        most = differing(before, after)
        for variant in range(SEEDS):
            assert answers.read(first[k, variant]).data == after
            found = answers.read(then[k, variant]).data
            assert is_between(found, after, before)
            assert 1 <= differing(found, after) <= min(8, most)
            assert answers.read(twice[k, variant]).data == found
            undone.add(differing(found, after))
    assert undone == set(range(1, 9))


def test_weak_bits_of_an_erase(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """Blank until power was off; what was programmed upon it meanwhile has the same bits wrong."""
    script = worked()
    first, then, upon = {}, {}, {}
    for variant in range(SEEDS):
        script.cut(ERASED, "weak-bits", variant)
        first[variant] = sector(script)
        script.add(f"program {OTHER * PAGES + 1} 30 100 0 7")
        upon[variant] = [script.read(OTHER * PAGES + 1)]
        script.chip("cycle")
        then[variant] = sector(script)
        script.cut(ERASED, "weak-bits", variant)
        script.chip("cycle")
        upon[variant].append(script.read(OTHER * PAGES + 1))
    answers = cut_at(lab, tmp_path, chipcuts, script)
    meant = b"\xff" * 30 + pattern(100, 7) + b"\xff" * 126
    weak = 0
    for variant in range(SEEDS):
        assert {answers.read(place).data for place in first[variant]} == {BLANK}
        found = [answers.read(place).data for place in then[variant]]
        whole, alone = (answers.read(place).data for place in upon[variant])
        assert whole == meant
        assert found[1] == both(meant, alone)
        wrong = [differing(page, BLANK) for page in (*found[:1], alone, *found[2:])]
        assert max(wrong) <= 8
        weak += sum(map(bool, wrong))
    # A chance of a half of 640 pages: six standard deviations are 76.
    assert 244 < weak < 396


def test_kinds_of_nand_are_refused(lab: LabBuild, tmp_path: Path, chipcuts: Path) -> None:
    """And the chip says so before: `variants KIND 0`. The rows of the host say the same."""
    script = worked()
    given, states = {}, {}
    for k in (0, ERASED, 6):
        script.chip(f"at {k}")
        states[k] = script.add("state")
        for kind in KINDS:
            given[k, kind] = script.cut(k, kind)
    answers = cut_at(lab, tmp_path, chipcuts, script)
    for k in (0, ERASED, 6):
        verb = ERASE if k == ERASED else PROGRAM
        there = {kind for kind in kinds_on(["NOR"], KINDS) if verb in KINDS[kind].hits}
        if k == 6:
            there.remove("torn-prefix")  # a byte has no beginning
        for kind in KINDS:
            expected = 0 if kind in there else EOPNOTSUPP
            assert answers.errno(given[k, kind]) == expected, (k, kind)
            none = f"state variants {kind} 0" in answers.given[states[k]]
            assert none == (kind not in there)
