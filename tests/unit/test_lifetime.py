"""The lifetime forecast: its model against worlds whose end is known, its reading of runs."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from lifetime_support import BYTES, WEAR_STUDY, Swaps, looks, wear_key, write_wear_run
from test_report_support import charts_of, section_of

from ffslab.lifetime.asked import keep_asked
from ffslab.lifetime.forecast import Flash, _estimate, drawn_together, forecast
from ffslab.lifetime.growth import (
    Checkpoint,
    Component,
    Correlation,
    Period,
    correlation_of,
    periods_of,
    slow_memory,
    wear_per_byte,
)
from ffslab.lifetime.read import looks_of, wear_out_of
from ffslab.lifetime.rows import volume
from ffslab.lifetime.spares import spares_of
from ffslab.report import build


def flash(blocks: int, endurance: int, spares: int = 0, **more: Any) -> Flash:
    return Flash(endurance, (0,) * blocks, spares, **more)


# Worlds of which the end is arithmetic.


def test_blocks_that_wear_alike() -> None:
    # 10 blocks of exactly 1,000 erases: the first is bad after 10,000, and all with it.
    told = forecast(looks([1] * 10, 5), flash(10, 1000, spares=3, spread=0.0))
    assert told.first_bad.middle == pytest.approx(10_000 * BYTES, rel=1e-6)
    assert told.end.middle == pytest.approx(10_000 * BYTES, rel=1e-6)
    assert told.first_bad.low == pytest.approx(told.first_bad.high)
    assert (told.checkpoints, told.wear, told.worst) == (5, 50, 50)
    assert told.written_bytes == 500 * BYTES


def test_data_that_never_move_leave_the_wear_to_the_others() -> None:
    # 6 of 10 blocks are erased: the first is bad after 6 × 1,000.
    told = forecast(looks([0] * 4 + [1] * 6, 5), flash(10, 1000, spread=0.0))
    assert told.first_bad.middle == pytest.approx(6_000 * BYTES, rel=1e-3)


def test_a_threshold_moves_data_that_stay() -> None:
    # The worn ones may be 400 erases ahead: when they have 1,000, the others have 600.
    worn = forecast(looks([0] * 4 + [1] * 6, 5), flash(10, 1000, spread=0.0, threshold=400))
    assert worn.first_bad.middle == pytest.approx((6 * 1000 + 4 * 600) * BYTES, rel=1e-3)
    # A threshold that is never reached changes nothing.
    far = forecast(looks([0] * 4 + [1] * 6, 5), flash(10, 1000, spread=0.0, threshold=4096))
    assert far.first_bad.middle == pytest.approx(6_000 * BYTES, rel=1e-3)


def test_bad_blocks_leave_their_share_to_the_others() -> None:
    # Rates 2 and 1 of the mean of 1.2: the two fast ones have 1,000 erases when the 8 slow ones
    # have 500, at 6,000 in all; 500 each are left for those: 4,000 more.
    told = forecast(looks([2, 2] + [1] * 8, 6, 12.0), flash(10, 1000, spares=9, spread=0.0))
    assert told.first_bad.middle == pytest.approx(6_000 * BYTES, rel=1e-2)
    assert told.end.middle == pytest.approx(10_000 * BYTES, rel=1e-2)


def test_blocks_differ_in_endurance() -> None:
    # Of n limits between 900 and 1,100 the k-th is 900 + 200 × k ÷ (n + 1) on average. With 199
    # blocks the first is 901; when the 100th is bad at 1,000, the 99 others have had as much, and
    # those before it 900 + k: 100 × 1,000 + the sum of 900 + k for k from 1 to 99.
    told = forecast(looks([1] * 199, 5), flash(199, 1000, spares=99))
    assert told.first_bad.middle == pytest.approx(199 * 901 * BYTES, rel=2e-3)
    total = 100 * 1000 + sum(900 + k for k in range(1, 100))
    assert told.end.middle == pytest.approx(total * BYTES, rel=2e-3)
    assert told.end.low < told.end.middle < told.end.high


@pytest.mark.parametrize(
    ("spares", "end"), [(0, 1000), (1, 1900), (2, 2700), (8, 5400), (9, 5500), (50, 5500)]
)
def test_writing_ends_with_the_block_after_the_last_spare_one(spares: int, end: int) -> None:
    # Of 10 blocks of 1,000 erases one has had 900, the next 800, … the last none. Each of 10 is
    # erased 100 times when the first is bad: 1,000. Then it is 100 of 9, of 8, … of 1.
    before = tuple(range(0, 1000, 100))
    told = forecast(looks([1] * 10, 5), Flash(1000, before, spares, spread=0.0))
    assert told.first_bad.middle == pytest.approx(1000 * BYTES, rel=1e-6)
    assert told.end.middle == pytest.approx(end * BYTES, rel=1e-6)


def test_an_estimate_is_the_median_and_the_middle_nine_tenths() -> None:
    # Of 0, 1, … 100 a twentieth is left out below and above.
    told = _estimate([float(value) for value in range(100, -1, -1)])
    assert (told.low, told.middle, told.high) == pytest.approx((5, 50, 95))
    # Between two values in proportion: a twentieth of the way from 10 to 30, and as much before.
    told = _estimate([30.0, 10.0])
    assert (told.low, told.middle, told.high) == pytest.approx((11, 20, 29))
    told = _estimate([7.0])
    assert (told.low, told.middle, told.high) == (7, 7, 7)


def test_erases_of_before_count() -> None:
    told = forecast(looks([1] * 10, 5), Flash(1000, (400,) * 10, 0, spread=0.0))
    assert told.first_bad.middle == pytest.approx(6_000 * BYTES, rel=1e-6)


def test_one_look_is_taken_to_go_on() -> None:
    told = forecast(looks([0] * 4 + [1] * 6, 1), flash(10, 1000, spread=0.0))
    assert told.first_bad.middle == pytest.approx(6_000 * BYTES, rel=1e-3)
    assert math.isinf(told.correlation.slow.memory)


def test_nothing_erased_is_no_forecast() -> None:
    for checkpoints in ([], [Checkpoint(5, (0, 0))]):
        with pytest.raises(ValueError, match="no block was erased"):
            forecast(checkpoints, flash(2, 100))


def test_the_end_of_life_of_a_world_with_data_that_move_now_and_then() -> None:
    """Forecast from a twentieth of a life that was then lived to its end."""
    rng, blocks, endurance, spares = random.Random(3), 128, 1000, 20
    limits = [round(endurance * rng.uniform(0.9, 1.1)) for _ in range(blocks)]
    for chance in (0.0, 0.01, 0.05, 1.0):
        world = Swaps(blocks, 40, chance, limits)
        checkpoints = []
        while len(world.dead) <= spares:
            world.erase()
            if world.total in range(400, 4001, 400) and world.total not in (
                one.written_bytes // BYTES for one in checkpoints
            ):
                checkpoints.append(world.look())
        told = forecast(checkpoints, flash(blocks, endurance, spares))
        assert told.first_bad.middle / BYTES == pytest.approx(world.dead[0], rel=0.1), chance
        assert told.end.middle / BYTES == pytest.approx(world.dead[spares], rel=0.1), chance


# The parts of the model.


def test_counts_are_drawn_together_with_the_same_sum() -> None:
    # 0, 0 and 9: a difference of 3 leaves 2, 2 and 5.
    assert drawn_together([0, 0, 9], 3) == pytest.approx([2, 2, 5])
    assert drawn_together([1, 2, 3], 2) == [1, 2, 3]


def test_periods_begin_when_all_blocks_were_used() -> None:
    first, second, third = Checkpoint(1, (0, 1)), Checkpoint(2, (1, 3)), Checkpoint(3, (2, 6))
    (found,) = periods_of([first, second, third])
    # Between the second and the third the blocks gained 1 and 3, of a mean of 2.
    assert (found.start, found.end, found.shares) == (2, 4, (-0.5, 0.5))
    assert (found.middle, found.length) == (3, 2)
    # With one look beyond the first erase, the beginning counts, too.
    assert [one.end for one in periods_of([first, second])] == [0.5, 2]
    # Nothing was erased between the last two.
    assert not periods_of([first, second, Checkpoint(3, (1, 3))])


def period(at: float, *shares: float) -> Period:
    return Period(at, at + 1, shares)


def correlated(shares: Sequence[Sequence[float]]) -> Correlation:
    """Of periods of one erase each, in which data that stay are never moved."""
    periods = [period(at, *one) for at, one in enumerate(shares)]
    return correlation_of([], periods, range(len(shares[0])))


def test_what_stays_correlates_at_any_distance() -> None:
    found = correlated([(-0.5, 0.5)] * 6)
    assert (found.slow.variance, found.fast.variance) == pytest.approx((0.25, 0.0), abs=1e-9)
    assert math.isinf(found.slow.memory)


def test_what_passes_correlates_less_with_the_distance() -> None:
    # Which two of four blocks are ahead is another thing from the third period on.
    ahead = [(0.5, 0.5, -0.5, -0.5), (0.5, -0.5, 0.5, -0.5)]
    found = correlated([ahead[0], ahead[0], ahead[1], ahead[1]])
    # Neighbours correlate in two of three cases, others never.
    assert found.slow.variance < 0.05 and found.fast.variance > 0.1 and found.fast.memory < 4


def test_alternation_is_neither() -> None:
    found = correlated([(0.5, -0.5), (-0.5, 0.5)] * 3)
    assert found.slow.variance < 0.05 and found.fast.variance < 0.2


def test_of_two_periods_all_is_slow() -> None:
    found = correlated([(-0.5, 0.5)] * 2)
    assert (found.slow.variance, found.fast.variance) == (0.25, 0.0)


def test_how_long_data_stay_in_a_block() -> None:
    # Four of eight blocks have static data. Two erases of the mean later one of them was erased:
    # 4 blocks, of which one counts half, were exposed to 2 erases: 7 in all, of which the share
    # of blocks that do not hold such data is a half.
    first, second = (0, 0, 0, 0, 2, 2, 2, 2), (4, 0, 0, 0, 5, 5, 5, 5)
    looked = [Checkpoint(1, first), Checkpoint(2, second)]
    assert slow_memory(looked, range(8)) == pytest.approx(0.5 * 3.5 * 2 / 1)
    assert slow_memory(looked, range(8), (1, 2, 3)) == math.inf
    # Of a block drawn twice each counts: 0.75 × (2 - 1) × 2 ÷ 2, and an erase at least.
    assert slow_memory(looked, [0, 0, *range(1, 7)], (0,)) == 1
    assert slow_memory([], range(8)) == math.inf


def test_a_part_of_what_blocks_differ_by() -> None:
    part = Component(0.25, 10.0)
    assert part.kept(10) == pytest.approx(math.exp(-1))
    # The integral of exp(-x ÷ 10) from 0 to 10; far away it is the memory.
    assert part.gain(10) == pytest.approx(10 * (1 - math.exp(-1)))
    assert part.gain(1000) == pytest.approx(10)
    # Far away the variance of the integral grows by 2 × variance × memory with each erase.
    assert part.chance(1010) - part.chance(1000) == pytest.approx(2 * 0.25 * 10 * 10)
    assert part.chance(0) == 0
    # Far away it is variance × memory² × (2x - 3): 0.25 × 100 × 197 at x = 100.
    assert part.chance(1000) == pytest.approx(4925)
    # At x = 1: 25 × (2 - 3 + 4 × 0.36788 - 0.13534) = 25 × 0.33618.
    assert part.chance(10) == pytest.approx(8.4045, rel=1e-4)
    # At x = 2: 25 × (4 - 3 + 4 × 0.13534 - 0.01832) = 25 × 1.52302.
    assert part.chance(20) == pytest.approx(38.0756, rel=1e-4)
    stays = Component(0.25, math.inf)
    assert (stays.kept(9), stays.gain(9), stays.chance(9)) == (1, 9, 0)


def at_rates(*rates: float) -> list[Checkpoint]:
    """Looks every 10 bytes, with so many erases of the only block between them."""
    found, erases = [Checkpoint(10, (10,))], 10.0
    for number, rate in enumerate(rates):
        erases += rate
        found.append(Checkpoint(20 + 10 * number, (int(erases),)))
    return found


def test_wear_per_byte_goes_where_three_thirds_lead() -> None:
    assert wear_per_byte(at_rates(20, 20, 20)) == pytest.approx(2.0)
    # 16, 24, 28: changes of 8 and 4 go on with 2, 1, …: the limit is 32.
    assert wear_per_byte(at_rates(16, 24, 28)) == pytest.approx(3.2)
    # Changes that grow come once more: 10, 11, 14 and then 4 more.
    assert wear_per_byte(at_rates(10, 11, 14)) == pytest.approx(1.8)
    # 10, 20 and 29: changes of 10 and 9 would lead to 110; the 19 that were seen come once more.
    assert wear_per_byte(at_rates(10, 20, 29)) == pytest.approx(4.8)
    # Up and down is no way to go.
    assert wear_per_byte(at_rates(10, 14, 12)) == pytest.approx(1.2)
    # Of few looks it is the mean: 40 erases in 30 bytes.
    assert wear_per_byte(at_rates(10, 20)) == pytest.approx(40 / 30)


def spec(kind: str, ubi: Any = None, **more: Any) -> dict[str, Any]:
    chip = {"blocks": 2048, "page_bytes": 2048, "pages_per_block": 64}
    return {
        "board": {"chip": chip | more.pop("chip", {})},
        "filesystem": {"type": kind, "ubi": ubi},
        "partition_bytes": 100 * 131_072,
        **more,
    }


def test_blocks_that_can_be_lost() -> None:
    block = 131_072
    # 20 in 1,024 of 2,048 blocks; of 2,000 it is 39.06, rounded up.
    assert spares_of(spec("ubifs", {"max_beb_per1024": 20}), 0, 0).blocks == 40
    odd = spec("ubifs", {"max_beb_per1024": 20}, chip={"blocks": 2000, "factory_bad": 3})
    assert spares_of(odd, 0, 0).blocks == 40 - 3
    assert spares_of(odd, 0, 0).threshold == 4096
    scaled = spec("ubifs", {"max_beb_per1024": 1}, kernel={"variant": "ubi-wear"})
    assert (spares_of(scaled, 0, 0).blocks, spares_of(scaled, 0, 0).threshold) == (2, 80)
    for variant, threshold in (("unaligned-ubi-wear", 80), ("unaligned", 4096)):
        here = spec("ubifs", {"max_beb_per1024": 1}, kernel={"variant": variant})
        assert spares_of(here, 0, 0).threshold == threshold
    nor = spec("ubifs", {"max_beb_per1024": 20}, chip={"kind": "spi-nor"})
    assert spares_of(nor, 0, 0).blocks == 0  # no block may be bad there
    # 10 blocks of file take 10.2: of 20, 9 whole ones are left; JFFS2 gives up 2 blocks earlier.
    assert spares_of(spec("yaffs2"), 20 * block, 10 * block).blocks == 9
    assert spares_of(spec("jffs2"), 20 * block, 10 * block).blocks == 7
    assert spares_of(spec("yaffs2"), block, 2 * block).blocks == 0
    assert spares_of(spec("yaffs2"), 20 * block, 0).threshold is None


def test_only_the_first_twentieth_of_a_life_is_looked_at() -> None:
    # The weakest block may be bad at 900 of 1,000, of which 4.5 % are 40.5 erases.
    found: Any = wear_key([Checkpoint(1, (39, 2)), Checkpoint(2, (40, 2)), Checkpoint(3, (41, 9))])
    assert [one.written_bytes for one in looks_of(found, 1000)] == [1, 2]


def test_outcomes() -> None:
    looked = [Checkpoint(700, (1, 1))]
    assert wear_out_of(wear_key(looked)) is None  # type: ignore[arg-type]
    grown = {"before": 2, "written": [500, 600], "bad_blocks": [3, 5], "erases": None}
    alive = wear_out_of(wear_key(looked, grown=grown))  # type: ignore[arg-type]
    assert alive is not None and (alive.first_bad_bytes, alive.end_bytes) == (500, None)
    assert alive.bad_blocks == 3
    dead = wear_out_of(wear_key(looked, stopped="EROFS"))  # type: ignore[arg-type]
    assert dead is not None and (dead.first_bad_bytes, dead.end_bytes) == (None, 700)


def test_volumes_in_words() -> None:
    assert [volume(value) for value in (2e6, 1.234e9, 5e12, 2e15)] == [
        *("2 MB", "1.23 GB", "5 TB", "2 PB"),
    ]


# The command.


def dead(case: Any) -> dict[str, Any]:
    """JFFS2 wore evenly and ended; UBIFS was not looked at."""
    if case.filesystem.name == "ubifs":
        return {"wear": None, "outcome": "fail", "reason": "the guest stopped"}
    checkpoints = looks([1] * 64, 5)
    # 64 × 100,000 erases of 1,000 bytes are 6.4 GB; the first is bad at 90 % or a little later.
    grown = {"before": 0, "written": [5_800_000_000], "bad_blocks": [1], "erases": None}
    key = wear_key(checkpoints, grown=grown, stopped="ENOSPC", written=6_400_000_000)
    return {"wear": key}


def test_a_run_is_forecast_and_compared(ffslab_command: Command, tmp_path: Path) -> None:
    write_wear_run(tmp_path / "results" / "life", dead)
    shown = ffslab_command("lifetime", "life")
    assert shown.code == 0, shown.error
    lines = [line.split() for line in shown.output.splitlines()]
    assert lines[1][:4] == ["jffs2-s1", "first", "bad", "block"]
    # The least of 64 limits: 90 % + 20 % ÷ 65 of 6.4 GB are 5.78 GB.
    assert lines[1][4:6] == ["5.77", "GB"] and lines[1][-3:] == ["5.8", "GB", "-0%"]
    assert "ubifs-s1: no forecast: the guest stopped" in shown.output
    assert "measured: 1 grown bad blocks, then ENOSPC" in shown.output
    assert "from 5 looks up to 3.2 MB, 50.0 erases per block (most 50) of 100,000" in shown.output


def test_years_and_another_endurance(ffslab_command: Command, tmp_path: Path) -> None:
    write_wear_run(tmp_path / "results" / "life", dead)
    words = ("lifetime", "life", "--daily", "10 MB", "--endurance", "10000", "--json")
    shown = ffslab_command(*words)
    assert shown.code == 0, shown.error
    found = json.loads(shown.output)
    jffs2, ubifs = found["cases"]
    assert (found["daily_bytes"], jffs2["endurance"], jffs2["outcome"]) == (10**7, 10_000, None)
    first, _ = jffs2["rows"]
    # A tenth of the endurance is a tenth of the volume; 10 MB a day are 3,652.5 MB a year.
    assert first["forecast"]["middle"] == pytest.approx(0.578e9, rel=5e-3)
    assert first["years"]["middle"] == pytest.approx(first["forecast"]["middle"] / 3652.5e6)
    assert first["measured"] is None and ubifs["why"] == "the guest stopped"
    table = ffslab_command("lifetime", "life", "--daily", "10 MB").output.splitlines()
    assert table[0].split() == ["case", "years", "range", "measured", "off"]


def test_what_cannot_be_forecast_is_an_error(ffslab_command: Command, tmp_path: Path) -> None:
    write_wear_run(tmp_path / "results" / "life", dead)
    study = WEAR_STUDY + '"chip.endurance_cycles" = [0]\n'
    write_wear_run(tmp_path / "results" / "everlasting", dead, study)
    assert ffslab_command("run", "small.toml", "--no-report", "--set", "state=free").code == 0
    ran = sorted(path.name for path in (tmp_path / "results").glob("2*"))[0]
    for words, told, next_step in (
        (("everlasting",), "has no endurance figure", "--endurance 100000"),
        ((ran,), "measures no wear", "lifetime wear"),
        (("small.toml",), "study small measures no wear", "lifetime lifetime"),
        (("nobody",), "neither a run in results nor a study", "lifetime lifetime"),
        (("life", "--set", "seed=2"), "--set changes a study", "lifetime results/life"),
        (("life", "--daily", "much"), "is not a size", "50 MB"),
        (("life", "--daily", "0"), "--daily is 0", "50 MB"),
    ):
        shown = ffslab_command("lifetime", *words)
        assert (shown.code, told in shown.error, next_step in shown.error) == (2, True, True), (
            words,
            shown.error,
        )
    assert ffslab_command("lifetime", "everlasting", "--endurance", "1000").code == 0


def words_of(page: str, section: str) -> str:
    """The text of a section, on one line."""
    text = re.sub(r"<[^>]+>|\s", " ", section_of(page, section).replace("</script>", ""))
    return " ".join(text.split())


def goes_on(case: Any) -> dict[str, Any]:
    """Both wore evenly, UBIFS twice as fast, and nothing ended."""
    step = 5.0 if case.filesystem.name == "jffs2" else 10.0
    checkpoints = [
        Checkpoint(number * 640_000, (round(number * step),) * 64) for number in range(1, 6)
    ]
    return {"wear": wear_key(checkpoints)}


DYING = WEAR_STUDY.replace('kind = "wear"', 'kind = "wear"\nto_death = true')


def test_the_report_shows_forecast_and_outcome(tmp_path: Path) -> None:
    page = build(write_wear_run(tmp_path / "life", dead, DYING)).read_text(encoding="utf-8")
    assert 'id="life"' not in page  # what came is known
    table = words_of(page, "erases")
    assert re.search(
        r"first bad block 5.77 GB 5\.[\d.]+ GB to 5\.[\d.]+ GB – 5.8 GB -0\.\d % ", table
    )
    assert "1 bad, ENOSPC" in table and "JFFS2 lasts longest, 6.4 GB; forecasts" in table
    rows = charts_of(page)["wear-lines"]["data"]["rows"]
    marks = list(zip(rows["kind"], rows["x"], rows["to"], strict=True))
    came = [x for kind, x, _ in marks if kind == "came"]
    (first, end) = [(low, high) for kind, low, high in marks if kind == "range"]
    assert came == [5.8, 6.4] and first[0] < 5.8 < first[1] and end[0] <= end[1]
    board = page[page.index('<table class="score"') :].partition("</table>")[0]
    assert ">life</th>" in board and "6.40\xa0GB" in board and "5.80\xa0GB" in board


def test_the_report_forecasts_what_goes_on(tmp_path: Path) -> None:
    page = build(write_wear_run(tmp_path / "life", goes_on)).read_text(encoding="utf-8")
    assert "range" not in charts_of(page)["wear-lines"]["data"]["rows"]["kind"]
    assert ">life</th>" not in page and "--daily" in section_of(page, "life")
    drawn = charts_of(page)["life-forecast"]["data"]["rows"]
    assert drawn["row"] == [
        f"{name}: {event}"
        for name in ("JFFS2", "UBIFS")
        for event in ("first bad block", "end of writing")
    ]
    # 640,000 bytes are 5 erases of each block, 90 to 110 % of 100,000 erases are 12 GB or so.
    assert all(11 < low <= middle <= high < 14.2 for low, middle, high in of_bars(drawn, 0, 2))
    assert all(5.5 < low <= middle <= high < 7.1 for low, middle, high in of_bars(drawn, 2, 4))
    told = words_of(page, "verdict")
    assert re.search(
        r"Forecast: JFFS2 lasts longest, 1[23][.\d]* GB \(1[23][.\d]* to 1[23][.\d]*\) until", told
    )
    assert "; UBIFS least, 6" in told


def of_bars(drawn: Any, start: int, end: int) -> list[tuple[float, float, float]]:
    bars = zip(drawn["low"], drawn["middle"], drawn["high"], strict=True)
    return list(bars)[start:end]


def test_years_are_told_of_what_died_too(tmp_path: Path) -> None:
    run = write_wear_run(tmp_path / "life", dead, DYING)
    keep_asked(run, {"daily_bytes": 10**7, "endurance": None})
    page = build(run).read_text(encoding="utf-8")
    # 6.2 GB at 3,652.5 MB a year.
    assert re.search(r"JFFS2 lasts 1\.[67]\d years \(.*\) at 10 MB a day", words_of(page, "life"))
    assert "ENOSPC" not in words_of(page, "erases")


def test_the_verb_writes_a_page_that_answers_the_same(
    ffslab_command: Command, tmp_path: Path
) -> None:
    run = write_wear_run(tmp_path / "results" / "life", goes_on)
    told = ffslab_command("lifetime", "life", "--daily", "10 MB", "--endurance", "10000")
    assert told.code == 0 and told.output.splitlines()[-1] == "report: results/life/report.html"
    page = (run / "report.html").read_text(encoding="utf-8")
    asked = ffslab_command(
        *("lifetime", "life", "--daily", "10 MB", "--endurance", "10000", "--json")
    )
    _, end = json.loads(asked.output)["cases"][0]["rows"]
    years = "{middle:.3g} years ({low:.3g} to {high:.3g})".format(**end["years"])
    sentence = f"JFFS2 lasts longest, {years} at 10 MB a day until writing ends"
    assert f"Forecast: {sentence}" in words_of(page, "verdict")
    # Whenever the page is made again, it answers what was asked last.
    assert sentence in words_of(build(run).read_text(encoding="utf-8"), "life")
    ffslab_command("lifetime", "life", "--no-report")
    assert sentence in words_of(build(run).read_text(encoding="utf-8"), "life")
    ffslab_command("lifetime", "life")
    assert "years at" not in words_of(build(run).read_text(encoding="utf-8"), "verdict")
