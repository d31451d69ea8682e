"""Files of explorations: what they say, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffslab.errors import SpecError, UsageError
from ffslab.workloads.cuts.explore.case import Request, begin, find_directory, units_of
from ffslab.workloads.cuts.kind import (
    KINDS,
    exploration_of,
    find_exploration,
    load_exploration,
    shipped,
)
from ffslab.loader import load_catalog
from ffslab.oracle.generators.registry import history_of_kind

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


ON_NOR = TEXT.replace("apf27", "v3s-licheepi").replace("factory_bad = 2", "")


def test_a_chip_has_the_kinds_of_its_technology() -> None:
    every = ON_NOR.replace('kinds = ["lost", "erase-half"]', "")
    exploration = exploration_of(every, "mine.toml", load_catalog())
    assert exploration.technologies == {"NOR"}
    assert "erase-zeros" in exploration.cuts.kinds and "erase-half" not in exploration.cuts.kinds
    nand = exploration_of(TEXT.replace('kinds = ["lost", "erase-half"]', ""), "m", load_catalog())
    assert "erase-half" in nand.cuts.kinds and "weak-bits" not in nand.cuts.kinds


def test_a_file_of_both_has_the_kinds_of_both_and_a_unit_those_of_its_chip() -> None:
    text = ON_NOR.replace("[axes]", '[axes]\nboard = ["v3s-licheepi", "apf27"]')
    text = text.replace('"erase-half"', '"erase-half", "erase-bits"')
    text += '[series]\ncuts = 5\nkinds = ["torn-bits", "erase-half"]\n'
    exploration = exploration_of(text, "mine.toml", load_catalog())
    assert exploration.technologies == {"NAND", "NOR"}
    assert exploration.cuts.kinds == ("lost", "erase-half", "erase-bits")
    assert exploration.series is not None
    found = {case.board.name: exploration.series.on(case).kinds for case in exploration.cases}
    both = ("torn-bits", "erase-half")
    assert found == {"v3s-licheepi": ("torn-bits",), "apf27": both}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"v3s-licheepi"', '"v3s-licheepi-4k"', "UBIFS needs erase blocks of 15 KiB"),
        ('"lost", "erase-half"', '"erase-half", "paired"', "it is NOR flash"),
        ("[chip]", "[chip]\nfactory_bad = 2", "no bad blocks"),
        ('"jffs2", "ubifs"', '"yaffs2"', "OOB"),
    ],
)
def test_what_nor_flash_cannot_have_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError) as raised:
        exploration_of(ON_NOR.replace(old, new), "mine.toml", load_catalog())
    assert said in str(raised.value) + raised.value.cause


def test_cases_can_be_left_out() -> None:
    text = ON_NOR.replace("[chip]", '[[exclude]]\nfilesystem = "jffs2"\n[chip]')
    exploration = exploration_of(text, "mine.toml", load_catalog())
    assert [case.filesystem.name for case in exploration.cases] == ["ubifs"]


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
