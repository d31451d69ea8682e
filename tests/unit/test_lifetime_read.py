"""What a forecast reads off a run: blocks to lose, looks, wear of before, what became of it."""

from __future__ import annotations

from typing import Any

import pytest
from lifetime_support import wear_key

from ffslab.lifetime import read
from ffslab.lifetime.forecast import Estimate, Flash, Forecast
from ffslab.lifetime.growth import Checkpoint, Component, Correlation
from ffslab.lifetime.read import forecast_of, life_of, lives_of, looks_of, wear_out_of
from ffslab.lifetime.spares import spares_of

BLOCK = 131_072


def spec_of(kind: str, *, ubi: Any = None, blocks: int = 2048, **more: Any) -> dict[str, Any]:
    """A partition of 100 blocks of 128 KiB, of a chip of this many."""
    chip = {"blocks": blocks, "page_bytes": 2048, "pages_per_block": 64, **more}
    return {
        "board": {"chip": chip},
        "filesystem": {"type": kind, "ubi": ubi},
        "partition_bytes": 100 * BLOCK,
    }


@pytest.mark.parametrize(
    ("blocks", "per", "factory_bad", "expected"),
    [
        # 1 in 1,024, rounded up.
        (1024, 1, 0, 1),
        (1025, 1, 0, 2),
        # If nobody says: 20 × 1,024 ÷ 1,024, and 20 × 1,076 ÷ 1,024 = 21.02.
        (1024, None, 0, 20),
        (1076, 0, 0, 22),
        # Blocks that were bad from the beginning are taken off the reserve, as far as it goes.
        (1024, 20, 20, 0),
        (1024, 20, 21, 0),
        (1024, 20, 19, 1),
    ],
)
def test_the_reserve_of_ubi(blocks: int, per: int | None, factory_bad: int, expected: int) -> None:
    spec = spec_of("ubifs", ubi={"max_beb_per1024": per}, blocks=blocks, factory_bad=factory_bad)
    assert spares_of(spec, 0, 0).blocks == expected


@pytest.mark.parametrize(
    ("kind", "available", "file", "expected"),
    [
        # JFFS2 gives up a block and a hundredth of the partition, another block, earlier.
        ("jffs2", 4 * BLOCK, 0, 2),
        ("jffs2", 4 * BLOCK - 1, 0, 1),
        ("yaffs2", 4 * BLOCK, 0, 4),
        ("yaffs2", 4 * BLOCK - 1, 0, 3),
        # 50 blocks of file take 51.
        ("yaffs2", 55 * BLOCK, 50 * BLOCK, 4),
    ],
)
def test_the_space_that_nothing_needs(kind: str, available: int, file: int, expected: int) -> None:
    assert spares_of(spec_of(kind), available, file).blocks == expected


# Looks.


def even(*points: tuple[int, int], blocks: int = 4) -> list[Checkpoint]:
    """Blocks that wear alike: (bytes written, erases of each)."""
    return [Checkpoint(written, (erases,) * blocks) for written, erases in points]


def grown(*written: int) -> dict[str, Any]:
    """One more bad block at each of these volumes, after two of before."""
    counts = [3 + number for number, _ in enumerate(written)]
    return {"before": 2, "written": list(written), "bad_blocks": counts, "erases": None}


def test_looks_until_a_twentieth_of_the_weakest_block() -> None:
    # 4.5 % of 90 % of 2,000 are 81 erases of the most worn block.
    checkpoints = [Checkpoint(1, (81, 2)), Checkpoint(2, (82, 2))]
    found: Any = wear_key(checkpoints)
    assert looks_of(found, 2000) == checkpoints[:1]


def test_no_look_counts_from_the_first_bad_block_on() -> None:
    checkpoints = even((100, 1), (200, 2), (300, 3))
    for changes, count in (
        ({}, 3),
        ({"grown": grown()}, 3),
        ({"grown": grown(201, 300)}, 2),
        ({"grown": grown(150, 300)}, 1),
        ({"grown": grown(200)}, 1),
    ):
        found: Any = wear_key(checkpoints, **changes)
        assert looks_of(found, 2000) == checkpoints[:count], changes
    del found["grown"]  # of an older run
    assert looks_of(found, 2000) == checkpoints


PARTS = Correlation(Component(0.0, 1.0), Component(0.0, 1.0))


@pytest.mark.parametrize(
    ("begun", "promised", "count"),
    [
        # 4.5 % of 20,000 bytes are 900: the looks at 100 to 900.
        (1, {1: 20_000, 9: 20_000}, 9),
        # Of 19,999 the last of them is missing, of 10,000 (450) five.
        (1, {1: 19_999, 8: 19_999}, 8),
        (1, {1: 10_000, 4: 10_000}, 4),
        # A promise that grows is followed three times: to 200, 400, 600, not to 800.
        (1, {1: 200 / 0.044, 2: 400 / 0.044, 4: 600 / 0.044, 6: 800 / 0.044}, 6),
        # One that is shorter than what was looked at changes nothing.
        (5, {5: 10_000, 4: 20_000}, 5),
        (5, {5: 500 / 0.044}, 5),
    ],
)
def test_all_looks_in_the_first_twentieth_of_the_promised_life(
    begun: int, promised: dict[int, float], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`promised`: the volume of the first bad block, by the number of looks."""

    def told(looked: list[Checkpoint], _flash: Flash) -> Forecast:
        life = Estimate(1.0, promised[len(looked)], 1e9)
        last = looked[-1].written_bytes
        return Forecast(life, life, last, len(looked), 1.0, 1, 0.01, PARTS)

    monkeypatch.setattr(read, "forecast", told)
    checkpoints = even(*((100 * n, n) for n in range(1, 13)))
    found: Any = wear_key(checkpoints)
    answer = forecast_of(found, Flash(1000, (0,) * 4, 0), checkpoints[:begun])
    assert (answer.checkpoints, answer.written_bytes) == (count, 100 * count)


# Cases.


def result_of(checkpoints: list[Checkpoint], **changes: Any) -> Any:
    """Of YAFFS2 on a chip of 1,000 erases, with 20 blocks available and 10 of file: 9 to lose."""
    spec = spec_of("yaffs2", endurance_cycles=1000)
    spec["workload"] = {"kind": "wear", "file_bytes": 10 * BLOCK}
    space = [("format", 90), ("write:start", 20), ("write:end", 10)]
    return {
        "id": "one",
        "axes": {"seed": 1},
        "spec": spec,
        "reason": "",
        "space": [{"label": label, "available_bytes": n * BLOCK} for label, n in space],
        "flash": [],
        "wear": wear_key(checkpoints) if checkpoints else None,
        **changes,
    }


# One erase of each block in 100 bytes; of what it does before the least endures 900.
ALIKE = even((100, 1), (200, 2), (400, 4))


def test_a_case_is_forecast_from_its_wear_and_the_space_before_the_writing() -> None:
    life = life_of(result_of(ALIKE))
    assert (life.id, life.axes, life.endurance, life.why) == ("one", {"seed": 1}, 1000, "")
    assert life.spares is not None and (life.spares.blocks, life.outcome) == (9, None)
    assert life.forecast is not None and life.forecast.checkpoints == 3
    # Of four limits from 900 to 1,100 the first is 940 on average, the last 1,060.
    assert 90_000 <= life.forecast.first_bad.low <= life.forecast.first_bad.middle < 98_000
    assert life.forecast.first_bad.middle < life.forecast.end.middle <= 110_000


def flash_of(label: str, erases: int) -> dict[str, Any]:
    return {"label": label, "erases": [erases] * 4, "programs": [9000] * 4}


@pytest.mark.parametrize(
    ("worn", "erased", "before"), [(0, 0, 0), (None, 700, 700), (500, 0, 500), (500, 200, 700)]
)
def test_blocks_begin_with_the_wear_of_before(worn: int | None, erased: int, before: int) -> None:
    """Worn in advance, and by all that came before the writing. What is left of 1,000 erases is
    left for the writing: of n the volume is n × 100 bytes, but for the spread.
    """
    result = result_of(ALIKE)
    result["spec"]["board"]["chip"]["worn_cycles"] = worn
    result["flash"] = [flash_of("format", 300), flash_of("static:end", erased)]
    result["flash"].append(flash_of("write:end", 400))
    told, fresh = life_of(result).forecast, life_of(result_of(ALIKE)).forecast
    assert told is not None and fresh is not None
    assert told.first_bad.middle == pytest.approx(fresh.first_bad.middle - 100 * before, abs=1)


def test_without_a_count_of_before_there_was_no_wear_before() -> None:
    result = result_of(ALIKE, flash=[flash_of("format", 300)])
    result["spec"]["board"]["chip"]["worn_cycles"] = 0
    assert life_of(result).forecast == life_of(result_of(ALIKE)).forecast


def test_one_look_is_enough() -> None:
    told = life_of(result_of(ALIKE[:1])).forecast
    assert told is not None and told.checkpoints == 1
    assert 90_000 <= told.first_bad.middle <= 110_000


@pytest.mark.parametrize(
    ("checkpoints", "changes", "why"),
    [
        ([], {"reason": "the guest stopped"}, "the guest stopped"),
        ([], {}, "no volume was reached"),
        (ALIKE, {"space": []}, "what statfs said before the writing is not in the result"),
        (ALIKE, {"wear": {**wear_key(ALIKE), "volumes": []}}, "no volume was reached"),
        # 4.5 % of 90 % of 1,000 are 40.5.
        (even((100, 41)), {}, "no volume within 4.5% of its life"),
        (even((100, 0)), {}, "no block was erased between the checkpoints"),
    ],
)
def test_why_there_is_no_forecast(
    checkpoints: list[Checkpoint], changes: dict[str, Any], why: str
) -> None:
    life = life_of(result_of(checkpoints, **changes))
    assert (life.why, life.forecast, life.spares) == (why, None, None)
    assert (life.id, life.axes, life.endurance) == ("one", {"seed": 1}, 1000)


def test_a_chip_without_a_figure_needs_one() -> None:
    result = result_of(ALIKE)
    for figure in (None, 0):
        result["spec"]["board"]["chip"]["endurance_cycles"] = figure
        life = life_of(result)
        assert (life.why, life.endurance) == ("its chip has no endurance figure", 0)
    told = life_of(result, 1000)
    assert told.endurance == 1000 and told.forecast == life_of(result_of(ALIKE)).forecast


def test_only_cases_of_this_workload_are_asked() -> None:
    other = result_of(ALIKE)
    other["spec"]["workload"] = {"kind": "micro"}
    bare = result_of(ALIKE)
    del bare["spec"]["workload"]
    (life,) = lives_of([other, result_of(ALIKE), bare], 500)
    assert life.endurance == 500


@pytest.mark.parametrize(
    ("changes", "first", "end", "blocks"),
    [
        ({"grown": grown(500, 600)}, 500, None, 2),
        ({"grown": grown(500), "stopped": "EROFS"}, 500, 700, 1),
        # It stopped before any block was bad, or without anybody who counted them.
        ({"grown": grown(), "stopped": "EIO"}, None, 700, 0),
        ({"stopped": "ENOSPC"}, None, 700, 0),
    ],
)
def test_what_became_of_a_case(
    changes: dict[str, Any], first: int | None, end: int | None, blocks: int
) -> None:
    found: Any = wear_key(even((700, 1)), **changes)
    outcome = wear_out_of(found)
    assert outcome is not None
    assert (outcome.first_bad_bytes, outcome.end_bytes, outcome.bad_blocks) == (first, end, blocks)
    assert outcome.stopped == changes.get("stopped", "")
    # Another endurance is another chip's: what became of this one says nothing.
    result = result_of(ALIKE, wear=wear_key(ALIKE, **changes))
    assert life_of(result).outcome is not None and life_of(result, 1000).outcome is None


def test_nothing_became_of_a_case_without_bad_blocks() -> None:
    for changes in ({}, {"grown": grown()}):
        found: Any = wear_key(even((700, 1)), **changes)
        assert wear_out_of(found) is None
