"""The documents against the code: links, commands, options, names, worked examples."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from ffslab.cli.app import build_app
from ffslab.loader import load_catalog, parse_toml, study_names
from ffslab.model.study import expand, study_from_document
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.registry import target_names

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/*/*.md",
        "bench/*.md",
        "examples/*/*.md",
        "kmod/*/*.md",
    )
    for path in ROOT.glob(pattern)
    if path.is_file()
)
GUIDES = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/tutorial.md", "docs/report.md")
]
COLUMNS = 120
README_LINES = 120
SHELL_FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOML_FENCE = re.compile(r"^```toml\n(# (\S+\.toml)\n.*?)^```", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
REPOSITORY_PATH = re.compile(
    r"(?:agent|bench|catalog|docs|examples|kernel|kmod|src|studies|tests)/[\w./-]*"
)
SOMEBODYS_PATH = re.compile(r"(?<![\w.~$])/(?:home|root|Users|work|tmp|var/tmp|opt)/\S*")
PROGRAM = typer.main.get_command(build_app())
COMMANDS = PROGRAM.commands  # type: ignore[attr-defined]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def shell_lines(text: str) -> Iterator[str]:
    """The commands of the fenced `sh` blocks, continued lines joined."""
    for fence in SHELL_FENCE.findall(text):
        yield from (line for line in fence.replace("\\\n", " ").splitlines() if line.strip())


def ffslab_commands(text: str) -> Iterator[list[str]]:
    """Every use of `ffslab` in fences and in inline code, as words behind the program."""
    spans = [span.replace("\\\n", " ") for span in INLINE_CODE.findall(text)]
    for line in (*shell_lines(text), *spans):
        if re.match(r"(?:\./)?ffslab \S", line):
            yield shlex.split(line, comments=True)[1:]


def options_of(verb: str) -> set[str]:
    return {name for parameter in COMMANDS[verb].params for name in parameter.opts} | {
        name for parameter in COMMANDS[verb].params for name in parameter.secondary_opts
    }


def made_by(text: str) -> set[str]:
    """Studies and files that a guide has its reader begin with `ffslab new`, or write."""
    begun = {words[2] for words in ffslab_commands(text) if words[:2] == ["new", "study"]}
    return begun | {path for _, path in TOML_FENCE.findall(text)}


def headings(path: Path) -> set[str]:
    """The anchors of a document, as code hosts make them."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+://", target):
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), f"{relative(path)}: {target}"
        assert there.is_relative_to(ROOT), f"{relative(path)}: {target} leads out of the repository"
        if anchor:
            assert anchor in headings(there), f"{relative(path)}: {target}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_commands_exist(path: Path) -> None:
    for words in ffslab_commands(path.read_text(encoding="utf-8")):
        verb = words[0]
        if verb.startswith("-"):
            continue
        # A text such as `ffslab list|show` names several.
        for name in verb.split("|"):
            assert name in COMMANDS, f"{relative(path)}: ffslab {' '.join(words)}"
        if verb not in COMMANDS or verb == "test":  # `test` hands unknown words to pytest
            continue
        given = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
        unknown = given - options_of(verb) - {"--help", "-h"}
        assert not unknown, f"{relative(path)}: ffslab {' '.join(words)}"


@pytest.mark.parametrize("path", GUIDES, ids=relative)
def test_options_named_in_the_text_exist(path: Path) -> None:
    known = {name for verb in COMMANDS for name in options_of(verb)}
    known |= {name for option in PROGRAM.params for name in option.opts}
    for span in INLINE_CODE.findall(path.read_text(encoding="utf-8")):
        if span.startswith("--"):
            assert span.split()[0] in known, f"{relative(path)}: {span}"


@pytest.mark.parametrize("path", GUIDES, ids=relative)
def test_studies_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    known = {*study_names(), *made_by(text)}
    used = [
        words[1] for words in ffslab_commands(text) if words[0] in ("run", "shell") and words[1:]
    ]
    assert used
    for name in used:
        there = name in known or name.isupper() or (ROOT / name).is_file()
        assert there, f"{relative(path)}: {name}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_files_named_in_the_text_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for span in INLINE_CODE.findall(text):
        if not REPOSITORY_PATH.fullmatch(span) or re.search(r"[A-Z]{3}", span):
            continue
        # Built on demand, or written by the reader.
        if "/build/" in span or span in made_by(text):
            continue
        there = (ROOT / span).exists() or (path.parent / span).exists()
        assert there, f"{relative(path)}: {span}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_lines_are_at_most_120_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_no_path_of_somebodys_machine(path: Path) -> None:
    found = SOMEBODYS_PATH.findall(path.read_text(encoding="utf-8"))
    assert not found


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names, all together in the whole run."""
    together = ("unit", "golden", "lab", "e2e")
    names = [path.name for one in together for path in (ROOT / "tests" / one).glob("test_*.py")]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


def test_picture_of_the_report_is_small() -> None:
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 300_000, picture.name


def test_worked_examples_of_contributing(tmp_path: Path) -> None:
    """Every TOML example is put where it says it belongs, then all of it is loaded together."""
    shutil.copytree(ROOT / "catalog", tmp_path / "catalog")
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    examples = {Path(path): content for content, path in TOML_FENCE.findall(text)}
    kinds = {path.parts[1] for path in examples if path.parts[0] == "catalog"}
    assert kinds >= {"chips", "boards", "filesystems"}
    for path, content in examples.items():
        if path.parts[0] == "catalog":
            (tmp_path / path).write_text(content, encoding="utf-8")
    catalog = load_catalog([tmp_path / "catalog"])
    studies = {path: content for path, content in examples.items() if path.parts[0] != "catalog"}
    assert studies
    for path, content in studies.items():
        study = study_from_document(parse_toml(content, str(path)), catalog, str(path))
        assert study.name == path.stem
        assert expand(study, catalog)


def test_each_target_has_a_row_in_its_table() -> None:
    text = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`(?: \(default\))? \|", text, re.MULTILINE)
    assert sorted(rows) == target_names() and f"`{DEFAULT_TARGET}` (default)" in text
