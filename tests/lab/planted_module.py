"""Copies of our modules with lines of them changed, as file systems out of the tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from ffslab.paths import data_dir

MODULES = {"yaffs2": "yaffs", "yaffs2-improved": "yaffs", "logfs": "logfs"}
SHARED = ("portable.h", "compat.h", "flashfs.h", "invariant.h")

Change = tuple[str, str, str]  # file, text, what for it


def apply_changes(directory: Path, changes: Iterable[Change]) -> None:
    """Makes the changes in files of a directory, each of which has the text once."""
    for name, text, other in changes:
        path = directory / name
        source = path.read_text()
        assert source.count(text) == 1, (name, text)
        path.write_text(source.replace(text, other))


def catalog_of_changed(
    filesystem: str, changes: Iterable[Change], directory: Path, more: str = ""
) -> Path:
    """A catalog with FILESYSTEM-planted, whose module is changed; `more`: of its description."""
    module = MODULES[filesystem]
    copy = directory / module
    kmod = data_dir("kmod")
    shutil.copytree(kmod / module, copy, ignore=shutil.ignore_patterns("test"))
    # What it shares with others of ours lies beside it; a user's directory has all in it.
    for shared in SHARED:
        shutil.copy(kmod / shared, copy)
    for path in copy.rglob("*.[ch]"):
        text = path.read_text(encoding="utf-8")
        for shared in SHARED:
            text = text.replace(f'"../../{shared}"', f'"../{shared}"')
        path.write_text(text, encoding="utf-8")
    apply_changes(copy, changes)
    described = (data_dir("catalog") / "filesystems" / f"{filesystem}.toml").read_text()
    described = described.replace(f'name = "{filesystem}"', f'name = "{filesystem}-planted"', 1)
    described += f'{more}\n[module_source]\ndirectory = "../../{module}"\n'
    catalog = directory / "catalog" / "filesystems"
    catalog.mkdir(parents=True)
    (catalog / f"{filesystem}-planted.toml").write_text(described)
    return catalog.parent
