"""git in a repository that a test made, under a name of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(repository: Path, *words: str) -> str:
    """What git prints; CalledProcessError if it fails."""
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    command = ["git", "-C", repository, *named, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
