"""Fixtures of several files of unit tests."""

from __future__ import annotations

from cli_support import ffslab_command

__all__ = ["ffslab_command"]
