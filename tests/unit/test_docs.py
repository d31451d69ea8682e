"""The documents against the code: links, commands, options, names, worked examples."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from ffslab import __version__
from ffslab.cli.app import build_app
from ffslab.loader import load_catalog, parse_toml, study_names
from ffslab.model.study import expand, study_from_document
from ffslab.targets import DEFAULT_TARGET
from ffslab.targets.registry import target_names

ROOT = Path(__file__).resolve().parents[2]
# Not what an environment or a build of the user's brought.
DOCUMENTS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(
        part.startswith((".", "build", "venv", "runs")) for part in path.relative_to(ROOT).parts
    )
)
GUIDES = [
    ROOT / name
    for name in ("README.md", "docs/catalog-format.md", "docs/tutorial.md", "docs/report.md")
]
# How the project is built and why: together no more than somebody reads in an hour.
CORE = [ROOT / name for name in ("docs/architecture.md", "docs/decisions.md", "CONTRIBUTING.md")]
CORE_LINES = 950
COLUMNS = 120
README_LINES = 120
SHELL_FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANY_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TOML_FENCE = re.compile(r"^```toml\n(# (\S+\.toml)\n.*?)^```", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
REPOSITORY_PATH = re.compile(
    r"(?:bench|catalog|docs|examples|guest|kernel|kmod|src|studies|tests|tools)/[\w./-]*"
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
    """Studies and files that a guide has its reader begin with `ffslab new`, write, or get of
    `ffslab advise`.
    """
    commands = list(ffslab_commands(text))
    begun = {words[2] for words in commands if words[:2] == ["new", "study"]}
    advised = [words[1] for words in commands if words[0] == "advise" and words[1:]]
    begun |= {f"results/advise-{name}.toml" for name in advised}
    return begun | {path for _, path in TOML_FENCE.findall(text)}


def headings(path: Path) -> set[str]:
    """The anchors of a document, as code hosts make them."""
    text = ANY_FENCE.sub("", path.read_text(encoding="utf-8"))
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
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
        ours = words[: words.index("--")] if "--" in words else words  # behind it, a program's own
        given = {word.partition("=")[0] for word in ours[1:] if re.match(r"--?[a-z]", word)}
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
def test_files_named_by_their_package_exist(path: Path) -> None:
    """`model/study.py` is src/ffslab/model/study.py."""
    source = ROOT / "src" / "ffslab"
    packages = "|".join(found.name for found in source.iterdir() if found.is_dir())
    for span in INLINE_CODE.findall(path.read_text(encoding="utf-8")):
        if re.fullmatch(rf"(?:{packages})/[\w/]+\.(?:py|c)", span):
            places = (source / span, ROOT / span, path.parent / span)
            assert any(place.exists() for place in places), f"{relative(path)}: {span}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_lines_are_at_most_120_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]


def test_architecture_decisions_and_contributing_are_short() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in CORE) <= CORE_LINES


def measured_rows(text: str) -> list[str]:
    """The rows of tables with more than one cell that is a number alone, with or without a unit."""
    number = re.compile(r"[\d.,]+(?: ?(?:%|[mµn]?s|[KMG]i?B|pages|blocks))?")
    return [
        row
        for row in re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
        if sum(number.fullmatch(cell.strip()) is not None for cell in row.split("|")) > 1
    ]


def test_contributing_has_no_table_of_measurements() -> None:
    assert measured_rows("| `results/` | 857 | 840 | 99.3 |\n| a | 2.1 ms | 3 % |\n") != []
    assert not measured_rows((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_no_path_of_somebodys_machine(path: Path) -> None:
    found = SOMEBODYS_PATH.findall(path.read_text(encoding="utf-8"))
    assert not found


def test_every_verb_of_the_agent_is_defined() -> None:
    """By docs/plan-format.md, or by the README of the folder that executes it."""
    contract = (ROOT / "docs" / "plan-format.md").read_text(encoding="utf-8")
    verbs = {
        verb: path.parent / "README.md"
        for path in (ROOT / "guest" / "agent").rglob("*.c")
        for verb in re.findall(r'^\t\t\.name = "([^"]+)"', path.read_text(), re.MULTILINE)
    }
    assert len(verbs) > 40
    for verb, readme in verbs.items():
        text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
        assert re.search(rf"`{verb}[ `]", contract) or f"# The step `{verb}`" in text, verb


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names, all together in the whole run."""
    together = ("unit", "golden", "lab", "e2e", "peers", "figures")
    names = [path.name for one in together for path in (ROOT / "tests" / one).glob("test_*.py")]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


def test_picture_of_the_report_is_small() -> None:
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 300_000, picture.name


def test_worked_examples_of_the_catalog(tmp_path: Path) -> None:
    """Every TOML example is put where it says it belongs, then all of it is loaded together."""
    shutil.copytree(ROOT / "catalog", tmp_path / "catalog")
    text = (ROOT / "docs" / "catalog-format.md").read_text(encoding="utf-8")
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


def test_the_changes_begin_with_the_version_that_this_is() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+), (\d{4}-\d\d-\d\d|not released yet)$", changes, re.MULTILINE)
    assert len(versions) == len(re.findall(r"^## ", changes, re.MULTILINE))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert versions[0][0] == package["version"] == __version__
    assert all(date != "not released yet" for _, date in versions[1:])
