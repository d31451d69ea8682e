"""Runs the command line in the process of a test, with a target without a kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from host_support import STUDY, FakeSite, FakeTarget

import ffslab.targets.uml.site
from ffslab.cli.app import main


class Result:
    """How a command ended."""

    def __init__(self, code: int, output: str, error: str) -> None:
        self.code = code
        self.output = output
        self.error = error


class Command:
    """Runs `ffslab` in this process, in a directory of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.target = FakeTarget()

    def __call__(self, *arguments: str) -> Result:
        self._monkeypatch.setattr(sys, "argv", ["ffslab", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err
        return Result(code, captured.out, captured.err)


@pytest.fixture
def ffslab_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(STUDY)
    command = Command(monkeypatch, capsys)
    monkeypatch.setattr(ffslab.targets.uml.site, "site_for", lambda *_: FakeSite(command.target))
    return command
