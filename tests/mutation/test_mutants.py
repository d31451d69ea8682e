"""Mistakes planted in what computes and judges results are noticed by its tests.

Not part of `ffslab test`. The nightly part is a sample; FFSLAB_MUTANTS chooses others, in the words
of __main__.py, and FFSLAB_MUTANTS_SEED another sample:

    FFSLAB_NIGHTLY=1 ./ffslab test --quick tests/mutation -s
    FFSLAB_MUTANTS=all ./ffslab test --quick tests/mutation -s
    FFSLAB_MUTANTS='results/metrics.py compare/' ./ffslab test --quick tests/mutation -s
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SAMPLE = 300


def test_mistakes_are_noticed() -> None:
    words = os.environ.get("FFSLAB_MUTANTS", "").split()
    if os.environ.get("FFSLAB_NIGHTLY", "") not in ("", "0"):
        words = words or ["sample", str(SAMPLE), os.environ.get("FFSLAB_MUTANTS_SEED", "1")]
    if not words:
        pytest.skip("FFSLAB_NIGHTLY=1 runs a sample, FFSLAB_MUTANTS=all every mutant")
    command = [sys.executable, str(HERE), *words]
    assert subprocess.run(command, cwd=HERE.parents[1]).returncode == 0, " ".join(command)
