"""Options and arguments: each has one form and one meaning in all verbs, each thing one name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import typer
from cli_support import Command
from typer.main import get_command

from ffslab.cli.app import build_app
from ffslab.cli.verbs import RENAMED, VERBS

# A thing → how it is written: as an option, as an argument, or in some verbs as one, in others as
# the other. Every option and argument of every verb is in it.
THINGS: Mapping[str, tuple[str, ...]] = {
    # What is run, and what came out.
    "a study": ("STUDY", "--study STUDY"),
    "a run": ("RUN", "--run RUN"),
    "a run or a study": ("STUDY|RUN",),
    "the run that others are compared with": ("BASE",),
    "runs compared with it": ("NEW",),
    "the value that others are compared with": ("--base VALUE",),
    "a case": ("CASE", "--case ID"),
    "a finding": ("FINDING",),
    "findings that are known": ("--known FILE",),
    "calls in a file": ("--calls FILE",),
    "a program and its words": ("COMMAND",),
    "files that a program finds": ("--file PATH",),
    "what is on the flash before": ("--state NAME",),
    "where runs are": ("--output DIR",),
    "a run's label": ("--label TEXT",),
    "values of an axis": ("--set AXIS=VALUE",),
    "an axis to compare along": ("--axis AXIS",),
    "seeds": ("--seeds N|LIST",),
    "repeats": ("--repeats N",),
    "layouts of the code, a band": ("--band N",),
    "halved and doubled estimates": ("--sensitivity",),
    "go on with a run": ("--resume",),
    "list cases only": ("--dry-run",),
    "guests at once": ("--jobs N",),
    "longest wall time": ("--timeout SECONDS",),
    "where guests keep their flash": ("--scratch DIR",),
    "keep the flash": ("--keep-flash",),
    "record operations": ("--trace",),
    "tell time by function": ("--profile",),
    "a phase or step": ("--phase NAME",),
    "stacks beside the text": ("--folded FILE",),
    "speedscope's JSON beside the text": ("--speedscope FILE",),
    "states anew": ("--fresh-states",),
    "cases anew": ("--fresh",),
    "do not ask": ("--yes",),
    # Where it runs.
    "the kind of place where guests run": ("--target NAME",),
    "how a board is reached": ("--access FILE",),
    "who switches its power": ("--labgrid PLACE",),
    "a kernel source": ("--kernel-source DIR",),
    "the history of a kernel source": ("REPOSITORY",),
    "a commit before a change": ("--good COMMIT",),
    "a commit with it": ("--bad COMMIT",),
    "what commits change": ("--only PATH",),
    "a figure": ("--metric NAME",),
    "a lab kernel": ("--variant NAME",),
    "build anew": ("--force",),
    "no Debian packages": ("--no-install",),
    # What is written and shown.
    "where the verb writes": ("--to PATH",),
    "the format of that": ("--format",),
    "a page beside the text": ("--html FILE",),
    "JUnit XML beside the text": ("--junit FILE",),
    "all operations beside the text": ("--csv FILE",),
    "a page at the end of a run": ("--report",),
    "one chart": ("--chart NAME",),
    "publications": ("PUBLICATION",),
    "documents beside the text": ("--markdown DIR",),
    "JSON in place of the text": ("--json",),
    "all, not what fits a screen": ("--all",),
    "changes only": ("--only-changed",),
    "commands that are started": ("--verbose",),
    "the version": ("--version",),
    "a path in place of a browser": ("--print",),
    "what lies between requests": ("--idle",),
    "the order of runs": ("--sort",),
    # What is judged.
    "the smallest change": ("--threshold PERCENT",),
    "exact counts": ("--exact",),
    "what fails": ("--fail-on WHAT",),
    "bytes a day": ("--daily SIZE",),
    "erases that a block endures": ("--endurance N",),
    # The catalog, and what is begun in it.
    "a catalog": ("--catalog DIR",),
    "a kind of entry": ("KIND",),
    "the name of a new entry": ("NAME", "--name NAME"),
    "a word of an entry": ("WORD",),
    "a board": ("--board NAME",),
    "a chip": ("--chip NAME",),
    "a file system": ("FILESYSTEM", "--fs NAME"),
    "a compression": ("--compression NAME",),
    "an entry that supplies figures": ("--extends NAME",),
    "a study to copy": ("--from STUDY",),
    "a kind of file": ("DOCUMENT",),
    "needs of a product": ("NEEDS",),
    "ask for the needs": ("--init",),
    "which figure to find": ("--fit",),
    "a processor": ("--arch",),
    # Images and dumps.
    "a tree of files": ("TREE",),
    "an image": ("IMAGE",),
    "size of a partition": ("--partition-bytes SIZE",),
    "bytes of a page": ("--page-bytes N",),
    "bytes of OOB": ("--oob-bytes N",),
    "pages of a block": ("--pages-per-block N",),
    "where tags begin": ("--oob-offset N",),
    "tags in the page": ("--inband",),
    "an ECC of tags": ("--tags-ecc",),
    "where a partition begins in a dump": ("--first-block N",),
    "its blocks": ("--blocks N",),
    "the tree, listed": ("--list",),
    "the tree, as files": ("--extract DIR",),
    "block summaries": ("--no-summary",),
    "a layout of YAFFS2": ("--layout",),
    "a checkpoint": ("--checkpoint",),
    "LogFS compresses": ("--compress",),
    "a bad block": ("--bad-block N",),
    "all belongs to root": ("--squash-owners",),
    "one time for all": ("--fixed-time SECONDS",),
    # For who develops.
    "a program to start": ("--program FILE",),
    "a shell to complete in": ("SHELL",),
    "parts of the benchmark": ("PART",),
    "quick tests": ("--quick",),
    "tests of others": ("--peers",),
    "figures of documents": ("--figures",),
}


def parameters(command: Any, words: str = "ffslab") -> Iterator[tuple[str, Any]]:
    """Every option and argument with the verb that has it."""
    for parameter in command.params:
        yield words, parameter
    for name, verb in getattr(command, "commands", {}).items():
        yield from parameters(verb, f"{words} {name}")


def written(parameter: Any) -> str:
    """An option with what it takes, or an argument, as help shows them."""
    metavar = (parameter.metavar or "").strip("[].")
    if parameter.param_type_name == "argument":
        assert metavar, f"{parameter.name} without a metavar"
        return metavar
    return f"{max(parameter.opts, key=len)} {metavar}".strip()


def meaning(parameter: Any) -> str:
    """The help text up to what one verb adds to it."""
    return re.split(r"[:;,\[.]", parameter.help)[0].strip()


def of_app(app: typer.Typer) -> list[tuple[str, str, str]]:
    """Verb, form and meaning of all."""
    return [(verb, written(each), meaning(each)) for verb, each in parameters(get_command(app))]


def contradictions(app: typer.Typer) -> list[str]:
    """Names with two forms or two meanings, and meanings with two names, for a reader."""
    forms: dict[str, dict[str, str]] = {}
    meanings: dict[str, dict[str, str]] = {}
    names: dict[str, dict[str, str]] = {}
    for verb, form, means in of_app(app):
        name = form.split()[0]
        forms.setdefault(name, {}).setdefault(form, verb)
        meanings.setdefault(form, {}).setdefault(means, verb)
        kind = "option" if form.startswith("-") else "argument"
        names.setdefault(f"{kind} of {means}", {}).setdefault(form, verb)
    return [
        f"{what}: {verbs}"
        for table in (forms, meanings, names)
        for what, verbs in table.items()
        if len(verbs) > 1
    ]


def test_every_option_of_every_verb_is_one_thing() -> None:
    there = {form for _, form, _ in of_app(build_app())}
    stated = Counter(form for forms in THINGS.values() for form in forms)
    assert there == set(stated), "a thing of THINGS for each"
    assert stated.most_common(1)[0][1] == 1, "one form is two things"


@pytest.mark.parametrize("thing", THINGS)
def test_a_thing_has_one_name(thing: str) -> None:
    kinds = ["option" if form.startswith("-") else "argument" for form in THINGS[thing]]
    assert len(set(kinds)) == len(kinds)


def test_a_name_has_one_meaning_and_a_meaning_one_name() -> None:
    assert contradictions(build_app()) == []


def test_a_short_name_stands_beside_the_same_long_one_everywhere() -> None:
    names: dict[str, set[tuple[str, ...]]] = {}
    for _, parameter in parameters(get_command(build_app())):
        if parameter.param_type_name == "option":
            for name in parameter.opts:
                names.setdefault(name, set()).add(tuple(sorted(parameter.opts)))
    assert {name: pairs for name, pairs in names.items() if len(pairs) > 1} == {}


def _verbs(**options: Any) -> typer.Typer:
    """An application of two verbs with an option each."""
    app = typer.Typer()
    for verb, option in options.items():

        def command(value: str = option) -> None: ...

        app.command(verb)(command)
    return app


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        (("--to", "PATH", "Where to write it [here]."), ("--to", "PATH", "Where to write it."), 0),
        (("--to", "PATH", "Where to write it."), ("--to", "FILE", "Where to write it."), 2),
        (("--to", "PATH", "Where to write it."), ("--to", "PATH", "The page."), 1),
        (("--to", "PATH", "Where to write it."), ("--into", "PATH", "Where to write it."), 1),
    ],
)
def test_a_contradiction_is_seen(
    first: tuple[str, str, str], second: tuple[str, str, str], count: int
) -> None:
    options = [
        typer.Option("", name, metavar=metavar, help=text)
        for name, metavar, text in (first, second)
    ]
    assert len(contradictions(_verbs(one=options[0], two=options[1]))) == count


@pytest.mark.parametrize(("verb", "option"), RENAMED)
def test_an_earlier_name_is_refused_with_the_new_one(
    ffslab_command: Command, verb: str, option: str
) -> None:
    new = RENAMED[verb, option]
    assert verb in VERBS
    command = get_command(build_app((verb,))).commands[verb]  # type: ignore[attr-defined]
    names = {name for parameter in command.params for name in parameter.opts}
    assert option not in names
    assert set(re.findall(r"--[a-z-]+", new)) <= names
    for words in ((verb, option, "x"), ("-v", verb, f"{option}=x")):
        refused = ffslab_command(*words)
        assert refused.code == 2 and refused.output == ""
        assert f"{verb} has no {option}: it is now called {new}" in refused.error
