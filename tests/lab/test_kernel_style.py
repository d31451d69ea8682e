"""Our file systems and fixes are in the kernel's style: its checkpatch finds nothing in them.

A fix has no sign-off: that is of the person who sends it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lab_support import ROOT

from ffslab.lab import ensure_lab

KMOD = ROOT / "kmod"
FIXES = ROOT / "kernel" / "fixes"
# zlib's functions in the kernel have such names.
SOURCES = ("--ignore", "CAMELCASE", "--file")
PATCHES = ("--ignore", "MISSING_SIGN_OFF")


def said_of(sources: list[Path], words: tuple[str, ...] = SOURCES) -> list[str]:
    script = ensure_lab("default").kernel.parent / "src/scripts/checkpatch.pl"
    command = ["perl", script, "--strict", "--no-tree", "--terse", *words, *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if not line.startswith("total: ")]


@pytest.mark.parametrize("module", ["yaffs", "logfs"])
def test_file_systems_are_in_the_kernels_style(module: str) -> None:
    found = [path for path in (KMOD / module).rglob("*.[ch]") if not path.name.endswith(".mod.c")]
    sources = [path for path in found if path.parent.name != "test"]
    assert len(sources) > 15
    assert said_of([KMOD / "flashfs.h", *sorted(sources)]) == []


def test_fixes_are_in_the_kernels_style(tmp_path: Path) -> None:
    """It takes what a repository has for a source; so the patches are copied."""
    fixes = [Path(shutil.copy(path, tmp_path)) for path in FIXES.glob("*.patch")]
    assert len(fixes) >= 10
    assert said_of(sorted(fixes), PATCHES) == []
    damaged = tmp_path / "0000-spaces.patch"
    damaged.write_text(fixes[0].read_text(encoding="utf-8").replace("\n+\t", "\n+    "))
    assert said_of([damaged], PATCHES)


def test_a_fault_of_style_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text(
        "// SPDX-License-Identifier: GPL-2.0-only\nint two(void)\n{\n  return 2;\n}\n"
    )
    told = said_of([source])
    assert told
    assert all(line.startswith(f"{source}:4: ") for line in told)
