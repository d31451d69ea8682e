"""Names: a word of docs/words.md has one meaning, and a local name says what it holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "ffslab"
EMPTY_WORDS = frozenset({"found", "one", "place"})
# Packages and files whose local names are nouns; add one when its names are.
_VERBS = (
    *("advise", "advise_tables", "app", "bench", "compare", "compare_tables", "completion"),
    *("doctor", "export", "fsck", "image", "lifetime", "list", "man", "mkfs", "new", "parse"),
    *(
        "progress",
        "reproduce",
        "schema",
        "screen",
        "setup",
        "shell",
        "show",
        "size",
        "tables",
        "test",
        "trace",
    ),
)
FINISHED = (
    *("bench", "tools", "src/ffslab/*.py"),
    *("src/ffslab/advise", "src/ffslab/codesize", "src/ffslab/compare", "src/ffslab/fsimage"),
    *("src/ffslab/images", "src/ffslab/lab", "src/ffslab/lifetime", "src/ffslab/logfs"),
    *("src/ffslab/model", "src/ffslab/oracle", "src/ffslab/protocol", "src/ffslab/results"),
    *("src/ffslab/workloads", "src/ffslab/yaffs2", "src/ffslab/report/*.py"),
    *("src/ffslab/published", "src/ffslab/report/published"),
    *(f"src/ffslab/cli/{verb}.py" for verb in _VERBS),
    *("src/ffslab/report/comparison", "src/ffslab/report/estimates", "src/ffslab/report/first"),
)


def sources(paths: Iterable[str]) -> Iterator[Path]:
    for path in paths:
        pattern = path if path.endswith(".py") else f"{path}/**/*.py"
        files = sorted(ROOT.glob(pattern))
        assert files, f"{path}: no such package"
        yield from files


def local_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names that functions, lambdas and comprehensions bind, with their lines."""
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for scope in ast.walk(tree):
        if not isinstance(scope, scopes + comprehensions):
            continue
        for node in ast.walk(scope):
            if isinstance(node, ast.arg):
                yield node.lineno, node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.lineno, node.id
            elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
                yield node.lineno, node.name


def empty_names(text: str) -> list[tuple[int, str]]:
    return sorted({name for name in local_names(ast.parse(text)) if name[1] in EMPTY_WORDS})


@pytest.mark.parametrize("package", FINISHED)
def test_a_local_name_says_what_it_holds(package: str) -> None:
    empty = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sources((package,))
        for line, name in empty_names(path.read_text(encoding="utf-8"))
    ]
    assert empty == [], "a noun for each: CONTRIBUTING.md, docs/words.md"


@pytest.mark.parametrize(
    "text",
    [
        "def f(found): ...",
        "def f():\n    for one in ():\n        ...",
        "def f():\n    if (place := 1): ...",
        "x = [1 for one in ()]",
        "x = lambda one: 1",
        "def f(x):\n    match x:\n        case [*found]: ...",
    ],
)
def test_each_way_to_bind_a_name_is_seen(text: str) -> None:
    assert len(empty_names(text)) == 1


def test_fields_and_methods_are_no_locals() -> None:
    assert empty_names("class C:\n    place: str\n    def found(self): return self.place") == []


def glossary() -> dict[str, tuple[str, ...]]:
    """The files of each entry that ends with files."""
    text = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- \*\*(\w+)\*\*: (.*(?:\n  .*)*)", text, re.MULTILINE)
    files = {word: entry.partition(" Files:")[2] for word, entry in entries}
    return {word: tuple(re.findall(r"`([^`]+)`", rest)) for word, rest in files.items() if rest}


def named(word: str, name: str) -> bool:
    """Whether a module or a class has the word for its name, in the singular or the plural."""
    return name.lower() in {word, f"{word}s"}


def strangers(words: Mapping[str, tuple[str, ...]], files: Iterable[tuple[str, str]]) -> list[str]:
    """Modules and classes that have a word's name where the document does not say so."""
    wrong = []
    for path, text in files:
        # A package has the name of its folder.
        folder, _, stem = path.removesuffix(".py").rpartition("/")
        module = folder.rpartition("/")[2] if stem == "__init__" else stem
        classes = [
            node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)
        ]
        wrong += [
            f"{path}: {name}"
            for name in (module, *classes)
            for word, allowed in words.items()
            if named(word, name) and not any(fnmatch(path, pattern) for pattern in allowed)
        ]
    return wrong


def test_a_word_names_modules_and_classes_of_one_meaning() -> None:
    files = [
        (str(path.relative_to(PACKAGE)), path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]
    assert strangers(glossary(), files) == [], "another word, or docs/words.md says more"


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("advise/verdict.py", "", ["advise/verdict.py: verdict"]),
        ("report/verdicts/__init__.py", "", ["report/verdicts/__init__.py: verdicts"]),
        ("advise/order.py", "class Verdict: ...", ["advise/order.py: Verdict"]),
        ("compare/verdicts.py", "class Verdict: ...", []),
        ("report/words.py", "def verdict(): ...", []),
    ],
)
def test_a_second_meaning_is_seen(path: str, text: str, wrong: list[str]) -> None:
    assert strangers({"verdict": ("compare/verdicts.py",)}, [(path, text)]) == wrong


def test_what_the_document_names_exists() -> None:
    words = glossary()
    assert {"verdict", "finding", "problem", "ranking", "part"} <= set(words)
    for word, patterns in words.items():
        for pattern in patterns:
            assert list(PACKAGE.glob(pattern)), f"docs/words.md, {word}: no {pattern}"
