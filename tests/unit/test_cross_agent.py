"""Which compiler makes the agent for a board, and what is said if none does."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from ffslab.errors import InfrastructureError
from ffslab.lab.cross import AGENT_ARCHITECTURES, ensure_agent
from ffslab.lab.progress import SilentProgress


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer without cross compilers."""
    monkeypatch.setattr(shutil, "which", lambda *_arguments, **_words: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("architecture", AGENT_ARCHITECTURES)
def test_without_a_compiler_it_is_said_what_to_install(architecture: str) -> None:
    with pytest.raises(InfrastructureError, match=f"make the agent for {architecture}") as caught:
        ensure_agent(architecture, "", SilentProgress())
    assert "apt-get install gcc-" in caught.value.remedy
    assert "-cross" in caught.value.remedy
    # Zig has none for ARMv5, and must not be recommended.
    assert ("ziglang" in caught.value.remedy) is (architecture != "armv5te")


@pytest.mark.usefixtures("bare")
def test_a_compiler_of_the_users_that_is_not_there() -> None:
    with pytest.raises(InfrastructureError, match="compiler my-board-gcc is missing"):
        ensure_agent("", "my-board-", SilentProgress())


@pytest.mark.usefixtures("bare")
def test_for_this_computer_its_own_compiler_is_taken() -> None:
    with pytest.raises(InfrastructureError, match="the compiler gcc is missing"):
        ensure_agent("", "", SilentProgress())
