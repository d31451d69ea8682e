"""The report's numbers and sentences follow the run's data."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import pytest
from made_records import buckets_of
from test_report_support import Overrides, case_ids, write_run

from ffslab.errors import DamagedResultError, UsageError
from ffslab.model.figures import CPU_PRICES
from ffslab.report.data import Latency, packed_buckets
from ffslab.report.distribution import merge
from ffslab.report.wear import SHADES, common_scale, draw
from loaded_support import load_run

ONE_SEED: Overrides = [("seed", (1,))]


def test_run_is_read_with_axes_and_commands(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "r"))
    assert [case.id for case in run.cases] == case_ids()
    first = run.cases[0]
    assert (first.filesystem, first.state, first.compression) == ("jffs2", "free", "none")
    assert first.command == f"ffslab run ffsmark --case {first.id}"
    assert len(first.erases) == 200 and min(first.erases) >= 0 and sum(first.erases) > 100
    assert {lat.op for lat in first.latencies} >= {"create", "read", "append", "delete"}
    assert run.seeds == ("1", "2", "3")
    assert run.varying == ("filesystem", "compression", "write_mode", "state", "seed")


def test_overrides_are_part_of_the_command(tmp_path: Path) -> None:
    overrides: Overrides = [("partition_bytes", ("64 MiB",)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides))
    assert "--set 'partition_bytes=\"64 MiB\"'" in run.cases[0].command


def test_time_model_tells_estimates_apart(tmp_path: Path) -> None:
    facts = {fact.name: fact for fact in load_run(write_run(tmp_path / "r", ONE_SEED)).facts}
    assert facts["Page program, tPROG"].value.startswith("220")
    assert not facts["Page program, tPROG"].estimate
    assert facts[CPU_PRICES[0].title].estimate
    assert facts[CPU_PRICES[0].title].basis


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        load_run(tmp_path)


def test_a_run_without_results(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    (folder / "results.jsonl").write_text("")
    with pytest.raises(UsageError, match="no results yet"):
        load_run(folder)


@pytest.mark.parametrize("damage", ["cut", "field", "type"])
def test_damaged_results_give_a_clear_message(tmp_path: Path, damage: str) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines()
    row = json.loads(lines[1])
    if damage == "cut":
        lines[1] = lines[1][:100]
    elif damage == "field":
        del row["phases"]
        lines[1] = json.dumps(row)
    else:
        row["latencies"][0]["buckets"] = 7
        lines[1] = json.dumps(row)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DamagedResultError) as caught:
        load_run(folder)
    assert str(folder) in str(caught.value)
    assert "next:" in str(caught.value)


def latency_of(values: list[int]) -> Latency:
    buckets = packed_buckets(buckets_of(values))
    return Latency("p", "op", len(values), sum(values), min(values), max(values), buckets)


def test_percentiles_are_within_the_histogram_s_error() -> None:
    rng = random.Random(5)
    values = sorted(round(math.exp(rng.uniform(3, 20))) for _ in range(5000))
    merged = merge([latency_of(values[:2000]), latency_of(values[2000:])])
    assert merged is not None
    for percent in (1, 50, 90, 99, 99.9, 100):
        exact = values[math.ceil(len(values) * percent / 100) - 1]
        assert merged.percentile_ns(percent) == pytest.approx(exact, rel=0.004, abs=0.5)
    assert merged.mean_ns == pytest.approx(sum(values) / len(values))


def test_tails_fall_from_one_and_end_at_the_maximum() -> None:
    rng = random.Random(6)
    values = [round(rng.paretovariate(0.7) * 1000) for _ in range(4000)]
    merged = merge([latency_of(values)])
    assert merged is not None
    tail = merged.tail(100)
    assert len(tail) < 250
    assert list(tail[0]) == [min(values), 1.0]
    assert tail[-1][0] == max(values)
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in itertools.pairwise(tail))


@pytest.mark.parametrize("high", [0, 1, 5, 8, 9, 100, 12345])
def test_wear_scale_covers_every_count_once(high: int) -> None:
    scale = common_scale([[0, high], [high // 2]])
    assert len(scale.bounds) <= SHADES
    assert len(scale.labels()) == len(scale.bounds)
    shades = [scale.shade(count) for count in range(high + 1)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[-1] == len(scale.bounds) - 1
    assert set(shades) == set(range(len(scale.bounds)))


def test_one_worn_map_leaves_differences_in_the_others() -> None:
    scale = common_scale([[1, 2, 4], [84]])
    assert len({scale.shade(count) for count in (0, 1, 2, 4)}) == 4


def test_wear_map_covers_each_block_exactly_once() -> None:
    erases = [random.Random(7).randrange(6) for _ in range(777)]
    drawing = draw(erases, common_scale([erases]), "label", "w")
    runs = [
        int(part.split("v")[0])
        for part in drawing.split("weargrid")[0].split("h")[1:]
        if "v1" in part
    ]
    assert sum(runs) == 777


VARIANTS = ("yaffs2", "yaffs2-inband", "yaffs2-no-cache")


def test_an_option_that_a_file_system_does_not_vary_is_in_no_label(tmp_path: Path) -> None:
    overrides: Overrides = [("filesystem", ("jffs2", *VARIANTS)), *ONE_SEED]
    run = load_run(write_run(tmp_path / "r", overrides, study="yaffs2"))
    assert run.varying == ("filesystem", "compression", "state")
    facts = {fact.key: fact for fact in run.filesystems}
    assert facts["jffs2"].code.startswith("the Linux kernel")
    assert "ffslab" in facts["yaffs2"].code
    assert facts["yaffs2-inband"].mounts == ("mount -t yaffs2 -o inband-tags",)
    varied: Overrides = [
        ("filesystem", ("yaffs2",)),
        ("options.tags", ("oob", "inband")),
        *ONE_SEED,
    ]
    run = load_run(write_run(tmp_path / "s", varied, study="yaffs2"))
    assert "tags" in run.varying
    assert len(run.filesystems[0].mounts) == 2
