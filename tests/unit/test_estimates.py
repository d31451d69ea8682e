"""Estimates halved and doubled: the cases of a sensitivity analysis, and its verdicts."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace

import pytest

from ffslab.compare.ratios import factor
from ffslab.errors import SpecError
from ffslab.loader import find_study, load_catalog, parse_toml
from ffslab.model.case import Case, case_spec
from ffslab.model.estimates import AS_STATED, ESTIMATE, TITLES, VALUES, with_estimate
from ffslab.model.study import expand, study_from_document, with_overrides
from ffslab.report.estimates.robustness import (
    Ratio,
    Sample,
    effects,
    estimate_of,
    ratios_of,
)
from ffslab.results.reproduce import reproduce_command

STUDY = """
schema = 1
name = "small"
title = "A small study"

[base]
board = "{board}"
partition_bytes = "32 MiB"

[axes]
filesystem = ["jffs2", "ubifs"]
"""


def cases_of(board: str = "apf27", *overrides: tuple[str, tuple[object, ...]]) -> dict[str, Case]:
    catalog = load_catalog()
    study = study_from_document(parse_toml(STUDY.format(board=board), "test"), catalog, "test")
    found = expand(with_overrides(study, overrides, catalog), catalog)
    return {case.id: case for case in found}


def analysed(board: str = "apf27") -> dict[str, Case]:
    return cases_of(board, (ESTIMATE, VALUES))


def differences(case: Case, other: Case) -> dict[str, tuple[object, object]]:
    """Settings of the specs that differ, and their values."""

    def flat(table: dict[str, object], prefix: str = "") -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in table.items():
            if isinstance(value, dict):
                found |= flat(value, f"{prefix}{key}.")
            else:
                found[prefix + key] = value
        return found

    before, after = flat(case_spec(case)), flat(case_spec(other))
    return {key: (before[key], after[key]) for key in before if before[key] != after[key]}


def test_cases_as_stated_are_those_of_the_plain_study() -> None:
    plain, found = cases_of(), analysed()
    for name, case in plain.items():
        assert found[name].spec_hash == case.spec_hash
        assert dict(found[name].axes)[ESTIMATE] == AS_STATED


def test_one_estimate_is_changed_at_a_time() -> None:
    found = analysed()
    stated = found["ubifs-s1"]
    driver = differences(stated, found["ubifs-doubledriver-s1"])
    assert driver["board.driver_read_ns"] == (165_000, 330_000)
    assert driver["board.driver_erase_ns"] == (20_000, 40_000)
    assert {key.rpartition(".")[2] for key in driver} == {
        "driver_read_ns", "driver_program_ns", "driver_erase_ns",
    }  # fmt: skip
    bus = differences(stated, found["ubifs-halfbus-s1"])
    assert bus == {
        "board.chip.bus_read_ps": (15_000, 7_500),
        "board.chip.bus_write_ps": (15_000, 7_500),
    }
    assert differences(stated, found["ubifs-doubleset-s1"])["cpu_set_byte_ps"] == (3500, 7000)
    assert differences(stated, found["ubifs-halfram-s1"]) == {
        "board.ram_bytes": (134_217_728, 67_108_864)
    }
    assert differences(stated, found["ubifs-otherwait-s1"]) == {
        "board.wait": ("interrupt", "polled")
    }
    ((key, reserve),) = differences(stated, found["ubifs-doublereserve-s1"]).items()
    assert key == "filesystem.ubi.max_beb_per1024" and reserve[1] == 2 * reserve[0]  # type: ignore[operator]


def test_what_a_case_does_not_have_is_not_halved() -> None:
    names = set(analysed())
    assert not {name for name in names if "ecc" in name}  # the APF27's chip has none
    assert not {name for name in names if name.startswith("jffs2") and "reserve" in name}
    assert {"jffs2-halfecc-s1", "ubifs-doubleecc-s1"} <= set(analysed("celf-mips"))
    free = cases_of("apf27", (ESTIMATE, VALUES), ("cpu_scale", (0,)))
    assert {name.split("-")[1] for name in free if name.startswith("jffs2")} == {
        "s1", "halfbus", "doublebus", "halfram", "doubleram", "otherwait",
    }  # fmt: skip


def test_as_a_setting_it_changes_all_cases_that_have_it() -> None:
    plain, found = cases_of(), cases_of("apf27", (ESTIMATE, ("double-reserve",)))
    assert set(found) == set(plain)
    assert found["jffs2-s1"].spec_hash == plain["jffs2-s1"].spec_hash
    assert found["ubifs-s1"].spec_hash != plain["ubifs-s1"].spec_hash


# Figures that are halved and doubled together, and what a reader calls them.
CHANGED = {
    "bus": ("bus", ("bus_read_ps", "bus_write_ps")),
    "ecc": ("ECC time", ("ecc_read_ns", "ecc_write_ns")),
    "driver": (
        "driver's work per page",
        ("driver_read_ns", "driver_program_ns", "driver_erase_ns"),
    ),
    "instruction": ("price of an instruction", ("cpu_instruction_ps",)),
    "byte": ("price of a byte copied", ("cpu_byte_ps",)),
    "set": ("price of a byte set", ("cpu_set_byte_ps",)),
    "call": ("prices of calls", ("cpu_copy_ns", "cpu_set_ns", "cpu_syscall_ns")),
    "ram": ("RAM", ("ram_bytes",)),
    "reserve": ("UBI's reserve for bad blocks", ()),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_halved_and_doubled(name: str) -> None:
    """Every figure is 3: half of it is 1.5, rounded to 2, twice 6. All others stay 3."""
    names = [figure for _, figures in CHANGED.values() for figure in figures]
    case = cases_of()["ubifs-s1"]
    of_chip = {figure: 3 for figure in names if hasattr(case.board.chip, figure)}
    of_board = {figure: 3 for figure in names if figure not in of_chip}
    board = replace(case.board, chip=replace(case.board.chip, **of_chip), **of_board)
    case = replace(case, board=board)
    for word, changed in (("half", 2), ("double", 6)):
        found = with_estimate(case, f"{word}-{name}").board
        values = {f: getattr(found.chip if f in of_chip else found, f) for f in names}
        assert values == {**dict.fromkeys(names, 3), **dict.fromkeys(CHANGED[name][1], changed)}


def test_estimates_have_titles() -> None:
    titles = {name: title for name, (title, _) in CHANGED.items()}
    assert {**titles, "wait": "wait model"} == TITLES


@pytest.mark.parametrize(("reserve", "half", "double"), [(3, 2, 6), (20, 10, 40), (1, 1, 2)])
def test_the_reserve_is_never_0(reserve: int, half: int, double: int) -> None:
    case = cases_of()["ubifs-s1"]
    ubi = case.filesystem.ubi
    assert ubi is not None
    ubi = replace(ubi, max_beb_per1024=reserve)
    case = replace(case, filesystem=replace(case.filesystem, ubi=ubi))
    for word, expected in (("half", half), ("double", double)):
        found = with_estimate(case, f"{word}-reserve").filesystem.ubi
        assert found is not None and found.max_beb_per1024 == expected


def test_the_other_wait_model() -> None:
    case = cases_of()["ubifs-s1"]
    for wait, other in (("polled", "interrupt"), ("interrupt", "polled")):
        waiting = replace(case, board=replace(case.board, wait=wait))
        assert with_estimate(waiting, "other-wait").board.wait == other


def test_an_unknown_change_is_an_error() -> None:
    with pytest.raises(SpecError, match="did you mean 'half-bus'"):
        with_estimate(next(iter(cases_of().values())), "halve-bus")


def test_the_command_of_a_changed_case_has_its_own_change_only() -> None:
    overrides = [("seed", [1, 2]), (ESTIMATE, list(VALUES))]
    plain = shlex.split(reproduce_command("small", overrides, "ubifs-s1"))
    changed = shlex.split(reproduce_command("small", overrides, "ubifs-doublebus-s1"))
    assert plain[-2:] == [*changed[-2:-1], "ubifs-s1"]
    assert not [word for word in plain if ESTIMATE in word]
    assert f'{ESTIMATE}=["as-stated", "double-bus"]' in changed


def test_the_shipped_study_tries_every_estimate() -> None:
    axes = find_study("sensitivity").document["axes"]
    assert tuple(axes[ESTIMATE]) == VALUES


def sample(name: str, ns: float, change: str = AS_STATED, seed: str = "1", **more: str) -> Sample:
    times = {"time": ns} if ns else {}
    return Sample(name, (), more.get("state", "free"), seed, change, times)


def test_an_order_that_a_change_turns() -> None:
    """A 100, B 110: with the bus doubled A 130, B 120, so B ÷ A is 120/130."""
    samples = [
        sample("B", 110), sample("A", 100),
        sample("B", 120, "double-bus"), sample("A", 130, "double-bus"),
        sample("B", 109, "half-bus"), sample("A", 90, "half-bus"),
    ]  # fmt: skip
    (ratio,) = ratios_of(samples)
    assert (ratio.name, ratio.has_order, ratio.turned_by) == ("B ÷ A", True, ("double-bus",))
    assert ratio.mean() == pytest.approx(1.1)
    assert ratio.mean("double-bus") == pytest.approx(120 / 130)
    assert ratio.reach == pytest.approx(1.1 * 130 / 120)
    (effect,) = effects([ratio])
    assert (effect.estimate, effect.turned, effect.ratios) == ("bus", 1, 1)


def test_a_change_that_one_side_does_not_have_leaves_it_as_stated() -> None:
    samples = [sample("A", 100), sample("B", 200), sample("B", 250, "double-reserve")]
    (ratio,) = ratios_of(samples)
    assert ratio.mean("double-reserve") == pytest.approx(2.5) and not ratio.turned_by


def test_seeds_that_disagree_have_no_order() -> None:
    samples = [
        sample("A", 100), sample("B", 120), sample("A", 100, seed="2"), sample("B", 90, seed="2"),
    ]  # fmt: skip
    (ratio,) = ratios_of(samples)
    assert not ratio.has_order and not math.isclose(ratio.mean() or 0, 1.2)
    close = ratios_of([sample("A", 100), sample("B", 101)])
    assert not close[0].has_order


def test_one_seed_that_turns_is_enough() -> None:
    samples = [
        sample("A", 100), sample("B", 120), sample("A", 100, seed="2"), sample("B", 120, seed="2"),
        sample("A", 100, "double-bus"), sample("B", 150, "double-bus"),
        sample("A", 100, "double-bus", "2"), sample("B", 99, "double-bus", "2"),
    ]  # fmt: skip
    (ratio,) = ratios_of(samples)
    assert ratio.turned_by == ("double-bus",)


def test_a_case_that_did_not_pass_says_nothing() -> None:
    samples = [sample("A", 100), sample("B", 120), sample("A", 0, "half-ram")]
    (ratio,) = ratios_of(samples)
    assert ratio.mean("half-ram") is None and not ratio.turned_by


def test_neighbours_and_states_are_compared() -> None:
    samples = [
        sample(name, ns * cost, state=state)
        for name, ns in (("C", 300), ("A", 100), ("B", 200))
        for state, cost in (("free", 1), ("aged", 3))
    ]
    found = {(ratio.where, ratio.name): ratio.mean() for ratio in ratios_of(samples)}
    assert found == {
        ("free", "B ÷ A"): pytest.approx(2), ("free", "C ÷ B"): pytest.approx(1.5),
        ("aged", "B ÷ A"): pytest.approx(2), ("aged", "C ÷ B"): pytest.approx(1.5),
        ("A", "aged ÷ free"): pytest.approx(3), ("B", "aged ÷ free"): pytest.approx(3),
        ("C", "aged ÷ free"): pytest.approx(3),
    }  # fmt: skip


def test_places_are_never_mixed() -> None:
    at = [replace(sample(n, t), place=(("x", x),)) for n, t, x in (("A", 1, "1"), ("B", 2, "2"))]
    assert ratios_of(at) == ()


def ratio_of(**values: dict[str, float]) -> Ratio:
    """`double_bus={"1": 2.0}` is the ratio of seed 1 with that change; `stated` without any."""
    named = {name.replace("_", "-"): found for name, found in values.items()}
    named = {AS_STATED: named.pop("stated"), **named} if "stated" in named else named
    return Ratio("time", "", "A", "B", named)


@pytest.mark.parametrize(
    ("ratio", "distance"), [(0.5, 2), (4, 4), (1, 1), (0, math.inf), (-1, math.inf)]
)
def test_a_factor_is_a_distance_from_1(ratio: float, distance: float) -> None:
    assert factor(ratio) == distance


def test_the_figures_of_a_ratio() -> None:
    """Geometric means over seeds: √(2 × 8) = 4, √(1 × 4) = 2, so that the change moves it by 2."""
    ratio = ratio_of(stated={"1": 2.0, "2": 8.0}, half_bus={"1": 1.0, "2": 4.0}, half_ecc={})
    assert (ratio.mean(), ratio.mean("half-bus")) == (pytest.approx(4), pytest.approx(2))
    assert (ratio.mean("half-ecc"), ratio.mean("half-ram")) == (None, None)
    assert ratio.reach == pytest.approx(2)
    assert (ratio.has_order, ratio.turned_by, ratio.of_states) == (True, (), False)
    assert ratio_of().reach == 1
    # 2 % is enough for an order, and a ratio of 1 has not turned it.
    ratio = ratio_of(stated={"1": 1.02, "2": 1.5}, half_bus={"1": 1.0}, double_bus={"1": 0.99})
    assert (ratio.has_order, ratio.turned_by) == (True, ("double-bus",))
    assert not ratio_of(stated={"1": 1.019}).has_order


def test_effects_worked_out_by_hand() -> None:
    one = ratio_of(
        stated={"1": 1.5},
        half_bus={"1": 1.2},  # 1.25 away
        double_bus={"1": 3.0},  # 2
        half_ram={"1": 0.9},  # 1.67, and turned
    )
    two = ratio_of(stated={"1": 2.0}, double_bus={"1": 0.5})  # 4, and turned
    unordered = ratio_of(stated={"1": 1.01}, double_bus={"1": 0.9})
    three = ratio_of(stated={"1": 1.5}, double_ram={"1": 1.65})  # 1.1
    unknown = ratio_of(stated={"1": 2.0}, half_ecc={})
    found = effects([unknown, three, unordered, two, one])
    assert [(e.estimate, e.ratios, e.turned) for e in found] == [
        ("bus", 3, 1), ("ram", 2, 1), ("ecc", 1, 0),
    ]  # fmt: skip
    assert [e.reach for e in found] == [pytest.approx(4), pytest.approx(1.5 / 0.9), 1]
    assert [e.most for e in found] == [two, one, unknown]
    (bus, *_) = [effect for effect in effects([one]) if effect.estimate == "bus"]
    assert (bus.reach, bus.turned) == (pytest.approx(2), 0)
    assert (estimate_of("other-wait"), estimate_of("half-ram")) == ("wait", "ram")


def placed(name: str, ns: float, state: str, change: str = AS_STATED) -> Sample:
    place = (("x", "a"), ("y", ""), ("z", "b"))
    return replace(sample(name, ns, change, state=state), place=place)


def test_where_a_ratio_holds_is_said() -> None:
    samples = [placed("A", 100, "free"), placed("B", 300, "free")]
    samples += [placed("A", 100, "aged"), placed("B", 150, "aged")]
    found = [(r.where, r.name, r.mean(), r.of_states) for r in ratios_of(samples)]
    assert found == [
        ("a · b · free", "B ÷ A", pytest.approx(3), False),
        ("a · b · aged", "B ÷ A", pytest.approx(1.5), False),
        ("a · b · A", "aged ÷ free", pytest.approx(1), True),
        ("a · b · B", "free ÷ aged", pytest.approx(2), True),  # it may become cheaper
    ]


def test_only_what_both_have_is_compared() -> None:
    apart = [sample("A", 100), sample("B", 200, seed="2")]
    assert ratios_of(apart) == ()
    # A case that did not pass as stated has no place in the order.
    failed = [sample("A", 0), sample("B", 100), sample("C", 200), sample("A", 5, "half-bus")]
    assert [ratio.name for ratio in ratios_of(failed)] == ["C ÷ B"]
    # The order is that of means, however many seeds there are.
    seeds = [sample("A", 100, seed=seed) for seed in "123"]
    assert [ratio.name for ratio in ratios_of([sample("B", 150), *seeds])] == ["B ÷ A"]


def test_a_change_may_be_of_either_side() -> None:
    samples = [
        sample("A", 50, "half-ram"), sample("B", 400, "double-bus"),
        sample("A", 100), sample("B", 200),
    ]  # fmt: skip
    (ratio,) = ratios_of(samples)
    assert list(ratio.values) == [AS_STATED, "half-ram", "double-bus"]
    assert [ratio.mean(change) for change in ratio.values] == [
        pytest.approx(2), pytest.approx(4), pytest.approx(4),
    ]  # fmt: skip
