"""A workload to begin from: the files of `examples/workload` under another name, in a checkout.

They are a whole workload, which runs as it is: the host's package, the agent's folder, a study and
its unit test. Nothing else has to know a new workload before it runs; what has to be told for its
documents is in `FURTHER`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ffslab.errors import InfrastructureError, UsageError
from ffslab.program import program
from ffslab.results.result import CaseResult

NAME_MAX = 20  # a longer one breaks lines of the files
VERBS = "guest/agent/plan/verbs.h"
# Outside of the two packages: what else a workload touches, and how.
FURTHER = {
    "studies/{name}.toml": "its study",
    "docs/study-format.md": "a section with its keys",
    "docs/metrics.md": "made by: {program} schema metrics >docs/metrics.md",
}
_SAMPLE = "examples/workload"
_KIND = "sample-files"
_PLACES = {
    "host": "src/ffslab/workloads/{package}",
    "agent": "guest/agent/workloads/{package}",
    "study.toml": "studies/{name}.toml",
    "test.py": "tests/unit/test_{package}.py",
}
_IMPORT = re.compile(r"from ffslab\..*[^(]$")


def checkout() -> Path:
    """The root of the checkout; UsageError where ffslab is installed without one."""
    root = Path(__file__).resolve().parents[3]
    if (root / _SAMPLE).is_dir() and (root / VERBS).is_file():
        return root
    raise UsageError(
        "new workload writes into a checkout, and ffslab does not run from one",
        cause="a workload is code of host and agent; an installed package has no place for it",
        remedy="git clone ffslab's repository, then ./ffslab new workload NAME there",
    )


def new_workload(root: Path, name: str) -> list[Path]:
    """Writes the workload `name` into the checkout `root`; the files, in order.

    UsageError for a name that cannot be, or that somebody has; nothing is overwritten.
    """
    _check_name(root, name)
    texts = dict(_texts(root, name))
    there = next((path for path in texts if path.exists()), None)
    if there is not None:
        raise _taken(name, f"{there.relative_to(root)} is there already")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {error.filename}: {error.strerror}",
            cause="you may not write there, or the disk is full",
            remedy="git clone ffslab's repository to a directory that you may write to",
        ) from error
    return list(texts)


def _package(name: str) -> str:
    return name.replace("-", "_")


def _check_name(root: Path, name: str) -> None:
    good = re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) and len(name) <= NAME_MAX
    if not good or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} is no name for a workload: up to {NAME_MAX} of a-z and 0-9, in words with "
            "'-' between them, with a letter first",
            cause="it names a verb of the agent, a package of Python and a folder",
            remedy=f"{program()} new workload my-workload",
        )
    if _package(name) in CaseResult.__annotations__:
        raise _taken(name, "every result has a key of that name")
    sources = (root / "guest").rglob("*.[ch]")
    # A verb, a record, a phase or an operation: none may be meant by two.
    if any(f'"{name}"' in path.read_text(encoding="utf-8") for path in sources):
        raise _taken(name, "the agent has a verb, a record or a phase of that name")
    if f"TABLE({_package(name)}_verbs)" in (root / VERBS).read_text(encoding="utf-8"):
        raise _taken(name, "the agent has a table of verbs of that name")


def _taken(name: str, cause: str) -> UsageError:
    return UsageError(
        f"the name {name} is taken: {cause}",
        cause="it was begun before, or belongs to ffslab",
        remedy=f"{program()} new workload ANOTHER-NAME",
    )


def _texts(root: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Each file of the workload, by its path."""
    sample = root / _SAMPLE
    for source, form in _PLACES.items():
        destination = root / form.format(name=name, package=_package(name))
        if (sample / source).is_file():
            yield destination, _renamed(sample / source, name)
            continue
        for path in sorted((sample / source).rglob("*")):
            if path.is_file() and path.suffix in (".py", ".c", ".h", ".md"):
                inner = str(path.relative_to(sample / source))
                yield (
                    destination / inner.replace(_package(_KIND), _package(name)),
                    _renamed(path, name),
                )


def _renamed(path: Path, name: str) -> str:
    text = path.read_text(encoding="utf-8")
    for old, new in (
        (_KIND, name),
        (_package(_KIND), _package(name)),
        (_package(_KIND).upper(), _package(name).upper()),
        (_class(_KIND), _class(name)),
    ):
        text = text.replace(old, new)
    return _sorted_imports(text) if path.suffix == ".py" else text


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _sorted_imports(text: str) -> str:
    """With another name an import of the package stands elsewhere among its neighbours.

    One of several lines stays where it is.
    """
    lines: list[str] = []
    for is_own, group in groupby(text.splitlines(), lambda line: bool(_IMPORT.match(line))):
        members = list(group)
        lines += sorted(members, key=lambda line: line.split()[1]) if is_own else members
    return "\n".join(lines) + "\n"
