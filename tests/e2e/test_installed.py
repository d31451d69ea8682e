"""ffslab as a package, without a checkout: built, installed and used in an empty directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel of the committed files was installed; its dependencies are the tests'."""
    folder = tmp_path_factory.mktemp("installed")
    clone, tools, wheels, there = (folder / name for name in ("clone", "tools", "wheels", "there"))
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(tools)], check=True)
    pip = [str(tools / "bin" / "pip"), "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(wheels), str(clone)], check=True)
    (wheel,) = wheels.glob("*.whl")
    target = ["--no-deps", "--target", str(there), str(wheel)]
    subprocess.run([*pip, "install", *target], check=True)
    return there


def run(installed: Path, directory: Path, words: str) -> str:
    """`ffslab WORDS` of the installed package."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ffslab", *words.split()],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_the_first_command_runs_without_a_checkout(installed: Path, tmp_path: Path) -> None:
    assert not (installed / "studies").exists()  # what is shipped is within the package
    output = run(installed, tmp_path, "run quick")
    assert "4 of 4 cases: 4 pass" in output
    report = re.search(r"^report: (\S+)$", output, re.MULTILINE)
    assert report and (tmp_path / report[1]).is_file()


def test_the_commands_of_the_readme_find_what_they_name(installed: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(
        r"^\| .* \| `\./ffslab ((?:run|advise) [^`]+)` \| [\d,]+ \|$", text, re.MULTILINE
    )
    assert len(commands) > 12
    for command in commands:
        assert " cases" in run(installed, tmp_path, f"{command} --dry-run"), command
