"""The history of a kernel tree that the user names, searched by git's bisection.

The search is in a bare clone that shares the objects of the user's repository: nothing is checked
out, and the repository stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.process import CommandResult, run_command

_FOUND = re.compile(r"^([0-9a-f]{40,64}) is the first bad commit$", re.MULTILINE)
_ONLY_SKIPPED = 2  # git's exit code where only commits that cannot be tried are left
_ENVIRONMENT = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


class Word(StrEnum):
    """What is said of a commit."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Next:
    """What comes after an answer: a commit to try, or the first bad ones, of which all but one are
    there because they, or those around them, could not be tried.
    """

    commit: str = ""
    found: tuple[str, ...] = ()


class History:
    """A bisection in `clone`, of a repository."""

    def __init__(self, clone: Path) -> None:
        self._clone = clone

    def start(self, good: str, bad: str, paths: Sequence[str] = ()) -> Next:
        """Begins between two commits; `paths`: only commits that change these files.

        UsageError if none lies between them.
        """
        return self._next("start", bad, good, "--", *paths)

    def tell(self, commit: str, word: Word) -> Next:
        """Says what a commit is; the next one."""
        return self._next(word, commit)

    def between(self, good: str, bad: str, paths: Sequence[str] = ()) -> int:
        """How many commits `bad` has that `good` has not."""
        told = self._git("rev-list", "--count", bad, f"^{good}", "--", *paths)
        return int(told.output.strip() or 0)

    def subject(self, commit: str) -> str:
        """The first line of its message."""
        return self._git("show", "--no-patch", "--format=%s", commit).output.strip()

    def authored(self, commit: str) -> str:
        """Who wrote it, and when: "NAME, YYYY-MM-DD"."""
        return self._git("show", "--no-patch", "--format=%an, %as", commit).output.strip()

    def unpack(self, commit: str, tree: Path) -> None:
        """Makes a directory, which is empty or was unpacked before, the tree of a commit."""
        self._git(f"--work-tree={tree}", "read-tree", "--reset", "-u", commit)

    def _next(self, *words: str) -> Next:
        done = self._git("bisect", *words, check=False)
        first_bad = _FOUND.search(done.output)
        if first_bad is not None:
            return Next(found=(first_bad[1],))
        if done.returncode == _ONLY_SKIPPED:
            return Next(found=self._left())
        if done.returncode:
            raise UsageError(
                f"git finds no commit to try: {' '.join(done.output.split())[-300:]}",
                cause="the good commit is no ancestor of the bad one, or has the change already",
                remedy="other commits for --good and --bad",
            )
        return Next(self._git("rev-parse", "--verify", "BISECT_HEAD").output.strip())

    def _left(self) -> tuple[str, ...]:
        """The commits of which one is the first bad one, the oldest first."""
        good = self._git("for-each-ref", "--format=^%(refname)", "refs/bisect/good-*").output
        told = self._git("rev-list", "--reverse", "refs/bisect/bad", *good.split()).output
        return tuple(told.split())

    def _git(self, *words: str, check: bool = True) -> CommandResult:
        return _git(self._clone, *words, check=check)


def commit_of(repository: Path, revision: str) -> str:
    """The whole name of a commit; UsageError if there is none."""
    words = ("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    done = _git(repository, *words, check=False)
    if done.returncode:
        raise UsageError(
            f"{repository} has no commit {revision!r}",
            cause="a mistyped name, or a tag that was not fetched",
            remedy=f"git -C {repository} log --oneline",
        )
    return done.output.strip()


def open_history(repository: Path, clone: Path) -> History:
    """A history to search, by a `clone` to be made; UsageError if there is no git repository."""
    if _git(repository, "rev-parse", "--git-dir", check=False).returncode:
        raise UsageError(
            f"{repository} is no git repository",
            cause="an archive has no history" if repository.is_dir() else "a mistyped path",
            remedy="git clone the kernel's repository, and name its directory",
        )
    words = ("clone", "--quiet", "--bare", "--shared", str(repository.resolve()), str(clone))
    run_command(["git", *words], extra_env=_ENVIRONMENT)
    return History(clone)


def _git(directory: Path, *words: str, check: bool = True) -> CommandResult:
    done = run_command(["git", "-C", str(directory), *words], extra_env=_ENVIRONMENT, check=False)
    if check and done.returncode:
        raise InfrastructureError(
            f"git {words[0]} in {directory}: {' '.join(done.output.split())[-300:]}",
            cause="the repository lacks objects, or changed meanwhile",
            remedy=f"git -C {directory} fsck",
        )
    return done
