"""Turns of phrase that are never plain English, in documents and in messages to users.

The list holds only what is wrong wherever it stands, so a hit is always to be rewritten: subject,
verb, object. Each has a sentence that once stood in a document, by which it is tried itself.
Comments are not looked at, nor docstrings other than the help texts of verbs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_docs import DOCUMENTS, ROOT, relative

SOURCE = ROOT / "src" / "ffslab"
NEVER = {
    r"\b(?:to|by|from) who\b": "A lack of room is told to who writes.",
    r"\bwho (?:wants|writes|reads|asks)\b": "Four lines help who reads.",
    r"\bnone of (?:the )?[\w-]+'s (?:is|are|has|have|was)\b": "None of the lab's is calibrated.",
    r"(?<!there )\bis none (?:that|of)\b": "An error within the range is none that can be told.",
    r"\bthat of the [^.;:]*\bof which\b": "It is that of the board, of which nothing is known.",
    r"\ba lack of it\b": "It is reserved, so that a lack of it is an error at once.",
    r"\bwhich there (?:is|are) not\b": "A record of a phase which there is not.",
    r"\bwere all \w+ alike\b": "More than the blocks bear, were all worn alike.",
    r"\bno right to (?:read|write|look)\b": "There is no right to write there.",
    r"\bslip of the keyboard\b": "The likely cause is a slip of the keyboard.",
    r"\bthe figures asked for first\b": "Judge only the figures asked for first.",
}


def found_in(text: str) -> list[str]:
    """Every such turn with the words around it."""
    flat = " ".join(text.split())
    return [
        flat[max(0, hit.start() - 40) : hit.end() + 40]
        for pattern in NEVER
        for hit in re.finditer(pattern, flat, re.IGNORECASE)
    ]


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module: literals, and the docstrings of verbs, which are their help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    is_verb_file = path.parent == SOURCE / "cli"
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        if not (isinstance(node, ast.FunctionDef) and node.decorator_list and is_verb_file)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and id(node) not in docstrings
        if is_text and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("pattern", NEVER)
def test_each_turn_finds_its_sentence_and_no_other(pattern: str) -> None:
    hits = [text for text in NEVER.values() if re.search(pattern, text, re.IGNORECASE)]
    assert NEVER[pattern] in hits
    assert not re.search(pattern, "The file system reads the block that the task wrote.")


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_documents_are_plain_english(path: Path) -> None:
    assert not found_in(path.read_text(encoding="utf-8"))


def test_messages_are_plain_english() -> None:
    texts = [(path, *text) for path in sorted(SOURCE.rglob("*.py")) for text in messages(path)]
    assert len(texts) > 10_000
    wrong = [f"{relative(path)}:{line}: {hit}" for path, line, t in texts for hit in found_in(t)]
    assert not wrong, "\n".join(wrong)
