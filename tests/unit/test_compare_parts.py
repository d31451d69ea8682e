"""The parts of a comparison by themselves: a verdict's rules, bands, causes, pairs, texts."""

from __future__ import annotations

from typing import Any

import pytest
from compare_support import (
    MS,
    case_of,
    compared,
    only,
    phase,
    result,
    row_of,
    scaled,
    side,
    spec,
    with_figure,
)

from ffslab.compare.band import Band, Histories, band, bands_of, joined
from ffslab.compare.cases import Side, compared_case
from ffslab.compare.engine import CaseRow, FigureRow, Rules, compare_runs
from ffslab.compare.pairs import also_differing, axis_sides, spec_differences
from ffslab.compare.ratios import Pair, summarise
from ffslab.compare.verdicts import (
    CHANGES,
    Verdict,
    verdict_of,
)
from ffslab.errors import UsageError
from ffslab.results.schema import Better

TIME = "creation.duration_ns"


def judged(
    *values: tuple[float, float],
    better: Better = "lower",
    width: Band | None = None,
    threshold: float = 0.0,
    ratios: bool = True,
    is_judged: bool = True,
) -> Verdict:
    by_seed = {str(n): pair for n, pair in enumerate(values)}
    summary = summarise(Pair(seed, *both) for seed, both in by_seed.items()) if ratios else None
    return verdict_of(better, by_seed, summary, width, threshold, is_judged=is_judged)


# --- verdicts


def test_the_words_are_what_tables_and_programs_see() -> None:
    assert [str(verdict) for verdict in Verdict] == [
        "worse", "better", "different", "seeds disagree", "within the band",
        "within the threshold", "same", "not comparable", "mixed", "newly failing", "fixed",
        "still failing", "missing", "new",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "better", "verdict"),
    [
        (((1, 1),), "lower", Verdict.SAME),
        (((1, 2),), "lower", Verdict.WORSE),
        (((2, 1),), "lower", Verdict.BETTER),
        (((1, 2),), "higher", Verdict.BETTER),
        (((2, 1),), "higher", Verdict.WORSE),
        (((1, 2),), "neither", Verdict.DIFFERENT),
        # One seed is as before, the other not: these do not disagree.
        (((1, 1), (1, 2)), "lower", Verdict.WORSE),
        (((1, 1), (2, 1)), "lower", Verdict.BETTER),
        (((1.0, 1.5), (1.0, 0.5)), "lower", Verdict.DISAGREE),
        (((1.0, 1.5), (1.0, 0.5)), "neither", Verdict.DISAGREE),
        # Whatever the size of the change: by half a unit either way.
        (((0.25, 0.5),), "lower", Verdict.WORSE),
        (((0.5, 0.25), (0.5, 0.5)), "lower", Verdict.BETTER),
    ],
)
def test_a_verdict(
    values: tuple[tuple[float, float], ...], better: Better, verdict: Verdict
) -> None:
    assert judged(*values, better=better) is verdict


@pytest.mark.parametrize(
    ("values", "threshold", "inside"),
    [
        (((100, 102),), 2.0, True),  # the threshold itself is inside
        (((100, 102.01),), 2.0, False),
        (((100, 98),), 2.0, True),
        (((100, 97.99),), 2.0, False),
        # Of several seeds what is shown counts, the quotient of the means: +2 % and +2.1 %.
        (((100, 101), (100, 103)), 2.0, True),
        (((100, 101), (100, 103.2)), 2.0, False),
        (((100, 101), (100, 97)), 2.0, True),
        (((100, 50), (100, 60)), 2.0, False),
        (((100, 103), (100, 97)), 2.0, False),  # each is more than that, if not both together
        (((100, 102), (100, 97)), 2.0, True),  # of which one is not
        (((100, 103), (100, 98)), 2.0, True),
        (((100, 101), (0, 1)), 2.0, True),
        (((100, 101), (0, 2)), 2.0, False),
        (((0, 0), (0, 2)), 2.0, False),  # from nothing no percentage leads
        (((100, 100.0001),), 0.0, False),
        (((1000, 1001),), 0.1, True),
    ],
)
def test_a_threshold(
    values: tuple[tuple[float, float], ...], threshold: float, inside: bool
) -> None:
    assert (judged(*values, threshold=threshold) is Verdict.THRESHOLD) is inside


def width(low: float, high: float, relative: tuple[float, float] | None = None) -> Band:
    return Band(low, high, relative, 3, 1)


@pytest.mark.parametrize(
    ("values", "band", "verdict"),
    [
        (((100, 103),), width(-2, 3, (-0.02, 0.03)), Verdict.BAND),
        (((100, 103.1),), width(-2, 3, (-0.02, 0.03)), Verdict.WORSE),
        (((100, 98),), width(-2, 3, (-0.02, 0.03)), Verdict.BAND),
        (((100, 97.9),), width(-2, 3, (-0.02, 0.03)), Verdict.BETTER),
        # Of one seed the difference counts, which has no rounding.
        (((100, 103),), width(-2, 3, (0, 0)), Verdict.BAND),
        # Of several seeds what is shown, relative to the base: 8 to 10 on average, +25 %.
        (((4, 8), (12, 12)), width(-1, 1, (-0.25, 0.25)), Verdict.BAND),
        (((4, 8), (12, 12)), width(-9, 9, (-0.24, 0.24)), Verdict.WORSE),
        (((8, 4), (8, 8)), width(-1, 1, (-0.25, 0.25)), Verdict.BAND),
        (((8, 4), (8, 8)), width(-9, 9, (-0.24, 0.24)), Verdict.BETTER),
        # Without a relation the mean difference: 4 and 0 are 2.
        (((0, 4), (0, 0)), width(-2, 2), Verdict.BAND),
        (((0, 4), (0, 1)), width(-2, 2), Verdict.WORSE),
        (((5, 9), (5, 5)), width(-2, 2), Verdict.BAND),
    ],
)
def test_a_band(values: tuple[tuple[float, float], ...], band: Band, verdict: Verdict) -> None:
    assert judged(*values, width=band) is verdict


def test_without_ratios_the_differences_are_left() -> None:
    assert judged((-1, 1), ratios=False, threshold=99) is Verdict.WORSE
    assert judged((4, 5), (4, 3), ratios=False) is Verdict.DISAGREE
    assert judged((-1, 1), (-1, 1), ratios=False, width=width(-2, 2, (-1, 1))) is Verdict.BAND
    assert judged((-1, 1), (-1, 3), ratios=False, width=width(-2, 2, (-9, 9))) is Verdict.WORSE


def test_what_is_not_judged_is_different() -> None:
    for new in (99, 101):
        assert judged((100, new), is_judged=False) is Verdict.DIFFERENT
    assert judged((100, 101), is_judged=False, threshold=2) is Verdict.THRESHOLD
    assert judged((100, 100), is_judged=False) is Verdict.SAME
    assert judged((100, 101), (100, 99), is_judged=False) is Verdict.DISAGREE


def test_a_change_too_small_for_a_mean_has_its_direction() -> None:
    """In the mean the two sides are equal: 1 is below the last digit of 2 ** 53 and more."""
    huge = 2.0**54
    assert judged((huge, huge), (3, 4), threshold=0) is Verdict.WORSE
    assert judged((huge, huge), (4, 3), threshold=0) is Verdict.BETTER


def test_a_threshold_is_looked_at_before_a_band() -> None:
    assert judged((100, 101), threshold=1, width=width(-1, 1, (-1, 1))) is Verdict.THRESHOLD


# --- bands


def version(number: int, duration: int) -> dict[str, Any]:
    own = spec(perturbation=number) if number else spec()
    made = result(f"jffs2-perturbation{number}-s1" if number else "jffs2-s1", spec=own)
    return scaled(made, TIME, duration / 2000)


def measured(base: list[int], new: list[int]) -> Band | None:
    """The band of two cases and their versions, in ms."""
    cases = [[case_of(version(n, ms)) for n, ms in enumerate(side)] for side in (base, new)]
    return band(TIME, cases[0][0], cases[1][0], cases[0][1:], cases[1][1:])


def ms(found: Band | None) -> tuple[float, float]:
    assert found is not None
    return found.low / MS, found.high / MS


def test_the_differences_that_a_layout_alone_would_make() -> None:
    assert measured([2000], [2000]) is None
    assert ms(measured([2000, 2100], [2000])) == (0, 100)
    assert ms(measured([2000, 1900, 2100, 1950], [3000])) == (-100, 100)
    # The new side between 40 less and 30 more: its opposite.
    assert ms(measured([2000], [3000, 2960, 3030])) == (-30, 40)
    assert ms(measured([2000, 1990, 2020], [3000, 2960, 3030])) == (-40, 60)
    found = measured([2000, 1990, 2020], [3000, 2960])
    assert found is not None
    assert found.relative == (pytest.approx(-0.005), pytest.approx(0.03))
    assert (found.base_histories, found.new_histories) == (3, 2)


def test_a_version_without_the_figure_tells_nothing_of_it() -> None:
    cases = [case_of(version(n, 2000 + 10 * n)) for n in (0, 1, 2)]
    del cases[1].figures[TIME]  # type: ignore[attr-defined]
    found = band(TIME, cases[0], cases[0], cases[1:], ())
    assert ms(found) == (0, 20)


def test_a_band_of_a_value_below_1_has_a_relation() -> None:
    cases = [
        case_of(with_figure(version(n, 2000), "creation", erases_std=0.5 + n / 4)) for n in (0, 1)
    ]
    found = band("creation.erases_std", cases[0], cases[0], cases[1:], ())
    assert found is not None and found.relative == (0, 0.5)


def test_a_figure_that_one_seed_lacks_has_the_band_of_the_other() -> None:
    rows = [version(0, 2000), version(1, 2100)]
    rows += [
        result("jffs2-s2", spec=spec(seed=2), phases=[]),
        result("jffs2-perturbation1-s2", spec=spec(seed=2, perturbation=1), phases=[]),
    ]
    moved = {row.figure.key: row for row in bands_of(side(rows))["jffs2"]}
    assert moved[TIME].value == 2000 * MS and moved[TIME].band.high == 100 * MS


def test_a_band_of_nothing_has_no_relation() -> None:
    cases = [case_of(scaled(version(n, 2000), TIME, 0 if n == 0 else 1)) for n in (0, 1)]
    found = band(TIME, cases[0], cases[0], cases[1:], ())
    assert found is not None and found.relative is None
    assert (found.low, found.high) == (0, 2000 * MS)


def test_bands_of_seeds_together() -> None:
    one, two = Band(-1, 2, (-0.1, 0.2), 3, 1), Band(-4, 1, (-0.2, 0.1), 5, 4)
    assert joined([one, two]) == Band(-4, 2, (-0.2, 0.2), 3, 1)
    assert joined([one, None]) == one
    assert joined([None]) is None
    without = Band(-1, 2, None, 3, 1)
    assert joined([one, without]) == Band(-1, 2, None, 3, 1)


def test_versions_of_a_case() -> None:
    rows = [version(n, 2000) for n in (0, 1, 2)]
    rows[2]["outcome"] = "fail"
    run = side(rows)
    assert [case.id for case in Histories(run).of(run.cases[0])] == ["jffs2-perturbation1-s1"]
    assert Histories(side(rows[:1])).of(run.cases[0]) == ()
    other = case_of(result("ubifs-s1", spec=spec(filesystem__name="ubifs")))
    assert Histories(run).of(other) == ()


def test_the_bands_of_a_run_by_itself() -> None:
    rows = [version(0, 2000), version(1, 1990), version(2, 2030)]
    for seed, factor in ((2, 1.0), (2, 1.1)):
        number = {} if factor == 1 else {"perturbation": 1}
        name = f"jffs2-perturbation1-s{seed}" if number else f"jffs2-s{seed}"
        rows.append(scaled(result(name, spec=spec(seed=seed, **number)), TIME, 2 * factor))
    alone = result("ubifs-s1", spec=spec(filesystem__name="ubifs"))
    failed = result("yaffs2-s1", spec=spec(filesystem__name="yaffs2"), outcome="fail")
    version_of_failed = {**failed, "id": "yaffs2-perturbation1-s1", "outcome": "pass"}
    version_of_failed["spec"] = {**failed["spec"], "perturbation": 1}
    found = bands_of(side([*rows, alone, failed, version_of_failed]))
    assert list(found) == ["jffs2"]
    moved = next(row for row in found["jffs2"] if row.figure.key == TIME)
    # Seed 1: 2,000 ms; seed 2: 4,000 ms, which moves by 400.
    assert moved.value == 3000 * MS
    assert (moved.band.low, moved.band.high) == (-10 * MS, 400 * MS)
    assert moved.band.relative == (pytest.approx(-0.005), pytest.approx(0.1))
    still = next(row for row in found["jffs2"] if row.figure.key == "creation.pages_read")
    assert (still.band.low, still.band.high) == (0, 0)


# --- causes


def step(tasks: dict[str, tuple[int, int]], **figures: Any) -> dict[str, Any]:
    """A result with one step `create`; `tasks`: pages read and programmed by name."""
    own = phase("create", **figures)
    rows = [
        {"name": name, "pages_read": read, "pages_programmed": programmed, "blocks_erased": 0}
        for name, (read, programmed) in tasks.items()
    ]
    made = {**own, "step": "create", "index": 0, "prepared": False, "parts": [], "tasks": rows}
    return result(
        spec=spec(workload={"kind": "tree", "steps": "create"}),
        phases=[],
        tree={"steps": [made], "memory": []},
    )


def test_the_tasks_that_changed_most_come_first() -> None:
    base = step({"init": (10, 10), "kworker": (0, 20), "bgt": (5, 5), "old": (7, 0)})
    new = step(
        {"init": (12, 10), "kworker": (0, 120), "bgt": (5, 8), "new": (0, 50)}, pages_read=1002
    )
    cause, *_ = only(compared(base, new)).causes
    told = [(one.task, one.change.metric.name, one.change.difference) for one in cause.tasks]
    assert told == [
        ("kworker", "pages_programmed", 100),
        ("new", "pages_programmed", 50),
        ("old", "pages_read", -7),
    ]


def test_tasks_are_means_over_seeds() -> None:
    def seeds(programmed: int) -> list[dict[str, Any]]:
        rows = []
        for seed, pages in ((1, 20), (2, programmed)):
            row = step({"init": (0, pages)}, pages_programmed=2000 + pages)
            row["spec"] = {**row["spec"], "seed": seed}
            rows.append({**row, "id": f"jffs2-s{seed}", "spec_hash": str(seed)})
        return rows

    *_, cause = only(compared(seeds(20), seeds(30))).causes
    ((task, change),) = [(one.task, one.change) for one in cause.tasks]
    assert (task, change.base, change.new) == ("init", 20, 25)
    assert {c.metric.name: (c.base, c.new) for c in cause.counts} == {
        "pages_programmed": (2020, 2025)
    }


def test_tasks_of_another_step_are_no_cause() -> None:
    base = step({"init": (10, 10)}, pages_read=1)
    base["tree"]["steps"].append(
        {**base["tree"]["steps"][0], "phase": "mount", "step": "mount", "tasks": []}
    )
    new = step({"init": (11, 10)}, pages_read=2)
    new["tree"]["steps"].append(
        {**base["tree"]["steps"][1], "tasks": [{**base["tree"]["steps"][0]["tasks"][0]}]}
    )
    new["tree"]["steps"][1]["pages_read"] = 9
    causes = {cause.phase: cause for cause in only(compared(base, new)).causes}
    assert [one.change.difference for one in causes["create"].tasks] == [1]
    assert not causes["mount"].has_tasks  # the base's mount has none
    back = {cause.phase: cause for cause in only(compared(new, base)).causes}
    assert not back["mount"].has_tasks and back["create"].has_tasks


def test_a_task_that_only_the_new_side_names() -> None:
    base, new = step({"init": (1, 1)}), step({"init": (1, 1), "late": (0, 5)}, pages_programmed=5)
    *_, cause = only(compared(base, new)).causes
    assert [(one.task, one.change.base, one.change.new) for one in cause.tasks] == [("late", 0, 5)]


def test_a_metric_that_one_side_lacks_is_no_part_of_a_cause() -> None:
    base = result(phases=[phase("creation", pages_read=5)])
    lacking = {k: v for k, v in phase("creation", 2100 * MS).items() if k != "pages_read"}
    for pair in ((base, result(phases=[lacking])), (result(phases=[lacking]), base)):
        cause, *_ = only(compared(*pair)).causes
        assert "pages_read" not in {change.metric.name for change in cause.counts}


def test_a_figure_that_explains_nothing_has_no_cause() -> None:
    row = result(phases=[phase("creation")], virtual_ns=5)
    case = only(compared(row, {**row, "virtual_ns": 6}))
    assert row_of(case, "virtual_ns").verdict is Verdict.WORSE
    assert case.causes == ()
    other = scaled(row, "creation.bytes_written", 2)
    assert only(compared(row, other)).causes == ()  # the flash did the same in the same time


def test_a_phase_that_one_seed_lacks_has_no_cause() -> None:
    both = [result(f"jffs2-s{n}", spec=spec(seed=n)) for n in (1, 2)]
    lacking = [both[0], {**both[1], "phases": both[1]["phases"][:1]}]
    lacking = [scaled(row, TIME, 1.1) for row in lacking]
    case = only(compared(both, lacking))
    assert [cause.phase for cause in case.causes] == ["creation"]


def test_a_metric_that_one_seed_lacks_is_no_part_of_a_cause() -> None:
    base = seeds()
    for row in base:
        row["phases"][0]["pages_read"] = 7
    del base[1]["phases"][0]["pages_read"]
    new = [scaled(row, TIME, 1.1) for row in seeds()]
    (cause,) = [c for c in only(compared(base, new)).causes if c.phase == "creation"]
    assert cause.time is not None and cause.counts == ()


def test_only_flash_time_that_changed_is_told() -> None:
    """Time in the chip moves from reads to programs: the phase takes as long as before."""
    row = result(phases=[phase("creation")])
    moved = result(phases=[phase("creation", flash_read_ns=249 * MS, flash_program_ns=251 * MS)])
    cause, *_ = only(compared(row, moved)).causes
    assert cause.time is None and cause.rest is None and cause.counts == ()
    assert [(c.metric.name, c.difference) for c in cause.parts] == [
        ("flash_read_ns", -MS), ("flash_program_ns", MS),
    ]  # fmt: skip


# --- cases and figures


def seeds(**changes: Any) -> list[dict[str, Any]]:
    """Two cases that differ in the seed."""
    return [result(f"jffs2-s{n}", spec=spec(seed=n, **changes)) for n in (1, 2)]


def test_values_are_means_over_seeds() -> None:
    """2,000 and 4,000 ms are 3,000 ms; 2,200 and 4,000 are 3,100, which is
    3.3 % more: 5 % more would be what nobody sees in these.
    """
    base = [seeds()[0], scaled(seeds()[1], TIME, 2)]
    new = [scaled(base[0], TIME, 1.1), base[1]]
    row = row_of(only(compared(base, new)), TIME)
    assert (row.base, row.new, row.seeds) == (3000 * MS, 3100 * MS, 2)
    assert row.ratio == row.distance == pytest.approx(3100 / 3000)
    faster = row_of(only(compared(new[:1], base[:1])), TIME)
    assert faster.distance == pytest.approx(1.1) and faster.seeds == 1


def test_what_has_no_ratio_is_at_no_distance() -> None:
    key = "creation.blocks_erased"
    none, some, signed = (
        with_figure(result(), "creation", blocks_erased=number) for number in (0, 3, -3)
    )
    for base, new in ((none, some), (some, none), (signed, some), (some, signed)):
        row = row_of(only(compared(base, new)), key)
        assert row.distance == 0 and row.verdict in CHANGES and not row.ratio
    assert row_of(only(compared(some, signed)), key).summary is None
    assert row_of(only(compared(some, none)), key).summary is not None
    both = [
        with_figure(row, "creation", blocks_erased=n)
        for row, n in zip(seeds(), (0, 3), strict=True)
    ]
    new = [with_figure(row, "creation", blocks_erased=6) for row in seeds()]
    row = row_of(only(compared(both, new)), key)
    assert row.distance == 4 and row.seeds == 2  # 3 ÷ 2 to 6; the one seed has no ratio
    mixed = [
        with_figure(row, "creation", blocks_erased=n)
        for row, n in zip(seeds(), (-3, 3), strict=True)
    ]
    assert row_of(only(compared(mixed, new)), key).summary is None
    tiny = with_figure(result(), "creation", erases_std=0.25)
    row = row_of(only(compared(tiny, scaled(tiny, TIME, 1))), "creation.erases_std")
    assert row.summary is not None  # below 1 is not below 0


def test_figures_that_are_asked_for_first_come_first() -> None:
    mains = [row.figure.main for row in only(compared(result(), result())).rows]
    assert mains == sorted(mains, reverse=True) and True in mains and False in mains


def test_a_figure_of_one_side_has_its_mean() -> None:
    base = [
        with_figure(row, "creation", erases_std=n) for row, n in zip(seeds(), (1, 3), strict=True)
    ]
    row = row_of(only(compared(base, seeds())), "creation.erases_std")
    assert (row.base, row.new, row.why) == (2, None, "the new side has none")
    row = row_of(only(compared(seeds(), base)), "creation.erases_std")
    assert (row.base, row.new, row.why) == (None, 2, "the base has none")
    crossed = [base[0], seeds()[1]], [seeds()[0], base[1]]
    row = row_of(only(compared(*crossed)), "creation.erases_std")
    assert (row.base, row.new, row.why) == (1, 3, "some seeds have none")


def test_a_seed_that_newly_fails_outweighs_one_that_is_fixed() -> None:
    one, two = seeds()
    base = [one, {**two, "outcome": "fail", "reason": "a"}]
    new = [{**one, "outcome": "crash", "reason": "b"}, two]
    case = only(compared(base, new))
    assert (case.verdict, case.why) == (Verdict.NEWLY_FAILING, "seed 1: crash: b")


def test_a_case_is_exact_if_each_of_its_seeds_is() -> None:
    one, two = seeds()
    other = result("jffs2-s2", spec=spec(seed=2, cpu_scale=0.5))
    case = only(compared([one, two], [scaled(one, TIME, 1.1), other], "b1"))
    assert not case.is_exact and case.broken == ()
    assert only(compared([one, two], [one, two], "b1")).is_exact


def test_what_is_broken_of_one_seed_is_broken() -> None:
    one, two = seeds()
    case = only(compared([one, two], [{**one, "flash_sha256": "0"}, two], "b1"))
    assert case.broken == ("flash contents",)
    failing = {**one, "outcome": "fail"}
    case = only(compared([one, two], [failing, scaled(two, TIME, 2)], "b1"))
    assert case.broken[0] == "outcome" and TIME in case.broken


def test_a_band_is_looked_for_if_one_seed_changed() -> None:
    one, two = seeds()
    versions = [
        {**scaled(row, TIME, 1.5), "id": f"jffs2-perturbation1-s{n}"}
        for n, row in enumerate((one, two), start=1)
    ]
    for row in versions:
        row["spec"] = {**row["spec"], "perturbation": 1}
    case = only(compared([one, two, *versions], [scaled(one, TIME, 1.2), two]))
    assert row_of(case, TIME).verdict is Verdict.BAND
    assert case.has_band


def test_causes_are_of_phases_with_a_change_only() -> None:
    """Creation takes longer within the threshold, the deletion beyond it."""
    row = result()
    new = scaled(scaled(row, TIME, 1.001), "deletion.duration_ns", 1.5)
    case = only(compared(row, new, threshold=1.0))
    assert [cause.phase for cause in case.causes] == ["deletion"]


def test_what_a_row_is_without_more() -> None:
    figure = only(compared(result(), result())).rows[0].figure
    row = FigureRow(figure, Verdict.SAME, 1, 1)
    assert (row.why, row.seeds, row.summary, row.band) == ("", 1, None, None)
    case = CaseRow("x", Verdict.NEW)
    assert (case.why, case.is_exact, case.has_band, case.broken) == ("", False, False, ())
    assert (Rules().threshold_percent, Rules().exact) == (None, False)
    assert compare_runs(side([result()]), side([result()], "new")).axis == ""


def test_labels_of_words_that_both_have() -> None:
    found = compared(result("old-jffs2-free-s1"), result("new-jffs2-free-s1"))
    assert only(found).label == "jffs2-free"
    assert only(compared(result("one-s1"), result("two-s1"))).label == "one"


def test_a_case_without_a_reason_or_a_figure() -> None:
    made = compared_case(result())
    assert made.reason == "" and made.measured is None and made.perturbation == 0
    assert Side("x", {}, (), 0).study == "" and Side("x", {}, (), 0).where == ""
    assert Side("x", {}, (), 0).build_of(made) == ("", "", "")
    assert made.variant == "default"


# --- pairs


def test_differences_of_specs_in_words() -> None:
    base = {"a": 1, "b": {"c": [1, 2], "d": True}, "e": None, "f": "x", "g": [], "i": ""}
    new = {"a": 1, "b": {"c": [1], "d": False}, "e": 2, "g": [{"n": "p", "s": 3}], "h": 1, "i": 2}
    assert [(d.key, d.base, d.new) for d in spec_differences(base, new)] == [
        ("b.c", "1, 2", "1"),
        ("b.d", "on", "off"),
        ("e", "none", "2"),
        ("f", "x", "–"),
        ("g", "none", "n p, s 3"),
        ("i", "none", "2"),
        ("h", "–", "1"),
    ]


def test_the_usual_kernel_has_a_name_beside_another_one() -> None:
    """No spec names it."""
    other = {"kernel": {"variant": "6.12", "switches": {}}}
    told = [(d.key, d.base, d.new) for d in spec_differences({}, other)]
    assert told == [("kernel.variant", "default", "6.12")]
    assert spec_differences({}, {}) == spec_differences(other, other) == ()


def test_equal_specs_are_paired_once() -> None:
    found = compared([result("a-s1"), result("b-s1")], [result("c-s1")])
    assert [case.ids for case in found.cases if case.ids] == [(("a-s1", "c-s1"),)]
    assert [(c.label, str(c.verdict)) for c in found.cases][1:] == [("b-s1", "missing")]


def test_an_option_that_a_case_does_not_have_has_a_name() -> None:
    rows = []
    for value in ("", "lzo"):
        row = result(f"x{value}-s1", spec=spec(filesystem__options={"compression": value}))
        rows.append({**row, "axes": {"options.compression": value, "seed": 1}})
    assert [s.name for s in axis_sides(side(rows), "options.compression", None)] == [
        "compression (none)", "compression lzo",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no value 'zlib'") as error:
        axis_sides(side(rows), "options.compression", "zlib")
    assert "its values: (none), lzo" in str(error.value)


def test_axes_that_go_with_another_one() -> None:
    rows = []
    for name, mode, state in (("jffs2", "through", "free"), ("ubifs", "back", "free")):
        row = result(f"{name}-s1", spec=spec(filesystem__name=name))
        axes = {"filesystem": name, "options.write_mode": mode, "state": state, "seed": 1}
        rows.append({**row, "axes": axes})
    cases = side(rows).cases
    assert also_differing(cases, "filesystem") == ("options.write_mode",)
    assert also_differing(cases[:1], "filesystem") == ()


def test_a_run_without_an_axis() -> None:
    with pytest.raises(UsageError, match="no axis") as error:
        axis_sides(side([result()]), "state", None)
    assert "the run has no axis" in str(error.value)
    assert "ffslab compare base NEW" in str(error.value)


def test_sides_of_an_axis_are_complete() -> None:
    rows = [result(f"jffs2-s{n}", spec=spec(seed=n)) for n in (1, 2)]
    before, after = axis_sides(side(rows, cases_total=9), "seed", "2")
    assert (before.name, before.planned, after.planned) == ("seed 2", 1, 1)
