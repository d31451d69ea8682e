"""The library `turns.c`, with which QEMU's threads take turns."""

from __future__ import annotations

from pathlib import Path

from ffslab.targets.compiled import compiled

TURNS_NAME = "turns.so"  # in a guest's directory
_SOURCE = Path(__file__).with_name("turns.c")
_COMPILE = ("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


def put_turns(directory: Path) -> None:
    """Links the library into a guest's directory; InfrastructureError if it cannot be compiled."""
    (directory / TURNS_NAME).symlink_to(compiled(_SOURCE, _COMPILE, TURNS_NAME))
