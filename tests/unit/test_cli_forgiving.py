"""What the command line takes beside what it must, and how it answers what it cannot take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Command, ffslab_command
from host_support import STUDY
from typer.testing import CliRunner

from ffslab.cli.app import build_app
from ffslab.cli.parse import parse_bytes
from ffslab.cli.verbs import EXAMPLES, GROUPS, VERBS, words_of
from ffslab.errors import UsageError
from ffslab.model.where import Where, line_of
from ffslab.program import program
from ffslab.results.rundir import find_run

__all__ = ["ffslab_command"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command line in a shell, `ffslab` in it as `$F`."""
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    env["F"] = f"{sys.executable} -m ffslab"
    words = ["bash", "-c", line]
    return subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=env, check=False)


# Help.


def test_each_verb_is_in_one_group_and_has_examples_of_its_own() -> None:
    assert len(VERBS) == len(set(VERBS)) == len(EXAMPLES)
    for verb, examples in EXAMPLES.items():
        assert verb in VERBS and 1 <= len(examples) <= 2
        assert all(example.split()[0] == verb for example in examples)
        shown = CliRunner().invoke(build_app((verb,)), [verb, "--help"], terminal_width=80).output
        assert all(f"    ffslab {example}" in shown.splitlines() for example in examples)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_fits_on_a_screen(verb: str) -> None:
    shown = CliRunner().invoke(build_app((verb,)), [verb, "-h"], terminal_width=80).output
    lines = shown.splitlines()
    assert lines[0].startswith("Usage: ") and len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_options_of_examples_are_there(verb: str) -> None:
    """Each word that begins with `--` is an option of the verb, or of the one behind it."""
    app = build_app((verb,))
    for example in EXAMPLES[verb]:
        words = example.split()
        path = words[:2] if verb == "crash" else words[:1]
        shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=200).output
        assert all(word in shown for word in words if word.startswith("--")), example


def test_the_list_of_verbs_is_in_groups_and_no_line_is_cut() -> None:
    shown = CliRunner().invoke(build_app(), ["--help"], terminal_width=80).output
    places = [shown.index(f"{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert "..." not in shown.split("Options:")[1] and max(map(len, shown.splitlines())) <= 80


def test_help_of_a_verb_by_the_word_help() -> None:
    assert words_of(["help"]) == ["--help"]
    assert words_of(["help", "crash", "replay"]) == ["crash", "replay", "--help"]
    assert words_of(["list", "help"]) == ["list", "help"]


# What is named.


def test_runs_before_the_latest_have_names(tmp_path: Path) -> None:
    for name in ("20260101T000000Z-a", "20260102T000000Z-b", "20260103T000000Z-c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    names = [find_run(f"latest{back}", tmp_path).path.name[-1] for back in ("", "~0", "~1", "~2")]
    assert names == ["c", "c", "b", "a"]
    with pytest.raises(UsageError, match="no run 'latest~3'"):
        find_run("latest~3", tmp_path)
    with pytest.raises(UsageError) as caught:
        find_run(str(tmp_path), tmp_path / "elsewhere")
    assert "20260103T000000Z-c the last of them" in str(caught.value.cause)
    assert caught.value.remedy == f"{program()} show {tmp_path}/20260103T000000Z-c"
    with pytest.raises(UsageError) as caught:
        find_run("2026", tmp_path)
    assert caught.value.cause == "the names of several runs begin so"
    # A study's name is told from the beginning of a run's.
    (tmp_path / "20260104T000000Z-b-2").mkdir()
    (tmp_path / "20260104T000000Z-b-2" / "manifest.json").write_text("{}")
    for study, last in (("a", "20260101T000000Z-a"), ("b", "20260104T000000Z-b-2")):
        with pytest.raises(UsageError) as caught:
            find_run(study, tmp_path)
        assert caught.value.cause == f"{study} is a study, {tmp_path}/{last} the last run of it"
        assert caught.value.remedy == f"{program()} show {tmp_path}/{last}"
    with pytest.raises(UsageError) as caught:
        find_run("z", tmp_path)
    assert caught.value.remedy == f"{program()} list runs -o {tmp_path}"


def test_a_word_narrows_a_list(ffslab_command: Command) -> None:
    every, some = (ffslab_command("list", "boards", *word) for word in ((), ("Spi-nor",)))
    lines = some.output.splitlines()
    assert 0 < len(lines) < len(every.output.splitlines())
    assert all("spi-nor" in line.casefold() for line in lines)
    assert "no runs with 'x'" in ffslab_command("list", "runs", "x").output
    refused = ffslab_command("list", "bords")
    assert refused.code == 2
    assert "there is no list of bords (did you mean 'boards'?)" in refused.error


def test_cases_may_be_patterns(ffslab_command: Command) -> None:
    shown = ffslab_command("run", "quick", "--case", "ubifs-*", "--dry-run")
    ids = [line.split()[0] for line in shown.output.splitlines()[:-1]]
    assert ids == ["ubifs-free-s1", "ubifs-aged-s1"]
    refused = ffslab_command("run", "quick", "--case", "ext4-*", "--dry-run")
    assert refused.code == 2 and "no case 'ext4-*'" in refused.error


# What was accepted in silence, or refused in other words than the user's.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--labgrid", "rack1"), "target uml has no board"),
        (("--kernel-source", "/nowhere"), "/nowhere is not a Linux kernel source"),
    ],
)
def test_an_option_that_can_do_nothing_is_refused(
    ffslab_command: Command, words: tuple[str, ...], said: str
) -> None:
    refused = ffslab_command("run", "quick", "--dry-run", *words)
    assert refused.code == 2
    assert said in refused.error and "next: " in refused.error


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"schema = 2\n", "schema = 2: this ffslab reads schema 1"),
        (b'schema = 1\ntitle = "\xff"\n', "not UTF-8 text: byte 21 is 0xff"),
    ],
)
def test_a_study_that_cannot_be_read_says_why(
    ffslab_command: Command, tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "mine.toml").write_bytes(data)
    refused = ffslab_command("run", str(tmp_path / "mine.toml"))
    assert refused.code == 2
    assert said in refused.error and "likely cause: " in refused.error and "next: " in refused.error
    assert "is missing" not in refused.error


def test_an_unknown_key_has_its_line(ffslab_command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        STUDY.replace("[base]", "[base] # of all\nbord = 1\n") + "[compar]\nfigures = []\n"
    )
    refused = ffslab_command("run", str(tmp_path / "mine.toml"))
    lines = (tmp_path / "mine.toml").read_text().splitlines()
    wrong, table = lines.index("bord = 1") + 1, lines.index("[compar]") + 1
    assert f"line {wrong}: unknown key 'base.bord' (did you mean 'board'?)" in refused.error
    assert f"line {table}: unknown key 'compar' (did you mean 'compare'?)" in refused.error


_LINES = """a = 1
[b]
"c d".e = 2
[[part]]
name = "x"
[part.set]
f = 3
[[part]]
name = "y"
[part.set]
f = 4
g = { h = 5 }
[b.i]
a = 6
"""


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (("a",), "line 1: "),
        (("b",), "line 2: "),
        (("b", "c d", "e"), "line 3: "),
        (("b", "Shape", "c d", "e"), "line 3: "),
        (("part", 0), "line 4: "),
        (("part", 0, "name"), "line 5: "),
        (("part", 1, "name"), "line 9: "),
        (("part", 1, "set", "f"), "line 11: "),
        (("part", 1, "set", "g", "h"), ""),
        (("b", "i", "a"), "line 14: "),
        (("z",), ""),
        ((), ""),
    ],
)
def test_lines_of_keys(location: tuple[str | int, ...], line: str) -> None:
    assert line_of(Where("file", _LINES), location) == line
    assert line_of("file", location) == ""


# A reader that has seen enough.


def test_a_pipe_that_closes_ends_ffslab_as_it_ends_other_tools(tmp_path: Path) -> None:
    for verb in ("list studies", "list boards", "--help"):
        line = f"$F {verb} | true; echo ${{PIPESTATUS[0]}}"
        ended = shell(f"{line}; cat /dev/zero | true; echo ${{PIPESTATUS[0]}}", tmp_path)
        own, other = ended.stdout.split()
        assert own in ("0", other) and other == "141"  # 0: it had written all before
        assert not ended.stderr


def test_what_outlives_its_reader_goes_on(tmp_path: Path) -> None:
    code = (
        "import sys, time; from ffslab.visible_text import *; print_anything(); outlive_readers(); "
        "print('one', flush=True); time.sleep(0.5); "
        "[print('more', flush=True) for _ in range(9)]; open('end', 'w').close()"
    )
    ended = shell(f'{sys.executable} -c "{code}" | head -1; echo ${{PIPESTATUS[0]}}', tmp_path)
    assert ended.stdout == "one\n0\n" and not ended.stderr
    assert (tmp_path / "end").exists()


def test_one_that_only_prints_does_not(tmp_path: Path) -> None:
    code = (
        "import time\nfrom ffslab.visible_text import *\nprint_anything()\n"
        "print('one', flush=True)\ntime.sleep(0.5)\n"
        "try:\n  [print('more', flush=True) for _ in range(9)]\n"
        "except ReaderGoneError: open('gone', 'w').close()\n"
    )
    (tmp_path / "code.py").write_text(code)
    ended = shell(f"{sys.executable} code.py | head -1", tmp_path)
    assert ended.stdout == "one\n"
    assert (tmp_path / "gone").exists()


# Sizes.


def test_a_small_number_without_a_unit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert [parse_bytes("--daily", text) for text in ("50", "50 MB", "131072")] == [
        *(50, 50_000_000, 131_072)
    ]
    said = capsys.readouterr().err
    assert said == "ffslab: --daily 50 is 50 bytes; for megabytes: --daily 50MB\n"
    for text in ("0", "5 apples", "-1"):
        with pytest.raises(UsageError, match=r"^--daily"):
            parse_bytes("--daily", text)


def test_a_partition_that_is_too_small_is_told_in_the_words_of_the_option(
    ffslab_command: Command,
) -> None:
    refused = ffslab_command("image", "--fs", "jffs2", "--partition-bytes", "5")
    assert refused.code == 2
    assert "--partition-bytes 5 is 5 bytes" in refused.error
    assert "next: at least 640 KiB" in refused.error
