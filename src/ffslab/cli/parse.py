"""What several verbs take, ask and print.

An option or argument of two verbs stands here, so that it has one name, one form and one meaning;
a verb may add what it does with it behind a colon (tests/unit/test_cli_words.py).
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ffslab.errors import UsageError
from ffslab.reading import INTEGER_MAX, UnreadableError, toml_value
from ffslab.visible_text import visible_json

Catalogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        metavar="DIR",
        envvar="FFSLAB_CATALOG",
        help="A catalog of your own.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]
EachCase = Annotated[
    bool, typer.Option("--all", help="Print all: a line for each case, every scoreboard.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="AXIS=VALUE", help="Replace an axis or a base value."),
]
Cases = Annotated[
    list[str] | None, typer.Option("--case", metavar="ID", help="Only these cases: 'ubifs-*'.")
]
OneCase = Annotated[
    str | None, typer.Option("--case", metavar="ID", help="Only these cases: the first of them.")
]
KnownIn = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help="Findings that are no news [known/STUDY.toml].",
    ),
]
A_RUN = "A run: path, name or its beginning, or latest."
Run = Annotated[str, typer.Argument(metavar="RUN", help=A_RUN)]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Where runs are, and new ones go.")
]
Report = Annotated[bool, typer.Option(help="Write a page at the end.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML page, with charts.")
]
Threshold = Annotated[
    float | None,
    typer.Option(min=0, max=10**6, metavar="PERCENT", help="Smaller changes are none [2]."),
]
RESULTS = Path("results")
_SMALL_BYTES = 64 * 1024
# A version without quotes, which is a number to TOML.
_VERSION = re.compile(r"""(?<![\w."'])(\d+\.\d+)(?![\w."'])""")
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, max=1024, metavar="N", help="Guests at once [cores]."),
]
TIMEOUT = typer.Option(
    "--timeout", min=1, max=10**6, metavar="SECONDS", help="A guest's wall time at most."
)
Target = Annotated[str, typer.Option("--target", metavar="NAME", help="Where guests run.")]
Access = Annotated[
    Path | None,
    typer.Option("--access", metavar="FILE", help="How a board of yours is reached."),
]
PARTITION_BYTES = typer.Option(
    "--partition-bytes", metavar="SIZE", help='Size of the partition: "32 MiB".'
)
PAGE_BYTES = typer.Option(metavar="N", help="Bytes of a page, without OOB.")
PAGES_PER_BLOCK = typer.Option(metavar="N", help="Pages of an erase block.")
INBAND = typer.Option("--inband/--no-inband", help="Tags are in the page.")
TAGS_ECC = typer.Option("--tags-ecc/--no-tags-ecc", help="Tags have an ECC.")
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before destroying.")]
Scratch = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where guests keep their flash [/dev/shm].")
]
KernelSource = Annotated[
    Path | None,
    typer.Option(
        envvar="FFSLAB_KERNEL_SOURCE",
        metavar="DIR",
        help="A Linux source.",
    ),
]


def print_json(value: Any) -> None:
    """One JSON document, with the exact numbers."""
    typer.echo(visible_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)))


def consent(yes: bool) -> Callable[[str], None]:
    """Asks, at the terminal, whether something may be destroyed; UsageError if it may not."""

    def confirm(what: str) -> None:
        if yes:
            return
        typer.echo(what, err=True)
        if not sys.stdin.isatty():
            raise UsageError("nobody is there to allow that", remedy="the same command with --yes")
        if not typer.confirm("Go on?", err=True):
            raise UsageError("nothing was destroyed", cause="the answer was no")

    return confirm


def parse_bytes(option: str, text: str) -> int:
    """A size of an option, with or without a unit; UsageError for none.

    So small a number without a unit is told: somebody thought of another unit.
    """
    from ffslab.model.units import parse_size

    try:
        size_bytes = parse_size(int(text) if text.isdecimal() else text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", remedy=f'for example {option} "50 MB"') from error
    if not size_bytes:
        raise UsageError(f"{option} is 0", remedy=f'for example {option} "50 MB"')
    if text.isdecimal() and size_bytes < _SMALL_BYTES:
        typer.echo(
            f"ffslab: {option} {text} is {text} bytes; for megabytes: {option} {text}MB", err=True
        )
    return size_bytes


def parse_set(text: str) -> tuple[str, tuple[Any, ...]]:
    """`axis=value` or `axis=[v1, v2]`; a value that is no TOML is taken as a string, and so is the
    version of a kernel: as a number 5.10 is 5.1.
    """
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key or not value.strip():
        raise UsageError(
            f"--set {text!r} is not AXIS=VALUE",
            remedy="for example --set filesystem=ubifs, or --set 'cpu_scale=[0, 1]'",
        )
    from ffslab.model.kernels import KERNEL

    if key == KERNEL:
        value = _VERSION.sub(r'"\1"', value)
    try:
        parsed = toml_value(f"value = {value}")["value"]
    except UnreadableError as error:
        raise UsageError(
            f"--set {text[:200]!r}: {error}",
            cause="a typing mistake; a name that looks like a number needs quotes",
            remedy=f"""for a name: --set '{key}="…"'""",
        ) from error
    except tomllib.TOMLDecodeError as error:
        parsed = value.strip()
        _refuse_broken_toml(text, parsed, error)
        _refuse_list_without_brackets(text, key, parsed)
    values = tuple(parsed) if isinstance(parsed, list) else (parsed,)
    if not values or any(isinstance(item, list) for item in values):
        raise UsageError(f"--set {text!r}: a value or a flat list of values is needed")
    return key, values


def _refuse_broken_toml(text: str, value: str, error: Exception) -> None:
    """UsageError for what begins as a list, a text or a table: no name or size does."""
    if value[0] in "[{\"'":
        raise UsageError(
            f"--set {text!r}: {value!r} is not valid TOML: {error}",
            cause="a bracket or quote that is not closed, or that the shell has taken",
            remedy="""single quotes around the whole: --set 'filesystem=["jffs2", "ubifs"]'""",
        )


def _refuse_list_without_brackets(text: str, key: str, value: str) -> None:
    """UsageError for `a,b`: no name, number or size has a comma, so a list is meant."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) < 2:
        return
    from ffslab.results.reproduce import set_argument

    items = [item for part in parts if part for item in parse_set(f"{key}={part}")[1]]
    raise UsageError(
        f"--set {text!r}: {value!r} is not a single value",
        cause="a list without brackets",
        remedy=f"--set {shlex.quote(set_argument(key, items))}",
    )


def parse_seeds(text: str) -> tuple[int, ...]:
    """`3` stands for seeds 1, 2, 3; `4,7` for exactly those."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or any(not 1 <= number <= INTEGER_MAX for number in numbers):
        raise UsageError(
            f"--seeds {text[:200]!r} is neither a count nor a list of seeds",
            remedy="--seeds 3 for seeds 1 to 3, --seeds 4,7 for those two",
        )
    if len(numbers) > 1:
        return numbers
    from ffslab.model.study import COMBINATIONS_MAX

    if numbers[0] > COMBINATIONS_MAX:
        raise UsageError(
            f"--seeds {text} would make {numbers[0]:,} cases of each; "
            f"a run may have {COMBINATIONS_MAX:,}",
            cause="a single number is a count of seeds, not a seed",
            remedy=f"--set seed={numbers[0]} for that seed",
        )
    return tuple(range(1, numbers[0] + 1))
