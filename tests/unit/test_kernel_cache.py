"""Cache entries: names, locks, and what an interruption leaves behind."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ffslab.errors import InfrastructureError
from ffslab.lab.cache import (
    built_identity,
    cache_root,
    hash_files,
    hash_texts,
    is_complete,
    locked,
    make_directory,
    replace_directory,
    scratch_directory,
    write_stamp,
)
from ffslab.lab.progress import SilentProgress


def test_the_cache_follows_the_xdg_variable() -> None:
    assert cache_root({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/ffslab")
    assert cache_root({}) == Path.home() / ".cache" / "ffslab"


def test_hashes_see_the_boundary_between_texts() -> None:
    assert hash_texts(["ab", "c"]) != hash_texts(["a", "bc"])
    assert hash_texts(["ab", "c"]) == hash_texts(iter(["ab", "c"]))


def test_a_hash_of_files_sees_names_and_contents_but_not_their_place(tmp_path: Path) -> None:
    hashes = []
    for directory, name, text in [
        ("a", "x", "1"),
        ("b", "x", "1"),
        ("c", "y", "1"),
        ("d", "x", "2"),
    ]:
        root = tmp_path / directory
        root.mkdir()
        (root / name).write_text(text)
        hashes.append(hash_files(root, root.iterdir()))
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_an_entry_is_complete_only_with_its_stamp(tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    scratch = scratch_directory(tmp_path)
    (scratch / "file").write_text("new")
    assert not is_complete(entry)
    write_stamp(scratch, {"from": "a test"})
    make_directory(entry)
    replace_directory(scratch, entry)
    assert is_complete(entry)
    assert not scratch.exists()


def test_other_bytes_of_the_same_inputs_are_another_identity(tmp_path: Path) -> None:
    """Another assembler or C library made them; the name of the entry does not say so."""
    identities = []
    for text, name in (("one", "agent"), ("one", "agent"), ("two", "agent"), ("one", "other")):
        (tmp_path / name).write_text(text)
        write_stamp(tmp_path, {"from": "the same"}, [tmp_path / name])
        identities.append(built_identity(tmp_path))
    assert identities[0] == identities[1]
    assert len(set(identities)) == 3


def test_a_stamp_without_an_identity_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    write_stamp(tmp_path, {"from": "a test"})
    with pytest.raises(InfrastructureError, match="cannot be read") as caught:
        built_identity(tmp_path)
    assert f"rm -r {tmp_path}" in str(caught.value)


def test_leftovers_of_an_interrupted_run_are_removed(tmp_path: Path) -> None:
    (tmp_path / "tmp-1").mkdir()
    (tmp_path / "tmp-1" / "half").write_text("written")
    (tmp_path / "kept").mkdir()
    scratch = scratch_directory(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["kept", scratch.name])


def test_a_child_that_inherits_the_lock_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, SilentProgress()) as lock:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(lock,))
    take = "import fcntl, sys; fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    attempt = [sys.executable, "-c", take, str(path)]
    assert subprocess.run(attempt, capture_output=True, check=False).returncode != 0
    child.kill()
    child.wait()
    assert subprocess.run(attempt, capture_output=True, check=False).returncode == 0


class Notes(SilentProgress):
    """Keeps what the user would be told, and says when there is something."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.told = threading.Event()

    def note(self, text: str) -> None:
        self.texts.append(text)
        self.told.set()


HOLD = """
import sys
from pathlib import Path
from ffslab.lab.cache import locked
from ffslab.lab.progress import SilentProgress
with locked(Path(sys.argv[1]), SilentProgress()):
    print("held", flush=True)
    sys.stdin.read()
"""


def wait_for_lock(path: Path, notes: Notes) -> threading.Thread:
    """A thread that takes and leaves the lock, when it has been told that it must wait."""

    def take() -> None:
        with locked(path, notes):
            pass

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    assert notes.told.wait(30)
    return thread


def test_who_waits_is_told_who_holds_the_lock_and_since_when(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    began = time.time()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        notes = Notes()
        thread = wait_for_lock(path, notes)
        holder.communicate("")
    thread.join(30)
    assert not thread.is_alive()
    (text,) = notes.texts
    assert f"process {holder.pid} (" in text and str(path) in text
    found = re.search(r"since (\d+-\d+-\d+ \d+:\d+:\d+) \((\d+) s ago\)", text)
    assert found
    since_s = time.mktime(time.strptime(found[1], "%Y-%m-%d %H:%M:%S"))
    assert int(began) <= since_s <= time.time()
    assert path.read_text() == ""


def test_a_holder_that_is_gone_and_one_in_this_process_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    notes = Notes()
    with locked(path, SilentProgress()):
        thread = wait_for_lock(path, notes)
    thread.join(30)
    assert "another thread of this process" in notes.texts[0]
    gone = Notes()
    ended = subprocess.Popen(["true"])
    ended.wait()
    with locked(path, SilentProgress()):
        path.write_text(json.dumps({"pid": ended.pid, "since_s": 0}))
        thread = wait_for_lock(path, gone)
    thread.join(30)
    assert f"process {ended.pid} left running" in gone.texts[0]


def test_a_cache_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError) as caught:
        make_directory(tmp_path / "file" / "ffslab")
    assert "XDG_CACHE_HOME" in caught.value.remedy
