"""The program `launcher.c`, which becomes a guest."""

from __future__ import annotations

from pathlib import Path

from ffslab.targets.compiled import compiled

_SOURCE = Path(__file__).with_name("launcher.c")
# Static, with musl as the agent is: it starts in a third of the time of one with shared libraries.
_COMPILE = ("musl-gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s")


def launcher() -> Path:
    """The program; InfrastructureError if it cannot be compiled."""
    return compiled(_SOURCE, _COMPILE, "launcher")
