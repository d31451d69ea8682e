"""What a report keeps of results while it reads them: histograms above all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_report_support import Overrides, write_run

from ffslab.errors import DamagedResultError
from ffslab.report.kept import read_kept
from ffslab.report.load import open_run
from loaded_support import load_run

OP = "read"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """JFFS2 and UBIFS with three seeds each, free."""
    options: Overrides = [("options.compression", ("none",)), ("options.write_mode", ("default",))]
    two: Overrides = [("filesystem", ("jffs2", "ubifs")), ("state", ("free",))]
    return write_run(tmp_path / "r", [*two, *options])


def edited(folder: Path, changes: dict[int, dict[str, Any]]) -> None:
    """Gives the results of these numbers other keys."""
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [{**row, **changes.get(number, {})} for number, row in enumerate(rows)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def latency(*buckets: list[int], count: int = 1, at_ns: int = 0) -> dict[str, Any]:
    times = {"sum_ns": count * at_ns, "min_ns": at_ns, "max_ns": at_ns}
    rest = dict.fromkeys(("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns"), at_ns)
    return {"phase": "p", "op": OP, "count": count, **times, **rest, "buckets": list(buckets)}


def shared(folder: Path) -> Iterator[tuple[tuple[int, ...], dict[int, int]]]:
    """For each histogram the numbers of the cases that share it, and its buckets."""
    cases = load_run(folder).cases
    for own in {id(case.histograms): case.histograms for case in cases}.values():
        members = tuple(n for n, case in enumerate(cases) if case.histograms is own)
        yield members, dict(own[OP].buckets()) if OP in own else {}


def test_histograms_of_seeds_are_one(folder: Path) -> None:
    told = {0: [latency([3, 1], [4, 2], count=3, at_ns=3), latency([9, 1], at_ns=9)]}
    told |= {1: [latency([3, 5], count=5, at_ns=4)], 2: [latency([8, 1], count=0)]}
    told |= {number: [latency([3, 1])] for number in (3, 4, 5)}
    edited(folder, {number: {"latencies": own} for number, own in told.items()})
    assert list(shared(folder)) == [((0, 1, 2), {3: 6, 4: 2, 9: 1}), ((3, 4, 5), {3: 3})]
    whole = load_run(folder).cases[0].histograms[OP]
    assert (whole.count, whole.sum_ns, whole.min_ns, whole.max_ns) == (9, 38, 3, 9)


def test_what_is_shown_shares_nothing_with_what_is_not(folder: Path) -> None:
    told = {number: {"latencies": [latency([number, 1])]} for number in range(6)}
    edited(folder, {**told, 1: {**told[1], "outcome": "fail"}})
    found = [members for members, _ in shared(folder)]
    assert found == [(0,), (1,), (2,), (3, 4, 5)]


@pytest.mark.parametrize("bucket", [[7], [7, 1, 2], [], [-1, 5], [7, -1], [2**64, 1]])
def test_what_is_no_bucket_is_damage(folder: Path, bucket: list[int]) -> None:
    edited(folder, {0: {"latencies": [latency([3, 1], bucket)]}})
    with pytest.raises(DamagedResultError, match="its results lack what the report needs"):
        read_kept(open_run(folder))
