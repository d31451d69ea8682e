"""`ffslab new`: skeletons of chips, boards and studies, and what `ffslab schema` and `list` say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ffslab.advise.needs import find_needs, load_needs
from ffslab.cli.app import build_app
from ffslab.errors import FfslabError, InfrastructureError, UsageError
from ffslab.loader import find_study, load_catalog
from ffslab.model.catalog import Catalog
from ffslab.model.figures import (
    ALL_CHIP_ROWS,
    BOARD_ROWS,
    BOARD_SPI_ROWS,
    CHIP_ROWS,
    ROWS_OF_KIND,
)
from ffslab.model.study import expand, study_from_document
from ffslab.paths import user_catalog


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return user_catalog()


def ffslab(*words: str) -> str:
    """What a command printed; its error, if it ends with one."""
    shown = CliRunner().invoke(build_app(), list(words))
    if isinstance(shown.exception, FfslabError):
        raise shown.exception
    assert shown.exit_code == 0, shown.output
    return shown.output


def cases(name: str, catalog: Catalog) -> list[str]:
    study = study_from_document(find_study(name).document, catalog, name)
    return [f"{case.board.name} {case.id}" for case in expand(study, catalog)]


def test_chip_board_and_study_are_valid_as_they_are(own: Path) -> None:
    told = ffslab("new", "chip", "c1", "--extends", "slc-256m-celf")
    assert f"wrote {own / 'chips' / 'c1.toml'}" in told
    assert "next: edit it" in told
    ffslab("new", "board", "b1", "--extends", "celf-mips", "--chip", "c1")
    assert "ffslab run s1" in ffslab("new", "study", "s1", "--board", "b1")
    catalog = load_catalog()
    assert not catalog.broken
    base, chip = catalog.chip("slc-256m-celf"), catalog.chip("c1")
    assert all(getattr(chip, row.name) == getattr(base, row.name) for row in CHIP_ROWS)
    assert chip.provenance == base.provenance
    assert catalog.board("b1").chip == chip
    assert cases("s1", catalog) == [
        f"b1 {fs}-{state}-s1" for fs in ("jffs2", "ubifs") for state in ("free", "aged")
    ]


def test_needs_are_understood_as_they_are_and_found_by_name(own: Path) -> None:
    told = ffslab("new", "needs", "box")
    path = own / "needs" / "box.toml"
    assert f"wrote {path}" in told and "ffslab advise box" in told
    assert find_needs("box") == path
    needs = load_needs(path, load_catalog())
    assert (needs.name, needs.boot_ns) == ("box", 10**9)
    with pytest.raises(UsageError, match="needs called router already"):
        ffslab("new", "needs", "router")
    with pytest.raises(UsageError, match="new needs takes no --board"):
        ffslab("new", "needs", "other", "--board", "apf27")


@pytest.mark.parametrize("named", ["./box", "box.toml", "needs/box"])
def test_a_path_of_needs_is_a_path(named: str) -> None:
    assert find_needs(named) == Path(named)


def test_needs_that_there_are_not_have_a_likely_name() -> None:
    assert find_needs("router").name == "router.toml"
    with pytest.raises(UsageError) as error:
        find_needs("rooter")
    assert "no needs are called 'rooter' (did you mean 'router'?)" in str(error.value)
    assert "data-logger, industrial-panel, router" in str(error.value)


@pytest.mark.parametrize("kind", ["chips", "boards", "studies", "trees", "states"])
def test_a_file_that_cannot_be_read_does_not_hide_the_others(own: Path, kind: str) -> None:
    before = ffslab("list", kind).splitlines()
    (own / kind).mkdir(parents=True)
    (own / kind / "mine.toml").write_text("name = [")
    lines = [" ".join(line.split()) for line in ffslab("list", kind).splitlines()]
    assert [line for line in lines if line.startswith("mine cannot be used: ")]
    assert {" ".join(line.split()) for line in before} < set(lines)


@pytest.mark.parametrize("kind", ["chip", "board"])
def test_a_skeleton_has_every_figure_and_those_of_the_base_hold_when_stated(
    own: Path, kind: str
) -> None:
    base = {"chip": "micron-256m-omap3530", "board": "omap3530-evm"}[kind]
    ffslab("new", kind, "mine", "--extends", base)
    path = own / f"{kind}s" / "mine.toml"
    rows = {"chip": CHIP_ROWS, "board": BOARD_ROWS}[kind]
    text = path.read_text()
    for row in rows:
        assert f"\n# {row.name} = " in text
        assert row.meaning in text
        text = text.replace(f"\n# {row.name} = ", f"\n{row.name} = ")
    path.write_text(text)
    catalog = load_catalog()
    items = getattr(catalog, f"{kind}s")
    assert all(getattr(items["mine"], row.name) == getattr(items[base], row.name) for row in rows)
    assert {entry.origin for entry in items["mine"].provenance} == {"user"}


@pytest.mark.parametrize("kind", ["chip", "board"])
def test_a_skeleton_without_a_base_says_what_is_missing(kind: str) -> None:
    told = ffslab("new", kind, "mine")
    assert f"ffslab schema {kind}" in told
    rows = {"chip": CHIP_ROWS, "board": BOARD_ROWS}[kind]
    listed = ffslab("list", f"{kind}s")
    assert f"{len(rows)} figures are missing" in listed
    assert all(row.described in listed for row in rows)


def test_a_copy_of_a_study_on_another_board(tmp_path: Path) -> None:
    ffslab("new", "study", "mine", "--from", "quick", "--board", "omap3530-evm")
    source = find_study("mine")
    assert source.text.startswith("# mine: a copy of the study quick, whose title and description")
    assert source.document["name"] == "mine"
    assert [words.split()[0] for words in cases("mine", load_catalog())] == ["omap3530-evm"] * 4

    boards = tmp_path / "boards.toml"
    part = '[[part]]\nname = "p"\n[part.set]\nboard = "celf-mips"\n'
    boards.write_text(find_study("quick").text + part)
    with pytest.raises(UsageError, match='does not state one board = "NAME"'):
        ffslab("new", "study", "other", "--from", str(boards), "--board", "apf27")


BAD = {
    "name": (("chip", "My Chip"), "cannot be the name of a chip", "ffslab new chip my-chip"),
    "path": (("chip", "../up"), "cannot be the name of a chip", "ffslab new chip up"),
    "file": (("study", "mine.toml"), "cannot be the name of a study", "ffslab new study mine"),
    "long": (("study", "m" * 65), "up to 64", f"ffslab new study {'m' * 64}"),
    "shipped": (("board", "apf27"), "called apf27 already: .*catalog/boards", "ANOTHER-NAME"),
    "study": (("study", "quick"), "called quick already: .*studies/quick.toml", "ANOTHER-NAME"),
    "base": (("chip", "c", "--extends", "celf"), "unknown chip 'celf'", "list chips"),
    "board's base": (("board", "b", "--extends", "apf"), "did you mean 'apf27'", "list boards"),
    "chip": (("board", "b", "--chip", "apf27"), "unknown chip", "list chips"),
    "board": (("study", "s", "--board", "apf"), "unknown board", "list boards"),
    "from": (("study", "s", "--from", "quik"), "did you mean 'quick'", "list studies"),
    "option": (("chip", "c", "--from", "quick"), "new chip takes no --from", "new --help"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_words_are_refused_and_nothing_is_written(own: Path, name: str) -> None:
    words, message, remedy = BAD[name]
    with pytest.raises(UsageError, match=message) as caught:
        ffslab("new", *words)
    assert remedy in caught.value.remedy
    assert not own.exists()


def test_nothing_is_overwritten(own: Path) -> None:
    ffslab("new", "chip", "mine")
    path = own / "chips" / "mine.toml"
    path.write_text("edited")
    with pytest.raises(UsageError, match=f"called mine already: {path}"):
        ffslab("new", "chip", "mine")
    assert path.read_text() == "edited"


def test_a_directory_that_cannot_be_written_is_told(own: Path) -> None:
    own.parent.joinpath("ffslab").write_text("a file")
    with pytest.raises(InfrastructureError, match=r"cannot write .*mine\.toml"):
        ffslab("new", "chip", "mine")


def test_schema_lists_figures_with_unit_range_and_meaning() -> None:
    of_boards = (BOARD_ROWS, BOARD_SPI_ROWS)
    every = {"chip": ALL_CHIP_ROWS, "board": (*BOARD_ROWS, *BOARD_SPI_ROWS)}
    for kind, tables in (("chip", ROWS_OF_KIND.values()), ("board", of_boards)):
        told = ffslab("schema", kind).split("\nIn [figures]")[1:]
        for rows, table in zip(tables, told, strict=True):
            lines = {line.split()[0]: line for line in table.splitlines() if line}
            for row in rows:
                words = (row.unit, row.range, row.meaning)
                assert all(text in lines[row.name] for text in words), row.name
        schema = json.loads(ffslab("schema", kind, "--json"))
        stated = list(schema["properties"]["figures"]["properties"])
        assert stated == [row.name for row in every[kind]]


def test_a_board_with_a_chip_on_spi_is_asked_for_its_clock(own: Path) -> None:
    """Of a base whose chip is not on SPI, whose own clock would be 0."""
    ffslab("new", "board", "mine", "--extends", "apf27", "--chip", "winbond-w25n01gv")
    text = (own / "boards" / "mine.toml").read_text()
    assert "\n# spi_clock_hz =   # Hz, from 100000 to 1,000,000,000: the clock" in text
    listed = ffslab("list", "boards")
    assert "mine" in listed
    assert "3 figures are missing" in listed
    (own / "boards" / "mine.toml").write_text(
        'schema = 1\nname = "mine"\nextends = "apf27"\nchip = "winbond-w25n01gv"\n[figures]\n'
        "spi_clock_hz = 50_000_000\nspi_rx_bits = 4\nspi_tx_bits = 1\n"
    )
    assert load_catalog().board("mine").chip.bus_read_ps == 40_000  # 8 bits ÷ 4 lines × 20 ns


def test_a_skeleton_of_a_chip_on_spi_has_the_figures_of_its_kind(own: Path) -> None:
    ffslab("new", "chip", "mine", "--extends", "winbond-w25n01gv")
    text = (own / "chips" / "mine.toml").read_text()
    assert all(f"\n# {row.name} = " in text for row in ROWS_OF_KIND["spi-nand"])
    assert "bus_read_ps" not in text
