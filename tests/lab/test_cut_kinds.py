"""What each kind of cut leaves on the flash, operation by operation, on a chip of its own.

There is no file system here but in one test: operations are made by hand, so that every bit that
may be on the flash is known (docs/fault-model.md). How file systems fare is `test_crash_walk`'s.
"""

from __future__ import annotations

from dataclasses import replace
from errno import EIO, EOPNOTSUPP
from pathlib import Path

import pytest
from chip_cuts import (
    BAD,
    BEFORE,
    BLANK,
    ERASE,
    LAST,
    MARK,
    MARKED,
    OOB_ALONE,
    OTHER,
    OVER,
    PAGE,
    PAGES,
    STEP,
    STRENGTH,
    SUBPAGE,
    TORN_PAGE,
    UNIT,
    WORK,
    Answers,
    Bits,
    Program,
    Read,
    Script,
    around,
    both,
    carried_out,
    contents_of,
    differing,
    page_at,
    steps_of,
    through_ecc,
    well,
    worked,
)
from lab_support import boot, edited
from test_crash_walk import HISTORY, case_of, history_steps, run
from test_crash_walk import PROGRAM as FFSCRASH

from ffslab.lab.lab_build import LabBuild
from ffslab.results.console import scan_console
from findings import finding

CHIPS = pytest.mark.parametrize("bad", ["", BAD], ids=["whole", "factory-bad"])


def is_between(now: bytes, low: bytes, high: bytes) -> bool:
    """No bit is other than in both, where they agree; `high` has those of `low`, and more."""
    return both(now, high) == now and both(now, low) == low


# --- moments ---


@CHIPS
def test_a_cut_chip_is_one_that_was_halted_there(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    """What is undone and redone, against a chip that takes no operation from there on."""
    script, count = worked(), len(WORK)
    log = script.add("log")
    at, lost, done = {}, {}, {}
    for k in [*range(count + 1), *range(count, -1, -3)]:
        script.chip(f"at {k}")
        at[k] = script.add("digest")
        if k < count:
            script.cut(k, "lost")
            lost[k] = script.add("digest")
            script.cut(k, "done")
            done[k] = script.add("digest")
    cut = carried_out(lab, tmp_path / "cut", chipcuts, script, bad=bad)
    assert [line.split()[2] for line in cut.given[log]] == [str(one).split()[0] for one in WORK]

    script = Script()
    for operation in BEFORE:
        script.add(str(operation))
    whole, begins, errors = {}, [], {}
    for k in range(count + 1):
        begins.append(script.add("digest"))
        script.chip("log 32")
        script.chip(f"halt {k}")
        errors[k] = [script.add(str(operation)) for operation in WORK]
        whole[k] = script.add("digest")
        script.chip("stop")
        script.chip("at 0")
        script.chip("off")
    halted = carried_out(lab, tmp_path / "halted", chipcuts, script, bad=bad)

    expected = {k: halted.text(place) for k, place in whole.items()}
    assert len(set(expected.values())) == count + 1
    for k in range(count + 1):
        assert [halted.errno(place) for place in errors[k]] == [0] * k + [EIO] * (count - k)
        assert halted.text(begins[k]) == halted.text(begins[0]) == expected[0]
        assert cut.text(at[k]) == expected[k]
    for k in range(count):
        assert cut.text(lost[k]) == expected[k] and cut.text(done[k]) == expected[k + 1]


@pytest.mark.parametrize("filesystem", ["jffs2", "yaffs2", "ubifs"])
def test_the_same_of_a_file_system_that_was_halted(
    lab: LabBuild, tmp_path: Path, filesystem: str
) -> None:
    """Another guest, whose flash takes nothing from K on while the file system is still at work.

    What both left is read from their flash files: JFFS2 does not survive that (F-JFFS2-06). Their
    plans are alike, line by line: with another plan UBI draws another number for its image.
    """
    case = case_of(filesystem)
    (tmp_path / "history").write_text(HISTORY)
    files = {FFSCRASH: lab.cutter, "/test/history": tmp_path / "history"}
    steps = history_steps(case)
    steps.insert(steps.index(run("chip flash0 log 64")) + 1, run("chip flash0 halt 0999999"))
    crashes = False
    for k in (3, 11, 17):
        left = []
        for kind, halt in (("lost", k), ("done", k + 1)):
            moment = run("chip flash0 at", k)
            plan = "\n".join([*steps, moment, run("chip flash0 cut", kind, 0)]) + "\n"
            guest = boot(lab, tmp_path / f"{kind}-{k}", case, plan, files=files, clean=False)
            assert guest.of_type("end")[0]["status"] == "ok", guest.printed
            # Of the other one nobody moves the chip: the command is none.
            other = edited(plan, [("0999999", f"{halt:07}"), (moment, run("chip flash0 xx", k))])
            halted = boot(
                lab, tmp_path / f"halted-{halt}-{kind}", case, other, files=files, clean=False
            )
            left.append(contents_of(guest.flash))
            assert left[-1] == contents_of(halted.flash), (k, kind)
            crashes |= any(message.is_end for message in scan_console(halted.console))
        assert left[0] != left[1]
    assert crashes == (filesystem == finding("F-JFFS2-06", "jffs2"))


@CHIPS
def test_factory_bad_blocks_stay_and_a_mark_is_an_operation(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    script = worked()
    blocks = [int(number) for number in BAD.split("/")]
    seen = {}
    for k, kind in (
        (0, "lost"),
        (MARK, "lost"),
        (MARK, "done"),
        (ERASE, "erase-half"),
        (LAST, "done"),
    ):
        script.cut(k, kind)
        script.chip("cycle")
        seen[k, kind] = [script.add(f"block {block}") for block in (*blocks[:2], MARKED)]
        script.add(f"erase {blocks[0]}")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    for (k, kind), places in seen.items():
        flags = [answers.numbers(place)[3:] for place in places]
        assert flags[:2] == ([[1, 1]] * 2 if bad else [[0, 0]] * 2)
        marked = k > MARK or (k, kind) == (MARK, "done")
        assert flags[2] == ([1, 1] if marked else [0, 0]), (k, kind)


# --- torn programs ---


@CHIPS
def test_torn_prefix(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    """The first sub-pages whole, and the OOB area before or after: with it goes all of the ECC."""
    # Of a whole page, of its second half behind the first one, and of its first half.
    ways: dict[int, list[tuple[int, bool]]] = {
        TORN_PAGE: [*((n, False) for n in (1, 2, 3, 4)), *((n, True) for n in (0, 1, 2, 3))],
        OVER: [(1, False)],
        OVER - 1: [(1, False)],
    }
    script = worked()
    seen = {}
    states = {}
    for k, units in ways.items():
        page = around(k)[0]
        script.chip(f"at {k}")
        states[k] = script.add("state")
        for variant in range(len(units) + 2):
            script.cut(k, "torn-prefix", variant)
            seen[k, variant] = (script.read(page - 1), script.read(page), script.read(page + 1))
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    for k, units in ways.items():
        assert f"state variants torn-prefix {len(units)}" in answers.given[states[k]]
        page, before, after = around(k)
        one = WORK[k]
        assert isinstance(one, Program)
        for variant in range(len(units) + 2):
            count, with_oob = units[variant % len(units)]
            end = one.column + count * SUBPAGE
            data = after.data[:end] + before.data[end:]
            left = Bits(data, after.oob if with_oob else before.oob)
            expected = [well(bits) for bits in (page_at(k, page - 1), left, page_at(k, page + 1))]
            if with_oob:
                corrected, failed, read = through_ecc(data, (after.data,))
                assert failed == (4 - count) * SUBPAGE // STEP
                expected[1] = replace(expected[1], corrected=corrected, failed=failed, data=read)
            found = [answers.read(place) for place in seen[k, variant]]
            assert found == expected, (k, variant)
    # Half of one is not what was meant, nor what was there.
    assert around(OVER)[1] != around(OVER)[2] != BLANK


def check_torn(
    answers: Answers, place: int, before: Bits, after: Bits, strength: int = STRENGTH
) -> bytes:
    """A page of which a part of the bits was programmed; its OOB area."""
    found = answers.read(place)
    assert is_between(found.raw, after.data, before.data)
    assert is_between(found.oob, after.oob, before.oob)
    expected = through_ecc(found.raw, (after.data, before.data), strength)
    assert (found.corrected, found.failed, found.data) == expected
    return found.oob


VARIANTS = 60


@CHIPS
def test_torn_bits(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    """A part of the bits has changed, none the other way; ECC takes what is nearer, or fails."""
    script = worked()
    seen = {}
    for k in (TORN_PAGE, OVER, UNIT):
        page = around(k)[0]
        for variant in range(VARIANTS):
            script.cut(k, "torn-bits", variant)
            seen[k, variant] = (script.read(page), script.read(page - 1))
    # Once more, from elsewhere: a variant is one state.
    script.cut(OVER, "torn-bits", 5)
    script.cut(TORN_PAGE, "torn-bits", 5)
    again = script.read(around(TORN_PAGE)[0])
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    assert answers.read(again) == answers.read(seen[TORN_PAGE, 5][0])
    for k in (TORN_PAGE, OVER, UNIT):
        page, before, after = around(k)
        reads = [answers.read(seen[k, variant][0]) for variant in range(VARIANTS)]
        areas = {
            check_torn(answers, seen[k, variant][0], before, after) for variant in range(VARIANTS)
        }
        assert all(
            answers.read(neighbour) == well(page_at(k, page - 1))
            for (operation, _), (_, neighbour) in seen.items()
            if operation == k
        )
        # From hardly begun to nearly finished.
        share = [
            differing(one.raw, before.data) / differing(after.data, before.data) for one in reads
        ]
        assert min(share) < 0.1 and max(share) > 0.9 and len(set(share)) > VARIANTS * 0.9
        if k == TORN_PAGE:
            assert {before.oob, after.oob} < areas
        else:
            assert areas == {before.oob}


def test_a_torn_step_reads_as_before_as_meant_or_not_at_all(
    lab: LabBuild, tmp_path: Path, chipcuts: Path
) -> None:
    """An ECC that corrects much, so that each of the three is met."""
    script, strength = worked(), 100
    page, before, after = around(TORN_PAGE)
    seen = []
    for variant in range(VARIANTS):
        script.cut(TORN_PAGE, "torn-bits", variant)
        seen.append(script.read(page))
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, ecc_strength_bits=strength)
    fates = set()
    for place in seen:
        check_torn(answers, place, before, after, strength)
        read = answers.read(place)
        for number, bits in enumerate(steps_of(read.data)):
            sorts = (before.data, after.data, read.raw)
            fates |= {sort for sort in sorts if list(steps_of(sort))[number] == bits}
    assert {before.data, after.data} < fates


def test_a_torn_page_that_reads_as_blank_may_be_programmed(
    lab: LabBuild, tmp_path: Path, chipcuts: Path
) -> None:
    """Nobody can tell it from a blank one, so no rule is broken; its bits are cleared only."""
    strength, seed = 100, 70
    page, before, _ = around(TORN_PAGE)
    script = worked()
    seen = []
    for variant in range(4 * VARIANTS):
        script.cut(TORN_PAGE, "torn-bits", variant)
        seen.append(script.read(page))
    found = carried_out(lab, tmp_path / "first", chipcuts, script, ecc_strength_bits=strength)
    reads = {variant: found.read(place) for variant, place in enumerate(seen)}
    blank = [
        variant
        for variant, one in reads.items()
        if (one.data, one.oob) == (before.data, before.oob) and one.raw != before.data
    ]
    assert blank
    script = worked()
    again = {}
    for variant in blank:
        script.cut(TORN_PAGE, "torn-bits", variant)
        script.add(f"program {page} 0 {PAGE} 1 {seed}")
        again[variant] = script.read(page)
    answers = carried_out(lab, tmp_path / "second", chipcuts, script, ecc_strength_bits=strength)
    meant = BLANK.programmed(0, PAGE, True, seed)
    for variant, place in again.items():
        one = answers.read(place)
        assert one.raw == both(meant.data, reads[variant].raw)
        # What the torn program left is corrected, as long as that is possible.
        assert (one.corrected, one.failed, one.data) == through_ecc(
            one.raw, (meant.data,), strength
        )


@CHIPS
def test_kinds_that_do_not_apply_are_refused(
    lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str
) -> None:
    """And the chip says so before: `variants KIND 0`."""
    script = worked()
    kinds = ("lost", "done", "torn-prefix", "torn-bits", "erase-half", "erase-weak")
    kinds += ("unstable", "paired")
    given, states = {}, {}
    for k in range(len(WORK)):
        script.chip(f"at {k}")
        states[k] = script.add("state")
        for kind in kinds:
            given[k, kind] = script.cut(k, kind)
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    for k, operation in enumerate(WORK):
        applies = {"lost", "done"}
        if isinstance(operation, Program):
            applies |= {"torn-bits", "unstable"}
            # One sub-page without OOB, or the OOB alone, has no beginning.
            if k not in (UNIT, OOB_ALONE):
                applies.add("torn-prefix")
        elif operation.verb == "erase":
            applies |= {"erase-half", "erase-weak", "unstable"}
        for kind in kinds:
            expected = 0 if kind in applies else EOPNOTSUPP
            assert answers.errno(given[k, kind]) == expected, (operation, kind)
            zero = f"state variants {kind} 0" in answers.given[states[k]]
            assert zero == (kind not in applies), (operation, kind)


# --- erases ---


@CHIPS
def test_erase_half(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    """Each page blank, in between or as before; the first one as before in odd variants."""
    script = worked()
    seen, blocks = {}, {}
    for variant in range(24):
        script.cut(ERASE, "erase-half", variant)
        seen[variant] = [script.read(OTHER * PAGES + page) for page in range(PAGES)]
        blocks[variant] = script.add(f"block {OTHER}")
    script.chip(f"at {ERASE}")
    before_it = script.add(f"block {OTHER}")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    erases, programs, *_ = answers.numbers(before_it)
    sorts: set[tuple[str, ...]] = set()
    for variant, places in seen.items():
        assert answers.numbers(blocks[variant])[:2] == [erases + 1, programs]
        found = []
        for page, place in enumerate(places):
            was, read = page_at(ERASE, OTHER * PAGES + page), answers.read(place)
            assert is_between(read.raw, was.data, BLANK.data)
            assert is_between(read.oob, was.oob, BLANK.oob)
            expected = through_ecc(read.raw, (BLANK.data, was.data))
            assert (read.corrected, read.failed, read.data) == expected
            found.append(
                "blank" if read.bits == BLANK else "before" if read.bits == was else "between"
            )
        assert found[10:] == ["blank"] * 6
        assert (found[0] == "before") == bool(variant % 2)
        sorts.add(tuple(found[:10]))
    assert len(sorts) > 20  # no two states are the same, but by chance
    for page in range(10):
        assert {one[page] for one in sorts} == {"blank", "between", "before"}


@CHIPS
def test_erase_weak(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    """Blank, whenever it is read; what is programmed has wrong bits until the block is erased."""
    script, seed = worked(), 40
    first = OTHER * PAGES
    pages = range(first, first + PAGES)
    blank, upon, healed, blocks = {}, {}, {}, {}
    for variant in range(12):
        script.cut(ERASE, "erase-weak", variant)
        blocks[variant] = script.add(f"block {OTHER}")
        blank[variant] = [script.read(page) for page in pages]
        script.chip("cycle")
        blank[variant] += [script.read(page) for page in pages]
        script.add(f"program {first} 0 {PAGE} 1 {seed}")
        upon[variant] = [script.read(first), script.read(first + 1)]
        script.chip("cycle")
        upon[variant] += [script.read(first), script.read(first + 1)]
        script.add(f"erase {OTHER}")
        healed[variant] = [script.read(first)]
        script.add(f"program {first} 0 {PAGE} 1 {seed}")
        healed[variant] += [script.read(first), script.read(first + 1)]
    script.chip("back")
    back = [script.read(page) for page in pages]
    script.cut(ERASE, "done")
    erased = script.add(f"block {OTHER}")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    meant = BLANK.programmed(0, PAGE, True, seed)
    weak, counts, failed, corrected = 0, set(), set(), 0
    for variant in range(12):
        assert answers.numbers(blocks[variant])[:2] == answers.numbers(erased)[:2]
        reads = [answers.read(place) for place in blank[variant]]
        assert reads[:PAGES] == reads[PAGES:]
        for read in reads[:PAGES]:
            assert replace(read, raw=BLANK.data) == well(BLANK)
            wrong = wrong_steps(read.raw, BLANK.data)
            assert all(wrong) == any(wrong)
            weak += any(wrong)
            counts |= set(wrong)
        raw = both(meant.data, reads[0].raw)
        wanted = Read(*through_ecc(raw, (meant.data,)), raw, meant.oob)
        failed.add(wanted.failed)
        corrected += wanted.corrected
        found = [answers.read(place) for place in upon[variant]]
        assert found == [wanted, reads[1]] * 2
        again = [answers.read(place) for place in healed[variant]]
        assert again == [well(BLANK), well(meant), well(BLANK)]
    # A chance of a half of 192 pages: 39 are 5.6 sigma.
    assert abs(weak - 96) < 39
    assert counts == {times * (STRENGTH + 1) for times in range(5)}
    assert len(failed) > 2 and corrected  # not every step is past reading
    assert [answers.read(place) for place in back] == [well(page_at(ERASE, page)) for page in pages]


# --- what is read well until power was off ---


def wrong_steps(raw: bytes, good: bytes) -> list[int]:
    """In how many bits each ECC step differs."""
    return [differing(a, b) for a, b in zip(steps_of(raw), steps_of(good), strict=True)]


def check_unstable(answers: Answers, place: int, good: Bits) -> list[int]:
    read = answers.read(place)
    wrong = wrong_steps(read.raw, good.data)
    assert all(STRENGTH < errors <= STRENGTH + 8 for errors in wrong if errors)
    assert (read.corrected, read.failed) == (0, sum(map(bool, wrong)))
    # What cannot be corrected is given as it is.
    assert read.data == read.raw and read.oob == good.oob
    return wrong


@CHIPS
def test_unstable_programs(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    script = worked()
    first, then, twice = {}, {}, {}
    for k in (TORN_PAGE, OVER):
        page = around(k)[0]
        for variant in range(20):
            script.cut(k, "unstable", variant)
            first[k, variant] = (script.read(page), script.add("digest"))
            script.chip("cycle")
            then[k, variant] = (script.read(page), script.read(page - 1))
            script.chip("cycle")
            twice[k, variant] = script.read(page)
        script.cut(k, "done")
        script.chip("cycle")
        first[k, -1] = (script.read(page), script.add("digest"))
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    for k in (TORN_PAGE, OVER):
        page, _, after = around(k)
        assert answers.read(first[k, -1][0]) == well(after)
        counts = []
        for variant in range(20):
            assert answers.read(first[k, variant][0]) == well(after)
            wrong = check_unstable(answers, then[k, variant][0], after)
            assert any(wrong)
            counts.append(sum(map(bool, wrong)))
            assert answers.read(then[k, variant][1]) == well(page_at(k, page - 1))
            assert answers.read(twice[k, variant]) == answers.read(then[k, variant][0])
        # One step at least, the others with a chance of a half.
        assert min(counts) < max(counts) <= PAGE // STEP


@CHIPS
def test_unstable_erases(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    script = worked()
    first, then, blocks = {}, {}, {}
    pages = range(OTHER * PAGES, (OTHER + 1) * PAGES)
    for variant in range(8):
        script.cut(ERASE, "unstable", variant)
        blocks[variant] = script.add(f"block {OTHER}")
        first[variant] = [script.read(page) for page in pages]
        script.chip("cycle")
        then[variant] = [script.read(page) for page in pages]
    script.cut(ERASE, "done")
    erased = script.add(f"block {OTHER}")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad)
    weak = 0
    for variant in range(8):
        assert answers.numbers(blocks[variant])[:2] == answers.numbers(erased)[:2]
        assert [answers.read(place) for place in first[variant]] == [well(BLANK)] * PAGES
        found = [any(check_unstable(answers, place, BLANK)) for place in then[variant]]
        weak += sum(found)
    # A chance of a half of 128 pages: fewer than 32 or more than 96 is no chance (5.6 sigma).
    assert 32 <= weak <= 96


# --- pages that share cells ---

DISTANCE = 4


@CHIPS
def test_paired(lab: LabBuild, tmp_path: Path, chipcuts: Path, bad: str) -> None:
    script = worked()
    k = 5
    page, before, after = around(k)
    partner = page - DISTANCE
    seen = {}
    for variant in range(12):
        script.cut(k, "paired", variant)
        seen[variant] = [script.read(one) for one in (page, partner, partner + 1, partner - 1)]
    script.chip("back")
    taken_back = [script.read(page), script.read(partner)]
    # On the first pages there is no partner; of page 14 it is page 10, which is blank.
    refused = [script.cut(one, "paired") for one in (2, 10, 12, ERASE, LAST)]
    good = script.cut(UNIT, "paired")
    answers = carried_out(lab, tmp_path / "chip", chipcuts, script, bad=bad, paired=DISTANCE)
    assert [answers.errno(place) for place in refused] == [EOPNOTSUPP] * 5
    assert answers.errno(good) == 0
    was = page_at(k, partner)
    noises = set()
    for places in seen.values():
        check_torn(answers, places[0], before, after)
        hit = answers.read(places[1])
        assert hit.oob == was.oob and hit.failed == PAGE // STEP and hit.data == hit.raw
        # A quarter of 16,384 bits, and more or less: five sigma are 277.
        assert abs(differing(hit.raw, was.data) - 8 * PAGE // 4) < 277
        noises.add(hit.raw)
        for place, one in zip(places[2:], (partner + 1, partner - 1), strict=True):
            assert answers.read(place) == well(page_at(k, one))
    assert len(noises) == len(seen)
    assert [answers.read(place) for place in taken_back] == [well(before), well(was)]
