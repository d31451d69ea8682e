"""The mutator of tests/lab/guest/fsfuzz, built for the host: it runs with sanitizers here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ffslab.lab.cache import locked
from ffslab.lab.progress import SilentProgress

SOURCE = Path(__file__).resolve().parents[1] / "lab" / "guest" / "fsfuzz"


def build_fsfuzz() -> Path:
    """The program, built where this clone's C tests are; tests of two processes may ask for it."""
    root = SOURCE.parents[3]
    where = [root / "tests" / "build_directory.sh", root]
    builds = subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()
    directory = Path(builds) / "fsfuzz"
    with locked(Path(f"{directory}.lock"), SilentProgress()):
        subprocess.run(["make", "-s", "-C", SOURCE, f"O={directory}", "SANITIZE=1"], check=True)
    return directory / "fsfuzz"


def call_fsfuzz(program: Path, *words: str, leaks: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs the program; the search for leaks takes longer than most of what it does."""
    environment = os.environ | {"ASAN_OPTIONS": f"detect_leaks={int(leaks)}"}
    return subprocess.run(
        [str(program), *words], capture_output=True, text=True, check=False, env=environment
    )
