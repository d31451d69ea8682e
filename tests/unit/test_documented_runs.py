"""Every run that a document names can be prepared: its study, settings and cases are there.

The commands of README, the tutorial and the answers are carried out (tests/e2e, tests/figures); of
all documents' runs this reads and expands the study, as `--dry-run` does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from test_docs import ANY_FENCE, DOCUMENTS, made_by

from ffslab.campaign.study import Choice
from ffslab.cli.parse import parse_seeds, parse_set
from ffslab.loader import study_names
from ffslab.program import NAME

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_RUN = re.compile(rf"(?:^|[;&|(] *|\s)(?:\./)?{NAME} (run .*)")
# A word that stands for others, and what a run of it would take from somewhere else.
_FORM = re.compile(r"[A-Z]{3,}|…|\.\.\.|<|\bmine\b")
_ELSEWHERE = ("--target", "--resume", "--catalog")


def documented_runs(text: str) -> Iterator[list[str]]:
    """The words behind the program of every `run` in a fence or in code, continued lines joined."""
    fences = [fence.replace("\\\n", " ") for fence in ANY_FENCE.findall(text)]
    spans = [" ".join(span.split()) for span in _CODE.findall(ANY_FENCE.sub("", text))]
    for line in (*(line for fence in fences for line in fence.splitlines()), *spans):
        for command in _RUN.findall(line):
            if not _FORM.search(command):
                yield shlex.split(command.replace("\\", ""), comments=True)


def choice_of(words: list[str]) -> Choice:
    """What the words choose; further options change nothing of that."""
    overrides, cases = [], []
    for option, value in pairwise(words):
        if option == "--set":
            overrides.append(parse_set(value))
        elif option == "--seeds":
            overrides.append(("seed", parse_seeds(value)))
        elif option == "--case":
            cases.append(value)
    return Choice(words[1], tuple(overrides), tuple(cases))


NAMED = {
    shlex.join(words): (path, words)
    for path in DOCUMENTS
    for words in documented_runs(path.read_text(encoding="utf-8"))
    if len(words) > 1 and not any(option in words for option in _ELSEWHERE)
}
RUNS = [pytest.param(*named, id=command) for command, named in NAMED.items()]


def test_documents_name_many_runs() -> None:
    assert len(RUNS) > 50


@pytest.mark.parametrize(("path", "words"), RUNS)
def test_a_documented_run_can_be_prepared(path: Path, words: list[str]) -> None:
    study = words[1]
    if study not in study_names() and not Path(study).is_file():
        assert study in made_by(path.read_text(encoding="utf-8")), f"no study {study}"
        return
    assert choice_of(words).prepare().cases
