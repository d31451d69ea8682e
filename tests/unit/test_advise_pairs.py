"""Pairs of steps: which are tried, when, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_advise_examples import needs_of_example, recorded
from test_advise_needs import CATALOG
from test_advise_ranking import ASKED, FASTMAP, JFFS2, PLAIN, POWER, UBIFS, names, order_of, values

from ffslab.advise.candidates import Candidate, candidates
from ffslab.advise.pairs import PAIRS_MAX, promising_pairs, steps_of
from ffslab.advise.probes import probes
from ffslab.advise.ranking import judge_candidates, needs_asked
from ffslab.advise.readings import Reading, Value, values_of

ZLIB = Candidate("ubifs", (("compression", "zlib"),))
LARGE = Candidate("ubifs", (), 2**25)
BOTH = Candidate("ubifs", (("compression", "zlib"), ("fastmap", "on")))


def test_two_steps_that_each_meet_what_the_other_misses_are_tried() -> None:
    """1 s and 10 MiB are asked: one step halves the time, the other has half again the space."""
    order = order_of((UBIFS, values(1.8, 8)), (FASTMAP, values(0.9, 8)), (ZLIB, values(1.8, 12)))
    assert promising_pairs(order) == (BOTH,)
    assert BOTH.title == "ubifs, zlib, fastmap" and BOTH.key == "ubifs.compression.zlib.fastmap.on"
    assert steps_of(BOTH) == 2 and BOTH.settings["options.fastmap"] == "on"


def test_factors_are_multiplied() -> None:
    """Neither step meets the limit; 0.7 times 0.7 of the default's time does."""
    order = order_of((UBIFS, values(2, 11)), (FASTMAP, values(1.4, 11)), (ZLIB, values(1.4, 11)))
    assert promising_pairs(order) == (BOTH,)
    order = order_of(
        (UBIFS, values(2.1, 11)), (FASTMAP, values(1.47, 11)), (ZLIB, values(1.47, 11))
    )
    assert promising_pairs(order) == ()  # 1.03 s


def test_nothing_is_tried_if_a_candidate_misses_nothing() -> None:
    order = order_of(
        (UBIFS, values(1.8, 8)),
        (FASTMAP, values(0.9, 8)),
        (ZLIB, values(1.8, 12)),
        (JFFS2, values(1, 10)),
    )
    assert names(order)[0] == "jffs2" and promising_pairs(order) == ()


def test_a_pair_that_loses_what_it_gains_is_not_tried() -> None:
    order = order_of((UBIFS, values(1.8, 11)), (FASTMAP, values(0.9, 5)), (ZLIB, values(3.6, 11)))
    assert promising_pairs(order) == ()


def test_two_values_of_an_option_are_no_pair_and_a_size_is_a_step() -> None:
    order = order_of((UBIFS, values(2, 8)), (PLAIN, values(1, 8)), (ZLIB, values(2, 10)))
    assert promising_pairs(order) == ()
    order = order_of((UBIFS, values(2, 8)), (PLAIN, values(1, 8)), (LARGE, values(2, 20)))
    (pair,) = promising_pairs(order)
    assert pair == Candidate("ubifs", (("compression", "none"),), 2**25)


@pytest.mark.parametrize("failing", [UBIFS, FASTMAP, ZLIB])
def test_what_did_not_pass_is_in_no_pair(failing: Candidate) -> None:
    found = {UBIFS: values(1.8, 8), FASTMAP: values(0.9, 8), ZLIB: values(1.8, 12)}
    found[failing] = {name: Value(None, "panic", failed=True) for name in ("boot", "space")}
    assert promising_pairs(order_of(*found.items())) == ()


def test_a_share_of_states_is_that_of_the_worse_step() -> None:
    def cut(boot_s: float, percent: float) -> dict[str, Value]:
        return {**values(boot_s, 12), "power": Value(percent)}

    every = [(UBIFS, cut(1.8, 100)), (FASTMAP, cut(1.2, 100)), (ZLIB, cut(1.2, 100))]
    asked = (*ASKED, POWER)
    assert promising_pairs(judge_candidates(asked, every)) == (BOTH,)
    every[1] = (FASTMAP, cut(1.2, 99))  # the pair meets the time and misses this: as bad as before
    assert promising_pairs(judge_candidates(asked, every)) == ()


def test_shares_of_states_are_not_multiplied() -> None:
    """99 % and 99 % are 99 %, which is asked for, and not 98.01 %."""
    power = replace(POWER, limit=98.5)

    def cut(boot_s: float, percent: float) -> dict[str, Value]:
        return {"boot": Value(boot_s * 1e9), "power": Value(percent)}

    every = [(UBIFS, cut(1.8, 100)), (FASTMAP, cut(1.2, 99)), (ZLIB, cut(1.2, 99))]
    assert promising_pairs(judge_candidates((ASKED[0], power), every)) == (BOTH,)


def test_of_a_default_without_any_room_both_steps_are_taken_as_they_are() -> None:
    """0.9 s of 1 s; of 20 and 12 MiB the smaller is enough, of 20 and 9 it is not."""
    order = order_of((UBIFS, values(1, 0)), (FASTMAP, values(0.9, 20)), (ZLIB, values(1.2, 12)))
    assert promising_pairs(order) == ()  # fastmap alone misses nothing
    for room, found in ((12, (BOTH,)), (9, ())):
        order = order_of(
            (UBIFS, values(1.2, 0)), (FASTMAP, values(1.08, 20)), (ZLIB, values(1.08, room))
        )
        assert promising_pairs(order) == found  # 1.08 × 1.08 ÷ 1.2 = 0.97 s


@pytest.mark.parametrize("unknown", [UBIFS, FASTMAP, ZLIB])
def test_what_one_of_them_does_not_know_is_not_known(unknown: Candidate) -> None:
    """0.7 × 2 s twice is 0.98 s; that the room is unknown is better than to miss it."""
    found = {UBIFS: values(2, 5), FASTMAP: values(1.4, 5), ZLIB: values(1.4, 5)}
    assert promising_pairs(order_of(*found.items())) == (BOTH,)  # it misses one of two
    found[unknown] = {**found[unknown], "space": Value(None)}
    assert promising_pairs(order_of(*found.items())) == (BOTH,)


def test_of_pairs_alike_those_of_the_first_steps_come_first() -> None:
    """Each pair is ten times as good as asked: 1.3 × 1.1 ÷ 20 = 0.07 s; the first step is worst."""
    steps = [
        Candidate("ubifs", ((name, "x"),)) for name in ("compression", "summary", "write_mode")
    ]
    order = order_of(
        (UBIFS, values(20, 200)),
        *((one, values(1.3 - number / 10, 200)) for number, one in enumerate(steps)),
    )
    assert names(order)[:3] == ["ubifs, x"] * 3 and order[0].candidate == steps[2]
    pairs = [[name for name, _ in one.options] for one in promising_pairs(order)]
    assert pairs == [
        ["compression", "summary"],
        ["compression", "write_mode"],
        ["summary", "write_mode"],
    ]


def test_at_most_so_many_and_the_best_of_them() -> None:
    others = ("lzo", "zlib", "zstd", "none")
    steps = [Candidate("jffs2", (("compression", one),)) for one in others]
    more = [Candidate("jffs2", ((name, "on"),)) for name in ("fastmap", "write_mode", "summary")]
    order = order_of(
        (JFFS2, values(4, 50)),
        *((one, values(1.9 - number / 10, 50)) for number, one in enumerate(steps)),
        *((one, values(1.9, 50)) for one in more),
    )
    found = promising_pairs(order)
    assert len(found) == PAIRS_MAX == 8
    # Fastmap costs what no need measures, so that it comes behind.
    assert [dict(one.options).get("compression") for one in found[:4]] == [
        *("none", "none", "zstd", "zstd")
    ]
    assert not any("fastmap" in dict(one.options) for one in found)


def test_the_router_with_stricter_limits_gets_both_steps_of_its_overlay() -> None:
    """46 MiB free and 0.37 s: LZ4 below alone has too little room, a smaller reserve is late."""
    needs = needs_of_example("router")
    readings = {
        part: Reading(
            {key: Value(one) for key, one in figures.items() if key != "failed"},
            figures.get("failed", ""),
        )
        for part, figures in recorded("router").items()
    }
    limits = {"space": 46 * 2**20, "boot": 0.37e9, "boot-cut": 0.37e9}
    asked = [replace(one, limit=limits.get(one.key, one.limit)) for one in needs_asked(needs)]
    found = candidates(needs, CATALOG)
    order = judge_candidates(
        asked, [(one, values_of(needs, one, readings, CATALOG)) for one in found]
    )
    assert order[0].missed
    pairs = promising_pairs(order)
    both = (("lower_compression", "lz4"), ("beb_per1024", "5"))
    assert pairs == (Candidate("overlay-ubifs", both),)
    # Its writes are those of the reserve alone, which has been measured.
    before = {one.name for one in probes(needs, found, CATALOG)}
    new = {one.name for one in probes(needs, (*found, *pairs), CATALOG)} - before
    assert new == {f"{kind}.{pairs[0].key}" for kind in ("boot", "cut")}
