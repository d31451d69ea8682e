"""`ffslab advise --init`: what is asked, which answers are taken, and the file that they make."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_advise_needs import CATALOG

from ffslab.advise.candidates import candidates
from ffslab.advise.needs import load_needs, needs_of
from ffslab.advise.questions import Question, answers_to, ask_and_write, needs_text, questions_for
from ffslab.errors import InfrastructureError, UsageError


class Terminal:
    """Answers from a list, and what was said."""

    def __init__(self, *answers: str) -> None:
        self._answers: Iterator[str] = iter(answers)
        self.asked: list[str] = []
        self.said: list[str] = []

    def ask(self, text: str) -> str:
        self.asked.append(text)
        try:
            return next(self._answers)
        except StopIteration:
            raise EOFError from None

    def tell(self, text: str) -> None:
        self.said.append(text)


DEFAULTS = [""] * 30


def test_the_defaults_make_a_valid_file(tmp_path: Path) -> None:
    terminal = Terminal(*DEFAULTS)
    path = tmp_path / "product.toml"
    ask_and_write(path, CATALOG, terminal.ask, terminal.tell)
    found = load_needs(path, CATALOG)
    assert found.name == "product" and found.board.name == "apf27" and found.power_cuts
    assert all("[" in text for text in terminal.asked)  # each default is shown
    assert candidates(found, CATALOG)
    assert "next:" in terminal.said[-1]


def test_answers_are_checked_at_once(tmp_path: Path) -> None:
    terminal = Terminal("Bad Name", "good", "apf28", "apf27", "many", "32 MiB", *DEFAULTS)
    path = tmp_path / "needs.toml"
    ask_and_write(path, CATALOG, terminal.ask, terminal.tell)
    assert [said.partition(":")[0] for said in terminal.said[1:4]] == [
        "  'Bad Name'",
        "  'apf28'",
        "  'many'",
    ]
    found = load_needs(path, CATALOG)
    assert (found.name, found.partition_bytes) == ("good", 32 * 2**20)


def test_questions_follow_from_the_answers_before() -> None:
    questions = questions_for(CATALOG, "small")
    no_writes = {"per_day": "0"}
    asked = Terminal(*(no_writes.get(question.key, "") for question in questions))
    answers = answers_to(questions, asked.ask, asked.tell)
    assert "pattern" not in answers and "years" not in answers
    document = tomllib.loads(needs_text(answers))
    assert "writes" not in document and "write_ms" not in document["limits"]
    needs_of(document, CATALOG, "needs.toml")
    replies = {"pattern": "database", "file": "2 MiB", "boot": "-", "cuts": "no"}
    text = needs_text({q.key: replies.get(q.key, q.default) for q in questions})
    document = tomllib.loads(text)
    assert document["writes"]["file"] == "2 MiB" and document["power_cuts"] is False
    assert "boot_s" not in document["limits"]


def test_answers_that_contradict_each_other_are_kept_and_said(tmp_path: Path) -> None:
    terminal = Terminal("", "", "512 MiB", *DEFAULTS)
    path = tmp_path / "needs.toml"
    ask_and_write(path, CATALOG, terminal.ask, terminal.tell)
    assert path.exists()
    assert terminal.said[-1].startswith("not yet usable:") and "256 MiB" in terminal.said[-1]


def test_nothing_is_overwritten_and_nothing_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "needs.toml"
    path.write_text("mine")
    terminal = Terminal(*DEFAULTS)
    with pytest.raises(UsageError, match="is there already"):
        ask_and_write(path, CATALOG, terminal.ask, terminal.tell)
    assert path.read_text() == "mine" and not terminal.asked


def questions() -> dict[str, Question]:
    """All of them, by key."""
    return {question.key: question for question in questions_for(CATALOG, "small")}


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("name", ["a", "a-", "1-b", "abcdefghijklmnopqrstuvwxyz0123456789-", "z" * 60],
                 ["", "-a", "A", "a_b", "a~", "z" * 61]),
        ("board", ["apf27", "celf-mips"], ["", "apf", "mtd"]),
        ("partition", ["64 MiB", "65536", "1B"], ["0", "0 MiB", "many", "-1", "64 Mib"]),
        ("cuts", ["yes", "no"], ["", "y", "true"]),
        ("tree", ["", "-", "/anywhere"], []),
        ("size", ["0", "1", "14 MB"], ["0 MB", "x"]),
        ("files", ["1", "1000000"], ["0", "1000001", "1.5", "x", ""]),
        ("compressible", ["0", "99"], ["100", "-1"]),
        ("free", ["0", "8 MiB"], ["x"]),
        ("boot", ["-", "0.1", "1e3"], ["0", "-0.5", "x", "nan", ""]),
        ("ram", ["-", "4 MiB"], ["0", "x"]),
        ("per_day", ["0", "10 MB"], ["-", "x"]),
        ("pattern", ["log", "database", "stream"], ["", "logs"]),
        ("record", ["128 B"], ["0", "-"]),
        ("sync", ["0", "1000000000"], ["-1", "1000000001"]),
        ("file", ["1 MiB"], ["0"]),
        ("years", ["-", "0.5"], ["0"]),
        ("latency", ["-", "250"], ["0"]),
    ],
)  # fmt: skip
def test_each_answer_is_checked(key: str, good: list[str], bad: list[str]) -> None:
    check = questions()[key].check
    assert {answer: check(answer) for answer in good} == dict.fromkeys(good, "")
    for answer in bad:
        assert check(answer), answer


def test_a_wrong_answer_is_told_what_would_be_right() -> None:
    told = {
        "partition": ("0", "more than 0"),
        "boot": ("0", "a number above 0"),
        "years": ("soon", "a number, such as 0.8"),
        "compressible": ("100", "a whole number from 0 to 99"),
        "sync": ("-1", "a whole number from 0 to 1000000000"),
        "cuts": ("perhaps", "one of: yes, no"),
        "name": ("No", "lower-case letters, digits and -"),
    }
    for key, (answer, words) in told.items():
        assert questions()[key].check(answer) == words
    assert "is not a size" in questions()["record"].check("x")


ALWAYS = ["name", "board", "partition", "cuts", "tree", "size"]
THEN = ["compressible", "free", "boot", "ram", "per_day"]


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        ({}, [*ALWAYS, "files", *THEN, "pattern", "record", "sync", "years", "latency"]),
        (
            {"pattern": "stream"},
            [*ALWAYS, "files", *THEN, "pattern", "record", "sync", "file", "years", "latency"],
        ),
        ({"tree": "rootfs.tar", "per_day": "0"}, [*ALWAYS, *THEN]),
        ({"size": "0", "per_day": "0"}, [*ALWAYS, *THEN]),
    ],
)
def test_only_what_matters_is_asked(replies: dict[str, str], asked: list[str]) -> None:
    texts = {question.text: question for question in questions().values()}

    def ask(text: str) -> str:
        question = texts[text.partition(" [")[0]]
        assert text == f"{question.text} [{question.default}]: "
        return f" {replies.get(question.key, '')} "

    answers = answers_to(tuple(questions().values()), ask, pytest.fail)
    defaults = {key: questions()[key].default for key in asked}
    assert answers == {**defaults, **replies} and list(answers) == asked


def test_boards_are_listed_by_name_and_the_name_is_as_suggested() -> None:
    backwards = replace(CATALOG, boards=dict(reversed(CATALOG.boards.items())))
    name, board, *_ = questions_for(backwards, "small")
    assert board.text == f"The board ({', '.join(sorted(CATALOG.boards))})"
    assert name.default == "small"


FULL = """# The needs of a product: ffslab advise FILE ranks what meets them (docs/advise.md).
schema = 1
name = "logger"
title = "logger"
board = "celf-mips"  # ffslab list boards
partition = "64 MiB"
power_cuts = true  # may power fail at any time

[content]
tree = "Geräte/rootfs.tar"
size = 14000000  # of all files on it
files = 7
compressible_percent = 40  # what a compressor saves of them
free = "8 MiB"  # that must be left beside them

[limits]  # a limit that is absent is no need
boot_s = 1.0  # from mount to the end of ls -R
ram = "4 MiB"  # that the file system may take
write_ms = 250.0  # the longest write, with its sync

[writes]
pattern = "database"  # log, database, stream
per_day = "10 MB"
record = "128 B"
sync_every = 1
file = "1 MiB"
years = 10.0

[consider]
# filesystems = []    # only these; ffslab list filesystems
# partitions = []     # other possible sizes
# mainline = true     # only what Linux contains
"""


def test_all_answers_stand_in_the_file() -> None:
    told = {"name": "logger", "board": "celf-mips", "tree": "Geräte/rootfs.tar", "files": "7"}
    told |= {"pattern": "database", "size": "14000000"}
    assert needs_text({key: told.get(key, q.default) for key, q in questions().items()}) == FULL


def test_what_is_no_need_is_absent() -> None:
    """No tree, no limit, no years, no cuts, and a log without a size of its file."""
    keys = [key for key in questions() if key not in ("files", "file")]
    told = dict.fromkeys(("tree", "boot", "ram", "years", "latency"), "-") | {"cuts": "no"}
    document = tomllib.loads(
        needs_text({key: told.get(key, questions()[key].default) for key in keys})
    )
    assert document["power_cuts"] is False and document["limits"] == document["consider"] == {}
    assert document["content"].keys() == {"size", "compressible_percent", "free"}
    assert document["writes"].keys() == {"pattern", "per_day", "record", "sync_every"}
    told["per_day"] = "0"
    del told["latency"]  # asked of writes only
    few = [key for key in keys if key not in ("pattern", "record", "sync", "years", "latency")]
    document = tomllib.loads(
        needs_text({key: told.get(key, questions()[key].default) for key in few})
    )
    assert "writes" not in document and document["limits"] == {}


@pytest.mark.parametrize(("file", "name"), [("Router.toml", "router"), ("a_b.toml", "product")])
def test_the_file_suggests_the_name(tmp_path: Path, file: str, name: str) -> None:
    terminal = Terminal(*DEFAULTS)
    path = tmp_path / file
    ask_and_write(path, CATALOG, terminal.ask, terminal.tell)
    assert load_needs(path, CATALOG).name == name
    assert terminal.said == [
        "Press Enter for the answer in brackets.",
        f"wrote {path}",
        f"next: ffslab advise {path}",
    ]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    terminal = Terminal(*DEFAULTS)
    with pytest.raises(InfrastructureError, match="cannot write"):
        ask_and_write(tmp_path / "nowhere" / "n.toml", CATALOG, terminal.ask, terminal.tell)


def test_what_another_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "needs.toml"
    terminal = Terminal(*DEFAULTS)

    def ask(text: str) -> str:
        path.write_text("theirs")
        return terminal.ask(text)

    with pytest.raises(InfrastructureError, match="File exists"):
        ask_and_write(path, CATALOG, ask, terminal.tell)
    assert path.read_text() == "theirs"


def test_a_question_is_asked_unless_it_says_otherwise() -> None:
    assert Question("key", "text", "", str).when({})
