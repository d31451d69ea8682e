"""Files of explorations: what they say, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffslab.errors import SpecError, UsageError
from ffslab.loader import load_catalog
from ffslab.oracle.generators.registry import history_of_kind
from ffslab.workloads.cuts.explore.case import Request, begin, find_directory, units_of
from ffslab.workloads.cuts.kind import (
    KINDS,
    exploration_of,
    find_exploration,
    load_exploration,
    shipped,
)

TEXT = """
exploration = 1
name = "mine"
title = "Mine"
[base]
board = "apf27"
partition_bytes = "8 MiB"
seeds = [3]
[axes]
filesystem = ["jffs2", "ubifs"]
[[workload]]
kind = "update-by-rename"
parameters.updates = 4
[[workload]]
kind = "overwrite"
name = "database"
[chip]
factory_bad = 2
[cuts]
kinds = ["lost", "erase-half"]
sample = 20
"""


def test_power_is_cut_on_nand_only() -> None:
    with pytest.raises(SpecError, match="cannot be cut on chip winbond-w25q256jv"):
        exploration_of(TEXT.replace("apf27", "imx6ull-evk"), "mine.toml", load_catalog())


def test_a_file_says_which_units_there_are() -> None:
    exploration = exploration_of(TEXT, "mine.toml", load_catalog())
    assert [unit.id for unit in units_of(exploration)] == [
        "jffs2-s3-update-by-rename",
        "jffs2-s3-database",
        "ubifs-s3-update-by-rename",
        "ubifs-s3-database",
    ]
    assert exploration.cuts.kinds == ("lost", "erase-half")
    assert exploration.cuts.sample == 20
    assert exploration.workloads[0].parameters == {"updates": 4}
    for case in exploration.cases:
        assert case.board.chip.factory_bad == 2
        assert case.board.chip.t_prog_ns == case.board.chip.t_erase_ns == 0
        assert case.cpu_scale == 0 and case.seed == 3


def test_the_boards_time_is_kept_if_that_is_asked_for() -> None:
    timed = TEXT.replace('title = "Mine"', 'title = "Mine"\ntiming = "board"')
    (first, _) = exploration_of(timed, "mine.toml", load_catalog()).cases
    assert first.board.chip.t_prog_ns > 0 and first.cpu_scale == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sample = 20", "samples = 20", "cuts.samples"),
        ('"erase-half"]', '"erase-haf"]', "cuts.kinds.1"),
        ('name = "database"', 'name = "update-by-rename"', "two workloads have one name"),
        ("exploration = 1", "schema = 1", "a study, not an exploration"),
        ('board = "apf27"', 'board = "apf28"', "apf28"),
        ("[cuts]", "[cuts", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        exploration_of(TEXT.replace(old, new), "mine.toml", load_catalog())
    assert said in str(caught.value)


def test_shipped_explorations_are_good_and_their_histories_there() -> None:
    assert set(shipped()) >= {"crash-quick", "power-cuts"}
    for name in shipped():
        exploration = load_exploration(name)
        assert exploration.name == name
        assert set(exploration.cuts.kinds) <= set(KINDS)
        for choice in exploration.workloads:
            history = history_of_kind(choice.kind, 1, choice.parameters)
            assert history.operations


def test_unknown_names_have_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="crash-quick"):
        find_exploration("crash-quik")
    with pytest.raises(UsageError, match="no exploration"):
        find_directory("latest", tmp_path)


def test_a_run_is_known_by_its_directory(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    units = ("ubifs-s3-database",)
    request = Request(str(path), (), units, "ffslab crash run mine.toml")
    directory = begin(request, tmp_path / "results", datetime(2026, 11, 23, tzinfo=UTC))
    assert directory.path.name == "20261123T000000Z-crash-mine"
    assert find_directory("latest", tmp_path / "results") == directory
    assert find_directory(directory.path.name, tmp_path / "results") == directory
    assert directory.about()["units"] == ["ubifs-s3-database"]
    assert directory.exploration().cuts.sample == 20
    assert list(directory.units()) == []
    with pytest.raises(UsageError, match="no unit"):
        directory.spec("ubifs-s3-databas")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "overwrite"', 'kind = "overwrit"', "overwrite"),
        ("updates = 4", "update = 4", "updates"),
        ('"jffs2", "ubifs"', '"squashfs"', "read-only"),
    ],
)
def test_what_cannot_be_explored_is_refused_before_anything_runs(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(UsageError) as caught:
        begin(Request(str(path), (), (), ""), tmp_path / "r", datetime(2026, 1, 1, tzinfo=UTC))
    assert said in str(caught.value)
    assert not (tmp_path / "r").exists()


def test_a_partition_that_cannot_be_filled_is_refused() -> None:
    large = TEXT.replace("8 MiB", "200 MiB")
    with pytest.raises(SpecError, match="200 MiB cannot be filled"):
        exploration_of(large, "mine.toml", load_catalog())
    for unfilled in ("fill_sample = 0", 'check = "mount"'):
        exploration_of(f"{large}{unfilled}\n", "mine.toml", load_catalog())
