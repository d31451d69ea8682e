"""From what cases measured to the order of candidates, and to what would change it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_advise_needs import CATALOG, needs
from test_report_tree_support import mounts_text, write_tree_run

from ffslab.advise.advice import Advice, _other_size, advice_of, document
from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.changes import changes_of, compression_words, gain_of, steps_between
from ffslab.advise.life import imbalance_of, years_of_life
from ffslab.advise.needs import Needs
from ffslab.advise.probes import BOOT, CUT, WEAR, WRITE, Probe, probes
from ffslab.advise.ranking import (
    MET,
    MISSED,
    NOT_MEASURED,
    Cell,
    Judged,
    Need,
    conclusion,
    judge_candidates,
    needs_asked,
)
from ffslab.advise.readings import Reading, Value, reading_of, readings_of, values_of
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory

TIME = Need("boot", "boot", "boot", 1e9, "ns")
ROOM = Need("space", "space", "free", 10 * 2**20, "bytes", True)
POWER = Need("power", "power", "power", 100.0, "percent", True)
YEARS = Need("life", "life", "life", 10.0, "years", True)
ASKED = (TIME, ROOM)
JFFS2, UBIFS, YAFFS2 = Candidate("jffs2"), Candidate("ubifs"), Candidate("yaffs2")
FASTMAP = Candidate("ubifs", (("fastmap", "on"),))
PLAIN = Candidate("ubifs", (("compression", "none"),))


def values(boot_s: float | None, free_mib: float | None) -> dict[str, Value]:
    return {
        "boot": Value(None if boot_s is None else boot_s * 1e9),
        "space": Value(None if free_mib is None else free_mib * 2**20),
    }


def order_of(*found: tuple[Candidate, Mapping[str, Value]]) -> tuple[Judged, ...]:
    return judge_candidates(ASKED, found)


def names(order: tuple[Judged, ...]) -> list[str]:
    return [one.candidate.title for one in order]


@pytest.mark.parametrize(
    ("need", "value", "standing", "words"),
    [
        (TIME, 1e9, MET, "met"),  # a limit is met when it is reached
        (TIME, 1.5e9, MISSED, "missed by 500 ms (×1.5)"),
        (ROOM, 10 * 2**20, MET, "met"),
        (ROOM, 4 * 2**20, MISSED, "missed by 6 MiB (×2.5)"),
        (ROOM, 0, MISSED, "missed by 10 MiB"),
        (TIME, None, NOT_MEASURED, "not measured"),
        (POWER, 100.0, MET, "met"),
        (POWER, 99.99999, MISSED, "missed: 99.999 %"),  # never rounded up to all
    ],
)
def test_met_missed_and_by_how_much(
    need: Need, value: float | None, standing: str, words: str
) -> None:
    cell = Cell(need, Value(value))
    assert (cell.standing, cell.words) == (standing, words)
    assert standing in ("met", "missed", "not measured")


@pytest.mark.parametrize(
    ("need", "value", "words"),
    [
        (YEARS, 2.345, "2.35 y"),
        (YEARS, 1000, "1000 y"),
        (YEARS, 99.96, "100 y"),
        (YEARS, 99.5, "99.5 y"),
        (YEARS, 100.6, "101 y"),
        (YEARS, 1000.5, ">1,000 y"),
        (POWER, 100.0, "all"),
        (POWER, 99.97268, "99.972 %"),
        (ROOM, 1536.6, "1.5 KiB"),
        (ROOM, 1023.6, "1 KiB"),
        (TIME, 1.5e6, "1.50 ms"),
    ],
)
def test_values_have_their_unit(need: Need, value: float, words: str) -> None:
    assert need.words(value) == words


def test_the_asked_for_says_which_way() -> None:
    assert [need.asked for need in (TIME, ROOM, YEARS, POWER)] == [
        "≤ 1.00 s",
        "≥ 10 MiB",
        "≥ 10 y",
        "all",
    ]


def test_fewer_needs_missed_come_first_then_fewer_not_measured() -> None:
    order = order_of(
        (JFFS2, values(3, 5)),  # misses both
        (UBIFS, values(1, None)),  # one is not known
        (YAFFS2, values(0.9, 11)),
    )
    assert names(order) == ["yaffs2", "ubifs", "jffs2"]
    assert conclusion(order[0], 3) == "yaffs2 meets all 2 needs; first of 3 candidates."
    assert "space was not measured" in conclusion(order[1], 3)
    assert "misses boot, space" in conclusion(order[2], 3)


def test_of_as_many_missed_the_smaller_factor_comes_first() -> None:
    """2 s are twice the limit; 4 MiB are 2.5 times too little."""
    order = order_of((JFFS2, values(0.1, 4)), (UBIFS, values(2, 100)))
    assert names(order) == ["ubifs", "jffs2"]


def test_of_as_many_missed_the_product_of_the_factors_decides_and_not_the_largest() -> None:
    """jffs2 misses by 1.5 and 10 ÷ 6 = 1.67, which is 2.5; ubifs by 2 and 10 ÷ 9 = 1.11, 2.22."""
    order = order_of((JFFS2, values(1.5, 6)), (UBIFS, values(2, 9)))
    assert names(order) == ["ubifs", "jffs2"]
    # Nor the smallest: 1.1 and 10 ÷ 2.5 = 4 are 4.4; 1.5 and 1.67 are 2.5.
    order = order_of((JFFS2, values(1.1, 2.5)), (UBIFS, values(1.5, 6)))
    assert names(order) == ["ubifs", "jffs2"]


def test_of_those_that_meet_all_the_widest_margin_comes_first() -> None:
    """jffs2: 1.25 and 10; ubifs: 2 and 2; yaffs2: 20 and 30, of which 10 count."""
    order = order_of(
        (JFFS2, values(0.8, 100)), (UBIFS, values(0.5, 20)), (YAFFS2, values(0.05, 300))
    )
    assert names(order) == ["yaffs2", "ubifs", "jffs2"]
    # A factor of ten is enough: then the order of the candidates is kept.
    assert names(order_of((JFFS2, values(0.01, 150)), (YAFFS2, values(0.001, 300)))) == [
        "jffs2",
        "yaffs2",
    ]


def test_what_costs_something_unmeasured_needs_a_reason() -> None:
    better = (FASTMAP, values(0.2, 20))
    assert names(order_of(better, (UBIFS, values(0.9, 20)))) == ["ubifs", "ubifs, fastmap"]
    assert names(order_of(better, (UBIFS, values(1.1, 20)))) == ["ubifs, fastmap", "ubifs"]


def test_a_case_that_did_not_pass_is_a_need_missed() -> None:
    failed = {"boot": Value(None, "fail: it did not mount", failed=True), "space": Value(1e9)}
    order = order_of((JFFS2, failed), (UBIFS, values(0.5, None)), (YAFFS2, values(5, 20)))
    assert names(order) == ["ubifs", "yaffs2", "jffs2"] or names(order)[0] == "ubifs"
    assert order[0].failures == () and len(order[-1].failures) + len(order[1].failures) == 1


def test_content_that_does_not_fit_is_a_need_missed_even_if_nothing_is_to_be_free() -> None:
    fits = Need("space", "space", "free", 0, "bytes", True)
    assert fits.asked == "it fits"
    full = Cell(fits, Value(0.0, "the content does not fit", failed=True))
    assert (full.standing, full.factor, full.words) == (
        MISSED,
        0,
        "missed: the content does not fit",
    )
    read_only = Cell(fits, Value(0.0, "statfs()"))
    assert (read_only.standing, read_only.words) == (MET, "met")
    order = judge_candidates(
        [fits], [(JFFS2, {"space": full.value}), (UBIFS, {"space": read_only.value})]
    )
    assert names(order) == ["ubifs", "jffs2"]
    assert order[1].missed and not order[1].failures  # it counts once


def test_what_is_never_written_boots_after_a_cut_as_clean() -> None:
    found = values_of(needs(), Candidate("squashfs"), all_readings(Candidate("squashfs")), CATALOG)
    assert found["boot-cut"] == Value(1e8, "nothing is written to it")


def test_a_stated_size_that_is_not_that_of_the_tree_is_said() -> None:
    stated = needs()  # 4 MB
    assert not list(_other_size(stated, {"boot": Reading({"tree": Value(4.3e6)})}))
    (text,) = _other_size(stated, {"boot": Reading({"tree": Value(5e6)})})
    assert "says 3.8 MiB" in text and "have 4.8 MiB" in text


def test_what_the_best_one_misses_is_met_by_the_nearest() -> None:
    order = order_of((UBIFS, values(1.5, 20)), (FASTMAP, values(0.4, 4)), (YAFFS2, values(0.1, 2)))
    assert names(order)[0] == "ubifs"
    texts = [change.text for change in changes_of(needs(), order)]
    assert texts[0] == "boot: met by ubifs, fastmap (400 ms); it misses: space"
    # 20 MiB is asked for beyond what ubifs has: nobody else has it, so nothing changes.
    assert len(texts) == 1


def test_without_anybody_who_meets_it_the_nearest_is_told() -> None:
    order = order_of((UBIFS, values(1.5, 20)), (YAFFS2, values(1.2, 2)))
    texts = [change.text for change in changes_of(needs(), order)]
    assert texts == [
        "boot: no candidate meets it; nearest is yaffs2 with 1.20 s, asked is ≤ 1.00 s"
    ]


def test_a_stricter_limit_may_put_another_one_first() -> None:
    order = order_of((UBIFS, values(0.5, 20)), (YAFFS2, values(0.9, 15)), (JFFS2, values(0.4, 11)))
    assert names(order)[0] == "ubifs"
    texts = [change.text for change in changes_of(needs(), order)]
    # Nobody has more room than 20 MiB; below 500 ms only jffs2 is.
    assert texts == ["boot: with a limit of 490 ms instead of 1.00 s, jffs2 (400 ms) comes first"]
    # Who is 1 % better is not better.
    near = order_of((UBIFS, values(0.5, 20)), (JFFS2, values(0.495, 20.1)))
    assert changes_of(needs(), near[::-1]) == ()


def test_the_best_of_linux_is_told_if_the_best_is_outside() -> None:
    order = order_of((YAFFS2, values(0.5, 20)), (UBIFS, values(0.9, 15)))
    texts = [change.text for change in changes_of(needs(), order, {"yaffs2"})]
    assert texts == ["only what Linux contains (consider.mainline): ubifs comes first"]
    assert changes_of(needs(), order, {"ubifs"}) == ()


def test_life_is_in_proportion_to_the_daily_volume() -> None:
    life = Need("life", "life", "life", 10.0, "years", True)
    order = judge_candidates([life], [(UBIFS, {"life": Value(4.0)})])
    texts = [change.text for change in changes_of(needs(), order)]
    # 4 of 10 years at 1 MB a day: 400,000 B a day.
    assert texts[-1].startswith("life: ubifs meets it up to 390.6 KiB a day instead of 976.6 KiB")


def test_an_option_is_nearer_than_another_file_system() -> None:
    for one, other in ((UBIFS, FASTMAP), (FASTMAP, UBIFS), (UBIFS, Candidate("ubifs", (), 2**25))):
        assert steps_between(one, other) == (False, 1)
    assert steps_between(UBIFS, UBIFS) == (False, 0)
    assert steps_between(PLAIN, FASTMAP) == (False, 2)
    both = Candidate("ubifs", (("fastmap", "on"),), 2**25)
    assert steps_between(UBIFS, both) == (False, 2)
    assert steps_between(UBIFS, YAFFS2) > steps_between(PLAIN, both)


def test_compression_is_worth_it_if_needs_are_met_or_figures_better() -> None:
    defaults = {"ubifs": "lzo"}
    met = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.5, 5)))
    assert compression_words(met, defaults) == (
        "ubifs: worth it, a matter of needs met (lzo / none: free 20 MiB / 5 MiB)",
    )
    # Half the time and four times the room: √(2 × 4) = 2.83.
    both = order_of((UBIFS, values(0.25, 80)), (PLAIN, values(0.5, 20)))
    assert "worth it, figures ×2.83 in the geometric mean" in compression_words(both, defaults)[0]
    assert gain_of(both[0], both[1]) == pytest.approx(math.sqrt(8))
    worse = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.25, 20)))
    assert "ubifs: not worth it, figures ×0.71" in compression_words(worse, defaults)[0]
    same = order_of((UBIFS, values(0.5, 20)), (PLAIN, values(0.5, 20.1)))
    assert "makes no difference" in compression_words(same, defaults)[0]
    assert compression_words(order_of((UBIFS, values(0.5, 20))), defaults) == ()


def test_years_from_what_a_day_programs() -> None:
    """100 blocks of 1,000 erases; 10 blocks' bytes a day: 10,000 days if all wear alike."""
    assert years_of_life(1000, 100, 131_072, 10 * 131_072, 1.0) == pytest.approx(10_000 / 365.25)
    assert years_of_life(1000, 100, 131_072, 10 * 131_072, 2.0) == pytest.approx(5_000 / 365.25)
    assert years_of_life(1000, 100, 131_072, 0, 2.0) == math.inf


def test_ubi_bounds_how_uneven_blocks_become() -> None:
    assert imbalance_of(12, 6, 100_000, ubi=False) == 2
    # When the most erased block has 100,000 erases the others have 95,904 at least.
    assert imbalance_of(12, 6, 100_000, ubi=True) == pytest.approx(100_000 / 95_904)
    assert imbalance_of(6.1, 6, 100_000, ubi=True) == pytest.approx(6.1 / 6)
    assert imbalance_of(12, 6, 4096, ubi=True) == 2  # the threshold is never reached
    assert imbalance_of(0, 0, 1000, ubi=False) == 1


def test_needs_are_asked_for_only_if_stated() -> None:
    assert [need.key for need in needs_asked(needs())] == [
        "space",
        "boot",
        "boot-cut",
        "ram",
        "write",
        "life",
        "kept",
        "power",
    ]
    few = needs(content=None, power_cuts=False, limits={"ram": "1 MiB"}, writes={"years": None})
    assert [need.key for need in needs_asked(few)] == ["boot", "ram", "write", "kept"]


# The values of a candidate from the readings of its probes.


def read(kind: str, candidate: Candidate, **found: float) -> dict[str, Reading]:
    return {
        Probe(kind, candidate, {}).name: Reading({key: Value(one) for key, one in found.items()})
    }


def all_readings(candidate: Candidate) -> dict[str, Reading]:
    worn = Candidate(candidate.filesystem, (("compression", "none"),))
    return {
        **read(BOOT, candidate, boot=1e8, ram=5e5, space=4e6),
        **read(CUT, candidate, boot=2e8, ram=6e5, space=1.0),
        **read(WRITE, candidate, write=3e6, programmed=4.0),
        **read(WEAR, worn, imbalance=2.0),
    }


def test_values_of_a_candidate_come_from_its_cases() -> None:
    found = values_of(needs(), UBIFS, all_readings(UBIFS), CATALOG)
    known = {key: value.value for key, value in found.items()}
    # 128 blocks of 128 KiB with 100,000 erases; 4 MB a day, twice as much in the worst block.
    years = 100_000 * 128 * 131_072 / (4e6 * 2) / 365.25
    assert known == {
        "space": 4e6,
        "boot": 1e8,
        "boot-cut": 2e8,
        "ram": 6e5,  # the larger of both boots
        "write": 3e6,
        "kept": None,
        "power": None,  # no case of power cuts is among these
        "life": pytest.approx(years),
    }


def test_what_has_not_run_is_not_measured_and_says_so() -> None:
    found = all_readings(UBIFS)
    del found["wear.ubifs.compression.none"]
    found["cut.ubifs"] = Reading({}, "corrupt: 3 files are not what they were")
    got = values_of(needs(), UBIFS, found, CATALOG)
    assert got["life"] == Value(None, "its case has not run")
    assert got["boot-cut"] == Value(None, "corrupt: 3 files are not what they were", failed=True)
    assert got["boot"].value == 1e8


def advice(found: Needs, readings: Mapping[str, Reading]) -> Advice:
    """The advice as from results: those of the readings are put in their place."""
    chosen = candidates(found, CATALOG)
    made = probes(found, chosen, CATALOG)
    whole = advice_of(found, CATALOG, chosen, made, ())
    assert whole.missing == whole.cases == len(made)
    got = [(one, values_of(found, one, readings, CATALOG)) for one in chosen]
    order = judge_candidates(needs_asked(found), got)
    return Advice(
        needs=found,
        asked=needs_asked(found),
        order=order,
        changes=changes_of(found, order),
        compression=(),
        missing=0,
        cases=len(made),
        notes=whole.notes,
    )


def test_an_advice_without_a_result_says_that_nothing_was_measured() -> None:
    found = needs(consider={"filesystems": ["ubifs", "yaffs2"]})
    chosen = candidates(found, CATALOG)
    made = probes(found, chosen, CATALOG)
    got = advice_of(found, CATALOG, chosen, made, ())
    written = document(got)
    assert written["cases_missing"] == len(made)
    assert {
        cell["standing"] for one in written["candidates"] for cell in one["needs"].values()
    } == {"not measured"}
    assert "Life is an estimate" in " ".join(got.notes)
    assert "yaffs2" in next(note for note in got.notes if "Not a part of Linux" in note)


def test_the_json_has_values_and_words() -> None:
    found = needs(consider={"filesystems": ["ubifs"], "options": []})
    written = document(advice(found, all_readings(UBIFS)))
    (one,) = written["candidates"]
    assert one["filesystem"] == "ubifs" and one["options"] == {}
    assert one["needs"]["boot"]["value"] == 1e8 and one["needs"]["boot"]["standing"] == "met"
    assert one["needs"]["power"]["standing"] == "not measured"
    assert written["asked"][1] == {
        "key": "boot",
        "title": "mount to the end of ls, clean",
        "limit": 5e8,
        "unit": "ns",
    }


def test_the_share_of_states_that_is_asked_for_is_in_the_heading() -> None:
    assert needs_asked(needs())[-1].asked == "all"
    assert needs_asked(needs(as_promised_percent=99.9))[-1].asked == "≥ 99.9 %"


# What one result says.


def tree_results(tmp_path: Path) -> list[CaseResult]:
    return RunDirectory(write_tree_run(tmp_path / "run", mounts_text())).results()


def test_a_boot_is_read_from_its_result(tmp_path: Path) -> None:
    for result in tree_results(tmp_path):
        reading = reading_of(BOOT, result)
        assert not reading.failed
        steps: Any = result["tree"]  # type: ignore[typeddict-item]
        most = max(row["total_bytes"] for row in steps["memory"] if not row["prepared"])
        assert reading.values["ram"].value == most


def test_a_failed_result_has_a_reason_and_no_value(tmp_path: Path) -> None:
    result = tree_results(tmp_path)[0]
    result["outcome"], result["reason"] = "corrupt", "a file is gone"
    assert reading_of(BOOT, result) == Reading({}, "corrupt: a file is gone")
    result["phases"] = [{"phase": "create", "errno_name": "ENOSPC"}]  # type: ignore[list-item, typeddict-item]
    full = reading_of(BOOT, result)
    assert (
        full.values == {"space": Value(0.0, "the content does not fit", failed=True)}
        and full.failed
    )
    assert reading_of(CUT, result).values == {}
    probe = Probe(BOOT, UBIFS, {})
    result["axes"]["part"] = probe.name
    assert list(readings_of([probe], [result])) == ["boot.ubifs"]
    result["axes"]["part"] = "boot.jffs2"
    assert readings_of([probe], [result]) == {}
