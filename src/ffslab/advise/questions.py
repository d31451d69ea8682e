"""`ffslab advise --init`: the questions, answers checked at once, and the needs file from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ffslab.advise.needs import PATTERNS, needs_of
from ffslab.errors import InfrastructureError, SpecError, UsageError
from ffslab.loader import parse_toml
from ffslab.model.catalog import Catalog
from ffslab.model.units import parse_size
from ffslab.program import command

Ask = Callable[[str], str]
Tell = Callable[[str], None]
Answers = Mapping[str, str]
_NONE = "-"  # the answer for: no such need


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `check` returns what is wrong with an answer, or nothing.

    `default` is taken for an empty answer; `when`: whether it is asked, after the answers so far.
    """

    key: str
    text: str
    default: str
    check: Callable[[str], str]
    when: Callable[[Answers], bool] = lambda _: True


def _size(answer: str) -> str:
    try:
        return "" if parse_size(answer) else "more than 0"
    except ValueError as error:
        return str(error)


def _or_none(check: Callable[[str], str]) -> Callable[[str], str]:
    return lambda answer: "" if answer == _NONE else check(answer)


def _size_or_nothing(answer: str) -> str:
    return "" if answer == "0" else _size(answer)


def _above_0(answer: str) -> str:
    try:
        return "" if float(answer) > 0 else "a number above 0"
    except ValueError:
        return "a number, such as 0.8"


def _whole(least: int, most: int) -> Callable[[str], str]:
    def check(answer: str) -> str:
        good = answer.isdigit() and least <= int(answer) <= most
        return "" if good else f"a whole number from {least} to {most}"

    return check


def _one_of(*words: str) -> Callable[[str], str]:
    return lambda answer: "" if answer in words else f"one of: {', '.join(words)}"


def _name(answer: str) -> str:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-")
    good = answer and set(answer) <= allowed and answer[0] != "-" and len(answer) <= 60
    return "" if good else "lower-case letters, digits and -"


def _writes(answers: Answers) -> bool:
    return answers["per_day"] != "0"


def _file_matters(answers: Answers) -> bool:
    return _writes(answers) and answers["pattern"] != "log"


def questions_for(catalog: Catalog, name: str) -> tuple[Question, ...]:
    """All questions in order."""
    boards = tuple(sorted(catalog.boards))
    return (
        Question("name", "A short name of the product", name, _name),
        Question("board", f"The board ({', '.join(boards)})", "apf27", _one_of(*boards)),
        Question("partition", "Size of the partition", "64 MiB", _size),
        Question("cuts", "May power fail at any time (yes, no)", "yes", _one_of("yes", "no")),
        Question(
            "tree", f"A directory or archive of its files; {_NONE}: none", _NONE, lambda _: ""
        ),
        Question("size", "Size of all files on it", "14 MB", _size_or_nothing),
        Question(
            "files",
            "How many files these are",
            "1000",
            _whole(1, 1_000_000),
            lambda answers: answers["tree"] == _NONE and answers["size"] != "0",
        ),
        Question("compressible", "What a compressor saves of them, percent", "40", _whole(0, 99)),
        Question("free", "Space that must be left beside them", "8 MiB", _size_or_nothing),
        Question(
            "boot", f"Seconds from mount to the end of ls; {_NONE}: any", "1", _or_none(_above_0)
        ),
        Question("ram", f"RAM for the file system; {_NONE}: any", "4 MiB", _or_none(_size)),
        Question("per_day", "Bytes written a day; 0: none", "10 MB", _size_or_nothing),
        Question(
            "pattern",
            "Pattern: log (lines appended), database (records anywhere), stream (in order)",
            "log",
            _one_of(*PATTERNS),
            _writes,
        ),
        Question("record", "Size of a line, record or request", "128 B", _size, _writes),
        Question("sync", "Synced after how many; 0: never", "1", _whole(0, 10**9), _writes),
        Question("file", "Size of the written file", "1 MiB", _size, _file_matters),
        Question(
            "years", f"Years that the flash must live; {_NONE}: any", "10", _or_none(_above_0),
            _writes,
        ),
        Question(
            "latency", f"Longest write, milliseconds; {_NONE}: any", "250", _or_none(_above_0),
            _writes,
        ),
    )  # fmt: skip


def answers_to(questions: tuple[Question, ...], ask: Ask, tell: Tell) -> dict[str, str]:
    """Asks until each answer is good; UsageError if there are no more answers."""
    answers: dict[str, str] = {}
    for question in questions:
        while question.key not in answers and question.when(answers):
            try:
                answer = ask(f"{question.text} [{question.default}]: ").strip()
            except EOFError as error:
                raise UsageError(
                    f"no answer to: {question.text}",
                    cause="the input ended, or is no terminal; nothing was written",
                    remedy=f"{command('advise', '--init')} on a terminal, or a line for each "
                    "question on standard input; an empty line is the default",
                ) from error
            answer = answer or question.default
            wrong = question.check(answer)
            if wrong:
                tell(f"  {answer!r}: {wrong}")
            else:
                answers[question.key] = answer
    return answers


def default_answers(catalog: Catalog, name: str) -> dict[str, str]:
    """What the questions are answered with where nobody is asked."""
    answers: dict[str, str] = {}
    for question in questions_for(catalog, name):
        if question.when(answers):
            answers[question.key] = question.default
    return answers


def needs_text(answers: Answers) -> str:
    """A commented needs file."""

    def size(key: str) -> str:
        value = answers[key]
        return value if value.isdigit() else json.dumps(value)

    yes = "true" if answers["cuts"] == "yes" else "false"
    lines = [
        "# The needs of a product: ffslab advise FILE ranks what meets them (docs/advise.md).",
        "schema = 1",
        f"name = {json.dumps(answers['name'])}",
        f"title = {json.dumps(answers['name'])}",
        f"board = {json.dumps(answers['board'])}  # ffslab list boards",
        f"partition = {size('partition')}",
        f"power_cuts = {yes}  # may power fail at any time",
        "",
        "[content]",
    ]
    if answers["tree"] != _NONE:
        lines.append(f"tree = {json.dumps(answers['tree'], ensure_ascii=False)}")
    lines.append(f"size = {size('size')}  # of all files on it")
    if "files" in answers:
        lines.append(f"files = {answers['files']}")
    lines += [
        f"compressible_percent = {answers['compressible']}  # what a compressor saves of them",
        f"free = {size('free')}  # that must be left beside them",
        "",
        "[limits]  # a limit that is absent is no need",
    ]
    if answers["boot"] != _NONE:
        lines.append(f"boot_s = {float(answers['boot'])}  # from mount to the end of ls -R")
    if answers["ram"] != _NONE:
        lines.append(f"ram = {size('ram')}  # that the file system may take")
    if answers.get("latency", _NONE) != _NONE:
        lines.append(f"write_ms = {float(answers['latency'])}  # the longest write, with its sync")
    if _writes(answers):
        lines += [
            "",
            "[writes]",
            f"pattern = {json.dumps(answers['pattern'])}  # {', '.join(PATTERNS)}",
            f"per_day = {size('per_day')}",
            f"record = {size('record')}",
            f"sync_every = {answers['sync']}",
        ]
        if "file" in answers:
            lines.append(f"file = {size('file')}")
        if answers["years"] != _NONE:
            lines.append(f"years = {float(answers['years'])}")
    lines += [
        "",
        "[consider]",
        "# filesystems = []    # only these; ffslab list filesystems",
        "# partitions = []     # other possible sizes",
        "# mainline = true     # only what Linux contains",
    ]
    return "\n".join(lines) + "\n"


def ask_and_write(path: Path, catalog: Catalog, ask: Ask = input, tell: Tell = print) -> None:
    """Asks the questions and writes the file; UsageError if it is there, before any question."""
    if path.exists():
        raise UsageError(
            f"{path} exists already; nothing was asked",
            cause="it was begun before",
            remedy=f"edit it, or: {command('advise', 'another.toml', '--init')}",
        )
    tell("Press Enter for the answer in brackets.")
    name = path.stem.lower()
    answers = answers_to(questions_for(catalog, name if not _name(name) else "product"), ask, tell)
    text = needs_text(answers)
    wrong = ""
    try:
        needs_of(parse_toml(text, str(path)), catalog, str(path))
    except SpecError as error:
        wrong = str(error)  # what was answered is kept: one line of it is to be changed
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {path}: {error.strerror}",
            cause="no such directory, no permission to write there, or a full disk",
            remedy="another path",
        ) from error
    tell(f"wrote {path}")
    if wrong:
        tell(f"not yet usable: {wrong}")
    else:
        tell(f"next: {command('advise', path)}")
