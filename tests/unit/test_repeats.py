"""Repeats of a case on a real clock: as cases of a study, compared, and as one case of a report."""

from __future__ import annotations

from typing import Any, cast

import pytest
from compare_support import MS, TIME, only, result, row_of, scaled, side, spec, with_figure

from ffslab.campaign.chain import chain_of, unsupported
from ffslab.compare.cases import split_perturbed
from ffslab.compare.engine import Rules, compare_runs
from ffslab.compare.verdicts import Verdict
from ffslab.errors import SpecError
from ffslab.loader import load_catalog, parse_toml
from ffslab.model.case import Case, case_spec
from ffslab.model.repeats import repeat_of, repeat_values
from ffslab.model.study import expand, select, study_from_document, with_overrides
from ffslab.results.repeats import middle, middles
from ffslab.results.reproduce import reproduce_command
from ffslab.results.result import CaseResult
from ffslab.targets.registry import target_kind

STUDY = """
schema = 1
name = "twice"
title = "Cases that are repeated"
[base]
board = "apf27"
partition_bytes = "16 MiB"
seeds = [1, 2]
[base.workload]
kind = "ffsmark"
[axes]
filesystem = ["jffs2"]
"""


def cases(*repeats: int) -> tuple[Case, ...]:
    catalog = load_catalog()
    study = study_from_document(parse_toml(STUDY, "test"), catalog, "test")
    if repeats:
        study = with_overrides(study, [("repeat", repeats)], catalog)
    return expand(study, catalog)


def test_the_first_repeat_is_the_case_itself() -> None:
    plain = {case.id: case.spec_hash for case in cases()}
    repeated = {case.id: case.spec_hash for case in cases(*repeat_values(3))}
    assert set(plain) == {"jffs2-s1", "jffs2-s2"}
    assert len(repeated) == 6
    assert plain.items() <= repeated.items()
    assert len(set(repeated.values())) == 6


def test_another_repeat_says_in_its_spec_which_it_is() -> None:
    found = {case.id: case_spec(case).get("repeat") for case in cases(1, 2)}
    assert found["jffs2-s1"] is None
    assert found["jffs2-repeat2-s1"] == 2


def test_a_case_is_chosen_with_its_repeats() -> None:
    chosen = select(cases(1, 2, 3), ["jffs2-s2"])
    assert [case.repeat for case in chosen] == [1, 2, 3]
    assert {case.seed for case in chosen} == {2}


@pytest.mark.parametrize("value", [0, 100, "2", True])
def test_what_is_no_number_of_a_repeat_is_refused(value: object) -> None:
    with pytest.raises(SpecError, match="repeat must be an integer from 1 to 99"):
        repeat_of(value, "test")


def test_a_repeat_can_be_reproduced() -> None:
    words = reproduce_command("s.toml", [("repeat", (1, 2, 3))], "jffs2-repeat3-s1")
    assert "--set 'repeat=[1, 3]'" in words
    assert "repeat" not in reproduce_command("s.toml", [("repeat", (1, 2, 3))], "jffs2-s1")


def repeats(*factors: float, seed: int = 1) -> list[dict[str, Any]]:
    """A case of 2 s creation, repeated: the times of its creation by these factors."""
    made = []
    for number, factor in enumerate(factors, start=1):
        own = spec(seed=seed, **({"repeat": number} if number > 1 else {}))
        name = f"jffs2-repeat{number}-s{seed}" if number > 1 else f"jffs2-s{seed}"
        made.append(scaled(result(name, spec=own), TIME, factor))
    return made


def test_a_repeated_case_is_compared_by_its_medians() -> None:
    """Of 2.2, 2.0 and 2.6 s that is 2.2 s; the band is from 2.0 to 2.6 s."""
    own, aside = split_perturbed(side(repeats(1.1, 1.0, 1.3)))
    (case,) = own
    assert case.figures[TIME].value == 2200 * MS
    assert sorted(one.figures[TIME].value for one in aside) == [2000 * MS, 2200 * MS, 2600 * MS]


@pytest.mark.parametrize(
    ("new", "verdict"),
    # Medians 2.2 and 2.4 s, whose ranges share 2.3 to 2.6 s; then 2.8 s, from 2.7 s on.
    [((1.15, 1.2, 1.3), Verdict.BAND), ((1.35, 1.4, 1.5), Verdict.WORSE)],
)
def test_repeats_on_both_sides_are_apart_if_their_ranges_are(
    new: tuple[float, ...], verdict: Verdict
) -> None:
    boards = {"real_clock": True}
    base, other = side(repeats(1.1, 1.0, 1.3), **boards), side(repeats(*new), "new", **boards)
    row = row_of(only(compare_runs(base, other)), TIME)
    assert row.verdict is verdict
    assert row.base == 2200 * MS


def test_equal_specs_may_differ_on_a_real_clock() -> None:
    row = result()
    base, new = side([row], real_clock=True), side([scaled(row, TIME, 1.1)], "new", real_clock=True)
    assert not compare_runs(base, new, Rules(0.0)).broken
    assert compare_runs(side([row]), side([scaled(row, TIME, 1.1)], "new"), Rules(0.0)).broken


def test_a_repeat_that_failed_is_the_cases_failure() -> None:
    made = repeats(1.0, 1.1, 1.2)
    made[1] |= {"outcome": "fail", "reason": "the connection to the board was lost"}
    (case,) = split_perturbed(side(made))[0]
    assert (case.id, case.outcome) == ("jffs2-s1", "fail")
    assert middle(cast(list[CaseResult], made))["reason"].startswith("the connection")


def test_the_repeat_in_the_middle_stands_for_all() -> None:
    """By the time of all phases: 9 s of the third is between 8 s and 10 s."""
    made = repeats(1.0, 1.0, 1.0)
    for one, seconds in zip(made, (2.0, 4.0, 3.0), strict=True):
        one["phases"] = with_figure(one, "creation", duration_ns=seconds * 1000 * MS)["phases"]
        one["flash_sha256"] = str(seconds)
    found = middle(cast(list[CaseResult], made))
    assert found["flash_sha256"] == "3.0"
    assert (found["id"], found["spec"].get("repeat")) == ("jffs2-s1", None)


def test_repeats_of_several_seeds_are_told_apart() -> None:
    """Seeds come before repeats in the order of a run."""
    one, two = repeats(1.0, 1.1, seed=1), repeats(1.0, 1.1, seed=2)
    mixed = cast(list[CaseResult], [one[0], two[0], one[1], two[1]])
    again = {one[1]["id"], two[1]["id"]}
    assert [row["id"] for row in middles(mixed, again)] == ["jffs2-s1", "jffs2-s2"]
    assert list(middles(mixed, ())) == mixed


def test_in_virtual_time_a_repeat_is_skipped() -> None:
    kinds = {name: target_kind(name) for name in ("uml", "ssh")}
    told = {
        name: [unsupported(chain_of(case, kind, "b"), kind.capabilities) for case in cases(1, 2)]
        for name, kind in kinds.items()
    }
    assert not any(told["ssh"])
    # Of two seeds: the first repeats run, the second ones do not.
    assert [bool(reason) for reason in told["uml"]] == [False, False, True, True]
    assert "its time is virtual" in told["uml"][-1]


def test_repeats_are_for_boards_only() -> None:
    from ffslab.campaign.study import Choice
    from ffslab.errors import UsageError

    guest, board = Choice("quick"), Choice("quick", (("seed", (4,)),), target="ssh")
    assert guest.repeated(None) == guest
    with pytest.raises(UsageError, match="gives the same result"):
        guest.repeated(2)
    assert board.repeated(None).overrides == (("seed", (4,)), ("repeat", (1, 2, 3)))
    assert board.repeated(5).overrides == (("seed", (4,)), ("repeat", (1, 2, 3, 4, 5)))


def test_where_a_flash_stays_in_place_no_guest_is_shared() -> None:
    """Of a prepared state: two guests of one case, and nothing that other cases wait for."""
    micro = 'kind = "micro"\nvolume_bytes = "256 KiB"'
    prepared = STUDY.replace('kind = "ffsmark"', micro).replace(
        '["jffs2"]', '["jffs2"]\nstate = ["saturated"]'
    )
    catalog = load_catalog()
    study = study_from_document(parse_toml(prepared, "test"), catalog, "test")
    case = expand(study, catalog)[0]
    lab, board = (chain_of(case, target_kind(name), "b") for name in ("uml", "ssh"))
    assert not lab.in_place and not board.preparing
    assert len(board.in_place) == len(lab.preparing) == 1
    assert not unsupported(board, target_kind("ssh").capabilities)


def test_a_case_of_a_board_is_reproduced_on_it() -> None:
    words = reproduce_command("s.toml", [], "jffs2-s1", target="ssh", access="/desk/b.toml")
    assert words == "ffslab run s.toml --target ssh --access /desk/b.toml --case jffs2-s1"
