"""What a catalog file may have a case mount."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffslab.errors import SpecError
from ffslab.loader import load_catalog
from ffslab.model.mountable import ELSEWHERE, ON_FLASH

ENTRY = """
schema = 1
name = "mine"
title = "A file system of somebody's catalog"
type = "{type}"
source = "none"
min_blocks = 2
{further}
"""
OPTIONS = """
[image]
tool = "squashfs"
[options.x]
default = "y"
[options.x.values]
y = {{ image_options = {words} }}
"""


def load(tmp_path: Path, name: str, further: str = "") -> str:
    """The type that the catalog then has."""
    entry = tmp_path / "filesystems" / "mine.toml"
    entry.parent.mkdir(exist_ok=True)
    entry.write_text(ENTRY.format(type=name, further=further))
    return load_catalog([tmp_path]).filesystem("mine").type


def test_every_shipped_file_system_is_on_flash() -> None:
    entries = load_catalog().filesystems.values()
    assert {entry.type for entry in entries if entry.is_mounted} <= ON_FLASH
    assert [entry.name for entry in entries if not entry.is_mounted] == ["mtd"]
    assert not ON_FLASH & ELSEWHERE


@pytest.mark.parametrize("modules", ["", 'modules = ["yaffs"]'])
@pytest.mark.parametrize("name", ["hostfs", "tmpfs", "proc", "nfs", "overlay", "devtmpfs"])
def test_what_is_not_on_flash_is_refused(tmp_path: Path, name: str, modules: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, name, modules)
    text = str(caught.value)
    assert f"type '{name}' is not a file system for flash" in text
    assert ("directories of this computer" in text) == (name == "hostfs")
    assert "likely cause: " in text and "next: type = one of: " in text


@pytest.mark.parametrize("name", ["romfs", "ubifs", "f2fs"])
def test_linux_file_systems_for_flash_need_no_module(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name) == name


def test_a_module_brings_a_type(tmp_path: Path) -> None:
    assert load(tmp_path, "my_fs", 'modules = ["my_fs"]') == "my_fs"
    with pytest.raises(SpecError, match=r"modules = \[\"NAME\"\] if a module brings it"):
        load(tmp_path, "my_fs")
    with pytest.raises(SpecError, match="did you mean 'ubifs'"):
        load(tmp_path, "ubif")


@pytest.mark.parametrize("name", ["fuse.hostfs", "hostfs ", "", "a,b", "../x"])
def test_a_module_brings_no_name_that_the_kernel_takes_apart(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match="Linux has no file system"):
        load(tmp_path, name, 'modules = ["yaffs"]')


@pytest.mark.parametrize("word", ["-p", "-pf"])
def test_no_image_option_runs_commands(tmp_path: Path, word: str) -> None:
    with pytest.raises(SpecError, match=f"image_options has '{word}'"):
        load(tmp_path, "squashfs", OPTIONS.format(words=f'["{word}", "/tree/x"]'))
    assert load(tmp_path, "squashfs", OPTIONS.format(words='["-comp", "xz"]')) == "squashfs"
