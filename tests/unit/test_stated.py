"""What documents state of the project: decisions that they cite, and how many there are of what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from ffslab.cli.app import VERBS
from ffslab.model.kernels import SWITCHES
from ffslab.results.result import OutcomeKind
from ffslab.targets.registry import target_names
from ffslab.workloads.registry import workloads

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions.md"
OVERVIEWS = ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md")
# Where a text may cite a decision: documents, code, data.
FOLDERS = (
    "bench", "catalog", "docs", "examples", "guest", "kernel", "kmod", "src", "studies", "tests",
)  # fmt: skip
SUFFIXES = (".c", ".h", ".md", ".patch", ".py", ".toml")
ITEM = re.compile(r"^(\d+)\. \*\*(.+?)\*\*(.*?)(?=^\d+\. |^[^\s\d]|\Z)", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\bdecisions?\s+(\d+)", re.IGNORECASE)
# Within the list a number alone, in parentheses, is a decision.
CITED_WITHIN = re.compile(r"\((?:[a-z ]+ )?(\d+)\)")
WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
WORDS |= {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}
COUNTS: dict[str, Callable[[], int]] = {
    "workloads": lambda: len(workloads()),
    "targets": lambda: len(target_names()),
    "verbs": lambda: len(VERBS),
    "patches": lambda: len(series()),
    "switches": lambda: len(SWITCHES),
    "outcomes": lambda: len(get_args(OutcomeKind)),
}


def series() -> list[str]:
    """The patches of every lab kernel."""
    lines = (ROOT / "kernel" / "patches" / "series").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def decisions(text: str) -> dict[int, tuple[str, str]]:
    """Of each decision its number, what was decided, and why."""
    items = ITEM.findall(text)
    found = {int(number): (headline, rest) for number, headline, rest in items}
    assert len(found) == len(items), "a number is there twice"
    return found


def stems(text: str) -> set[str]:
    """What words of four letters and more begin with: `measured` is about what `measure` is."""
    return {word[:5] for word in re.findall(r"[a-zA-Z]{4,}", text.lower())}


def citations(text: str) -> Iterator[tuple[str, int]]:
    """Each cited decision of a text, with the paragraph that cites it."""
    for paragraph in re.split(r"\n\s*\n", text):
        yield from ((paragraph, int(number)) for number in CITED.findall(paragraph))


def wrong_citations(text: str, known: dict[int, tuple[str, str]]) -> list[str]:
    """What is wrong with the citations of a text: no such decision, or one on another subject."""
    wrong = []
    for paragraph, number in citations(text):
        if number not in known:
            wrong.append(f"there is no decision {number}")
        elif not stems(paragraph) & stems(known[number][0]) - {"decis"}:
            wrong.append(f"decision {number} is about: {known[number][0]}")
    return wrong


def wrong_citations_within(known: dict[int, tuple[str, str]]) -> list[str]:
    """The same of what decisions say of each other."""
    return [
        f"{number}: {problem}"
        for number, (headline, rest) in known.items()
        for cited in CITED_WITHIN.findall(headline + rest)
        for problem in wrong_citations(f"{headline}{rest} decision {cited}", known)
    ]


def texts() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and "build" not in path.parts and path.is_file():
                yield path


def test_decisions_are_in_order() -> None:
    numbers = list(decisions(DECISIONS.read_text(encoding="utf-8")))
    assert len(numbers) > 100
    assert numbers == sorted(numbers)


def test_cited_decisions_are_there_and_about_what_cites_them() -> None:
    known = decisions(DECISIONS.read_text(encoding="utf-8"))
    cited = {
        path: wrong_citations(text, known)
        for path in texts()
        if path != Path(__file__).resolve()
        and CITED.search(text := path.read_text(encoding="utf-8", errors="replace"))
    }
    assert cited
    assert not {str(path): wrong for path, wrong in cited.items() if wrong}
    assert not wrong_citations_within(known)


def test_a_wrong_citation_is_found() -> None:
    text = (
        "1. **Pages are read.** Why.\n2. **No score.** Weights (1).\n10. **Pages.** So (2), (7).\n"
    )
    known = decisions(text)
    assert wrong_citations("The pages (decision 1).", known) == []
    assert wrong_citations("The pages (decision\n2).", known) == ["decision 2 is about: No score."]
    assert wrong_citations("The pages (Decision 3).", known) == ["there is no decision 3"]
    assert wrong_citations_within(known) == [
        "2: decision 1 is about: Pages are read.",
        "10: decision 2 is about: No score.",
        "10: there is no decision 7",
    ]


def counted(text: str) -> Iterator[tuple[int, str]]:
    """What a text says how many there are of; "some of 10" and "10 or so" are numbers too."""
    pattern = rf"\b(\d[\d,]*|{'|'.join(WORDS)}) (?:kinds of )?({'|'.join(COUNTS)})\b"
    for number, noun in re.findall(pattern, text, re.IGNORECASE):
        yield WORDS.get(number.lower()) or int(number.replace(",", "")), noun.lower()


def wrong_counts(text: str) -> list[str]:
    return [
        f"{number} {noun}: there are {COUNTS[noun]()}"
        for number, noun in counted(text)
        if number != COUNTS[noun]()
    ]


def test_a_wrong_count_is_found() -> None:
    there = len(workloads())
    assert wrong_counts(f"It has {there} workloads.") == []
    assert wrong_counts("It has four workloads.") == [f"4 workloads: there are {there}"]
    assert wrong_counts("of 1,000 patches") == [f"1000 patches: there are {len(series())}"]


@pytest.mark.parametrize("name", OVERVIEWS)
def test_counts_of_the_overviews_are_those_of_the_code(name: str) -> None:
    assert not wrong_counts((ROOT / name).read_text(encoding="utf-8"))


def test_overviews_state_counts() -> None:
    """Else the test above could not fail."""
    texts = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in OVERVIEWS)
    assert {noun for _, noun in counted(texts)} >= {"targets", "outcomes"}
