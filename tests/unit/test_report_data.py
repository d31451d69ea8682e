"""What the report reads of a run directory, and what it says of one that it cannot read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_report_support import Overrides, case_ids, write_run

from ffslab.errors import DamagedResultError, UsageError
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


DAMAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "cut": lambda row: json.dumps(row)[:100],
    "field": lambda row: json.dumps({key: row[key] for key in row if key != "phases"}),
    "type": lambda row: json.dumps({**row, "latencies": [{**row["latencies"][0], "buckets": 7}]}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_results_give_a_clear_message(tmp_path: Path, damage: str) -> None:
    folder = write_run(tmp_path / "r", ONE_SEED)
    first, second, *rest = (folder / "results.jsonl").read_text().splitlines()
    lines = [first, DAMAGES[damage](json.loads(second)), *rest]
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DamagedResultError, match=str(folder)) as caught:
        load_run(folder)
    assert "next:" in str(caught.value)


def test_what_is_no_run_or_has_no_results(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        load_run(tmp_path)
    folder = write_run(tmp_path / "r", ONE_SEED)
    (folder / "results.jsonl").write_text("")
    with pytest.raises(UsageError, match="no results yet"):
        load_run(folder)


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
