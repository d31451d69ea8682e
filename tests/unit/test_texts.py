"""Texts and names that a terminal, a line or UTF-8 does not have: nothing ends in an error."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from host_support import FakeSite, FakeTarget, SilentProgress
from result_support import stub

from ffslab.campaign.done import PoolOptions
from ffslab.campaign.run import RunEnd, RunRequest, execute, prepare
from ffslab.errors import SpecError
from ffslab.lab.cache import hash_files, hash_texts
from ffslab.model.canonical import canonical_json, sha256_hex
from ffslab.results.console import last_lines
from ffslab.results.files import disk_error, read_json_as, read_json_lines, write_atomic
from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory
from ffslab.results.store import export_tables, open_store
from ffslab.visible_text import without_surrogates

SOURCE = Path(__file__).resolve().parents[2] / "src"
SEPARATORS = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
NOT_UTF8 = os.fsdecode(b"\xff\xfe")
NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
STUDY = """
schema = 1
name = "odd"
title = "Title\u2028with\u2029separators\u0085 and µ €"
description = "Text\u2028with\u2029separators\u0085 and µ €"
[base]
board = "apf27"
partition_bytes = "16 MiB"
[axes]
filesystem = ["jffs2", "ubifs"]
"""
ASCII = {
    "LANG": "C",
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}
UTF8 = {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}


def test_lines_of_json_end_where_they_end(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    values = [stub(CaseResult, id=SEPARATORS, v=number) for number in range(3)]
    write_atomic(path, "".join(canonical_json(value) + "\n" for value in values))
    assert list(read_json_lines(path, CaseResult)) == values
    write_atomic(path, "")
    assert list(read_json_lines(path, CaseResult)) == []


def test_names_that_are_no_utf8_are_read_as_they_were_written(tmp_path: Path) -> None:
    value = stub(CaseResult, id=NOT_UTF8, path=f"/x/{NOT_UTF8}ü")
    path = tmp_path / "manifest.json"
    write_atomic(path, json.dumps(value, ensure_ascii=False))
    path.read_bytes().decode("utf-8")
    assert read_json_as(path, CaseResult) == value
    write_atomic(path, canonical_json(value) + "\n")
    assert list(read_json_lines(path, CaseResult)) == [value]
    assert without_surrogates(NOT_UTF8) == r"\udcff\udcfe"


def test_hashes_of_such_names_differ(tmp_path: Path) -> None:
    other = os.fsdecode(b"\xff\xfd")
    assert sha256_hex(NOT_UTF8) != sha256_hex(other)
    assert hash_texts([NOT_UTF8]) != hash_texts([other])
    hashes = set()
    for name in (NOT_UTF8, other):
        directory = tmp_path / f"tree{len(hashes)}"
        directory.mkdir()
        (directory / name).touch()
        hashes.add(hash_files(directory, directory.iterdir()))
    assert len(hashes) == 2


def test_a_consoles_line_is_one_even_with_such_characters() -> None:
    assert len(last_lines(f"one {SEPARATORS}\ntwo\n")) == 2


@pytest.fixture
def run(tmp_path: Path) -> RunEnd:
    """A run whose study, file and directory have all of them in their names or texts."""
    study = tmp_path / f"st{NOT_UTF8}.toml"
    study.write_text(STUDY, encoding="utf-8")
    request = RunRequest(
        prepare(str(study)),
        PoolOptions(2, 60),
        f"ffslab run {study}",
        tmp_path / f"out{NOT_UTF8}",
    )
    return execute(request, FakeSite(FakeTarget()), SilentProgress(), lambda: NOW)


# Each command in a process of its own, forked from one that has loaded everything.
DRIVER = """
import importlib, os, pkgutil, sys
import duckdb, ffslab, vl_convert

for module in pkgutil.walk_packages(ffslab.__path__, "ffslab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
with open("commands", "rb") as file:
    commands = [os.fsdecode(line).split("\\0") for line in file.read().split(b"\\n")]
for number, words in enumerate(commands):
    pid = os.fork()
    if pid == 0:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT), stream)
        sys.argv = ["ffslab", *words]
        status = 0
        try:
            ffslab.cli.app.main()
        except SystemExit as end:
            status = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # without the teardown of all that was loaded
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(f"{number}.status", "w") as file:
        file.write(str(status))
"""


def each_done(
    directory: Path, environment: Mapping[str, str], commands: Sequence[Sequence[str | Path]]
) -> list[subprocess.CompletedProcess[bytes]]:
    """What becomes of commands one after the other; `directory` is for their output."""
    directory.mkdir()
    lines = [b"\0".join(map(os.fsencode, words)) for words in commands]
    (directory / "commands").write_bytes(b"\n".join(lines))
    subprocess.run(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        cwd=directory,
        check=True,
    )
    return [
        subprocess.CompletedProcess(
            words,
            int((directory / f"{number}.status").read_text()),
            (directory / f"{number}.stdout").read_bytes(),
            (directory / f"{number}.stderr").read_bytes(),
        )
        for number, words in enumerate(commands)
    ]


def ffslab(
    environment: Mapping[str, str], *words: str | Path
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "ffslab", *map(os.fsencode, words)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("environment", [ASCII, UTF8], ids=["ascii", "utf-8"])
def test_every_verb_prints_such_names_and_texts(
    run: RunEnd, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    directory = run.run.path
    verbs: list[tuple[str | Path, ...]] = [
        ("list", "runs", "--output", directory.parent),
        ("list", "studies"),
        ("show", directory),
        ("show", directory, "ubifs-s1"),
        ("report", directory),
        *(("export", directory, "--format", kind) for kind in ("json", "parquet")),
        ("export", directory, "--format", "csv", "--output", tmp_path / f"ex{NOT_UTF8}"),
        ("run", tmp_path / f"st{NOT_UTF8}.toml", "--dry-run"),
        ("schema", "study"),
    ]
    mistakes: list[tuple[str | Path, ...]] = [
        ("show", directory, "absent"),
        ("trace", directory, "ubifs-s1"),
        ("run", tmp_path / f"absent{NOT_UTF8}"),
        ("image", tmp_path / f"absent{NOT_UTF8}"),
        ("fsck", "yaffs2", tmp_path / f"absent{NOT_UTF8}"),
        ("mkfs", "yaffs2", tmp_path / f"absent{NOT_UTF8}", tmp_path / "image"),
    ]
    ends = each_done(tmp_path / "done", environment, [*verbs, *mistakes])
    for words, done in zip(verbs, ends, strict=False):
        assert done.returncode == 0, (words, done.stderr)
        if environment is ASCII and words[0] != "schema":
            done.stdout.replace(b"\xff", b"").replace(b"\xfe", b"").decode("ascii")
        if environment is UTF8 and words[0] == "report":
            assert os.fsencode(directory / "report.html") in done.stdout
    for words, done in zip(mistakes, ends[len(verbs) :], strict=True):
        assert done.returncode in (2, 3), (words, done.stderr)
        assert b"next:" in done.stderr and b"internal error" not in done.stderr, done.stderr


@pytest.mark.slow
def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    verbs = [
        ("run", "s" * 300),
        ("show", "s" * 300),
        ("report", "s" * 5000),
        ("list", "runs", "--output", "s" * 300),
        ("run", "quick", "--dry-run", "--catalog", "s" * 300),
    ]
    for words, done in zip(verbs, each_done(tmp_path / "done", UTF8, verbs), strict=True):
        assert done.returncode == 2, (words, done.stderr)
        assert done.stderr.startswith(b"ffslab: a name or a path is too long: ")
        assert b"255 bytes" in done.stderr and len(done.stderr) < 700


def test_names_of_a_study_that_make_no_directory_are_refused(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace('name = "odd"', f'name = "{"a" * 201}"'))
    with pytest.raises(SpecError, match="name: String should have at most 200 characters"):
        prepare(str(study))
    states = f'["free", {{ name = "{"s" * 80}" }}]'
    part = f'[[part]]\nname = "{"p" * 180}"\n[part.axes]\nstate = {states}\n'
    study.write_text(STUDY + part)
    with pytest.raises(SpecError, match="the name of a case is too long") as caught:
        prepare(str(study))
    assert "a shorter name of the part" in caught.value.remedy


def test_what_the_disk_refuses_is_told_by_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "file"
    full = disk_error(OSError(errno.ENOSPC, "No space left on device"), path)
    assert full.cause == f"the disk is full (df {tmp_path})"
    denied = disk_error(PermissionError(errno.EACCES, "Permission denied"), path)
    assert "no right" in denied.cause and "free" not in denied.remedy
    long = disk_error(OSError(errno.ENAMETOOLONG, "File name too long"), path)
    assert "255 bytes" in long.cause and "shorter" in long.remedy


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_of_a_run_whose_name_is_no_utf8(run: RunEnd, tmp_path: Path, kind: str) -> None:
    renamed = RunDirectory(run.run.path.rename(tmp_path / f"run{NOT_UTF8}"))
    tables = export_tables(renamed, tmp_path / f"ex{NOT_UTF8}", kind)
    assert all(table.is_file() for table in tables)
    with open_store([renamed]) as store:
        assert store.execute("SELECT DISTINCT run FROM phases").fetchall() == [
            (r"run\udcff\udcfe",)
        ]


def test_an_ascii_terminal_gets_characters_alike(run: RunEnd) -> None:
    shown = ffslab(ASCII, "show", run.run.path).stdout
    assert rb"Title\u2028with\u2029separators\x85 and u \u20ac" in shown
