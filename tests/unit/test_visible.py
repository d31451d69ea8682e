"""No text of a stranger's run acts on the terminal, whichever verb prints it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command, Result

sys.path.insert(0, str(Path(__file__).parent / "cuts"))

from cuts_support import finding, kept, made
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ffslab.cli.screen import Screen
from ffslab.results.rundir import RunDirectory, find_run
from ffslab.visible_text import own_stream, print_anything, visible, visible_json

SOURCES = Path(__file__).parents[2] / "src" / "ffslab"
# A title of the window, CSI in 7 and 8 bits, a carriage return, text from right to left, isolates,
# nothing of a width, markup of rich with a link and an end without a beginning.
HOSTILE = (
    "\x1b]0;pwned\x07\x1b[2J\x1b[31m\x9b2J\r\x08\x7f\u202egnp\u2066\u200b"
    "[link=http://x]y[/link][/nothing]"
)
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
# Words that the program chose among its own: another would be damage, and nothing else be shown.
OWN_WORDS = frozenset(
    ("outcome", "kind", "wait", "op", "verdict", "spec_hash", "hash", "variant", "began_at", "at")
)
# What tells a case, and what its workload checks, too.
CUT_WORDS = OWN_WORDS | {"id", "state", "filesystem", "workload", "study", "history", "timing"}


def changed(value: Any, key: str, own: frozenset[str]) -> Any:
    """The value with something hostile behind each text."""
    if isinstance(value, dict):
        return {name: changed(one, name, own) for name, one in value.items()}
    if isinstance(value, list):
        return [changed(one, key, own) for one in value]
    return value + HOSTILE if isinstance(value, str) and key not in own else value


def spoil_texts(folder: Path, own: frozenset[str]) -> None:
    """Puts something hostile behind the texts of all JSON files of a folder."""
    for path in folder.rglob("*.json*"):
        text = path.read_text()
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        told = [json.dumps(changed(json.loads(line), "", own)) for line in lines]
        path.write_text("".join(f"{line}\n" for line in told))


def spoil(run: RunDirectory, own: frozenset[str]) -> None:
    """Does the same to a run, with a new checksum."""
    spoil_texts(run.path, own)
    manifest = json.loads((run.path / "manifest.json").read_text())
    manifest["results_sha256"] = hashlib.sha256(
        (run.path / "results.jsonl").read_bytes()
    ).hexdigest()
    (run.path / "manifest.json").write_text(json.dumps(manifest))


def assert_nothing_acts(result: Result) -> None:
    for text in (result.output, result.error):
        assert not ACTS.search(text), ACTS.findall(text)
        assert "internal error" not in text


@pytest.fixture
def runs(ffslab_command: Command) -> tuple[str, str]:
    """Two runs of the same study."""
    for output in ("one", "two"):
        assert ffslab_command("run", "small.toml", "--no-report", "-o", output).code == 0
    one, two = (find_run("latest", Path(output)) for output in ("one", "two"))
    return str(one.path), str(two.path)


VERBS: dict[str, Callable[[str, str], tuple[str, ...]]] = {
    "list": lambda one, _: ("list", "-o", str(Path(one).parent)),
    "list --json": lambda one, _: ("list", "-o", str(Path(one).parent), "--json"),
    "show": lambda one, _: ("show", one),
    "show --json": lambda one, _: ("show", one, "--json"),
    "compare": lambda one, two: ("compare", one, two),
    "compare --all": lambda one, two: ("compare", two, one, "--all"),
    "compare --json": lambda one, two: ("compare", one, two, "--json"),
    "rating": lambda one, _: ("rating", one),
    "lifetime": lambda one, _: ("lifetime", one),
    "calibrate": lambda one, _: ("calibrate", "--run", one),
    "trace": lambda one, _: ("trace", one),
    "export": lambda one, _: ("export", one),
    "report": lambda one, _: ("report", one),
    "run --resume": lambda one, _: ("run", one, "--resume", "--no-report"),
    "rm": lambda one, _: ("rm", Path(one).name, "-o", str(Path(one).parent)),
}


@pytest.mark.parametrize("own", [frozenset(), OWN_WORDS], ids=["all", "free"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_hostile_run_is_only_shown(
    ffslab_command: Command, runs: tuple[str, str], verb: str, own: frozenset[str]
) -> None:
    spoil(RunDirectory(Path(runs[0])), own)
    assert_nothing_acts(ffslab_command(*VERBS[verb](*runs)))


def test_the_hostile_text_is_shown_at_all(ffslab_command: Command, runs: tuple[str, str]) -> None:
    spoil(RunDirectory(Path(runs[0])), OWN_WORDS)
    shown = [ffslab_command(*VERBS[verb](*runs)).output for verb in ("list", "show")]
    assert any(r"\x1b]0;pwned\x07\x1b[2J" in text for text in shown)


@pytest.mark.parametrize(
    "words",
    [
        ("run", HOSTILE),
        ("show", HOSTILE),
        ("run", "small.toml", "--set", f"state={HOSTILE}"),
        ("run", "small.toml", "--seeds", HOSTILE),
        ("advise", HOSTILE),
        ("list", HOSTILE),
        ("fsck", "yaffs2", HOSTILE),
        ("mkfs", "yaffs2", HOSTILE, "x.img"),
        (HOSTILE,),
    ],
    ids=lambda words: words[0].split("\x1b")[0] or "verb",
)
def test_words_of_the_command_line_are_only_shown(
    ffslab_command: Command, words: tuple[str, ...]
) -> None:
    result = ffslab_command(*words)
    assert result.code == 2
    assert_nothing_acts(result)


@pytest.mark.parametrize("verb", ["show", "show case", "export", "report", "replay", "minimize"])
@pytest.mark.parametrize("own", [frozenset(), CUT_WORDS], ids=["all", "free"])
def test_hostile_power_cuts_are_only_shown(
    ffslab_command: Command, tmp_path: Path, verb: str, own: frozenset[str]
) -> None:
    faults = [finding("aaaa0001", "0 lost 0", "mount-fails", console=["a line"])]
    counts = {"lost": {"correct": 3, "mount-fails": 1}}
    case_id = "jffs2-updatebyrename-s1"
    run = kept(tmp_path, made(case_id, counts=counts, findings=faults))
    spoil(run, own)
    path = str(run.path)
    words = {
        "show case": ("show", path, case_id),
        "replay": ("crash", "replay", "aaaa0001", "--run", path),
        "minimize": ("crash", "minimize", "aaaa0001", "--run", path),
    }
    result = ffslab_command(*words.get(verb, (verb, path)))
    assert_nothing_acts(result)
    if verb == "show case" and own:
        assert r"\x1b]0;pwned\x07\x1b[2J" in result.output


def test_hostile_needs_are_only_shown(ffslab_command: Command) -> None:
    needs = (SOURCES.parents[1] / "examples/needs/router.toml").read_text()
    hostile = json.dumps(HOSTILE.encode("utf-8", "replace").decode())
    for spoiled in (
        needs.replace('"A typical router"', hostile).replace('tree = "', 'tree = "nowhere'),
        needs.replace('"apf27"', hostile),
        needs.replace("years", hostile),
    ):
        Path("bad.toml").write_text(spoiled)
        result = ffslab_command("advise", "bad.toml")
        assert result.code == 2
        assert_nothing_acts(result)


def test_a_hostile_study_is_only_shown(ffslab_command: Command) -> None:
    study = Path("small.toml").read_text()
    told = HOSTILE.encode("utf-8", "replace").decode()
    Path("bad.toml").write_text(study.replace("title = ", f"{json.dumps(told)} = 1\ntitle = "))
    result = ffslab_command("run", "bad.toml")
    assert result.code == 2
    assert_nothing_acts(result)


def drawn(what: Any, **how: Any) -> str:
    text = io.StringIO()
    Screen(file=text, width=60, **how).print(what)
    return text.getvalue()


def test_colours_are_the_program_s_own() -> None:
    table = Table(HOSTILE)
    table.add_row(Text(HOSTILE, "red"))
    colour = re.compile(r"\x1b\[[0-9;]*m")
    text = drawn(table, force_terminal=True, color_system="standard")
    assert colour.search(text)
    assert not ACTS.search(colour.sub("", text))
    assert not ACTS.search(drawn(HOSTILE)) and not ACTS.search(drawn(Text(HOSTILE)))


def test_columns_stand_below_each_other() -> None:
    table = Table("name", "n", box=None, pad_edge=False)
    table.add_row("\x1b", "1")
    table.add_row("long name", "2")
    lines = drawn(table).splitlines()
    assert {line.rstrip()[-1]: len(line.rstrip()) for line in lines[1:]} == {"1": 12, "2": 12}


def test_json_has_the_characters() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x2FFFF), 0xE0001)))
    text = visible_json(json.dumps(every, ensure_ascii=False))
    assert json.loads(text) == every
    assert not ACTS.search(text.replace("\t", ""))


def test_what_is_shown_once_stays() -> None:
    once = visible(HOSTILE)
    assert visible(once) == once
    # Bytes that no UTF-8 has are printed as they are, but for those that would complete U+009B.
    assert visible("\udcc2\udc9b") == "\udcc2\\x9b"
    assert visible("µ × → 日本 é\u0301 \udcff\n\t") == "µ × → 日本 é\u0301 \udcff\n\t"


def test_the_program_draws_on_its_own_stream(capsys: pytest.CaptureFixture[str]) -> None:
    print_anything()
    print_anything()
    own_stream(sys.stderr).write("\r\x1b[K")
    sys.stderr.write("\r\x1b[K")
    assert capsys.readouterr().err == "\r\x1b[K\\x0d\\x1b[K"


def test_a_bar_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich puts itself before the stream for as long as it shows one."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    print_anything()
    with Progress(console=Screen(force_terminal=True, color_system="standard")) as bar:
        bar.add_task("work", total=1)
        bar.console.print(HOSTILE)
        sys.stdout.write("\x1b[2J\n")
    assert "\x1b[2K" in stream.getvalue() and "\\x1b[2K" not in stream.getvalue()
    assert "pwned" in stream.getvalue() and "\x1b[2J" not in stream.getvalue()


def test_there_is_one_kind_of_console() -> None:
    """A console of rich's own, or bytes past the streams, would show everything as it is."""
    past = re.compile(r"\bConsole\(\)|\bConsole\([a-z]|std(out|err)\.buffer|from rich import print")
    found = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in SOURCES.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if past.search(line) and path.name != "screen.py"
    ]
    assert found == []
