"""What several verdicts come to, the verdict of all cases, and another amount of work."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from compare_support import (
    MS,
    TIME,
    compared,
    only,
    result,
    row_of,
    scaled,
    side,
    spec,
    with_figure,
)

from ffslab.compare.engine import compare_runs
from ffslab.compare.verdicts import CHANGES, GAINS, GRAVEST, REGRESSIONS, Verdict, is_change, joint
from ffslab.model.kernels import FLASH_TIME_ONLY

FAILED = result(outcome="crash", reason="oops", phases=[])


def test_the_order_and_the_groups_of_the_words() -> None:
    assert [str(verdict) for verdict in GRAVEST] == [
        "worse", "mixed", "seeds disagree", "better", "different", "not comparable",
        "within the threshold", "within the band", "same",
    ]  # fmt: skip
    assert {str(v) for v in CHANGES} == {
        "worse", "mixed", "better", "different", "seeds disagree",
    }  # fmt: skip
    assert {str(v) for v in REGRESSIONS} == {"worse", "newly failing", "mixed"}
    assert {str(v) for v in GAINS} == {"better", "fixed", "mixed"}
    assert {str(verdict) for verdict in Verdict if not is_change(verdict)} == {
        "same", "within the band", "within the threshold", "still failing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ((), Verdict.SAME),
        ((Verdict.SAME, Verdict.BAND, Verdict.THRESHOLD), Verdict.SAME),
        ((Verdict.SAME, Verdict.WORSE), Verdict.WORSE),
        ((Verdict.NEWLY_FAILING, Verdict.SAME), Verdict.WORSE),
        ((Verdict.BETTER, Verdict.INCOMPARABLE), Verdict.BETTER),
        ((Verdict.FIXED,), Verdict.BETTER),
        ((Verdict.BETTER, Verdict.WORSE), Verdict.MIXED),
        ((Verdict.MIXED, Verdict.SAME), Verdict.MIXED),
        ((Verdict.DISAGREE, Verdict.SAME), Verdict.MIXED),
        ((Verdict.DIFFERENT,), Verdict.SAME),
        ((Verdict.INCOMPARABLE,), Verdict.INCOMPARABLE),
        ((Verdict.INCOMPARABLE, Verdict.SAME), Verdict.SAME),
    ],
)
def test_what_several_verdicts_come_to(verdicts: Sequence[Verdict], together: Verdict) -> None:
    assert joint(verdicts) is together


# --- another amount of work


def test_figures_of_different_work_are_of_a_unit_of_it() -> None:
    """Twice the files in twice the time are as fast, and no verdict on the case."""
    other = result(spec=spec(workload__number=1000))
    case = only(compared(result(), scaled(other, TIME, 2), threshold=None))
    assert case.verdict is Verdict.INCOMPARABLE
    assert case.why == "not the same work: workload.number 500 → 1000"
    time = row_of(case, TIME)
    assert (time.base, time.new, time.per) == (2000 * MS / 500, 4000 * MS / 1000, "file")
    assert time.verdict is Verdict.SAME
    slower = row_of(only(compared(result(), scaled(other, TIME, 2.2), threshold=None)), TIME)
    assert slower.verdict is Verdict.WORSE and slower.ratio == pytest.approx(1.1)


def test_what_does_not_grow_with_the_work_cannot_be_compared() -> None:
    other = result(spec=spec(workload__number=1000))
    case = only(compared(result(), other))
    assert row_of(case, "workload.pages_programmed").per == "MB written"
    row = with_figure(result(), "workload", erases_spread=1, write_amplification=1.5)
    other = with_figure(other, "workload", erases_spread=9, write_amplification=1.8)
    case = only(compared(row, other))
    spread = row_of(case, "workload.erases_spread")
    assert (spread.verdict, spread.why) == (Verdict.INCOMPARABLE, "of different work")
    amplification = row_of(case, "workload.write_amplification")  # a rate stands as it is
    assert (amplification.verdict, amplification.new) == (Verdict.WORSE, 1.8)


def test_how_the_work_is_done_is_a_setting() -> None:
    other = result(spec=spec(workload__drop_caches=False))
    case = only(compared(result(), scaled(other, TIME, 1.1)))
    assert case.verdict is Verdict.WORSE and not case.other_work


def test_a_time_that_ends_in_memory_is_no_match_for_one_that_does_not() -> None:
    late = spec(filesystem__options={"write_mode": "write-back"})
    case = only(compared(result(), result(spec=late)))
    row = row_of(case, TIME)
    assert row.verdict is Verdict.INCOMPARABLE and "in memory" in row.why
    assert (
        row_of(only(compared(result(spec=late), result(spec=late))), TIME).verdict is Verdict.SAME
    )


# --- the verdict of all


def test_the_verdict_of_all_cases() -> None:
    base = [result(f"{n}-s1", spec=spec(state__name=n)) for n in ("a", "b")]

    def verdict(*factors: float) -> Verdict:
        new = [scaled(row, TIME, factor) for row, factor in zip(base, factors, strict=True)]
        return compared(base, new).verdict

    assert verdict(1, 1) is Verdict.SAME
    assert verdict(1, 1.1) is Verdict.WORSE
    assert verdict(0.9, 1) is Verdict.BETTER
    assert verdict(0.9, 1.1) is Verdict.MIXED
    # A case that is not there is neither: nothing is called the same.
    assert compared(base, base[:1]).verdict is Verdict.INCOMPARABLE
    assert compared(base, [scaled(base[0], TIME, 1.1)]).verdict is Verdict.WORSE
    assert compared(base[:1], base).verdict is Verdict.SAME
    assert compared(FAILED, FAILED).verdict is Verdict.INCOMPARABLE
    assert compared([base[0], FAILED], [base[0], FAILED]).verdict is Verdict.SAME
    # Nor is one that was skipped, whatever the others are; a new one alone is compared with none.
    skipped = {**base[1], "outcome": "skip"}
    assert compared(base, [base[0], skipped]).verdict is Verdict.INCOMPARABLE
    assert compared(base, [scaled(base[0], TIME, 0.5), skipped]).verdict is Verdict.INCOMPARABLE
    assert compared(FAILED, [FAILED, base[1]]).verdict is Verdict.INCOMPARABLE


def test_a_run_elsewhere_is_not_comparable() -> None:
    sides = [side([result()]), side([result()], "new", target="qemu")]
    found = compare_runs(*sides)
    assert found.is_of_targets and found.verdict is Verdict.INCOMPARABLE
    assert "another target" in only(found).why
    assert not compare_runs(sides[0], side([result()], "new")).is_of_targets


def test_where_only_the_flash_takes_time_counts_are_compared() -> None:
    """A kernel without the CPU model beside one with it: no time, and no rate, is a match."""
    usual = {"linux": {"default": "6.1.192 (debian-6.1.192-2), patches of 6.1"}}
    bare = {"linux": {"default": f"6.6.9 (tree), patches of 6.1, {FLASH_TIME_ONLY}"}}
    fewer = scaled(result(), "creation.pages_programmed", 0.5)
    found = only(compare_runs(side([result()], **usual), side([fewer], "new", "b2", **bare)))
    assert found.verdict is Verdict.INCOMPARABLE
    times = [row for row in found.rows if row.figure.metric.is_time]
    assert times and {row.verdict for row in times} == {Verdict.INCOMPARABLE}
    assert {row.why for row in times} == {"code takes time on one side only"}
    counts = {row.figure.key: row.verdict for row in found.rows if not row.figure.metric.is_time}
    assert counts["creation.pages_programmed"] is Verdict.BETTER
    both = compare_runs(side([result()], **bare), side([fewer], "new", "b2", **bare))
    assert Verdict.INCOMPARABLE not in {row.verdict for row in only(both).rows}


# --- the deciding figures


def test_without_a_band_two_percent_are_no_change() -> None:
    row = result()
    for factor, verdict in ((1.02, Verdict.THRESHOLD), (1.021, Verdict.WORSE)):
        found = compared(row, scaled(row, TIME, factor), threshold=None)
        assert row_of(only(found), TIME).verdict is verdict
    more = scaled(row, "workload.pages_programmed", 1.001)
    assert only(compared(row, more, threshold=None)).verdict is Verdict.SAME
    assert only(compared(row, more, threshold=None, exact=True)).verdict is Verdict.WORSE
    # A time is no count.
    slower = scaled(row, TIME, 1.001)
    assert only(compared(row, slower, threshold=None, exact=True)).verdict is Verdict.SAME


def test_the_deciding_figures_alone_make_the_verdict() -> None:
    row = result()
    new = scaled(row, "creation.pages_read", 2)
    assert row_of(only(compared(row, new)), "creation.pages_read").verdict is Verdict.WORSE
    assert only(compared(row, new)).verdict is Verdict.SAME
    assert only(compared(row, scaled(new, TIME, 1.1))).verdict is Verdict.WORSE
    # Within one build no figure may differ.
    assert only(compared(row, new, "b1")).broken == ("creation.pages_read",)


def test_within_one_build_no_threshold_excuses_anything() -> None:
    """Half a percent is a change where specs are equal, of each seed; else it is none."""
    row = result()
    new = scaled(row, TIME, 1.005)
    assert row_of(only(compared(row, new, "b1", threshold=None)), TIME).verdict is Verdict.WORSE
    assert row_of(only(compared(row, new, "b2", threshold=None)), TIME).verdict is Verdict.THRESHOLD
    other = spec(seed=2, cpu_scale=2)
    base = [row, result("jffs2-s2", spec=spec(seed=2))]
    changed = [new, scaled(result("jffs2-s2", spec=other), TIME, 1.005)]
    both = only(compared(base, changed, "b1", threshold=None))
    assert row_of(both, TIME).verdict is Verdict.THRESHOLD


def test_how_much_was_measured_decides_and_has_a_column() -> None:
    short = {"what": "bytes", "measured": 61, "asked": 100, "stopped": "ENOSPC", "accepted": True}
    rows = result(), result(outcome="short", short=short)
    for base, new in (rows, rows[::-1]):
        row = row_of(only(compared(base, new)), "measured_share")
        assert row.decides and row.head == "measured"
    assert row_of(only(compared(rows[0], rows[0])), "measured_share").head == ""


def test_either_side_may_end_in_memory() -> None:
    late = spec(filesystem__options={"write_mode": "write-back"})
    for base, new in ((result(), result(spec=late)), (result(spec=late), result())):
        assert row_of(only(compared(base, new)), TIME).verdict is Verdict.INCOMPARABLE
