"""What nobody can know after a call that failed half way, and how long that is so."""

from __future__ import annotations

import pytest
from judge_support import ROOT_LINKS, file, problems

from ffslab.oracle.contents import pattern

B = "file b 0 1 21 0 -"
IO_ERROR = 5


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_a_doubt_goes_with_the_directory_that_is_renamed(filesystem: str) -> None:
    """Whether x was deleted nobody knows, under whatever name its directory is found."""
    history = "mkdir d\ncreate d/x\ncreate d/y\nsync\nunlink d/x\nrename d e\n"

    def found(then: str, *entries: str, count: int = 1) -> list[tuple[str, str]]:
        failed = {4: IO_ERROR}
        return problems(filesystem, history + then, *entries, directories=count, failed=failed)

    def directory(name: str, *files: str) -> tuple[str, ...]:
        links = 1 if filesystem == "logfs" else 2
        inodes = {"x": 11, "y": 12}
        inside = (file(b"", path=f"{name}/{one}", inode=inodes[one]) for one in files)
        return (f"dir {name} {links} 9 0", *inside)

    for files in ("xy", "y"):
        assert found("sync\ncreate b\n", *directory("e", *files)) == []
        assert found("", *directory("d", *files)) == []
    assert found("sync\ncreate b\n", *directory("e", "x")) == [("name-lost", "e/y")]
    both = (*directory("d", "y"), *directory("e", "y"))
    assert found("sync\ncreate b\n", *both, count=2) != []
    # While it is renamed, too: a directory with two names is F-JFFS2-21.
    assert found("", *both, count=2) == [("not-atomic", "e")]
    for files in ("xy", "y"):  # and with the next name
        assert found("rename e f\nsync\ncreate b\n", *directory("f", *files)) == []


@pytest.mark.parametrize("filesystem", ROOT_LINKS)
def test_what_a_write_that_failed_left_may_be_there_until_all_of_it_goes(filesystem: str) -> None:
    """Operation 2 failed half way; whatever it left, the next write covers only a part of it."""
    history = "write a 0 1024 1\nsync\nwrite a 0 1024 3\nwrite a 512 512 5\nsync\n"
    one, other, last = pattern(1, 0, 512), pattern(3, 0, 512), pattern(5, 512, 512)

    def found(then: str, data: bytes) -> list[tuple[str, str]]:
        return problems(
            filesystem, f"{history}{then}create b\n", file(data), B, failed={2: IO_ERROR}
        )

    for begin in (one, other, other[:100] + one[100:]):
        assert found("", begin + last) == []
    emptied = "truncate a 0\nwrite a 0 512 7\nsync\n"
    assert found(emptied, pattern(7, 0, 512)) == []
    assert found(emptied, other) != []
