"""The verbs fsck and mkfs: what they print, what they refuse, their exit codes."""

from __future__ import annotations

import json
import re
import stat
import sys
import zlib
from pathlib import Path

import pytest
from test_yaffs2_check import log_image
from test_yaffs2_original import NAMES, listing_of, original
from yaffs2_support import DIRECTORY, SYMLINK, Log

from ffslab.cli.app import main
from ffslab.yaffs2.problems import RULES

GEOMETRY = ("--pages-per-block", "8")


class Cli:
    """Runs `ffslab` in this process; output and error of the last command."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.output = self.error = ""

    def __call__(self, *arguments: str) -> int:
        self._monkeypatch.setattr(sys, "argv", ["ffslab", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        self.output, self.error = self._capsys.readouterr()
        assert "Traceback" not in self.error
        assert "internal error" not in self.error
        return code


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(monkeypatch, capsys)


def test_a_good_image_has_a_summary_of_80_columns_and_code_0(cli: Cli, tmp_path: Path) -> None:
    log_image().write(tmp_path)
    assert cli("fsck", "yaffs2", "image", *GEOMETRY) == 0
    assert "0 errors, 0 warnings, 0 notes" in cli.output
    assert max(map(len, cli.output.splitlines())) <= 80


def test_errors_give_code_1_and_their_places(cli: Cli, tmp_path: Path) -> None:
    image = log_image()
    image.patch(2, 2, 268, b"\0\0\0\0")
    image.write(tmp_path)
    assert cli("fsck", "yaffs2", "image", *GEOMETRY) == 1
    assert "error: header-mode: block 2 page 2 object 257" in cli.output
    assert max(map(len, cli.output.splitlines())) <= 80


def test_warnings_give_code_0(cli: Cli, tmp_path: Path) -> None:
    image = log_image()
    image.flip(0, 3, 2050, 5)
    image.write(tmp_path)
    assert cli("fsck", "yaffs2", "image", *GEOMETRY) == 0
    assert "warning: tags-corrected: block 0 page 3" in cli.output


def test_many_problems_are_shortened(cli: Cli, tmp_path: Path) -> None:
    log = Log()
    for number in range(20):
        log.file(300 + number, "same", 0)
    log.image().write(tmp_path)
    assert cli("fsck", "yaffs2", "image", *GEOMETRY) == 1
    assert cli.output.count("error: name-duplicate: block") == 5
    assert "and 14 more" in cli.output
    assert cli("fsck", "yaffs2", "image", "--all", *GEOMETRY) == 1
    assert cli.output.count("error: name-duplicate: block") == 19


def test_json_is_for_programs(cli: Cli, tmp_path: Path) -> None:
    image = log_image()
    image.patch(2, 2, 268, b"\0\0\0\0")
    image.write(tmp_path)
    assert cli("fsck", "yaffs2", "image", "--json", "--list", *GEOMETRY) == 1
    document = json.loads(cli.output)
    assert document["errors"] == 1
    (problem,) = document["findings"]
    assert (problem["rule"], problem["block"], problem["page"]) == ("header-mode", 2, 2)
    paths = {node["path"]: node for node in document["tree"]}
    assert paths["/link"]["link_of"] == "/dir/file"
    assert paths["/dir/file"]["xattrs"] == {"user.a": "31", "user.b": "3232"}


def test_the_list_shows_the_tree(cli: Cli, tmp_path: Path) -> None:
    log_image().write(tmp_path)
    assert cli("fsck", "yaffs2", "image", "--list", *GEOMETRY) == 0
    lines = cli.output.splitlines()
    listed = lines[lines.index("") + 1 :]
    assert any(line.startswith("crw-------") and " 4,5 " in line for line in listed)
    assert any(line.endswith(" /sym -> dir/file") for line in listed)
    assert any(line.endswith(" /link = /dir/file") for line in listed)
    assert any(" 10244 " in line and line.endswith(" /dir/file") for line in listed)


@pytest.mark.parametrize("name", NAMES)
def test_an_image_of_the_original_gives_code_0_and_its_names(
    name: str, cli: Cli, tmp_path: Path
) -> None:
    original(name).write(tmp_path)
    assert cli("fsck", "yaffs2", "image", "--json", "--list", "--extract", "out") == 0
    document = json.loads(cli.output)
    assert (document["errors"], document["warnings"]) == (0, 0)
    listing = listing_of(name)
    assert len(document["tree"]) == len(listing)
    # Devices need root, and a lost+found that is nowhere on the flash is not made.
    optional = {path for path, entry in listing.items() if any(entry["device"])} | {"/lost+found"}
    extracted = {"/" + str(path.relative_to("out")) for path in Path("out").rglob("*")} | {"/"}
    assert set(listing) - optional <= extracted <= set(listing)
    for path, entry in listing.items():
        readable = stat.S_ISREG(entry["mode"]) and entry["mode"] & stat.S_IRUSR
        if readable and entry["size"] < 1 << 20:
            assert zlib.crc32(Path("out" + path).read_bytes()) == entry["crc"], path


def test_names_cannot_control_the_terminal(cli: Cli, tmp_path: Path) -> None:
    log = Log()
    log.file(300, "evil\x1b[2J\nname", 0)
    log.file(301, "evil\x1b[2J\nname", 0)
    log.image().write(tmp_path)
    cli("fsck", "yaffs2", "image", "--list", *GEOMETRY)
    assert "\x1b" not in cli.output
    assert "/evil\\x1b[2J\\nname" in cli.output
    cli("fsck", "yaffs2", "image", "--list", "--json", *GEOMETRY)
    assert "\x1b" not in cli.output


def test_extract_writes_the_tree(cli: Cli, tmp_path: Path) -> None:
    log = Log()
    log.header(300, DIRECTORY, 1, "d", mode=0o040750)
    log.data(301, 1, b"x" * 2048)
    log.data(301, 3, b"end")
    log.file(301, "f", 2 * 2048 + 3, parent=300, mtime=1_000_000, mode=0o100640)
    log.header(302, SYMLINK, 300, "s", alias=b"f")
    log.image().write(tmp_path)
    assert cli("fsck", "yaffs2", "image", "--extract", "out", *GEOMETRY) == 0
    there = tmp_path / "out" / "d"
    assert (there / "f").read_bytes() == b"x" * 2048 + bytes(2048) + b"end"
    assert (there / "f").stat().st_mtime == 1_000_000
    assert (there / "f").stat().st_mode & 0o777 == 0o640
    assert there.stat().st_mode & 0o777 == 0o750
    assert (there / "s").readlink() == Path("f")
    assert not (tmp_path / "out" / "lost+found").exists()
    assert cli("fsck", "yaffs2", "image", "--extract", "out", *GEOMETRY) == 2


def test_extract_does_not_leave_its_directory(cli: Cli, tmp_path: Path) -> None:
    """Names that are paths, and a link in the place of a directory."""
    outside = tmp_path / "outside"
    outside.mkdir()
    log = Log()
    log.file(300, "../escaped", 0)
    log.header(301, DIRECTORY, 1, "..")
    log.file(302, "escaped", 0, parent=301)
    log.header(303, SYMLINK, 1, "trap", alias=b"../outside")
    log.header(304, DIRECTORY, 1, "trap")
    log.file(305, "escaped", 0, parent=304)
    log.file(306, str(tmp_path / "escaped"), 0)
    log.image().write(tmp_path)
    assert cli("fsck", "yaffs2", "image", "--extract", "out/", *GEOMETRY) == 1
    # The directory has the name of the link, so it gets its id; nothing went through the link.
    assert list(tmp_path.rglob("escaped")) == [tmp_path / "out" / "trap~obj304" / "escaped"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"trap", "trap~obj304"}
    assert not list(outside.iterdir())
    assert "is not extracted" in cli.error


def test_wrong_usage_gives_code_2(cli: Cli, tmp_path: Path) -> None:
    log_image().write(tmp_path)
    assert cli("fsck", "yaffs2", "missing") == 2
    assert cli("fsck", "ext4", "image") == 2
    assert cli("fsck", "yaffs2", "image", "--page-bytes", "1000") == 2
    assert cli("mkfs", "yaffs2", "missing", "new") == 2
    assert cli("mkfs", "yaffs2", ".", "new", "--checkpoint") == 2
    assert cli("mkfs", "yaffs2", ".", "../new", "--partition-bytes", "many") == 2
    assert cli("mkfs", "yaffs2", ".", "../new", "--fixed-time", "-1") == 2


def test_an_unreadable_image_gives_code_3(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert cli("fsck", "yaffs2", "loop") == 3


def test_mkfs_and_fsck_go_together(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(b"text")
    assert cli("mkfs", "yaffs2", "tree", "new.img", "--partition-bytes", "16 MiB",
               "--checkpoint", "--fixed-time", "0", "--squash-owners") == 0  # fmt: skip
    assert "fsck yaffs2 new.img" in cli.output
    assert cli("fsck", "yaffs2", "new.img", "--list") == 0
    assert "checkpoint valid" in cli.output
    assert any(line.endswith("1970-01-01 00:00:00 /f") for line in cli.output.splitlines())
    options = ("--inband", "--oob-bytes", "0", "--no-summary", "--page-bytes", "4096")
    assert cli("mkfs", "yaffs2", "tree", "inband.img", *options) == 0
    assert (tmp_path / "inband.img").stat().st_size == 64 * 4096
    assert cli("fsck", "yaffs2", "inband.img") == 0
    assert "tags in the page" in cli.output


def test_the_segregated_layout_is_an_option_and_named_in_the_report(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(b"text")
    assert cli("mkfs", "yaffs2", "tree", "new.img", "--layout", "segregated") == 0
    assert cli("fsck", "yaffs2", "new.img", "--list") == 0
    assert "YAFFS2, segregated layout, raw image" in cli.output
    assert "1 metadata, 1 data" in cli.output
    assert "0 index pages, 0 void pages; 0 data pages newer than the index" in cli.output
    assert max(map(len, cli.output.splitlines())) <= 80
    assert any(line.endswith(" /f") for line in cli.output.splitlines())
    assert cli("fsck", "yaffs2", "new.img", "--json") == 0
    document = json.loads(cli.output)
    assert document["layout"] == "segregated"
    assert document["statistics"]["blocks_metadata"] == 1
    assert cli("mkfs", "yaffs2", "tree", "plain.img", "--layout", "original") == 0
    assert cli("fsck", "yaffs2", "plain.img", "--json") == 0
    document = json.loads(cli.output)
    assert "layout" not in document
    assert "blocks_metadata" not in document["statistics"]


def test_errors_name_the_next_step(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "f").write_bytes(bytes(1_000_000))
    assert cli("mkfs", "yaffs2", "tree", "new.img", "--partition-bytes", "512 KiB") == 2
    assert "next: at least --partition-bytes" in cli.error
    assert not (tmp_path / "new.img").exists()


def test_the_document_lists_every_rule_with_its_grade() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "yaffs2-tools.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (error|warning|note) \|", text, re.MULTILINE))
    assert rows == {rule.name: rule.severity.value for rule in RULES.values()}


@pytest.mark.parametrize("content", [b"", b"hello\n", bytes(300_000), b"text of a file\n" * 20_000])
def test_what_is_no_image_is_called_that(content: bytes, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert cli("fsck", "yaffs2", "file") == 1
    assert "it is probably not a YAFFS2 image" in cli.error
    assert "fsck --help" in cli.error


def test_an_image_and_erased_flash_are_not_called_that(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "erased").write_bytes(b"\xff" * 4 * 64 * 2112)
    assert cli("fsck", "yaffs2", "erased") == 0
    assert cli.error == ""
    log_image().write(tmp_path)
    cli("fsck", "yaffs2", "image", *GEOMETRY)
    assert cli.error == ""


def test_a_page_that_no_chip_has_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert cli("mkfs", "yaffs2", "tree", "made", "--page-bytes", "3000") == 2
    assert "pages of NAND flash are powers of two: 2048 or 4096" in cli.error
    assert not (tmp_path / "made").exists()
