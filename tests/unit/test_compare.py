"""Two runs compared: pairs, verdicts, the band of builds, causes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from compare_support import (
    MS,
    compared,
    is_worse,
    only,
    phase,
    result,
    row_of,
    scaled,
    side,
    spec,
    with_figure,
)

from ffslab.compare.engine import compare_runs, compare_values
from ffslab.compare.pairs import axis_sides
from ffslab.compare.tables import has_change
from ffslab.compare.verdicts import Verdict
from ffslab.errors import UsageError

TIME = "creation.duration_ns"


def seeds(*numbers: int, factor: float = 1.0) -> list[dict[str, Any]]:
    return [
        scaled(result(f"jffs2-s{n}", spec=spec(seed=n)), TIME, factor if n == 1 else 1.0)
        for n in numbers
    ]


def perturbed(row: dict[str, Any], factors: list[float], key: str = TIME) -> list[dict[str, Any]]:
    """The result, and versions of it whose figure is multiplied."""
    versions = [row]
    for number, factor in enumerate(factors, start=1):
        own = {**row["spec"], "perturbation": number}
        seed = own["seed"]
        made = result(f"jffs2-perturbation{number}-s{seed}", spec=own, phases=row["phases"])
        versions.append(scaled(made, key, factor))
    return versions


# --- equal runs


@pytest.mark.slow
def test_a_thousand_comparisons_of_equal_runs_report_nothing() -> None:
    for trial in range(1000):
        rng = random.Random(trial)
        results = []
        for number in range(rng.randint(1, 3)):
            own = spec(seed=rng.randint(1, 9), workload__number=number)
            phases = [
                phase(name, rng.randint(0, 10**10), pages_read=rng.randint(0, 10**6))
                for name in ("creation", "deletion", "deletion")
            ]
            outcome = rng.choice(("pass", "pass", "skip"))
            case_id = f"case{number}-s{own['seed']}"
            results.append(result(case_id, spec=own, phases=phases, outcome=outcome))
        shuffled = rng.sample(results, len(results))
        for build in ("b1", "b2"):
            found = compared(results, shuffled, build)
            assert {case.verdict for case in found.cases} == {Verdict.SAME}
            assert not found.broken
            assert not has_change(found)


def test_nothing_differs_in_the_circumstances_of_equal_runs() -> None:
    assert compared(result(), result(), "b1").circumstances == ()


# --- verdicts


@pytest.mark.parametrize("key", [TIME, "workload.pages_read", "deletion.blocks_erased"])
def test_a_planted_change_of_a_thousandth_is_reported(key: str) -> None:
    row = with_figure(result(), "deletion", blocks_erased=3000)
    case = only(compared(row, scaled(row, key, 1.001)))
    changed = {found.figure.key for found in case.rows if found.verdict is Verdict.WORSE}
    assert key in changed and changed <= {key, "creation.rest_ns"}
    assert row_of(case, key).ratio == pytest.approx(1.001, abs=1e-9)
    # Pages read, and erases of one phase, explain; they do not decide.
    assert case.verdict is (Verdict.WORSE if key == TIME else Verdict.SAME)
    (cause,) = case.causes
    assert cause.phase == key.partition(".")[0]


@pytest.mark.parametrize(
    ("key", "factor", "verdict"),
    [
        (TIME, 1.5, Verdict.WORSE),
        (TIME, 0.5, Verdict.BETTER),
        ("creation.write_bytes_per_s", 1.5, Verdict.BETTER),
        ("creation.write_bytes_per_s", 0.5, Verdict.WORSE),
        ("creation.bytes_written", 1.5, Verdict.DIFFERENT),
        ("creation.bytes_written", 0.5, Verdict.DIFFERENT),
        ("creation.pages_read", 1.0, Verdict.SAME),
    ],
)
def test_which_way_is_better(key: str, factor: float, verdict: Verdict) -> None:
    row = with_figure(result(), "creation", write_bytes_per_s=1000)
    assert row_of(only(compared(row, scaled(row, key, factor))), key).verdict is verdict


def test_bringing_the_flash_to_its_state_is_neither_better_nor_worse() -> None:
    row = result(phases=[phase("prepare"), phase("creation")])
    case = only(compared(row, scaled(row, "prepare.duration_ns", 2)))
    assert row_of(case, "prepare.duration_ns").verdict is Verdict.DIFFERENT


def test_worse_and_better_figures_are_mixed() -> None:
    row = result()
    pages = "workload.pages_programmed"
    both = scaled(scaled(row, TIME, 1.1), pages, 0.5)
    assert only(compared(row, both)).verdict is Verdict.MIXED
    assert only(compared(row, scaled(row, pages, 0.5))).verdict is Verdict.BETTER


def test_threshold() -> None:
    row = result()
    new = scaled(row, TIME, 1.02)
    assert row_of(only(compared(row, new, threshold=2.0)), TIME).verdict is Verdict.THRESHOLD
    assert row_of(only(compared(row, new, threshold=1.9)), TIME).verdict is Verdict.WORSE
    from_none = with_figure(row, "creation", pages_read=0)
    case = only(compared(from_none, row, threshold=99.0))
    assert row_of(case, "creation.pages_read").verdict is Verdict.WORSE


# --- seeds


def test_cases_that_differ_in_the_seed_are_one_row() -> None:
    case = only(compared(seeds(1, 2), seeds(1, 2, factor=1.2)))
    assert case.label == "jffs2"
    assert case.ids == (("jffs2-s1", "jffs2-s1"), ("jffs2-s2", "jffs2-s2"))
    summary = row_of(case, TIME).summary
    assert summary is not None
    assert row_of(case, TIME).ratio == summary.ratio == pytest.approx(1.1)
    assert (summary.minimum, summary.maximum) == (1.0, pytest.approx(1.2))
    assert row_of(case, TIME).seeds == 2


def test_seeds_that_disagree_are_neither() -> None:
    new = [scaled(seeds(1)[0], TIME, 1.2), scaled(seeds(2)[0], TIME, 0.9)]
    case = only(compared(seeds(1, 2), new))
    assert row_of(case, TIME).verdict is Verdict.DISAGREE
    assert compared(seeds(1, 2), new).verdict is Verdict.MIXED


# --- outcomes


def failed(outcome: str = "crash", **changes: Any) -> dict[str, Any]:
    return result(outcome=outcome, reason="oops", phases=[], **changes)


@pytest.mark.parametrize(
    ("base", "new", "verdict", "why"),
    [
        (result(), failed(), Verdict.NEWLY_FAILING, "crash: oops"),
        (failed(), result(), Verdict.FIXED, "was crash: oops"),
        (failed(), failed("fail"), Verdict.FAILING, "crash: oops, then fail: oops"),
        (result(), failed("skip"), Verdict.INCOMPARABLE, "skip: oops"),
        (failed("skip"), failed("skip"), Verdict.SAME, ""),
    ],
)
def test_outcomes(base: dict[str, Any], new: dict[str, Any], verdict: Verdict, why: str) -> None:
    case = only(compared(base, new))
    assert (case.verdict, case.why, case.rows) == (verdict, why, ())


def test_of_several_seeds_the_one_that_fails_is_named() -> None:
    new = [seeds(1)[0], result("jffs2-s2", spec=spec(seed=2), outcome="fail", reason="no")]
    case = only(compared(seeds(1, 2), new))
    assert (case.verdict, case.why) == (Verdict.NEWLY_FAILING, "seed 2: fail: no")
    assert row_of(case, TIME).verdict is Verdict.SAME  # of the other one


def test_cases_that_one_side_alone_has() -> None:
    other = result("ubifs-s1", spec=spec(filesystem__name="ubifs"))
    found = compared([result(), other], [result()])
    assert [(c.label, c.verdict) for c in found.cases] == [
        ("jffs2", Verdict.SAME),
        ("ubifs-s1", Verdict.MISSING),
    ]
    found = compared([result()], [result(), other])
    assert [(c.label, c.verdict) for c in found.cases][1:] == [("ubifs-s1", Verdict.NEW)]
    assert not is_worse(found)
    assert has_change(found)


def test_what_measured_less_is_worse_and_its_figures_are_not_compared() -> None:
    short = {"what": "bytes", "measured": 61, "asked": 100, "stopped": "ENOSPC", "accepted": True}
    new = result(outcome="short", short=short)
    case = only(compared(result(), new))
    assert row_of(case, "measured_share").verdict is Verdict.WORSE
    assert row_of(case, TIME).verdict is Verdict.INCOMPARABLE
    assert row_of(case, TIME).why == "measured all of what was asked, then 61 %"
    assert case.verdict is Verdict.WORSE
    assert only(compared(new, new)).verdict is Verdict.SAME


def test_a_figure_that_one_side_lacks_is_not_comparable() -> None:
    row = result()
    without = result(phases=row["phases"][:1])
    case = only(compared(row, without))
    assert row_of(case, "deletion.duration_ns").verdict is Verdict.INCOMPARABLE
    assert row_of(case, "deletion.duration_ns").why == "the new side has none"
    back = row_of(only(compared(without, row)), "deletion.duration_ns")
    assert back.why == "the base has none"


# --- one build: equal specs give equal results


def test_within_one_build_any_difference_is_a_fault_of_the_laboratory() -> None:
    row = result()
    found = compared(row, scaled(row, TIME, 0.999), "b1")
    assert only(found).is_exact
    assert TIME in only(found).broken
    assert is_worse(found)  # though it got faster
    assert not compared(row, scaled(row, TIME, 0.999), "b2").broken
    assert not is_worse(compared(row, scaled(row, TIME, 0.999), "b2"))


def test_the_contents_of_the_flash_count_too() -> None:
    row = result()
    assert only(compared(row, result(flash_sha256="0"), "b1")).broken == ("flash contents",)
    assert only(compared(row, result(flash_sha256="0"), "b2")).broken == ()
    assert only(compared(row, result(flash_sha256=None), "b1")).broken == ()
    # Digests of two forms tell nothing of each other.
    new = result(flash_sha256="pages:1")
    assert only(compared(row, new, "b1")).broken == ()
    assert only(compared(new, row, "b1")).broken == ()
    assert only(compared(new, result(flash_sha256="pages:2"), "b1")).broken == ("flash contents",)
    assert only(compared(row, failed(), "b1")).broken == ("outcome",)


def test_another_kernel_is_another_build() -> None:
    row = result(spec=spec(kernel={"variant": "period", "switches": {}}))
    sides = [
        side([row], name, kernels={"period": {"build_id": build}})
        for name, build in (("base", "k1"), ("new", "k2"), ("again", "k1"))
    ]
    assert not only(compare_runs(sides[0], sides[1])).is_exact
    assert only(compare_runs(sides[0], sides[2])).is_exact


def test_a_band_does_not_excuse_a_difference_within_one_build() -> None:
    row = result()
    base = perturbed(row, [0.9, 1.1])
    found = compared(base, [scaled(row, TIME, 1.05), *base[1:]], "b1")
    assert row_of(found.cases[0], TIME).verdict is Verdict.WORSE
    assert found.cases[0].broken


def test_modules_of_other_sources_are_another_build() -> None:
    one, again, other = (
        result(spec=spec(filesystem__module_source={"sha256": text})) for text in ("1", "1", "2")
    )
    for new, is_exact in ((again, True), (other, False)):
        case = only(compared(one, scaled(new, TIME, 1.001), "b1", threshold=None))
        assert bool(case.broken) is is_exact
    # Another setting of one build is what one asked for, and is judged.
    case = only(compared(result(), scaled(result(spec=spec(cpu_scale=2)), TIME, 2), "b1", None))
    assert case.verdict is Verdict.WORSE


# --- the band of builds


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (0.98, Verdict.BAND),
        (1.02, Verdict.BAND),
        (1.03, Verdict.BAND),
        (1.031, Verdict.WORSE),
        (0.979, Verdict.BETTER),
    ],
)
def test_a_change_inside_the_band_is_called_that(factor: float, verdict: Verdict) -> None:
    row = result()
    case = only(compared(perturbed(row, [0.98, 1.03]), scaled(row, TIME, factor)))
    found = row_of(case, TIME)
    assert found.verdict is verdict
    assert found.band is not None and found.band.relative is not None
    assert found.band.relative == (pytest.approx(-0.02), pytest.approx(0.03))
    assert (found.band.base_histories, found.band.new_histories) == (3, 1)


def test_the_band_may_be_measured_in_the_new_run() -> None:
    """Perturbed, the new run is between 0.99 and 1.04 times itself, 1,980 ms to 2,080 ms."""
    row = result()
    new = perturbed(row, [0.99, 1.04])
    # A base of 2,080 ms is no worse than the new run's other histories, one of 2,082 is.
    inside = only(compared(scaled(row, TIME, 1.04), new))
    outside = only(compared(scaled(row, TIME, 1.041), new))
    assert row_of(inside, TIME).verdict is Verdict.BAND
    assert row_of(outside, TIME).verdict is Verdict.BETTER


def test_two_bands_have_to_part() -> None:
    """2,000 to 2,060 ms against 2,100 to 2,184 ms, then against 2,037 to 2,122 ms."""
    row = result()
    base = perturbed(row, [1.0, 1.03])
    apart = only(compared(base, perturbed(scaled(row, TIME, 1.05), [1.0, 1.04])))
    touching = only(compared(base, perturbed(scaled(row, TIME, 1.061), [0.96, 1.0])))
    assert row_of(apart, TIME).verdict is Verdict.WORSE
    assert row_of(touching, TIME).verdict is Verdict.BAND


def test_a_band_around_nothing_is_one_of_differences() -> None:
    row = with_figure(result(), "creation", blocks_erased=0)
    other = perturbed(row, [1.0])
    other[1] = with_figure(other[1], "creation", blocks_erased=2)
    key = "creation.blocks_erased"
    for erased, verdict in ((2, Verdict.BAND), (3, Verdict.WORSE)):
        case = only(compared(other, with_figure(row, "creation", blocks_erased=erased)))
        assert row_of(case, key).verdict is verdict
        assert row_of(case, key).band is not None


def test_perturbed_cases_are_not_compared_themselves() -> None:
    row = result()
    found = compared(perturbed(row, [0.9]), perturbed(row, [0.9]))
    assert [case.label for case in found.cases] == ["jffs2"]
    # Without the case that they are versions of they are cases like others.
    alone = compared(perturbed(row, [0.9])[1:], perturbed(row, [0.9])[1:])
    assert [case.label for case in alone.cases] == ["jffs2-perturbation1"]


def test_a_perturbed_case_that_failed_tells_nothing() -> None:
    row = result()
    versions = perturbed(row, [0.9, 1.1])
    versions[2] = {**versions[2], "outcome": "crash"}
    case = only(compared(versions, scaled(row, TIME, 1.05)))
    assert row_of(case, TIME).verdict is Verdict.WORSE
    assert case.has_band


def test_the_band_of_several_seeds_is_as_wide_as_any() -> None:
    base = [*perturbed(seeds(1)[0], [0.97]), *perturbed(seeds(2)[0], [1.04])]
    new = [scaled(row, TIME, 1.03) for row in seeds(1, 2)]
    found = row_of(only(compared(base, new)), TIME)
    assert found.verdict is Verdict.BAND
    assert found.band is not None
    assert found.band.relative == (pytest.approx(-0.03), pytest.approx(0.04))
    worse = [scaled(row, TIME, 1.05) for row in seeds(1, 2)]
    assert row_of(only(compared(base, worse)), TIME).verdict is Verdict.WORSE


def test_without_perturbed_cases_there_is_no_band() -> None:
    case = only(compared(result(), scaled(result(), TIME, 1.05)))
    assert not case.has_band
    assert row_of(case, TIME).band is None


# --- pairs


def test_cases_are_paired_by_spec_whatever_they_are_called() -> None:
    found = compared(result("old-name-s1"), result("new-name-s1"))
    assert only(found).ids == (("old-name-s1", "new-name-s1"),)
    assert only(found).label == "name"


def test_of_several_equal_specs_the_one_of_the_same_name_is_the_pair() -> None:
    base = [result("a-s1"), result("b-s1")]
    found = compared(base, [result("b-s1"), result("a-s1")])
    assert [case.ids for case in found.cases] == [(("a-s1", "a-s1"),), (("b-s1", "b-s1"),)]


def test_with_another_figure_of_the_board_cases_are_paired_by_name() -> None:
    new = result(spec=spec(board__chip__t_prog_ns=600_000))
    found = compared(result(), new, "b1")
    (difference,) = only(found).differences
    assert (difference.key, difference.base, difference.new) == (
        "board.chip.t_prog_ns", "220000", "600000",
    )  # fmt: skip
    assert not only(found).is_exact
    (told,) = found.circumstances
    assert (told.name, told.cases) == ("board.chip.t_prog_ns", 1)


def test_other_work_of_another_study_is_no_pair() -> None:
    new = result(spec=spec(workload__number=1000))
    assert compared(result(), new).cases[0].ids  # of one study: a changed setting
    other = compare_runs(side([result()]), side([new], "new", study="other"))
    assert not any(case.ids for case in other.cases)
    kinds = result(spec=spec(workload__kind="micro"), requests=[])
    assert not any(case.ids for case in compared(result(), kinds).cases)


# --- an axis of one run


def compressed(value: str, seed: int = 1) -> dict[str, Any]:
    row = result(
        f"jffs2-{value}-s{seed}",
        spec=spec(filesystem__options={"compression": value}, seed=seed),
    )
    axes = {"filesystem": "jffs2", "options.compression": value, "seed": seed}
    return {**row, "axes": axes}


def test_values_of_an_axis() -> None:
    run = side([compressed(v, s) for v in ("lzo", "none", "zlib") for s in (1, 2)])
    sides = axis_sides(run, "options.compression", "none")
    assert [found.name for found in sides] == [
        "compression none", "compression lzo", "compression zlib",
    ]  # fmt: skip
    found = compare_values(sides[0], sides[1], "options.compression")
    assert only(found).label == "jffs2"
    assert only(found).ids == (("jffs2-none-s1", "jffs2-lzo-s1"), ("jffs2-none-s2", "jffs2-lzo-s2"))
    (told,) = found.circumstances
    assert (told.name, told.base, told.new) == ("filesystem.options.compression", "none", "lzo")
    assert axis_sides(run, "options.compression", None)[0].name == "compression lzo"


def test_what_only_one_value_has_is_told() -> None:
    run = side([compressed("none"), compressed("none", 2), compressed("lzo", 2)])
    before, after = axis_sides(run, "options.compression", None)
    found = compare_values(before, after, "options.compression")
    assert [(c.label, c.verdict) for c in found.cases] == [
        ("jffs2", Verdict.SAME),
        ("jffs2-none-s1", Verdict.MISSING),
    ]


def test_an_axis_may_be_the_seed() -> None:
    before, after = axis_sides(side(seeds(1, 2)), "seed", None)
    assert only(compare_values(before, after, "seed")).ids == (("jffs2-s1", "jffs2-s2"),)


@pytest.mark.parametrize(
    ("axis", "base", "told"),
    [
        ("options.compresion", None, "its axes: options.compression"),
        ("filesystem", None, "'filesystem' is not an axis"),
        ("options.compression", "zstd", "its values: none, lzo"),
    ],
)
def test_an_axis_or_value_that_is_not_there(axis: str, base: str | None, told: str) -> None:
    run = side([compressed("none"), compressed("lzo")])
    with pytest.raises(UsageError) as error:
        axis_sides(run, axis, base)
    assert told in str(error.value)
    assert "ffslab compare base --axis options.compression" in str(error.value)


def test_cases_that_two_axes_would_give_one_name_are_apart() -> None:
    """Labels are the words that both ids have; here these are the same for two cases."""
    rows = []
    for state, filesystem in (("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")):
        row = result(f"{filesystem}-{state}-s1", spec=spec(state__name=state + filesystem))
        rows.append({**row, "axes": {"state": state, "filesystem": filesystem, "seed": 1}})
    rows[0] = {**rows[0], "id": "a-s1"}
    rows[2] = {**rows[2], "id": "a-s1"}
    rows[1] = {**rows[1], "id": "b-s1"}
    rows[3] = {**rows[3], "id": "b-s1"}
    before, after = axis_sides(side(rows), "filesystem", None)
    assert len(compare_values(before, after, "filesystem").cases) == 2
    before, after = axis_sides(side(rows), "state", None)
    assert len(compare_values(before, after, "state").cases) == 2


# --- circumstances


def test_what_differs_is_told() -> None:
    base = side([result()], ffslab="1", study_sha256="a" * 64, trace=False, catalogs=[])
    new = side(
        [result(spec=spec(cpu_scale=0.5))],
        "new",
        "b2",
        ffslab="2",
        study="large",
        study_sha256="c" * 64,
        trace=True,
        catalogs=["mine"],
        overrides=[["cpu_scale", [0.5]], ["perturbation", [0, 1]]],
        kernels={"period": {"build_id": "k"}},
    )
    told = [(c.name, c.base, c.new, c.cases) for c in compare_runs(base, new).circumstances]
    assert told == [
        ("build of the lab", "b1", "b2", 0),
        ("kernel period", "–", "k", 0),
        ("version of ffslab", "1", "2", 0),
        ("study", "small", "large", 0),
        ("traced", "no", "yes", 0),
        ("catalogs", "none", "mine", 0),
        ("text of the study", "a" * 12, "c" * 12, 0),
        ("set by the command", "nothing", "cpu_scale=0.5", 0),
        ("cpu_scale", "1.0", "0.5", 1),
    ]


def test_what_kernels_were_built_of_is_told_where_both_runs_know_it() -> None:
    base = side([result()], linux={"default": "6.1.192 (debian)", "period": "6.1.192 (debian)"})
    new = side([result()], "new", linux={"default": "6.1.9 (tree)", "fastmap": "6.1.9 (tree)"})
    told = [(c.name, c.base, c.new) for c in compare_runs(base, new).circumstances]
    assert told == [("Linux of default", "6.1.192 (debian)", "6.1.9 (tree)")]
    assert compare_runs(base, side([result()], "old")).circumstances == ()


def test_what_the_base_alone_has_is_told() -> None:
    kernels = {"period": {"build_id": "k1"}}
    base = side([result()], catalogs=["mine", "other"], kernels=kernels,
                overrides=[["seed", [1, 2]]])  # fmt: skip
    told = [
        (c.name, c.base, c.new) for c in compare_runs(base, side([result()], "new")).circumstances
    ]
    assert told == [
        ("kernel period", "k1", "–"),
        ("catalogs", "mine, other", "none"),
        ("set by the command", "seed=[1,2]", "nothing"),
    ]
    assert compare_runs(base, base).circumstances == ()


# --- causes


def test_a_cause_is_what_the_time_is_made_of() -> None:
    row = result()
    slower = with_figure(
        row,
        "creation",
        duration_ns=2120 * MS,
        flash_program_ns=250 * MS + 60 * MS,
        flash_transfer_ns=250 * MS + 20 * MS,
        flash_ns=1080 * MS,
        pages_programmed=2214,
    )
    (cause,) = only(compared(row, slower)).causes
    assert cause.phase == "creation"
    assert cause.time is not None and cause.time.difference == 120 * MS
    assert cause.flash is not None and cause.flash.difference == 80 * MS
    assert {c.metric.name: c.difference for c in cause.parts} == {
        "flash_program_ns": 60 * MS,
        "flash_transfer_ns": 20 * MS,
    }
    assert cause.rest is not None and cause.rest.difference == 40 * MS
    assert {c.metric.name: (c.base, c.new) for c in cause.counts} == {
        "pages_programmed": (2000, 2214)
    }
    assert not cause.has_tasks


def test_a_cause_is_the_mean_over_seeds() -> None:
    """Seed 1 takes 400 ms longer, seed 2 as long as before: 200 ms."""
    (cause,) = only(compared(seeds(1, 2), seeds(1, 2, factor=1.2))).causes
    assert cause.time is not None and cause.time.difference == 200 * MS


def step(word: str, kworker: int, **figures: Any) -> dict[str, Any]:
    tasks = [
        {"name": name, "pages_read": 0, "pages_programmed": pages, "blocks_erased": 0}
        for name, pages in (("init", 10), ("kworker", kworker))
    ]
    own = phase(word, **figures)
    return {**own, "step": word, "index": 0, "prepared": False, "parts": [], "tasks": tasks}


def test_a_cause_names_the_tasks_where_the_result_has_them() -> None:
    own = spec(workload={"kind": "tree", "steps": "create"})
    base, new = (
        result(spec=own, phases=[], tree={"steps": [made], "memory": []})
        for made in (
            step("create", 20, pages_programmed=30),
            step("create", 220, pages_programmed=230, duration_ns=2100 * MS),
        )
    )
    cause, of_all = only(compared(base, new)).causes
    assert of_all.phase == "all steps"
    assert cause.has_tasks
    assert [(one.task, one.change.base, one.change.new) for one in cause.tasks] == [
        ("kworker", 20, 220)
    ]


def test_a_chip_that_does_not_count_gives_no_flash_time() -> None:
    def board(duration_ns: int) -> dict[str, Any]:
        own = {k: v for k, v in phase("creation", duration_ns).items() if "flash" not in k}
        return result(phases=[own])

    (cause,) = only(compared(board(2000 * MS), board(2100 * MS))).causes
    assert cause.flash is None and cause.rest is None
