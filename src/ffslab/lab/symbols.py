"""What a module lacks in the lab kernel: the symbols of modpost's message, and who would have them.

A symbol leads to the file that exports it; its conditions are the `#ifdef`s around the export and
the options in the makefiles above the file. Those that the configuration does not set are what
the user may want. Other conditions (negations, alternatives) are not understood, and an option
may be one that another selects: the text is a hint, not a recipe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ffslab.lab.config import parse_config
from ffslab.process import run_command

_UNDEFINED = re.compile(r'^ERROR: modpost: "([^"]+)" \[[^\]]*\] undefined!', re.MULTILINE)
_CONFIG = re.compile(r"\bCONFIG_\w+")
# Beginning, middle and end of a condition, in C and in makefiles.
_IF = re.compile(r"^#\s*if|^\s*if(n?eq|n?def)\b")
_ELSE = re.compile(r"^#\s*el|^\s*else\b")
_END_IF = re.compile(r"^#\s*endif|^\s*endif\b")
_NEGATED = re.compile(r"^#\s*ifndef|!|^\s*ifndef|^\s*ifneq.*,\s*y\s*\)|^\s*ifeq.*,\s*\)")
_ASSIGNMENT = re.compile(r"^([\w.-]+?)-(?:y|m|objs|\$\((CONFIG_\w+)\))\s*[:+]?=\s*(.*)$")
_LIMIT = 8


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of a makefile: `members` are parts of `whole` if `options` are set."""

    whole: str
    options: tuple[str, ...]
    members: frozenset[str]


def missing_symbols(log: str) -> list[str]:
    """The symbols that modpost calls undefined in a build's log, in order of appearance."""
    return list(dict.fromkeys(_UNDEFINED.findall(log)))


def origin_of(symbol: str, tree: Path, config: Path) -> str:
    """Which file of the kernel has `symbol`, and which options are not set that build it."""
    export = rf"EXPORT_SYMBOL(_GPL|_NS|_NS_GPL)?\({re.escape(symbol)}[,)]"
    files = _files_with(export, tree)
    if not files:
        return "no file of this kernel exports it"
    settings = parse_config(config.read_text(encoding="utf-8"))
    told = []
    for path in files[:_LIMIT]:
        wanted = dict.fromkeys((*_options_around(export, tree / path), *options_of(path, tree)))
        options = [name for name in wanted if settings.get(name, "n") == "n"]
        needed = f" needs {', '.join(options)}" if options else " (not in this configuration)"
        told.append(f"{path}{needed}")
    return "; ".join(told)


def _files_with(pattern: str, tree: Path) -> list[Path]:
    """The C and assembly files, below `tree`, that have the pattern."""
    listed = run_command(
        ["grep", "-rlE", "--include=*.c", "--include=*.S", pattern, "."], cwd=tree, check=False
    )
    return sorted(Path(line) for line in listed.output.splitlines() if line.startswith("./"))


def _options_around(pattern: str, path: Path) -> tuple[str, ...]:
    """The options of the conditions that stand around the pattern in a source file."""
    for line, options in _with_conditions(path.read_text(encoding="utf-8", errors="replace")):
        if re.search(pattern, line):
            return options
    return ()


def _with_conditions(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each line with the options that the conditions around it ask for."""
    stack: list[tuple[str, ...]] = []
    for line in text.splitlines():
        if _IF.match(line):
            stack.append(() if _NEGATED.search(line) else tuple(_CONFIG.findall(line)))
        elif _ELSE.match(line) and stack:
            stack[-1] = ()
        elif _END_IF.match(line) and stack:
            stack.pop()
        else:
            yield line, tuple(option for options in stack for option in options)


def options_of(path: Path, tree: Path) -> list[str]:
    """The options that the makefiles ask for before they build the file `path` below `tree`."""
    options: list[str] = []
    directory, wanted = path.parent, path.with_suffix(".o").name
    while True:
        options += _options_in(_rules(tree / directory), wanted)
        if directory == directory.parent:
            return list(dict.fromkeys(options))
        directory, wanted = directory.parent, f"{directory.name}/"


def _options_in(rules: list[_Rule], wanted: str) -> list[str]:
    """The options of the line that has `wanted`, and of the composite object that it is part of."""
    for rule in rules:
        if wanted in rule.members:
            if rule.whole == "obj":
                return [*rule.options]
            return [*rule.options, *_options_in(rules, f"{rule.whole}.o")]
    return []


def _rules(directory: Path) -> list[_Rule]:
    rules = []
    for name in ("Kbuild", "Makefile"):
        path = directory / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
        for line, around in _with_conditions(text):
            if match := _ASSIGNMENT.match(line.strip()):
                whole, option, members = match.groups()
                options = (*around, option) if option else around
                rules.append(_Rule(whole, options, frozenset(members.split("#")[0].split())))
    return rules
