"""`ffslab test`: what it gives the processes that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ffslab.cli.app import main
from ffslab.paths import cache_dir


def test_tests_keep_what_they_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all of ffslab is compiled anew in each process; the sources are left alone."""
    given: list[Mapping[str, str]] = []

    def run(
        command: Sequence[str], *, env: Mapping[str, str], **_: Any
    ) -> subprocess.CompletedProcess[str]:
        given.append(env)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    expected = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    expected["PYTHONPYCACHEPREFIX"] = str(cache_dir() / "bytecode")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["ffslab", "test", "--quick", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert given == [expected]
