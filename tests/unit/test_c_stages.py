"""C tests build inside their clone, or in the user's cache: nowhere that another could prepare."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SOMEBODY = 12345  # a user who is not this one
# A small stage stands for all: they share tests/c_tests.mk.
STAGE = "kmod/flashmon/test"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone has of the stage."""
    copy = tmp_path / "clone"
    shutil.copytree(ROOT / "kmod" / "flashmon", copy / "kmod" / "flashmon")
    (copy / "tests").mkdir()
    for name in ("c_tests.mk", "build_directory.sh"):
        shutil.copy2(ROOT / "tests" / name, copy / "tests" / name)
    return copy


def make(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`make -s -C ... test` with an empty TMPDIR and a cache of its own, as from a shell."""
    temporary = clone.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(clone.parent / "cache"),
    }
    done = subprocess.run(
        ["make", "-C", str(clone / STAGE), *(words or ("-s", "test"))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not list(temporary.iterdir())
    return done


def programs(directory: Path) -> dict[str, int]:
    """The test programs below a directory, and when they were built."""
    return {path.name: path.stat().st_mtime_ns for path in directory.rglob("test_[a-z]*[a-z]")}


def test_it_builds_in_the_clone_and_only_what_changed(clone: Path) -> None:
    done = make(clone)
    assert done.returncode == 0, done.stderr
    assert "0 failed" in done.stdout
    first = programs(clone / "build")
    assert set(first) >= {"test_account", "test_live"}
    assert not (clone.parent / "cache").exists()
    assert make(clone).returncode == 0
    assert programs(clone / "build") == first
    header = clone / "kmod" / "flashmon" / "live_slots.h"
    header.write_text(header.read_text() + "#error reached\n")
    assert "#error reached" in make(clone).stderr


def test_a_moved_clone_looks_nowhere_else(clone: Path) -> None:
    assert make(clone).returncode == 0
    moved = clone.rename(clone.parent / "moved")
    assert make(moved).returncode == 0
    built = list((moved / "build").rglob("*.d"))
    assert built
    assert not [path for path in built if str(clone.parent) in path.read_text()]


def test_another_users_build_is_left_alone(clone: Path) -> None:
    """Root sees somebody else's directory, others a clone that they may not write to."""
    build = clone / "build"
    if os.geteuid() == 0:
        planted = build / "tests" / "flashmon" / "test_account"
        planted.parent.mkdir(parents=True)
        planted.write_text("#!/bin/sh\necho planted\n")
        planted.chmod(0o755)
        os.chown(build, SOMEBODY, SOMEBODY)
    else:
        clone.chmod(0o555)
    try:
        done = make(clone)
        assert done.returncode == 0, done.stderr
        assert "planted" not in done.stdout
        (entry,) = (clone.parent / "cache" / "ffslab" / "c-tests").iterdir()
        assert set(programs(entry)) >= {"test_account", "test_live"}
    finally:
        clone.chmod(0o755)


def test_a_failing_program_fails_the_stage(clone: Path) -> None:
    source = clone / STAGE / "test_live.c"
    source.write_text(source.read_text().replace("return failed ? 1 : 0;", "return 1;"))
    assert make(clone).returncode != 0
