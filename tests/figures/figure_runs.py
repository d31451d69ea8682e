"""The commands that documents give, what their runs measured, and quantities made of it.

A quantity is an expression over results. It is evaluated when a document is checked, and says what
it is made of: `RUN.figure("boot-ubifs", "list.listed_ns") / 2`. Keys of figures are those of
docs/metrics.md.

Limits: results are taken as they are in the directory of runs. What was run there before, by
another version of ffslab too, is not run again; without such a directory everything is.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ffslab.results.result import CaseResult
from ffslab.results.rundir import RunDirectory, all_runs
from ffslab.workloads.figures import figures_of
from ffslab.workloads.results import results_of

ROOT = Path(__file__).resolve().parents[2]
_RUN_OPTIONS = ["--no-report", "--timeout", "3600"]  # a busy host is no result
RUN = "RUN"  # in the words of a command: the run of another one
Value = int | float | str


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a document states: `told` says what it is made of. A text is a cell of a table."""

    told: str
    of: Callable[[Runs], Value]
    is_text: bool = False

    def __add__(self, other: Quantity | float) -> Quantity:
        return combined("{} + {}", lambda a, b: a + b, self, other)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return combined("{} - {}", lambda a, b: a - b, self, other)

    def __mul__(self, other: Quantity | float) -> Quantity:
        return combined("({}) x {}", lambda a, b: a * b, self, other)

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return combined("({}) / ({})", lambda a, b: a / b, self, other)


def combined(words: str, function: Callable[..., Any], *parts: Quantity | float) -> Quantity:
    """A function of quantities; `words` has a `{}` for each."""
    several = [part if isinstance(part, Quantity) else constant(part) for part in parts]
    told = words.format(*(part.told for part in several))
    return Quantity(told, lambda runs: function(*(part.of(runs) for part in several)))


def constant(value: float) -> Quantity:
    return Quantity(f"{value:g}", lambda _runs: value)


def least(*parts: Quantity) -> Quantity:
    return combined(f"least of {', '.join('{}' for _ in parts)}", lambda *v: min(v), *parts)


def most(*parts: Quantity) -> Quantity:
    return combined(f"most of {', '.join('{}' for _ in parts)}", lambda *v: max(v), *parts)


def total(*parts: Quantity) -> Quantity:
    return combined(" + ".join("{}" for _ in parts), lambda *v: sum(v), *parts)


def said(told: str, of: Callable[[Runs], str]) -> Quantity:
    """A text, the whole cell of a table or what a `{*}` stands for."""
    return Quantity(told, of, is_text=True)


@dataclass(frozen=True)
class Command:
    """`words` behind `ffslab`, quoted for a shell. `shown`: how the document shows it, if not so.

    `of`: the command whose run is RUN in the words.
    """

    words: str
    shown: str = ""
    of: Command | None = None

    @property
    def in_document(self) -> str:
        return self.shown or f"./ffslab {self.words}"

    @property
    def name(self) -> str:
        """That of its directory."""
        return re.sub(r"\W+", "-", self.words).strip("-")

    @property
    def is_run(self) -> bool:
        return self.words.startswith("run ")

    def figure(self, case: str, *keys: str) -> Quantity:
        """The sum of figures of one case, whose id may go without its seed."""
        told = f"{case}: {' + '.join(keys)}"
        return Quantity(told, lambda runs: sum(runs.figures(self, case)[key] for key in keys))

    def of_case(self, case: str, told: str, of: Callable[[Any], Value]) -> Quantity:
        """What a function makes of the result of one case."""
        return Quantity(f"{case}: {told}", lambda runs: of(runs.case(self, case)))

    def of_spec(self, case: str, key: str) -> Quantity:
        """A setting of a case: `board.cpu_mhz`."""

        def of(result: Any) -> Value:
            value = result["spec"]
            for name in key.split("."):
                value = value[name]
            return value

        return self.of_case(case, key, of)

    def of_run(self, told: str, of: Callable[[Mapping[str, Any]], Value]) -> Quantity:
        """What a function makes of all results, by their cases' ids."""
        return Quantity(told, lambda runs: of(runs.cases(self)))

    def of_answer(self, told: str, of: Callable[[Any], Value]) -> Quantity:
        """What a function makes of what the command prints with --json."""
        return Quantity(told, lambda runs: of(runs.answer(self)))

    def in_all(self, key: str) -> Quantity:
        """The sum of one figure over all cases."""
        return Quantity(
            f"all cases: {key}",
            lambda runs: sum(runs.figures(self, case)[key] for case in runs.cases(self)),
        )

    @property
    def case_count(self) -> Quantity:
        return self.of_run("number of cases", len)


@dataclass
class Runs:
    """The runs below a directory; what is not there is run when it is asked for."""

    directory: Path
    _cases: dict[Command, dict[str, CaseResult]] = field(default_factory=dict)
    _figures: dict[tuple[Command, str], dict[str, float]] = field(default_factory=dict)

    def run(self, command: Command) -> RunDirectory:
        """The run of a command."""
        if command.of is not None:
            return self.run(command.of)
        place = self.directory / command.name
        if not _whole_runs(place):
            self._execute(command)
        runs = _whole_runs(place)
        if not runs:
            raise RuntimeError(f"./ffslab {command.words} did not come to its end in {place}")
        return runs[-1]

    def answer(self, command: Command) -> Any:
        """What a command prints with --json."""
        kept = self.directory / command.name / "answer.json"
        if not kept.exists():
            self._execute(command)
        return json.loads(kept.read_text(encoding="utf-8"))

    def plan(self, command: str) -> str:
        """What the dry run of some words behind `ffslab` prints."""
        return subprocess.run(
            [str(ROOT / "ffslab"), *shlex.split(command), "--dry-run"],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def _execute(self, command: Command) -> None:
        """Executes a command as the document gives it. A case may fail: that may be the answer."""
        place = self.directory / command.name
        place.mkdir(parents=True, exist_ok=True)
        words = shlex.split(command.words)
        if command.of is not None:
            words = [str(self.run(command.of).path) if word == RUN else word for word in words]
        words += _RUN_OPTIONS if command.is_run else ["--json"]
        done = subprocess.run(
            [str(ROOT / "ffslab"), *words, "--output", str(place)],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"./ffslab {command.words}\n{done.stdout}{done.stderr}")
        if not command.is_run:
            (place / "answer.json").write_text(done.stdout, encoding="utf-8")

    def cases(self, command: Command) -> dict[str, CaseResult]:
        """The results of a command's run by id."""
        if command not in self._cases:
            results = results_of(self.run(command))
            self._cases[command] = {result["id"]: result for result in results}
        return self._cases[command]

    def case(self, command: Command, name: str) -> CaseResult:
        """One of them, by its id or that without the seed; KeyError with the ids that there are."""
        cases = self.cases(command)
        named = [each for each in cases if name in (each, re.sub(r"-s\d+$", "", each))]
        if len(named) != 1:
            raise KeyError(f"{name} is no case of {command.words}; its cases: {', '.join(cases)}")
        return cases[named[0]]

    def figures(self, command: Command, name: str) -> dict[str, float]:
        """The figures of a case by key."""
        if (command, name) not in self._figures:
            figures = figures_of(self.case(command, name))
            self._figures[command, name] = {figure.key: figure.value for figure in figures}
        return self._figures[command, name]


def _whole_runs(directory: Path) -> list[RunDirectory]:
    """The runs there in which each case came to its end, whichever that was."""
    manifests = [(run, run.manifest()) for run in all_runs(directory)]
    return [
        run
        for run, manifest in manifests
        if manifest.get("complete") and not (manifest.get("outcomes") or {}).get("timeout")
    ]
