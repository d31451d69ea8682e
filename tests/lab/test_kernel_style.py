"""The file systems' sources are in the kernel's style: its checkpatch finds nothing in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lab_support import ROOT

from ffslab.lab import ensure_lab

KMOD = ROOT / "kmod"
# zlib's functions in the kernel have such names.
WORDS = ("--strict", "--no-tree", "--terse", "--ignore", "CAMELCASE", "--file")


def said_of(sources: list[Path]) -> list[str]:
    script = ensure_lab("default").kernel.parent / "src/scripts/checkpatch.pl"
    done = subprocess.run(
        ["perl", script, *WORDS, *sources], capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if not line.startswith("total: ")]


@pytest.mark.parametrize("module", ["yaffs", "logfs"])
def test_file_systems_are_in_the_kernels_style(module: str) -> None:
    found = [path for path in (KMOD / module).rglob("*.[ch]") if not path.name.endswith(".mod.c")]
    sources = [path for path in found if path.parent.name != "test"]
    assert len(sources) > 15
    assert said_of([KMOD / "flashfs.h", *sorted(sources)]) == []


def test_a_fault_of_style_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text(
        "// SPDX-License-Identifier: GPL-2.0-only\nint two(void)\n{\n  return 2;\n}\n"
    )
    told = said_of([source])
    assert told
    assert all(line.startswith(f"{source}:4: ") for line in told)
