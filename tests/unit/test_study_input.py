"""What people type and save: byte order marks, brackets, far too many cases."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ffslab.campaign.run import prepare
from ffslab.cli.parse import parse_seeds, parse_set
from ffslab.documents import document
from ffslab.errors import SpecError, UsageError

STUDY = """
schema = 1
name = "mine"
title = "x"
[base]
board = "apf27"
partition_bytes = "16 MiB"
[axes]
filesystem = ["jffs2", "ubifs"]
"""


def test_a_byte_order_mark_is_no_part_of_a_study(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(STUDY, encoding="utf-8-sig")
    prepared = prepare(str(path))
    assert [case.id for case in prepared.cases] == ["jffs2-s1", "ubifs-s1"]
    assert prepared.source.text == STUDY


@pytest.mark.parametrize(
    "value", ['["jffs2"', "[jffs2, ubifs]", '"jffs2', "{ name = 'x'", "'jffs2"]
)
def test_a_bracket_or_quote_that_is_not_closed_is_called_that(value: str) -> None:
    with pytest.raises(UsageError, match="is not valid TOML") as caught:
        parse_set(f"filesystem={value}")
    assert "single quotes around the whole" in caught.value.remedy


def test_nine_hundred_thousand_cases_are_counted_and_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(f"{STUDY}seed = [{','.join(map(str, range(1, 50_002)))}]\n")
    with pytest.raises(SpecError, match="study mine has 100,002 combinations") as caught:
        prepare(str(path))
    assert caught.value.cause.endswith("filesystem (2), seed (50,001)")
    with pytest.raises(UsageError, match="9,999,999,999,999 cases"):
        parse_seeds("9999999999999")


def test_an_unknown_axis_is_named_with_where_the_axes_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"{STUDY}bogus = [1]\n")
    with pytest.raises(SpecError, match="axes: unknown axis 'bogus'") as caught:
        prepare(str(path))
    named = caught.value.remedy.removeprefix("see “Axes” in ").partition(",")[0]
    assert "`state.valid_percent`" in Path(named).read_text(encoding="utf-8")


def test_documents_that_messages_name_are_there_and_in_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    assert document("docs/study-format.md") == "docs/study-format.md"
    monkeypatch.chdir(tmp_path)
    packaged = tomllib.loads((root / "pyproject.toml").read_text())
    packaged = packaged["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    named = {
        name
        for path in (root / "src").rglob("*.py")
        for name in re.findall(r"""document\(\s*["']([^"']+)["']""", path.read_text())
    }
    assert {"docs/study-format.md", "docs/catalog-format.md"} <= named
    for name in named:
        assert Path(document(name)).is_file()
        assert packaged[name.partition("/")[0]] == f"ffslab/data/{name.partition('/')[0]}"
