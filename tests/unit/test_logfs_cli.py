"""The verbs fsck and mkfs with LogFS: what they print, what they refuse, and the document."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from logfs_support import Image, make, usual_tree
from test_yaffs2_cli import Cli, cli

from ffslab.logfs.problems import RULES

__all__ = ["cli"]  # the fixture

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "logfs-tools.md"


def test_the_document_lists_every_rule_with_its_grade() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (error|warning|note) \| (.*) \|", text, re.MULTILINE)
    listed = {name: (grade, words) for name, grade, words in rows}
    assert listed == {rule.name: (rule.severity.value, rule.text) for rule in RULES.values()}


def test_the_document_s_example(cli: Cli, tmp_path: Path) -> None:
    """What the two commands print with the tree of the document."""
    top = tmp_path / "rootfs"
    (top / "bin").mkdir(parents=True)
    (top / "etc").mkdir()
    (top / "bin/busybox").write_bytes(bytes(700_000))
    (top / "bin/busybox").chmod(0o755)
    os.link(top / "bin/busybox", top / "bin/sh")
    (top / "etc/init").symlink_to("../bin/busybox")
    (top / "etc/passwd").write_bytes(b"root:x:0:0:root:/root\n")
    for path in (top / "bin", top / "etc", top):
        path.chmod(0o755)
    words = ("--partition-bytes", "16 MiB", "--squash-owners", "--fixed-time", "1750000000")
    assert cli("mkfs", "logfs", "rootfs", "rootfs.img", *words) == 0
    output = cli.output
    assert cli("fsck", "logfs", "rootfs.img", "--list") == 0
    output += cli.output
    example = DOCUMENT.read_text(encoding="utf-8").split("```")[3].strip("\n").splitlines()
    shown = output.strip("\n").splitlines()
    # The command is called by another path here.
    assert [line for line in shown if "check it" not in line] == [
        line for line in example if "check it" not in line
    ]


def test_errors_give_code_1_and_their_places(cli: Cli, tmp_path: Path) -> None:
    image = Image(make(tmp_path, usual_tree))
    image.change_dentry("pipe", kind=8)
    image.check()
    assert cli("fsck", "logfs", "image") == 1
    assert re.search(r"error: dentry-type: offset 0x\w+ inode 2 block \d+ pipe: type 8", cli.output)
    assert max(map(len, cli.output.splitlines())) <= 80


def test_json_is_for_programs(cli: Cli, tmp_path: Path) -> None:
    image = Image(make(tmp_path, usual_tree))
    image.inode(image.ino("leaf"), used_bytes=1)
    image.check()
    assert cli("fsck", "logfs", "image", "--json", "--list") == 1
    document = json.loads(cli.output)
    assert document["errors"] == 1
    (problem,) = document["findings"]
    assert (problem["rule"], problem["ino"]) == ("inode-used", image.ino("leaf"))
    assert document["geometry"]["segment_bytes"] == 131_072
    paths = {node["path"]: node for node in document["tree"]}
    assert paths["/file"]["link_of"] == "/dir/link"
    assert paths["/sym"]["target"] == "dir/deep"


def test_what_is_no_image_is_called_that(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text\n" * 1000)
    assert cli("fsck", "logfs", "file") == 1
    assert "it is probably not a LogFS image" in cli.error
    assert cli("fsck", "logfs", "missing") == 2


@pytest.mark.parametrize(
    "words",
    [
        ("fsck", "logfs", "image", "--oob-offset", "2"),
        ("fsck", "logfs", "image", "--inband"),
        ("fsck", "logfs", "image", "--no-tags-ecc"),
        ("mkfs", "logfs", "image.tree", "new", "--partition-bytes", "8 MiB", "--inband"),
        ("mkfs", "logfs", "image.tree", "new", "--partition-bytes", "8 MiB", "--checkpoint"),
        ("mkfs", "yaffs2", "image.tree", "new", "--compress"),
        ("mkfs", "yaffs2", "image.tree", "new", "--bad-block", "3"),
    ],
)
def test_options_of_the_other_file_system_are_refused(
    words: tuple[str, ...], cli: Cli, tmp_path: Path
) -> None:
    make(tmp_path)
    assert cli(*words) == 2
    assert "is not for" in cli.error


def test_the_size_of_the_partition_is_needed(cli: Cli, tmp_path: Path) -> None:
    make(tmp_path)
    assert cli("mkfs", "logfs", "image.tree", "new") == 2
    assert "--partition-bytes SIZE" in cli.error


def test_bad_blocks_and_oob_are_options(cli: Cli, tmp_path: Path) -> None:
    make(tmp_path, usual_tree)
    words = ("--partition-bytes", "8 MiB", "--oob-bytes", "64", "--bad-block", "0", "--bad-block")
    assert cli("mkfs", "logfs", "image.tree", "new", *words, "5", "--compress") == 0
    assert cli("fsck", "logfs", "new", "--json") == 0
    document = json.loads(cli.output)
    assert document["statistics"]["segments_bad"] == 2
    assert document["geometry"]["oob_bytes"] == 64
